/* tool.c - see tool.h.
 * SPDX-License-Identifier: MIT */
#include "common/cli/tool.h"

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
#include "common/base/pool.h"
#include "common/base/text.h"
#include "common/base/version.h"
#include "common/cli/shared_options.h"
#include "common/cli/stats_file.h"
#include "common/file/outfile.h"
#include "common/file/path.h"
#include "common/file/tmpfile.h"

enum exit_status {
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_UNLIKE = 3,
    EXIT_NO_MEMORY = 128 + SIGKILL, /* the status that the kernel's out-of-memory killer leaves */
    EXIT_NO_READER = 128 + SIGPIPE,
};

/* ---------------------------------------------------------------- the common options */

/* The fields that the common options fill. */
struct own {
    struct cov_common common;
    int progress; /* enum cov_progress_mode */
    bool help, help_machine, version;
};

/* The index is enum cov_progress_mode. */
static const char *const progress_modes[] = {"auto", "bar", "lines", "none", NULL};

#define FIELD(name) offsetof(struct own, name)

static const struct cov_opt common_options[] = {
    COV_OPT(STRING, "output", 'o', FIELD(common.output), "PATH", "where the result goes",
            .flags = COV_OPT_PATH_OUT),
    COV_OPT(INT, "threads", '@', FIELD(common.threads), "N",
            "number of threads (default: all CPUs that this process may use)", .min = 1,
            .max = 1024),
    COV_OPT(FLAG, "force", 'f', FIELD(common.force), NULL, "replace an existing output"),
    COV_OPT(FLAG, "quiet", 'q', FIELD(common.quiet), NULL, "only warnings and errors"),
    COV_OPT(COUNT, "verbose", 'v', FIELD(common.verbose), NULL,
            "more detail, and a summary of time and memory at the end"),
    COV_OPT(ENUM, "progress", 0, FIELD(progress), NULL,
            "how to show progress: auto is a bar on a terminal, otherwise a line every 30 s",
            .def = "auto", .choices = progress_modes),
    COV_OPT(
        STRING, "stats", 0, FIELD(common.stats_path), "FILE",
        "write statistics of the run as JSON, or as text if the name ends in .log; MultiQC reads "
        "a file named NAME_mqc.json",
        .flags = COV_OPT_PATH_OUT),
    COV_OPT(STRING, "tmpdir", 0, FIELD(common.tmpdir), "DIR",
            "directory for temporary files (default: the directory of the output)",
            .flags = COV_OPT_PATH_IN),
    COV_OPT(FLAG, "help", 'h', FIELD(help), NULL, "show this help"),
    COV_OPT(FLAG, "version", 0, FIELD(version), NULL,
            "show the version, the libraries and the processor"),
    COV_OPT(FLAG, "help-machine", 0, FIELD(help_machine), NULL,
            "list the options in machine-readable form", .flags = COV_OPT_HIDDEN),
    {.name = NULL},
};

/* Returns true for an option that is accepted, as everywhere, but not listed: it changes nothing, or
 * is listed by the program. */
static bool is_unlisted(const struct cov_tool *tool, const struct cov_tool *program,
                        const char *name)
{
    static const struct {
        const char *name;
        unsigned flag;
    } options[] = {{"threads", COV_LACKS_THREADS},
                   {"progress", COV_LACKS_PROGRESS},
                   {"tmpdir", COV_LACKS_TMPDIR}};
    for (size_t i = 0; i < COV_COUNT(options); i++)
        if (strcmp(name, options[i].name) == 0)
            return (tool->lacks & options[i].flag) != 0;
    return tool != program && strcmp(name, "version") == 0;
}

/* A program, or one of its subcommands, with its arguments. */
struct call {
    const struct cov_tool *program, *tool;
    char name[80];                                    /* "fasta2h5", "h5chunk info" */
    struct cov_opt common[COV_COUNT(common_options)]; /* the common options of the tool */
    struct own own;
    void *config; /* filled by the tool's options */
    bool *given;
    int n_operands;
    char **operands;
    bool has_run; /* did more than print help or a usage error */
};

