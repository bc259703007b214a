/* tool.c - see tool.h.
 * SPDX-License-Identifier: MIT */
#include "common/base/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stdio_ext.h>

#include "common/base/cpu.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/outfile.h"
#include "common/base/path.h"
#include "common/base/pool.h"

enum exit_status {
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_NO_MEMORY = 128 + SIGKILL, /* as if the kernel had ended us for it */
    EXIT_NO_READER = 128 + SIGPIPE,
};

/* ---------------------------------------------------------------- the common options */

struct own {
    struct cov_common common;
    int progress; /* enum cov_progress_mode */
    bool help, help_machine, version;
};

static const char *const progress_modes[] = {"auto", "bar", "lines", "none", NULL};

#define FIELD(name) offsetof(struct own, name)

static const struct cov_opt common_options[] = {
    {.name = "output",
     .letter = 'o',
     .type = COV_OPT_STRING,
     .flags = COV_OPT_PATH_OUT,
     .field = FIELD(common.output),
     .metavar = "PATH",
     .help = "where the result goes"},
    {.name = "threads",
     .letter = '@',
     .type = COV_OPT_INT,
     .field = FIELD(common.threads),
     .metavar = "N",
     .min = 1,
     .max = 1024,
     .help = "threads that compute, all of them; without it, as many as CPU affinity and cgroup "
             "allow"},
    {.name = "force",
     .letter = 'f',
     .type = COV_OPT_FLAG,
     .field = FIELD(common.force),
     .help = "replace an existing output"},
    {.name = "quiet",
     .letter = 'q',
     .type = COV_OPT_FLAG,
     .field = FIELD(common.quiet),
     .help = "only warnings and errors"},
    {.name = "verbose",
     .letter = 'v',
     .type = COV_OPT_COUNT,
     .field = FIELD(common.verbose),
     .help = "more detail, and at the end what the run cost"},
    {.name = "progress",
     .type = COV_OPT_ENUM,
     .field = FIELD(progress),
     .def = "auto",
     .choices = progress_modes,
     .help = "how to show progress: auto is a bar on a terminal, else a line every 30 s"},
    {.name = "stats",
     .type = COV_OPT_STRING,
     .flags = COV_OPT_PATH_OUT,
     .field = FIELD(common.stats_path),
     .metavar = "FILE",
     .help = "write what was done and what it cost as JSON"},
    {.name = "tmpdir",
     .type = COV_OPT_STRING,
     .flags = COV_OPT_PATH_IN,
     .field = FIELD(common.tmpdir),
     .metavar = "DIR",
     .help = "folder for temporary files; without it, beside the output"},
    {.name = "help",
     .letter = 'h',
     .type = COV_OPT_FLAG,
     .field = FIELD(help),
     .help = "show this text"},
    {.name = "version",
     .type = COV_OPT_FLAG,
     .field = FIELD(version),
     .help = "show the version, and those of the libraries and of the processor"},
    {.name = "help-machine",
     .type = COV_OPT_FLAG,
     .flags = COV_OPT_HIDDEN,
     .field = FIELD(help_machine),
     .help = "list the options for programs"},
    {.name = NULL},
};

/* ---------------------------------------------------------------- texts */

static void print_help(const struct cov_tool *tool)
{
    (void)printf("%s - %s\n\nUsage: %s %s\n\nOptions:\n", tool->name, tool->summary, tool->name,
                 tool->synopsis);
    cov_opt_print_help(tool->options, stdout);
    (void)printf("\nCommon options:\n");
    cov_opt_print_help(common_options, stdout);
    if (tool->examples)
        (void)printf("\nExamples:\n%s", tool->examples);
}

static void print_version(const struct cov_tool *tool)
{
    char cpu[512];
    cov_cpu_describe(cpu, sizeof cpu);
    (void)printf("%s %s\n", tool->name, cov_version());
#ifdef __clang__
    (void)printf("built with clang %s", __clang_version__);
#else
    (void)printf("built with gcc %s", __VERSION__);
#endif
    (void)printf("%s%s\n", *cov_commit() ? " from commit " : "", cov_commit());
    if (tool->print_versions)
        tool->print_versions(stdout);
    (void)printf("processor: %s\nMIT licence\n", cpu);
}

