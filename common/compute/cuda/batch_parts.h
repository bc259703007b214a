/* batch_parts.h - the order in which sums over a batch are added in training, for host and device. It does
 * not depend on the number of cards that share the batch, so that any number gives the same bits.
 *
 * The chunks of a batch form COV_PARTS parts of consecutive chunks; in a small batch, some are
 * empty. The values of a part are added in the order of the chunks. A binary tree adds the parts:
 * ((0 + 1) + (2 + 3)) + ... Each card has consecutive parts of every batch, and adds up its nodes:
 * the largest subtrees of which it has all parts. The sum over the nodes of all cards follows
 * (cuda_team.h).
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_BATCH_PARTS_H
#define COV_COMPUTE_CUDA_BATCH_PARTS_H

#include "common/compute/cuda/conv_index.h"

/* A card has at most COV_MOST_NODES nodes, if it has parts 1 to COV_PARTS - 2. */
enum { COV_PART_LEVELS = 5, COV_PARTS = 1 << COV_PART_LEVELS, COV_MOST_NODES = 8 };

/* The parts of a batch of n chunks that a card has: beg <= part < end. */
struct cov_parts {
    size_t n;
    int beg, end;
};

/* Parts first to first + n - 1: n is a power of two, and `first` a multiple of n. */
struct cov_node {
    int first, n;
};

/* Returns the first chunk of a part, counted from the first one of the card. */
COV_HD size_t cov_parts_chunk(struct cov_parts p, int part)
{
    return p.n * (size_t)part / COV_PARTS - p.n * (size_t)p.beg / COV_PARTS;
}

/* Lists the nodes of a card in order, and returns their number. */
COV_HD int cov_parts_nodes(struct cov_parts p, struct cov_node nodes[COV_MOST_NODES])
{
    int n_nodes = 0;
    for (int at = p.beg; at < p.end; n_nodes++) {
        int n = COV_PARTS;
        while (at % n != 0 || at + n > p.end)
            n /= 2;
        nodes[n_nodes].first = at;
        nodes[n_nodes].n = n;
        at += n;
    }
    return n_nodes;
}

#endif
