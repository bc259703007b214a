/* opt.c - see opt.h.
 * SPDX-License-Identifier: MIT */
#include "common/cli/opt.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/base/text.h"

/* ---------------------------------------------------------------- names in other programs */

#define OPERAND NULL, "inputs are given without an option", false
#define BE(ours) ours, NULL, false
#define IS(ours) ours, NULL, true

/* A habit of users of samtools, bedtools, deepTools, MACS3, Predmoter or earlier versions. */
struct habit {
    const char *theirs; /* without dashes; a single letter is a short option */
    const char *ours;   /* a long name: the row is for tools that have it; NULL: for all tools */
    const char *advice; /* what to do instead; NULL: "did you mean --OURS?" */
    bool is_alias;      /* --THEIRS is taken as --OURS */
};

/* The rows end with one without `theirs`. The first row that fits a tool is used. */
static const struct habit habits[] = {
    /* Earlier versions, and Predmoter. */
    {"bin", IS("bin-size")},
    {"bins", IS("bin-size")},
    {"bin-sizes", IS("bin-size")},
    {"binSize", IS("bin-size")},
    {"peak-threshold", IS("peak-cutoff")},
    {"peak-length", IS("peak-min-length")},
    {"peak-gap", IS("peak-max-gap")},
    {"compare", IS("measured")},
    {"measured-threshold", IS("measured-cutoff")},
    {"target", IS("dataset")},
    {"datasets", IS("dataset")},
    {"dataset", IS("datasets")},
    {"reference", IS("genome")},
    {"names", IS("labels")},
    {"window-size", IS("windows")},
    {"bl-file", IS("blacklist-file")},
    {"gff-file", BE("genes")},
    {"upstream-region", BE("before")},
    {"downstream-region", BE("after")},
    {"plot", "basename", "use covprofile region", false},
    {"plot-region", "basename", "use covprofile region", false},
    {"mode", "device", "covtrain trains, covpredict predicts, covpredict --evaluate tests", false},
    {"filepath", BE("input-dir")},
    {"input-file", BE("input-dir")},
    {"i", "dataset", "the inputs are --genome and --regions-file", false},
    {"filepath", OPERAND},
    {"input-dir", OPERAND},
    {"input-file", OPERAND},
    {"output-dir", BE("output")},
    {"output-format", BE("format")},
    {"of", BE("format")},
    {"lr", BE("learning-rate")},
    {"num-devices", "device", "name the GPUs, as in --device cuda:0,1", false},
    {"num-workers", BE("threads")},
    /* samtools. */
    {"F", BE("exclude-flags")},
    {"excl-flags", BE("exclude-flags")},
    {"f", BE("require-flags")},
    {"incl-flags", BE("require-flags")},
    {"q", BE("min-mapq")},
    {"min-MQ", BE("min-mapq")},
    {"T", BE("genome")},
    {"L", BE("regions-file")},
    {"targets-file", BE("regions-file")},
    {"t", BE("threads")},
    /* deepTools. */
    {"bs", BE("bin-size")},
    {"p", BE("threads")},
    {"numberOfProcessors", BE("threads")},
    {"outFileName", BE("output")},
    {"outFileFormat", BE("format")},
    {"outFileNameMatrix", BE("output")},
    {"outRawCounts", BE("output")},
    {"matrixFile", BE("matrix")},
    {"plotFile", BE("plot")},
    {"bam", OPERAND},
    {"bamfiles", OPERAND},
    {"bwfiles", OPERAND},
    {"scoreFileName", OPERAND},
    {"S", OPERAND},
    {"region", BE("regions")},
    {"regionsFileName", BE("genes")},
    {"beforeRegionStartLength", BE("before")},
    {"upstream", BE("before")},
    {"afterRegionStartLength", BE("after")},
    {"downstream", BE("after")},
    {"regionBodyLength", BE("body")},
    {"referencePoint", BE("anchor")},
    {"averageType", BE("median")},
    {"samplesLabel", BE("labels")},
    {"corMethod", BE("method")},
    {"blackListFileName", BE("blacklist-file")},
    {"bl", BE("blacklist-file")},
    {"normalizeUsing", BE("normalize")},
    {"operation", "log2", "use --minus, --log2 or --mean", false},
    {"bigwig2", "log2", "use --minus, --log2 or --mean", false},
    {"effectiveGenomeSize", "normalize", "use --normalize cpm --scale MILLIONS", false},
    {"scaleFactor", BE("scale")},
    {"smoothLength", BE("window-size")},
    {"skipZeros", BE("skip-zero")},
    {"minMappingQuality", BE("min-mapq")},
    {"samFlagInclude", BE("require-flags")},
    {"samFlagExclude", BE("exclude-flags")},
    {"minFragmentLength", BE("min-fragment")},
    {"maxFragmentLength", BE("max-fragment")},
    {"extendReads", "count", "use --count fragment", false},
    {"Offset", "count", "use --count cut", false},
    {"ignoreDuplicates", "exclude-flags", "use --exclude-flags UNMAP,SECONDARY,QCFAIL,DUP", false},
    /* MACS3. */
    {"ofile", BE("output")},
    {"o-prefix", BE("output")},
    {"outdir", BE("output")},
    {"name", BE("output")},
    {"n", BE("output")},
    {"ifile", OPERAND},
    {"treatment", OPERAND},
    {"cutoff", BE("peak-cutoff")},
    {"min-length", BE("peak-min-length")},
    {"max-gap", BE("peak-max-gap")},
    {"cutoff-peak", BE("cutoff")},
    {"cutoff-link", BE("weak-cutoff")},
    {"broad-cutoff", BE("weak-cutoff")},
    {"lvl1-max-gap", BE("max-gap")},
    {"lvl2-max-gap", BE("link-gap")},
    {"call-summits", BE("summits")},
    {"cutoff-analysis", "auto", "use --auto, or covpeaks curve", false},
    {"qvalue", "cutoff", "values are not tested; use --cutoff or --auto", false},
    {"pvalue", "cutoff", "values are not tested; use --cutoff or --auto", false},
    {"gsize", "normalize", "use --normalize cpm --scale MILLIONS", false},
    {"extsize", "count", "use --count fragment", false},
    {"keep-dup", "exclude-flags", "all reads count unless --exclude-flags has DUP", false},
    {"nomodel", NULL, "no model of fragments is made, so leave it out", false},
    {"no-trackline", NULL, "no track line is written, so leave it out", false},
    /* bedtools. */
    {"g", BE("chrom-sizes")},
    {"bg", "format", "give -o a name that ends in .bedGraph", false},
    {"ibam", OPERAND},
    {"a", OPERAND},
    {"b", OPERAND},
    {"i", OPERAND},
    {.theirs = NULL},
};

