/* gnuplot.c - see gnuplot.h.
 * SPDX-License-Identifier: MIT */
#include "common/plot/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/file/path.h"
#include "common/file/tmpfile.h"

enum { SHOWN = 60 /* maximum characters of a name */ };

enum { STATUS_NO_EXEC = 126, SAID = 2000 /* bytes of gnuplot's error messages to read */ };

int cov_gnuplot_find(char **program, struct cov_err *e)
{
    const char *p = getenv("PATH");
    *program = NULL;
    while (p && *p) {
        size_t n = strcspn(p, ":");
        struct stat st;
        char *path = cov_strfmt(e, "%.*s/gnuplot", n > 0 ? (int)n : 1, n > 0 ? p : ".");
        if (!path)
            return COV_ENOMEM;
        if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0) {
            *program = path;
            return COV_OK;
        }
        free(path);
        p += n + (p[n] == ':');
    }
    return cov_fail(e, COV_EUNSUPPORTED,
                    "gnuplot not found; on Debian and Ubuntu it is in the package gnuplot-nox");
}

static _Noreturn void run_child(const char *program, int script, int output, int errors)
{
    /* Ignore the user's settings and display. */
    char name[] = "gnuplot", settings[] = "-d", from[] = "-";
    char *const arguments[] = {name, settings, from, NULL};
    if (dup2(script, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
        dup2(errors, STDERR_FILENO) >= 0)
        (void)execv(program, arguments);
    _exit(STATUS_NO_EXEC);
}

/* Fails with the first line of gnuplot's errors, without the excerpt of the script before it. */
static int refuse(const char *program, int errors, struct cov_err *e)
{
    char text[SAID + 1];
    ssize_t n = pread(errors, text, SAID, 0);
    text[n > 0 ? n : 0] = '\0';
    const char *line = text, *end;
    for (;;) {
        line += strspn(line, " \t\n^");
        end = line + strcspn(line, "\n");
        if (*line == '\0' || strstr(line, "line ") == line || *end == '\0')
            break;
        line = end;
    }
    return cov_fail(e, COV_EIO, "%s failed%s%.*s", program, *line ? ": " : "", (int)(end - line),
                    line);
}

/* Runs the script in the open file, from its start. */
static int run(const char *program, int script, const char *output, const char *tmpdir,
               struct cov_err *e)
{
    int errors = -1, status = 0, rc;
    int out = open(output, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (out < 0)
        return cov_fail_errno(e, "%s", output);
    rc = cov_tmpfile(tmpdir, &errors, e);
    pid_t child = -1, got = -1;
    if (!rc && lseek(script, 0, SEEK_SET) < 0)
        rc = cov_fail_errno(e, "the script for %s", program);
    if (!rc) {
        child = fork();
        if (child == 0)
            run_child(program, script, out, errors);
        if (child < 0)
            rc = cov_fail_errno(e, "%s: cannot be run", program);
    }
    if (!rc) {
        do
            got = waitpid(child, &status, 0);
        while (got < 0 && errno == EINTR);
        /* If SIGCHLD is ignored there is no status, so the caller also checks the output. */
        if (got == child && WIFSIGNALED(status))
            rc = cov_fail(e, COV_EIO, "%s: killed by signal %d (%s)", program, WTERMSIG(status),
                          strsignal(WTERMSIG(status)));
        else if (got == child && WEXITSTATUS(status) == STATUS_NO_EXEC)
            rc = cov_fail(e, COV_EIO, "%s: cannot be run", program);
        else if (got == child && WEXITSTATUS(status) != 0)
            rc = refuse(program, errors, e);
    }
    if (errors >= 0)
        (void)close(errors);
    if (cov_close(out) != 0 && !rc)
        rc = cov_fail_errno(e, "%s", output);
    return rc;
}

int cov_gnuplot_draw(const char *program, void (*put_script)(void *arg, FILE *f), void *arg,
                     const char *output, const char *tmpdir, struct cov_err *e)
{
    int fd;
    int rc = cov_tmpfile(tmpdir, &fd, e);
    if (rc)
        return rc;
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    FILE *f = copy >= 0 ? fdopen(copy, "w") : NULL;
    if (!f) {
        rc = cov_fail_errno(e, "the script for %s", program);
        if (copy >= 0)
            (void)close(copy);
    } else {
        put_script(arg, f);
        bool bad = ferror(f);
        if (fclose(f) != 0 || bad)
            rc = cov_fail_errno(e, "the script for %s", program);
    }
    if (!rc)
        rc = run(program, fd, output, tmpdir, e);
    (void)close(fd); /* temporary file, opened for reading */
    return rc;
}

/* ---------------------------------------------------------------- pictures */

/* Checks that the picture starts and ends like a complete one. gnuplot does not report a full disk, so
 * tries to write more if not. */
static int check_picture(const struct cov_picture *p, struct cov_err *e)
{
    static const char more[1 << 16];
    static const unsigned char png[] = {0x89, 'P', 'N', 'G'}, end[] = {'I', 'E', 'N', 'D'};
    unsigned char head[4], tail[16];
    int fd = open(p->file.tmp, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return cov_fail_errno(e, "%s", p->file.path);
    off_t n = lseek(fd, 0, SEEK_END);
    bool good = n > (off_t)sizeof tail && pread(fd, head, sizeof head, 0) == sizeof head &&
                pread(fd, tail, sizeof tail, n - (off_t)sizeof tail) == sizeof tail;
    if (good && p->is_svg)
        good = memcmp(head, "<?xm", 4) == 0 && memmem(tail, sizeof tail, "</svg>", 6);
    else if (good)
        good = memcmp(head, png, 4) == 0 && memmem(tail, sizeof tail, end, sizeof end);
    int rc = COV_OK;
    if (!good && n >= 0 && cov_write_at(fd, n, more, sizeof more))
        rc = cov_fail_errno(e, "%s", p->file.path);
    else if (!good)
        rc = cov_fail(e, COV_EIO, "%s: incomplete picture from %s", p->file.path, p->gnuplot);
    (void)close(fd); /* complete, or incomplete anyway */
    return rc;
}

int cov_picture_begin(struct cov_picture *p, const char *path, bool force, const char *tmpdir,
                      struct cov_err *e)
{
    *p = (struct cov_picture)COV_PICTURE_INIT;
    if (!path)
        return COV_OK;
    p->is_svg = cov_path_has_suffix(path, ".svg");
    if (!p->is_svg && !cov_path_has_suffix(path, ".png"))
        return cov_fail(e, COV_EUSAGE, "--plot %s: the name must end in .png or .svg", path);
    int rc = cov_gnuplot_find(&p->gnuplot, e);
    if (rc)
        return rc;
    p->tmpdir = tmpdir ? cov_strdup(tmpdir, e) : cov_path_dir(path, e);
    return p->tmpdir ? cov_outfile_begin(&p->file, path, COV_OUTFILE_PICTURE, force, e)
                     : COV_ENOMEM;
}

int cov_picture_draw(const struct cov_picture *p, void (*put_script)(void *arg, FILE *f), void *arg,
                     struct cov_err *e)
{
    int rc = cov_gnuplot_draw(p->gnuplot, put_script, arg, p->file.tmp, p->tmpdir, e);
    return rc ? rc : check_picture(p, e);
}

void cov_picture_end(struct cov_picture *p, struct cov_err *e)
{
    cov_outfile_end(&p->file, e);
    free(p->gnuplot);
    free(p->tmpdir);
    *p = (struct cov_picture)COV_PICTURE_INIT;
}

/* ---------------------------------------------------------------- texts */

/* Returns the number of bytes of the UTF-8 character at `c`; 0 if it is invalid or not
 * printable. */
static size_t character(const char *c)
{
    const unsigned char *u = (const unsigned char *)c;
    size_t n = *u < 0x80 ? 1 : *u >= 0xc2 && *u < 0xe0 ? 2 : *u >= 0xe0 && *u < 0xf0 ? 3 : 0;
    if (n == 0 || *u < ' ' || *u == 0x7f || (n == 2 && u[0] == 0xc2 && u[1] < 0xa0))
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((u[i] & 0xc0) != 0x80)
            return 0;
    /* Reject overlong encodings, surrogates, and characters that XML forbids. */
    if (n == 3 && ((u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xed && u[1] >= 0xa0) ||
                   (u[0] == 0xef && u[1] == 0xbf && u[2] >= 0xbe)))
        return 0;
    return n;
}

void cov_gnuplot_put_text(FILE *f, const char *text)
{
    size_t n_shown = 0;
    (void)fputc('\'', f);
    while (*text && n_shown++ < SHOWN) {
        size_t n = character(text);
        if (*text == '\'')
            (void)fputc('\'', f);
        if (n == 0)
            (void)fputc('?', f);
        else
            (void)fwrite(text, 1, n, f);
        text += n > 0 ? n : 1;
    }
    (void)fprintf(f, "%s'", *text ? "..." : "");
}
