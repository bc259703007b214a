/* make_plant.c - a small synthetic plant genome, and reads of two assays whose signal depends on the DNA.
 *
 *   make_plant DIRECTORY [BASES [SEED]]
 *
 * writes DIRECTORY/genome.fa, features.bed (the features of the genome, and the motifs of promoters and enhancers with their
 * strength in percent), atacseq.sam and h3k4me3.sam. The output is the same on every machine: numbers are only added,
 * multiplied and divided. With SEED, it is another genome with the same families of transposable elements.
 *
 * The genome: five chromosomes and a few contigs. Regions of 4 to 20 kb with 30 to 40 % GC and few CG; families of
 * transposable elements, soft-masked, with diverged copies; a centromere of one satellite; gaps of N. Genes on
 * both strands have a leader rich in C and T, exons richer in GC than introns, splice sites, and a promoter of
 * 220 bases: TATA at -36 to -29 in half of them, and six slots upstream, of which about 1, 3 or 5 hold one of the
 * other motifs.
 *
 *   motif   consensus     strand   ATAC-seq   H3K4me3   (contribution of an exact match)
 *   TATA    TATAWAWR      its own  0.7        -0.8
 *   CCAAT   GCCAATSR      either   0.6        0.7
 *   GC      RGGGCGGRRY    either   0.5        1.2
 *   G       GGCCACGTGGMR  its own  1.0        0.4
 *
 * A third of the motifs have one or two mismatches, which reduce the contribution to 60 or 25 %.
 * Read depth is quadratic in the sum s. Enhancers, between genes, are clusters of 2 to 4 W boxes
 * (TTGACY), TGA (TGACGTCA) and TCP (GTGGGNCC) sites, and affect ATAC-seq only.
 *
 * ATAC-seq: Tn5 cuts around 90 bases upstream of the TSS (fewer next to the two flanking
 * nucleosomes) and in enhancers. H3K4me3: nucleosomes from the TSS to about 1200 bases downstream.
 * Both have a background except in N, and each promoter and enhancer varies at random by up to 15
 * %. Read counts are Poisson.
 *
 * Decoys: single motifs between genes; four promoter motifs without a gene; single enhancer motifs; and copies of
 * three families that contain a silent promoter.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/rng.h"
#include "common/base/text.h"
#include "workflows/demo/synthetic.h"

enum { SEED = 20261122, PROMOTER = 220 /* bases before the TSS */, SILENT_FAMILIES = 3 };

enum { ATACSEQ, H3K4ME3, N_ASSAYS };

static const struct {
    const char *name;
    int read_length;
    double background; /* mean depth */
} assays[N_ASSAYS] = {{"atacseq", 50, 1.2}, {"h3k4me3", 75, 1.5}};

enum { N_CORE = 4, N_MOTIFS = 7 /* those from N_CORE on are for enhancers */ };

/* Slots of a promoter for motifs other than TATA: slot i >= 1 begins at FIRST_SLOT - i SLOT. */
enum { N_SLOTS = 6, SLOT = 26, FIRST_SLOT = -36 };

static const struct motif {
    const char *name, *consensus; /* IUPAC */
    bool either;                  /* strand */
    double weight[N_ASSAYS];
} motifs[N_MOTIFS] = {
    {"TATA", "TATAWAWR", false, {0.7, -0.8}}, {"CCAAT", "GCCAATSR", true, {0.6, 0.7}},
    {"GC", "RGGGCGGRRY", true, {0.5, 1.2}},   {"G", "GGCCACGTGGMR", false, {1.0, 0.4}},
    {"W", "TTGACY", true, {0.6, 0}},          {"TGA", "TGACGTCA", true, {1.0, 0}},
    {"TCP", "GTGGGNCC", true, {0.8, 0}},
};

struct maker {
    struct genome g;
    FILE *reads[N_ASSAYS];
};

/* ---- chance ---- */

/* Returns the random factor of a site. */
static double luck(struct genome *g)
{
    return 0.85 + 0.3 * cov_rng_double(&g->rng);
}

/* ---- bases ---- */

/* Draws bases[0..n) with few CG, as in most of a plant's genome, where methylated C mutates to T.
 * */
