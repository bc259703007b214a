/* bench_gpu.cc - measures the speed of a GPU with a network of the published size:
 *   forward   chunks per second by precision and batch, including copies of bases and values, with
 *             as many concurrent calls as the plugin supports; and the time of each layer, next to
 *             the limit that the card's data sheet sets
 *   training  chunks per second by precision and batch
 *   edits     single-nucleotide variants (SNVs) per second, as coveffect ism computes them: both strands, 1,001
 *             wanted positions, 1,024 SNVs of a window; and their difference from whole chunks
 * and notes of the plugin. With COVTOOLS_CUBLAS=always, layers "gates of an LSTM" are by cuBLAS.
 *   bench_gpu [--forward] [--training] [--edits] [--once] [--variants] [--precision NAME]
 *             [--length BASES] [SECONDS [BATCH...]]
 * Measures all unless one is selected, each for SECONDS (5), with batches of 64, 256 and what the
 * device advises, of chunks of BASES (21384). --variants: measures instead what a part of the plugin
 * brings: one and two calls at a time, LSTMs without priority, training without graphs or without
 * half blocks of LSTMs. --once: runs everything once, for profilers that record from
 * cudaProfilerStart to cudaProfilerStop (ncu --profile-from-start off).
 * SPDX-License-Identifier: MIT */
extern "C" {
#include "common/base/log.h"
#include "common/base/pool.h"
#include "common/base/progress.h"
#include "common/base/text.h"
#include "common/net/net.h"
#include "common/net/train.h"
#include "common/seq/alphabet.h"
}

#include "common/compute/cuda/cuda_cards.h"
#include "tests/gpu/rig.h"

/* From CUDA's runtime, whose headers the files of tests are compiled without. */
#if !defined(SIMT_EMULATED_H)
extern "C" int cudaProfilerStart(void);
extern "C" int cudaProfilerStop(void);
#else
static int cudaProfilerStart(void)
{
    return 0;
}
static int cudaProfilerStop(void)
{
    return 0;
}
#endif

