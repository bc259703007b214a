/* synth.c - benchmark synth: synthetic genomes of any size, without genes, and reads from them.
 *
 * A contig is made in blocks, each with a seed of its own, so that threads can share the work.
 * Bases are drawn from tables of 256 letters, eight per random number.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/ring.h"
#include "common/base/rng.h"
#include "common/file/outfile.h"
#include "common/file/path.h"
#include "common/file/tmpfile.h"
#include "tools/benchmark/measuring.h"

enum {
    LINE = 80,
    BLOCK = LINE * 8192, /* bases */
    N_FAMILIES = 16,
    MIN_FAMILY = 300,
    MAX_FAMILY = 5000,
    MIN_RUN = 20, /* runs of N */
    MAX_RUN = 2000,
    CHANGED = 16, /* one base in CHANGED of a copy is substituted */
    PEAK_STEP = 10000,
    PEAK_WIDTH = 600,
    MOST_STARTS = 100,     /* mean number of reads that start at a base */
    READS_TEXT = 32000000, /* approximate bytes of reads per work item */
    READ_EXTRA = 160       /* bytes of a SAM line without the bases */
};
/* Changes the seed for the repeat families. */
#define FAMILY_STREAM UINT64_C(0x9e3779b97f4a7c15)

struct synth_options {
    int64_t n_bases; /* of all contigs */
    int64_t n_contigs;
    double gc, n_content, repeats; /* fractions of all bases; repeats are in lower case */
    bool rna;                      /* U for T */
    double depth;                  /* mean read depth; 0: no reads */
    int64_t read_length;
    int64_t seed; /* >= 0 */
};

struct block {
    size_t contig;
    int64_t beg, n;
    int64_t lo; /* start of the part whose reads are made */
    unsigned piece;
    char *bases; /* [BLOCK] */
    char *text;  /* FASTA lines, with the header at the start of a contig */
    size_t n_text;
    char *reads;
    size_t n_reads_text, cap_reads;
    int64_t *starts; /* of reads. [cap_starts] */
    size_t cap_starts;
};

struct run {
    const struct synth_options *o;
    FILE *fasta, *sam;
    const char *fasta_name, *sam_name; /* as messages call them */
    struct cov_progress *progress;
    int64_t *lengths;
    struct {
        char bases[MAX_FAMILY];
        size_t n;
    } families[N_FAMILIES];
    char letters[2][256]; /* GC content rounded down and up to 1/128 */
    double more;          /* share of lines that use the second table, so that the mean is exact */
    /* At high depth a block is made several times, each time with the reads of another part (a
     * multiple of PEAK_STEP), or even of one of n_pieces pieces of a part. */
    int64_t part;
    unsigned n_pieces;
    size_t contig; /* next work item */
    int64_t at, lo;
    unsigned piece;
    struct block *blocks;
    size_t n_blocks;
};

static int check_options(const struct synth_options *o, struct cov_err *e)
{
    if (o->n_contigs > o->n_bases)
        return cov_fail(e, COV_EUSAGE, "%lld bases are too few for %lld contigs",
                        (long long)o->n_bases, (long long)o->n_contigs);
    if (o->n_content + o->repeats > 0.95)
        return cov_fail(e, COV_EUSAGE, "--n-content and --repeats: more than 0.95 together");
    if (o->depth > 0 && o->depth > MOST_STARTS * (double)o->read_length)
        return cov_fail(
            e, COV_EUSAGE,
            "--depth %.4g with reads of %lld bases: more than %d reads start at each base",
            o->depth, (long long)o->read_length, MOST_STARTS);
    return COV_OK;
}

/* ---------------------------------------------------------------- bases */

static void draw(const struct run *r, struct cov_rng *rng, char *bases, size_t n)
{
    const char *letters = r->letters[cov_rng_double(rng) < r->more];
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t bits = cov_rng_next(rng);
        for (size_t k = 0; k < 8; k++)
            bases[i + k] = letters[(bits >> (8 * k)) & 255];
    }
    for (; i < n; i++)
        bases[i] = letters[cov_rng_next(rng) & 255];
}

/* Returns a random gap between features that have mean length n and cover `share` of all bases. */
static int64_t gap(struct cov_rng *rng, double n, double share)
{
    double mean = n * (1 - share) / share;
    return (int64_t)(2 * mean * cov_rng_double(rng));
}

