/* make_plant.c - a small made-up plant genome, and reads of two assays whose strength its DNA decides.
 *
 *   make_plant FOLDER [BASES]
 *
 * writes FOLDER/genome.fa, features.bed (what was put where), atacseq.sam and h3k4me3.sam. The same
 * bytes on every machine: all randomness comes from one seed, and numbers are only added, multiplied
 * and divided.
 *
 * The genome: five chromosomes (30, 24, 19, 15 and 12 % of BASES) and a few contigs. Stretches of 4 to
 * 20 kb between 30 and 40 % GC with few CG; families of transposable elements, soft-masked, whose
 * copies differ; a centromere of one satellite; gaps of N. Genes on both strands have a leader rich in
 * C and T, exons richer in GC than introns, splice sites, and a promoter of 220 bases: TATA at -36 to
 * -29 in half of them, and six slots before it, of which about 1, 3 or 5 hold one of the others.
 *
 *   motif   consensus     strand   ATAC-seq   H3K4me3   (what an exact one adds to the strength)
 *   TATA    TATAWAWR      its own  0.7        -0.8
 *   CCAAT   GCCAATSR      either   0.6        0.7
 *   GC      RGGGCGGRRY    either   0.5        1.2
 *   G       GGCCACGTGGMR  its own  1.0        0.4
 *
 * One or two wrong bases, in a third of them, leave 60 or 25 % of it. The depth of the reads grows with
 * the strength s and its square. Enhancers, far from genes, are clusters of 2 to 4 of W boxes (TTGACY),
 * TGA (TGACGTCA) and TCP (GTGGGNCC) sites, and raise ATAC-seq alone.
 *
 * ATAC-seq: Tn5 cuts lie about 90 bases before the TSS, fewer beyond the two nucleosomes beside, and in
 * enhancers. H3K4me3: nucleosomes from the TSS on, in the direction of the gene, for about 1200 bases.
 * Both have a background everywhere but in N, and chance makes each promoter and enhancer up to 15 %
 * stronger or weaker than its motifs tell. Numbers of reads are Poisson.
 *
 * What misleads: single motifs between genes; four of a promoter without its gene; an enhancer's
 * alone; and elements of three families that bring along a whole promoter, which is silent.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/number.h"
#include "common/base/rng.h"
#include "common/cli/opt.h"

enum { SEED = 20261122, LINE = 60, N_FAMILIES = 12 };

enum { SATELLITE = 178, PROMOTER = 220 /* bases before the TSS */, SILENT_FAMILIES = 3 };

enum { ATACSEQ, H3K4ME3, N_ASSAYS };

static const struct {
    const char *name;
    int read_length;
    double background; /* mean depth */
} assays[N_ASSAYS] = {{"atacseq", 50, 1.2}, {"h3k4me3", 75, 1.5}};

enum { N_CORE = 4, N_MOTIFS = 7 /* from N_CORE on those of enhancers */ };

/* Of a promoter, for motifs but TATA: slot i >= 1 begins i SLOT before FIRST_SLOT. */
enum { N_SLOTS = 6, SLOT = 26, FIRST_SLOT = -36 };

static const struct motif {
    const char *consensus; /* IUPAC */
    bool either;           /* strand */
    double weight[N_ASSAYS];
} motifs[N_MOTIFS] = {
    {"TATAWAWR", false, {0.7, -0.8}}, {"GCCAATSR", true, {0.6, 0.7}},
    {"RGGGCGGRRY", true, {0.5, 1.2}}, {"GGCCACGTGGMR", false, {1.0, 0.4}},
    {"TTGACY", true, {0.6, 0}},       {"TGACGTCA", true, {1.0, 0}},
    {"GTGGGNCC", true, {0.8, 0}},
};

struct piece {
    const char *name;
    char *bases;
    int64_t n;
    double *rate[N_ASSAYS]; /* reads that are expected about a base, both strands together */
};

struct family { /* of transposable elements: copies of a common ancestor */
    char *bases;
    int64_t n;
};