namespace
{

const size_t DEPTH = 2;

/* What to measure. */
struct Settings {
    bool forward, training, edits, once, variants;
    const char *precision; /* NULL: all */
    double seconds;
    size_t length; /* bases of a chunk */
    std::vector<size_t> batches;
};

/* How to measure. */
struct Variant {
    const char *name;
    unsigned calls;   /* at a time */
    unsigned without; /* as in struct cov_cuda_cards */
};
const Variant usual = {"", COV_CUDA_SLOTS, 0};
const Variant forward_variants[] = {
    {", 1 call", 1, 0}, {", 2 calls", 2, 0}, {", no priority", COV_CUDA_SLOTS, COV_CUDA_PRIORITY}};
const Variant training_variants[] = {{", no graph", 1, COV_CUDA_GRAPHS},
                                     {", whole blocks", 1, COV_CUDA_HALF_BLOCKS}};

struct Bench {
    size_t batch;
    std::vector<uint8_t> codes;             /* [batch, length] */
    std::vector<std::vector<float>> values; /* values of each thread */
    struct cov_net *net;
};

int forward(void *arg, size_t item, unsigned worker, struct cov_err *e)
{
    (void)item;
    Bench *b = (Bench *)arg;
    return cov_net_forward(b->net, worker, b->batch, b->codes.data(), b->values[worker].data(), e);
}

/* Returns codes[n, length] of chunks with `bases` random bases; the rest is padding. */
std::vector<uint8_t> draw_chunks(size_t n, size_t length, size_t bases)
{
    struct cov_rng rng;
    std::vector<uint8_t> codes(n * length);
    cov_rng_init(&rng, 1);
    for (size_t i = 0; i < codes.size(); i++)
        if (i % length < bases)
            codes[i] = draw_base(&rng);
    return codes;
}

std::string name_of(const char *what, const struct cov_device *dev, size_t batch)
{
    return std::string(what) + " " + dev->ops->precision(dev) + " batch " + std::to_string(batch);
}

void print_rates(const std::string &name, std::vector<double> rates, const char *unit,
                 const char *what = "chunks")
{
    std::sort(rates.begin(), rates.end());
    printf("%s: %.1f %s/s (%.1f to %.1f, %zu %s)\n", name.c_str(), rates[rates.size() / 2], what,
           rates.front(), rates.back(), rates.size(), unit);
    fflush(stdout);
}

/* Prints the median, lowest and highest rate of chunks with `bases` bases over rounds of four calls
 * per thread. */
void measure_forward(struct cov_device *dev, const float *block, size_t batch, size_t bases,
                     const Settings &set, const Variant &variant = usual)
{
    struct cov_err e = COV_ERR_INIT;
    struct cov_pool *pool;
    struct cov_hparams hp = published(DEPTH);
    const unsigned threads = set.once ? 1 : variant.calls;
    Bench b;
    b.batch = batch;
    b.codes = draw_chunks(batch, set.length, bases);
    b.values.resize(threads);
    for (std::vector<float> &v : b.values)
        v.resize(batch * set.length * DEPTH);
    must(cov_pool_new(threads, &pool, &e), &e);
    std::string name = name_of("forward", dev, batch) + variant.name;
    cov_cuda_cards_of(dev)->without = variant.without;
    if (bases < set.length)
        name += ", " + std::to_string(bases) + " bases";
    int rc = cov_net_new(dev, &hp, block, cov_net_size{set.length, threads, batch}, &b.net, &e);
    if (rc == COV_ENOMEM) {
        printf("%s: %s\n", name.c_str(), e.text);
        cov_pool_free(pool);
        return;
    }
    must(rc, &e);
    if (set.once) {
        (void)cudaProfilerStart();
        must(cov_net_forward(b.net, 0, batch, b.codes.data(), b.values[0].data(), &e), &e);
        (void)cudaProfilerStop();
        printf("%s: once\n", name.c_str());
    } else {
        std::vector<double> rates;
        must(cov_pool_for(pool, threads, forward, &b, &e), &e);
        double start = cov_clock();
        while (rates.size() < 3 || cov_clock() - start < set.seconds) {
            double beg = cov_clock();
            must(cov_pool_for(pool, (size_t)4 * threads, forward, &b, &e), &e);
            rates.push_back((double)(4 * threads * batch) / (cov_clock() - beg));
        }
        print_rates(name, rates, "rounds");
    }
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
    case COV_CUDA_STEP_LAST:
        break;
    }
    return 2.0 * s.last.phase.rows *
           (double)(s.last.phase.n_taps * l.c_in * l.c_out + l.c_out * (size_t)s.last.depth);
}

/* Bytes that a step must read and write for one chunk. */
double bytes_of(const struct cov_cuda_step &s)
{
    switch (s.kind) {
    case COV_CUDA_STEP_FIRST:
        return s.first.t_in / 2.0 + (double)s.first.t_out * s.first.c * (s.first.y_bf16 ? 2 : 4);
    case COV_CUDA_STEP_GEMM:
        return (double)s.gemm.t_in * s.gemm.c * (s.products == COV_CUDA_BF16 ? 2 : 4) +
               (double)s.gemm.phase.rows * s.gemm.n_cols * (s.gemm.y_bf16 || s.gemm.y_fp16 ? 2 : 4);
    case COV_CUDA_STEP_LSTM_FP32:
    case COV_CUDA_STEP_LSTM_BF16:
        return (double)s.lstm.t * s.lstm.directions * s.lstm.units *
               ((s.sums_fp16 ? 8 : 16) + (s.lstm.y_bf16 ? 2 : 4));
    case COV_CUDA_STEP_LAST:
        break;
    }
    return (double)s.last.t_in * s.last.c * 4 + s.last.phase.rows * (s.last.depth * 4 + 0.5);
}

/* Multiplications and additions of a multiprocessor per cycle, according to the data sheets; 0:
 * unknown. */
double per_cycle(const struct cov_rt_card &card, const struct cov_cuda_step &s)
{
    const int capability = 10 * card.major + card.minor;
    bool tensor = s.kind == COV_CUDA_STEP_LSTM_BF16 ||
                  (s.kind == COV_CUDA_STEP_GEMM && s.products != COV_CUDA_FP32);
    if (!tensor)
        return capability > 80 ? 256 : 128;
    double bf16 = card.major == 10   ? 8192
                  : card.major == 9  ? 4096
                  : capability == 80 ? 2048
                  : capability > 80  ? 1024
                                     : 0;
    if (s.kind == COV_CUDA_STEP_LSTM_BF16 || s.products == COV_CUDA_BF16)
        return bf16;
    return s.products == COV_CUDA_TF32X3 ? bf16 / 2 / 3 : bf16 / 2;
}

