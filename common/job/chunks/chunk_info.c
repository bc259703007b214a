/* chunk_info.c - see chunk_jobs.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/chunks/chunk_jobs.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/json.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/chunk/chunk_file.h"
#include "common/chunk/predictions.h"
#include "common/chunk/stream.h"
#include "common/h5/h5.h"

/* Number of sequences that the table lists; JSON lists all. */
enum { MAX_SEQUENCES = 20 };

struct sequence {
    char *name, *species;
    int64_t length;
    size_t n_chunks;
};

struct set {
    const char *name; /* borrowed */
    struct cov_h5_storage storage;
};

struct content {
    const char *path, *kind, *layout; /* layout: NULL without bases */
    const struct cov_chunk_head *head;
    bool is_stream, partial;
    size_t n_chunks, n_pairs;
    struct sequence *sequences;
    size_t n_sequences, cap_sequences;
    struct set *sets;
    size_t n_sets;
    int64_t n_bases, file_bytes;
};

static void fini(struct content *c)
{
    for (size_t i = 0; i < c->n_sequences; i++) {
        free(c->sequences[i].name);
        free(c->sequences[i].species);
    }
    free(c->sequences);
    free(c->sets);
}

/* ---------------------------------------------------------------- contents */

static int begin(struct content *c, const char *path, const struct cov_chunk_head *head,
                 struct cov_err *e)
{
    struct stat st;
    c->path = path;
    c->head = head;
    c->kind = head->has_bases                                 ? "genome"
              : cov_chunk_head_set(head, COV_PREDICTIONS_SET) ? "predictions"
                                                              : "chunks";
    if (stat(path, &st))
        return cov_fail_errno(e, "%s", path);
    c->file_bytes = st.st_size;
    return COV_OK;
}

static int add_sequence(struct content *c, const char *name, const char *species, int64_t length,
                        struct cov_err *e)
{
    int rc = COV_RESERVE(&c->sequences, &c->cap_sequences, c->n_sequences + 1, e);
    if (rc)
        return rc;
    struct sequence *s = &c->sequences[c->n_sequences++];
    *s = (struct sequence){cov_strdup(name, e), cov_strdup(species, e), length, 0};
    return s->name && s->species ? COV_OK : COV_ENOMEM;
}

/* Adds a pair to the last sequence. */
static void add_pair(struct content *c, int64_t beg, int64_t end, bool plus, bool minus)
{
    size_t n = (size_t)plus + (size_t)minus;
    c->n_bases += end - beg;
    c->n_pairs++;
    c->n_chunks += n;
    if (c->n_sequences > 0)
        c->sequences[c->n_sequences - 1].n_chunks += n;
}

static int walk_grid(struct content *c, const struct cov_grid *g, struct cov_err *e)
{
    int rc = COV_OK;
    c->partial = cov_grid_is_partial(g);
    for (size_t s = 0; s < cov_grid_n_seqs(g) && !rc; s++) {
        size_t beg, end;
        rc = add_sequence(c, cov_grid_name(g, s), cov_grid_species(g, s), cov_grid_seq_length(g, s),
                          e);
        cov_grid_seq_pairs(g, s, &beg, &end);
        for (size_t i = beg; i < end && !rc; i++) {
            struct cov_pair p = cov_grid_pair(g, i);
            add_pair(c, p.beg, p.end, p.rows[COV_PLUS] != COV_NO_ROW,
                     p.rows[COV_MINUS] != COV_NO_ROW);
        }
    }
    return rc;
}

/* Adds a dataset if it exists; required ones were checked when the file was opened. */
static int add_set(struct content *c, struct cov_chunk_file *f, const char *name, struct cov_err *e)
{
    struct set *s = &c->sets[c->n_sets];
    s->name = name;
    int rc = cov_chunk_file_storage(f, name, &s->storage, e);
    c->n_sets += !rc && s->storage.rank > 0;
    return rc;
}