static void put_repeats(const struct run *r, struct cov_rng *rng, char *bases, int64_t n)
{
    const double typical = (MIN_FAMILY + MAX_FAMILY) / 2.0;
    for (int64_t at = gap(rng, typical, r->o->repeats); at < n;) {
        size_t which = cov_rng_below(rng, N_FAMILIES);
        int64_t length = (int64_t)r->families[which].n;
        if (length > n - at)
            length = n - at;
        const char *from = r->families[which].bases;
        for (int64_t i = 0; i < length; i++)
            bases[at + i] = (char)(from[i] | 0x20);
        for (int64_t i = (int64_t)cov_rng_below(rng, 2 * CHANGED); i < length;
             i += 1 + (int64_t)cov_rng_below(rng, 2 * CHANGED))
            bases[at + i] = (char)(r->letters[0][cov_rng_next(rng) & 255] | 0x20);
        at += length + gap(rng, typical, r->o->repeats);
    }
}

static void put_gaps(const struct run *r, struct cov_rng *rng, char *bases, int64_t n)
{
    const double typical = (MIN_RUN + MAX_RUN) / 2.0;
    for (int64_t at = gap(rng, typical, r->o->n_content); at < n;) {
        int64_t length = MIN_RUN + (int64_t)cov_rng_below(rng, MAX_RUN - MIN_RUN + 1);
        if (length > n - at)
            length = n - at;
        memset(bases + at, 'N', (size_t)length);
        at += length + gap(rng, typical, r->o->n_content);
    }
}

static void put_lines(struct block *b)
{
    for (int64_t i = 0; i < b->n; i += LINE) {
        size_t k = (size_t)(b->n - i < LINE ? b->n - i : LINE);
        memcpy(b->text + b->n_text, b->bases + i, k);
        b->text[b->n_text + k] = '\n';
        b->n_text += k + 1;
    }
}

/* ---------------------------------------------------------------- reads */

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static char *put_number(char *p, int64_t x)
{
    char digits[24];
    int n = 0;
    do
        digits[n++] = (char)('0' + x % 10);
    while ((x /= 10) > 0);
    while (n > 0)
        *p++ = digits[--n];
    return p;
}

static char *put_string(char *p, const char *text)
{
    while (*text)
        *p++ = *text++;
    return p;
}

/* Draws the start positions of the reads of a part, sorted. */
static int draw_starts(const struct run *r, struct cov_rng *rng, struct block *b, size_t *n,
                       struct cov_err *e)
{
    const struct synth_options *o = r->o;
    int64_t last = b->n - o->read_length; /* last possible start in the block */
    int64_t end = b->lo + r->part < b->n ? b->lo + r->part : b->n;
    int64_t room = (end <= last ? end : last + 1) - b->lo;
    *n = 0;
    if (room <= 0)
        return COV_OK;
    double wanted = (double)(end - b->lo) * o->depth / (double)o->read_length;
    *n = (size_t)(wanted + cov_rng_double(rng));
    if (COV_RESERVE(&b->starts, &b->cap_starts, *n + 1, e))
        return COV_ENOMEM;
    for (size_t i = 0; i < *n; i++) {
        int64_t at = (int64_t)cov_rng_below(rng, (uint64_t)room);
        if (i % 2) /* triangular distribution around a peak */
            at = at / PEAK_STEP * PEAK_STEP + PEAK_STEP / 2 - PEAK_WIDTH / 2 +
                 (int64_t)(cov_rng_below(rng, PEAK_WIDTH / 2) + cov_rng_below(rng, PEAK_WIDTH / 2));
        b->starts[i] = b->lo + (at < room ? at : room - 1);
    }
    if (*n > 1)
        qsort(b->starts, *n, sizeof *b->starts, ascending);
    return COV_OK;
}