struct maker {
    struct cov_rng rng;
    struct family families[N_FAMILIES];
    char satellite[SATELLITE]; /* the unit that a centromere repeats */
    FILE *fasta, *features, *reads[N_ASSAYS];
};

/* ---- chance ---- */

static int64_t between(struct maker *m, int64_t low, int64_t high)
{
    return low + (int64_t)cov_rng_below(&m->rng, (uint64_t)(high - low));
}

/* True in `per_mille` of 1000 cases. */
static bool chance(struct maker *m, int per_mille)
{
    return (int)cov_rng_below(&m->rng, 1000) < per_mille;
}

/* exp(-x) for x >= 0 of a few units, the same on every machine. */
static double exp_minus(double x)
{
    enum { HALVINGS = 10 };
    double part = x / (1 << HALVINGS);
    double y = 1 - part * (1 - part / 2 * (1 - part / 3));
    for (int i = 0; i < HALVINGS; i++)
        y *= y;
    return y;
}

static int poisson(struct maker *m, double mean)
{
    int n = 0;
    double limit = exp_minus(mean), product = cov_rng_double(&m->rng);
    while (product > limit) {
        product *= cov_rng_double(&m->rng);
        n++;
    }
    return n;
}

/* What motifs cannot tell. */
static double luck(struct maker *m)
{
    return 0.85 + 0.3 * cov_rng_double(&m->rng);
}

/* ---- bases ---- */

static char draw_base(struct maker *m, int gc_per_mille)
{
    bool gc = chance(m, gc_per_mille), second = chance(m, 500);
    return gc ? (second ? 'C' : 'G') : (second ? 'A' : 'T');
}

/* bases[0..n): as in most of a plant's genome, CG is rare, as methylated C turns into T. */
static void draw_background(struct maker *m, char *bases, int64_t n, int gc_per_mille)
{
    char before = 'A';
    for (int64_t i = 0; i < n; i++) {
        char base = draw_base(m, gc_per_mille);
        if (before == 'C' && base == 'G' && chance(m, 350))
            base = 'A';
        bases[i] = before = base;
    }
}

static char complement(char base)
{
    return base == 'A' ? 'T' : base == 'C' ? 'G' : base == 'G' ? 'C' : base == 'T' ? 'A' : base;
}

/* One of the bases that an IUPAC letter stands for. */
static char draw_iupac(struct maker *m, char letter)
{
    static const struct {
        char letter;
        const char *bases;
    } sets[] = {{'R', "AG"}, {'Y', "CT"}, {'S', "CG"}, {'W', "AT"}, {'M', "AC"}, {'N', "ACGT"}};
    for (size_t i = 0; i < COV_COUNT(sets); i++)
        if (letter == sets[i].letter)
            return sets[i].bases[between(m, 0, (int64_t)strlen(sets[i].bases))];
    return letter;
}

/* A place with a direction: base 0 is the first of a gene, those before it have numbers below. */
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

static void draw_stretch(struct maker *m, const struct site *s, int64_t beg, int64_t end, int gc)
{
    for (int64_t x = beg; x < end; x++)
        set_base(s, x, draw_base(m, gc));
}

static void set_bases(const struct site *s, int64_t x, const char *bases)
{
    for (; *bases; bases++)
        set_base(s, x++, *bases);
}

/* Puts it at x, with up to two wrong bases, and returns what is left of its strength. */
static double put_motif(struct maker *m, const struct site *s, int64_t x, const struct motif *motif)
{
    static const double left[] = {1, 0.6, 0.25};
    char word[16];
    size_t n = strlen(motif->consensus);
    for (size_t i = 0; i < n; i++)
        word[i] = draw_iupac(m, motif->consensus[i]);
    int n_wrong = chance(m, 650) ? 0 : chance(m, 750) ? 1 : 2;
    for (int i = 0; i < n_wrong; i++) {
        size_t where;
        do /* a letter that is one base, not wrong yet */
            where = cov_rng_below(&m->rng, n);
        while (word[where] != motif->consensus[where]);
        while (word[where] == motif->consensus[where])
            word[where] = draw_base(m, 500);
    }
    bool flipped = motif->either && chance(m, 500);
    for (size_t i = 0; i < n; i++)
        set_base(s, x + (int64_t)i, flipped ? complement(word[n - 1 - i]) : word[i]);
    return left[n_wrong];
}

