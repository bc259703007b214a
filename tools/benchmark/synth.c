/* synth.c - benchmark synth: synthetic genomes of any size, without genes, and reads from them.
 *
 * A contig is made and written in blocks. Bases are drawn from tables of 256 letters, eight per
 * random number.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "common/file/outfile.h"
#include "common/file/path.h"
#include "common/file/tmpfile.h"
#include "tools/benchmark/bench.h"
#include "workflows/demo/synthetic.h"

enum {
    BLOCK = LINE * 8192, /* bases */
    MIN_FAMILY = 300,
    MAX_FAMILY = 5000,
    MIN_RUN = 20, /* runs of N */
    MAX_RUN = 2000,
    READ_LENGTH = 100,
    PEAK_STEP = 10000, /* mean distance of peaks */
    PEAK_HALF = 300    /* half of the width of a peak */
};
/* Fractions of all bases. */
#define GC_CONTENT 0.36
#define N_CONTENT 0.01

struct synth_options {
    int64_t n_bases; /* of all contigs */
    int64_t n_contigs;
    double repeats; /* fraction of all bases, in lower case */
    bool rna;       /* U for T */
    double depth;   /* mean read depth; 0: no reads */
    int64_t seed;   /* >= 0 */
};

struct synth {
    const struct synth_options *o;
    struct genome g;
    struct cov_rng of_reads; /* of its own, so that reads do not change the genome */
    FILE *sam;               /* NULL: no reads */
    const char *names[2];    /* of both files in messages */
    char letters[2][256];    /* GC content rounded down and up to 1/128 */
    double more; /* share of lines that use the second table, so that the mean is exact */
    int64_t n_reads;
    double step;         /* distance of peaks, which divides the contig evenly */
    char *bases, *upper; /* [BLOCK]; upper: in upper case */
};

static int check_options(const struct synth_options *o, struct cov_err *e)
{
    if (o->n_contigs > o->n_bases)
        return cov_fail(e, COV_EUSAGE, "%lld bases are too few for %lld contigs",
                        (long long)o->n_bases, (long long)o->n_contigs);
    return COV_OK;
}

/* Returns the number of bases in the first i contigs. They grow in length, by up to a factor of
 * three, and have at least one base. */
static int64_t bases_before(const struct synth_options *o, int64_t i)
{
    double x = (double)i / (double)o->n_contigs;
    return i + (int64_t)((double)(o->n_bases - o->n_contigs) * x * (1 + x) / 2);
}

/* ---------------------------------------------------------------- bases */

static void draw(struct synth *s, char *bases, int64_t n)
{
    const char *letters = s->letters[cov_rng_double(&s->g.rng) < s->more];
    uint64_t bits = 0;
    for (int64_t i = 0; i < n; i++, bits >>= 8) {
        if (i % 8 == 0)
            bits = cov_rng_next(&s->g.rng);
        bases[i] = letters[bits & 255];
    }
}

static void draw_lines(struct synth *s, char *bases, int64_t n)
{
    for (int64_t i = 0; i < n; i += LINE)
        draw(s, bases + i, n - i < LINE ? n - i : LINE);
}

/* Returns a random distance between features that have mean length n and cover `share` of all
 * bases. */
static int64_t distance(struct synth *s, double n, double share)
{
    return (int64_t)(2 * n * (1 - share) / share * cov_rng_double(&s->g.rng));
}

static void put_families(struct synth *s, const struct piece *p)
{
    const double typical = (MIN_FAMILY + MAX_FAMILY) / 2.0, share = s->o->repeats;
    for (int64_t at = distance(s, typical, share); at < p->n;) {
        const struct family *f = &s->g.families[between(&s->g, 0, N_FAMILIES)];
        int64_t n = f->n < p->n - at ? f->n : p->n - at;
        put_copy(&s->g, p->bases + at, f->bases, n);
        at += n + distance(s, typical, share);
    }
}

static void put_runs(struct synth *s, const struct piece *p)
{
    const double typical = (MIN_RUN + MAX_RUN) / 2.0, share = N_CONTENT;
    for (int64_t at = distance(s, typical, share); at < p->n;) {
        int64_t n = between(&s->g, MIN_RUN, MAX_RUN + 1);
        n = n < p->n - at ? n : p->n - at;
        put_gap(&s->g, p, at, n);
        at += n + distance(s, typical, share);
    }
}

/* Writes the reads that start and end in the block at `beg`: half of them anywhere, half near
 * peaks. */
static void write_reads(struct synth *s, const struct piece *p, int64_t beg)
{
    const int64_t length = READ_LENGTH;
    const double per_base = s->o->depth / READ_LENGTH;
    for (int64_t i = 0; i < p->n; i++)
        s->upper[i] = (char)(p->bases[i] & ~0x20);
    for (int64_t i = 0; i + length <= p->n; i++) {
        double x = fabs(fmod((double)(beg + i), s->step) - s->step / 2) / PEAK_HALF;
        double peak = x < 1 ? (1 - x) * s->step / PEAK_HALF : 0;
        for (int k = poisson(&s->of_reads, per_base * (1 + peak) / 2); k > 0; k--)
            (void)fprintf(s->sam, "r%lld\t%d\t%s\t%lld\t60\t%lldM\t*\t0\t0\t%.*s\t*\n",
                          (long long)++s->n_reads, cov_rng_next(&s->of_reads) >> 63 ? 16 : 0,
                          p->name, (long long)(beg + i) + 1, (long long)length, (int)length,
                          s->upper + i);
    }
}

