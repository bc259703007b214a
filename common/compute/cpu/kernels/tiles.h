/* tiles.h - cases of a switch over the rows of a tile, each compiled separately: COV_TILES_6(CASE)
 * is CASE(1) .. CASE(6).
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_KERNELS_TILES_H
#define COV_COMPUTE_CPU_KERNELS_TILES_H

#define COV_TILES_4(CASE) CASE(1) CASE(2) CASE(3) CASE(4)
#define COV_TILES_6(CASE) COV_TILES_4(CASE) CASE(5) CASE(6)
#define COV_TILES_12(CASE) COV_TILES_6(CASE) CASE(7) CASE(8) CASE(9) CASE(10) CASE(11) CASE(12)

/* COV_TILES(ROWS, CASE), where ROWS is a macro for one of these numbers */
#define COV_TILES_JOIN(rows, CASE) COV_TILES_##rows(CASE)
#define COV_TILES(rows, CASE) COV_TILES_JOIN(rows, CASE)

#endif
