/* bench_gpu.cc - measures the speed of a GPU with a network of the published size. Prints chunks
 * per second by precision and batch, including copies of bases and values, with as many concurrent
 * calls as the plugin supports; the time of each layer, also as a share of the limits in the card's
 * data sheet; and the speed of training, by precision and batch.
 *   bench_gpu [--precision NAME] [SECONDS [BATCH...]]
 * SPDX-License-Identifier: MIT */
extern "C" {
#include "common/base/clock.h"
#include "common/base/number.h"
#include "common/base/pool.h"
#include "common/net/net.h"
#include "common/net/train.h"
}

#include "common/compute/cuda/cuda_program.h"
#include "tests/gpu/rig.h"

namespace
{

const size_t LENGTH = 21384, DEPTH = 2;
const unsigned THREADS = COV_CUDA_LANES;

struct Bench {
    size_t batch;
    std::vector<uint8_t> codes;             /* [batch, LENGTH] */
    std::vector<std::vector<float>> values; /* values of each thread */
    struct cov_net *net;
};

int forward(void *arg, size_t item, unsigned worker, struct cov_err *e)
{
    (void)item;
    Bench *b = (Bench *)arg;
    return cov_net_forward(b->net, worker, b->batch, b->codes.data(), b->values[worker].data(), e);
}

/* Prints the median, lowest and highest rate over rounds of one call per thread, for `seconds` in
 * total; chunks have `bases` bases, the rest is padding. */
void measure(struct cov_device *dev, const float *block, size_t batch, size_t bases, double seconds)
{
    struct cov_err e = COV_ERR_INIT;
    struct cov_pool *pool;
    struct cov_hparams hp = published(DEPTH);
    struct cov_rng rng;
    Bench b;
    b.batch = batch;
    cov_rng_init(&rng, 1);
    b.codes.resize(batch * LENGTH);
    for (size_t i = 0; i < b.codes.size(); i++)
        if (i % LENGTH < bases)
            b.codes[i] = draw_base(&rng);
    b.values.resize(THREADS);
    for (std::vector<float> &v : b.values)
        v.resize(batch * LENGTH * DEPTH);
    must(cov_pool_new(THREADS, &pool, &e), &e);
    int rc = cov_net_new(dev, &hp, block, cov_net_size{LENGTH, THREADS, batch}, &b.net, &e);
    if (rc == COV_ENOMEM) {
        printf("%-9s batch %4zu: %s\n", dev->ops->precision(dev), batch, e.text);
        cov_pool_free(pool);
        return;
    }
    must(rc, &e);
    must(cov_pool_for(pool, THREADS, forward, &b, &e), &e);
    std::vector<double> rates;
    double start = cov_clock();
    while (rates.size() < 3 || cov_clock() - start < seconds) {
        double beg = cov_clock();
        must(cov_pool_for(pool, (size_t)4 * THREADS, forward, &b, &e), &e);
        rates.push_back((double)(4 * THREADS * batch) / (cov_clock() - beg));
    }
    std::sort(rates.begin(), rates.end());
    printf("%-9s batch %4zu x %u, %5zu bases: %9.1f chunks/s (%.1f to %.1f, %zu rounds)\n",
           dev->ops->precision(dev), batch, THREADS, bases, rates[rates.size() / 2], rates.front(),
           rates.back(), rates.size());
    fflush(stdout);
    cov_net_free(b.net);
    cov_pool_free(pool);
}

/* Multiplications and additions of a step for one chunk, excluding padding. */
double work_of(const struct cov_layer &l, const struct cov_cuda_step &s)
{
    double rows = (double)l.t_out;
    switch (s.kind) {
    case COV_CUDA_STEP_FIRST:
        return 2 * rows * (double)(l.kernel * l.c_in * l.c_out);
    case COV_CUDA_STEP_GEMM:
        if (l.kind == COV_LAYER_LSTM)
            return 2 * rows * (double)(l.directions * 4 * l.hidden * l.c_in);
        return 2.0 * s.gemm.phase.rows * s.gemm.phase.n_taps * (double)(l.c_in * l.c_out);
    case COV_CUDA_STEP_LSTM_FP32:
    case COV_CUDA_STEP_LSTM_BF16:
        return 2 * rows * (double)(l.directions * 4 * l.hidden * l.hidden);
    case COV_CUDA_STEP_OUTPUT:
        break;
    }
    return 2 * rows * (double)(l.c_in * l.c_out);
}

/* Bytes that a step must read and write for one chunk. */
double bytes_of(const struct cov_cuda_step &s)
{
    switch (s.kind) {
    case COV_CUDA_STEP_FIRST:
        return s.first.t_in / 2.0 + (double)s.first.t_out * s.first.c * (s.first.y_bf16 ? 2 : 4);
    case COV_CUDA_STEP_GEMM:
        return (double)s.gemm.t_in * s.gemm.c * (s.products == COV_CUDA_BF16 ? 2 : 4) +
               (double)s.gemm.phase.rows * s.gemm.n_cols * (s.gemm.y_bf16 ? 2 : 4);
    case COV_CUDA_STEP_LSTM_FP32:
    case COV_CUDA_STEP_LSTM_BF16:
        return (double)s.lstm.t * s.lstm.directions * s.lstm.units * (16 + (s.lstm.y_bf16 ? 2 : 4));
    case COV_CUDA_STEP_OUTPUT:
        break;
    }
    return (double)s.output.t * (s.output.c + s.output.depth) * 4;
}

/* Multiplications and additions of a multiprocessor per cycle, according to the data sheets; 0:
 * unknown. */
double per_cycle(const struct cov_rt_card &card, const struct cov_cuda_step &s)
{
    bool tensor = s.kind == COV_CUDA_STEP_LSTM_BF16 ||
                  (s.kind == COV_CUDA_STEP_GEMM && s.products != COV_CUDA_FP32);
    if (!tensor)
        return card.major > 8 || (card.major == 8 && card.minor > 0) ? 256 : 128;
    double bf16 = card.major == 9                      ? 4096
                  : card.major == 8 && card.minor == 0 ? 2048
                  : card.major == 8 && card.minor > 0  ? 1024
                                                       : 0;
    if (s.kind == COV_CUDA_STEP_LSTM_BF16 || s.products == COV_CUDA_BF16)
        return bf16;
    return s.products == COV_CUDA_TF32X3 ? bf16 / 2 / 3 : bf16 / 2;
}

void time_layers(struct cov_device *dev, const float *block, size_t batch)
{
    struct cov_err e = COV_ERR_INIT;
    struct cov_params params;
    struct cov_hparams hp = published(DEPTH);
    struct cov_layers shape;
    struct cov_program *p;
    must(cov_params_init(&hp, &params, &e), &e);
    must(cov_shape(&hp, LENGTH, &params, block, &shape, &e), &e);
    const struct cov_program_spec spec = {shape.layers, shape.weights, shape.n, 1, batch};
    must(dev->ops->program_new(dev, &spec, &p, &e), &e);
    batch = cov_cuda_program_batch(p);
    const struct cov_cuda_plan *plan = cov_cuda_program_plan(p);
    std::vector<std::vector<double>> seconds(9, std::vector<double>(plan->n_steps));
    for (std::vector<double> &s : seconds)
        must(cov_cuda_program_time(p, batch, s.data(), &e), &e);
    struct cov_rt_card card;
    must(cov_rt_describe(0, &card, &e), &e);
    printf("%s, batch %zu, one stream, the median of %zu; %d multiprocessors of %.2f GHz, %.0f "
           "GB/s:\n",
           dev->ops->precision(dev), batch, seconds.size(), card.n_multiprocessors,
           card.clock_hz / 1e9, card.memory_bytes_per_s / 1e9);
    double sum = 0;
    for (size_t i = 0; i < plan->n_steps; i++) {
        const struct cov_cuda_step &s = plan->steps[i];
        std::vector<double> of;
        for (const std::vector<double> &all : seconds)
            of.push_back(all[i]);
        std::sort(of.begin(), of.end());
        double median = of[of.size() / 2], chunks = (double)batch;
        sum += median;
        double rate = work_of(shape.layers[s.layer], s) * chunks / median;
        double bytes = bytes_of(s) * chunks / median;
        double most = per_cycle(card, s) * card.clock_hz * card.n_multiprocessors;
        printf(
            "  layer %zu %-18s %8.3f ms %8.3f us/chunk %8.1f TFLOP/s (%3.0f %%) %7.1f GB/s (%3.0f "
            "%%)\n",
            s.layer, cov_cuda_step_name(&s), median * 1e3, median / chunks * 1e6, rate / 1e12,
            most > 0 ? 100 * rate / most : 0, bytes / 1e9,
            card.memory_bytes_per_s > 0 ? 100 * bytes / card.memory_bytes_per_s : 0);
    }
    printf("  all %.1f us/chunk, %.1f chunks/s\n", sum / (double)batch * 1e6, (double)batch / sum);
    fflush(stdout);
    cov_program_free(p);
    cov_layers_fini(&shape);
    cov_params_fini(&params);
}

/* Measures training steps: copies of bases and targets, forward, backward, Adam. */
void measure_training(struct cov_device *dev, const float *block, size_t batch, double seconds)
{
    static const struct cov_adam adam = {0.001, 0.9, 0.999, 1e-8, 0, 0};
    struct cov_err e = COV_ERR_INIT;
    struct cov_hparams hp = published(DEPTH);
    struct cov_trainer_options options = {};
    struct cov_train_batch b = {};
    struct cov_train_score score;
    struct cov_trainer *trainer;
    struct cov_rng rng;
    std::vector<uint8_t> codes(batch * LENGTH);
    std::vector<float> targets(batch * LENGTH * DEPTH);
    std::vector<char> present(batch * DEPTH, 1);
    cov_rng_init(&rng, 1);
    for (uint8_t &code : codes)
        code = draw_base(&rng);
    for (float &target : targets)
        target = (float)cov_rng_below(&rng, 5);
    b.n = batch;
    b.codes = codes.data();
    b.targets = targets.data();
    b.present = (const bool *)present.data();
    options.hp = &hp;
    options.L = LENGTH;
    options.max_batch = batch;
    must(cov_pool_new(1, &options.pool, &e), &e);
    int rc = cov_trainer_new(dev, &options, block, &trainer, &e);
    if (rc == COV_ENOMEM || rc == COV_EUNSUPPORTED) {
        printf("%-9s training, batch %4zu: %s\n", dev->ops->precision(dev), batch, e.text);
        cov_pool_free(options.pool);
        return;
    }
    must(rc, &e);
    std::vector<double> rates;
    double start = 0;
    for (int i = 0; i < 4 || cov_clock() - start < seconds; i++) {
        double beg = cov_clock();
        must(cov_trainer_batch(trainer, &b, &score, &e), &e);
        must(cov_trainer_step(trainer, &adam, &e), &e);
        if (i == 0) /* the first step touches the memory */
            start = cov_clock();
        else
            rates.push_back((double)batch / (cov_clock() - beg));
    }
    std::sort(rates.begin(), rates.end());
    printf("%-9s training, batch %4zu: %9.1f chunks/s (%.1f to %.1f, %zu steps)\n",
           dev->ops->precision(dev), batch, rates[rates.size() / 2], rates.front(), rates.back(),
           rates.size());
    fflush(stdout);
    cov_trainer_free(trainer);
    cov_pool_free(options.pool);
}

} // namespace

