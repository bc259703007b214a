/* fuzz_kinds.c - readers of text and binary files, given a file of any kind: each accepts it or says, in a line
 * that names the file, what is wrong. The first byte chooses the reader.
 * Target: common/file/file_kind.c, common/file/peek_kind.c
 * SPDX-License-Identifier: MIT */
#include "common/features/annotation.h"
#include "common/features/blacklist.h"
#include "common/features/variants.h"
#include "common/file/peek_kind.h"
#include "common/h5/h5.h"
#include "common/job/peaks/peak_files.h"
#include "common/seq/genome.h"
#include "common/seq/names.h"
#include "tests/fuzz/fuzz.h"

static int read_variants(const char *path, struct cov_err *e)
{
    struct cov_variants *v = NULL;
    int rc = cov_variants_open(path, NULL, true, &v, e);
    cov_variants_close(v);
    return rc;
}

static int read_annotation(const char *path, struct cov_err *e)
{
    struct cov_annotation a;
    int rc = cov_annotation_read(path, "gene", false, &a, e);
    cov_annotation_fini(&a);
    return rc;
}

static int read_peaks(const char *path, struct cov_err *e)
{
    struct cov_peak_genome g;
    struct cov_peak_list l = {0};
    int rc = cov_peak_genome_read(NULL, false, &g, e);
    if (!rc)
        rc = cov_peak_list_check_kind(path, "a track", e);
    if (!rc)
        rc = cov_peak_list_read(path, &g, &l, e);
    cov_peak_list_fini(&l);
    cov_peak_genome_fini(&g);
    return rc;
}

static int read_sizes(const char *path, struct cov_err *e)
{
    struct cov_sizes s = {0};
    int rc = cov_sizes_read(path, &s, e);
    cov_sizes_fini(&s);
    return rc;
}

static int read_blacklist(const char *path, struct cov_err *e)
{
    struct cov_blacklist *b = NULL;
    int rc = cov_blacklist_read(path, false, &b, e);
    if (!rc)
        cov_blacklist_free(b);
    return rc;
}

static int read_genome(const char *path, struct cov_err *e)
{
    const struct cov_genome_options o = {.tmpdir = "/tmp", .n_threads = 1};
    struct cov_genome *g = NULL;
    int rc = cov_genome_read(path, &o, NULL, &g, e);
    if (!rc)
        cov_genome_free(g);
    return rc;
}

static int name_kind(const char *path, struct cov_err *e)
{
    bool packed;
    const enum cov_kind kind = cov_kind_of_file(path, &packed);
    if ((kind != COV_KIND_UNKNOWN) != (cov_kind_name(kind) != NULL))
        abort();
    return cov_fail_kind(e, path, "not what it should be");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static int (*const readers[])(const char *path, struct cov_err *e) = {
        name_kind,  read_variants,  read_annotation, read_peaks,
        read_sizes, read_blacklist, read_genome,
    };
    struct cov_err e = COV_ERR_INIT;
    if (n == 0)
        return 0;
    const char *path = fuzz_file(data + 1, n - 1);
    const int rc = readers[data[0] % COV_COUNT(readers)](path, &e);
    if ((rc != 0) != (e.code != 0) || (rc && !strstr(e.text, path)) || strchr(e.text, '\n'))
        abort();
    return 0;
}
