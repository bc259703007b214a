/* lzf.h - h5py's filter 32000: the chunk as one block of liblzf, without any header.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CODEC_LZF_H
#define COV_CODEC_LZF_H

#include <stddef.h>

#include "common/base/err.h"

/* dst[0..*n_dst) = src compressed, with room for n bytes at dst. *n_dst = 0: not smaller. */
int cov_lzf_encode(const void *src, size_t n, void *dst, size_t *n_dst,
                   struct cov_err *e) COV_MUST_USE;

/* dst[0..n_dst) = the contents of src. COV_EINPUT when it is damaged or has another size. */
int cov_lzf_decode(const void *src, size_t n, void *dst, size_t n_dst,
                   struct cov_err *e) COV_MUST_USE;

#endif