/* What is printed while a bar may stand on the line. */
struct voice {
    const char *tool;
    const struct cov_progress *progress;
};

static void say(const struct voice *v, const char *kind, const char *text)
{
    const char *wipe = v->progress->mode == COV_PROGRESS_BAR ? "\r\033[K" : "";
    (void)fprintf(stderr, "%s%s: %s%s\n", wipe, v->tool, kind, text);
}

static void receive_log(void *arg, enum cov_log_level level, const char *text)
{
    say(arg,
        level == COV_LOG_ERROR     ? "error: "
        : level == COV_LOG_WARNING ? "warning: "
                                   : "",
        text);
}

/* Says what failed, and returns the exit status for it. */
static int report(const struct voice *v, const struct cov_err *e)
{
    if (e->code == COV_EPIPE)
        return EXIT_NO_READER;
    say(v, "error: ", e->text);
    if (e->code == COV_EUSAGE) {
        (void)fprintf(stderr, "Try '%s --help'.\n", v->tool);
        return EXIT_USAGE;
    }
    return e->code == COV_ENOMEM ? EXIT_NO_MEMORY : EXIT_FAILED;
}

/* "812.5 MB" */
static void format_bytes(double bytes, char *buf, size_t n)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    size_t unit = 0;
    for (; bytes >= 1000 && unit + 1 < COV_COUNT(units); unit++)
        bytes /= 1000;
    (void)snprintf(buf, n, "%.*f %s", unit == 0 ? 0 : 1, bytes, units[unit]);
}

static void tell_summary(const struct cov_stats *s)
{
    char memory[32] = "unknown", rate[48] = "";
    if (s->peak_rss_bytes >= 0)
        format_bytes((double)s->peak_rss_bytes, memory, sizeof memory);
    if (s->bases >= 0 && s->wall_seconds > 0)
        (void)snprintf(rate, sizeof rate, ", %.4g bases/s", (double)s->bases / s->wall_seconds);
    cov_debug("wall %.2f s, CPU %.2f s, peak memory %s%s: %s", s->wall_seconds, s->cpu_seconds,
              memory, rate, s->command);
}

/* ---------------------------------------------------------------- the process */

static void end_by_signal(int number)
{
    cov_outfile_remove_all();
    _exit(128 + number);
}

static void catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    struct sigaction action = {.sa_handler = end_by_signal}, old;
    (void)sigfillset(&action.sa_mask);
    for (size_t i = 0; i < COV_COUNT(numbers); i++)
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            (void)sigaction(numbers[i], &action, NULL);
    /* A file that grows beyond this process's limit is an error of write(), as a full disk is. */
    (void)signal(SIGXFSZ, SIG_IGN);
}

/* A closed standard stream would give its number to the next file that is opened, and messages
 * would be written into it. /dev/null takes the place, opened the wrong way round so that use is an
 * error. */
static int occupy_standard_streams(struct cov_err *e)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
            open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
            return cov_fail_errno(e, "/dev/null");
    return COV_OK;
}

/* A stream that nothing was printed to may have been closed by whoever wrote to its descriptor. */
static int close_stdout(struct cov_err *e)
{
    bool pending = __fpending(stdout) > 0, failed = ferror(stdout);
    errno = 0;
    bool close_failed = fclose(stdout) != 0;
    if (failed || (close_failed && (pending || errno != EBADF)))
        return errno ? cov_fail_errno(e, "standard output")
                     : cov_fail(e, COV_EIO, "standard output: write error");
    return COV_OK;
}

/* ---------------------------------------------------------------- checks before the run */

static int check_operands(const struct cov_tool *tool, int n, char **operands, struct cov_err *e)
{
    if (n < tool->min_operands)
        return cov_fail(e, COV_EUSAGE, "an input is missing (usage: %s %s)", tool->name,
                        tool->synopsis);
    if (tool->max_operands >= 0 && n > tool->max_operands)
        return cov_fail(e, COV_EUSAGE, "'%s' is one input too many (usage: %s %s)",
                        operands[tool->max_operands], tool->name, tool->synopsis);
    return COV_OK;
}

