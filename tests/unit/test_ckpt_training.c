/* test_ckpt_training.c - the state of training in checkpoints: round trips, missing parts, damage.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <sys/mman.h>

#include "common/ckpt/ckpt.h"

static char path[40];

static int setup(void **state)
{
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", memfd_create("a.ckpt", 0));
    return access(path, R_OK | W_OK);
}

enum { N = 3 };
static float values[2 * N][4];
static char train_loss[] = "avg_train_loss", accuracy[] = "avg_val_accuracy", dot[] = ".",
            last[] = "last.ckpt", first[] = "a_epoch=0.ckpt", second[] = "a_epoch=1.ckpt";

static struct cov_torch_tensor tensor(int i)
{
    for (int k = 0; k < 4; k++)
        values[i][k] = (float)(10 * i + k) / 3;
    return (struct cov_torch_tensor){
        .dtype = COV_TORCH_FLOAT32, .n_dims = 2, .shape = {2, 2}, .n_elems = 4, .f32 = values[i]};
}

static void fill(struct cov_ckpt *c)
{
    static const int64_t shape[] = {2, 2};
    struct cov_torch_tensor *t;
    c->epoch = 4;
    c->global_step = 35;
    assert_ok(cov_ckpt_set_version(c, "2.0.2", &e));
    assert_ok(cov_ckpt_add_int(c, "step", 2, &e));
    assert_ok(cov_ckpt_add_tensor(c, "out.weight", COV_TORCH_FLOAT32, 2, shape, &t, &e));
}

/* Compares words of a generator's state with those of NumPy, or of Python: the first three, and the
 * sum of all. */
static void check_words(const struct cov_pickle_value *words, const uint32_t wanted[4])
{
    uint32_t sum = 0;
    assert_true(words->n_items >= 624);
    for (size_t i = 0; i < 624; i++)
        sum += (uint32_t)words->items[i]->u.integer;
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(words->items[i]->u.integer, wanted[i]);
    assert_int_equal(sum, wanted[3]);
}

/* The states after random.seed, numpy.random.seed and torch.manual_seed with UINT32_MAX. */
static void check_generators(void)
{
    static const uint32_t python[] = {2147483648, 2159790430, 4274725319, 4218682327},
                          numpy[] = {UINT32_MAX, 1340201581, 3941791902, 2288129294};
    struct cov_torch_file *f;
    struct cov_torch_tensor torch;
    assert_ok(cov_torch_open(path, &f, &e));
    const struct cov_pickle_value *v = cov_pickle_get(cov_torch_root(f), "callbacks");
    v = cov_pickle_get(cov_pickle_get(v, "SeedCallback"), "rng_states");
    check_words(cov_pickle_get(v, "random")->items[1], python);
    const struct cov_pickle_value *words = cov_pickle_get(v, "numpy")->items[1];
    check_words(words, numpy);
    assert_ok(cov_torch_read_tensor(f, cov_pickle_get(v, "torch"), "torch", &torch, &e));
    for (size_t i = 0; i < 624; i++) /* in PyTorch, each word has 64 bits */
        assert_int_equal(torch.i64[24 + 8 * i] | torch.i64[25 + 8 * i] << 8 |
                             torch.i64[26 + 8 * i] << 16 | torch.i64[27 + 8 * i] << 24,
                         words->items[i]->u.integer);
    cov_torch_tensor_fini(&torch);
    cov_torch_close(f);
}

