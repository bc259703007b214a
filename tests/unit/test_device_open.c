/* test_device_open.c - names of devices; use of the CPU without a plugin or in place of a GPU that
 * fails.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/pool.h"
#include "common/compute/device_open.h"
#include "common/file/dynload.h"
#include "common/input/device_options.h"
#include "tests/lib/own_log.h"

enum { L = 16 };

/* ---- names and advice ---- */

static void parses(const char *text, enum cov_device_kind kind, size_t n_cards)
{
    struct cov_device_choice choice;
    assert_ok(cov_device_parse(text, &choice, &e));
    assert_int_equal(choice.kind, kind);
    assert_int_equal(choice.n_cards, n_cards);
}

TEST(names)
{
    static const char *const wrong[] = {"",
                                        "CPU",
                                        "cuda:",
                                        "cuda:0,",
                                        "cuda:,0",
                                        "cuda:1,1",
                                        "cuda:-1",
                                        "cuda:1;2",
                                        "cuda0",
                                        "cuda:0x1",
                                        "cuda: 1",
                                        "gpu",
                                        "cuda:123456",
                                        "auto:0",
                                        "cuda:1.5",
                                        "cuda:0000000000001"};
    struct cov_device_choice choice;
    char many[8 * (COV_DEVICE_MAX_CARDS + 1)] = "cuda:0";
    parses("auto", COV_DEVICE_AUTO, 0);
    parses("cpu", COV_DEVICE_CPU, 0);
    parses("cuda", COV_DEVICE_CUDA, 0);
    parses("cuda:7", COV_DEVICE_CUDA, 1);
    assert_ok(cov_device_parse("cuda:3,0,12", &choice, &e));
    assert_int_equal(choice.n_cards, 3);
    assert_int_equal(choice.cards[0], 3);
    assert_int_equal(choice.cards[1], 0);
    assert_int_equal(choice.cards[2], 12);
    for (size_t i = 0; i < COV_COUNT(wrong); i++)
        assert_fails(cov_device_parse(wrong[i], &choice, &e), COV_EUSAGE, "--device: ");
    for (int i = 1; i < COV_DEVICE_MAX_CARDS; i++)
        (void)snprintf(many + strlen(many), sizeof many - strlen(many), ",%d", i);
    parses(many, COV_DEVICE_CUDA, COV_DEVICE_MAX_CARDS);
    (void)snprintf(many + strlen(many), sizeof many - strlen(many), ",%d", COV_DEVICE_MAX_CARDS);
    assert_int_equal(cov_device_parse(many, &choice, NULL), COV_EUSAGE);
}

/* The error names the option or the variable that the level is from. */
TEST(levels_that_cannot_train)
{
    struct cov_device_options option = {.device = "cpu", .cpu = "scalar"},
                              variable = {.device = "cpu"};
    assert_int_equal(setenv("COVTOOLS_CPU", "scalar", 1), 0);
    assert_fails(cov_device_options_parse_training(&option, &e), COV_EUSAGE,
                 "--cpu: scalar only predicts");
    assert_fails(cov_device_options_parse_training(&variable, &e), COV_EUSAGE,
                 "COVTOOLS_CPU: scalar only predicts");
    assert_int_equal(unsetenv("COVTOOLS_CPU"), 0);
    assert_ok(cov_device_limit_levels(NULL, &e));
}

/* Plugins are looked for next to libcov. */
TEST(beside_the_library)
{
    char *library = unit_own(cov_dynload_beside("libcov.so.0", NULL));
    assert_non_null(library);
    assert_int_equal(access(library, R_OK), 0);
}