static int look_at_file(struct content *c, const char *path, struct cov_chunk_file *f,
                        struct cov_err *e)
{
    static const char *const columns[] = {"data/seqids",    "data/species",     "data/start_ends",
                                          "data/seq_names", "data/seq_species", "data/seq_lengths"};
    const char *bases = cov_chunk_file_bases_name(f);
    int rc = begin(c, path, cov_chunk_file_head(f), e);
    if (!rc)
        rc = walk_grid(c, cov_chunk_file_grid(f), e);
    if (rc)
        return rc;
    c->layout = !bases ? NULL : strcmp(bases, "data/X") == 0 ? "onehot" : "packed";
    c->sets = cov_calloc(1 + COV_COUNT(columns) + c->head->n_sets + c->head->n_tables,
                         sizeof *c->sets, e);
    if (!c->sets)
        return COV_ENOMEM;
    rc = bases ? add_set(c, f, bases, e) : COV_OK;
    for (size_t i = 0; !rc && i < COV_COUNT(columns); i++)
        rc = add_set(c, f, columns[i], e);
    for (size_t k = 0; !rc && k < c->head->n_sets; k++)
        rc = add_set(c, f, c->head->sets[k].name, e);
    for (size_t k = 0; !rc && k < c->head->n_tables; k++)
        rc = add_set(c, f, c->head->tables[k].name, e);
    return rc;
}

static int walk_stream(struct content *c, struct cov_stream *s, struct cov_err *e)
{
    struct cov_blob record = COV_BLOB_INIT;
    struct cov_stream_item item = {.event = COV_STREAM_BEGIN};
    int rc = COV_OK;
    while (!rc && item.event != COV_STREAM_DONE) {
        rc = cov_stream_next(s, &item, &record, e);
        if (rc)
            break;
        if (item.event == COV_STREAM_BEGIN)
            rc = add_sequence(c, item.sequence, item.species, 0, e);
        else if (item.event == COV_STREAM_PAIR)
            add_pair(c, item.pair.beg, item.pair.end, item.pair.has[COV_PLUS],
                     item.pair.has[COV_MINUS]);
        else if (item.event == COV_STREAM_END && c->n_sequences > 0)
            c->sequences[c->n_sequences - 1].length = item.length;
    }
    cov_blob_fini(&record);
    return rc;
}

static int look_at_stream(struct content *c, const char *path, struct cov_stream *s,
                          struct cov_err *e)
{
    int rc = begin(c, path, cov_stream_head(s), e);
    c->is_stream = true;
    c->partial = cov_stream_is_partial(s);
    c->layout = c->head->has_bases ? "packed" : NULL;
    if (!rc)
        rc = walk_stream(c, s, e);
    if (rc)
        return rc;
    c->sets = cov_calloc(c->head->n_sets + c->head->n_tables, sizeof *c->sets, e);
    if (!c->sets)
        return COV_ENOMEM;
    for (size_t k = 0; k < c->head->n_sets; k++) {
        const struct cov_chunk_set *set = &c->head->sets[k];
        c->sets[c->n_sets++] = (struct set){set->name,
                                            {.type = set->type,
                                             .rank = set->rank,
                                             .dims = {c->n_chunks, set->dims[0], set->dims[1]}}};
    }
    for (size_t k = 0; k < c->head->n_tables; k++) {
        const struct cov_chunk_table *t = &c->head->tables[k];
        c->sets[c->n_sets++] = (struct set){
            t->name,
            {.type = t->type, .rank = t->rank, .dims = {t->dims[0], t->dims[1], t->dims[2]}}};
    }
    return COV_OK;
}

static double per_base(const struct content *c, double bytes)
{
    return c->n_bases > 0 ? bytes / (double)c->n_bases : 0;
}

/* ---------------------------------------------------------------- as JSON */

static void put_sizes(struct cov_json *j, const char *key, const size_t *sizes, int rank)
{
    cov_json_begin_array(j, key);
    for (int i = 0; i < rank; i++)
        cov_json_int(j, NULL, (int64_t)sizes[i]);
    cov_json_end_array(j);
}

/* Tables of texts. */
static int put_names(struct cov_json *j, const struct cov_chunk_head *h, struct cov_err *e)
{
    cov_json_begin_object(j, "names");
    for (size_t k = 0; k < h->n_tables; k++) {
        const struct cov_chunk_table *t = &h->tables[k];
        if (t->type.kind != COV_H5_STRING || t->rank != 1)
            continue;
        cov_json_begin_array(j, t->name);
        for (size_t i = 0; i < t->dims[0]; i++) {
            char *copy = cov_chunk_table_text(t, i, e);
            if (!copy)
                return COV_ENOMEM;
            cov_json_string(j, NULL, copy);
            free(copy);
        }
        cov_json_end_array(j);
    }
    cov_json_end_object(j);
    return COV_OK;
}

