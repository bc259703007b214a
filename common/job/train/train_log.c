/* train_log.c - see train_log.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/train/train_log.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/file/outfile.h"
#include "common/file/path.h"
#include "common/file/tmpfile.h"

const char *const cov_train_quantity_names[COV_TRAIN_QUANTITIES + 1] = {
    [COV_VAL_LOSS] = "avg_val_loss",
    [COV_VAL_ACCURACY] = "avg_val_accuracy",
    [COV_TRAIN_LOSS] = "avg_train_loss",
    [COV_TRAIN_ACCURACY] = "avg_train_accuracy",
};

enum { TABLE, LINES, RUNS, N_FILES };
static const char *const file_names[N_FILES] = {COV_TRAIN_TABLE, "metrics.jsonl", "runs.jsonl"};

/* ---------------------------------------------------------------- events for TensorBoard */

/* A file of TFRecord records (length, masked CRC-32C, data), each with an Event in the wire format of
 * protocol buffers (tensorflow/core/util/event.proto). */
struct event_file {
    FILE *f;
    char *path;
    struct cov_newdir directory; /* its directory, if it was created */
};

/* CRC-32C (Castagnoli) of data[0..n). */
static uint32_t crc32c(const void *data, uint64_t n)
{
    const uint8_t *p = data;
    uint32_t crc = UINT32_MAX;
    for (uint64_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78U : 0);
    }
    return ~crc;
}

enum { MAX_EVENT = 128 }; /* the longest tag is "avg_train_accuracy" */

/* Field numbers and wire types. */
enum { WALL_TIME = 1, STEP = 2, FILE_VERSION = 3, SUMMARY = 5, SESSION_LOG = 7 };
enum { VALUE = 1, TAG = 1, SIMPLE_VALUE = 2 };
enum { STATUS = 1, STATUS_START = 1 };
enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

struct message {
    uint8_t data[MAX_EVENT];
    size_t n;
};

static void put_varint(struct message *m, uint64_t x)
{
    for (; x >= 0x80; x >>= 7)
        m->data[m->n++] = (uint8_t)(x | 0x80);
    m->data[m->n++] = (uint8_t)x;
}

static void put_little(struct message *m, uint64_t bits, int n)
{
    for (int i = 0; i < n; i++)
        m->data[m->n++] = (uint8_t)(bits >> (8 * i));
}

static void put_key(struct message *m, unsigned field, unsigned type)
{
    put_varint(m, field << 3 | type);
}

static void put_bytes(struct message *m, unsigned field, const void *data, size_t n)
{
    put_key(m, field, BYTES);
    put_varint(m, n);
    memcpy(m->data + m->n, data, n);
    m->n += n;
}

static void begin_event(struct message *m)
{
    struct timeval now;
    uint64_t bits;
    (void)gettimeofday(&now, NULL);
    double seconds = (double)now.tv_sec + 1e-6 * (double)now.tv_usec;
    memcpy(&bits, &seconds, sizeof bits);
    m->n = 0;
    put_key(m, WALL_TIME, FIXED64);
    put_little(m, bits, 8);
}

static uint32_t masked_crc(const void *data, uint64_t n)
{
    uint32_t crc = crc32c(data, n);
    return (crc >> 15 | crc << 17) + 0xa282ead8U;
}

static int write_record(struct event_file *f, const struct message *m, struct cov_err *e)
{
    struct message head = {.n = 0}, tail = {.n = 0};
    put_little(&head, m->n, 8);
    put_little(&head, masked_crc(head.data, 8), 4);
    put_little(&tail, masked_crc(m->data, m->n), 4);
    if (fwrite(head.data, 1, head.n, f->f) != head.n || fwrite(m->data, 1, m->n, f->f) != m->n ||
        fwrite(tail.data, 1, tail.n, f->f) != tail.n)
        return cov_fail_errno(e, "%s", f->path);
    return COV_OK;
}