static void draw_background(struct genome *g, char *bases, int64_t n, int gc_per_mille)
{
    char before = 'A';
    for (int64_t i = 0; i < n; i++) {
        char base = draw_base(g, gc_per_mille);
        if (before == 'C' && base == 'G' && chance(g, 350))
            base = 'A';
        bases[i] = before = base;
    }
}

static char complement(char base)
{
    return base == 'A' ? 'T' : base == 'C' ? 'G' : base == 'G' ? 'C' : base == 'T' ? 'A' : base;
}

/* Returns one of the bases that an IUPAC letter stands for. */
static char draw_iupac(struct genome *g, char letter)
{
    static const struct {
        char letter;
        const char *bases;
    } sets[] = {{'R', "AG"}, {'Y', "CT"}, {'S', "CG"}, {'W', "AT"}, {'M', "AC"}, {'N', "ACGT"}};
    for (size_t i = 0; i < COV_COUNT(sets); i++)
        if (letter == sets[i].letter)
            return sets[i].bases[between(g, 0, (int64_t)strlen(sets[i].bases))];
    return letter;
}

/* A place with a direction: base 0 is the first of a gene, and upstream bases are negative. */
struct site {
    struct piece *piece;
    int64_t at;
    bool minus;
};

static int64_t place(const struct site *s, int64_t x)
{
    return s->minus ? s->at - x : s->at + x;
}

static void set_base(const struct site *s, int64_t x, char base)
{
    s->piece->bases[place(s, x)] = s->minus ? complement(base) : base;
}

static void draw_stretch(struct genome *g, const struct site *s, int64_t beg, int64_t end, int gc)
{
    for (int64_t x = beg; x < end; x++)
        set_base(s, x, draw_base(g, gc));
}

static void set_bases(const struct site *s, int64_t x, const char *bases)
{
    for (; *bases; bases++)
        set_base(s, x++, *bases);
}

/* Puts a motif at x, with up to two mismatches, and returns its relative strength. Writes it to the
 * features if it is `active`, i.e. contributes to a promoter or enhancer. */
static double put_motif(struct genome *g, const struct site *s, int64_t x,
                        const struct motif *motif, bool active)
{
    static const double left[] = {1, 0.6, 0.25};
    char word[16];
    size_t n = strlen(motif->consensus);
    for (size_t i = 0; i < n; i++)
        word[i] = draw_iupac(g, motif->consensus[i]);
    int n_wrong = chance(g, 650) ? 0 : chance(g, 750) ? 1 : 2;
    for (int i = 0; i < n_wrong; i++) {
        size_t where;
        do /* skip ambiguous letters and earlier mismatches */
            where = cov_rng_below(&g->rng, n);
        while (word[where] != motif->consensus[where]);
        while (word[where] == motif->consensus[where])
            word[where] = draw_base(g, 500);
    }
    bool flipped = motif->either && chance(g, 500);
    for (size_t i = 0; i < n; i++)
        set_base(s, x + (int64_t)i, flipped ? complement(word[n - 1 - i]) : word[i]);
    if (active) {
        const int64_t a = place(s, x), b = place(s, x + (int64_t)n - 1);
        (void)fprintf(g->features, "%s\t%lld\t%lld\tmotif_%s\t%d\t%c\n", s->piece->name,
                      (long long)(a < b ? a : b), (long long)(a < b ? b : a) + 1, motif->name,
                      (int)(100 * left[n_wrong] + 0.5), s->minus != flipped ? '-' : '+');
    }
    return left[n_wrong];
}

/* ---- signal ---- */

/* Returns 1 at x = 0, falling to 0 at x = 1 and beyond. */
static double bump(double x)
{
    double y = 1 - x * x;
    return y > 0 ? y * y : 0;
}

/* Adds a peak of read depth. */
static void add_reads(struct piece *p, int assay, int64_t middle, int64_t half, double depth)
{
    for (int64_t i = middle - half; i <= middle + half; i++)
        if (i >= 0 && i < p->n)
            p->rate[assay][i] +=
                depth / assays[assay].read_length * bump((double)(i - middle) / (double)half);
}

static void open_promoter(const struct site *s, double depth)
{
    add_reads(s->piece, ATACSEQ, place(s, -90), 120, depth);
    add_reads(s->piece, ATACSEQ, place(s, -310), 60, 0.15 * depth);
    add_reads(s->piece, ATACSEQ, place(s, 140), 60, 0.15 * depth);
}