/* Attributes of a dataset or group, or of the file if `set` is NULL. */
static void put_attributes(struct cov_json *j, const struct cov_chunk_head *h, const char *set)
{
    cov_json_begin_object(j, "attributes");
    for (size_t i = 0; i < h->n_attrs; i++)
        if (cov_text_same(h->attrs[i].set, set))
            cov_json_string(j, h->attrs[i].name, h->attrs[i].text);
    cov_json_end_object(j);
}

/* Prints the groups that have attributes. The head lists the attributes of each group together. */
static void put_groups(struct cov_json *j, const struct cov_chunk_head *h)
{
    const char *last = NULL;
    for (size_t i = 0; i < h->n_attrs; i++) {
        const char *set = h->attrs[i].set;
        if (!set || cov_text_same(set, last) || !cov_chunk_head_has_group(h, set))
            continue;
        if (!last)
            cov_json_begin_array(j, "groups");
        cov_json_begin_object(j, NULL);
        cov_json_string(j, "name", set);
        put_attributes(j, h, set);
        cov_json_end_object(j);
        last = set;
    }
    if (last)
        cov_json_end_array(j);
}

static int put_json(const struct content *c, struct cov_json *j, struct cov_err *e)
{
    cov_json_begin_object(j, NULL);
    cov_json_string(j, "path", c->path);
    cov_json_string(j, "format", c->is_stream ? "stream" : "hdf5");
    cov_json_string(j, "kind", c->kind);
    cov_json_string(j, "layout", c->layout);
    cov_json_int(j, "chunk_length", (int64_t)c->head->L);
    cov_json_int(j, "chunks", (int64_t)c->n_chunks);
    cov_json_int(j, "pairs", (int64_t)c->n_pairs);
    cov_json_bool(j, "partial", c->partial);
    cov_json_int(j, "bases", c->n_bases);
    cov_json_int(j, "file_bytes", c->file_bytes);
    cov_json_double(j, "bytes_per_base", per_base(c, (double)c->file_bytes));
    cov_json_begin_array(j, "data_sets");
    for (size_t i = 0; i < c->n_sets; i++) {
        const struct cov_h5_storage *s = &c->sets[i].storage;
        char type[COV_H5_TYPE_TEXT];
        cov_json_begin_object(j, NULL);
        cov_json_string(j, "name", c->sets[i].name);
        put_attributes(j, c->head, c->sets[i].name);
        cov_json_string(j, "type", cov_h5_type_text(&s->type, type));
        put_sizes(j, "shape", s->dims, s->rank);
        if (!c->is_stream) {
            put_sizes(j, "chunk", s->chunk, s->chunked ? s->rank : 0);
            cov_json_string(j, "filters", s->filters);
            cov_json_int(j, "stored_bytes", (int64_t)s->stored_bytes);
            cov_json_double(j, "bytes_per_base", per_base(c, (double)s->stored_bytes));
        }
        cov_json_end_object(j);
    }
    cov_json_end_array(j);
    int rc = put_names(j, c->head, e);
    if (rc)
        return rc;
    put_attributes(j, c->head, NULL);
    put_groups(j, c->head);
    cov_json_begin_array(j, "sequences");
    for (size_t i = 0; i < c->n_sequences; i++) {
        const struct sequence *s = &c->sequences[i];
        cov_json_begin_object(j, NULL);
        cov_json_string(j, "name", s->name);
        cov_json_string(j, "species", s->species);
        cov_json_int(j, "length", s->length);
        cov_json_int(j, "chunks", (int64_t)s->n_chunks);
        cov_json_end_object(j);
    }
    cov_json_end_array(j);
    cov_json_end_object(j);
    return COV_OK;
}

/* ---------------------------------------------------------------- as a table */

