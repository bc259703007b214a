/* attr.h - compiler attributes used throughout libcov.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_ATTR_H
#define COV_BASE_ATTR_H

/* The caller must look at the returned status. */
#define COV_MUST_USE __attribute__((warn_unused_result))

/* Arguments from `args` on are checked against the printf format at `fmt`. */
#define COV_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

#define COV_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
