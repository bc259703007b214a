/* tool.c - see tool.h.
 * SPDX-License-Identifier: MIT */
#include "common/cli/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <stdio_ext.h>

#include "common/base/cpu.h"
#include "common/base/leftovers.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/path.h"
#include "common/base/pool.h"
#include "common/base/text.h"
#include "common/base/version.h"
#include "common/cli/tool_private.h"

enum exit_status {
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_UNLIKE = 3,
    EXIT_NO_MEMORY = 128 + SIGKILL, /* as if the kernel had ended us for it */
    EXIT_NO_READER = 128 + SIGPIPE,
};

/* ---------------------------------------------------------------- texts */

static void print_help(const struct cov_tool_call *call)
{
    const struct cov_tool *tool = call->tool;
    (void)printf("%s - %s\n\nUsage: %s %s\n", call->name, tool->summary, call->name,
                 tool->synopsis);
    if (tool->options->name) {
        (void)printf("\nOptions:\n");
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
    (void)printf("\n'%s SUBCOMMAND --help' shows how one is used.\n", program->name);
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

/* Says what failed, and returns the exit status for it. `name` is that of the call. */
static int report(const struct voice *v, const char *name, const struct cov_err *e)
{
    if (e->code == COV_EPIPE)
        return EXIT_NO_READER;
    say(v, "error: ", e->text);
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

/* "covtrain: ", for the handler of signals; and what brings it, or what the shell says next, to a line of its own,
 * behind a bar or ^C. */
static char signal_prefix[64];
static volatile sig_atomic_t is_terminal, has_bar;

static void write_to_stderr(const char *text)
{
    size_t n = 0;
    while (text[n])
        n++;
    ssize_t ignored = write(STDERR_FILENO, text, n);
    (void)ignored;
}

static void end_by_signal(int number)
{
    const char *words = cov_log_last_words();
    cov_leftovers_remove_all();
    if (number != SIGPIPE && (has_bar || (words && is_terminal)))
        write_to_stderr("\n");
    if (words && number != SIGPIPE) {
        write_to_stderr(signal_prefix);
        write_to_stderr(words);
        write_to_stderr("\n");
    }
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

/* The synopsis on one line: the forms of one that has several stand behind each other. */
static void write_usage(const struct cov_tool_call *call, char *usage, size_t cap)
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

static int check_operands(const struct cov_tool_call *call, int n, char **operands,
                          struct cov_err *e)
{
    const struct cov_tool *tool = call->tool;
    bool few = n < tool->min_operands, many = tool->max_operands >= 0 && n > tool->max_operands;
    char usage[512];
    if (!few && !many)
        return COV_OK;
    write_usage(call, usage, sizeof usage);
    if (few)
        return cov_fail(e, COV_EUSAGE, "an input is missing (usage: %s)", usage);
    return cov_fail(e, COV_EUSAGE, "'%s' is one input too many (usage: %s)",
                    operands[tool->max_operands], usage);
}

static int check_common(const struct cov_tool *tool, const struct cov_tool_own *own,
                        struct cov_err *e)
{
    const struct cov_common *c = &own->common;
    if (!c->output && !tool->output_optional && !(tool->lacks & COV_LACKS_OUTPUT))
        return cov_fail(e, COV_EUSAGE, "-o/--output is missing");
    if (c->quiet && c->verbose > 0)
        return cov_fail(e, COV_EUSAGE, "--quiet and --verbose contradict each other");
    if (c->quiet && (own->progress == COV_PROGRESS_BAR || own->progress == COV_PROGRESS_LINES))
        return cov_fail(e, COV_EUSAGE, "--quiet and --progress=%s contradict each other",
                        cov_tool_progress_modes[own->progress]);
    int rc = COV_OK;
    if (c->tmpdir)
        rc = cov_tool_check_folder(c->tmpdir, "tmpdir", e);
    if (!rc && c->stats_path)
        rc = cov_tool_check_stats_path(c->stats_path, c->force, e);
    return rc;
}

/* ---------------------------------------------------------------- main */

static int run_tool(const struct cov_tool_call *call, struct cov_tool_own *own, void *config,
                    const bool *given, int n_operands, char **operands, struct cov_err *e)
{
    struct cov_common *c = &own->common;
    c->stats.threads = (unsigned)c->threads;
    c->stats.section = call->name;
    for (int i = 0; i < n_operands; i++)
        if (cov_stats_add_input(&c->stats, operands[i], e))
            return COV_ENOMEM;
    cov_debug("%s %s with %u thread%s: %s", call->name, cov_version(), c->stats.threads,
              cov_text_s(c->stats.threads), c->stats.command);
    int rc = call->tool->run(c, config, given, n_operands, operands, e);
    cov_progress_end(&c->progress);
    cov_stats_finish(&c->stats);
    if (!rc && c->stats_path && cov_path_is_std(c->stats_path))
        cov_stats_print(&c->stats, stdout);
    else if (!rc && c->stats_path)
        rc = cov_stats_write(&c->stats, c->stats_path, e);
    return rc;
}

/* The tool with its arguments; argv[0] is not looked at. *ran: the tool itself was run. */
static int main_part(const struct cov_tool_call *call, struct cov_tool_own *own, void *config,
                     bool *given, int argc, char **argv, struct voice *voice, bool *ran,
                     struct cov_err *e)
{
    const struct cov_tool *tool = call->tool;
    struct cov_common *c = &own->common;
    const struct cov_opt_set sets[] = {
        {tool->options, config, given},
        {call->common, own, NULL},
    };
    int n_operands;
    int rc = cov_opt_parse(sets, COV_COUNT(sets), argc, argv, &n_operands, e);
    if (own->help || own->version || own->help_machine) {
        cov_err_clear(e);
        if (own->help) {
            print_help(call);
        } else if (own->version) {
            print_version(call->program);
        } else {
            cov_opt_print_machine(tool->options, stdout);
            cov_opt_print_machine(call->common, stdout);
        }
        return COV_OK;
    }
    if (!rc)
        rc = check_operands(call, n_operands, argv + 1, e);
    if (!rc)
        rc = check_common(tool, own, e);
    if (!rc)
        rc = cov_tool_check_paths(tool, c, config, n_operands, argv + 1, e);
    if (rc)
        return rc;
    if (tool->lacks & COV_LACKS_THREADS)
        c->threads = 1;
    else if (c->threads == 0)
        c->threads = cov_pool_default_size();
    cov_progress_init(&c->progress, call->program->name,
                      c->quiet || (tool->lacks & COV_LACKS_PROGRESS)
                          ? COV_PROGRESS_NONE
                          : (enum cov_progress_mode)own->progress);
    has_bar = c->progress.mode == COV_PROGRESS_BAR;
    cov_log_set(receive_log, voice,
                c->quiet         ? COV_LOG_WARNING
                : c->verbose > 0 ? COV_LOG_DEBUG
                                 : COV_LOG_INFO);
    *ran = true;
    return run_tool(call, own, config, given, n_operands, argv + 1, e);
}

static const struct cov_tool *find_subcommand(const struct cov_tool *program, const char *name)
{
    for (const struct cov_tool *const *t = program->subcommands; *t; t++)
        if (strcmp((*t)->name, name) == 0)
            return *t;
    return NULL;
}

/* Fails with the list of subcommands. `word` may be NULL. */
static int fail_with_list(const struct cov_tool *program, const char *what, const char *word,
                          struct cov_err *e)
{
    char list[256] = "";
    size_t n = 0;
    for (const struct cov_tool *const *t = program->subcommands; *t && n < sizeof list; t++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", n ? ", " : "", (*t)->name);
    return cov_fail(e, COV_EUSAGE, "%s%s%s%s (subcommands: %s)", what, word ? " '" : "",
                    word ? word : "", word ? "'" : "", list);
}

/* Fills *call with the subcommand that is meant; call->tool is NULL when what was asked for has been
 * printed, or on failure. */
static int choose(const struct cov_tool *program, int argc, char **argv, struct cov_tool_call *call,
                  struct cov_err *e)
{
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
                program, name[0] == '-' ? "a subcommand stands before" : "unknown subcommand", name,
                e);
        cov_tool_set_call(call, program, tool);
        if (help) {
            print_help(call);
            call->tool = NULL;
        }
    }
    return COV_OK;
}

/* The program without what happens at its end. */
static int main_of_call(const struct cov_tool_call *call, struct cov_tool_own *own, int argc,
                        char **argv, struct voice *voice, bool *ran, struct cov_err *e)
{
    const struct cov_tool *tool = call->tool;
    size_t n_rows = 0;
    while (tool->options[n_rows].name)
        n_rows++;
    void *config = cov_calloc(1, tool->config_bytes, e);
    bool *given = cov_calloc(n_rows, sizeof *given, e);
    int rc = config && given ? main_part(call, own, config, given, argc, argv, voice, ran, e)
                             : COV_ENOMEM;
    if (config)
        cov_opt_fini(tool->options, config);
    free(given);
    free(config);
    return rc;
}

int cov_tool_main(const struct cov_tool *program, int argc, char **argv)
{
    struct cov_tool_own own = {.common.progress.mode = COV_PROGRESS_NONE};
    struct voice voice = {program->name, &own.common.progress};
    struct cov_err e = COV_ERR_INIT;
    struct cov_tool_call call = {.program = program};
    bool ran = false;
    cov_stats_init(&own.common.stats, program->name, cov_version());

    int rc = occupy_standard_streams(&e);
    if (!rc) {
        (void)snprintf(signal_prefix, sizeof signal_prefix, "%s: ", program->name);
        is_terminal = isatty(STDERR_FILENO);
        catch_signals();
        rc = cov_stats_set_command(&own.common.stats, argc, argv, &e);
    }
    if (!rc && program->subcommands)
        rc = choose(program, argc, argv, &call, &e);
    else if (!rc)
        cov_tool_set_call(&call, program, program);
    if (!rc && call.tool) {
        int skip = program->subcommands ? 1 : 0;
        rc = main_of_call(&call, &own, argc - skip, argv + skip, &voice, &ran, &e);
    }
    if (rc)
        (void)cov_fail(&e, rc, "failed for a reason that was not told");
    else
        rc = close_stdout(&e);
    if (rc && program->before_error)
        program->before_error();
    int status = rc ? report(&voice, call.tool ? call.name : program->name, &e) : EXIT_SUCCESS;
    if (!rc && ran)
        tell_summary(&own.common.stats);

    cov_log_set(NULL, NULL, COV_LOG_WARNING);
    cov_stats_fini(&own.common.stats);
    return status;
}