/* Seven nucleosomes downstream of the TSS, 185 bases apart, weaker from the fourth on, and one upstream. */
static void mark_gene(const struct site *s, double depth)
{
    enum { FIRST = 80, REPEAT = 185, N_MARKED = 7 };
    for (int k = 0; k < N_MARKED; k++) {
        int64_t x = FIRST + k * REPEAT;
        double here = k < 4 ? depth : depth * (N_MARKED - k) / 4;
        add_reads(s->piece, H3K4ME3, place(s, x), 80, 0.6 * here);
        add_reads(s->piece, H3K4ME3, place(s, x), 150, 0.4 * here);
    }
    add_reads(s->piece, H3K4ME3, place(s, -270), 90, 0.25 * depth);
}

/* ---- features of the genome ---- */

static void note_site(struct genome *g, const struct site *s, int64_t beg, int64_t end,
                      const char *what, double depth)
{
    int64_t a = place(s, beg), b = place(s, end);
    (void)fprintf(g->features, "%s\t%lld\t%lld\t%s\t%d\t%c\n", s->piece->name,
                  (long long)(s->minus ? b + 1 : a), (long long)(s->minus ? a + 1 : b), what,
                  (int)depth, s->minus ? '-' : '+');
}

/* Puts the motifs of a promoter, and adds their contributions to `strength`. */
static void put_promoter(struct genome *g, const struct site *s, double strength[N_ASSAYS])
{
    static const int richness[] = {150, 450, 800};
    int per_mille = richness[between(g, 0, COV_COUNT(richness))];
    draw_stretch(g, s, -PROMOTER, 0, 340);
    for (int i = 0; i <= N_SLOTS; i++) {
        const struct motif *motif = &motifs[i == 0 ? 0 : between(g, 1, N_CORE)];
        int64_t x = i == 0 ? between(g, -36, -29) : FIRST_SLOT - i * SLOT + between(g, 0, 12);
        if (!chance(g, i == 0 ? 500 : per_mille))
            continue;
        double left = put_motif(g, s, x, motif, s->piece->name);
        for (int k = 0; k < N_ASSAYS; k++)
            strength[k] += left * motif->weight[k];
    }
    set_bases(s, -2, chance(g, 500) ? "TCA" : "CCA"); /* the initiator */
}

/* A leader rich in C and T, then alternating exons and introns. */
static void put_body(struct genome *g, const struct site *s, int64_t n)
{
    int64_t leader = between(g, 60, 120);
    for (int64_t x = 1; x < leader; x++)
        set_base(s, x, chance(g, 750) ? (chance(g, 450) ? 'C' : 'T') : draw_base(g, 400));
    for (int64_t x = leader; x < n;) {
        int64_t exon = x + between(g, 150, 500), intron = exon + between(g, 80, 350);
        draw_stretch(g, s, x, exon < n ? exon : n, 450);
        if (intron + 80 >= n) {
            draw_stretch(g, s, x, n, 450);
            return;
        }
        draw_stretch(g, s, exon, intron, 320);
        set_bases(s, exon, "GTAAGT");
        set_bases(s, intron - 6, "TTGCAG");
        x = intron;
    }
}

static void put_gene(struct genome *g, const struct site *s, int64_t n)
{
    double strength[N_ASSAYS] = {0};
    put_body(g, s, n);
    put_promoter(g, s, strength);
    double open = strength[ATACSEQ], marked = strength[H3K4ME3] > 0 ? strength[H3K4ME3] : 0;
    double depth = (5 * open + 6 * open * open) * luck(g);
    double mark = (2 + 8 * marked + 2 * marked * marked) * luck(g);
    open_promoter(s, depth);
    mark_gene(s, mark);
    note_site(g, s, -PROMOTER, 0, "promoter", depth);
    note_site(g, s, 0, n, "gene", mark);
}

/* A cluster of n motifs around `middle`; a single one is a decoy. */
static void put_enhancer(struct genome *g, struct piece *p, int64_t middle, int n)
{
    const struct site s = {p, middle, chance(g, 500)};
    double strength = 0;
    draw_stretch(g, &s, -90, 90, 380);
    for (int i = 0; i < n; i++) {
        const struct motif *motif = &motifs[between(g, N_CORE, N_MOTIFS)];
        int64_t x = -70 + i * 140 / n + between(g, 0, 140 / n - 10);
        strength += put_motif(g, &s, x, motif, n > 1) * motif->weight[ATACSEQ];
    }
    double depth = n < 2 ? 0 : 8 * strength * strength * luck(g);
    if (n > 1)
        add_reads(p, ATACSEQ, middle, 110, depth);
    note_site(g, &s, -90, 90, n < 2 ? "decoy" : "enhancer", depth);
}