/* Writes one piece of the reads that start in the part and end in the block. */
static int put_reads(const struct run *r, struct cov_rng *rng, struct block *b, struct cov_err *e)
{
    const struct synth_options *o = r->o;
    size_t n;
    if (b->lo > 0)
        cov_rng_init(rng, cov_rng_next(rng) + (uint64_t)b->lo);
    int rc = draw_starts(r, rng, b, &n, e);
    if (rc)
        return rc;
    if (b->piece > 0)
        cov_rng_init(rng, cov_rng_next(rng) + b->piece);
    size_t first = n * b->piece / r->n_pieces, end = n * (b->piece + 1) / r->n_pieces;
    if (COV_RESERVE(&b->reads, &b->cap_reads,
                    (end - first) * ((size_t)o->read_length + READ_EXTRA) + 1, e))
        return COV_ENOMEM;
    char *p = b->reads;
    for (size_t i = first; i < end; i++) {
        p = put_number(put_string(p, "r"), (int64_t)b->contig + 1);
        p = put_number(put_string(p, "_"), b->beg + b->lo);
        p = put_number(put_string(p, "_"), (int64_t)i);
        p = put_string(p, cov_rng_next(rng) >> 63 ? "\t16\tchr" : "\t0\tchr");
        p = put_number(put_string(put_number(p, (int64_t)b->contig + 1), "\t"),
                       b->beg + b->starts[i] + 1);
        p = put_string(put_number(put_string(p, "\t60\t"), o->read_length), "M\t*\t0\t0\t");
        for (int64_t k = 0; k < o->read_length; k++)
            *p++ = (char)(b->bases[b->starts[i] + k] & ~0x20);
        p = put_string(p, "\t*\n");
    }
    b->n_reads_text = (size_t)(p - b->reads);
    return COV_OK;
}

/* ---------------------------------------------------------------- the pipeline */

static int source(void *arg, size_t slot, uint64_t n, struct cov_err *e)
{
    (void)n;
    (void)e;
    struct run *r = arg;
    struct block *b = &r->blocks[slot];
    if (r->contig == (size_t)r->o->n_contigs)
        return 0;
    int64_t length = r->lengths[r->contig], left = length - r->at;
    b->contig = r->contig;
    b->beg = r->at;
    b->n = left < BLOCK ? left : BLOCK;
    b->lo = r->lo;
    b->piece = r->piece;
    if (r->sam && ++r->piece < r->n_pieces)
        return 1;
    r->piece = 0;
    r->lo += r->part;
    if (r->sam && r->lo < b->n)
        return 1;
    r->lo = 0;
    r->at += b->n;
    if (r->at == length) {
        r->contig++;
        r->at = 0;
    }
    return 1;
}

static int work(void *arg, size_t slot, unsigned worker, struct cov_err *e)
{
    (void)worker;
    const struct run *r = arg;
    struct block *b = &r->blocks[slot];
    struct cov_rng rng;
    cov_rng_init(&rng, (uint64_t)r->o->seed);
    cov_rng_init(&rng, cov_rng_next(&rng) + (uint64_t)b->contig * UINT64_C(0x100000001b3) +
                           (uint64_t)b->beg);
    for (int64_t i = 0; i < b->n; i += LINE)
        draw(r, &rng, b->bases + i, (size_t)(b->n - i < LINE ? b->n - i : LINE));
    if (r->o->repeats > 0)
        put_repeats(r, &rng, b->bases, b->n);
    if (r->o->n_content > 0)
        put_gaps(r, &rng, b->bases, b->n);
    b->n_text = 0;
    if (b->lo == 0 && b->piece == 0) {
        if (b->beg == 0)
            b->n_text = (size_t)snprintf(b->text, 64, ">chr%zu\n", b->contig + 1);
        put_lines(b);
    }
    b->n_reads_text = 0;
    return r->sam ? put_reads(r, &rng, b, e) : COV_OK;
}

static int sink(void *arg, size_t slot, uint64_t n, struct cov_err *e)
{
    (void)n;
    struct run *r = arg;
    const struct block *b = &r->blocks[slot];
    if (fwrite(b->text, 1, b->n_text, r->fasta) != b->n_text)
        return cov_fail_errno(e, "%s", r->fasta_name);
    if (r->sam && fwrite(b->reads, 1, b->n_reads_text, r->sam) != b->n_reads_text)
        return cov_fail_errno(e, "%s", r->sam_name);
    if (b->n_text > 0)
        cov_progress_add(r->progress, b->n);
    return COV_OK;
}

/* ---------------------------------------------------------------- setting up */