static bool same_file(const char *a, const char *b)
{
    if (cov_path_is_std(a) || cov_path_is_std(b))
        return false;
    struct stat s, t;
    if (stat(a, &s) == 0 && stat(b, &t) == 0)
        return S_ISREG(s.st_mode) && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
    return strcmp(a, b) == 0;
}

/* `path`, an output, must not be `input`. */
static int check_apart(const char *path, const char *input, struct cov_err *e)
{
    if (path && input && same_file(path, input))
        return cov_fail(e, COV_EUSAGE, "%s is an input: it cannot be an output too", path);
    return COV_OK;
}

static int check_paths(const struct cov_tool *tool, const struct cov_common *c, const void *config,
                       int n_operands, char **operands, struct cov_err *e)
{
    int rc = COV_OK;
    for (int i = 0; i < n_operands && !rc; i++) {
        rc = check_apart(c->output, operands[i], e);
        if (!rc)
            rc = check_apart(c->stats_path, operands[i], e);
    }
    for (const struct cov_opt *o = tool->options; o->name && !rc; o++)
        if (o->type == COV_OPT_STRING && (o->flags & COV_OPT_PATH_IN)) {
            const char *input = *(const char *const *)((const char *)config + o->field);
            rc = check_apart(c->output, input, e);
            if (!rc)
                rc = check_apart(c->stats_path, input, e);
        }
    if (!rc && c->stats_path && c->output &&
        (same_file(c->stats_path, c->output) ||
         (cov_path_is_std(c->stats_path) && cov_path_is_std(c->output))))
        rc = cov_fail(e, COV_EUSAGE, "--stats and --output both name '%s'", c->output);
    return rc;
}

/* A folder that is to be written to. */
static int check_folder(const char *path, const char *option, struct cov_err *e)
{
    struct stat s;
    if (stat(path, &s))
        return cov_fail_errno(e, "--%s: %s", option, path);
    if (!S_ISDIR(s.st_mode))
        return cov_fail(e, COV_EIO, "--%s: %s is not a folder", option, path);
    if (access(path, W_OK | X_OK))
        return cov_fail_errno(e, "--%s: %s", option, path);
    return COV_OK;
}

/* Fails now rather than after hours of work. */
static int check_stats_path(const char *path, bool force, struct cov_err *e)
{
    struct stat st;
    if (cov_path_is_std(path))
        return COV_OK;
    if (cov_path_names_dir(path))
        return cov_fail(e, COV_EIO, "--stats: %s is a folder", path);
    if (!force && stat(path, &st) == 0 && S_ISREG(st.st_mode))
        return cov_fail(e, COV_EEXIST, "--stats: %s exists; use -f to replace it", path);
    char *dir = cov_path_dir(path, e);
    if (!dir)
        return COV_ENOMEM;
    int rc = check_folder(dir, "stats", e);
    free(dir);
    return rc;
}

static int check_common(const struct cov_tool *tool, const struct own *own, struct cov_err *e)
{
    const struct cov_common *c = &own->common;
    if (!c->output && !tool->output_optional)
        return cov_fail(e, COV_EUSAGE, "-o/--output is missing");
    if (c->quiet && c->verbose > 0)
        return cov_fail(e, COV_EUSAGE, "--quiet and --verbose contradict each other");
    if (c->quiet && (own->progress == COV_PROGRESS_BAR || own->progress == COV_PROGRESS_LINES))
        return cov_fail(e, COV_EUSAGE, "--quiet and --progress=%s contradict each other",
                        progress_modes[own->progress]);
    int rc = COV_OK;
    if (c->tmpdir)
        rc = check_folder(c->tmpdir, "tmpdir", e);
    if (!rc && c->stats_path)
        rc = check_stats_path(c->stats_path, c->force, e);
    return rc;
}

/* ---------------------------------------------------------------- main */

