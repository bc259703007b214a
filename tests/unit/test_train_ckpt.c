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
static struct {
    struct cov_ckpt *c;
    struct cov_ckpt_training t;
} parts;

static struct cov_torch_tensor *current(const char *name)
{
    struct cov_torch_tensor *t = NULL;
    for (size_t i = 0; i < parts.t.n_current; i++)
        if (strcmp(parts.t.current[i].name, name) == 0)
            t = &parts.t.current[i];
    return must(t);
}

/* Writes a checkpoint and reads its parts. */
static void read_parts(void)
{
    struct cov_train_network n;
    struct cov_train_ckpt p;
    make_train_ckpt(&n, &p, 1);
    p.has_average = true;
    assert_ok(cov_train_ckpt_write(path, &n, &p, &e));
    free_point(&n, &p);
    assert_ok(cov_ckpt_read(path, &parts.c, &e));
    assert_ok(cov_ckpt_read_training(path, &parts.t, &e));
}

/* Writes the modified parts, which are refused. Reads them for the next check. */
static void refuse(const char *text)
{
    struct cov_train_network n;
    struct cov_train_ckpt p;
    struct cov_err e = COV_ERR_INIT;
    assert_int_equal(cov_ckpt_write_training(path, parts.c, &parts.t, NULL), 0);
    assert_int_equal(cov_train_ckpt_read(path, MADE_LENGTH, &n, &p, &e), COV_EINPUT);
    assert_memory_equal(e.text, path, strlen(path));
    check_error(&e, COV_EINPUT, text);
    assert_null(n.datasets); /* nothing to free */
    assert_null(p.state.block);
    cov_ckpt_training_fini(&parts.t);
    cov_ckpt_free(parts.c);
    read_parts();
}

TEST(test_refused)
{
    read_parts();
    struct cov_ckpt_adam *adam = &parts.t.adam;
    struct cov_ckpt_moments *last = &adam->moments[--adam->n_params];
    free(last->mean.f32);
    free(last->square.f32);
    free(last->mean.name);
    free(last->square.name);
    refuse("optimizer_states: ");
    struct cov_torch_tensor *square = &adam->moments[0].square;
    square->n_dims = 1;
    square->n_elems = 2;
    square->shape[0] = 2;
    refuse("has 2 elements, but ");
    adam->moments[1].mean.n_elems = 0;
    refuse("optimizer_states: down_layer_list.0.bias has no state, but other");
    adam->moments[0].mean.n_elems = 0;
    refuse("optimizer_states: down_layer_list.0.weight has no state, but other");
    adam->moments[1].step = -1;
    refuse("optimizer_states: parameter 1 has -1 steps");
    adam->moments[1].step++; /* unfrozen later */
    refuse("optimizer_states: down_layer_list.0.bias has taken ");
    adam->beta1 = 1;
    refuse("betas 1, 0.999 and eps 1e-08 are not Adam's");
    adam->weight_decay = 1e9;
    refuse("implausible weight_decay 1e+09");

    struct cov_ckpt_part *part = &parts.t.part;
    *part = (struct cov_ckpt_part){.is_there = true, .n_steps = parts.c->global_step + 1};
    refuse("covtools_epoch: implausible values");
    *part = (struct cov_ckpt_part){.is_there = true, .loss = (double)NAN};
    refuse("covtools_epoch: implausible values");
    *part = (struct cov_ckpt_part){.is_there = true, .n_batches = -1};
    refuse("covtools_epoch: implausible counts: -1 batches and 0 steps");
    parts.c->global_step = INT64_C(2000000000000000);
    refuse("and 2000000000000000 steps");
    parts.c->epoch = INT64_C(2000000000000000);
    refuse("2000000000000000 epochs");

    current("out.weight")->name[0] = 'x';
    refuse("current_model_state: tensor out.weight is missing");
    current("out.bias")->n_elems = current("out.bias")->shape[0] = 1;
    refuse("current_model_state: tensor out.bias has another shape");
    cov_ckpt_training_fini(&parts.t);
    cov_ckpt_free(parts.c);
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