static void make_tables(struct run *r)
{
    double gc = r->o->gc * 128; /* of 128 entries for each of G and C */
    int n = (int)gc;
    r->more = gc - n;
    for (int which = 0; which < 2; which++) {
        int k = n + which > 128 ? 128 : n + which;
        for (int i = 0; i < 256; i++) {
            bool first = i % 2 == 0;
            r->letters[which][i] = i / 2 < k   ? (first ? 'G' : 'C')
                                   : first     ? 'A'
                                   : r->o->rna ? 'U'
                                               : 'T';
        }
    }
}

static void make_families(struct run *r)
{
    struct cov_rng rng;
    cov_rng_init(&rng, (uint64_t)r->o->seed ^ FAMILY_STREAM);
    for (size_t i = 0; i < N_FAMILIES; i++) {
        size_t n = MIN_FAMILY + cov_rng_below(&rng, MAX_FAMILY - MIN_FAMILY + 1);
        r->families[i].n = n;
        for (size_t k = 0; k < n; k += LINE)
            draw(r, &rng, r->families[i].bases + k, n - k < LINE ? n - k : LINE);
    }
}

/* Chooses `part` and `n_pieces` by the size of the reads. */
static void make_parts(struct run *r)
{
    const struct synth_options *o = r->o;
    double per_base =
        o->depth / (double)o->read_length * ((double)o->read_length + READ_EXTRA + sizeof(int64_t));
    double steps = READS_TEXT / (PEAK_STEP * per_base);
    r->part = steps * PEAK_STEP >= BLOCK ? BLOCK
              : steps < 1                ? PEAK_STEP
                                         : (int64_t)steps * PEAK_STEP;
    r->n_pieces = steps < 1 ? (unsigned)(1 / steps) + 1 : 1;
}

static int make_lengths(struct run *r, struct cov_err *e)
{
    size_t n = (size_t)r->o->n_contigs;
    struct cov_rng rng;
    double sum = 0;
    double *weights = cov_malloc(n, sizeof *weights, e);
    r->lengths = cov_malloc(n, sizeof *r->lengths, e);
    if (!weights || !r->lengths) {
        free(weights);
        return COV_ENOMEM;
    }
    cov_rng_init(&rng, (uint64_t)r->o->seed + 1);
    for (size_t i = 0; i < n; i++)
        sum += weights[i] = 0.5 + cov_rng_double(&rng);
    /* Each contig gets one base; the others are distributed by weight. */
    int64_t left = r->o->n_bases - (int64_t)n, spare = left;
    for (size_t i = 0; i < n; i++) {
        int64_t k = (int64_t)((double)left * weights[i] / sum);
        k = k < spare ? k : spare;
        r->lengths[i] = 1 + k;
        spare -= k;
    }
    r->lengths[0] += spare;
    free(weights);
    return COV_OK;
}

static int allocate(struct run *r, size_t n_slots, struct cov_err *e)
{
    r->n_blocks = n_slots;
    r->blocks = cov_calloc(n_slots, sizeof *r->blocks, e);
    if (!r->blocks)
        return COV_ENOMEM;
    for (size_t i = 0; i < n_slots; i++) {
        r->blocks[i].bases = cov_malloc(BLOCK, 1, e);
        r->blocks[i].text = cov_malloc(BLOCK + BLOCK / LINE + 64, 1, e);
        if (!r->blocks[i].bases || !r->blocks[i].text)
            return COV_ENOMEM;
    }
    return COV_OK;
}

static void put_sam_head(const struct run *r)
{
    (void)fprintf(r->sam, "@HD\tVN:1.6\tSO:coordinate\n");
    for (int64_t i = 0; i < r->o->n_contigs; i++)
        (void)fprintf(r->sam, "@SQ\tSN:chr%lld\tLN:%lld\n", (long long)i + 1,
                      (long long)r->lengths[i]);
}

