/* dinucleotides.h - shuffles bases and keeps the number of each dinucleotide.
 *
 * Altschul and Erickson, "Significance of nucleotide sequence alignments" (1985): bases are nodes,
 * dinucleotides are edges, and a shuffled sequence is a random path through all edges. The last
 * edges of the nodes form a tree, drawn as in Wilson, "Generating random spanning trees more
 * quickly than the cover time" (1996). All shuffled sequences are equally likely.
 * SPDX-License-Identifier: MIT */
#ifndef COV_SEQ_DINUCLEOTIDES_H
#define COV_SEQ_DINUCLEOTIDES_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/rng.h"

/* Shuffles codes[0..n) (alphabet.h). Keeps the first and the last code, and the number of each pair
 * of adjacent codes; IUPAC codes and padding count as further letters. The result depends only on
 * the codes and the state of the generator. COV_ENOMEM; then the codes are unchanged. */
int cov_dinucleotide_shuffle(uint8_t *codes, size_t n, struct cov_rng *rng,
                             struct cov_err *e) COV_MUST_USE;

#endif
