/* h5chunk.c - shows, checks and converts files of chunks.
 *
 * The subcommands are in tools/h5chunk/.
 * SPDX-License-Identifier: MIT */
#include "tools/h5chunk/subcommands.h"

#include <stddef.h>

#include "common/h5/h5_libraries.h"

static const struct cov_tool *const subcommands[] = {
    &h5chunk_info,      &h5chunk_verify, &h5chunk_repack, &h5chunk_subset,
    &h5chunk_split,     &h5chunk_merge,  &h5chunk_cat,    &h5chunk_save,
    &h5chunk_blacklist, &h5chunk_drop,   &h5chunk_rename, NULL,
};

int main(int argc, char **argv)
{
    static const struct cov_tool tool = {
        .name = "h5chunk",
        .summary = "show, check, convert, split and join files of chunks",
        .subcommands = subcommands,
        .examples = "  h5chunk info genome.h5\n"
                    "  h5chunk verify genome.h5 predictions.h5\n",
        .print_versions = cov_libraries_print,
    };
    return cov_tool_main(&tool, argc, argv);
}