/* sam: NULL without reads */
static int write_streams(const struct synth_options *options, const char *const names[2],
                         FILE *const streams[2], struct cov_pool *pool,
                         struct cov_progress *progress, struct cov_err *e)
{
    static const struct cov_ring_stages stages = {source, work, sink};
    struct run *r = cov_calloc(1, sizeof *r, e);
    if (!r)
        return COV_ENOMEM;
    r->o = options;
    r->fasta = streams[0];
    r->sam = streams[1];
    r->fasta_name = names[0];
    r->sam_name = names[1];
    r->progress = progress;
    make_tables(r);
    make_families(r);
    make_parts(r);
    int rc = make_lengths(r, e);
    size_t n_slots = cov_ring_slots(pool);
    if (!rc)
        rc = allocate(r, n_slots, e);
    if (!rc && r->sam)
        put_sam_head(r);
    cov_progress_begin(progress, "simulating", "bases", options->n_bases);
    if (!rc)
        rc = cov_ring_run(pool, n_slots, &stages, r, NULL, e);
    cov_progress_end(progress);
    for (size_t i = 0; r->blocks && i < r->n_blocks; i++) {
        free(r->blocks[i].bases);
        free(r->blocks[i].text);
        free(r->blocks[i].reads);
        free(r->blocks[i].starts);
    }
    free(r->blocks);
    free(r->lengths);
    free(r);
    return rc;
}

/* Writes the genome as FASTA, and, if sam_path is not NULL, the reads as SAM, sorted by position:
 * half of them anywhere, half within a few hundred bases of peaks, which are 10 kb apart. The
 * contigs chr1, chr2 ... vary in length by up to a factor of three. The output does not depend on
 * the pool. COV_EUSAGE if the options contradict each other. */
static int synth_files(const struct synth_options *options, const char *fasta_path,
                       const char *sam_path, bool force, struct cov_pool *pool,
                       struct cov_progress *progress, struct cov_err *e)
{
    struct cov_outfile out[2] = {COV_OUTFILE_INIT, COV_OUTFILE_INIT};
    struct cov_outfile *const both[2] = {&out[0], &out[1]};
    const char *const paths[2] = {fasta_path, sam_path};
    FILE *streams[2] = {NULL, NULL};
    size_t n = sam_path ? 2 : 1;
    int rc = check_options(options, e);
    for (size_t i = 0; i < n && !rc; i++) {
        rc =
            cov_outfile_begin(&out[i], paths[i], i ? COV_OUTFILE_SAM : COV_OUTFILE_FASTA, force, e);
        if (!rc && !(streams[i] = fopen(out[i].tmp, "we")))
            rc = cov_fail_errno(e, "%s", paths[i]);
    }
    if (!rc)
        rc = write_streams(options, paths, streams, pool, progress, e);
    for (size_t i = 0; i < n; i++)
        if (streams[i] && fclose(streams[i]) != 0 && !rc)
            rc = cov_fail_errno(e, "%s", paths[i]);
    if (!rc)
        rc = cov_outfile_commit_all(both, n, e);
    cov_outfile_end(&out[0], e);
    cov_outfile_end(&out[1], e);
    return rc;
}

int benchmark_genome(const struct bench *b, const char *fasta, const char *name, int64_t n_bases,
                     char **path, struct cov_err *e)
{
    const struct synth_options options = {.n_bases = n_bases,
                                          .n_contigs = n_bases < 100000 ? 1 : 5,
                                          .gc = 0.36,
                                          .n_content = 0.01,
                                          .repeats = 0.3,
                                          .seed = (int64_t)b->seed};
    struct cov_pool *pool = NULL;
    *path = fasta ? cov_strdup(fasta, e) : cov_path_join(b->work.path, name, e);
    if (!*path)
        return COV_ENOMEM;
    if (fasta)
        return COV_OK;
    int rc = cov_pool_new(b->threads, &pool, e);
    if (!rc)
        rc = synth_files(&options, *path, NULL, true, pool, b->progress, e);
    cov_pool_free(pool);
    return rc;
}

/* ---------------------------------------------------------------- the subcommand */

struct synth_config {
    struct synth_options options;
    const char *reads;
};

#define FIELD(name) offsetof(struct synth_config, name)

enum { ROW_READS = 7 };

