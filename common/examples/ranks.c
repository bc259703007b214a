/* ranks.c - see ranks.h. Knows nothing of MPI; loads the plugin.
 *
 * Rows: a process knows how much memory it has to share only once it has all its rows; until then they
 * are in blocks. They are then moved to windows piece by piece, so that no more than one piece
 * exists twice. Blocks are mapped, since free() may not return memory to the system.
 * SPDX-License-Identifier: MIT */
#include "common/examples/ranks.h"

#include <assert.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/file/dynload.h"
#include "common/file/hash.h"

#define PLUGIN "covtools/covtools-mpi.so"
#define SYMBOL "cov_ranks_mpi"

/* Reads a number that the launcher put into the environment. */
static size_t environment_number(const char *const *names)
{
    for (; *names; names++) {
        const char *text = getenv(*names);
        char *end = NULL;
        long n = text ? strtol(text, &end, 10) : -1;
        if (text && end > text && !*end && n >= 0)
            return (size_t)n;
    }
    return 0;
}

size_t cov_ranks_expected(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", NULL};
    return environment_number(names);
}

/* What this process does if it fails: until it meets the others, and after that, it lets the first
 * report; once they know who failed, it reports or waits for its end. */
static enum { STARTS, MEETS_OTHERS, REPORTS, WAITS } turn;

void cov_ranks_let_first_report(void)
{
    /* Long enough even on a busy machine. Processes that meet in each step fail at the same time. */
    static const time_t seconds[] = {[STARTS] = 5, [MEETS_OTHERS] = 2, [REPORTS] = 0, [WAITS] = 10};
    const struct timespec time = {seconds[turn], 0};
    if (turn == WAITS || cov_ranks_expected() > 0)
        (void)nanosleep(&time, NULL);
}

static int load(struct cov_ranks *r, struct cov_err *e)
{
    const struct cov_ranks_ops *(*get)(void) = NULL;
    struct cov_err why = COV_ERR_INIT;
    char *path = cov_dynload_beside(PLUGIN, e);
    if (!path)
        return COV_ENOMEM;
    int rc = cov_dynload(path, RTLD_NOW | RTLD_GLOBAL, &r->plugin, &why);
    void *symbol = rc ? NULL : dlsym(r->plugin, SYMBOL);
    free(path);
    if (symbol) {
        memcpy(&get, &symbol, sizeof get);
        r->ops = get();
        return COV_OK;
    }
    if (rc == COV_EINPUT)
        return cov_fail(e, rc, "mpirun started several processes, but %s", why.text);
    return cov_fail(e, COV_EUNSUPPORTED,
                    "mpirun started several processes, but this build has no MPI: %s (with "
                    "libopenmpi-dev installed, `make` builds it)",
                    rc ? why.text : dlerror());
}

int cov_ranks_open(struct cov_ranks *r, struct cov_err *e)
{
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", NULL};
    *r = (struct cov_ranks){.n = 1};
    if (environment_number(sizes) < 2)
        return COV_OK;
    int rc = load(r, e);
    if (!rc)
        rc = r->ops->open(&r->rank, &r->n, e);
    if (!rc)
        turn = MEETS_OTHERS;
    return rc;
}

void cov_ranks_close(struct cov_ranks *r, bool failed)
{
    for (size_t i = 0; i < r->n_shared && !failed; i++)
        r->ops->unshare(r->shared[i]);
    free(r->shared);
    if (failed && r->n_failed > 0)
        turn = r->first_failed == r->rank ? REPORTS : WAITS;
    if (r->ops && !failed)
        r->ops->close();
    *r = (struct cov_ranks){.n = 1}; /* the plugin stays loaded: MPI cannot be unloaded */
}

int cov_ranks_sum(void *arg, double *v, size_t n, struct cov_err *e)
{
    const struct cov_ranks *r = arg;
    return r->ops ? r->ops->sum(v, n, e) : COV_OK;
}

