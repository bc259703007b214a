/* bench_loader - how fast bases are read back: a file as Helixer writes it, by libhdf5 row by row
 * as usual, against what loader.h does with it and with its other forms. bench_loader FASTA FOLDER
 * Writes its files to FOLDER. Prints the bases of both strands that come a second, as codes (of
 * libhdf5, as the four halves that are stored), on one and on two threads: the median of several
 * passes over the whole file, which is in the system's cache, and the best of them; and on one
 * thread, the median by the CPU's time, which other programs disturb less.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <hdf5.h>

#include "common/base/clock.h"
#include "common/base/mem.h"
#include "common/base/path.h"
#include "common/base/ring.h"
#include "common/base/stats.h"
#include "common/job/loader.h"
#include "common/seq/alphabet.h"
#include "common/store/chunk_file.h"

/* As many pairs at a time as covpredict takes. */
enum { CHUNK = 21384, N_PAIRS = 8, N_PASSES = 7, MAX_THREADS = 2 };

/* ---------------------------------------------------------------- through the loader */

struct pass {
    struct cov_loader *loader;
    size_t L;
    struct slot {
        size_t n;
        struct cov_loader_item items[N_PAIRS];
        struct cov_blob raw[N_PAIRS][2];
    } slots[2 * MAX_THREADS];
    uint8_t *codes; /* two chunks a worker */
    int64_t n_bases;
};

static int fetch(void *arg, size_t slot, uint64_t n, struct cov_err *e)
{
    (void)n;
    struct pass *p = arg;
    struct slot *s = &p->slots[slot];
    int got = 1;
    for (s->n = 0; s->n < N_PAIRS && got > 0; s->n += got > 0) {
        got = cov_loader_next(p->loader, &s->items[s->n], s->raw[s->n], e);
        if (got > 0)
            p->n_bases += 2 * (s->items[s->n].end - s->items[s->n].beg);
    }
    return got < 0 ? got : s->n > 0;
}

static int decode(void *arg, size_t slot, unsigned worker, struct cov_err *e)
{
    struct pass *p = arg;
    struct slot *s = &p->slots[slot];
    uint8_t *first = p->codes + 2 * p->L * worker, *const codes[2] = {first, first + p->L};
    int rc = COV_OK;
    for (size_t k = 0; !rc && k < s->n; k++)
        rc = cov_loader_codes(p->loader, &s->items[k], s->raw[k], codes, e);
    return rc;
}

static int done(void *arg, size_t slot, uint64_t n, struct cov_err *e)
{
    (void)arg;
    (void)slot;
    (void)n;
    (void)e;
    return COV_OK;
}