/* ---- what is measured ---- */

/* 1 in the middle, 0 from one unit on. */
static double bump(double x)
{
    double y = 1 - x * x;
    return y > 0 ? y * y : 0;
}

/* Reads whose depth is about `depth` where bump() is 1. */
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

/* Seven nucleosomes from the TSS on, 185 bases apart, with less of it from the fourth on, and one
 * before. */
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

/* ---- what is in the genome ---- */

static void note(struct maker *m, const struct piece *p, int64_t beg, int64_t end, const char *what,
                 double depth, char strand)
{
    (void)fprintf(m->features, "%s\t%lld\t%lld\t%s\t%d\t%c\n", p->name, (long long)beg,
                  (long long)end, what, (int)depth, strand);
}

static void note_site(struct maker *m, const struct site *s, int64_t beg, int64_t end,
                      const char *what, double depth)
{
    int64_t a = place(s, beg), b = place(s, end);
    note(m, s->piece, s->minus ? b + 1 : a, s->minus ? a + 1 : b, what, depth,
         s->minus ? '-' : '+');
}

/* A copy with about 6 % of the bases changed, soft-masked: in lower case. */
static void put_copy(struct maker *m, char *bases, const char *original, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        char base = chance(m, 60) ? draw_base(m, 400) : original[i];
        bases[i] = (char)(base | 0x20);
    }
}

static void put_repeats(struct maker *m, const struct piece *p)
{
    for (int64_t at = between(m, 500, 6000);; at += between(m, 1500, 12000)) {
        const struct family *f = &m->families[between(m, 0, N_FAMILIES)];
        int64_t n = chance(m, 400) ? f->n : between(m, f->n / 4, f->n); /* often but a part */
        if (at + n > p->n)
            return;
        put_copy(m, p->bases + at, f->bases, n);
        note(m, p, at, at + n, "repeat", 0, '.');
        at += n;
    }
}

/* The centromere: one unit over and over, as in Arabidopsis, and never assembled to its end. It is
 * [*beg, *end). */
static void put_centromere(struct maker *m, const struct piece *p, int64_t *beg, int64_t *end)
{
    int64_t n = p->n / 25 / SATELLITE * SATELLITE, gap = n / 3;
    *beg = p->n / 9 * 5;
    *end = *beg + n;
    for (int64_t i = 0; i < n; i += SATELLITE)
        put_copy(m, p->bases + *beg + i, m->satellite, SATELLITE);
    note(m, p, *beg, *end, "repeat", 0, '.');
    memset(p->bases + *beg + gap, 'N', (size_t)gap);
    note(m, p, *beg + gap, *beg + 2 * gap, "gap", 0, '.');
}

static void put_gaps(struct maker *m, const struct piece *p)
{
    for (int64_t at = between(m, 15000, 60000); at + 3000 < p->n; at += between(m, 30000, 200000)) {
        int64_t n = chance(m, 500) ? 100 : between(m, 200, 2500);
        memset(p->bases + at, 'N', (size_t)n);
        note(m, p, at, at + n, "gap", 0, '.');
    }
}

/* Motifs of a promoter; `strength` gets what they give to each assay. */
static void put_promoter(struct maker *m, const struct site *s, double strength[N_ASSAYS])
{
    static const int richness[] = {150, 450, 800};
    int per_mille = richness[between(m, 0, COV_COUNT(richness))];
    draw_stretch(m, s, -PROMOTER, 0, 340);
    for (int i = 0; i <= N_SLOTS; i++) {
        const struct motif *motif = &motifs[i == 0 ? 0 : between(m, 1, N_CORE)];
        int64_t x = i == 0 ? between(m, -36, -29) : FIRST_SLOT - i * SLOT + between(m, 0, 12);
        if (!chance(m, i == 0 ? 500 : per_mille))
            continue;
        double left = put_motif(m, s, x, motif);
        for (int k = 0; k < N_ASSAYS; k++)
            strength[k] += left * motif->weight[k];
    }
    set_bases(s, -2, chance(m, 500) ? "TCA" : "CCA"); /* the initiator */
}