int cov_ranks_agree(struct cov_ranks *r, int rc, struct cov_err *e)
{
    double *failed = r->n > 1 ? cov_calloc(r->n, sizeof *failed, e) : NULL;
    if (!failed)
        return rc || r->n < 2 ? rc : COV_ENOMEM;
    failed[r->rank] = rc != COV_OK;
    int sum_rc = cov_ranks_sum(r, failed, r->n, e);
    for (size_t k = r->n; !sum_rc && k-- > 0;)
        if (failed[k] > 0) {
            r->n_failed++;
            r->first_failed = k;
        }
    free(failed);
    if (!rc && r->n_failed > 0)
        rc = cov_fail(e, COV_EINPUT, "rank %zu failed", r->first_failed);
    return rc ? rc : sum_rc;
}

uint64_t cov_text_fingerprint(const char *text)
{
    return cov_fingerprint(0, text, strlen(text) + 1);
}

/* What a process tells the others: characters of its host's name, and the halves of fingerprints. Sums
 * with zeros are exact. */
enum { HOST = 64 };

static void put_row(double *row, const struct cov_rank_item *items, size_t n)
{
    char host[HOST] = "";
    (void)gethostname(host, sizeof host - 1);
    for (size_t i = 0; i < HOST; i++)
        row[i] = (unsigned char)host[i];
    for (size_t i = 0; i < n; i++) {
        row[HOST + 2 * i] = (double)(items[i].fingerprint >> 32);
        row[HOST + 2 * i + 1] = (double)(uint32_t)items[i].fingerprint;
    }
}

static int fail_item(const double *row, size_t rank, const char *name, struct cov_err *e)
{
    char host[HOST];
    for (size_t i = 0; i < HOST; i++)
        host[i] = (char)row[i];
    return cov_fail(e, COV_EINPUT,
                    "%s: not the same in rank %zu on host %s; all processes need the same files, "
                    "options and version",
                    name, rank, host);
}

int cov_ranks_compare(struct cov_ranks *r, const struct cov_rank_item *items, size_t n,
                      struct cov_err *e)
{
    if (r->n < 2)
        return COV_OK;
    size_t most = 0, width;
    double *counts = cov_calloc(r->n, sizeof *counts, e), *rows = NULL;
    int rc = counts ? COV_OK : COV_ENOMEM;
    if (!rc) {
        counts[r->rank] = (double)n;
        rc = cov_ranks_sum(r, counts, r->n, e);
    }
    for (size_t k = 0; !rc && k < r->n; k++)
        most = counts[k] > (double)most ? (size_t)counts[k] : most;
    width = HOST + 2 * most;
    rows = rc ? NULL : cov_calloc(r->n * width, sizeof *rows, e);
    if (rows) {
        put_row(rows + r->rank * width, items, n);
        rc = cov_ranks_sum(r, rows, r->n * width, e);
    } else if (!rc) {
        rc = COV_ENOMEM;
    }
    for (size_t k = 1; !rc && k < r->n; k++) {
        const double *row = rows + k * width;
        size_t i = HOST;
        while (i < width && row[i] == rows[i])
            i++;
        i = (i - HOST) / 2;
        if (i < most || counts[k] != counts[0])
            rc = fail_item(row, k, i < n ? items[i].name : "further files", e);
    }
    free(counts);
    free(rows);
    return rc;
}

/* Hashes the name and all bytes of a file. Reading it once more costs little: training reads it in each
 * epoch, and now finds it in memory. */
static int describe_file(const char *path, struct cov_rank_item *item, struct cov_err *e)
{
    const char *name = strrchr(path, '/');
    uint64_t hash = 0;
    int64_t n_bytes;
    const int rc = cov_fingerprint_file(path, NULL, &hash, &n_bytes, e);
    hash ^= cov_text_fingerprint(name ? name + 1 : path);
    *item = (struct cov_rank_item){path, hash};
    return rc;
}

int cov_ranks_compare_files(struct cov_ranks *r, const char *const *paths, size_t n,
                            struct cov_err *e)
{
    if (r->n < 2)
        return COV_OK;
    struct cov_rank_item *items = cov_calloc(n, sizeof *items, e);
    int rc = items ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; !rc && i < n; i++)
        rc = describe_file(paths[i], &items[i], e);
    if (!rc)
        rc = cov_ranks_compare(r, items, n, e);
    free(items);
    return rc;
}

