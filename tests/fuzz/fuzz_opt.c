/* fuzz_opt.c - a command line, its arguments apart by line ends: options of each type, regions, compressions.
 * Target: common/cli/opt.c
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "common/cli/opt.h"
#include "common/codec/codec.h"
#include "common/seq/regions.h"
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
    COV_OPT(INT, "small", 's', AT(small), "N", "a number", .def = "3", .min = -5, .max = 5),
    COV_OPT(SIZE, "size", 'S', AT(size), "SIZE", "a size", .def = "21384", .min = 1, .max = 1e15),
    COV_OPT(FLOAT, "ratio", 'r', AT(ratio), "X", "a ratio", .def = "0.5", .max = 1),
    COV_OPT(ENUM, "choice", 'C', AT(choice), NULL, "a colour", .def = "green", .choices = colours),
    COV_OPT(STRING, "text", 't', AT(text), "TEXT", "a text"),
    COV_OPT(LIST, "list", 'l', AT(list), "LIST", "a list", .def = "x,y"),
    COV_OPT(STRING, "shift", 'p', AT(shift), "A", "x", .flags = COV_OPT_OPTIONAL_VALUE, .def = "4"),
    COV_OPT(FLAG, "flag", 'f', AT(flag), NULL, "a flag"),
    COV_OPT(FLAG, "quiet", 'q', AT(quiet), NULL, "a flag", .flags = COV_OPT_HIDDEN),
    COV_OPT(
        COUNT, "verbose", 'v', AT(count), NULL,
        "a count, with a text that is so long that help breaks it into lines that fit a terminal"),
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