static bool same_letter(char a, char b)
{
    return a == b || ((a == '-' || a == '_') && (b == '-' || b == '_'));
}

/* Returns true if name[0..n) is `a`; hyphens and underscores are equivalent. */
static bool same_name(const char *a, const char *name, size_t n)
{
    if (strlen(a) != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!same_letter(a[i], name[i]))
            return false;
    return true;
}

bool cov_opt_is_close(const char *a, size_t n, const char *b)
{
    size_t m = strlen(b), head = 0, tail = 0;
    while (head < n && head < m && same_letter(a[head], b[head]))
        head++;
    if (head == n)
        return n > 2;
    while (tail < n - head && tail < m - head && same_letter(a[n - 1 - tail], b[m - 1 - tail]))
        tail++;
    size_t least = n < m ? n : m, most = n < m ? m : n, other = most - head - tail;
    bool swapped = n == m && other == 2 && same_letter(a[head], b[head + 1]) &&
                   same_letter(a[head + 1], b[head]);
    return n > 2 && least + 1 >= most && (other <= 1 || swapped);
}

/* ---------------------------------------------------------------- one value */

static void free_strings(struct cov_strings *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->items[i]);
    free(list->items);
    *list = (struct cov_strings){NULL, 0};
}

static int append_strings(struct cov_strings *list, bool unique, const char *what, const char *text,
                          struct cov_err *e)
{
    for (const char *part = text;; part++) {
        part += part > text ? strspn(part, " ") : 0;
        size_t n = strcspn(part, ",");
        if (n == 0)
            return cov_fail(e, COV_EUSAGE, "%s: '%s' has an empty part", what, text);
        char **grown = cov_realloc(list->items, list->n + 1, sizeof *grown, e);
        if (!grown)
            return COV_ENOMEM;
        list->items = grown;
        list->items[list->n] = cov_strndup(part, n, e);
        if (!list->items[list->n])
            return COV_ENOMEM;
        list->n++;
        for (size_t i = 0; unique && i + 1 < list->n; i++)
            if (strcmp(list->items[i], list->items[list->n - 1]) == 0)
                return cov_fail(e, COV_EUSAGE, "%s: duplicate %s", what, list->items[i]);
        part += n;
        if (!*part)
            return COV_OK;
    }
}

