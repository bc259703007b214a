/* test_evaluate.c - evaluation with networks of known output: the examples and their order, scores,
 * reports, failures.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/make_examples.h"

#include "common/examples/evaluate.h"
#include "common/net/shape.h"

/* A network with constant output: e^bias for each dataset. */
static const float biases[D] = {0.5F, 0, -1};

static struct cov_model *constant_member(int64_t step, const float *bias)
{
    struct cov_model *m = must(calloc(1, sizeof *m));
    struct cov_params params;
    m->hp = (struct cov_hparams){.model_type = COV_MODEL_CNN,
                                 .cnn_layers = 1,
                                 .filter_size = 2,
                                 .kernel_size = 3,
                                 .step = step,
                                 .up = 1,
                                 .dilation = 1,
                                 .lstm_layers = 1,
                                 .hidden_size = 1,
                                 .input_size = 4,
                                 .output_size = D};
    m->datasets = must(calloc(D, sizeof *m->datasets));
    for (size_t d = 0; d < D; d++)
        m->datasets[d] = strdup(datasets[d]);
    assert_ok(cov_params_init(&m->hp, &params, &e));
    m->block = must(aligned_alloc(64, (params.n_floats * sizeof(float) + 63) / 64 * 64));
    memset(m->block, 0, params.n_floats * sizeof(float));
    const struct cov_param *out = cov_params_find(&params, "out.bias");
    assert_non_null(out);
    memcpy(m->block + out->offset, bias, D * sizeof *bias);
    cov_params_fini(&params);
    return m;
}

static struct cov_ensemble *constant_model(int64_t step, const float *bias)
{
    struct cov_ensemble *m = must(calloc(1, sizeof *m));
    m->models = must(calloc(1, sizeof *m->models));
    m->datasets = must(calloc(D, sizeof *m->datasets));
    m->models[m->n++] = constant_member(step, bias);
    for (; m->n_datasets < D; m->n_datasets++)
        m->datasets[m->n_datasets] = strdup(datasets[m->n_datasets]);
    m->path = strdup("made.ckpt");
    m->description = strdup("constant");
    return m;
}

struct rig {
    struct cov_device *device;
    struct cov_pool *pool;
    struct cov_ensemble *model;
};

static void rig_init(struct rig *r, unsigned n_threads, const float *bias)
{
    assert_ok(cov_device_open_cpu(NULL, &r->device, &e));
    assert_ok(cov_pool_new(n_threads, &r->pool, &e));
    r->model = constant_model(2, bias);
}

static void rig_fini(struct rig *r)
{
    cov_ensemble_close(r->model);
    cov_pool_free(r->pool);
    cov_device_close(r->device);
}

/* Computes the loss of a chunk and dataset by definition. */
static double loss_of(size_t file, const struct cov_chunk *c, size_t d)
{
    double sum = 0, p = (double)biases[d];
    for (int64_t at = c->beg; at < c->end; at++)
        sum += exp(p) - (double)target_at(file, c->seq, at, c->minus, d) * p;
    return sum / (double)(c->end - c->beg);
}

static bool is_gap(const struct cov_chunk *c)
{
    return c->seq == 1 && c->beg == 16;
}

/* ---------------------------------------------------------------- examples */

struct seen {
    const struct cov_examples *x;
    const struct cov_example *list;
    size_t last, n, fail_at;
};

static int look(void *arg, size_t i, const struct cov_fit *fits, struct cov_err *e)
{
    struct seen *s = arg;
    const struct cov_example *ex = &s->list[i];
    struct cov_chunk c = cov_grid_chunk(s->x->files[ex->file].grid, ex->rows[0]);
    if (s->n > 0)
        assert_true(i > s->last);
    s->last = i;
    assert_false(is_gap(&c));
    for (size_t d = 0; d < D; d++) {
        assert_int_equal(fits[d].n, d == 1 ? 0 : c.end - c.beg);
        if (d != 1)
            assert_true(fabs(cov_fit_loss(&fits[d]) - loss_of(ex->file, &c, d)) <
                        1e-5 * (1 + fabs(loss_of(ex->file, &c, d))));
    }
    assert_int_equal(cov_evaluate_check(s->x, ex, fits, NULL), 0);
    return ++s->n == s->fail_at ? cov_fail(e, COV_EPIPE, "enough") : COV_OK;
}

static void run_examples(struct rig *r, size_t batch, size_t fail_at)
{
    const struct cov_examples_options from = {.datasets = datasets, .n_datasets = D};
    struct cov_example list[128];
    struct cov_examples *x;
    struct cov_net *net;
    size_t n = 0, n_gaps = 0;
    assert_ok(cov_examples_open(files, N_FILES, &from, &x, &e));
    for (size_t k = 0; k < N_FILES; k++)
        for (size_t i = 0; i < cov_grid_n_chunks(x->files[k].grid); i++) {
            struct cov_chunk c = cov_grid_chunk(x->files[k].grid, i);
            n_gaps += is_gap(&c);
            list[n++] = cov_example_of_row(x, k, i);
        }
    assert_true(n_gaps > 0 && n > 4 * batch);
    const struct cov_net_size size = {L, cov_pool_size(r->pool), batch};
    assert_ok(cov_ensemble_net(r->model, r->device, size, &net, &e));
    struct seen seen = {.x = x, .list = list, .fail_at = fail_at};
    const struct cov_evaluate_work work = {x, list, n, net, batch, look, &seen};
    assert_fails_with(cov_evaluate_examples(&work, r->pool, NULL, &e), fail_at ? COV_EPIPE : COV_OK,
                      fail_at ? "enough" : "");
    assert_int_equal(seen.n, fail_at ? fail_at : n - n_gaps);
    cov_net_free(net);
    cov_examples_close(x);
}