static const struct cov_opt synth_options[] = {
    COV_OPT(SIZE, "size", 0, FIELD(options.n_bases), "N", "total number of bases, e.g. 0.125G",
            .def = "10M", .min = 1, .max = 1e13),
    COV_OPT(SIZE, "contigs", 0, FIELD(options.n_contigs), "N",
            "number of contigs; their lengths vary by up to a factor of three", .def = "5",
            .min = 1, .max = 100000000),
    BENCHMARK_FRACTION("gc", FIELD(options.gc), "0.36", 1, "fraction of bases that are G or C"),
    BENCHMARK_FRACTION("n-content", FIELD(options.n_content), "0.01", 0.95,
                       "fraction of bases that are N, in runs"),
    BENCHMARK_FRACTION("repeats", FIELD(options.repeats), "0.3", 0.95,
                       "fraction of bases in copies of sixteen repeats, in lower case"),
    COV_OPT(FLAG, "rna", 0, FIELD(options.rna), NULL, "U instead of T"),
    BENCHMARK_FRACTION(
        "depth", FIELD(options.depth), "0", 10000,
        "mean read depth; the reads are written as sorted SAM, half of them near peaks"),
    [ROW_READS] = COV_OPT(STRING, "reads", 0, FIELD(reads), "FILE",
                          "file for the reads (default: reads.sam in the folder of the genome)",
                          .flags = COV_OPT_PATH_OUT),
    BENCHMARK_COUNT("read-length", FIELD(options.read_length), "100", 100000, "length of a read"),
    BENCHMARK_SEED(FIELD(options.seed)),
    {.name = NULL},
};

/* Builds the path of the FASTA file and, with --depth, that of the SAM file; creates the folder if
 * -o is DIR/. Caller frees both. */
static int name_outputs(const struct cov_common *common, const struct synth_config *c,
                        struct cov_newfolder *folder, char **fasta, char **sam, struct cov_err *e)
{
    const char *out = common->output ? common->output : BENCHMARK_FOLDER "/";
    *fasta = *sam = NULL;
    if (cov_path_names_dir(out)) {
        int rc = cov_newfolder_make(folder, out, e);
        if (rc)
            return rc;
        *fasta = cov_path_join(out, "genome.fa", e);
    } else {
        *fasta = cov_strdup(out, e);
    }
    if (!*fasta)
        return COV_ENOMEM;
    if (c->options.depth <= 0)
        return COV_OK;
    if (c->reads) {
        *sam = cov_strdup(c->reads, e);
    } else {
        char *dir = cov_path_dir(*fasta, e);
        *sam = dir ? cov_path_join(dir, "reads.sam", e) : NULL;
        free(dir);
    }
    return *sam ? COV_OK : COV_ENOMEM;
}

static int synth_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                     char **operands, struct cov_err *e)
{
    (void)n_operands;
    (void)operands;
    const struct synth_config *c = config;
    const struct synth_options *options = &c->options;
    static const char *const stdout_name[2] = {"standard output", NULL};
    FILE *const streams[2] = {stdout, NULL};
    bool to_stdout = common->output && cov_path_is_std(common->output);
    struct cov_newfolder folder = COV_NEWFOLDER_INIT;
    struct cov_pool *pool = NULL;
    char *fasta = NULL, *sam = NULL;
    int rc = check_options(options, e);
    if (!rc && given[ROW_READS] && c->options.depth <= 0)
        rc = cov_fail(e, COV_EUSAGE, "--reads needs --depth");
    if (!rc && to_stdout && c->options.depth > 0)
        rc = cov_fail(e, COV_EUSAGE, "--depth needs a file or folder as output");
    if (!rc && !to_stdout)
        rc = name_outputs(common, c, &folder, &fasta, &sam, e);
    if (!rc)
        rc = cov_pool_new((unsigned)common->threads, &pool, e);
    if (!rc && to_stdout)
        rc = write_streams(options, stdout_name, streams, pool, &common->progress, e);
    else if (!rc)
        rc = synth_files(options, fasta, sam, common->force, pool, &common->progress, e);
    common->stats.bases = c->options.n_bases;
    cov_pool_free(pool);
    free(fasta);
    free(sam);
    cov_newfolder_fini(&folder);
    return rc;
}

const struct cov_tool benchmark_synth = {
    .name = "synth",
    .summary = "simulate a genome of a given size, and reads from it",
    .synopsis = "[options] [-o DIR/|FILE|-]",
    .examples = "  benchmark synth --size 0.125G -o genome.fa\n"
                "  benchmark synth --size 20M --depth 5 --seed 7 -o synthetic/\n",
    .options = synth_options,
    .config_bytes = sizeof(struct synth_config),
    .output_optional = true,
    .output_help = "the FASTA, or a folder (DIR/) for genome.fa and reads.sam, created if missing "
                   "(default: " BENCHMARK_FOLDER "/)",
    .lacks = COV_LACKS_TMPDIR,
    .run = synth_run,
};
