/* fuzz_opt.c - a command line, its arguments apart by line ends: options of each type, regions, compressions.
 * Target: common/cli/opt.c
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "common/cli/opt.h"
#include "common/codec/codec.h"
#include "common/seq/select.h"
#include "tests/fuzz/fuzz.h"

struct config {
    bool flag, quiet;
    int choice, count;
    int64_t small, size;
    double ratio;
    const char *text, *shift;
    struct cov_strings list;
};

#define AT(name) offsetof(struct config, name)
static const char *const colours[] = {"red", "green", NULL};
static const struct cov_opt table[] = {
    {"small", 's', COV_OPT_INT, 0, AT(small), "N", "3", -5, 5, NULL, "a number"},
    {"size", 'S', COV_OPT_SIZE, 0, AT(size), "SIZE", "21384", 1, 1e15, NULL, "a size"},
    {"ratio", 'r', COV_OPT_FLOAT, 0, AT(ratio), "X", "0.5", 0, 1, NULL, "a ratio"},
    {"choice", 'C', COV_OPT_ENUM, 0, AT(choice), NULL, "green", 0, 0, colours, "a colour"},
    {"text", 't', COV_OPT_STRING, 0, AT(text), "TEXT", NULL, 0, 0, NULL, "a text"},
    {"list", 'l', COV_OPT_LIST, 0, AT(list), "LIST", "x,y", 0, 0, NULL, "a list"},
    {"shift", 'p', COV_OPT_STRING, COV_OPT_OPTIONAL_VALUE, AT(shift), "A", "4", 0, 0, NULL, "x"},
    {"flag", 'f', COV_OPT_FLAG, 0, AT(flag), NULL, NULL, 0, 0, NULL, "a flag"},
    {"quiet", 'q', COV_OPT_FLAG, COV_OPT_HIDDEN, AT(quiet), NULL, NULL, 0, 0, NULL, "a flag"},
    {"verbose", 'v', COV_OPT_COUNT, 0, AT(count), NULL, NULL, 0, 0, NULL,
     "a count, with a text that is so long that help breaks it into lines that fit a terminal"},
    {.name = NULL}};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const int64_t length = 1000;
    char *names[] = {"chr1"}, *argv[66] = {"tool"}, *copy = strndup((const char *)data, n),
         *save = NULL;
    int argc = 1, n_operands = 0;
    for (char *w = strtok_r(copy, "\n", &save); w && argc < 64; w = strtok_r(NULL, "\n", &save))
        argv[argc++] = w;
    struct config c;
    struct cov_opt_set set = {table, &c, NULL};
    if (cov_opt_parse(&set, 1, argc, argv, &n_operands, NULL) == COV_OK &&
        (c.small < -5 || c.small > 5 || c.size < 1 || !(c.ratio >= 0 && c.ratio <= 1) ||
         n_operands >= argc))
        abort();
    struct cov_grid *g;
    struct cov_select *s;
    struct cov_codec_choice choice;
    struct cov_range r;
    if (cov_grid_new(1, names, &length, "sp", 50, &g, NULL) || cov_select_new(g, &s, NULL))
        abort();
    int rc = cov_select_regions(s, (const char *const *)c.list.items, c.list.n, NULL);
    for (int i = 1; i <= n_operands; i++)
        rc = cov_codec_parse(argv[i], &choice, NULL) | cov_range_parse(argv[i], &r, NULL) | rc;
    FILE *null = fopen("/dev/null", "w");
    if (!null)
        abort();
    cov_opt_print_help(table, null);
    cov_opt_print_machine(table, null);
    (void)fclose(null);
    cov_select_free(s);
    cov_grid_free(g);
    cov_opt_fini(table, &c);
    free(copy);
    return 0;
}