static int flush_events(struct event_file *f, struct cov_err *e)
{
    return fflush(f->f) || ferror(f->f) ? cov_fail_errno(e, "%s", f->path) : COV_OK;
}

/* Marks the start at `step` (SessionLog.START): TensorBoard then hides this step and later ones from
 * older files in the directory. */
static int write_start(struct event_file *f, int64_t step, struct cov_err *e)
{
    struct message event, session = {.n = 0};
    put_key(&session, STATUS, VARINT);
    put_varint(&session, STATUS_START);
    begin_event(&event);
    put_key(&event, STEP, VARINT);
    put_varint(&event, (uint64_t)step);
    put_bytes(&event, SESSION_LOG, session.data, session.n);
    return write_record(f, &event, e);
}

/* Creates events.out.tfevents.SECONDS.HOST.PROCESS in the directory `dir`, which is created if missing.
 * The events start at `step`. */
static int open_events(const char *dir, int64_t step, struct event_file **out, struct cov_err *e)
{
    static const char version[] = "brain.Event:2";
    char host[65] = "localhost";
    struct message m;
    struct timeval now;
    *out = NULL;
    (void)gethostname(host, sizeof host - 1);
    (void)gettimeofday(&now, NULL);
    struct event_file *f = cov_calloc(1, sizeof *f, e);
    if (!f)
        return COV_ENOMEM;
    int rc = cov_newdir_make(&f->directory, dir, e);
    f->path = rc ? NULL
                 : cov_strfmt(e, "%s/events.out.tfevents.%lld.%s.%ld", dir, (long long)now.tv_sec,
                              host, (long)getpid());
    if (!rc && !f->path)
        rc = COV_ENOMEM;
    if (!rc) {
        f->f = fopen(f->path, "wbxe");
        if (!f->f)
            rc = cov_fail_errno(e, "%s", f->path);
    }
    if (!rc) {
        begin_event(&m);
        put_bytes(&m, FILE_VERSION, version, sizeof version - 1);
        rc = write_record(f, &m, e);
    }
    if (!rc)
        rc = write_start(f, step, e);
    if (!rc)
        rc = flush_events(f, e);
    if (!rc) {
        *out = f;
        return COV_OK;
    }
    if (f->f)
        (void)fclose(f->f);
    cov_newdir_fini(&f->directory);
    free(f->path);
    free(f);
    return rc;
}

/* Adds a scalar; it is written at the next flush. */
static int add_event(struct event_file *f, int64_t step, const char *tag, double value,
                     struct cov_err *e)
{
    struct message event, summary = {.n = 0}, item = {.n = 0};
    float v = (float)value;
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    put_bytes(&item, TAG, tag, strlen(tag));
    put_key(&item, SIMPLE_VALUE, FIXED32);
    put_little(&item, bits, 4);
    put_bytes(&summary, VALUE, item.data, item.n);
    begin_event(&event);
    put_key(&event, STEP, VARINT);
    put_varint(&event, (uint64_t)step);
    put_bytes(&event, SUMMARY, summary.data, summary.n);
    return write_record(f, &event, e);
}

static int close_events(struct event_file *f, struct cov_err *e)
{
    if (!f)
        return COV_OK;
    int rc = ferror(f->f) ? cov_fail(e, COV_EIO, "%s: incomplete", f->path) : COV_OK;
    if (fclose(f->f) && !rc)
        rc = cov_fail_errno(e, "%s", f->path);
    cov_newdir_fini(&f->directory);
    free(f->path);
    free(f);
    return rc;
}

/* ---------------------------------------------------------------- all logs */

struct cov_train_log {
    FILE *files[N_FILES];
    char *paths[N_FILES];
    struct cov_outfile outs[N_FILES]; /* replace existing files when the first epoch is complete */
    struct event_file *events;
};

bool cov_train_log_has_epochs(const char *path)
{
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t cap = 0;
    bool has = !f;
    while (f && !has && getline(&line, &cap, f) > 0)
        has = strncmp(line, "epoch ", 6) != 0 && strncmp(line, "0 ", 2) != 0;
    has = has || !feof(f); /* a failure */
    free(line);
    if (f)
        (void)fclose(f);
    return has;
}