/* Prints the time of each step of a batch, and the least time that the card's arithmetic and memory
 * need for it. */
void time_layers(struct cov_device *dev, const float *block, size_t batch, const Settings &set)
{
    struct cov_err e = COV_ERR_INIT;
    struct cov_params params;
    struct cov_hparams hp = published(DEPTH);
    struct cov_layers shape;
    struct cov_program *p;
    must(cov_params_init(&hp, &params, &e), &e);
    must(cov_shape(&hp, set.length, &params, block, &shape, &e), &e);
    const struct cov_program_spec spec = {shape.layers, shape.weights, shape.n, 1, batch, 1};
    int rc = dev->ops->program_new(dev, &spec, &p, &e);
    if (rc == COV_ENOMEM) {
        printf("%s: %s\n", name_of("layers", dev, batch).c_str(), e.text);
        cov_layers_fini(&shape);
        cov_params_fini(&params);
        return;
    }
    must(rc, &e);
    batch = cov_cuda_program_batch(p);
    /* Puts bases on the card, because zeros take less time. */
    std::vector<float> values(batch * set.length * DEPTH);
    must(p->ops->forward(p, 0, batch, draw_chunks(batch, set.length, set.length).data(),
                         values.data(), &e),
         &e);
    const struct cov_cuda_plan *plan = cov_cuda_program_plan(p);
    std::vector<std::vector<double>> seconds(set.once ? 1 : 9, std::vector<double>(plan->n_steps));
    for (std::vector<double> &s : seconds)
        must(cov_cuda_program_time(p, batch, s.data(), &e), &e);
    struct cov_rt_card card;
    must(cov_rt_describe(0, &card, &e), &e);
    printf(
        "%s, one stream, the median of %zu; %d multiprocessors of %.2f GHz, %.0f GB/s; %.1f MB a "
        "chunk:\n",
        name_of("layers", dev, batch).c_str(), seconds.size(), card.n_multiprocessors,
        card.clock_hz / 1e9, card.memory_bytes_per_s / 1e9, (double)plan->chunk_bytes / 1e6);
    double sum = 0, sum_of_limits = 0;
    for (size_t i = 0; i < plan->n_steps; i++) {
        const struct cov_cuda_step &s = plan->steps[i];
        std::vector<double> of;
        for (const std::vector<double> &all : seconds)
            of.push_back(all[i]);
        std::sort(of.begin(), of.end());
        double median = of[of.size() / 2], chunks = (double)batch;
        double work = work_of(shape.layers[s.layer], s) * chunks, bytes = bytes_of(s) * chunks;
        double most = per_cycle(card, s) * card.clock_hz * card.n_multiprocessors;
        double arithmetic = most > 0 ? work / most : 0;
        double memory = card.memory_bytes_per_s > 0 ? bytes / card.memory_bytes_per_s : 0;
        double limit = std::max(arithmetic, memory);
        sum += median;
        sum_of_limits += limit;
        printf("  layer %zu %-18s %8.3f ms, limit %8.3f ms (%-10s), %3.0f %%; %6.1f TFLOP/s, %6.0f "
               "GB/s\n",
               s.layer, cov_cuda_step_name(&s), median * 1e3, limit * 1e3,
               arithmetic > memory ? "arithmetic" : "memory", 100 * limit / median,
               work / median / 1e12, bytes / median / 1e9);
    }
    printf("  all                        %8.3f ms, limit %8.3f ms, %3.0f %%; %.1f us/chunk, %.1f "
           "chunks/s\n",
           sum * 1e3, sum_of_limits * 1e3, 100 * sum_of_limits / sum, sum / (double)batch * 1e6,
           (double)batch / sum);
    fflush(stdout);
    cov_program_free(p);
    cov_layers_fini(&shape);
    cov_params_fini(&params);
}