static int run_tool(const struct cov_tool *tool, struct own *own, void *config, const bool *given,
                    int n_operands, char **operands, struct cov_err *e)
{
    struct cov_common *c = &own->common;
    c->stats.threads = (unsigned)c->threads;
    for (int i = 0; i < n_operands; i++)
        if (cov_stats_add_input(&c->stats, operands[i], e))
            return COV_ENOMEM;
    cov_debug("%s %s with %u threads: %s", tool->name, cov_version(), c->stats.threads,
              c->stats.command);
    int rc = tool->run(c, config, given, n_operands, operands, e);
    cov_progress_end(&c->progress);
    cov_stats_finish(&c->stats);
    if (!rc && c->stats_path && cov_path_is_std(c->stats_path))
        cov_stats_print(&c->stats, stdout);
    else if (!rc && c->stats_path)
        rc = cov_stats_write(&c->stats, c->stats_path, e);
    return rc;
}

/* Everything between the first and the last line of main. *ran: the tool itself was run. */
static int main_part(const struct cov_tool *tool, struct own *own, void *config, bool *given,
                     int argc, char **argv, struct voice *voice, bool *ran, struct cov_err *e)
{
    struct cov_common *c = &own->common;
    const struct cov_opt_set sets[] = {
        {tool->options, config, given},
        {common_options, own, NULL},
    };
    int rc = occupy_standard_streams(e);
    if (rc)
        return rc;
    catch_signals();
    rc = cov_stats_set_command(&c->stats, argc, argv, e);
    if (rc)
        return rc;
    int n_operands;
    rc = cov_opt_parse(sets, COV_COUNT(sets), argc, argv, &n_operands, e);
    if (own->help || own->version || own->help_machine) {
        cov_err_clear(e);
        if (own->help) {
            print_help(tool);
        } else if (own->version) {
            print_version(tool);
        } else {
            cov_opt_print_machine(tool->options, stdout);
            cov_opt_print_machine(common_options, stdout);
        }
        return COV_OK;
    }
    if (!rc)
        rc = check_operands(tool, n_operands, argv + 1, e);
    if (!rc)
        rc = check_common(tool, own, e);
    if (!rc)
        rc = check_paths(tool, c, config, n_operands, argv + 1, e);
    if (rc)
        return rc;
    if (c->threads == 0)
        c->threads = cov_pool_default_size();
    cov_progress_init(&c->progress, tool->name,
                      c->quiet ? COV_PROGRESS_NONE : (enum cov_progress_mode)own->progress);
    cov_log_set(receive_log, voice,
                c->quiet         ? COV_LOG_WARNING
                : c->verbose > 0 ? COV_LOG_DEBUG
                                 : COV_LOG_INFO);
    *ran = true;
    return run_tool(tool, own, config, given, n_operands, argv + 1, e);
}

int cov_tool_main(const struct cov_tool *tool, int argc, char **argv)
{
    struct own own = {.common.progress.mode = COV_PROGRESS_NONE};
    struct voice voice = {tool->name, &own.common.progress};
    struct cov_err e = COV_ERR_INIT;
    bool ran = false;
    size_t n_rows = 0;
    while (tool->options[n_rows].name)
        n_rows++;
    void *config = cov_calloc(1, tool->config_bytes, &e);
    bool *given = cov_calloc(n_rows, sizeof *given, &e);
    cov_stats_init(&own.common.stats, tool->name, cov_version());

    int rc = config && given ? main_part(tool, &own, config, given, argc, argv, &voice, &ran, &e)
                             : COV_ENOMEM;
    if (rc)
        (void)cov_fail(&e, rc, "failed for a reason that was not told");
    else
        rc = close_stdout(&e);
    int status = rc ? report(&voice, &e) : EXIT_SUCCESS;
    if (!rc && ran)
        tell_summary(&own.common.stats);

    cov_log_set(NULL, NULL, COV_LOG_WARNING);
    if (config)
        cov_opt_fini(tool->options, config);
    cov_stats_fini(&own.common.stats);
    free(given);
    free(config);
    return status;
}
