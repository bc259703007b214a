/* logo.h - letters of DNA that are as high as their values, for a picture by gnuplot.
 *
 * Letters with negative values hang upside down. The colours are those of sequence logos.
 * SPDX-License-Identifier: MIT */
#ifndef COV_PLOT_LOGO_H
#define COV_PLOT_LOGO_H

#include <stddef.h>
#include <stdio.h>

#include "common/track/bins.h"

/* Writes the data of logo number `number`: letters[b->n], of which only A, C, G and T are drawn,
 * one for each base; where b has no value, there is no letter. */
void cov_logo_put_data(const struct cov_bins *b, const char *letters, size_t number, FILE *f);

/* Writes the command that plots it into the current margins. */
void cov_logo_put_plot(size_t number, FILE *f);

#endif