/* Returns the number after `key` in a line; -1 if absent. */
static int64_t number_after(const char *line, const char *key)
{
    const char *at = strstr(line, key);
    char *end;
    if (!at)
        return -1;
    long long n = strtoll(at + strlen(key), &end, 10);
    return end > at + strlen(key) ? n : -1;
}

/* Returns the number after `key` in a line; NaN if absent. */
static double value_after(const char *line, const char *key)
{
    const char *at = strstr(line, key);
    char *end = NULL;
    const double x = at ? strtod(at + strlen(key), &end) : (double)NAN;
    return at && end > at + strlen(key) ? x : (double)NAN;
}

/* Returns true if a line has totals, which are plausible. */
static bool read_totals(const char *line, struct cov_train_totals *t)
{
    *t = (struct cov_train_totals){
        .n_runs = number_after(line, "\"runs\": "),
        .chunks = number_after(line, "\"chunks\": "),
        .bases = number_after(line, "\"bases\": "),
        .wall_seconds = value_after(line, "\"wall_seconds\": "),
        .cpu_seconds = value_after(line, "\"cpu_seconds\": "),
    };
    const int64_t most = INT64_MAX / 2; /* sums with this run do not overflow */
    return t->n_runs > 0 && t->n_runs < INT_MAX && t->chunks >= 0 && t->chunks <= most &&
           t->bases >= 0 && t->bases <= most && t->wall_seconds >= 0 && isfinite(t->wall_seconds) &&
           t->cpu_seconds >= 0 && isfinite(t->cpu_seconds);
}

/* Returns true if a line of the table is that of an epoch, and sets its values. */
static bool read_values(const char *line, int64_t epoch, double values[COV_TRAIN_QUANTITIES])
{
    char *end;
    double x[COV_TRAIN_QUANTITIES];
    if (strtoll(line, &end, 10) != epoch || end == line)
        return false;
    for (int i = 0; i < COV_TRAIN_QUANTITIES; i++) {
        const char *from = end;
        x[i] = strtod(from, &end);
        if (end == from)
            return false;
    }
    memcpy(values, x, sizeof x);
    return true;
}

int cov_train_log_read(const char *ckpt, int64_t epoch, int64_t step,
                       double values[COV_TRAIN_QUANTITIES], struct cov_train_totals *totals,
                       struct cov_err *e)
{
    static const int files[] = {TABLE, RUNS};
    char *line = NULL;
    size_t cap = 0;
    char *dir = cov_path_dir(ckpt, e);
    int rc = dir ? COV_OK : COV_ENOMEM;
    *totals = (struct cov_train_totals){0};
    for (size_t i = 0; !rc && i < COV_COUNT(files); i++) {
        char *path = cov_path_join(dir, file_names[files[i]], e);
        FILE *f = path ? fopen(path, "r") : NULL;
        struct cov_train_totals t;
        rc = path ? COV_OK : COV_ENOMEM;
        if (path && !f && errno != ENOENT)
            rc = cov_fail_errno(e, "%s", path);
        while (f && getline(&line, &cap, f) > 0) {
            if (!strchr(line, '\n'))
                continue; /* cut off when the run ended */
            if (files[i] == TABLE)
                (void)read_values(line, epoch, values);
            else if (number_after(line, "{\"step\": ") == step && read_totals(line, &t))
                *totals = t;
        }
        if (f && !feof(f))
            rc = cov_fail_errno(e, "%s", path);
        if (f)
            (void)fclose(f);
        free(path);
    }
    free(line);
    free(dir);
    return rc;
}