/* Measures training steps: copies of bases and targets, forward, backward, Adam. */
void measure_training(struct cov_device *dev, const float *block, size_t batch, const Settings &set,
                      const Variant &variant)
{
    static const struct cov_adam adam = {0.001, 0.9, 0.999, 1e-8, 0, 0, 0};
    struct cov_err e = COV_ERR_INIT;
    struct cov_hparams hp = published(DEPTH);
    struct cov_trainer_options options = {};
    struct cov_train_batch b = {};
    struct cov_train_score score;
    struct cov_trainer *trainer;
    struct cov_rng rng;
    std::vector<uint8_t> codes = draw_chunks(batch, set.length, set.length);
    std::vector<float> targets(batch * set.length * DEPTH);
    std::vector<char> present(batch * DEPTH, 1);
    cov_rng_init(&rng, 1);
    for (float &target : targets)
        target = (float)cov_rng_below(&rng, 5);
    b.n = batch;
    b.codes = codes.data();
    b.targets = targets.data();
    b.present = (const bool *)present.data();
    options.hp = &hp;
    options.L = set.length;
    options.max_batch = batch;
    must(cov_pool_new(1, &options.pool, &e), &e);
    const std::string name = name_of("training", dev, batch) + variant.name;
    cov_cuda_cards_of(dev)->without = variant.without;
    int rc = cov_trainer_new(dev, &options, block, &trainer, &e);
    if (rc == COV_ENOMEM || rc == COV_EUNSUPPORTED) {
        printf("%s: %s\n", name.c_str(), e.text);
        cov_pool_free(options.pool);
        return;
    }
    must(rc, &e);
    auto step = [&]() {
        must(cov_trainer_batch(trainer, &b, &score, &e), &e);
        must(cov_trainer_step(trainer, &adam, &e), &e);
    };
    if (set.once) {
        (void)cudaProfilerStart();
        step();
        (void)cudaProfilerStop();
        printf("%s: once\n", name.c_str());
    } else {
        std::vector<double> rates;
        step(); /* touches the memory */
        step(); /* records a graph */
        double start = cov_clock();
        while (rates.size() < 3 || cov_clock() - start < set.seconds) {
            double beg = cov_clock();
            step();
            rates.push_back((double)batch / (cov_clock() - beg));
        }
        print_rates(name, rates, "steps");
    }
    cov_trainer_free(trainer);
    cov_pool_free(options.pool);
}

/* SNVs of the middle of windows, in batches of `batch` chunks. */
struct EditBench {
    static constexpr size_t SNVS = 1024, WANTED = 1001; /* of a window */
    size_t batch, length;
    std::vector<uint8_t> windows; /* [n, 2, length]: both strands */
    struct Work {
        std::vector<uint8_t> codes;
        std::vector<struct cov_edited_chunk> chunks;
        std::vector<float> values;
    };
    std::vector<Work> work; /* of each thread */
    struct cov_net *net;
    size_t batches(void) const /* of a window */
    {
        return (2 * SNVS + batch - 1) / batch;
    }
};

/* Lists chunks 0 .. n-1 of a batch: both strands of an SNV, then those of the next one. */
size_t list_snvs(EditBench *b, size_t item, EditBench::Work *w, const uint8_t **window)
{
    const size_t L = b->length, first = item % b->batches() * b->batch;
    const size_t n = std::min(b->batch, 2 * b->SNVS - first), wanted = std::min(b->WANTED, L);
    *window = &b->windows[item / b->batches() % (b->windows.size() / (2 * L)) * 2 * L];
    for (size_t i = 0; i < n; i++) {
        const size_t strand = (first + i) % 2, snv = (first + i) / 2;
        const size_t at = (L / 2 + L - b->SNVS / 6 + snv / 3) % L; /* three at a position */
        const size_t place = strand ? L - 1 - at : at;
        uint8_t *codes = &w->codes[i * L];
        memcpy(codes, *window + strand * L, L);
        for (size_t k = 0; k <= snv % 3; k++) /* another base */
            codes[place] = (uint8_t)(codes[place] == COV_CODE_T ? COV_CODE_A : codes[place] << 1);
        w->chunks[i] = {strand, (L - wanted) / 2, (L + wanted) / 2};
    }
    return n;
}

int forward_edited(void *arg, size_t item, unsigned worker, struct cov_err *e)
{
    EditBench *b = (EditBench *)arg;
    EditBench::Work *w = &b->work[worker];
    const uint8_t *window;
    const size_t n = list_snvs(b, item, w, &window);
    const struct cov_edited_chunks chunks = {2, window, n, w->codes.data(), w->chunks.data()};
    return cov_net_forward_edited(b->net, worker, &chunks, w->values.data(), e);
}