static int write_block(struct synth *s, const struct piece *p, int64_t beg, struct cov_err *e)
{
    draw_lines(s, p->bases, p->n);
    if (s->o->repeats > 0)
        put_families(s, p);
    put_runs(s, p);
    for (int64_t i = 0; i < p->n && s->o->rna; i++)
        p->bases[i] = (char)(p->bases[i] + ((p->bases[i] & ~0x20) == 'T')); /* U or u */
    write_lines(&s->g, p);
    if (ferror(s->g.fasta))
        return cov_fail_errno(e, "%s", s->names[0]);
    if (s->sam)
        write_reads(s, p, beg);
    if (s->sam && ferror(s->sam))
        return cov_fail_errno(e, "%s", s->names[1]);
    return COV_OK;
}

static int write_contigs(struct synth *s, struct cov_progress *progress, struct cov_err *e)
{
    int rc = COV_OK;
    cov_progress_begin(progress, "simulating", "bases", s->o->n_bases);
    for (int64_t i = 0; i < s->o->n_contigs && !rc; i++) {
        const int64_t length = bases_before(s->o, i + 1) - bases_before(s->o, i);
        char name[32];
        struct piece p = {.name = name, .bases = s->bases};
        (void)snprintf(name, sizeof name, "chr%lld", (long long)i + 1);
        (void)fprintf(s->g.fasta, ">%s\n", name);
        const int64_t n_peaks = 1 + length / PEAK_STEP;
        s->step = (double)length / (double)n_peaks;
        for (int64_t at = 0; at < length && !rc; at += p.n) {
            p.n = length - at < BLOCK ? length - at : BLOCK;
            rc = write_block(s, &p, at, e);
            cov_progress_add(progress, p.n);
        }
    }
    cov_progress_end(progress);
    return rc;
}

/* ---------------------------------------------------------------- setting up */

static void make_tables(struct synth *s)
{
    double gc = GC_CONTENT * 128; /* of 128 entries for each of G and C */
    int n = (int)gc;
    s->more = gc - n;
    for (int which = 0; which < 2; which++)
        for (int i = 0; i < 256; i++)
            s->letters[which][i] = "ATGC"[2 * (i / 2 < n + which) + i % 2];
}

static int make_families(struct synth *s, struct cov_err *e)
{
    for (int i = 0; i < N_FAMILIES; i++) {
        struct family *f = &s->g.families[i];
        f->n = between(&s->g, MIN_FAMILY, MAX_FAMILY + 1);
        f->bases = cov_malloc((size_t)f->n, 1, e);
        if (!f->bases)
            return COV_ENOMEM;
        draw_lines(s, f->bases, f->n);
    }
    return COV_OK;
}

/* streams[1]: NULL without reads */
static int write_streams(const struct synth_options *options, const char *const names[2],
                         FILE *const streams[2], struct cov_progress *progress, struct cov_err *e)
{
    struct synth s = {
        .o = options, .g = {.fasta = streams[0]}, .sam = streams[1], .names = {names[0], names[1]}};
    cov_rng_init(&s.g.rng, (uint64_t)options->seed);
    cov_rng_init(&s.of_reads, ~(uint64_t)options->seed);
    s.bases = cov_malloc(BLOCK, 2, e);
    s.upper = s.bases + BLOCK;
    make_tables(&s);
    int rc = s.bases ? make_families(&s, e) : COV_ENOMEM;
    if (!rc && s.sam)
        (void)fprintf(s.sam, "@HD\tVN:1.6\tSO:coordinate\n");
    for (int64_t i = 0; i < options->n_contigs && !rc && s.sam; i++)
        (void)fprintf(s.sam, "@SQ\tSN:chr%lld\tLN:%lld\n", (long long)i + 1,
                      (long long)(bases_before(options, i + 1) - bases_before(options, i)));
    if (!rc)
        rc = write_contigs(&s, progress, e);
    free_families(&s.g);
    free(s.bases);
    return rc;
}