static int choose(const struct cov_opt *o, const char *what, const char *text, int *out,
                  struct cov_err *e)
{
    char all[256] = "";
    size_t used = 0;
    for (int i = 0; o->choices[i]; i++) {
        if (strcmp(o->choices[i], text) == 0) {
            *out = i;
            return COV_OK;
        }
        int n = snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", o->choices[i]);
        used += n > 0 && (size_t)n < sizeof all - used ? (size_t)n : 0;
    }
    return cov_fail(e, COV_EUSAGE, "%s: '%s' is not one of %s", what, text, all);
}

/* Sets *min and *max to the range of an INT or SIZE. */
static void integer_range(const struct cov_opt *o, int64_t *min, int64_t *max)
{
    const double two63 = 9223372036854775808.0;
    if (o->min == 0 && o->max == 0) { /* any INT, or any SIZE, which is not negative */
        *min = o->type == COV_OPT_INT ? INT64_MIN : 0;
        *max = INT64_MAX;
        return;
    }
    *min = o->min <= -two63 ? INT64_MIN : (int64_t)o->min;
    *max = o->max >= two63 ? INT64_MAX : (int64_t)o->max;
}

/* Parses `text` and stores the value in the field of row `o`. `what` names the option in errors. */
static int set_value(const struct cov_opt *o, void *field, const char *what, const char *text,
                     struct cov_err *e)
{
    switch (o->type) {
    case COV_OPT_FLAG:
        *(bool *)field = true;
        return COV_OK;
    case COV_OPT_COUNT:
        ++*(int *)field;
        return COV_OK;
    case COV_OPT_INT:
    case COV_OPT_SIZE: {
        int64_t min, max;
        integer_range(o, &min, &max);
        return o->type == COV_OPT_SIZE ? cov_parse_size(text, what, min, max, field, e)
                                       : cov_parse_i64(text, what, min, max, field, e);
    }
    case COV_OPT_FLOAT: {
        bool any = o->min == 0 && o->max == 0;
        return cov_parse_double(text, what, any ? -HUGE_VAL : o->min, any ? HUGE_VAL : o->max,
                                field, e);
    }
    case COV_OPT_ENUM:
        return choose(o, what, text, field, e);
    case COV_OPT_STRING:
        if (!*text)
            return cov_fail(e, COV_EUSAGE, "%s: the value is empty", what);
        *(const char **)field = text;
        return COV_OK;
    case COV_OPT_LIST:
        return append_strings(field, (o->flags & COV_OPT_UNIQUE) != 0, what, text, e);
    }
    return COV_EUSAGE;
}

/* ---------------------------------------------------------------- the command line */

struct row {
    const struct cov_opt *opt;
    void *field;
    bool *given;      /* NULL: not requested */
    const char *seen; /* the last value, NULL if none yet */
};

struct parser {
    struct row *rows; /* of all tables */
    size_t n_rows;
    int argc;
    char **argv;
};

/* Finds the row with the long name text[0..n), without aliases, or, if `text` is NULL, with the short
 * name `letter`. NULL: there is none. */
static struct row *find_own(const struct parser *p, const char *text, size_t n, char letter)
{
    for (struct row *r = p->rows; r < p->rows + p->n_rows; r++)
        if (text ? same_name(r->opt->name, text, n) : letter && r->opt->letter == letter)
            return r;
    return NULL;
}