int main(int argc, char **argv)
{
    static const enum cov_precision all[] = {COV_PRECISION_FP32, COV_PRECISION_BF16X3,
                                             COV_PRECISION_BALANCED, COV_PRECISION_TF32,
                                             COV_PRECISION_BF16};
    struct cov_err e = COV_ERR_INIT;
    struct cov_params params;
    struct cov_hparams hp = published(DEPTH);
    std::vector<size_t> batches;
    const char *only = NULL;
    int64_t seconds = 5, batch;
    int at = 1;
    if (argc > 2 && strcmp(argv[1], "--precision") == 0) {
        only = argv[2];
        at = 3;
    }
    for (int i = at; i < argc; i++) {
        must(cov_parse_i64(argv[i], "argument", 1, 4096, i == at ? &seconds : &batch, &e), &e);
        if (i > at)
            batches.push_back((size_t)batch);
    }
    must(cov_params_init(&hp, &params, &e), &e);
    std::vector<float> block(params.n_floats);
    cov_params_randomize(&hp, &params, 1, block.data());
    cov_params_fini(&params);
    bool found = false;
    for (enum cov_precision precision : all) {
        if (only && strcmp(only, cov_precision_name(precision)) != 0)
            continue;
        found = true;
        struct cov_device *dev = open_gpu(precision);
        printf("%s\n", dev->ops->describe(dev));
        struct cov_device_advice advice;
        dev->ops->advise(dev, &advice);
        std::vector<size_t> sizes = batches;
        if (sizes.empty())
            sizes = {16, 64, advice.batch, 2 * advice.batch};
        time_layers(dev, block.data(), sizes.back());
        for (size_t size : sizes)
            measure(dev, block.data(), size, LENGTH, (double)seconds);
        measure(dev, block.data(), sizes.back(), 1000, (double)seconds);
        for (size_t size : sizes)
            measure_training(dev, block.data(), size, (double)seconds);
        cov_device_close(dev);
    }
    if (!found)
        must(cov_fail(&e, COV_EUSAGE, "unknown precision '%s'", only), &e);
    return 0;
}