/* Writes the genome as FASTA, and, if sam_path is not NULL, the reads as SAM, sorted by position. */
static int synth_files(const struct synth_options *options, const char *fasta_path,
                       const char *sam_path, bool force, struct cov_progress *progress,
                       struct cov_err *e)
{
    struct cov_outfile out[2] = {COV_OUTFILE_INIT, COV_OUTFILE_INIT};
    struct cov_outfile *const both[2] = {&out[0], &out[1]};
    const char *const paths[2] = {fasta_path, sam_path};
    FILE *streams[2] = {NULL, NULL};
    size_t n = sam_path ? 2 : 1;
    int rc = COV_OK;
    for (size_t i = 0; i < n && !rc; i++) {
        rc =
            cov_outfile_begin(&out[i], paths[i], i ? COV_OUTFILE_SAM : COV_OUTFILE_FASTA, force, e);
        if (!rc && !(streams[i] = fopen(out[i].tmp, "we")))
            rc = cov_fail_errno(e, "%s", paths[i]);
    }
    if (!rc)
        rc = write_streams(options, paths, streams, progress, e);
    for (size_t i = 0; i < n; i++)
        if (streams[i] && fclose(streams[i]) != 0 && !rc)
            rc = cov_fail_errno(e, "%s", paths[i]);
    if (!rc)
        rc = cov_outfile_commit_all(both, n, e);
    cov_outfile_end(&out[0], e);
    cov_outfile_end(&out[1], e);
    return rc;
}

int benchmark_genome(const struct bench *b, const char *name, int64_t n_bases, char **path,
                     struct cov_err *e)
{
    const struct synth_options options = {.n_bases = n_bases,
                                          .n_contigs = n_bases < 100000 ? 1 : 5,
                                          .repeats = 0.3,
                                          .seed = BENCH_SEED};
    *path = cov_path_join(b->work.path, name, e);
    return *path ? synth_files(&options, *path, NULL, true, b->progress, e) : COV_ENOMEM;
}

/* ---------------------------------------------------------------- the subcommand */

#define FIELD(name) offsetof(struct synth_options, name)

static const struct cov_opt synth_options[] = {
    COV_OPT(SIZE, "size", 0, FIELD(n_bases), "N", "total number of bases, e.g. 0.125G",
            .def = "10M", .min = 1, .max = 1e13),
    COV_OPT(SIZE, "contigs", 0, FIELD(n_contigs), "N",
            "number of contigs; their lengths vary by up to a factor of three", .def = "5",
            .min = 1, .max = 100000000),
    BENCHMARK_FRACTION("repeats", FIELD(repeats), "0.3", 0.95,
                       "fraction of bases in copies of twelve repeats, in lower case"),
    COV_OPT(FLAG, "rna", 0, FIELD(rna), NULL, "U instead of T"),
    BENCHMARK_FRACTION(
        "depth", FIELD(depth), "0", 10000,
        "mean read depth; the reads are written as sorted SAM, half of them near peaks"),
    COV_OPT(INT, "seed", 0, FIELD(seed), "N", "seed of all random numbers", .def = "1", .min = 0,
            .max = 1e15),
    {.name = NULL},
};

/* Writes a file, or genome.fa in the directory DIR/, which is created; and reads.sam next to it. */
static int write_files(const struct cov_common *common, const struct synth_options *options,
                       struct cov_progress *progress, struct cov_err *e)
{
    const char *out = common->output ? common->output : BENCHMARK_DIRECTORY "/";
    const bool is_dir = cov_path_names_dir(out);
    struct cov_newdir directory = {0};
    char *fasta = is_dir ? cov_path_join(out, "genome.fa", e) : cov_strdup(out, e);
    char *dir = fasta ? cov_path_dir(fasta, e) : NULL;
    char *sam = dir && options->depth > 0 ? cov_path_join(dir, "reads.sam", e) : NULL;
    int rc = dir && (sam || options->depth <= 0) ? COV_OK : COV_ENOMEM;
    if (!rc && is_dir)
        rc = cov_newdir_make(&directory, out, e);
    if (!rc)
        rc = synth_files(options, fasta, sam, common->force, progress, e);
    cov_newdir_fini(&directory);
    free(fasta);
    free(dir);
    free(sam);
    return rc;
}

static int synth_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                     char **operands, struct cov_err *e)
{
    (void)given;
    (void)n_operands;
    (void)operands;
    static const char *const stdout_name[2] = {"standard output", NULL};
    const struct synth_options *options = config;
    FILE *const streams[2] = {stdout, NULL};
    int rc = check_options(options, e);
    common->stats.bases = options->n_bases;
    if (rc || !common->output || !cov_path_is_std(common->output))
        return rc ? rc : write_files(common, options, &common->progress, e);
    if (options->depth > 0)
        return cov_fail(e, COV_EUSAGE, "--depth needs a file or directory as output");
    return write_streams(options, stdout_name, streams, &common->progress, e);
}

const struct cov_tool benchmark_synth = {
    .name = "synth",
    .summary = "simulate a genome of a given size, and reads from it",
    .synopsis = "[options] [-o DIR/|FILE|-]",
    .examples = "  benchmark synth --size 0.125G -o genome.fa\n"
                "  benchmark synth --size 20M --depth 5 --seed 7 -o synthetic/\n",
    .options = synth_options,
    .config_bytes = sizeof(struct synth_options),
    .output_optional = true,
    .output_help =
        "the FASTA, or a directory (DIR/) for genome.fa and reads.sam, created if missing "
        "(default: " BENCHMARK_DIRECTORY "/)",
    .lacks = COV_LACKS_TMPDIR | COV_LACKS_THREADS,
    .run = synth_run,
};