/* Returns the row of the table of habits for text[0..n), if it is for this tool; else NULL. */
static const struct habit *find_habit(const struct parser *p, const char *text, size_t n,
                                      bool alias)
{
    for (const struct habit *h = habits; h->theirs; h++)
        if ((h->is_alias || !alias) && same_name(h->theirs, text, n) &&
            (!h->ours || find_own(p, h->ours, strlen(h->ours), 0)))
            return h;
    return NULL;
}

/* Finds the row with the long name text[0..n), or for which this is an alias, or with the short name
 * `letter`, if `text` is NULL. */
static struct row *find(const struct parser *p, const char *text, size_t n, char letter)
{
    struct row *r = find_own(p, text, n, letter);
    const struct habit *h = text && !r ? find_habit(p, text, n, true) : NULL;
    return h ? find_own(p, h->ours, strlen(h->ours), 0) : r;
}

/* Returns the option that the user may have meant; NULL if there is none, or more than one. */
static const char *guess(const struct parser *p, const char *text, size_t n)
{
    const char *found = NULL;
    for (size_t i = 0; i < p->n_rows; i++) {
        if (!cov_opt_is_close(text, n, p->rows[i].opt->name))
            continue;
        if (found)
            return NULL;
        found = p->rows[i].opt->name;
    }
    return found;
}

/* Adds to the error about an unknown option what to use instead. `hint` and `meant` may be NULL. */
static int add_hint(const struct habit *hint, const char *meant, struct cov_err *e)
{
    if (hint && hint->advice)
        cov_err_append(e, "; %s", hint->advice);
    else if (hint || meant)
        cov_err_append(e, "; did you mean --%s?", hint ? hint->ours : meant);
    return COV_EUSAGE;
}

static int fail_unknown(const char *option, size_t n, const struct habit *hint, const char *meant,
                        struct cov_err *e)
{
    (void)cov_fail(e, COV_EUSAGE, "unknown option '%.*s'", (int)n, option);
    return add_hint(hint, meant, e);
}

static bool is_number(const char *text)
{
    char *end;
    (void)strtoul(text, &end, 0);
    return isdigit((unsigned char)*text) && !*end;
}

/* Fails if `value` follows the letter of a flag that is an option with a value in samtools, as in
 * "-q 30". */
static int check_letter(const struct parser *p, const struct cov_opt *o, const char *value,
                        struct cov_err *e)
{
    const struct habit *h = find_habit(p, &o->letter, 1, false);
    if (!h || !h->ours || !value || !is_number(value))
        return COV_OK;
    return cov_fail(e, COV_EUSAGE, "-%c is --%s here and takes no value; did you mean --%s %s?",
                    o->letter, o->name, h->ours, value);
}

static bool takes_value(const struct cov_opt *o)
{
    return o->type != COV_OPT_FLAG && o->type != COV_OPT_COUNT;
}

/* Stores the value of an option. `value` is NULL for a flag, or if an optional value is missing. */
static int take(struct row *r, const char *value, struct cov_err *e)
{
    const struct cov_opt *o = r->opt;
    bool scalar = takes_value(o) && o->type != COV_OPT_LIST;
    const char *text = value ? value : scalar && o->def ? o->def : "";
    char what[80];
    (void)snprintf(what, sizeof what, "--%s", o->name);
    if (scalar && r->seen && strcmp(r->seen, text) != 0)
        return cov_fail(e, COV_EUSAGE, "%s is given twice: as '%s' and as '%s'", what, r->seen,
                        text);
    if (value && o->type == COV_OPT_LIST && !r->seen)
        free_strings(r->field);
    /* If an optional value is missing, the field already has its default. */
    int rc = value || !takes_value(o) ? set_value(o, r->field, what, text, e) : COV_OK;
    if (rc)
        return rc;
    r->seen = text;
    if (r->given)
        *r->given = true;
    return COV_OK;
}

/* Returns true if `arg` is a known option and therefore unlikely to be a value. */
static bool is_option(const struct parser *p, const char *arg)
{
    if (arg[0] != '-' || !arg[1])
        return false;
    if (arg[1] == '-')
        return find(p, arg + 2, strcspn(arg + 2, "="), 0) != NULL;
    return find(p, NULL, 0, arg[1]) != NULL;
}

