/* toy_tool.c - a program with one option of every type, to test the common behaviour of tools.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/cli/tool.h"
#include "common/file/outfile.h"
#include "common/file/path.h"
#include "common/file/tmpfile.h"

struct toy {
    int act;
    int64_t number, size;
    double ratio;
    const char *model;
    struct cov_strings names;
    const char *shift;
};

enum act {
    ACT_PRINT,
    ACT_WRITE,
    ACT_FAIL,
    ACT_USAGE,
    ACT_NO_MEMORY,
    ACT_WAIT,
    ACT_FLOOD,
    ACT_WARN,
    ACT_CREATE,
};
static const char *const acts[] = {"print", "write", "fail", "usage",  "no-memory",
                                   "wait",  "flood", "warn", "create", NULL};

#define FIELD(name) offsetof(struct toy, name)
static const struct cov_opt options[] = {
    COV_OPT(ENUM, "act", 'a', FIELD(act), NULL, "what to do", .def = "print", .choices = acts),
    COV_OPT(INT, "number", 'n', FIELD(number), "N", "an integer", .def = "7", .min = -10,
            .max = 10),
    COV_OPT(SIZE, "size", 0, FIELD(size), "SIZE", "a size", .def = "1k"),
    COV_OPT(FLOAT, "ratio", 'r', FIELD(ratio), "X", "a number", .def = "0.5", .max = 1),
    COV_OPT(STRING, "model", 'm', FIELD(model), "FILE", "a file", .flags = COV_OPT_PATH_IN),
    COV_OPT(LIST, "name-list", 0, FIELD(names), "LIST", "names", .def = "a,b"),
    COV_OPT(STRING, "shift", 0, FIELD(shift), "A,B", "an optional value", .def = "4,-5",
            .flags = COV_OPT_OPTIONAL_VALUE),
    {.name = NULL},
};

static void print(const struct toy *toy, int n_operands, char **operands)
{
    (void)printf("number=%" PRId64 " size=%" PRId64 " ratio=%g shift=%s names=", toy->number,
                 toy->size, toy->ratio, toy->shift);
    for (size_t i = 0; i < toy->names.n; i++)
        (void)printf("%s%s", i ? "+" : "", toy->names.items[i]);
    for (int i = 0; i < n_operands; i++)
        (void)printf(" <%s>", operands[i]);
    (void)printf("\n");
}

/* Begins the output, reports "waiting", and waits for a signal. */
static int begin_and_wait(struct cov_outfile *out, const struct cov_common *c, struct cov_err *e)
{
    int rc = cov_outfile_begin(out, c->output, COV_OUTFILE_BESIDE, c->force, e);
    if (rc)
        return rc;
    (void)fputs("waiting\n", stderr);
    for (int i = 0; i < 6000; i++)
        (void)usleep(100000);
    return cov_fail(e, COV_EIO, "no signal came");
}

static void *wait_in_thread(void *arg)
{
    for (;;)
        (void)pause();
    return arg;
}

/* Creates a file with signals blocked, like cov_outfile_begin, but slowly, while another thread, as
 * of a library, does not block them. */
static int create_slowly(struct cov_outfile *out, const struct cov_common *c, struct cov_err *e)
{
    pthread_t thread;
    sigset_t before;
    char *name = cov_strdup("slow", e);
    if (!name || pthread_create(&thread, NULL, wait_in_thread, NULL) != 0)
        return COV_ENOMEM;
    cov_leftovers_block_signals(&before);
    FILE *f = fopen(name, "w");
    if (!f || fclose(f) != 0)
        return cov_fail_errno(e, "%s", name);
    (void)fputs("creating\n", stderr);
    (void)usleep(500000);
    int slot = cov_leftovers_add(COV_LEFTOVER_FILE, name, 0);
    cov_leftovers_restore_signals(&before);
    return slot < 0 ? COV_ENOMEM : begin_and_wait(out, c, e);
}

static int write_output(struct cov_outfile *out, const struct cov_common *c, struct cov_err *e)
{
    int rc = cov_outfile_begin(out, c->output, COV_OUTFILE_TABLE, c->force, e);
    if (rc)
        return rc;
    FILE *f = fopen(out->tmp, "w");
    if (!f)
        return cov_fail_errno(e, "%s", out->tmp);
    bool failed = fputs("whole\n", f) < 0;
    if (fclose(f) || failed)
        return cov_fail_errno(e, "%s", c->output);
    return cov_outfile_commit(out, e);
}

static int run(struct cov_common *c, void *config, const bool *given, int n_operands,
               char **operands, struct cov_err *e)
{
    const struct toy *toy = config;
    struct cov_outfile out = COV_OUTFILE_INIT;
    int rc = COV_OK;
    switch ((enum act)toy->act) {
    case ACT_PRINT:
        print(toy, n_operands, operands);
        (void)printf("threads=%" PRId64 " shift given=%d\n", c->threads, given[6]);
        break;
    case ACT_WRITE:
        c->stats.bases = 1000;
        cov_stats_add_stage(&c->stats, "write", 0.25);
        rc = write_output(&out, c, e);
        break;
    case ACT_FAIL:
        rc = cov_fail(e, COV_EINPUT, "%s: is damaged", operands[0]);
        break;
    case ACT_USAGE:
        rc = cov_fail(e, COV_EUSAGE, "that makes no sense");
        break;
    case ACT_NO_MEMORY:
        rc = cov_fail(e, COV_ENOMEM, "out of memory");
        break;
    case ACT_WAIT:
        rc = begin_and_wait(&out, c, e);
        break;
    case ACT_FLOOD:
        for (int i = 0; i < 1000000 && !rc; i++)
            if (puts("all work and no play makes a dull tool") < 0)
                rc = cov_fail_errno(e, "standard output");
        break;
    case ACT_WARN:
        cov_warn("careful");
        cov_info("by the way");
        cov_debug("in detail");
        break;
    case ACT_CREATE:
        rc = create_slowly(&out, c, e);
        break;
    }
    cov_outfile_abort(&out);
    return rc;
}

static void print_versions(FILE *f)
{
    (void)fputs("toylib 3.2.1\n", f);
}

int main(int argc, char **argv)
{
    static const struct cov_tool tool = {
        .name = "toy_tool",
        .summary = "does little",
        .synopsis = "[options] -o OUT INPUT...",
        .examples = "  toy_tool -o x y\n",
        .options = options,
        .config_bytes = sizeof(struct toy),
        .min_operands = 1,
        .max_operands = 2,
        .run = run,
        .print_versions = print_versions,
    };
    return cov_tool_main(&tool, argc, argv);
}