/* Prints n bytes of text from a file, without control characters. */
static int print_text(FILE *out, const char *text, size_t n, struct cov_err *e)
{
    char *copy = cov_strndup(text, n, e);
    if (!copy)
        return COV_ENOMEM;
    cov_make_printable(copy);
    (void)fputs(copy, out);
    free(copy);
    return COV_OK;
}

/* Prints "NAME: TEXT", or "DATA SET NAME: TEXT", after `indent`: a line for each line of the
 * text. */
static int print_attribute(const struct cov_chunk_attr *a, const char *indent, FILE *out,
                           struct cov_err *e)
{
    const char *line = a->text;
    int rc = COV_OK;
    do {
        size_t n = strcspn(line, "\n");
        (void)fputs(indent, out);
        if (a->set)
            rc = print_text(out, a->set, strlen(a->set), e);
        (void)fputs(a->set ? " " : "", out);
        if (!rc)
            rc = print_text(out, a->name, strlen(a->name), e);
        (void)fputs(": ", out);
        if (!rc)
            rc = print_text(out, line, n, e);
        (void)fputc('\n', out);
        line += n + (line[n] == '\n');
    } while (!rc && *line);
    return rc;
}

/* "14 x 21384 x 4" */
static void sizes_text(const size_t *sizes, int rank, char *buf, size_t n)
{
    size_t at = 0;
    buf[0] = '\0';
    for (int i = 0; i < rank && at < n; i++)
        at += (size_t)snprintf(buf + at, n - at, "%s%zu", i ? " x " : "", sizes[i]);
}

enum { NAME, TYPE, SHAPE, CHUNK, FILTERS, N_TEXTS };

static void set_texts(const struct set *set, char texts[N_TEXTS][300])
{
    const struct cov_h5_storage *s = &set->storage;
    (void)snprintf(texts[NAME], sizeof texts[0], "%s", set->name);
    cov_make_printable(texts[NAME]);
    (void)cov_h5_type_text(&s->type, texts[TYPE]);
    sizes_text(s->dims, s->rank, texts[SHAPE], sizeof texts[0]);
    sizes_text(s->chunk, s->chunked ? s->rank : 0, texts[CHUNK], sizeof texts[0]);
    (void)snprintf(texts[FILTERS], sizeof texts[0], "%s", s->filters[0] ? s->filters : "none");
    if (!s->chunked)
        (void)snprintf(texts[CHUNK], sizeof texts[0], "none");
}

/* Prints a table row padded to `widths`. The row of a stream is shorter, and its last text is not
 * padded. */
static void print_texts(FILE *out, char texts[N_TEXTS][300], const int *widths, bool is_stream)
{
    int n = is_stream ? CHUNK : N_TEXTS;
    for (int k = 0; k < n; k++)
        (void)fprintf(out, "  %-*s", k + 1 < n || !is_stream ? widths[k] : 0, texts[k]);
}

static void print_sets(const struct content *c, FILE *out)
{
    char heads[N_TEXTS][300] = {"dataset", "type", "shape", "chunk", "filters"},
         texts[N_TEXTS][300];
    int widths[N_TEXTS];
    for (int k = 0; k < N_TEXTS; k++)
        widths[k] = (int)strlen(heads[k]);
    for (size_t i = 0; i < c->n_sets; i++) {
        set_texts(&c->sets[i], texts);
        for (int k = 0; k < N_TEXTS; k++)
            if ((int)strlen(texts[k]) > widths[k])
                widths[k] = (int)strlen(texts[k]);
    }
    if (c->n_sets > 0) {
        print_texts(out, heads, widths, c->is_stream);
        (void)fputs(c->is_stream ? "\n" : "         bytes    a base\n", out);
    }
    for (size_t i = 0; i < c->n_sets; i++) {
        uint64_t bytes = c->sets[i].storage.stored_bytes;
        set_texts(&c->sets[i], texts);
        print_texts(out, texts, widths, c->is_stream);
        if (!c->is_stream)
            (void)fprintf(out, "  %12" PRIu64 "  %8.4f", bytes, per_base(c, (double)bytes));
        (void)fputc('\n', out);
    }
}

