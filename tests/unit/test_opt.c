/* test_opt.c - command-line options.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/text.h"
#include "common/cli/opt.h"

struct config {
    bool flag;
    int count, choice;
    int64_t any, small, size;
    double ratio, real;
    const char *text, *required, *optional;
    struct cov_strings list, more;
};

static const char *const colours[] = {"red", "green", NULL};

#define FIELD(name) offsetof(struct config, name)
static const struct cov_opt table[] = {
    COV_OPT(FLAG, "flag", 'f', FIELD(flag), NULL, "a flag"),
    COV_OPT(COUNT, "count", 'c', FIELD(count), NULL, "counts"),
    COV_OPT(INT, "any-number", 0, FIELD(any), "N", "any integer"),
    COV_OPT(INT, "small", 's', FIELD(small), "N", "a small number", .def = "3", .min = -5,
            .max = 5),
    COV_OPT(SIZE, "size", 'S', FIELD(size), "SIZE", "a size", .def = "21384"),
    COV_OPT(FLOAT, "ratio", 'r', FIELD(ratio), "X", "a ratio", .def = "0.5", .max = 1),
    COV_OPT(FLOAT, "real", 0, FIELD(real), "X", "a number"),
    COV_OPT(ENUM, "choice", 'C', FIELD(choice), NULL, "a colour", .def = "green",
            .choices = colours),
    COV_OPT(STRING, "text", 't', FIELD(text), "TEXT", "a text"),
    COV_OPT(LIST, "list", 'l', FIELD(list), "LIST", "a list", .def = "x,y"),
    COV_OPT(LIST, "more", 0, FIELD(more), "LIST", "another"),
    COV_OPT(STRING, "optional", 'p', FIELD(optional), "A,B", "may stand without a value",
            .flags = COV_OPT_OPTIONAL_VALUE, .def = "4,-5"),
    {.name = NULL},
};

static const struct cov_opt required[] = {
    COV_OPT(STRING, "required", 'q', FIELD(required), "FILE", "must be there",
            .flags = COV_OPT_REQUIRED | COV_OPT_PATH_IN),
    COV_OPT(FLAG, "secret", 0, FIELD(flag), NULL, "not shown", .flags = COV_OPT_HIDDEN),
    {.name = NULL},
};

enum {
    N_ROWS = COV_COUNT(table) - 1,
    MAX_ARGS = 32,
};

/* The last command line. */
static struct {
    struct config config;
    bool given[N_ROWS];
    char text[256]; /* the arguments */
    char *argv[MAX_ARGS + 1];
    int n_operands;
    struct cov_err e;
} last;

static int free_config(void **state)
{
    cov_opt_fini(table, &last.config);
    memset(&last, 0, sizeof last);
    return 0;
}

/* Splits `line` at blanks and parses the arguments; "_" stands for an empty argument. */
static int parse(const char *line)
{
    (void)free_config(NULL);
    memset(&last, 0xaa, sizeof last); /* the parser must set every field itself */
    last.e.code = COV_OK;
    assert_true(strlen(line) < sizeof last.text);
    memcpy(last.text, line, strlen(line) + 1);
    int argc = 0;
    last.argv[argc++] = (char[]){"tool"};
    for (char *save, *word = strtok_r(last.text, " ", &save); word;
         word = strtok_r(NULL, " ", &save)) {
        assert_true(argc < MAX_ARGS);
        last.argv[argc++] = strcmp(word, "_") == 0 ? word + 1 : word;
    }
    last.argv[argc] = NULL;
    struct cov_opt_set set = {table, &last.config, last.given};
    return cov_opt_parse(&set, 1, argc, last.argv, &last.n_operands, &last.e);
}

TEST(sets_defaults)
{
    assert_int_equal(parse(""), COV_OK);
    const struct config *c = &last.config;
    assert_false(c->flag);
    assert_int_equal(c->count, 0);
    assert_int_equal(c->any, 0);
    assert_int_equal(c->small, 3);
    assert_int_equal(c->size, 21384);
    assert_true(c->ratio == 0.5 && c->real == 0);
    assert_int_equal(c->choice, 1);
    assert_null(c->text);
    assert_string_equal(c->optional, "4,-5");
    assert_int_equal(c->list.n, 2);
    assert_string_equal(c->list.items[1], "y");
    assert_int_equal(c->more.n, 0);
    assert_int_equal(last.n_operands, 0);
    for (int i = 0; i < N_ROWS; i++)
        assert_false(last.given[i]);
}