/* Puts promoter motifs without a gene. */
static void put_orphans(struct genome *g, struct piece *p, int64_t at)
{
    const struct site s = {p, at, chance(g, 500)};
    int64_t x = 0;
    for (int i = 0; i < N_CORE; i++, x += between(g, 30, 60))
        (void)put_motif(g, &s, x, &motifs[between(g, 0, N_CORE)], false);
    note_site(g, &s, 0, x, "decoy", 0);
}

/* Fills [beg, end) between genes. */
static void put_between(struct genome *g, struct piece *p, int64_t beg, int64_t end)
{
    for (int64_t at = beg + between(g, 100, 500); at + 100 < end; at += between(g, 300, 1500)) {
        const struct site s = {p, at, chance(g, 500)};
        (void)put_motif(g, &s, 0, &motifs[between(g, 0, N_MOTIFS)], false);
    }
    for (int64_t at = beg + between(g, 500, 900); at + 500 < end; at += between(g, 900, 2500))
        if (chance(g, 550))
            put_enhancer(g, p, at, (int)between(g, 2, 5));
        else if (chance(g, 500))
            put_enhancer(g, p, at, 1);
        else
            put_orphans(g, p, at);
}

/* Puts genes in [beg, end). */
static void put_genes(struct genome *g, struct piece *p, int64_t beg, int64_t end)
{
    for (int64_t at = beg;;) {
        int64_t n = between(g, 800, 2800), gap = between(g, 300, 700);
        if (chance(g, 500))
            gap += between(g, 0, 3600);
        bool minus = chance(g, 500);
        int64_t first = at + gap + (minus ? 0 : PROMOTER);
        int64_t last = first + n + (minus ? PROMOTER : 0);
        if (last > end) {
            put_between(g, p, at, end);
            return;
        }
        put_between(g, p, at, at + gap);
        const struct site s = {p, minus ? first + n - 1 : first, minus};
        put_gene(g, &s, n);
        at = last;
    }
}

/* ---- repeats and gaps ---- */

/* Allocates an ancestor of low <= n < 4000 bases. */
static int make_family(struct genome *g, struct family *f, int64_t low, struct cov_err *e)
{
    f->n = between(g, low, 4000);
    f->bases = cov_malloc((size_t)f->n, 1, e);
    if (!f->bases)
        return COV_ENOMEM;
    draw_background(g, f->bases, f->n, (int)between(g, 320, 460));
    return COV_OK;
}

/* Puts copies of the families, min_gap to max_gap bases apart, many of them truncated. */
static void put_repeats(struct genome *g, const struct piece *p, int64_t min_gap, int64_t max_gap)
{
    for (int64_t at = between(g, 500, 6000);; at += between(g, min_gap, max_gap)) {
        const struct family *f = &g->families[between(g, 0, N_FAMILIES)];
        int64_t n = chance(g, 400) ? f->n : between(g, f->n / 4, f->n);
        if (at + n > p->n)
            return;
        put_copy(g, p->bases + at, f->bases, n);
        note_range(g, p, at, at + n, "repeat");
        at += n;
    }
}

/* Puts the centromere in [*beg, *end): a tandem repeat, as in Arabidopsis, with a gap in the
 * assembly. */
static void put_centromere(struct genome *g, const struct piece *p, int64_t *beg, int64_t *end)
{
    int64_t n = p->n / 25 / SATELLITE * SATELLITE, gap = n / 3;
    *beg = p->n / 9 * 5;
    *end = *beg + n;
    for (int64_t i = 0; i < n; i += SATELLITE)
        put_copy(g, p->bases + *beg + i, g->satellite, SATELLITE);
    note_range(g, p, *beg, *end, "repeat");
    put_gap(g, p, *beg + gap, gap);
}

static void put_gaps(struct genome *g, const struct piece *p)
{
    for (int64_t at = between(g, 15000, 60000); at + 3000 < p->n; at += between(g, 30000, 200000))
        put_gap(g, p, at, chance(g, 500) ? 100 : between(g, 200, 2500));
}