static void set_call(struct call *call, const struct cov_tool *tool)
{
    const struct cov_tool *program = call->program;
    size_t n = 0;
    call->tool = tool;
    (void)snprintf(call->name, sizeof call->name, "%s%s%s", program->name,
                   tool != program ? " " : "", tool != program ? tool->name : "");
    for (const struct cov_opt *o = common_options; o->name; o++) {
        if ((tool->lacks & COV_LACKS_OUTPUT) && strcmp(o->name, "output") == 0)
            continue;
        call->common[n] = *o;
        if (is_unlisted(tool, program, o->name))
            call->common[n].flags |= COV_OPT_HIDDEN;
        if (strcmp(o->name, "output") == 0 && tool->output_help)
            call->common[n].help = tool->output_help;
        n++;
    }
    call->common[n] = (struct cov_opt){.name = NULL};
}

/* ---------------------------------------------------------------- texts */

static void print_help(const struct call *call)
{
    const struct cov_tool *tool = call->tool;
    (void)printf("%s - %s\n\nUsage: %s %s\n", call->name, tool->summary, call->name,
                 tool->synopsis);
    if (tool->options->name) {
        (void)fputs(tool->options->heading ? "" : "\nOptions:\n", stdout);
        cov_opt_print_help(tool->options, stdout);
    }
    (void)printf("\nCommon options:\n");
    cov_opt_print_help(call->common, stdout);
    if (tool->examples)
        (void)printf("\nExamples:\n%s", tool->examples);
}