/* A leader rich in C and T, then exons and introns in turn. */
static void put_body(struct maker *m, const struct site *s, int64_t n)
{
    int64_t leader = between(m, 60, 120);
    for (int64_t x = 1; x < leader; x++)
        set_base(s, x, chance(m, 750) ? (chance(m, 450) ? 'C' : 'T') : draw_base(m, 400));
    for (int64_t x = leader; x < n;) {
        int64_t exon = x + between(m, 150, 500), intron = exon + between(m, 80, 350);
        draw_stretch(m, s, x, exon < n ? exon : n, 450);
        if (intron + 80 >= n) {
            draw_stretch(m, s, x, n, 450);
            return;
        }
        draw_stretch(m, s, exon, intron, 320);
        set_bases(s, exon, "GTAAGT");
        set_bases(s, intron - 6, "TTGCAG");
        x = intron;
    }
}

static void put_gene(struct maker *m, const struct site *s, int64_t n)
{
    double strength[N_ASSAYS] = {0};
    put_body(m, s, n);
    put_promoter(m, s, strength);
    double open = strength[ATACSEQ], marked = strength[H3K4ME3] > 0 ? strength[H3K4ME3] : 0;
    double depth = (5 * open + 6 * open * open) * luck(m);
    double mark = (2 + 8 * marked + 2 * marked * marked) * luck(m);
    open_promoter(s, depth);
    mark_gene(s, mark);
    note_site(m, s, -PROMOTER, 0, "promoter", depth);
    note_site(m, s, 0, n, "gene", mark);
}

/* A cluster of `n` motifs about `middle`. */
static void put_enhancer(struct maker *m, struct piece *p, int64_t middle, int n)
{
    const struct site s = {p, middle, chance(m, 500)};
    double strength = 0;
    draw_stretch(m, &s, -90, 90, 380);
    for (int i = 0; i < n; i++) {
        const struct motif *motif = &motifs[between(m, N_CORE, N_MOTIFS)];
        int64_t x = -70 + i * 140 / n + between(m, 0, 140 / n - 10);
        strength += put_motif(m, &s, x, motif) * motif->weight[ATACSEQ];
    }
    double depth = n < 2 ? 0 : 8 * strength * strength * luck(m);
    if (n > 1)
        add_reads(p, ATACSEQ, middle, 110, depth);
    note_site(m, &s, -90, 90, n < 2 ? "decoy" : "enhancer", depth);
}

/* Motifs of a promoter without its gene. */
static void put_orphans(struct maker *m, struct piece *p, int64_t at)
{
    const struct site s = {p, at, chance(m, 500)};
    int64_t x = 0;
    for (int i = 0; i < N_CORE; i++, x += between(m, 30, 60))
        (void)put_motif(m, &s, x, &motifs[between(m, 0, N_CORE)]);
    note_site(m, &s, 0, x, "decoy", 0);
}

/* What is in bases [beg, end) where no gene or promoter is. */
static void put_between(struct maker *m, struct piece *p, int64_t beg, int64_t end)
{
    for (int64_t at = beg + between(m, 100, 500); at + 100 < end; at += between(m, 300, 1500)) {
        const struct site s = {p, at, chance(m, 500)};
        (void)put_motif(m, &s, 0, &motifs[between(m, 0, N_MOTIFS)]);
    }
    for (int64_t at = beg + between(m, 500, 900); at + 500 < end; at += between(m, 900, 2500))
        if (chance(m, 550))
            put_enhancer(m, p, at, (int)between(m, 2, 5));
        else if (chance(m, 500))
            put_enhancer(m, p, at, 1);
        else
            put_orphans(m, p, at);
}