static int print_names(const struct cov_chunk_head *h, FILE *out, struct cov_err *e)
{
    for (size_t k = 0; k < h->n_tables; k++) {
        const struct cov_chunk_table *t = &h->tables[k];
        if (t->type.kind != COV_H5_STRING || t->rank != 1)
            continue;
        (void)fputs("  ", out);
        int rc = print_text(out, t->name, strlen(t->name), e);
        (void)fputc(':', out);
        for (size_t i = 0; i < t->dims[0] && !rc; i++) {
            const char *text = (const char *)t->elems + i * t->type.bytes;
            (void)fputs(i ? ", " : " ", out);
            rc = print_text(out, text, cov_h5_string_length(&t->type, text), e);
        }
        if (rc)
            return rc;
        (void)fputc('\n', out);
    }
    return COV_OK;
}

static int print_sequences(const struct content *c, FILE *out, struct cov_err *e)
{
    size_t n = c->n_sequences <= MAX_SEQUENCES ? c->n_sequences : MAX_SEQUENCES;
    (void)fprintf(out, "  %12s  %8s  %s\n", "length", "chunks", "sequence");
    for (size_t i = 0; i < n; i++) {
        const struct sequence *s = &c->sequences[i];
        (void)fprintf(out, "  %12" PRId64 "  %8zu  ", s->length, s->n_chunks);
        int rc = print_text(out, s->name, strlen(s->name), e);
        if (!rc && *s->species) {
            (void)fputs(" (", out);
            rc = print_text(out, s->species, strlen(s->species), e);
            (void)fputc(')', out);
        }
        if (rc)
            return rc;
        (void)fputc('\n', out);
    }
    if (c->n_sequences > n)
        (void)fprintf(out, "  ... and %zu more (--json lists them all)\n", c->n_sequences - n);
    return COV_OK;
}

static int print_table(const struct content *c, FILE *out, struct cov_err *e)
{
    int64_t longest = 0, shortest = INT64_MAX, whole = 0;
    for (size_t i = 0; i < c->n_sequences; i++) {
        int64_t n = c->sequences[i].length;
        longest = n > longest ? n : longest;
        shortest = n < shortest ? n : shortest;
        whole += n;
    }
    int rc = print_text(out, c->path, strlen(c->path), e);
    if (rc)
        return rc;
    (void)fprintf(out, ": %s%s\n",
                  strcmp(c->kind, "genome") == 0        ? "genome file"
                  : strcmp(c->kind, "predictions") == 0 ? "predictions file"
                                                        : "file of chunks",
                  c->is_stream ? ", as a stream" : "");
    (void)fprintf(out, "  chunks     %zu of %zu bases, in %zu pair%s\n", c->n_chunks, c->head->L,
                  c->n_pairs, cov_text_s((int64_t)c->n_pairs));
    if (c->layout)
        (void)fprintf(out, "  bases      %s\n",
                      strcmp(c->layout, "onehot") == 0 ? "one-hot" : "packed, two a byte");
    (void)fprintf(out, "  sequences  %zu, together %" PRId64 " bases", c->n_sequences, whole);
    if (c->n_sequences > 1)
        (void)fprintf(out, ", the longest %" PRId64 ", the shortest %" PRId64, longest, shortest);
    (void)fputc('\n', out);
    if (c->partial)
        (void)fprintf(out, "  partial    %" PRId64 " of these bases are here\n", c->n_bases);
    (void)fprintf(out, "  size       %" PRId64 " bytes, %.4f a base\n", c->file_bytes,
                  per_base(c, (double)c->file_bytes));
    for (size_t i = 0; i < c->head->n_attrs && !rc; i++)
        if (!c->head->attrs[i].set)
            rc = print_attribute(&c->head->attrs[i], "  attribute  ", out, e);
    print_sets(c, out);
    for (size_t i = 0; i < c->head->n_attrs && !rc; i++)
        if (c->head->attrs[i].set)
            rc = print_attribute(&c->head->attrs[i], "  ", out, e);
    if (!rc)
        rc = print_names(c->head, out, e);
    return rc ? rc : print_sequences(c, out, e);
}

/* Opens the file if it is a stream; otherwise sets *out to NULL. */
static int open_stream(const char *path, struct cov_stream **out, struct cov_err *e)
{
    struct cov_bgz *b = NULL;
    bool hdf5 = false, yes = false;
    *out = NULL;
    int rc = cov_h5_is_signed(path, &hdf5, e);
    if (rc || hdf5)
        return rc;
    rc = cov_bgz_open_read(path, 1, &b, e);
    if (!rc)
        rc = cov_stream_is(b, &yes, e);
    if (!rc && yes)
        return cov_stream_open(b, out, e);
    cov_bgz_abort(b);
    return rc;
}