static void print_subcommands(const struct cov_tool *program)
{
    (void)printf("%s - %s\n\nUsage: %s SUBCOMMAND [options] ...\n\nSubcommands:\n", program->name,
                 program->summary, program->name);
    for (const struct cov_tool *const *t = program->subcommands; *t; t++)
        (void)printf("  %-11s %s\n", (*t)->name, (*t)->summary);
    (void)printf("\nRun '%s SUBCOMMAND --help' for the options of a subcommand.\n", program->name);
    if (program->examples)
        (void)printf("\nExamples:\n%s", program->examples);
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

/* Prints messages, over a progress bar if there is one. */
struct printer {
    const char *tool;
    const struct cov_progress *progress;
    enum cov_log_level level; /* prints messages up to this one */
    FILE *events;             /* records them, too; NULL: does not */
    size_t n_events;
};

static void print_message(const struct printer *p, const char *kind, const char *text)
{
    const char *wipe = p->progress->mode == COV_PROGRESS_BAR ? "\r\033[K" : "";
    (void)fprintf(stderr, "%s%s: %s%s\n", wipe, p->tool, kind, text);
}

static void receive_log(void *arg, enum cov_log_level level, const char *text)
{
    const struct printer *p = arg;
    char start[COV_STATS_LINE_START];
    if (p->events) {
        cov_stats_start_line(level <= COV_LOG_WARNING ? "WARNING" : "INFO", start);
        (void)fprintf(p->events, "%s%s\n", start, text);
    }
    if (level > p->level)
        return;
    print_message(p,
                  level == COV_LOG_ERROR     ? "error: "
                  : level == COV_LOG_WARNING ? "warning: "
                                             : "",
                  text);
}

/* Reports a failure and returns the exit status for it. `name` is that of the call. */
static int report(const struct printer *p, const char *name, const struct cov_err *e)
{
    if (e->code == COV_EPIPE)
        return EXIT_NO_READER;
    print_message(p, "error: ", e->text);
    if (e->code == COV_EUSAGE) {
        (void)fprintf(stderr, "Try '%s --help'.\n", name);
        return EXIT_USAGE;
    }
    if (e->code == COV_EUNLIKE)
        return EXIT_UNLIKE;
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

static void log_summary(const struct cov_stats *s)
{
    char memory[32] = "unknown", rate[48] = "";
    if (s->peak_rss_bytes >= 0)
        format_bytes((double)s->peak_rss_bytes, memory, sizeof memory);
    if (s->bases >= 0 && s->wall_seconds > 0)
        (void)snprintf(rate, sizeof rate, ", %.4g bases/s",
                       (double)cov_stats_bases_of_run(s) / s->wall_seconds);
    if (s->earlier.has_times)
        cov_debug("all %d runs: wall %.2f s, CPU %.2f s", s->earlier.n_runs + 1,
                  s->earlier.wall_seconds + s->wall_seconds,
                  s->earlier.cpu_seconds + s->cpu_seconds);
    cov_debug("wall %.2f s, CPU %.2f s, peak memory %s%s: %s", s->wall_seconds, s->cpu_seconds,
              memory, rate, s->command);
}

/* ---------------------------------------------------------------- the process */

/* Used by the signal handler: a prefix such as "covtrain: ", and a flag, which is set if the
 * cursor may be after a progress bar or ^C and a newline is therefore needed. */
static char signal_prefix[64];
static volatile sig_atomic_t is_terminal, has_bar;
/* Also for the signal handler: what it reports of the output of -o, unless that is written. */
static _Atomic(const char *) fate_of_unwritten = "";

static void write_to_stderr(const char *text)
{
    size_t n = 0;
    while (text[n])
        n++;
    ssize_t ignored = write(STDERR_FILENO, text, n);
    (void)ignored;
}

/* Signals that end a program. SIGXCPU, SIGUSR1 and SIGUSR2 come from batch systems. */
static const struct {
    int number;
    const char *name;
} signals[] = {{SIGINT, "SIGINT"},   {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"},
               {SIGQUIT, "SIGQUIT"}, {SIGXCPU, "SIGXCPU"}, {SIGUSR1, "SIGUSR1"},
               {SIGUSR2, "SIGUSR2"}, {SIGPIPE, "SIGPIPE"}};

static const char NOTHING_WRITTEN[] = "nothing was written";

/* Returns what became of the output, when `n_removed` unfinished files were removed. */
static const char *fate_of_output(int n_removed)
{
    const char *words = cov_log_last_words();
    if (words)
        return words;
    if (cov_outfile_any_written())
        return "";
    return n_removed > 0 ? NOTHING_WRITTEN : fate_of_unwritten;
}

static void end_by_signal(int number)
{
    /* A thread that a library created may get the signal while the main thread blocks it to create
     * a file, which is not listed yet. The main thread ends the process when it is ready. */
    if (gettid() != getpid()) {
        (void)tgkill(getpid(), getpid(), number);
        return;
    }
    const char *name = "a signal";
    for (size_t i = 0; i < COV_COUNT(signals); i++)
        name = signals[i].number == number ? signals[i].name : name;
    const char *fate = fate_of_output(cov_leftovers_remove_all());
    const bool is_shown = cov_log_is_shown(COV_LOG_INFO);
    if (number != SIGPIPE && (has_bar || (is_shown && is_terminal)))
        write_to_stderr("\n");
    if (number != SIGPIPE && is_shown) {
        write_to_stderr(signal_prefix);
        write_to_stderr("stopped by ");
        write_to_stderr(name);
        write_to_stderr(*fate ? "; " : "");
        write_to_stderr(fate);
        write_to_stderr("\n");
    }
    _exit(128 + number);
}

/* htslib and libhdf5 end the program when some of their allocations fail. */
static pid_t running; /* this process; not its children */
static void end_by_library(void)
{
    if (running != getpid())
        return;
    (void)cov_leftovers_remove_all();
    write_to_stderr(signal_prefix);
    write_to_stderr("error: a library ended the program, probably for lack of memory\n");
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = end_by_signal}, old;
    (void)sigfillset(&action.sa_mask);
    for (size_t i = 0; i < COV_COUNT(signals); i++)
        if (sigaction(signals[i].number, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            (void)sigaction(signals[i].number, &action, NULL);
    /* Makes write() fail, as on a full disk, when a file reaches the process's size limit. */
    (void)signal(SIGXFSZ, SIG_IGN);
}

/* If a standard stream is closed, the next file opened would get its descriptor, and messages
 * would go into that file. To prevent this, opens /dev/null as the stream, in the wrong
 * direction, so that using the stream fails. */
static int occupy_standard_streams(struct cov_err *e)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
            open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
            return cov_fail_errno(e, "/dev/null");
    return COV_OK;
}

/* An error of close matters only if the stream was used, that is, has a buffer: otherwise no output is
 * lost, or a job that writes to the descriptor has closed it. After a signal, Linux has closed it. */
static int close_stdout(struct cov_err *e)
{
    const bool used = __fbufsize(stdout) > 0;
    errno = 0;
    const bool failed = ferror(stdout) || fflush(stdout) != 0;
    if ((fclose(stdout) != 0 && used && errno != EINTR) || failed)
        return errno ? cov_fail_errno(e, "standard output")
                     : cov_fail(e, COV_EIO, "standard output: write error");
    return COV_OK;
}

/* ---------------------------------------------------------------- checks before the run */

/* Writes the synopsis on one line; joins several forms with "or". */
static void write_usage(const struct call *call, char *usage, size_t cap)
{
    size_t n = 0;
    int wrote = snprintf(usage, cap, "%s ", call->name);
    if (wrote > 0)
        n = (size_t)wrote < cap ? (size_t)wrote : cap - 1;
    for (const char *s = call->tool->synopsis; *s && n + 1 < cap; s++) {
        if (*s != '\n') {
            usage[n++] = *s;
            continue;
        }
        for (const char *t = " or "; *t && n + 1 < cap; t++)
            usage[n++] = *t;
        while (s[1] == ' ')
            s++;
    }
    usage[n] = '\0';
}

static int check_operands(const struct call *call, struct cov_err *e)
{
    const struct cov_tool *tool = call->tool;
    int n = call->n_operands;
    char usage[512];
    write_usage(call, usage, sizeof usage);
    if (n < tool->min_operands)
        return cov_fail(e, COV_EUSAGE, "an input is missing (usage: %s)", usage);
    if (tool->max_operands >= 0 && n > tool->max_operands)
        return cov_fail(e, COV_EUSAGE, "unexpected argument '%s' (usage: %s)",
                        call->operands[tool->max_operands], usage);
    int n_std = 0;
    for (int i = 0; i < n; i++)
        n_std += cov_path_is_std(call->operands[i]);
    return n_std <= 1 ? COV_OK
                      : cov_fail(e, COV_EUSAGE, "standard input (-) is given %d times", n_std);
}

/* Returns value i of the option `o` if it has `flag` and more than i values, else NULL. */
static const char *path_of(const struct call *call, const struct cov_opt *o, unsigned flag,
                           size_t i)
{
    const void *field = (const char *)call->config + o->field;
    if (!(o->flags & flag))
        return NULL;
    if (o->type == COV_OPT_LIST) {
        const struct cov_strings *list = field;
        return i < list->n ? list->items[i] : NULL;
    }
    return i == 0 ? *(const char *const *)field : NULL;
}

/* Fails if the output `path` (NULL: none) is also an input. */
static int check_not_input(const struct call *call, const char *path, struct cov_err *e)
{
    bool found = false;
    if (!path)
        return COV_OK;
    for (int i = 0; i < call->n_operands && !found; i++)
        found = cov_path_same_file(path, call->operands[i]);
    for (const struct cov_opt *o = call->tool->options; o->name; o++) {
        const char *input;
        for (size_t i = 0; !found && (input = path_of(call, o, COV_OPT_PATH_IN, i)); i++)
            found = cov_path_same_file(path, input);
    }
    return found ? cov_fail(e, COV_EUSAGE, "%s: is both an input and an output", path) : COV_OK;
}

/* Fails if two options name the same output. */
static int check_outputs(const char *name, const char *path, const char *other,
                         const char *other_path, struct cov_err *e)
{
    if (path && other_path &&
        (cov_path_same_file(path, other_path) ||
         (cov_path_is_std(path) && cov_path_is_std(other_path))))
        return cov_fail(e, COV_EUSAGE, "--%s and --%s both name '%s'", name, other, other_path);
    return COV_OK;
}

/* Fails if an output is also an input or another output. */
static int check_paths(const struct call *call, struct cov_err *e)
{
    const char *output = call->own.common.output, *stats = call->own.common.stats_path;
    int rc = check_not_input(call, output, e);
    if (!rc)
        rc = check_not_input(call, stats, e);
    if (!rc)
        rc = check_outputs("stats", stats, "output", output, e);
    for (const struct cov_opt *o = call->tool->options; o->name && !rc; o++) {
        const char *path = path_of(call, o, COV_OPT_PATH_OUT, 0);
        rc = check_not_input(call, path, e);
        if (!rc)
            rc = check_outputs(o->name, path, "output", output, e);
        if (!rc)
            rc = check_outputs(o->name, path, "stats", stats, e);
    }
    return rc;
}

/* Fails unless the directory exists and is writable. */
static int check_dir(const char *path, const char *option, struct cov_err *e)
{
    struct stat s;
    if (stat(path, &s))
        return cov_fail_errno(e, "--%s: %s", option, path);
    if (!S_ISDIR(s.st_mode))
        return cov_fail(e, COV_EIO, "--%s: %s is not a directory", option, path);
    if (access(path, W_OK | X_OK))
        return cov_fail_errno(e, "--%s: %s", option, path);
    return COV_OK;
}

static int check_common(const struct call *call, struct cov_err *e)
{
    const struct cov_common *c = &call->own.common;
    int progress = call->own.progress;
    if (!c->output && !call->tool->output_optional && !(call->tool->lacks & COV_LACKS_OUTPUT))
        return cov_fail(e, COV_EUSAGE, "-o/--output is missing");
    if (c->quiet && c->verbose > 0)
        return cov_fail(e, COV_EUSAGE, "--quiet and --verbose contradict each other");
    if (c->quiet && (progress == COV_PROGRESS_BAR || progress == COV_PROGRESS_LINES))
        return cov_fail(e, COV_EUSAGE, "--quiet and --progress=%s contradict each other",
                        progress_modes[progress]);
    int rc = call->tool->prints_table ? cov_common_check_table(c, e) : COV_OK;
    if (!rc && c->tmpdir)
        rc = check_dir(c->tmpdir, "tmpdir", e);
    if (!rc && c->stats_path) /* now, so that the run does not fail after hours of work */
        rc = cov_stats_check(&c->stats, c->stats_path, c->force, e);
    return rc;
}

int cov_common_check_table(const struct cov_common *c, struct cov_err *e)
{
    if ((c->output && !cov_path_is_std(c->output)) || !c->stats_path ||
        !cov_path_is_std(c->stats_path))
        return COV_OK;
    return cov_fail(e, COV_EUSAGE, "--stats and the table cannot both go to standard output");
}

/* Adds the operands, and the files that options name, to the inputs of the statistics. COV_EUSAGE
 * if such a file is standard input. */
static int add_inputs(const struct call *call, struct cov_stats *stats, struct cov_err *e)
{
    int rc = COV_OK;
    for (int i = 0; i < call->n_operands && !rc; i++)
        rc = cov_stats_add_input(stats, call->operands[i], e);
    for (const struct cov_opt *o = call->tool->options; o->name; o++) {
        const char *path;
        for (size_t i = 0; !rc && (path = path_of(call, o, COV_OPT_PATH_IN, i)); i++)
            rc = cov_path_is_std(path)
                     ? cov_fail(e, COV_EUSAGE, "--%s: must not be standard input", o->name)
                     : cov_stats_add_input(stats, path, e);
    }
    return rc;
}

/* ---------------------------------------------------------------- main */

/* Records messages for a log of --stats. */
static int begin_events(struct printer *p, struct cov_common *c, struct cov_err *e)
{
    if (!c->stats_path || !cov_stats_is_log(c->stats_path))
        return COV_OK;
    p->events = open_memstream(&c->stats.events, &p->n_events);
    return p->events ? COV_OK : cov_fail_errno(e, "--stats");
}

static int end_events(struct printer *p, const struct cov_stats *s, struct cov_err *e)
{
    FILE *f = p->events;
    p->events = NULL;
    if (f && (fclose(f) != 0 || !s->events)) /* glibc may lose it at the end, and say nothing */
        return cov_fail(e, COV_ENOMEM, "--stats: out of memory");
    return COV_OK;
}

static int run_tool(struct call *call, struct printer *printer, struct cov_err *e)
{
    struct cov_common *c = &call->own.common;
    c->stats.threads = (unsigned)c->threads;
    c->stats.section = call->name;
    int rc = add_inputs(call, &c->stats, e);
    if (rc)
        return rc;
    cov_debug("%s %s with %u thread%s: %s", call->name, cov_version(), c->stats.threads,
              cov_text_s(c->stats.threads), c->stats.command);
    call->has_run = true;
    rc = call->tool->run(c, call->config, call->given, call->n_operands, call->operands, e);
    cov_progress_end(&c->progress);
    cov_stats_finish(&c->stats);
    const int rc_events = end_events(printer, &c->stats, rc ? NULL : e);
    rc = rc ? rc : rc_events;
    if (!rc && c->stats_path && cov_path_is_std(c->stats_path))
        cov_stats_print(&c->stats, stdout);
    else if (!rc && c->stats_path)
        rc = cov_stats_write(&c->stats, c->stats_path, c->force, e);
    return rc;
}

/* Handles --help, --version and --help-machine. Returns false if none is given. */
static bool print_requested(const struct call *call)
{
    const struct own *own = &call->own;
    if (own->help) {
        print_help(call);
    } else if (own->version) {
        print_version(call->program);
    } else if (own->help_machine) {
        cov_opt_print_machine(call->tool->options, stdout);
        cov_opt_print_machine(call->common, stdout);
    }
    return own->help || own->version || own->help_machine;
}

/* Adds to an error about an unknown option which other subcommand has it. */
static void hint_at_subcommand(const struct call *call, struct cov_err *e)
{
    static const char unknown[] = "unknown option '--";
    const char *name = e->text + strlen(unknown);
    if (call->tool == call->program || strncmp(e->text, unknown, strlen(unknown)) != 0)
        return;
    const size_t n = strcspn(name, "'");
    if (name[n] == '\0' || name[n + 1] != '\0') /* has a suggestion */
        return;
    for (const struct cov_tool *const *t = call->program->subcommands; *t; t++)
        for (const struct cov_opt *o = (*t)->options; o->name; o++)
            if (strlen(o->name) == n && memcmp(o->name, name, n) == 0) {
                cov_err_append(e, "; %s %s has it", call->program->name, (*t)->name);
                return;
            }
}

/* argv[0] is ignored. */
static int parse_and_run(struct call *call, int argc, char **argv, struct printer *printer,
                         struct cov_err *e)
{
    const struct cov_tool *tool = call->tool;
    struct cov_common *c = &call->own.common;
    const struct cov_opt_set sets[] = {
        {tool->options, call->config, call->given},
        {call->common, &call->own, NULL},
    };
    int rc = cov_opt_parse(sets, COV_COUNT(sets), argc, argv, &call->n_operands, e);
    call->operands = argv + 1;
    if (rc == COV_EUSAGE)
        hint_at_subcommand(call, e);
    if (print_requested(call)) {
        cov_err_clear(e);
        return COV_OK;
    }
    call->own.common.stats.plot = call->tool->plot;
    if (!rc)
        rc = check_operands(call, e);
    if (!rc)
        rc = check_common(call, e);
    if (!rc)
        rc = check_paths(call, e);
    if (rc)
        return rc;
    if (tool->lacks & COV_LACKS_THREADS)
        c->threads = 1;
    else if (c->threads == 0)
        c->threads = cov_pool_default_size();
    cov_progress_init(&c->progress, call->program->name,
                      c->quiet || (tool->lacks & COV_LACKS_PROGRESS)
                          ? COV_PROGRESS_NONE
                          : (enum cov_progress_mode)call->own.progress);
    has_bar = c->progress.mode == COV_PROGRESS_BAR;
    fate_of_unwritten = !c->output                   ? ""
                        : cov_path_is_std(c->output) ? "the output is incomplete"
                                                     : NOTHING_WRITTEN;
    printer->level = c->quiet ? COV_LOG_WARNING : c->verbose > 0 ? COV_LOG_DEBUG : COV_LOG_INFO;
    rc = begin_events(printer, c, e);
    cov_log_set(receive_log, printer, printer->events && c->quiet ? COV_LOG_INFO : printer->level);
    rc = rc ? rc : run_tool(call, printer, e);
    (void)end_events(printer, &c->stats, NULL); /* after a failure */
    return rc;
}

static const struct cov_tool *find_subcommand(const struct cov_tool *program, const char *name)
{
    for (const struct cov_tool *const *t = program->subcommands; *t; t++)
        if (strcmp((*t)->name, name) == 0)
            return *t;
    return NULL;
}

/* Fails with a list of the subcommands, or the one that the user may have meant. `word` may be
 * NULL. */
static int fail_with_list(const struct cov_tool *program, const char *what, const char *word,
                          struct cov_err *e)
{
    char list[256] = "";
    const char *meant = NULL;
    size_t n = 0, n_close = 0;
    for (const struct cov_tool *const *t = program->subcommands; word && *t; t++)
        if (cov_opt_is_close(word, strlen(word), (*t)->name)) {
            meant = (*t)->name;
            n_close++;
        }
    if (n_close == 1)
        return cov_fail(e, COV_EUSAGE, "%s '%s'; did you mean %s?", what, word, meant);
    for (const struct cov_tool *const *t = program->subcommands; *t && n < sizeof list; t++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", n ? ", " : "", (*t)->name);
    return cov_fail(e, COV_EUSAGE, "%s%s%s%s (subcommands: %s)", what, word ? " '" : "",
                    word ? word : "", word ? "'" : "", list);
}

/* Sets call->tool to the requested subcommand. Leaves it NULL after a failure, or when help or
 * the version was printed instead. */
static int choose_subcommand(struct call *call, int argc, char **argv, struct cov_err *e)
{
    const struct cov_tool *program = call->program;
    const char *word = argc > 1 ? argv[1] : NULL;
    if (!word)
        return fail_with_list(program, "a subcommand is missing", NULL, e);
    bool help = strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
    if (help && argc == 2) {
        print_subcommands(program);
    } else if (strcmp(word, "--version") == 0) {
        print_version(program);
    } else if (strcmp(word, "--help-machine") == 0) {
        for (const struct cov_tool *const *t = program->subcommands; *t; t++)
            (void)printf("%s\t%s\n", (*t)->name, (*t)->summary);
    } else {
        const char *name = help ? argv[2] : word;
        const struct cov_tool *tool = find_subcommand(program, name);
        if (!tool)
            return fail_with_list(
                program, name[0] == '-' ? "a subcommand must precede" : "unknown subcommand", name,
                e);
        set_call(call, tool);
        if (help) {
            print_help(call);
            call->tool = NULL;
        }
    }
    return COV_OK;
}

/* Runs call->tool with its own config. */
static int run_call(struct call *call, int argc, char **argv, struct printer *printer,
                    struct cov_err *e)
{
    const struct cov_tool *tool = call->tool;
    size_t n_rows = 0;
    while (tool->options[n_rows].name)
        n_rows++;
    call->config = cov_calloc(1, tool->config_bytes, e);
    call->given = cov_calloc(n_rows, sizeof *call->given, e);
    int rc = call->config && call->given ? parse_and_run(call, argc, argv, printer, e) : COV_ENOMEM;
    if (call->config)
        cov_opt_fini(tool->options, call->config);
    free(call->given);
    free(call->config);
    return rc;
}

int cov_tool_main(const struct cov_tool *program, int argc, char **argv)
{
    struct call call = {.program = program, .own.common.progress.mode = COV_PROGRESS_NONE};
    struct cov_stats *stats = &call.own.common.stats;
    struct printer printer = {.tool = program->name, .progress = &call.own.common.progress};
    struct cov_err e = COV_ERR_INIT;
    cov_stats_init(stats, program->name, cov_version());

    int rc = occupy_standard_streams(&e);
    if (!rc) {
        (void)snprintf(signal_prefix, sizeof signal_prefix, "%s: ", program->name);
        is_terminal = isatty(STDERR_FILENO);
        catch_signals();
        running = atexit(end_by_library) ? 0 : getpid();
        rc = cov_stats_set_command(stats, argc, argv, &e);
    }
    if (!rc && program->subcommands)
        rc = choose_subcommand(&call, argc, argv, &e);
    else if (!rc)
        set_call(&call, program);
    if (!rc && call.tool) {
        int skip = program->subcommands ? 1 : 0;
        rc = run_call(&call, argc - skip, argv + skip, &printer, &e);
    }
    if (rc)
        (void)cov_fail(&e, rc, "unknown error");
    else
        rc = close_stdout(&e);
    if (rc && program->before_error)
        program->before_error();
    int status = rc ? report(&printer, call.tool ? call.name : program->name, &e) : EXIT_SUCCESS;
    if (!rc && call.has_run)
        log_summary(stats);

    cov_log_set(NULL, NULL, COV_LOG_WARNING);
    cov_stats_fini(stats);
    running = 0;
    return status;
}

/* ---------------------------------------------------------------- options of several tools */

const char *const cov_on_bad_base_names[] = {
    [COV_BAD_BASE_ERROR] = "error", [COV_BAD_BASE_N] = "n", NULL};

int cov_fasta_options_check(const struct cov_fasta_options *o, struct cov_err *e)
{
    if (o->max_length > 0 && o->min_length > o->max_length)
        return cov_fail(e, COV_EUSAGE, "--min-length %lld is greater than --max-length %lld",
                        (long long)o->min_length, (long long)o->max_length);
    return COV_OK;
}

struct cov_genome_options cov_fasta_options_genome(const struct cov_fasta_options *o,
                                                   const char *tmpdir, unsigned n_threads)
{
    return (struct cov_genome_options){.bad_base_is_n = o->on_bad_base == COV_BAD_BASE_N,
                                       .min_length = o->min_length,
                                       .max_length = o->max_length,
                                       .rename_path = o->rename,
                                       .tmpdir = tmpdir,
                                       .n_threads = n_threads};
}

int cov_dataset_check_name(const char *name, const char *option, struct cov_err *e)
{
    static const char spliced[] = "_spliced";
    size_t n = strlen(name);
    /* --datasets separates names by commas, and lines of metrics by blanks. */
    if (strpbrk(name, "/, \t\n\v\f\r") || strcmp(name, ".") == 0)
        return cov_fail(e, COV_EUSAGE, "%s %s: must not contain '/', commas or white space", option,
                        name);
    if (n >= sizeof spliced - 1 && strcmp(name + n - (sizeof spliced - 1), spliced) == 0)
        return cov_fail(e, COV_EUSAGE, "%s %s: must not end in %s", option, name, spliced);
    return COV_OK;
}