/* Returns true if a line is the header, or belongs to an epoch <= `epoch` or to a step <= `step`. */
static bool is_kept(int file, const char *line, int64_t epoch, int64_t step)
{
    if (!strchr(line, '\n'))
        return false; /* cut off when the run ended */
    if (file == TABLE)
        return strncmp(line, "epoch ", 6) == 0 ||
               (*line >= '0' && *line <= '9' && number_after(line, "") <= epoch);
    int64_t s = number_after(line, "{\"step\": "), n = number_after(line, "{\"epoch\": ");
    return (s >= 0 && s <= step) || (n >= 0 && n <= epoch);
}

/* Writes the kept lines to a new file, which will replace the old one. The old file may be
 * missing. */
static int keep_lines(int file, const char *path, int64_t epoch, int64_t step,
                      struct cov_outfile *out, struct cov_err *e)
{
    char *line = NULL;
    size_t cap = 0;
    FILE *from = epoch >= 0 || step > 0 ? fopen(path, "r") : NULL;
    if (!from && (epoch >= 0 || step > 0) && errno != ENOENT)
        return cov_fail_errno(e, "%s", path);
    int rc = cov_outfile_begin(out, path, COV_OUTFILE_BESIDE, true, e);
    FILE *to = rc ? NULL : fopen(out->tmp, "w");
    if (!rc && !to)
        rc = cov_fail_errno(e, "%s", path);
    bool has_head = false;
    while (!rc && from && getline(&line, &cap, from) > 0)
        if (is_kept(file, line, epoch, step)) {
            has_head = true;
            if (fputs(line, to) < 0)
                rc = cov_fail_errno(e, "%s", path);
        }
    if (!rc && from && !feof(from))
        rc = cov_fail_errno(e, "%s", path);
    for (int i = 0; !rc && file == TABLE && !has_head && i <= COV_TRAIN_QUANTITIES; i++)
        if (fprintf(to, "%s%s", i ? " " : "epoch", i ? cov_train_quantity_names[i - 1] : "") < 0 ||
            (i == COV_TRAIN_QUANTITIES && fputc('\n', to) == EOF))
            rc = cov_fail_errno(e, "%s", path);
    if (from)
        (void)fclose(from);
    if (to && fclose(to) && !rc)
        rc = cov_fail_errno(e, "%s", path);
    free(line);
    return rc;
}

int cov_train_log_open(const char *dir, const char *events, int64_t epoch, int64_t step,
                       bool replaces, struct cov_train_log **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_train_log *l = cov_calloc(1, sizeof *l, e);
    if (!l)
        return COV_ENOMEM;
    int rc = COV_OK;
    for (int i = 0; i < N_FILES; i++)
        l->outs[i] = (struct cov_outfile)COV_OUTFILE_INIT;
    for (int i = 0; !rc && i < N_FILES; i++) {
        l->paths[i] = cov_path_join(dir, file_names[i], e);
        rc = l->paths[i] ? keep_lines(i, l->paths[i], epoch, step, &l->outs[i], e) : COV_ENOMEM;
        /* The file keeps its new name. */
        if (!rc && !(l->files[i] = fopen(l->outs[i].tmp, "a")))
            rc = cov_fail_errno(e, "%s", l->paths[i]);
        if (!rc && !replaces)
            rc = cov_outfile_commit(&l->outs[i], e);
    }
    if (!rc && events)
        rc = open_events(events, step + 1, &l->events, e);
    if (!rc) {
        *out = l;
        return COV_OK;
    }
    int ignored = cov_train_log_close(l, NULL);
    (void)ignored;
    return rc;
}

static void put_json(FILE *f, const char *key, double value)
{
    if (isfinite(value))
        (void)fprintf(f, ", \"%s\": %.9g", key, value);
    else
        (void)fprintf(f, ", \"%s\": null", key);
}

/* Makes each step visible immediately, so that even a killed run has logged everything it did. */
static int flush_logs(struct cov_train_log *l, struct cov_err *e)
{
    for (int i = 0; i < N_FILES; i++)
        if (fflush(l->files[i]) || ferror(l->files[i]))
            return cov_fail_errno(e, "%s", l->paths[i]);
    return l->events ? flush_events(l->events, e) : COV_OK;
}

