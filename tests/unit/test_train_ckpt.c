/* test_train_ckpt.c - writing training states to checkpoints and reading them back, checkpoints
 * that do not match the network, damage, and full disks.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/make_train_ckpt.h"

#include <stddef.h>

static const char path[] = "x.ckpt";

static void assert_floats(const struct cov_train_network *n, const float *a, const float *b,
                          bool trained)
{
    for (size_t i = 0; i < n->params.n_items; i++) {
        const struct cov_param *p = &n->params.items[i];
        if (p->trained || !trained)
            assert_memory_equal(a + p->offset, b + p->offset, p->n * sizeof *a);
    }
}

/* Writes a state and reads it back. The caller frees *n2 and *p2. */
static void round_trip(const struct cov_train_network *n, const struct cov_train_ckpt *p,
                       struct cov_train_network *n2, struct cov_train_ckpt *p2)
{
    assert_ok(cov_train_ckpt_write(path, n, p, &e));
    assert_ok(cov_train_ckpt_read(path, n->L, n2, p2, &e));
    assert_int_equal(p2->epoch, p->epoch);
    assert_int_equal(p2->n_batches, p->n_batches);
    assert_int_equal(p2->state.n_steps, p->state.n_steps);
    assert_int_equal(p2->has_moments, p->has_moments);
    assert_int_equal(p2->has_average, p->has_average);
    assert_int_equal(n2->params.n_floats, n->params.n_floats);
    assert_floats(n, p2->state.block, p->state.block, false);
}

TEST(test_round_trips)
{
    struct cov_train_network n, n2;
    struct cov_train_ckpt p, p2;
    make_train_ckpt(&n, &p, 4);
    round_trip(&n, &p, &n2, &p2);
    assert_memory_equal(&n2.hp, &n.hp, sizeof n.hp);
    assert_string_equal(n2.datasets[1], "two");
    assert_true(n2.learning_rate == 0.01 && n2.L == MADE_LENGTH);
    assert_floats(&n, p2.state.moment1, p.state.moment1, true);
    assert_floats(&n, p2.state.moment2, p.state.moment2, true);
    assert_true(p2.training.has_seed && p2.training.seed == 5);
    assert_true(p2.training.adam.beta2 == 0.999 && p2.training.adam.eps == 1e-8);
    assert_null(p2.training.adam.moments); /* were moved to the state */
    /* Writing the state that was read gives the same bytes. */
    assert_ok(cov_train_ckpt_write("again.ckpt", &n2, &p2, &e));
    check_same_files("again.ckpt", path);
    free_point(&n2, &p2);

    const struct cov_ckpt_part part = {true, 4, 2, INT64_MAX - 3, 1.0 / 3, -2.0 / 7, 1e9 + 0.125};
    p.training.part = part;
    p.epoch = -1;
    round_trip(&n, &p, &n2, &p2);
    const size_t numbers = offsetof(struct cov_ckpt_part, n_batches);
    assert_true(p2.training.part.is_there);
    assert_memory_equal(&p2.training.part.n_batches, &part.n_batches, sizeof part - numbers);
    assert_int_equal(p2.training.n_batches, p.training.n_batches);
    free_point(&n2, &p2);
    p.training.part = (struct cov_ckpt_part){0};
    p.epoch = 4;

    p.has_average = true;
    round_trip(&n, &p, &n2, &p2);
    assert_floats(&n, p2.state.average, p.state.average, false);
    assert_floats(&n, p2.state.moment1, p.state.moment1, true);
    free_point(&n2, &p2);

    p.has_average = p.has_moments = false;
    p.epoch = 0;
    p.state.n_steps = 0;
    round_trip(&n, &p, &n2, &p2);
    free_point(&n2, &p2);
    free_point(&n, &p);
}

/* ---------------------------------------------------------------- mismatches */

/* The parts of a checkpoint, to be modified. */
struct parts {
    struct cov_ckpt *c;
    struct cov_ckpt_training t;
};

static struct cov_torch_tensor *named(struct cov_torch_tensor *tensors, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(tensors[i].name, name) == 0)
            return &tensors[i];
    return NULL;
}

static void one_moment_less(struct parts *parts)
{
    struct cov_ckpt_moments *m = &parts->t.adam.moments[--parts->t.adam.n_params];
    free(m->mean.f32);
    free(m->square.f32);
    free(m->mean.name);
    free(m->square.name);
}

static void shorter_moment(struct parts *parts)
{
    struct cov_torch_tensor *t = &parts->t.adam.moments[0].square;
    t->n_dims = 1;
    t->n_elems = 2;
    t->shape[0] = 2;
}

static void bias_without_state(struct parts *parts)
{
    parts->t.adam.moments[1].mean.n_elems = 0;
}

static void weight_without_state(struct parts *parts)
{
    parts->t.adam.moments[0].mean.n_elems = 0;
}

static void negative_step(struct parts *parts)
{
    parts->t.adam.moments[1].step = -1;
}

static void unfrozen_later(struct parts *parts)
{
    parts->t.adam.moments[1].step++;
}

static void wrong_beta(struct parts *parts)
{
    parts->t.adam.beta1 = 1;
}

static void wrong_decay(struct parts *parts)
{
    parts->t.adam.weight_decay = 1e9;
}

static void part_of_many_steps(struct parts *parts)
{
    parts->t.part = (struct cov_ckpt_part){.is_there = true, .n_steps = parts->c->global_step + 1};
}

static void part_of_nan(struct parts *parts)
{
    parts->t.part = (struct cov_ckpt_part){.is_there = true, .loss = (double)NAN};
}