TEST(no_plugin)
{
    static const struct cov_device_choice automatic = {.kind = COV_DEVICE_AUTO},
                                          cpu = {.kind = COV_DEVICE_CPU},
                                          cuda = {.kind = COV_DEVICE_CUDA};
    struct cov_device *dev;
    assert_int_equal(setenv("COVTOOLS_PLUGINS", "/nonexistent", 1), 0);
    assert_fails(cov_device_open(&cuda, NULL, &dev, &e), COV_EUNSUPPORTED,
                 "/nonexistent/covtools-cuda.so not found");
    assert_null(dev);
    assert_ok(cov_device_open(&automatic, NULL, &dev, &e));
    assert_string_equal(dev->ops->name, "cpu");
    assert_int_equal(cov_device_waiting(dev), 0);
    size_t most = strstr(dev->ops->describe(dev), "AMX") ? 32 : 16;
    assert_int_equal(cov_device_batch(dev, 100), most);
    assert_int_equal(cov_device_batch(dev, 2000000), 1);
    cov_device_close(dev);
    const struct cov_cpu_options base = {.levels = "base"};
    assert_ok(cov_device_open(&automatic, &base, &dev, &e));
    assert_int_equal(cov_device_batch(dev, 65536), 16);
    assert_int_equal(cov_device_batch(dev, 65537), 8);
    cov_device_close(dev);
    assert_ok(cov_device_open(&cpu, NULL, &dev, &e));
    assert_string_equal(dev->ops->name, "cpu");
    cov_device_close(dev);
    const struct cov_cpu_options wrong = {.levels = "none such"};
    assert_int_equal(cov_device_open(&automatic, &wrong, &dev, NULL), COV_EUSAGE);
    const struct cov_cpu_options tf32 = {.precision = COV_PRECISION_TF32};
    assert_ok(cov_device_open(&cpu, &tf32, &dev, &e));
    assert_string_equal(dev->ops->precision(dev), "fp32");
    cov_device_close(dev);
}

/* ---- a mock GPU that may refuse a network ---- */

static size_t n_calls, n_closed;
static bool takes;

static void close_gpu(struct cov_device *dev)
{
    n_closed++;
}

static const char *describe_gpu(const struct cov_device *dev)
{
    return "a GPU";
}

static const char *precision_gpu(const struct cov_device *dev)
{
    return "tf32";
}

static void advise_gpu(const struct cov_device *dev, struct cov_device_advice *out)
{
    *out = (struct cov_device_advice){.batch = 64, .batch_bases = 1000, .n_waiting = 4};
}

static int forward_gpu(struct cov_program *p, unsigned worker, size_t n, const uint8_t *codes,
                       float *out, struct cov_err *e)
{
    n_calls++;
    out[0] = 7;
    return COV_OK;
}

static void counts_gpu(const struct cov_program *p, struct cov_forward_counts *out)
{
    *out = (struct cov_forward_counts){.positions_computed = n_calls};
}

static void all_gpu(struct cov_program *p)
{
    n_calls = 100;
}

static void free_gpu(struct cov_program *p)
{
}

static int new_gpu(struct cov_device *dev, const struct cov_program_spec *spec,
                   struct cov_program **out, struct cov_err *e)
{
    static const struct cov_program_ops ops = {forward_gpu, all_gpu, counts_gpu, free_gpu};
    static struct cov_program program = {.ops = &ops};
    if (!takes)
        return cov_fail(e, COV_ENOMEM, "a GPU: no memory");
    *out = &program;
    return COV_OK;
}

static const struct cov_device_ops gpu_ops = {
    .name = "cuda",
    .close = close_gpu,
    .describe = describe_gpu,
    .precision = precision_gpu,
    .advise = advise_gpu,
    .program_new = new_gpu,
};

TEST(advice)
{
    const struct cov_device dev = {&gpu_ops};
    assert_int_equal(cov_device_batch(&dev, 10), 64);
    assert_int_equal(cov_device_batch(&dev, 100), 10);
    assert_int_equal(cov_device_batch(&dev, 2000), 1);
    assert_int_equal(cov_device_waiting(&dev), 4);
}

/* ---- a network of one convolution ---- */

static const float numbers[4 * 2 + 2] = {0.5F, -0.25F, 1, 2, 0.125F, 1, 0, -1, 0.5F, 0.25F};
static const struct cov_layer layers[2] = {
    {.kind = COV_LAYER_CONV,
     .t_in = L,
     .c_in = 4,
     .t_out = L,
     .c_out = 2,
     .kernel = 1,
     .stride = 1,
     .dilation = 1},
    {.kind = COV_LAYER_LINEAR_EXP, .t_in = L, .c_in = 2, .t_out = L, .c_out = 1, .kernel = 1},
};
static const struct cov_layer_weights weights[2] = {{.weight = numbers, .bias = numbers + 8},
                                                    {.weight = numbers, .bias = numbers + 8}};

static const struct cov_program_spec spec = {layers, weights, 2, 1, 1, 1};