/* Sums over files. */
struct sums {
    int64_t bases, chunks, sequences, bytes;
    bool has_text; /* a file has been printed as text */
};

static int tell(const struct sums *sums, struct cov_stats *stats, struct cov_err *e)
{
    stats->bases = sums->bases;
    stats->chunks = sums->chunks;
    const double bytes = (double)sums->bytes;
    const struct cov_stats_figure figures[] = {
        {"sequences", "Sequences", "sequences of the genome", .value = (double)sums->sequences},
        {"file_mb", "Size", "size of the file in MB", " MB", .decimals = 1, .value = bytes / 1e6},
        {"bytes_per_base", "Bytes/base", "size of the file in bytes per base", " B/bp",
         .decimals = 3, .value = sums->bases > 0 ? bytes / (double)sums->bases : (double)NAN},
    };
    return cov_stats_add_figures(stats, NULL, figures, COV_COUNT(figures), e);
}

static int show_chunks(const char *path, struct cov_json *j, FILE *out, struct sums *sums,
                       struct cov_err *e)
{
    struct cov_chunk_file *f = NULL;
    struct cov_stream *s = NULL;
    struct content c = {.path = NULL};
    int rc = open_stream(path, &s, e);
    if (!rc && !s)
        rc = cov_chunk_file_open(path, &f, e);
    if (!rc)
        rc = s ? look_at_stream(&c, path, s, e) : look_at_file(&c, path, f, e);
    if (!rc)
        rc = j ? put_json(&c, j, e) : print_table(&c, out, e);
    sums->bases += c.n_bases;
    sums->chunks += (int64_t)c.n_chunks;
    sums->sequences += (int64_t)c.n_sequences;
    sums->bytes += c.file_bytes;
    fini(&c);
    cov_chunk_file_close(f);
    cov_stream_close(s);
    return rc;
}

static int show(const char *path, struct cov_json *j, FILE *out, struct sums *sums,
                struct cov_err *e)
{
    int64_t n_bytes = 0;
    if (!cov_ckpt_info_applies(path))
        return show_chunks(path, j, out, sums, e);
    int rc = cov_ckpt_info(path, j, out, &n_bytes, e);
    sums->bytes += n_bytes;
    return rc;
}

/* Prints the text of a file that can be read, after an empty line if it is not the first one. */
static int show_text(const char *path, FILE *out, struct sums *sums, struct cov_err *e)
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    if (!f)
        return cov_fail(e, COV_ENOMEM, "%s: out of memory", path);
    int rc = show(path, NULL, f, sums, e);
    if ((fclose(f) || !text) && !rc) /* glibc may lose the text at the end, and say nothing */
        rc = cov_fail(e, COV_ENOMEM, "%s: out of memory", path);
    if (!rc) {
        (void)fprintf(out, "%s%s", sums->has_text ? "\n" : "", text);
        sums->has_text = true;
    }
    free(text);
    return rc;
}

int cov_chunk_info(char *const *paths, size_t n, bool json, FILE *out, struct cov_stats *stats,
                   struct cov_err *e)
{
    struct cov_json j;
    struct sums sums = {0};
    int rc = COV_OK;
    cov_json_init(&j, out);
    if (json) {
        cov_json_begin_object(&j, NULL);
        cov_json_begin_array(&j, "files");
    }
    for (size_t i = 0; i < n && rc != COV_ENOMEM; i++) {
        struct cov_err failure = COV_ERR_INIT;
        int failed = json ? show(paths[i], &j, out, &sums, &failure)
                          : show_text(paths[i], out, &sums, &failure);
        if (failed && rc)
            cov_warn("%s", failure.text);
        else if (failed)
            rc = cov_fail(e, failed, "%s", failure.text);
    }
    if (json && rc != COV_ENOMEM) {
        cov_json_end_array(&j);
        cov_json_end_object(&j);
    }
    return !rc && stats ? tell(&sums, stats, e) : rc;
}