TEST(takes_every_form)
{
    assert_int_equal(parse("in1 -fcc --any_number=-9223372036854775808 -s -5 -S21k -r=.25 - "
                           "--real -1e-3 --choice red -t=x=y --list a,b -lc -p -- --flag"),
                     COV_OK);
    const struct config *c = &last.config;
    assert_true(c->flag);
    assert_int_equal(c->count, 2);
    assert_true(c->any == INT64_MIN);
    assert_int_equal(c->small, -5);
    assert_int_equal(c->size, 21000);
    assert_true(c->ratio == 0.25 && c->real == -1e-3);
    assert_int_equal(c->choice, 0);
    assert_string_equal(c->text, "x=y");
    assert_int_equal(c->list.n, 3);
    assert_string_equal(c->list.items[0], "a");
    assert_string_equal(c->list.items[2], "c");
    assert_string_equal(c->optional, "4,-5");
    assert_int_equal(last.n_operands, 3);
    assert_string_equal(last.argv[1], "in1");
    assert_string_equal(last.argv[2], "-");
    assert_string_equal(last.argv[3], "--flag");
    assert_true(last.given[0] && last.given[11]);
    assert_false(last.given[10]);
}

TEST(optional_value_only_after_equals)
{
    assert_int_equal(parse("--optional x"), COV_OK);
    assert_string_equal(last.config.optional, "4,-5");
    assert_int_equal(last.n_operands, 1);
    assert_int_equal(parse("--optional=1,2 -p=1,2 -fp"), COV_EUSAGE);
    assert_string_equal(last.e.text, "--optional is given twice: as '1,2' and as '4,-5'");
    assert_string_equal(last.config.optional, "1,2");
}

TEST(same_value_may_be_repeated)
{
    assert_int_equal(parse("-s 1 --small=1 -f --flag -t a -t a"), COV_OK);
    assert_int_equal(last.config.small, 1);
}

TEST(size_units)
{
    static const struct {
        const char *line;
        int64_t size;
    } cases[] = {
        {"-S 0", 0},
        {"-S 5K", 5000},
        {"-S 0.125G", 125000000},
        {"-S -0k", 0},
        {"-S 1.50k", 1500},
        {"-S 5m", 5000000},
        {"-S +7", 7},
        {"-S 5M", 5000000},
        {"-S 3g", 3000000000},
        {"-S 007", 7},
        {"-S 3G", 3000000000},
        {"-S 9223372036854775807", INT64_MAX},
        {"-S 0G", 0},
        {"-S 9223372036854775k", INT64_C(9223372036854775000)},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        assert_int_equal(parse(cases[i].line), COV_OK);
        assert_true(last.config.size == cases[i].size);
    }
}