/* ---- writing ---- */

enum { N_CHROMOSOMES = 5, N_CONTIGS = 4, N_PIECES = N_CHROMOSOMES + N_CONTIGS };

/* Sets the name and length of sequence i < N_PIECES: chromosomes with 30, 24, 19, 15 and 12 % of
 * n_bases, a contig of exactly one chunk, and short contigs. */
static void describe_piece(size_t i, int64_t n_bases, char name[32], int64_t *n)
{
    static const int shares[N_CHROMOSOMES] = {30, 24, 19, 15, 12};
    static const int contigs[N_CONTIGS] = {21384, 5003, 777, 41};
    bool large = i < N_CHROMOSOMES;
    size_t k = large ? i : i - N_CHROMOSOMES;
    (void)snprintf(name, 32, large ? "chr%zu" : "contig_%zu", k + 1);
    *n = large ? n_bases / 100 * shares[k] : contigs[k];
}

static void write_bases(const struct genome *g, const struct piece *p)
{
    (void)fprintf(g->fasta, ">%s a made-up sequence of %lld bases\n", p->name, (long long)p->n);
    write_lines(g, p);
}

/* Creates DIRECTORY/NAME.SUFFIX. */
static FILE *create(const char *directory, const char *name, const char *suffix, struct cov_err *e)
{
    char *path = cov_strfmt(e, "%s/%s.%s", directory, name, suffix);
    FILE *f = path ? fopen(path, "we") : NULL;
    if (path && !f)
        (void)cov_fail_errno(e, "%s", path);
    free(path);
    return f;
}

/* Closes f (may be NULL), and reports earlier write errors too. Returns `code` if that is an error. */
static int finish(FILE *f, const char *name, int code, struct cov_err *e)
{
    if (!f)
        return code;
    int failed = ferror(f);
    if (fclose(f) != 0 || failed)
        return code ? code : cov_fail_errno(e, "%s: cannot be written", name);
    return code;
}

/* Writes reads sorted by position. Positions are drawn for 5' ends, which are the ends of - reads,
 * so the starts are collected first. ATAC-seq reads are shifted as by an aligner: +4 and -5 bases
 * from the cut. */
static int write_reads(struct maker *m, const struct piece *p, int assay, struct cov_err *e)
{
    int length = assays[assay].read_length, shift = assay == ATACSEQ;
    double background = assays[assay].background / length;
    uint16_t *begins = cov_calloc((size_t)p->n, 2 * sizeof *begins, e);
    if (!begins)
        return COV_ENOMEM;
    for (int64_t i = 0; i < p->n; i++) {
        for (int n = poisson(&m->g.rng, background + p->rate[assay][i]); n > 0; n--) {
            bool minus = chance(&m->g, 500);
            int64_t beg = minus ? i - length + 5 * shift : i - 4 * shift;
            if (beg >= 0 && beg + length <= p->n && !memchr(p->bases + beg, 'N', (size_t)length))
                begins[2 * beg + minus]++;
        }
    }
    long long n_reads = 0;
    for (int64_t i = 0; i < p->n; i++)
        for (int minus = 0; minus < 2; minus++)
            for (int k = 0; k < begins[2 * i + minus]; k++)
                (void)fprintf(m->reads[assay], "%s.%lld\t%d\t%s\t%lld\t60\t%dM\t*\t0\t0\t*\t*\n",
                              p->name, ++n_reads, minus ? 16 : 0, p->name, (long long)i + 1,
                              length);
    free(begins);
    return COV_OK;
}

static int fill_piece(struct maker *m, struct piece *p, struct cov_err *e)
{
    struct genome *g = &m->g;
    int64_t beg = p->n, end = p->n;
    for (int64_t at = 0; at < p->n;) {
        int64_t n = between(g, 4000, 20000);
        n = n < p->n - at ? n : p->n - at;
        draw_background(g, p->bases + at, n, (int)between(g, 300, 400));
        at += n;
    }
    put_repeats(g, p, 1500, 12000);
    if (p->n >= 100000)
        put_centromere(g, p, &beg, &end);
    put_genes(g, p, 0, beg);
    put_genes(g, p, end, p->n);
    put_gaps(g, p);
    write_bases(g, p);
    int code = COV_OK;
    for (int i = 0; i < N_ASSAYS && code == COV_OK; i++)
        code = write_reads(m, p, i, e);
    return code;
}