/* Genes in [beg, end). */
static void put_genes(struct maker *m, struct piece *p, int64_t beg, int64_t end)
{
    for (int64_t at = beg;;) {
        int64_t n = between(m, 800, 2800), gap = between(m, 300, 700);
        if (chance(m, 500))
            gap += between(m, 0, 3600);
        bool minus = chance(m, 500);
        int64_t first = at + gap + (minus ? 0 : PROMOTER);
        int64_t last = first + n + (minus ? PROMOTER : 0);
        if (last > end) {
            put_between(m, p, at, end);
            return;
        }
        put_between(m, p, at, at + gap);
        const struct site s = {p, minus ? first + n - 1 : first, minus};
        put_gene(m, &s, n);
        at = last;
    }
}

/* ---- writing ---- */

static void write_bases(struct maker *m, const struct piece *p)
{
    (void)fprintf(m->fasta, ">%s a made-up sequence of %lld bases\n", p->name, (long long)p->n);
    for (int64_t i = 0; i < p->n; i += LINE)
        (void)fprintf(m->fasta, "%.*s\n", (int)(p->n - i < LINE ? p->n - i : LINE), p->bases + i);
}

/* By coordinate. About half of the reads begin where they are drawn, and the others, of the -
 * strand, end there, so that theirs are written when their begin is reached. ATAC-seq's are as an
 * aligner places them: 4 bases before the cut, or to 5 beyond. */