TEST(test_examples)
{
    for (unsigned n_threads = 1; n_threads <= 3; n_threads += 2) {
        struct rig r;
        rig_init(&r, n_threads, biases);
        run_examples(&r, 1, 0);
        run_examples(&r, 3, 0);
        run_examples(&r, 7, 0);
        run_examples(&r, 3, 5);
        rig_fini(&r);
    }
}

/* ---------------------------------------------------------------- files */

TEST(test_files)
{
    struct rig r;
    struct cov_evaluation *v;
    struct cov_stats stats = {0};
    rig_init(&r, 2, biases);
    const struct cov_evaluate_options o = {.batch = 2, .device = r.device};
    assert_ok(
        cov_evaluate(files, N_FILES, r.model, &o, &(struct cov_job){r.pool, NULL, &stats}, &v, &e));
    assert_int_equal(v->n_files, N_FILES);
    uint64_t n_chunks = 0;
    for (size_t k = 0; k < N_FILES; k++) {
        double sums[D] = {0};
        size_t n = 0;
        struct cov_grid *grid;
        assert_ok(cov_grid_new(N_SEQS, names, lengths, "Sp", L, &grid, &e));
        for (size_t i = 0; i < cov_grid_n_chunks(grid); i++) {
            struct cov_chunk c = cov_grid_chunk(grid, i);
            if (is_gap(&c))
                continue;
            n++;
            for (size_t d = 0; d < D; d++)
                sums[d] += loss_of(k, &c, d);
        }
        cov_grid_free(grid);
        const struct cov_evaluated_file *f = &v->files[k];
        n_chunks += f->n_chunks;
        assert_int_equal(f->n_chunks, n);
        assert_true(f->present[0] && !f->present[1] && f->present[2]);
        assert_int_equal(f->scores[1].n_rows, 0);
        for (size_t d = 0; d < D; d += 2) {
            double loss = sums[d] / (double)n;
            assert_true(fabs(cov_score_loss(&f->scores[d]) - loss) < 1e-6 * fabs(loss));
            assert_true(cov_score_accuracy(&f->scores[d]) == 0); /* constant output */
        }
        double total = (sums[0] + sums[2]) / (double)(2 * n);
        assert_true(fabs(cov_score_loss(&f->total) - total) < 1e-6 * fabs(total));
    }
    assert_int_equal(stats.chunks, n_chunks);

    char line[300];
    FILE *f = begin_text();
    cov_evaluation_print(v, f);
    const char *text = end_text(f);
    assert_true(strncmp(text, "file\tdataset\tloss\tpearson\tpearson_all\tchunks\n", 45) == 0);
    (void)snprintf(line, sizeof line, "\n%s\tnone\tNA\tNA\tNA\t0\n%s\tb\t", files[0], files[0]);
    assert_non_null(strstr(text, line));
    (void)snprintf(line, sizeof line, "\n%s\ttotal\t%.9g\t0\t%.9g\t%u\n", files[1],
                   cov_score_loss(&v->files[1].total), cov_score_pearson_all(&v->files[1].total),
                   (unsigned)v->files[1].n_chunks);
    assert_non_null(strstr(text, line));
    /* A name must not start a new column or line. */
    char name[] = "a\tb\n\x7f";
    v->datasets[0] = name;
    f = begin_text();
    cov_evaluation_print(v, f);
    assert_non_null(strstr(end_text(f), "\ta?b??\t"));
    f = begin_text();
    struct cov_json j;
    cov_json_init(&j, f);
    cov_json_begin_object(&j, NULL);
    cov_evaluation_print_json(v, &j);
    cov_json_end_object(&j);
    text = end_text(f);
    assert_non_null(strstr(text, "\"dataset\": \"a\\u0009b\\u000a"));
    assert_non_null(strstr(text, "\"dataset\": \"none\",\n      \"loss\": null,"));
    size_t n_rows = 0;
    for (const char *p = text; (p = strstr(p, "\"pearson_all\"")) != NULL; p++)
        n_rows++;
    assert_int_equal(n_rows, N_FILES * (D + 1));
    cov_evaluation_free(v);
    cov_stats_fini(&stats);
    rig_fini(&r);
}

static void refused(const struct rig *r, const char *path, int code, const char *text)
{
    const struct cov_evaluate_options o = {.device = r->device};
    struct cov_evaluation *v;
    assert_fails_in(
        cov_evaluate(&path, 1, r->model, &o, &(struct cov_job){.pool = r->pool}, &v, &e), code,
        path, text);
    assert_null(v);
}

TEST(test_failures)
{
    struct rig r;
    const float infinite[D] = {0, 0, 1000};
    rig_init(&r, 2, infinite);
    refused(&r, files[0], COV_EINPUT, "row 0: the network's value is not finite");
    cov_ensemble_close(r.model);
    r.model = constant_model(3, biases);
    refused(&r, files[0], COV_EINPUT, "multiple of 3");
    cov_ensemble_close(r.model);
    r.model = constant_model(2, biases);
    refused(&r, "/nonexistent.h5", COV_EIO, "No such file");
    put_bytes("cut", get_file(files[0]).p, 3000);
    refused(&r, "cut", COV_EINPUT, "");
    rig_fini(&r);
    cov_evaluation_free(NULL);
}

TEST_GROUP(make_examples, leave_dir)