/* Uses the next argument as the value of an option. */
static int next_value(const struct parser *p, const struct cov_opt *o, int *i, const char **value,
                      struct cov_err *e)
{
    if (*i + 1 >= p->argc)
        return cov_fail(e, COV_EUSAGE, "--%s needs a value", o->name);
    if (is_option(p, p->argv[*i + 1]))
        return cov_fail(e, COV_EUSAGE,
                        "--%s needs a value, but '%s' follows (write --%s=%s if that is the value)",
                        o->name, p->argv[*i + 1], o->name, p->argv[*i + 1]);
    *value = p->argv[++*i];
    return COV_OK;
}

/* Returns true if `next` looks like a value of the option: numbers, or one of its choices. */
static bool is_value(const struct cov_opt *o, const char *next)
{
    if (isdigit((unsigned char)*next) && !next[strspn(next, "0123456789.,+-")])
        return true;
    for (int i = 0; o->choices && o->choices[i]; i++)
        if (strcmp(next, o->choices[i]) == 0)
            return true;
    return false;
}

/* Fails if the next argument is a value, not a file: "--shift 4,-5" for "--shift=4,-5". */
static int check_no_value(const struct parser *p, const struct cov_opt *o, int i, struct cov_err *e)
{
    const char *next = i + 1 < p->argc ? p->argv[i + 1] : "";
    if (!is_value(o, next) || access(next, F_OK) == 0)
        return COV_OK;
    return cov_fail(e, COV_EUSAGE, "--%s %s: a value needs '=', as in --%s=%s", o->name, next,
                    o->name, o->def && !o->choices ? o->def : next);
}

static int parse_long(const struct parser *p, int *i, struct cov_err *e)
{
    const char *name = p->argv[*i] + 2;
    size_t n = strcspn(name, "=");
    struct row *r = find(p, name, n, 0);
    if (!r)
        return fail_unknown(p->argv[*i], n + 2, find_habit(p, name, n, false), guess(p, name, n),
                            e);
    const char *value = name[n] ? name + n + 1 : NULL;
    if (value && !takes_value(r->opt))
        return cov_fail(e, COV_EUSAGE, "--%s takes no value", r->opt->name);
    int rc = COV_OK;
    if (!value && takes_value(r->opt))
        rc = r->opt->flags & COV_OPT_OPTIONAL_VALUE ? check_no_value(p, r->opt, *i, e)
                                                    : next_value(p, r->opt, i, &value, e);
    return rc ? rc : take(r, value, e);
}

/* Sets *value to the value of a letter, which `rest` of the argument follows. */
static int short_value(const struct parser *p, const struct cov_opt *o, const char *rest, int *i,
                       const char **value, struct cov_err *e)
{
    bool optional = o->flags & COV_OPT_OPTIONAL_VALUE;
    if (!*rest && !optional)
        return next_value(p, o, i, value, e);
    if (*rest == '=')
        *value = rest + 1;
    else if (!optional)
        *value = rest;
    return COV_OK;
}

static int fail_letter(const struct parser *p, const char *bundle, const char *letter,
                       struct cov_err *e)
{
    const struct habit *h = find_habit(p, letter, 1, false);
    if (!bundle[2] || !isprint((unsigned char)*letter))
        return fail_unknown(bundle, strlen(bundle), h, NULL, e);
    (void)cov_fail(e, COV_EUSAGE, "unknown option '-%c' in '%s'", *letter, bundle);
    return add_hint(h, NULL, e);
}

static int parse_short(const struct parser *p, int *i, struct cov_err *e)
{
    const char *bundle = p->argv[*i], *name = bundle + 1;
    size_t n_name = strcspn(name, "=");
    const struct row *named = n_name > 1 ? find(p, name, n_name, 0) : NULL;
    if (named)
        return cov_fail(e, COV_EUSAGE, "unknown option '%s'; did you mean --%s%s?", bundle,
                        named->opt->name, name + n_name);
    if (n_name > 1 && find_habit(p, name, n_name, false))
        return fail_unknown(bundle, n_name + 1, find_habit(p, name, n_name, false), NULL, e);
    for (const char *letter = bundle + 1; *letter; letter++) {
        struct row *r = find(p, NULL, 0, *letter);
        if (!r)
            return fail_letter(p, bundle, letter, e);
        const char *value = NULL;
        int rc = takes_value(r->opt)
                     ? short_value(p, r->opt, letter + 1, i, &value, e)
                     : check_letter(p, r->opt, letter[1] ? letter + 1 : p->argv[*i + 1], e);
        if (!rc)
            rc = take(r, value, e);
        if (rc || value)
            return rc;
    }
    return COV_OK;
}