TEST(refuses)
{
    static const struct {
        const char *line, *text;
    } cases[] = {
        {"--nothing", "unknown option '--nothing'"},
        {"--fla", "unknown option '--fla'; did you mean --flag?"},
        {"--flagg=1", "unknown option '--flagg'; did you mean --flag?"},
        {"--falg", "unknown option '--falg'; did you mean --flag?"},
        {"--lfag", "unknown option '--lfag'; did you mean --flag?"},
        {"--flga", "unknown option '--flga'; did you mean --flag?"},
        {"--fagl", "unknown option '--fagl'"},
        {"--lfga", "unknown option '--lfga'"},
        {"-x", "unknown option '-x'"},
        {"-fx", "unknown option '-x' in '-fx'"},
        {"-\xc3\xa4", "unknown option '-\xc3\xa4'"},
        {"--=3", "unknown option '--'"},
        {"--flag=1", "--flag takes no value"},
        {"--count=", "--count takes no value"},
        {"--text", "--text needs a value"},
        {"-t", "--text needs a value"},
        {"--text --flag",
         "--text needs a value, but '--flag' follows (write --text=--flag if that is the value)"},
        {"-t -fc",
         "--text needs a value, but '-fc' follows (write --text=-fc if that is the value)"},
        {"--text=", "--text: the value is empty"},
        {"-t _", "--text: the value is empty"},
        {"-s _", "--small: '' is not an integer"},
        {"-s 6", "--small: 6 is out of range (-5 to 5)"},
        {"-s -6", "--small: -6 is out of range (-5 to 5)"},
        {"-s 1.0", "--small: '1.0' is not an integer"},
        {"-s 0x1", "--small: '0x1' is not an integer"},
        {"-s 1k", "--small: '1k' is not an integer"},
        {"-s --5", "--small: '--5' is not an integer"},
        {"--any-number 9223372036854775808",
         "--any-number: 9223372036854775808 is out of range (-9223372036854775808 to "
         "9223372036854775807)"},
        {"-S -1", "--size: -1 is out of range (at least 0)"},
        {"-S 9223372036854776k", "--size: 9223372036854776k is out of range (at least 0)"},
        {"-S 10000000000G", "--size: 10000000000G is out of range (at least 0)"},
        {"-S k", "--size: 'k' is not an integer (k, M or G may follow it)"},
        {"-S 1kk", "--size: '1kk' is not an integer (k, M or G may follow it)"},
        {"-S 1.5", "--size: '1.5' is not an integer (k, M or G may follow it)"},
        {"-S 1.G", "--size: '1.G' is not an integer (k, M or G may follow it)"},
        {"-S .5G", "--size: '.5G' is not an integer (k, M or G may follow it)"},
        {"-S 1.0005k", "--size: '1.0005k' is not an integer (k, M or G may follow it)"},
        {"-S 1.5.5k", "--size: '1.5.5k' is not an integer (k, M or G may follow it)"},
        {"-r nan", "--ratio: 'nan' is not a number"},
        {"--real inf", "--real: 'inf' is not a number"},
        {"--real 1e999", "--real: '1e999' is not a number"},
        {"--real 0x1p3", "--real: '0x1p3' is not a number"},
        {"--real 1e", "--real: '1e' is not a number"},
        {"--real e", "--real: 'e' is not a number"},
        {"--real _", "--real: '' is not a number"},
        {"-r 1.01", "--ratio: 1.01 is out of range (0 to 1)"},
        {"-C blue", "--choice: 'blue' is not one of red, green"},
        {"-C r", "--choice: 'r' is not one of red, green"},
        {"-l ,", "--list: ',' has an empty part"},
        {"-l a,", "--list: 'a,' has an empty part"},
        {"-l a -l _", "--list: '' has an empty part"},
        {"-s 1 -s 2", "--small is given twice: as '1' and as '2'"},
        {"--optional 4", "--optional 4: a value needs '=', as in --optional=4,-5"},
        {"x --optional -f --optional 4,-5 y",
         "--optional 4,-5: a value needs '=', as in --optional=4,-5"},
        {"-s 1 -s 01", "--small is given twice: as '1' and as '01'"},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        assert_int_equal(parse(cases[i].line), COV_EUSAGE);
        assert_int_equal(last.e.code, COV_EUSAGE);
        assert_string_equal(last.e.text, cases[i].text);
    }
}

TEST(lists_may_have_blanks)
{
    char *argv[] = {(char[]){"tool"}, (char[]){"--list=a,  b c, d"}, NULL};
    static struct config c;
    int n_operands;
    const struct cov_opt_set set = {table, &c, NULL};
    assert_ok(cov_opt_parse(&set, 1, 2, argv, &n_operands, &e));
    assert_int_equal(c.list.n, 3);
    assert_string_equal(c.list.items[0], "a");
    assert_string_equal(c.list.items[1], "b c");
    assert_string_equal(c.list.items[2], "d");
    cov_opt_fini(table, &c);
    argv[1] = (char[]){"--list=a, "};
    assert_fails_with(cov_opt_parse(&set, 1, 2, argv, &n_operands, &e), COV_EUSAGE,
                      "--list: 'a, ' has an empty part");
    cov_opt_fini(table, &c);
}