int cov_ranks_name(const struct cov_ranks *r, int code, struct cov_err *e)
{
    char host[HOST] = "";
    (void)gethostname(host, sizeof host - 1);
    return r->rank == 0 ? code : cov_err_prefix(e, code, "rank %zu on host %s", r->rank, host);
}

/* ---------------------------------------------------------------- rows */

enum { BLOCK_BYTES = 1 << 22, MAX_PIECES = 16 };

struct rank_block {
    uint8_t *data;
    size_t used, size;
};

struct cov_rank_rows {
    struct cov_ranks *ranks;
    size_t n_rows;
    size_t *firsts; /* [ranks->n + 1] */
    double *sizes;  /* [n_rows]: bytes of rows of this process; freed by publish */
    size_t *at;     /* [n_rows + 1]: offsets of rows in the concatenation of all rows */
    struct rank_block *blocks;
    size_t n_blocks, cap_blocks;
    size_t piece_bytes; /* of each piece except the last of a process */
    void *windows[MAX_PIECES];
    size_t n_pieces;
    bool in_flight[MAX_PIECES]; /* a transfer was started */
};

int cov_rank_rows_new(struct cov_ranks *ranks, size_t n_rows, const size_t *firsts,
                      struct cov_rank_rows **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_rank_rows *k = cov_calloc(1, sizeof *k, e);
    if (!k)
        return COV_ENOMEM;
    k->ranks = ranks;
    k->n_rows = n_rows;
    k->firsts = cov_malloc(ranks->n + 1, sizeof *k->firsts, e);
    k->sizes = cov_calloc(n_rows, sizeof *k->sizes, e);
    k->at = cov_calloc(n_rows + 1, sizeof *k->at, e);
    if (!k->firsts || !k->sizes || !k->at) {
        cov_rank_rows_free(k);
        return COV_ENOMEM;
    }
    memcpy(k->firsts, firsts, (ranks->n + 1) * sizeof *k->firsts);
    *out = k;
    return COV_OK;
}

static void free_block(struct rank_block *b)
{
    if (b->data)
        (void)munmap(b->data, b->size);
    b->data = NULL;
}

void cov_rank_rows_free(struct cov_rank_rows *k)
{
    if (!k)
        return;
    for (size_t i = 0; i < k->n_blocks; i++)
        free_block(&k->blocks[i]);
    free(k->blocks);
    free(k->firsts);
    free(k->sizes);
    free(k->at);
    free(k);
}

/* Makes sure that the last block has n free bytes. */
static int make_room(struct cov_rank_rows *k, size_t n, struct cov_err *e)
{
    const struct rank_block *last = k->n_blocks > 0 ? &k->blocks[k->n_blocks - 1] : NULL;
    if (last && n <= last->size - last->used)
        return COV_OK;
    int rc = COV_RESERVE(&k->blocks, &k->cap_blocks, k->n_blocks + 1, e);
    if (rc)
        return rc;
    struct rank_block b = {.size = n > BLOCK_BYTES ? n : BLOCK_BYTES};
    void *data = mmap(NULL, b.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED)
        return cov_fail(e, COV_ENOMEM, "out of memory: cannot map %zu bytes for chunks", b.size);
    b.data = data;
    k->blocks[k->n_blocks++] = b;
    return COV_OK;
}

int cov_rank_rows_put(struct cov_rank_rows *k, size_t i, const uint8_t *data, size_t n,
                      struct cov_err *e)
{
    assert(n > 0 && i >= k->firsts[k->ranks->rank] && i < k->firsts[k->ranks->rank + 1]);
    int rc = make_room(k, n, e);
    if (rc)
        return rc;
    struct rank_block *b = &k->blocks[k->n_blocks - 1];
    memcpy(b->data + b->used, data, n);
    b->used += n;
    k->sizes[i] = (double)n;
    return COV_OK;
}

static size_t share_bytes(const struct cov_rank_rows *k, size_t rank)
{
    return k->at[k->firsts[rank + 1]] - k->at[k->firsts[rank]];
}