static int write_reads(struct maker *m, const struct piece *p, int assay, struct cov_err *e)
{
    int length = assays[assay].read_length, shift = assay == ATACSEQ;
    double background = assays[assay].background / length;
    uint16_t *begins = cov_calloc((size_t)p->n, 2 * sizeof *begins, e);
    if (!begins)
        return COV_ENOMEM;
    for (int64_t i = 0; i < p->n; i++) {
        for (int n = poisson(m, background + p->rate[assay][i]); n > 0; n--) {
            bool minus = chance(m, 500);
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
    int64_t beg = p->n, end = p->n;
    for (int64_t at = 0; at < p->n;) {
        int64_t n = between(m, 4000, 20000);
        n = n < p->n - at ? n : p->n - at;
        draw_background(m, p->bases + at, n, (int)between(m, 300, 400));
        at += n;
    }
    put_repeats(m, p);
    if (p->n >= 100000)
        put_centromere(m, p, &beg, &end);
    put_genes(m, p, 0, beg);
    put_genes(m, p, end, p->n);
    put_gaps(m, p);
    write_bases(m, p);
    int code = COV_OK;
    for (int i = 0; i < N_ASSAYS && code == COV_OK; i++)
        code = write_reads(m, p, i, e);
    return code;
}

static int make_piece(struct maker *m, const char *name, int64_t n, struct cov_err *e)
{
    struct piece p = {.name = name, .n = n};
    p.bases = cov_malloc((size_t)n, 1, e);
    int code = p.bases ? COV_OK : COV_ENOMEM;
    for (int i = 0; i < N_ASSAYS && code == COV_OK; i++) {
        p.rate[i] = cov_calloc((size_t)n, sizeof *p.rate[i], e);
        code = p.rate[i] ? COV_OK : COV_ENOMEM;
    }
    if (code == COV_OK)
        code = fill_piece(m, &p, e);
    free(p.bases);
    for (int i = 0; i < N_ASSAYS; i++)
        free(p.rate[i]);
    return code;
}

/* Five chromosomes of `n_bases` together, and contigs: one of exactly one chunk, and very short
 * ones. */
static int make_pieces(struct maker *m, int64_t n_bases, struct cov_err *e)
{
    static const int shares[] = {30, 24, 19, 15, 12}; /* percent */
    static const int contigs[] = {21384, 5003, 777, 41};
    enum { N = COV_COUNT(shares) + COV_COUNT(contigs) };
    struct {
        char name[32];
        int64_t n;
    } pieces[N];
    for (size_t i = 0; i < N; i++) {
        bool large = i < COV_COUNT(shares);
        size_t k = large ? i : i - COV_COUNT(shares);
        (void)snprintf(pieces[i].name, sizeof pieces[i].name, large ? "chr%zu" : "contig_%zu",
                       k + 1);
        pieces[i].n = large ? n_bases / 100 * shares[k] : contigs[k];
    }
    for (int k = 0; k < N_ASSAYS; k++) {
        (void)fprintf(m->reads[k], "@HD\tVN:1.6\tSO:coordinate\n");
        for (size_t i = 0; i < N; i++)
            (void)fprintf(m->reads[k], "@SQ\tSN:%s\tLN:%lld\n", pieces[i].name,
                          (long long)pieces[i].n);
    }
    int code = COV_OK;
    for (size_t i = 0; i < N && code == COV_OK; i++)
        code = make_piece(m, pieces[i].name, pieces[i].n, e);
    return code;
}

/* The ancestors of the repeats; some have a promoter inside. */
static int make_families(struct maker *m, struct cov_err *e)
{
    draw_background(m, m->satellite, SATELLITE, 360);
    for (int i = 0; i < N_FAMILIES; i++) {
        struct family *f = &m->families[i];
        f->n = between(m, i < SILENT_FAMILIES ? 1000 : 300, 4000);
        f->bases = cov_malloc((size_t)f->n, 1, e);
        if (!f->bases)
            return COV_ENOMEM;
        draw_background(m, f->bases, f->n, (int)between(m, 320, 460));
        if (i < SILENT_FAMILIES) {
            struct piece p = {.bases = f->bases, .n = f->n};
            const struct site s = {&p, f->n / 2, false};
            double unused[N_ASSAYS] = {0};
            put_promoter(m, &s, unused);
        }
    }
    return COV_OK;
}

static FILE *create(const char *folder, const char *name, const char *suffix, struct cov_err *e)
{
    char *path = cov_strfmt(e, "%s/%s.%s", folder, name, suffix);
    FILE *f = path ? fopen(path, "we") : NULL;
    if (path && !f)
        (void)cov_fail_errno(e, "%s", path);
    free(path);
    return f;
}

/* Closes *f, whose writes went unchecked so far; NULL is accepted. */
static int finish(FILE *f, const char *name, struct cov_err *e)
{
    if (!f)
        return COV_OK;
    int failed = ferror(f);
    if (fclose(f) != 0 || failed)
        return cov_fail_errno(e, "%s: cannot be written", name);
    return COV_OK;
}

static int make_all(const char *folder, int64_t n_bases, struct cov_err *e)
{
    struct maker m = {0};
    int code = COV_EIO;
    cov_rng_init(&m.rng, SEED);
    m.fasta = create(folder, "genome", "fa", e);
    m.features = m.fasta ? create(folder, "features", "bed", e) : NULL;
    bool open = m.features;
    for (int i = 0; i < N_ASSAYS && open; i++) {
        m.reads[i] = create(folder, assays[i].name, "sam", e);
        open = m.reads[i];
    }
    if (open)
        code = make_families(&m, e);
    if (code == COV_OK)
        code = make_pieces(&m, n_bases, e);
    for (int i = 0; i < N_FAMILIES; i++)
        free(m.families[i].bases);
    for (int i = 0; i < N_ASSAYS; i++) {
        int closed = finish(m.reads[i], assays[i].name, e);
        code = code ? code : closed;
    }
    int closed = finish(m.features, "features.bed", e);
    code = code ? code : closed;
    closed = finish(m.fasta, "genome.fa", e);
    return code ? code : closed;
}

int main(int argc, char **argv)
{
    struct cov_err e = COV_ERR_INIT;
    int64_t n_bases = 3000000;
    if (argc < 2 || argc > 3) {
        (void)fputs("usage: make_plant FOLDER [BASES]\n", stderr);
        return 2;
    }
    int code = COV_OK;
    if (argc == 3)
        code = cov_parse_i64(argv[2], "BASES", 10000, 1000000000, &n_bases, &e);
    if (code == COV_OK)
        code = make_all(argv[1], n_bases, &e);
    if (code != COV_OK)
        (void)fprintf(stderr, "make_plant: error: %s\n", e.text);
    return code == COV_OK ? 0 : code == COV_EUSAGE ? 2 : 1;
}
