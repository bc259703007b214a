/* compact_json.h - for unit tests: JSON on one line, with ' for ", so that tests can quote it.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_COMPACT_JSON_H
#define TESTS_COMPACT_JSON_H

/* Removes line breaks and indentation in place, but leaves a blank after a comma. Returns the text. */
static inline char *compact(char *text)
{
    char *to = text;
    for (const char *p = text; *p; p++) {
        if (*p != '\n') {
            *to++ = *p == '"' ? '\'' : *p;
            continue;
        }
        if (p > text && p[-1] == ',')
            *to++ = ' ';
        while (p[1] == ' ')
            p++;
    }
    *to = '\0';
    return text;
}

#endif