int cov_ranks_share(struct cov_ranks *r, size_t n, void **window, void **base, struct cov_err *e)
{
    int rc = COV_RESERVE(&r->shared, &r->cap_shared, r->n_shared + 1, e);
    if (!rc)
        rc = r->ops->share(n, window, base, e);
    if (!rc)
        r->shared[r->n_shared++] = *window;
    return rc;
}

/* Shares the piece that starts at byte `beg`. The first *done bytes of block **from were shared
 * before. */
static int move_piece(struct cov_rank_rows *k, size_t beg, struct rank_block **from, size_t *done,
                      struct cov_err *e)
{
    size_t n = share_bytes(k, k->ranks->rank), i = k->n_pieces;
    n = n > beg ? n - beg : 0;
    n = n < k->piece_bytes ? n : k->piece_bytes;
    void *base = NULL;
    int rc = cov_ranks_share(k->ranks, n, &k->windows[i], &base, e);
    if (rc)
        return rc;
    k->n_pieces++;
    for (uint8_t *to = base; n > 0;) {
        size_t left = (*from)->used - *done, part = n < left ? n : left;
        memcpy(to, (*from)->data + *done, part);
        to += part;
        n -= part;
        *done += part;
        if (*done == (*from)->used) {
            free_block((*from)++);
            *done = 0;
        }
    }
    return k->ranks->ops->publish(k->windows[i], e);
}

int cov_rank_rows_publish(struct cov_rank_rows *k, struct cov_err *e)
{
    int rc = cov_ranks_sum(k->ranks, k->sizes, k->n_rows, e);
    if (rc)
        return rc;
    for (size_t i = 0; i < k->n_rows; i++)
        k->at[i + 1] = k->at[i] + (size_t)k->sizes[i];
    free(k->sizes);
    k->sizes = NULL;
    size_t most = 0;
    for (size_t i = 0; i < k->ranks->n; i++)
        most = share_bytes(k, i) > most ? share_bytes(k, i) : most;
    k->piece_bytes = (most + MAX_PIECES - 1) / MAX_PIECES;
    if (k->piece_bytes < BLOCK_BYTES)
        k->piece_bytes = BLOCK_BYTES;
    struct rank_block *from = k->blocks;
    size_t done = 0;
    for (size_t beg = 0; !rc && beg < most; beg += k->piece_bytes)
        rc = move_piece(k, beg, &from, &done, e);
    return rc;
}

size_t cov_rank_rows_bytes(const struct cov_rank_rows *k, size_t i)
{
    return k->at[i + 1] - k->at[i];
}

/* Returns the process that has row i: the last one whose share begins at or before it. */
static size_t owner_of(const struct cov_rank_rows *k, size_t i)
{
    size_t low = 0, high = k->ranks->n;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (k->firsts[middle] <= i)
            low = middle;
        else
            high = middle;
    }
    return low;
}

int cov_rank_rows_get(struct cov_rank_rows *k, size_t i, struct cov_blob *row, struct cov_err *e)
{
    size_t n = cov_rank_rows_bytes(k, i), owner = owner_of(k, i);
    size_t at = k->at[i] - k->at[k->firsts[owner]];
    uint8_t *to;
    cov_blob_clear(row);
    int rc = cov_blob_room(row, n, &to, e);
    if (!rc)
        rc = cov_blob_end_piece(row, n, e);
    while (!rc && n > 0) {
        size_t piece = at / k->piece_bytes, in_piece = at % k->piece_bytes;
        size_t left = k->piece_bytes - in_piece, part = n < left ? n : left;
        rc = k->ranks->ops->get(k->windows[piece], owner, in_piece, part, to, e);
        k->in_flight[piece] = true;
        to += part;
        at += part;
        n -= part;
    }
    return rc;
}

int cov_rank_rows_complete(struct cov_rank_rows *k, struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < k->n_pieces; i++)
        if (k->in_flight[i]) {
            k->in_flight[i] = false;
            rc = k->ranks->ops->complete(k->windows[i], e);
        }
    return rc;
}