static void part_of_minus_one(struct parts *parts)
{
    parts->t.part = (struct cov_ckpt_part){.is_there = true, .n_batches = -1};
}

static void many_steps(struct parts *parts)
{
    parts->c->global_step = INT64_C(2000000000000000);
}

static void many_epochs(struct parts *parts)
{
    parts->c->epoch = INT64_C(2000000000000000);
}

static void current_renamed(struct parts *parts)
{
    struct cov_torch_tensor *t = named(parts->t.current, parts->t.n_current, "out.weight");
    assert_non_null(t);
    t->name[0] = 'x';
}

static void current_shorter(struct parts *parts)
{
    struct cov_torch_tensor *t = named(parts->t.current, parts->t.n_current, "out.bias");
    assert_non_null(t);
    t->n_elems = 1;
    t->shape[0] = 1;
}

TEST(test_refused)
{
    static const struct {
        void (*change)(struct parts *parts);
        const char *text;
    } cases[] = {
        {one_moment_less, "optimizer_states: "},
        {shorter_moment, "has 2 elements, but "},
        {bias_without_state, "optimizer_states: down_layer_list.0.bias has no state, but other"},
        {weight_without_state,
         "optimizer_states: down_layer_list.0.weight has no state, but other"},
        {negative_step, "optimizer_states: parameter 1 has -1 steps"},
        {unfrozen_later, "optimizer_states: down_layer_list.0.bias has taken "},
        {wrong_beta, "betas 1, 0.999 and eps 1e-08 are not Adam's"},
        {wrong_decay, "implausible weight_decay 1e+09"},
        {part_of_many_steps, "covtools_epoch: implausible values"},
        {part_of_nan, "covtools_epoch: implausible values"},
        {part_of_minus_one, "covtools_epoch: implausible counts: -1 batches and 0 steps"},
        {many_steps, "and 2000000000000000 steps"},
        {many_epochs, "2000000000000000 epochs"},
        {current_renamed, "current_model_state: tensor out.weight is missing"},
        {current_shorter, "current_model_state: tensor out.bias has another shape"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cov_train_network n;
        struct cov_train_ckpt p;
        struct parts parts;
        make_train_ckpt(&n, &p, 1);
        p.has_average = true;
        assert_int_equal(cov_train_ckpt_write(path, &n, &p, NULL), 0);
        free_point(&n, &p);
        assert_int_equal(cov_ckpt_read(path, &parts.c, NULL), 0);
        assert_int_equal(cov_ckpt_read_training(path, &parts.t, NULL), 0);
        cases[i].change(&parts);
        assert_int_equal(cov_ckpt_write_training(path, parts.c, &parts.t, NULL), 0);
        struct cov_err e = COV_ERR_INIT;
        assert_int_equal(cov_train_ckpt_read(path, MADE_LENGTH, &n, &p, &e), COV_EINPUT);
        assert_true(strncmp(e.text, path, strlen(path)) == 0);
        check_error(&e, COV_EINPUT, cases[i].text);
        assert_null(n.datasets); /* nothing to free */
        assert_null(p.state.block);
        cov_ckpt_training_fini(&parts.t);
        cov_ckpt_free(parts.c);
    }
}

TEST(test_damage)
{
    struct cov_train_network n, n2;
    struct cov_train_ckpt p, p2;
    size_t size;
    make_train_ckpt(&n, &p, 1);
    p.has_average = true;
    assert_ok(cov_train_ckpt_write(path, &n, &p, &e));
    char *whole = get_bytes(path, &size);
    for (size_t cut = 0; cut < size; cut += 1 + size / 40) {
        put_bytes(path, whole, cut);
        assert_fails(cov_train_ckpt_read(path, MADE_LENGTH, &n2, &p2, &e), COV_EINPUT, path);
    }
    /* A flipped bit is either refused or changes no numbers. */
    for (size_t at = 3; at < size; at += 1 + size / 200) {
        whole[at] = (char)(whole[at] ^ 0x40);
        put_bytes(path, whole, size);
        whole[at] = (char)(whole[at] ^ 0x40);
        if (cov_train_ckpt_read(path, MADE_LENGTH, &n2, &p2, NULL))
            continue;
        assert_int_equal(n2.params.n_floats, n.params.n_floats);
        assert_floats(&n, p2.state.block, p.state.block, false);
        assert_floats(&n, p2.state.moment1, p.state.moment1, true);
        free_point(&n2, &p2);
    }
    free(whole);
    free_point(&n, &p);
}

TEST(test_not_written)
{
    struct cov_train_network n;
    struct cov_train_ckpt p;
    make_train_ckpt(&n, &p, 1);
    assert_fails(cov_train_ckpt_write("/nonexistent/x.ckpt", &n, &p, &e), COV_EIO,
                 "/nonexistent/x.ckpt");
    limit_files(4096);
    assert_fails(cov_train_ckpt_write(path, &n, &p, &e), COV_EIO, path);
    limit_files(RLIM_INFINITY);
    p.state.moment2[0] = INFINITY; /* first convolution */
    assert_fails(cov_train_ckpt_write(path, &n, &p, &e), COV_EINPUT,
                 "tensor of optimizer_states: element 0 is NaN or infinite");
    p.state.moment2[0] = 1;
    p.state.block[1] = NAN;
    assert_fails(cov_train_ckpt_write(path, &n, &p, &e), COV_EINPUT,
                 "weight: element 1 is NaN or infinite");
    free_point(&n, &p);
    assert_int_equal(cov_train_ckpt_read("/nonexistent/x.ckpt", 0, &n, &p, NULL), COV_EIO);
}

TEST_GROUP(enter_dir, leave_dir)