/* Empties the fields of a table, so that cov_opt_fini is safe whatever fails later. Returns the number
 * of rows. */
static size_t clear_fields(const struct cov_opt_set *set)
{
    static const size_t bytes[] = {
        [COV_OPT_FLAG] = sizeof(bool),     [COV_OPT_COUNT] = sizeof(int),
        [COV_OPT_INT] = sizeof(int64_t),   [COV_OPT_SIZE] = sizeof(int64_t),
        [COV_OPT_FLOAT] = sizeof(double),  [COV_OPT_ENUM] = sizeof(int),
        [COV_OPT_STRING] = sizeof(char *), [COV_OPT_LIST] = sizeof(struct cov_strings),
    };
    size_t n = 0;
    for (const struct cov_opt *o = set->table; o->name; o++, n++)
        memset((char *)set->config + o->field, 0, bytes[o->type]);
    return n;
}

/* Lists the rows of a table, and sets their defaults. */
static int add_rows(struct parser *p, const struct cov_opt_set *set, struct cov_err *e)
{
    int rc = COV_OK;
    for (const struct cov_opt *o = set->table; !rc && o->name; o++) {
        struct row *r = &p->rows[p->n_rows++];
        *r = (struct row){.opt = o, .field = (char *)set->config + o->field};
        r->given = set->given ? &set->given[o - set->table] : NULL;
        if (r->given)
            *r->given = false;
        if (o->def)
            rc = set_value(o, r->field, o->name, o->def, e);
    }
    return rc;
}

static int check_required(const struct parser *p, struct cov_err *e)
{
    for (const struct row *r = p->rows; r < p->rows + p->n_rows; r++)
        if ((r->opt->flags & COV_OPT_REQUIRED) && !r->seen)
            return r->opt->letter ? cov_fail(e, COV_EUSAGE, "-%c/--%s is missing", r->opt->letter,
                                             r->opt->name)
                                  : cov_fail(e, COV_EUSAGE, "--%s is missing", r->opt->name);
    return COV_OK;
}

static int parse_arguments(const struct parser *p, int *n_operands, struct cov_err *e)
{
    bool options_ended = false;
    for (int i = 1; i < p->argc; i++) {
        char *arg = p->argv[i];
        int rc = COV_OK;
        if (options_ended || arg[0] != '-' || !arg[1])
            p->argv[1 + (*n_operands)++] = arg; /* the index is at most i */
        else if (strcmp(arg, "--") == 0)
            options_ended = true;
        else
            rc = arg[1] == '-' ? parse_long(p, &i, e) : parse_short(p, &i, e);
        if (rc)
            return rc;
    }
    return check_required(p, e);
}

int cov_opt_parse(const struct cov_opt_set *sets, size_t n_sets, int argc, char **argv,
                  int *n_operands, struct cov_err *e)
{
    size_t n_rows = 0;
    for (size_t s = 0; s < n_sets; s++)
        n_rows += clear_fields(&sets[s]);
    *n_operands = 0;
    struct parser p = {cov_calloc(n_rows, sizeof *p.rows, e), 0, argc, argv};
    int rc = p.rows ? COV_OK : COV_ENOMEM;
    for (size_t s = 0; !rc && s < n_sets; s++)
        rc = add_rows(&p, &sets[s], e);
    if (!rc)
        rc = parse_arguments(&p, n_operands, e);
    free(p.rows);
    return rc;
}

void cov_opt_fini(const struct cov_opt *table, void *config)
{
    for (const struct cov_opt *o = table; o->name; o++)
        if (o->type == COV_OPT_LIST)
            free_strings((struct cov_strings *)((char *)config + o->field));
}

/* ---------------------------------------------------------------- printing the table */

