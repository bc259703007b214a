/* text.h - texts that come from files and command lines, made fit to be shown.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_TEXT_H
#define COV_BASE_TEXT_H

/* Replaces, in place, every byte that a terminal would take for a command by '?': the control
 * characters of ASCII, and those of UTF-8 (U+0080 to U+009F). */
void cov_text_make_printable(char *text);

#endif
