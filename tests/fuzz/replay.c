/* replay.c - runs a harness on files, each once: those of tests/fuzz/corpus/X for fuzz_X, or the files and directories of
 * the command line. Prints TAP. Linked in place of libFuzzer, so that any compiler will do.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <ftw.h>
#include <stdbool.h>

#include "tests/fuzz/fuzz.h"

static int n_files;

static int replay(const char *path, const struct stat *st, int kind)
{
    if (kind != FTW_F)
        return 0;
    size_t n = (size_t)st->st_size;
    uint8_t *data = malloc(n > 0 ? n : 1); /* so that sanitizers see reads past the end */
    FILE *f = fopen(path, "rb");
    bool good = data && f && fread(data, 1, n, f) == n;
    if (f)
        (void)fclose(f);
    if (!good) {
        free(data);
        return 1;
    }
    printf("# %s\n", path); /* a crash follows the name of its input */
    (void)fflush(stdout);
    (void)LLVMFuzzerTestOneInput(data, n);
    printf("ok %d - %s\n", ++n_files, strrchr(path, '/') + 1);
    (void)fflush(stdout);
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    enum { MAX_OPEN = 8 };
    char corpus[4096];
    const char *src = getenv("SRC"), *name = strstr(program_invocation_short_name, "fuzz_");
    int failed = 0;
    if (argc < 2) {
        (void)snprintf(corpus, sizeof corpus, "%s/tests/fuzz/corpus/%s", src ? src : ".",
                       name ? name + 5 : "");
        failed = ftw(corpus, replay, MAX_OPEN);
    }
    for (int i = 1; i < argc && !failed; i++)
        failed = ftw(argv[i], replay, MAX_OPEN);
    if (failed || n_files == 0)
        printf("Bail out! no inputs, or one cannot be read\n");
    else
        printf("1..%d\n", n_files);
    return failed || n_files == 0;
}