/* Compares the wanted values of the first batch with those of whole chunks; returns the largest difference relative to the
 * largest value. */
double edits_off(EditBench *b)
{
    struct cov_err e = COV_ERR_INIT;
    EditBench::Work *w = &b->work[0];
    const size_t row = b->length * DEPTH;
    std::vector<float> values(b->batch * row), got, want;
    const uint8_t *window;
    must(forward_edited(b, 0, 0, &e), &e);
    const size_t n = list_snvs(b, 0, w, &window);
    must(cov_net_forward(b->net, 0, n, w->codes.data(), values.data(), &e), &e);
    for (size_t i = 0; i < n; i++)
        for (size_t k = w->chunks[i].beg * DEPTH; k < w->chunks[i].end * DEPTH; k++) {
            got.push_back(w->values[i * row + k]);
            want.push_back(values[i * row + k]);
        }
    return difference(got, want);
}

/* Returns parameters whose LSTMs forget as slowly as trained ones: those of random ones are at rest after a few steps. */
std::vector<float> slow_to_forget(const struct cov_hparams &hp, const float *block)
{
    struct cov_err e = COV_ERR_INIT;
    struct cov_params params;
    must(cov_params_init(&hp, &params, &e), &e);
    std::vector<float> slow(block, block + params.n_floats);
    const size_t hidden = (size_t)hp.hidden_size;
    for (size_t i = 0; i < params.n_items; i++)
        for (size_t u = hidden; strstr(params.items[i].name, "bias_ih") && u < 2 * hidden; u++)
            slow[params.items[i].offset + u] += 2;
    cov_params_fini(&params);
    return slow;
}

/* Prints the median, lowest and highest rate over rounds of all SNVs of some windows, new ones in each round. */
void measure_edits(struct cov_device *dev, const float *random, size_t batch, const Settings &set)
{
    enum { THREADS = 4 * COV_CUDA_SLOTS, WINDOWS = 16 };
    const double bound = 1e-3; /* bf16; check_edits has the bounds of each precision */
    struct cov_err e = COV_ERR_INIT;
    struct cov_hparams hp = published(DEPTH);
    const std::vector<float> block = slow_to_forget(hp, random);
    struct cov_pool *pool;
    EditBench b = {batch, set.length, {}, {}, NULL};
    b.windows = draw_chunks((size_t)8 * WINDOWS * 2, set.length, set.length);
    b.work.resize(THREADS);
    for (EditBench::Work &w : b.work) {
        w.codes.resize(batch * set.length);
        w.chunks.resize(batch);
        w.values.resize(batch * set.length * DEPTH);
    }
    const std::string name = name_of("edits", dev, batch);
    must(cov_pool_new(THREADS, &pool, &e), &e);
    int rc =
        cov_net_new(dev, &hp, block.data(), cov_net_size{set.length, THREADS, batch}, &b.net, &e);
    if (rc || !cov_net_can_edit(b.net)) {
        printf("%s: %s\n", name.c_str(), rc ? e.text : "computes whole windows");
    } else {
        const double off = edits_off(&b);
        printf("# %s: off by %.2g of the largest value, %.2g allowed\n", name.c_str(), off, bound);
        if (!(off <= bound))
            must(cov_fail(&e, COV_EIO, "%s: wrong values", name.c_str()), &e);
        if (set.once) { /* as the comparison did */
            printf("%s: once\n", name.c_str());
            cov_net_free(b.net);
            cov_pool_free(pool);
            return;
        }
        std::vector<double> rates;
        const size_t n = WINDOWS * b.batches(), round = 2 * WINDOWS * set.length;
        struct cov_forward_counts before, counts;
        cov_net_counts(b.net, &before);
        double start = cov_clock();
        while (rates.size() < 3 || cov_clock() - start < set.seconds) {
            double beg = cov_clock();
            must(cov_pool_for(pool, n, forward_edited, &b, &e), &e);
            rates.push_back((double)(WINDOWS * b.SNVS) / (cov_clock() - beg));
            std::rotate(b.windows.begin(), b.windows.begin() + (ptrdiff_t)round, b.windows.end());
        }
        cov_net_counts(b.net, &counts);
        print_rates(name, rates, "rounds", "SNVs");
        printf("  with windows, a strand costs 1/%.0f of a chunk\n",
               (double)(rates.size() * WINDOWS * b.SNVS * 2 * set.length) /
                   (double)(counts.positions_computed - before.positions_computed));
    }
    cov_net_free(b.net);
    cov_pool_free(pool);
}