int cov_train_log_step(struct cov_train_log *l, const struct cov_train_step *s, struct cov_err *e)
{
    FILE *f = l->files[LINES];
    (void)fprintf(f, "{\"step\": %" PRId64, s->step);
    put_json(f, "loss", s->loss);
    put_json(f, "accuracy", s->accuracy);
    put_json(f, "learning_rate", s->learning_rate);
    (void)fputs("}\n", f);
    int rc = COV_OK;
    if (l->events) {
        rc = add_event(l->events, s->step, "loss", s->loss, e);
        if (!rc)
            rc = add_event(l->events, s->step, "accuracy", s->accuracy, e);
        if (!rc)
            rc = add_event(l->events, s->step, "learning_rate", s->learning_rate, e);
    }
    return rc ? rc : flush_logs(l, e);
}

int cov_train_log_commit(struct cov_train_log *l, struct cov_err *e)
{
    struct cov_outfile *const outs[N_FILES] = {&l->outs[TABLE], &l->outs[LINES], &l->outs[RUNS]};
    return cov_outfile_commit_all(outs, N_FILES, e);
}

int cov_train_log_epoch(struct cov_train_log *l, int64_t epoch, int64_t step,
                        const double values[COV_TRAIN_QUANTITIES], struct cov_err *e)
{
    (void)fprintf(l->files[TABLE], "%" PRId64, epoch);
    (void)fprintf(l->files[LINES], "{\"epoch\": %" PRId64, epoch);
    int rc = COV_OK;
    for (int i = 0; !rc && i < COV_TRAIN_QUANTITIES; i++) {
        (void)fprintf(l->files[TABLE], " %.9g", values[i]);
        put_json(l->files[LINES], cov_train_quantity_names[i], values[i]);
        if (l->events)
            rc = add_event(l->events, step, cov_train_quantity_names[i], values[i], e);
    }
    (void)fputc('\n', l->files[TABLE]);
    (void)fputs("}\n", l->files[LINES]);
    return rc;
}

int cov_train_log_sync(struct cov_train_log *l, struct cov_err *e)
{
    int rc = flush_logs(l, e);
    for (int i = 0; !rc && i < N_FILES; i++)
        if (fsync(fileno(l->files[i])))
            rc = cov_fail_errno(e, "%s", l->paths[i]);
    return rc;
}

int cov_train_log_totals(struct cov_train_log *l, int64_t step,
                         const struct cov_train_totals *earlier, const struct cov_train_totals *run,
                         struct cov_err *e)
{
    (void)fprintf(l->files[RUNS],
                  "{\"step\": %" PRId64 ", \"runs\": %" PRId64 ", \"chunks\": %" PRId64
                  ", \"bases\": %" PRId64 ", \"wall_seconds\": %.6f, \"cpu_seconds\": %.6f}\n",
                  step, earlier->n_runs + run->n_runs, earlier->chunks + run->chunks,
                  earlier->bases + run->bases, earlier->wall_seconds + run->wall_seconds,
                  earlier->cpu_seconds + run->cpu_seconds);
    return ferror(l->files[RUNS]) ? cov_fail_errno(e, "%s", l->paths[RUNS]) : COV_OK;
}

int cov_train_log_close(struct cov_train_log *l, struct cov_err *e)
{
    if (!l)
        return COV_OK;
    int rc = COV_OK;
    for (int i = 0; i < N_FILES; i++) {
        if (l->files[i] && ferror(l->files[i]) && !rc)
            rc = cov_fail(e, COV_EIO, "%s: incomplete", l->paths[i]);
        if (l->files[i] && fclose(l->files[i]) && !rc)
            rc = cov_fail_errno(e, "%s", l->paths[i]);
        cov_outfile_abort(&l->outs[i]);
        free(l->paths[i]);
    }
    int rc2 = close_events(l->events, rc ? NULL : e);
    free(l);
    return rc ? rc : rc2;
}