TEST(several_tables_and_required)
{
    struct config first = {0}, second = {0};
    bool given[2];
    const struct cov_opt_set sets[] = {{table, &first, NULL}, {required, &second, given}};
    int n;
    char *none[] = {(char[]){"tool"}, (char[]){"--secret"}, NULL};
    assert_fails_with(cov_opt_parse(sets, 2, 2, none, &n, &e), COV_EUSAGE,
                      "-q/--required is missing");
    assert_true(second.flag && !first.flag);
    cov_opt_fini(table, &first);
    char *both[] = {(char[]){"tool"}, (char[]){"-fqx"}, NULL};
    assert_ok(cov_opt_parse(sets, 2, 2, both, &n, &e));
    assert_string_equal(second.required, "x");
    assert_true(first.flag && !second.flag && given[0] && !given[1]);
    cov_opt_fini(table, &first);
}

TEST(wrong_default_is_an_error)
{
    struct config c;
    const struct cov_opt bad[] = {
        COV_OPT(LIST, "list", 0, FIELD(list), "LIST", "a list", .def = "a"),
        COV_OPT(INT, "small", 0, FIELD(small), "N", "a number", .def = "6", .min = 1, .max = 5),
        {.name = NULL},
    };
    const struct cov_opt_set set = {bad, &c, NULL};
    char *argv[] = {(char[]){"tool"}, NULL};
    int n;
    assert_int_equal(cov_opt_parse(&set, 1, 1, argv, &n, NULL), COV_EUSAGE);
    cov_opt_fini(bad, &c);
}

static const char *printed(void (*print)(const struct cov_opt *, FILE *),
                           const struct cov_opt *what)
{
    FILE *f = begin_text();
    print(what, f);
    return end_text(f);
}

TEST(prints_help)
{
    const char *text = printed(cov_opt_print_help, table);
    assert_contains(text, "  -f, --flag                a flag\n");
    assert_contains(text, "      --any-number N        any integer\n");
    assert_contains(text, "  -C, --choice red|green    a colour (default: green)\n");
    assert_contains(text, "  -p, --optional[=A,B]      may stand without a value (default: "
                          "4,-5)\n");
    assert_null(strstr(printed(cov_opt_print_help, required), "secret"));
}

TEST(wraps_help)
{
    const struct cov_opt wide[] = {
        COV_OPT(
            INT, "a-name-that-fills-it", 0, 0, "NUMBER",
            "a long explanation of what this number is good for, and of what it is not good for",
            .def = "1"),
        {.name = NULL},
    };
    assert_string_equal(
        printed(cov_opt_print_help, wide),
        "      --a-name-that-fills-it NUMBER\n"
        "                            a long explanation of what this number is good for,\n"
        "                            and of what it is not good for (default: 1)\n");
}

TEST(prints_for_machines)
{
    const char *text = printed(cov_opt_print_machine, table);
    assert_contains(text, "flag\tf\tflag\t-\t-\t-\t-\ta flag\n");
    assert_contains(text, "size\tS\tsize\tSIZE\t21384\t-\t-\ta size\n");
    assert_contains(text, "choice\tC\tenum\tred|green\tgreen\tred|green\t-\ta colour\n");
    assert_contains(text, "optional\tp\tstring\t[=A,B]\t4,-5\t-\t-\tmay stand without");
    assert_string_equal(printed(cov_opt_print_machine, required),
                        "required\tq\tstring\tFILE\t-\t-\tin\tmust be there\n");
}

TEST(parses_numbers)
{
    int64_t i = 5;
    double d = 5;
    assert_ok(cov_parse_i64("12", "level", 1, 12, &i, &e));
    assert_int_equal(i, 12);
    assert_fails_with(cov_parse_i64("13", "level", 1, 12, &i, &e), COV_EUSAGE,
                      "level: 13 is out of range (1 to 12)");
    assert_int_equal(cov_parse_i64("1k", "level", 1, 12, &i, NULL), COV_EUSAGE);
    assert_int_equal(i, 12);
    assert_ok(cov_parse_size("3k", "size", 1, 3000, &i, &e));
    assert_int_equal(i, 3000);
    assert_int_equal(cov_parse_size("4k", "size", 1, 3000, &i, NULL), COV_EUSAGE);
    assert_int_equal(i, 3000);
    assert_ok(cov_parse_double("-2.5e1", "scale", -30, 0, &d, &e));
    assert_true(d == -25);
    assert_int_equal(cov_parse_double(" 1", "scale", -30, 30, &d, NULL), COV_EUSAGE);
    assert_true(d == -25);
}

TEST_GROUP(NULL, free_config)