void measure_all(enum cov_precision precision, const float *block, const Settings &set)
{
    struct cov_device *dev = open_gpu(precision);
    struct cov_device_advice advice;
    std::vector<size_t> batches = set.batches;
    printf("%s\n", dev->ops->describe(dev));
    dev->ops->advise(dev, &advice);
    if (batches.empty()) {
        batches = {64, 256, advice.batch};
        std::sort(batches.begin(), batches.end());
        batches.erase(std::unique(batches.begin(), batches.end()), batches.end());
    }
    for (size_t batch : batches) {
        if (set.forward && !set.variants) {
            time_layers(dev, block, batch, set);
            measure_forward(dev, block, batch, set.length, set);
        }
        for (size_t i = 0; set.forward && set.variants && i < 3; i++)
            measure_forward(dev, block, batch, set.length, set, forward_variants[i]);
        if (set.training && !set.variants)
            measure_training(dev, block, batch, set, usual);
        for (size_t i = 0; set.training && set.variants && i < 2; i++)
            measure_training(dev, block, batch, set, training_variants[i]);
    }
    for (size_t i = 0; set.edits && i < batches.size(); i++)
        measure_edits(dev, block, batches[i], set);
    if (set.forward && !set.variants && !set.once && set.length > 1000)
        measure_forward(dev, block, batches.back(), 1000, set);
    cov_device_close(dev);
}

Settings parse_settings(int argc, char **argv)
{
    Settings set = {};
    struct cov_err e = COV_ERR_INIT;
    int64_t number;
    set.length = 21384;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--forward") == 0) {
            set.forward = true;
        } else if (strcmp(argv[i], "--training") == 0) {
            set.training = true;
        } else if (strcmp(argv[i], "--edits") == 0) {
            set.edits = true;
        } else if (strcmp(argv[i], "--once") == 0) {
            set.once = true;
        } else if (strcmp(argv[i], "--variants") == 0) {
            set.variants = true;
        } else if (strcmp(argv[i], "--precision") == 0) {
            set.precision = value;
            i++;
        } else if (strcmp(argv[i], "--length") == 0) {
            must(cov_parse_i64(value, "--length", 8, 1 << 20, &number, &e), &e);
            set.length = (size_t)number;
            i++;
        } else {
            must(cov_parse_i64(argv[i], "argument", 1, 4096, &number, &e), &e);
            if (set.seconds > 0)
                set.batches.push_back((size_t)number);
            else
                set.seconds = (double)number;
        }
    }
    if (!set.forward && !set.training && !set.edits)
        set.forward = set.training = set.edits = true;
    if (!(set.seconds > 0))
        set.seconds = 5;
    return set;
}

void note(void *, enum cov_log_level, const char *text)
{
    printf("# %s\n", text);
}

} // namespace

int main(int argc, char **argv)
{
    static const enum cov_precision all[] = {COV_PRECISION_FP32, COV_PRECISION_BF16X3,
                                             COV_PRECISION_BALANCED, COV_PRECISION_TF32,
                                             COV_PRECISION_BF16};
    const Settings set = parse_settings(argc, argv);
    cov_log_set(note, NULL, COV_LOG_DEBUG);
    struct cov_err e = COV_ERR_INIT;
    struct cov_params params;
    struct cov_hparams hp = published(DEPTH);
    must(cov_params_init(&hp, &params, &e), &e);
    std::vector<float> block(params.n_floats);
    cov_params_randomize(&hp, &params, 1, block.data());
    cov_params_fini(&params);
    bool found = false;
    for (enum cov_precision precision : all) {
        if (set.precision && strcmp(set.precision, cov_precision_name(precision)) != 0)
            continue;
        found = true;
        measure_all(precision, block.data(), set);
    }
    if (!found)
        must(cov_fail(&e, COV_EUSAGE, "unknown precision '%s'", set.precision), &e);
    return 0;
}
