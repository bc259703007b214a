/* dump_ckpt.c - prints the contents of a checkpoint as read by libcov, for tests: dump_ckpt CKPT
 * [RAW].
 *
 * Prints one item per line, with tab-separated fields. The elements of all tensors are written to
 * the file RAW, as float32 or int64.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "common/ckpt/ckpt.h"

static void print_hparam(const struct cov_hparam *h)
{
    static const char *const kinds[] = {"none",   "bool",    "int",  "float",
                                        "string", "strings", "other"};
    printf("hparam\t%s\t%s\t", h->name, kinds[h->kind]);
    switch (h->kind) {
    case COV_HPARAM_NONE:
        break;
    case COV_HPARAM_BOOL:
        printf("%s", h->boolean ? "True" : "False");
        break;
    case COV_HPARAM_INT:
        printf("%" PRId64, h->integer);
        break;
    case COV_HPARAM_FLOAT:
        printf("%.17g", h->number);
        break;
    case COV_HPARAM_STRING:
    case COV_HPARAM_OTHER:
        printf("%s", h->string);
        break;
    case COV_HPARAM_STRINGS:
        for (size_t i = 0; i < h->n_strings; i++)
            printf("%s%s", i ? "," : "", h->strings[i]);
        break;
    }
    printf("\n");
}

static void print_tensor(const struct cov_torch_tensor *t)
{
    double sum = 0;
    for (size_t i = 0; i < t->n_elems; i++)
        sum += t->f32 ? (double)t->f32[i] : (double)t->i64[i];
    printf("tensor\t%s\t%s\t", t->name, cov_torch_dtype_name(t->dtype));
    for (int i = 0; i < t->n_dims; i++)
        printf("%s%" PRId64, i ? "," : "", t->shape[i]);
    printf("\t%.9g\n", sum);
}

static int write_raw(const struct cov_ckpt *c, const char *path)
{
    FILE *f = fopen(path, "wb");
    if (!f)
        return -1;
    int rc = 0;
    for (size_t i = 0; i < c->n_tensors; i++) {
        const struct cov_torch_tensor *t = &c->tensors[i];
        size_t n = t->f32 ? fwrite(t->f32, sizeof *t->f32, t->n_elems, f)
                          : fwrite(t->i64, sizeof *t->i64, t->n_elems, f);
        if (n != t->n_elems)
            rc = -1;
    }
    return fclose(f) ? -1 : rc;
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 3) {
        (void)fprintf(stderr, "usage: dump_ckpt CKPT [RAW]\n");
        return 2;
    }
    struct cov_err e = COV_ERR_INIT;
    struct cov_ckpt *c;
    if (cov_ckpt_read(argv[1], &c, &e)) {
        (void)fprintf(stderr, "dump_ckpt: error: %s\n", e.text);
        return 1;
    }
    printf("epoch\t%" PRId64 "\nglobal_step\t%" PRId64 "\nversion\t%s\n", c->epoch, c->global_step,
           c->lightning_version);
    for (size_t i = 0; i < c->n_hparams; i++)
        print_hparam(&c->hparams[i]);
    for (size_t i = 0; i < c->n_tensors; i++)
        print_tensor(&c->tensors[i]);
    int rc = argc == 3 ? write_raw(c, argv[2]) : 0;
    cov_ckpt_free(c);
    if (rc)
        (void)fprintf(stderr, "dump_ckpt: error: cannot write %s\n", argv[2]);
    return rc || fflush(stdout) ? 1 : 0;
}