TEST_WITH(test_round_trip, setup, NULL)
{
    struct cov_ckpt c = COV_CKPT_INIT;
    struct cov_ckpt_moments moments[N];
    struct cov_ckpt_saved saved[2] = {{first, 0.25}, {second, 0.5}};
    struct cov_ckpt_training r;
    fill(&c);
    for (int i = 0; i < N; i++)
        moments[i] = (struct cov_ckpt_moments){35 + i, tensor(2 * i), tensor(2 * i + 1)};
    const struct cov_ckpt_training t = {
        .adam = {true, 0.002, 0.8, 0.99, 1e-7, 0.03, N, moments},
        .stopping = {true, train_loss, false, 2, 7, 5, -1.5},
        .saving = {true, accuracy, true, 0.5, 0.125, 0.25, dot, second, first, last, saved, 2},
        .has_seed = true,
        .seed = UINT32_MAX,
        .n_batches = 40,
        .n_epoch_batches = 8,
        .n_val_batches = 2,
        .n_epoch_steps = 7,
        .current = c.tensors,
        .n_current = c.n_tensors,
    };
    assert_ok(cov_ckpt_write_training(path, &c, &t, &e));
    assert_ok(cov_ckpt_read_training(path, &r, &e));
    assert_true(r.adam.is_there && r.adam.n_params == N && r.adam.learning_rate == 0.002);
    assert_true(r.adam.beta1 == 0.8 && r.adam.beta2 == 0.99 && r.adam.eps == 1e-7);
    assert_true(r.adam.weight_decay == 0.03);
    for (int i = 0; i < N; i++) {
        assert_true(r.adam.moments[i].step == 35 + i);
        assert_int_equal(r.adam.moments[i].mean.shape[1], 2);
        assert_memory_equal(r.adam.moments[i].mean.f32, values[2 * i], sizeof values[0]);
        assert_memory_equal(r.adam.moments[i].square.f32, values[2 * i + 1], sizeof values[0]);
    }
    assert_true(r.stopping.is_there && !r.stopping.is_max && r.stopping.best_score == -1.5);
    assert_string_equal(r.stopping.monitor, train_loss);
    assert_int_equal(r.stopping.wait_count, 2);
    assert_int_equal(r.stopping.stopped_epoch, 7);
    assert_int_equal(r.stopping.patience, 5);
    assert_true(r.saving.is_there && r.saving.is_max && r.saving.best_score == 0.5);
    assert_true(r.saving.current_score == 0.125 && r.saving.kth_score == 0.25);
    assert_string_equal(r.saving.monitor, accuracy);
    assert_string_equal(r.saving.best_path, second);
    assert_string_equal(r.saving.last_path, last);
    assert_int_equal(r.saving.n_saved, 2);
    assert_string_equal(r.saving.saved[0].path, first);
    assert_true(r.saving.saved[1].score == 0.5);
    assert_true(r.has_seed && r.seed == UINT32_MAX);
    check_generators();
    assert_int_equal(r.n_batches, 40);
    assert_int_equal(r.n_epoch_steps, 7);
    assert_int_equal(r.n_current, 1);
    assert_string_equal(r.current[0].name, "out.weight");
    cov_ckpt_training_forget(&r);
    assert_null(r.adam.moments);
    cov_ckpt_training_fini(&r);
    cov_ckpt_fini(&c);
}

/* Checkpoints without a state of training. */
TEST_WITH(test_without, setup, NULL)
{
    struct cov_ckpt c = COV_CKPT_INIT;
    struct cov_ckpt_training r;
    fill(&c);
    assert_ok(cov_ckpt_write(path, &c, &e));
    assert_ok(cov_ckpt_read_training(path, &r, &e));
    assert_true(!r.adam.is_there && !r.stopping.is_there && !r.saving.is_there && !r.has_seed);
    assert_int_equal(r.n_current, 0);
    cov_ckpt_training_fini(&r);
    const struct cov_ckpt_training empty = {.adam = {.is_there = true, .n_params = 1}};
    assert_ok(cov_ckpt_write_training(path, &c, &empty, &e));
    assert_ok(cov_ckpt_read_training(path, &r, &e));
    assert_true(r.adam.is_there && !r.adam.moments);
    cov_ckpt_training_fini(&r);
    cov_ckpt_fini(&c);
}

TEST_WITH(test_refused, setup, NULL)
{
    struct cov_ckpt c = COV_CKPT_INIT;
    struct cov_ckpt_training r;
    fill(&c);
    struct cov_ckpt_moments moments[1] = {{1, tensor(0), tensor(1)}};
    const struct cov_ckpt_training t = {.adam = {true, 1, 0.9, 0.999, 1e-8, 0, 1, moments}};
    assert_ok(cov_ckpt_write_training(path, &c, &t, &e));
    assert_int_equal(cov_ckpt_read_training("/dev/null", &r, NULL), COV_EINPUT);
    moments[0].square.n_elems = 0;
    moments[0].square.shape[0] = 0;
    assert_ok(cov_ckpt_write_training(path, &c, &t, &e));
    assert_fails(cov_ckpt_read_training(path, &r, &e), COV_EINPUT,
                 "exp_avg or exp_avg_sq of parameter 0 is empty");
    moments[0].square = tensor(1);
    values[1][2] = 1.0F / 0.0F;
    assert_fails(cov_ckpt_write_training(path, &c, &t, &e), COV_EINPUT, "NaN or infinite");
    assert_int_equal(cov_ckpt_write_training("/dev/full", &c, NULL, NULL), COV_EIO);
    cov_ckpt_fini(&c);
}