static struct cov_device *open_auto(const struct cov_cpu_options *cpu)
{
    static struct cov_device gpu = {&gpu_ops};
    struct cov_device *dev;
    n_closed = 0;
    start_log(COV_LOG_WARNING);
    assert_ok(cov_device_open_auto(&gpu, cpu, &dev, &e));
    return dev;
}

static void run_forward(struct cov_program *p, float *values)
{
    uint8_t codes[L];
    memset(codes, 1, L);
    assert_int_equal(p->ops->forward(p, 0, 1, codes, values, NULL), COV_OK);
}

TEST(keeps_the_gpu)
{
    struct cov_program *p;
    struct cov_forward_counts counts;
    float values[L];
    takes = true;
    struct cov_device *dev = open_auto(NULL);
    assert_int_equal(dev->ops->program_new(dev, &spec, &p, NULL), COV_OK);
    assert_string_equal(dev->ops->name, "cuda");
    assert_string_equal(dev->ops->describe(dev), "a GPU");
    assert_string_equal(dev->ops->precision(dev), "tf32");
    assert_int_equal(cov_device_waiting(dev), 4);
    p->ops->compute_all(p);
    run_forward(p, values);
    assert_true(values[0] == 7);
    p->ops->counts(p, &counts);
    assert_int_equal(counts.positions_computed, 101);
    cov_program_free(p);
    cov_program_free(NULL);
    assert_int_equal(logged.n_warnings, 0);
    cov_device_close(dev);
    assert_int_equal(n_closed, 1);
}

TEST(falls_back_to_the_cpu)
{
    struct cov_device *dev, *cpu;
    struct cov_program *p, *want_p;
    float values[L], want[L];
    char levels[] = "scalar";
    struct cov_cpu_options options = {.levels = levels};
    takes = false;
    dev = open_auto(&options);
    levels[0] = '?'; /* the device has its own copy */
    assert_int_equal(dev->ops->program_new(dev, &spec, &p, NULL), COV_OK);
    assert_string_equal(logged.all, "a GPU: no memory; continuing on the CPU\n");
    assert_string_equal(dev->ops->name, "cpu");
    assert_string_equal(dev->ops->precision(dev), "fp32");
    assert_non_null(strstr(dev->ops->describe(dev), "scalar reference"));
    assert_int_equal(cov_device_waiting(dev), 0);
    run_forward(p, values);
    cov_program_free(p);

    options.levels = "scalar";
    assert_ok(cov_device_open_cpu(&options, &cpu, &e));
    assert_int_equal(cpu->ops->program_new(cpu, &spec, &want_p, NULL), COV_OK);
    run_forward(want_p, want);
    assert_memory_equal(values, want, sizeof want);
    cov_program_free(want_p);
    cov_device_close(cpu);

    takes = true; /* from now on always the CPU, without another warning */
    assert_int_equal(dev->ops->program_new(dev, &spec, &p, NULL), COV_OK);
    assert_string_equal(dev->ops->name, "cpu");
    assert_int_equal(logged.n_warnings, 1);
    cov_program_free(p);
    cov_device_close(dev);
    assert_int_equal(n_closed, 1);
}

/* The CPU cannot be opened either. */
TEST(fails_without_a_cpu)
{
    struct cov_program *p;
    const struct cov_cpu_options options = {.levels = "none such"};
    takes = false;
    struct cov_device *dev = open_auto(&options);
    assert_int_equal(dev->ops->program_new(dev, &spec, &p, NULL), COV_EUSAGE);
    assert_null(p);
    cov_device_close(dev);
}

/* The GPU cannot train. */
TEST(trains_on_the_cpu)
{
    struct cov_training *t;
    struct cov_pool *pool;
    assert_ok(cov_pool_new(1, &pool, &e));
    const struct cov_training_spec training = {.layers = layers,
                                               .weights = weights,
                                               .n_layers = 2,
                                               .block = numbers,
                                               .n_floats = 10,
                                               .max_batch = 1,
                                               .pool = pool};
    const struct cov_cpu_options options = {.levels = "base"};
    takes = true;
    struct cov_device *dev = open_auto(&options);
    assert_int_equal(dev->ops->training_new(dev, &training, &t, NULL), COV_OK);
    assert_string_equal(logged.all, "a GPU: cannot train; continuing on the CPU\n");
    assert_int_equal(t->gradients->load(t, NULL), COV_OK);
    cov_training_free(t);
    cov_training_free(NULL);
    cov_pool_free(pool);
    cov_device_close(dev);
}