enum {
    HELP_COLUMN = 28,
    HELP_WIDTH = 80,
};

/* This and print_metavar return the number of characters. */
static int print_choices(const struct cov_opt *o, FILE *f)
{
    int n = 0;
    for (int i = 0; o->choices[i]; i++)
        n += fprintf(f, "%s%s", i ? "|" : "", o->choices[i]);
    return n;
}

/* "N", or "[=N]" if the value is optional; empty for a flag. */
static int print_metavar(const struct cov_opt *o, FILE *f)
{
    bool optional = o->flags & COV_OPT_OPTIONAL_VALUE;
    int n = fprintf(f, "%s", optional ? "[=" : "");
    if (o->metavar)
        n += fprintf(f, "%s", o->metavar);
    else if (o->type == COV_OPT_ENUM)
        n += print_choices(o, f);
    return n + fprintf(f, "%s", optional ? "]" : "");
}

/* Prints the words of `text`, and `end` right after the last one, from column `at` on, within columns
 * HELP_COLUMN to HELP_WIDTH. Returns the column where they end. */
static int print_words(const char *text, const char *end, int at, FILE *f)
{
    while (*text) {
        int n = (int)strcspn(text, " ");
        const char *next = text + n + strspn(text + n, " "), *tail = *next ? "" : end;
        int width = n + (int)strlen(tail);
        if (at > HELP_COLUMN && at + 1 + width > HELP_WIDTH) {
            (void)fprintf(f, "\n%*s", HELP_COLUMN, "");
            at = HELP_COLUMN;
        } else if (at > HELP_COLUMN) {
            (void)fputc(' ', f);
            at++;
        }
        (void)fprintf(f, "%.*s%s", n, text, tail);
        at += width;
        text = next;
    }
    return at;
}

void cov_opt_print_help(const struct cov_opt *table, FILE *f)
{
    for (const struct cov_opt *o = table; o->name; o++) {
        if (o->flags & COV_OPT_HIDDEN)
            continue;
        if (o->heading)
            (void)fprintf(f, "\n%s:\n", o->heading);
        bool spaced = takes_value(o) && !(o->flags & COV_OPT_OPTIONAL_VALUE);
        int at = fprintf(f, "  %c%c%c --%s%s", o->letter ? '-' : ' ', o->letter ? o->letter : ' ',
                         o->letter ? ',' : ' ', o->name, spaced ? " " : "");
        at += print_metavar(o, f);
        if (at + 2 > HELP_COLUMN) {
            (void)fputc('\n', f);
            at = 0;
        }
        (void)fprintf(f, "%*s", HELP_COLUMN - at, "");
        at = print_words(o->help, "", HELP_COLUMN, f);
        if (o->def) {
            at = print_words("(default:", "", at, f);
            (void)print_words(o->def, ")", at, f);
        }
        (void)fputc('\n', f);
    }
}

void cov_opt_print_machine(const struct cov_opt *table, FILE *f)
{
    static const char *const types[] = {
        [COV_OPT_FLAG] = "flag",     [COV_OPT_COUNT] = "count", [COV_OPT_INT] = "int",
        [COV_OPT_SIZE] = "size",     [COV_OPT_FLOAT] = "float", [COV_OPT_ENUM] = "enum",
        [COV_OPT_STRING] = "string", [COV_OPT_LIST] = "list",
    };
    for (const struct cov_opt *o = table; o->name; o++) {
        if (o->flags & COV_OPT_HIDDEN)
            continue;
        (void)fprintf(f, "%s\t%c\t%s\t", o->name, o->letter ? o->letter : '-', types[o->type]);
        if (takes_value(o))
            (void)print_metavar(o, f);
        else
            (void)fputc('-', f);
        (void)fprintf(f, "\t%s\t", o->def ? o->def : "-");
        if (o->type == COV_OPT_ENUM)
            (void)print_choices(o, f);
        else
            (void)fputc('-', f);
        (void)fprintf(f, "\t%s\t%s\n",
                      o->flags & COV_OPT_PATH_IN    ? "in"
                      : o->flags & COV_OPT_PATH_OUT ? "out"
                                                    : "-",
                      o->help);
    }
}