static int run_pass(struct pass *p, struct cov_pool *pool, struct cov_err *e)
{
    static const struct cov_ring_stages stages = {fetch, decode, done};
    p->n_bases = 0;
    int rc = cov_loader_rewind(p->loader, 0, e);
    return rc ? rc : cov_ring_run(pool, cov_ring_slots(pool), &stages, p, NULL, e);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Seconds of a pass: of the clock, and of all threads. */
struct seconds {
    double wall[N_PASSES], cpu[N_PASSES];
};

static double cpu_clock(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void start_pass(struct seconds *s, int pass)
{
    s->wall[pass] = -cov_clock();
    s->cpu[pass] = -cpu_clock();
}

static void end_pass(struct seconds *s, int pass)
{
    s->wall[pass] += cov_clock();
    s->cpu[pass] += cpu_clock();
}

static void print_rates(struct seconds *s, unsigned n_threads, int64_t n_bases)
{
    double mbp = (double)n_bases / 1e6;
    qsort(s->wall, N_PASSES, sizeof *s->wall, ascending);
    qsort(s->cpu, N_PASSES, sizeof *s->cpu, ascending);
    if (n_threads == 1)
        printf(" %8.0f", mbp / s->cpu[N_PASSES / 2]);
    printf(" %8.0f %8.0f", mbp / s->wall[N_PASSES / 2], mbp / s->wall[0]);
}

static int measure(const char *label, const char *path, enum cov_loading loading, struct cov_err *e)
{
    printf("%-34s", label);
    for (unsigned n_threads = 1; n_threads <= MAX_THREADS; n_threads++) {
        static struct pass p;
        const struct cov_loader_options options = {
            .chunk_length = CHUNK,
            .genome = {.tmpdir = ".", .n_threads = 1},
            .loading = loading,
        };
        struct seconds seconds;
        struct cov_pool *pool = NULL;
        memset(&p, 0, sizeof p);
        int rc = cov_loader_open(path, &options, NULL, &p.loader, e);
        if (!rc)
            rc = cov_pool_new(n_threads, &pool, e);
        if (!rc)
            rc = cov_loader_load(p.loader, pool, NULL, e);
        if (!rc) {
            p.L = cov_loader_chunk_length(p.loader);
            p.codes = cov_malloc(2 * p.L, n_threads, e);
            rc = p.codes ? run_pass(&p, pool, e) : COV_ENOMEM; /* warms up */
        }
        for (int pass = 0; !rc && pass < N_PASSES; pass++) {
            start_pass(&seconds, pass);
            rc = run_pass(&p, pool, e);
            end_pass(&seconds, pass);
        }
        if (!rc)
            print_rates(&seconds, n_threads, p.n_bases);
        for (size_t i = 0; i < COV_COUNT(p.slots); i++)
            for (size_t k = 0; k < N_PAIRS; k++) {
                cov_blob_fini(&p.slots[i].raw[k][COV_PLUS]);
                cov_blob_fini(&p.slots[i].raw[k][COV_MINUS]);
            }
        free(p.codes);
        cov_loader_close(p.loader);
        cov_pool_free(pool);
        if (rc)
            return rc;
    }
    printf("\n");
    return COV_OK;
}

/* ---------------------------------------------------------------- the files */

struct copy {
    struct cov_chunk_writer *writer;
    hid_t x; /* or a data set that libhdf5 fills */
    size_t L;
    uint16_t *halves;
    struct cov_blob blob;
};

static int put_row(void *arg, const struct cov_loader_item *item, uint8_t *const codes[2],
                   struct cov_err *e)
{
    struct copy *c = arg;
    for (int s = COV_PLUS; s <= COV_MINUS; s++) {
        const uint8_t *const row[] = {codes[s]};
        cov_blob_clear(&c->blob);
        int rc = cov_chunk_writer_encode(c->writer, 1, row, NULL, &c->blob, e);
        if (!rc)
            rc = cov_chunk_writer_put(c->writer, item->rows[s], &c->blob, 0, e);
        if (rc)
            return rc;
    }
    return COV_OK;
}

/* The rows [row, row + 1) of X. */
static hid_t select_row(hid_t x, size_t row, size_t L)
{
    hid_t space = H5Dget_space(x);
    const hsize_t at[3] = {row, 0, 0}, count[3] = {1, L, 4};
    (void)H5Sselect_hyperslab(space, H5S_SELECT_SET, at, NULL, count, NULL);
    return space;
}

static hid_t row_space(size_t L)
{
    const hsize_t dims[3] = {1, L, 4};
    return H5Screate_simple(3, dims, NULL);
}

static int put_row_by_libhdf5(void *arg, const struct cov_loader_item *item,
                              uint8_t *const codes[2], struct cov_err *e)
{
    struct copy *c = arg;
    hid_t type = H5Dget_type(c->x), memory = row_space(c->L);
    int rc = COV_OK;
    for (int s = COV_PLUS; !rc && s <= COV_MINUS; s++) {
        hid_t space = select_row(c->x, item->rows[s], c->L);
        for (size_t t = 0; t < c->L; t++)
            memcpy(c->halves + 4 * t, cov_onehot_f16[codes[s][t]], 8);
        if (H5Dwrite(c->x, type, memory, space, H5P_DEFAULT, c->halves) < 0)
            rc = cov_fail(e, COV_EIO, "libhdf5 cannot write row %zu", item->rows[s]);
        (void)H5Sclose(space);
    }
    (void)H5Sclose(memory);
    (void)H5Tclose(type);
    return rc;
}

/* All pairs of the FASTA go to `use`, one after the other. */
static int copy_pairs(struct cov_loader *loader, struct copy *c,
                      int (*use)(void *, const struct cov_loader_item *, uint8_t *const[2],
                                 struct cov_err *),
                      struct cov_err *e)
{
    struct cov_loader_item item;
    struct cov_blob raw[2] = {COV_BLOB_INIT, COV_BLOB_INIT};
    uint8_t *codes = cov_malloc(2, c->L, e);
    int rc = codes ? cov_loader_rewind(loader, 0, e) : COV_ENOMEM, got = 0;
    while (!rc && (got = cov_loader_next(loader, &item, raw, e)) > 0) {
        uint8_t *const both[2] = {codes, codes + c->L};
        rc = cov_loader_codes(loader, &item, raw, both, e);
        if (!rc)
            rc = use(c, &item, both, e);
    }
    free(codes);
    cov_blob_fini(&raw[0]);
    cov_blob_fini(&raw[1]);
    return rc ? rc : got;
}

static int write_file(struct cov_loader *loader, const char *path, enum cov_layout layout,
                      struct cov_err *e)
{
    const struct cov_chunk_writer_options how = {layout, {COV_CODEC_GZIP, 0}, 1};
    const struct cov_chunk_head head = {.L = CHUNK, .has_bases = true};
    struct copy c = {.L = CHUNK};
    int rc = cov_chunk_writer_new(path, &head, &how, &c.writer, e);
    if (rc)
        return rc;
    rc = copy_pairs(loader, &c, put_row, e);
    if (rc)
        cov_chunk_writer_abort(c.writer);
    else
        rc = cov_chunk_writer_finish(c.writer, cov_loader_grid(loader), e);
    cov_blob_fini(&c.blob);
    return rc;
}

/* The bases of a file of ours are replaced by what libhdf5 and zlib make of them, with Helixer's
 * filters: shuffle, gzip 4. */
static int write_as_helixer(struct cov_loader *loader, const char *path, struct cov_err *e)
{
    int rc = write_file(loader, path, COV_LAYOUT_ONEHOT, e);
    if (rc)
        return rc;
    struct copy c = {.L = CHUNK, .halves = cov_malloc(CHUNK, 8, e)};
    if (!c.halves)
        return COV_ENOMEM;
    const hsize_t dims[3] = {cov_grid_n_chunks(cov_loader_grid(loader)), CHUNK, 4},
                  chunk[3] = {1, CHUNK, 4};
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t old = H5Dopen2(file, "data/X", H5P_DEFAULT), type = H5Dget_type(old);
    (void)H5Dclose(old);
    (void)H5Ldelete(file, "data/X", H5P_DEFAULT);
    hid_t space = H5Screate_simple(3, dims, NULL), how = H5Pcreate(H5P_DATASET_CREATE);
    (void)H5Pset_chunk(how, 3, chunk);
    (void)H5Pset_shuffle(how);
    (void)H5Pset_deflate(how, 4);
    c.x = H5Dcreate2(file, "data/X", type, space, H5P_DEFAULT, how, H5P_DEFAULT);
    if (c.x < 0)
        rc = cov_fail(e, COV_EIO, "%s: libhdf5 cannot write it", path);
    if (!rc)
        rc = copy_pairs(loader, &c, put_row_by_libhdf5, e);
    (void)H5Dclose(c.x);
    (void)H5Pclose(how);
    (void)H5Sclose(space);
    (void)H5Tclose(type);
    if (H5Fclose(file) < 0 && !rc)
        rc = cov_fail(e, COV_EIO, "%s: libhdf5 cannot write it", path);
    free(c.halves);
    return rc;
}

/* ---------------------------------------------------------------- through libhdf5 */

/* Today's way: one row after the other with H5Dread, in the type that is stored. It has no second
 * thread. */
static int measure_libhdf5(const char *label, const char *path, struct cov_err *e)
{
    uint16_t *halves = cov_malloc(CHUNK, 8, e);
    if (!halves)
        return COV_ENOMEM;
    int rc = COV_OK;
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t x = H5Dopen2(file, "data/X", H5P_DEFAULT), type = H5Dget_type(x);
    hid_t memory = row_space(CHUNK), all = H5Dget_space(x);
    hsize_t dims[3] = {0, 0, 0};
    (void)H5Sget_simple_extent_dims(all, dims, NULL);
    struct seconds seconds;
    int64_t n_bases = (int64_t)(dims[0] * CHUNK); /* with padding, in favour of libhdf5 */
    for (int pass = 0; !rc && pass < N_PASSES; pass++) {
        start_pass(&seconds, pass);
        for (size_t row = 0; !rc && row < dims[0]; row++) {
            hid_t space = select_row(x, row, CHUNK);
            if (H5Dread(x, type, memory, space, H5P_DEFAULT, halves) < 0)
                rc = cov_fail(e, COV_EIO, "%s: libhdf5 cannot read row %zu", path, row);
            (void)H5Sclose(space);
        }
        end_pass(&seconds, pass);
    }
    if (!rc) {
        printf("%-34s", label);
        print_rates(&seconds, 1, n_bases);
        printf(" %8s %8s\n", "-", "-");
    }
    (void)H5Sclose(all);
    (void)H5Sclose(memory);
    (void)H5Tclose(type);
    (void)H5Dclose(x);
    (void)H5Fclose(file);
    free(halves);
    return rc;
}

static int run(const char *fasta, const char *folder, struct cov_err *e)
{
    const struct cov_loader_options options = {
        .chunk_length = CHUNK,
        .genome = {.tmpdir = folder, .n_threads = 1},
    };
    struct cov_loader *loader = NULL;
    char *helixer = cov_path_join(folder, "helixer.h5", e);
    char *ours = cov_path_join(folder, "onehot.h5", e);
    char *packed = cov_path_join(folder, "packed.h5", e);
    int rc = helixer && ours && packed ? COV_OK : COV_ENOMEM;
    if (!rc)
        rc = cov_loader_open(fasta, &options, NULL, &loader, e);
    if (!rc)
        rc = write_as_helixer(loader, helixer, e);
    if (!rc)
        rc = write_file(loader, ours, COV_LAYOUT_ONEHOT, e);
    if (!rc)
        rc = write_file(loader, packed, COV_LAYOUT_PACKED, e);
    cov_loader_close(loader);
    printf("%-34s %26s %17s\n%-34s %8s %8s %8s %8s %8s\n", "", "1 thread", "2 threads",
           "Mbp/s of both strands", "of CPU", "median", "best", "median", "best");
    if (!rc)
        rc = measure_libhdf5("Helixer's file, libhdf5", helixer, e);
    if (!rc)
        rc = measure("Helixer's file, disk", helixer, COV_LOAD_DISK, e);
    if (!rc)
        rc = measure("Helixer's file, ram", helixer, COV_LOAD_RAM, e);
    if (!rc)
        rc = measure("one-hot of fasta2h5, disk", ours, COV_LOAD_DISK, e);
    if (!rc)
        rc = measure("one-hot of fasta2h5, ram", ours, COV_LOAD_RAM, e);
    if (!rc)
        rc = measure("packed, disk", packed, COV_LOAD_DISK, e);
    if (!rc)
        rc = measure("packed, ram", packed, COV_LOAD_RAM, e);
    if (!rc)
        rc = measure("FASTA, disk", fasta, COV_LOAD_DISK, e);
    if (!rc)
        rc = measure("any, ram-packed", helixer, COV_LOAD_RAM_PACKED, e);
    free(helixer);
    free(ours);
    free(packed);
    return rc;
}

int main(int argc, char **argv)
{
    struct cov_err e = COV_ERR_INIT;
    if (argc != 3) {
        (void)fprintf(stderr, "usage: bench_loader FASTA FOLDER\n");
        return 2;
    }
    if (run(argv[1], argv[2], &e)) {
        (void)fprintf(stderr, "bench_loader: %s\n", e.text);
        return 1;
    }
    return 0;
}