static int make_piece(struct maker *m, const char *name, int64_t n, struct cov_err *e)
{
    double *rate[N_ASSAYS] = {NULL};
    struct piece p = {.name = name, .n = n, .rate = rate};
    p.bases = cov_malloc((size_t)n, 1, e);
    int code = p.bases ? COV_OK : COV_ENOMEM;
    for (int i = 0; i < N_ASSAYS && code == COV_OK; i++) {
        rate[i] = cov_calloc((size_t)n, sizeof *rate[i], e);
        code = rate[i] ? COV_OK : COV_ENOMEM;
    }
    if (code == COV_OK)
        code = fill_piece(m, &p, e);
    free(p.bases);
    for (int i = 0; i < N_ASSAYS; i++)
        free(rate[i]);
    return code;
}

static int make_pieces(struct maker *m, int64_t n_bases, struct cov_err *e)
{
    char name[32];
    int64_t n;
    for (int k = 0; k < N_ASSAYS; k++) {
        (void)fprintf(m->reads[k], "@HD\tVN:1.6\tSO:coordinate\n");
        for (size_t i = 0; i < N_PIECES; i++) {
            describe_piece(i, n_bases, name, &n);
            (void)fprintf(m->reads[k], "@SQ\tSN:%s\tLN:%lld\n", name, (long long)n);
        }
    }
    int code = COV_OK;
    for (size_t i = 0; i < N_PIECES && code == COV_OK; i++) {
        describe_piece(i, n_bases, name, &n);
        code = make_piece(m, name, n, e);
    }
    return code;
}

/* Ancestors of the repeats; some contain a promoter. */
static int make_families(struct genome *g, struct cov_err *e)
{
    draw_background(g, g->satellite, SATELLITE, 360);
    for (int i = 0; i < N_FAMILIES; i++) {
        struct family *f = &g->families[i];
        int code = make_family(g, f, i < SILENT_FAMILIES ? 1000 : 300, e);
        if (code)
            return code;
        if (i < SILENT_FAMILIES) {
            struct piece p = {.bases = f->bases, .n = f->n};
            const struct site s = {&p, f->n / 2, false};
            double unused[N_ASSAYS] = {0};
            put_promoter(g, &s, unused);
        }
    }
    return COV_OK;
}

static int make_all(const char *directory, int64_t n_bases, int64_t seed, struct cov_err *e)
{
    struct maker m = {.g = {.fasta = NULL}};
    int code = COV_EIO;
    cov_rng_init(&m.g.rng, SEED);
    m.g.fasta = create(directory, "genome", "fa", e);
    m.g.features = m.g.fasta ? create(directory, "features", "bed", e) : NULL;
    bool open = m.g.features;
    for (int i = 0; i < N_ASSAYS && open; i++) {
        m.reads[i] = create(directory, assays[i].name, "sam", e);
        open = m.reads[i];
    }
    if (open)
        code = make_families(&m.g, e);
    if (seed > 0)
        cov_rng_init(&m.g.rng, (uint64_t)seed);
    if (code == COV_OK)
        code = make_pieces(&m, n_bases, e);
    free_families(&m.g);
    for (int i = 0; i < N_ASSAYS; i++)
        code = finish(m.reads[i], assays[i].name, code, e);
    code = finish(m.g.features, "features.bed", code, e);
    return finish(m.g.fasta, "genome.fa", code, e);
}

int main(int argc, char **argv)
{
    int64_t n_bases = 3000000, seed = 0; /* seed 0: SEED */
    struct cov_err e = COV_ERR_INIT;
    if (argc < 2 || argc > 4) {
        (void)fprintf(stderr, "usage: make_plant DIRECTORY [BASES [SEED]]\n");
        return 2;
    }
    int code = argc < 3 ? COV_OK : cov_parse_i64(argv[2], "BASES", 10000, 1000000000, &n_bases, &e);
    if (code == COV_OK && argc == 4)
        code = cov_parse_i64(argv[3], "SEED", 1, INT32_MAX, &seed, &e);
    if (code == COV_OK)
        code = make_all(argv[1], n_bases, seed, &e);
    if (code != COV_OK)
        (void)fprintf(stderr, "make_plant: error: %s\n", e.text);
    return code == COV_OK ? 0 : code == COV_EUSAGE ? 2 : 1;
}
