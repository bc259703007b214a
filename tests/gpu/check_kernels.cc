/* check_kernels.cc - checks every kernel of prediction against the scalar reference, at each
 * precision: layer by layer, on the input that the layer had on the card, and in whole networks.
 * Prints TAP.
 *   check_kernels [--big] [--precision NAME]
 * Built with nvcc it runs on a GPU (make check-gpu), where --big checks the published size in full.
 * --precision selects one precision, since after a failure the process can no longer use the GPU.
 * Built with the emulation of tests/mock it runs anywhere (make check). Needs neither htslib nor
 * HDF5.
 * SPDX-License-Identifier: MIT */
extern "C" {
#include "common/base/mem.h"
#include "common/compute/cpu/layers/ref.h"
#include "common/net/net.h"
#include "common/seq/alphabet.h"
}

#include <map>

#include "common/compute/cuda/cuda_plan.h"
#include "tests/gpu/rig.h"

namespace
{

struct Precision {
    std::string name;
    enum cov_precision precision;
    struct cov_cuda_arithmetic arithmetic;
    double layer_bound; /* bound of the error of a layer, given its input, relative to its largest
                       * value */
    double net_bound;   /* bound of output_error */
    bool truncated;
};

const Precision all_precisions[] = {
    {"fp32", COV_PRECISION_FP32, {COV_CUDA_FP32, COV_CUDA_FP32}, 3e-6, 2e-5, false},
    {"tf32x3", COV_PRECISION_BF16X3, {COV_CUDA_TF32X3, COV_CUDA_TF32X3}, 5e-6, 2e-5, false},
    {"balanced", COV_PRECISION_BALANCED, {COV_CUDA_TF32X3, COV_CUDA_BF16}, 5e-6, 1e-2, false},
    {"tf32", COV_PRECISION_TF32, {COV_CUDA_TF32, COV_CUDA_TF32}, 2e-3, 1e-2, false},
    {"bf16", COV_PRECISION_BF16, {COV_CUDA_BF16, COV_CUDA_BF16}, 5e-6, 3e-2, false},
    {"tf32 by wgmma",
     COV_PRECISION_TF32,
     {COV_CUDA_TF32, COV_CUDA_TF32, false, true},
     2e-3,
     1e-2,
     false},
    {"bf16 by wgmma",
     COV_PRECISION_BF16,
     {COV_CUDA_BF16, COV_CUDA_BF16, false, true},
     5e-6,
     3e-2,
     false},
};

std::vector<Precision> precisions; /* to check */

/* The largest error of each kind of step, relative to its bound. */
struct Worst {
    double off, bound;
};
std::map<std::string, Worst> worst;

void note_error(const struct cov_cuda_step &s, double off, double bound)
{
    Worst &w = worst[std::string(cov_cuda_step_name(&s)) +
                     (s.kind == COV_CUDA_STEP_LSTM_BF16 ? " in bf16" : "")];
    if (w.bound == 0 || !(off / bound <= w.off / w.bound))
        w = {off, bound};
}

void print_errors(const std::string &precision)
{
    for (const auto &w : worst)
        printf("# %s, %s: off by %.2g of the largest value, %.2g allowed\n", precision.c_str(),
               w.first.c_str(), w.second.off, w.second.bound);
    worst.clear();
}

/* Opens the GPU, with the kind of products that the precision names. */
struct cov_device *open_with(const Precision &p)
{
    setenv("COVTOOLS_WGMMA", p.arithmetic.wgmma ? "yes" : "no", 1);
    return open_gpu(p);
}

/* The emulation has products by warpgroups; of cards, those of compute capability 9.0. */
bool has_wgmma(void)
{
    struct cov_rt_card card;
    struct cov_err e = COV_ERR_INIT;
    must(cov_rt_describe(0, &card, &e), &e);
    return card.major == 9 && card.minor == 0;
}

/* A network, its reference, and bases. */
struct Network {
    struct cov_hparams hp;
    size_t L, n;
    std::vector<float> block;
    struct cov_layers shape;
    std::vector<uint8_t> codes; /* [n, L] */
};

struct cov_hparams draw_hparams(struct cov_rng *rng)
{
    struct cov_hparams hp;
    do {
        hp = {};
        hp.model_type = (enum cov_model_type)draw(rng, 0, 2);
        hp.cnn_layers = draw(rng, 1, 3);
        hp.filter_size = draw(rng, 1, 24);
        hp.kernel_size = draw(rng, 1, 11);
        hp.step = draw(rng, 1, 3);
        hp.up = draw(rng, 1, 2);
        hp.dilation = draw(rng, 0, 3) ? 1 : draw(rng, 2, 3);
        hp.lstm_layers = draw(rng, 1, 2);
        hp.hidden_size = draw(rng, 1, 70);
        hp.input_size = 4;
        hp.output_size = draw(rng, 1, 4);
        hp.bnorm = draw(rng, 0, 1);
    } while (cov_hparams_check(&hp, NULL));
    return hp;
}

/* Bases and a few ambiguity codes; every third chunk ends with padding. */
void draw_codes(struct cov_rng *rng, Network *net)
{
    net->codes.resize(net->n * net->L);
    for (size_t i = 0; i < net->n; i++) {
        size_t end = i % 3 == 1 ? cov_rng_below(rng, net->L + 1) : net->L;
        for (size_t t = 0; t < net->L; t++)
            net->codes[i * net->L + t] = t >= end                 ? (uint8_t)COV_CODE_PAD
                                         : cov_rng_below(rng, 20) ? draw_base(rng)
                                                                  : (uint8_t)draw(rng, 1, 15);
    }
}

void make_network(struct cov_rng *rng, Network *net)
{
    struct cov_params params;
    struct cov_err e = COV_ERR_INIT;
    must(cov_params_init(&net->hp, &params, &e), &e);
    net->block.resize(params.n_floats);
    cov_params_randomize(&net->hp, &params, cov_rng_next(rng), net->block.data());
    for (size_t i = 0; i < params.n_items; i++)
        for (size_t k = 0; !params.items[i].trained && k < params.items[i].n; k++)
            net->block[params.items[i].offset + k] += (float)cov_rng_double(rng) * 0.5f;
    must(cov_shape(&net->hp, net->L, &params, net->block.data(), &net->shape, &e), &e);
    cov_params_fini(&params);
    draw_codes(rng, net);
}

void free_network(Network *net)
{
    cov_layers_fini(&net->shape);
}

/* Memory of a card for a batch of a plan. */
struct Card {
    void *stream;
    char *weights, *memory, *area[COV_CUDA_N_AREAS];
};

void open_card(const struct cov_cuda_plan *plan, size_t n, Card *card)
{
    struct cov_err e = COV_ERR_INIT;
    void *p;
    must(cov_rt_stream_new(0, &card->stream, &e), &e);
    must(cov_rt_alloc(0, plan->weight_bytes, &p, &e), &e);
    card->weights = (char *)p;
    must(cov_rt_copy_in(card->stream, p, plan->weights, plan->weight_bytes, &e), &e);
    must(cov_rt_wait(card->stream, &e), &e);
    must(cov_rt_alloc(0, plan->chunk_bytes * n, &p, &e), &e);
    card->memory = (char *)p;
    for (int i = 0; i < COV_CUDA_N_AREAS; i++) {
        card->area[i] = (char *)p;
        p = (char *)p + plan->area_bytes[i] * n;
    }
}

void close_card(Card *card)
{
    cov_rt_free(0, card->weights);
    cov_rt_free(0, card->memory);
    cov_rt_stream_free(0, card->stream);
}

std::vector<char> read_card(const Card &card, const void *from, size_t bytes)
{
    struct cov_err e = COV_ERR_INIT;
    std::vector<char> v(bytes);
    must(cov_rt_copy_out(card.stream, v.data(), from, bytes, &e), &e);
    must(cov_rt_wait(card.stream, &e), &e);
    return v;
}

/* Returns x[n, t, c] of an area, without the padding between groups of channels; sets *clean to
 * false if that padding is not zero. */
std::vector<float> read_rows(const Card &card, int area, size_t rows, struct cov_channels channels,
                             bool bf16, bool *clean)
{
    size_t width = (size_t)cov_channel_width(channels),
           c = (size_t)(channels.groups * channels.size);
    std::vector<char> raw = read_card(card, card.area[area], rows * width * (bf16 ? 2 : 4));
    std::vector<float> x(rows * c);
    std::vector<bool> used(width);
    for (size_t i = 0; i < c; i++)
        used[(size_t)cov_channel_place(channels, (int)i)] = true;
    for (size_t r = 0; r < rows; r++) {
        size_t k = 0;
        for (size_t i = 0; i < width; i++) {
            uint32_t bits = 0;
            memcpy((char *)&bits + (bf16 ? 2 : 0), &raw[(r * width + i) * (bf16 ? 2 : 4)],
                   bf16 ? 2 : 4);
            float v;
            memcpy(&v, &bits, sizeof v);
            if (used[i])
                x[r * c + k++] = v;
            else if (v != 0)
                *clean = false;
        }
    }
    return x;
}

/* Returns the largest error relative to the largest value. bf16 values may also have their rounding
 * error. */
double difference(const std::vector<float> &got, const std::vector<float> &want, bool bf16)
{
    double most = 0, scale = 1e-30;
    for (size_t i = 0; i < want.size(); i++)
        scale = std::max(scale, (double)fabsf(want[i]));
    for (size_t i = 0; i < want.size(); i++) {
        double d = fabs((double)got[i] - (double)want[i]);
        if (bf16)
            d -= fabs((double)want[i]) / 256;
        most = larger(most, d / scale);
    }
    return most;
}

/* Returns the reference's output of a layer, given the input that the layer had on the card. */
std::vector<float> reference_layer(const Network &net, size_t layer, enum cov_arithmetic arithmetic,
                                   const std::vector<float> &x)
{
    const struct cov_layer &l = net.shape.layers[layer];
    std::vector<float> y(net.n * l.t_out * l.c_out);
    in_threads(net.n, [&](size_t b) {
        std::vector<double> state(6 * l.hidden + 1);
        cov_ref_layer(&l, &net.shape.weights[layer], arithmetic, x.data() + b * l.t_in * l.c_in,
                      y.data() + b * l.t_out * l.c_out, state.data());
    });
    return y;
}

struct cov_channels channels_of(const struct cov_layer &l, int lstm_units)
{
    if (l.kind == COV_LAYER_LSTM)
        return {(int)l.directions, (int)l.hidden, lstm_units};
    return {1, (int)l.c_out, cov_round_up((int)l.c_out, 8)};
}

/* Copies packed codes and extents of the whole batch to the card. */
void upload_batch(const Network &net, const struct cov_cuda_plan &plan, const Card &card,
                  const struct cov_cuda_batch &batch)
{
    struct cov_err e = COV_ERR_INIT;
    size_t row_bytes = (net.L + 1) / 2;
    std::vector<uint8_t> packed(net.n * row_bytes);
    std::vector<struct cov_cuda_extent> extents(net.n * plan.n_lstms + 1);
    for (size_t i = 0; i < net.n; i++)
        cov_codes_pack(&net.codes[i * net.L], net.L, &packed[i * row_bytes]);
    cov_cuda_batch_extents(&plan, &batch, extents.data());
    must(cov_rt_copy_in(card.stream, card.area[COV_CUDA_CODES], packed.data(), packed.size(), &e),
         &e);
    must(cov_rt_copy_in(card.stream, card.area[COV_CUDA_EXTENTS], extents.data(),
                        (extents.size() - 1) * sizeof extents[0], &e),
         &e);
    must(cov_rt_wait(card.stream, &e), &e);
}

/* Returns the one-hot rows of the batch. */
std::vector<float> onehot_rows(const Network &net)
{
    std::vector<float> x(net.n * net.L * 4);
    for (size_t i = 0; i < net.n * net.L; i++)
        memcpy(&x[4 * i], cov_onehot_f32[net.codes[i]], 4 * sizeof(float));
    return x;
}

/* Compares the layer (or the last two layers) that step s completes with the reference, given its input
 * *x; then replaces *x by the output. `products`: the operands of its products. */
bool check_layer(const Network &net, const Precision &p, const Card &card,
                 const struct cov_cuda_step &s, enum cov_cuda_products products,
                 std::vector<float> *x)
{
    const struct cov_layer &l = net.shape.layers[s.layer];
    bool clean = true, bf16 = false;
    std::vector<float> got,
        want = reference_layer(net, s.layer, products == COV_CUDA_BF16 ? COV_BF16 : COV_FP32, *x);
    if (s.kind == COV_CUDA_STEP_LAST) {
        want = reference_layer(net, s.layer + 1, COV_FP32, want);
        std::vector<char> raw = read_card(card, card.area[COV_CUDA_VALUES], want.size() * 4);
        got.resize(want.size());
        memcpy(got.data(), raw.data(), raw.size());
        for (size_t k = 0; k < want.size(); k++)
            if (net.codes[k / (size_t)net.hp.output_size] == COV_CODE_PAD)
                want[k] = COV_PAD_VALUE;
    } else {
        bf16 = s.kind == COV_CUDA_STEP_FIRST  ? s.first.y_bf16
               : s.kind == COV_CUDA_STEP_GEMM ? s.gemm.y_bf16
                                              : s.lstm.y_bf16;
        got = read_rows(card, s.to, net.n * l.t_out, channels_of(l, s.lstm.units), bf16, &clean);
    }
    double bound = products == COV_CUDA_TF32 ? 2e-3 : p.layer_bound;
    /* h is fed back as bf16, so the error of a value that is rounded the other way grows. */
    if (s.kind == COV_CUDA_STEP_LSTM_BF16 ||
        (s.kind == COV_CUDA_STEP_LSTM_FP32 && products == COV_CUDA_BF16))
        bound = 1e-2;
    double off = difference(got, want, bf16);
    note_error(s, off, bound);
    if ((!(off <= bound) || !clean) && !faulty())
        printf("# %s, layer %zu (%s, %zux%zu to %zux%zu, kernel %zu, stride %zu, dilation %zu, "
               "%zu chunks): off by %g of the largest value, %g allowed%s\n",
               p.name.c_str(), s.layer, cov_cuda_step_name(&s), l.t_in, l.c_in, l.t_out, l.c_out,
               l.kernel, l.stride, l.dilation, net.n, off, bound,
               clean ? "" : "; padding is not zero");
    *x = got;
    return off <= bound && clean;
}

/* Runs the network step by step; prints which layers are off, and returns false if there are any. */
bool check_layers(const Network &net, const Precision &p)
{
    struct cov_cuda_plan plan;
    struct cov_rt_card what;
    struct cov_err e = COV_ERR_INIT;
    Card card;
    must(cov_rt_describe(0, &what, &e), &e);
    must(cov_cuda_plan_init(net.shape.layers, net.shape.weights, net.shape.n, p.arithmetic,
                            what.shared_bytes, &plan, &e),
         &e);
    open_card(&plan, net.n, &card);
    std::vector<struct cov_plan_ends> ends(plan.n_layers + 1);
    struct cov_cuda_batch batch;
    cov_cuda_batch_full(&plan, net.n, ends.data(), &batch);
    upload_batch(net, plan, card, batch);
    std::vector<float> x = onehot_rows(net);
    bool passed = true;
    enum cov_cuda_products products = COV_CUDA_FP32;
    for (size_t i = 0; i < plan.n_steps; i++) {
        const struct cov_cuda_step &s = plan.steps[i];
        must(cov_rt_use(0, &e), &e);
        must(cov_cuda_plan_queue(&plan, &s, &batch, card.weights, card.area, card.stream, &e), &e);
        must(cov_rt_wait(card.stream, &e), &e);
        /* The steps of an LSTM follow the product of its gates; the table of the first layer is exact. */
        if (s.kind == COV_CUDA_STEP_GEMM)
            products = s.products;
        if (s.kind == COV_CUDA_STEP_FIRST || s.kind == COV_CUDA_STEP_LAST)
            products = COV_CUDA_FP32;
        bool complete = i + 1 == plan.n_steps || plan.steps[i + 1].layer != s.layer;
        if (complete)
            passed = check_layer(net, p, card, s, products, &x) && passed;
    }
    close_card(&card);
    cov_cuda_plan_fini(&plan);
    return passed;
}

/* Returns values[n, L, D] of a device, computed with `batch` chunks per call; `all`: of every position. */
std::vector<float> values_of(struct cov_device *dev, const Network &net, size_t batch,
                             struct cov_forward_counts *counts = NULL, bool all = false)
{
    struct cov_net *program;
    struct cov_err e = COV_ERR_INIT;
    size_t row = net.L * (size_t)net.hp.output_size;
    std::vector<float> values(net.n * row);
    must(cov_net_new(dev, &net.hp, net.block.data(), cov_net_size{net.L, 1, batch}, &program, &e),
         &e);
    if (all)
        cov_net_compute_all(program);
    for (size_t i = 0; i < net.n; i += batch)
        must(cov_net_forward(program, 0, std::min(batch, net.n - i), &net.codes[i * net.L],
                             &values[i * row], &e),
             &e);
    if (counts)
        cov_net_counts(program, counts);
    cov_net_free(program);
    return values;
}

std::vector<float> cpu_values(const Network &net, const char *levels)
{
    struct cov_device *dev = open_cpu(levels);
    std::vector<float> values = values_of(dev, net, net.n);
    cov_device_close(dev);
    return values;
}

/* Returns the mean and the standard deviation of dataset d's logarithms, without padding. */
std::pair<double, double> spread_of(const Network &net, const std::vector<float> &values, size_t d)
{
    double sum = 0, squares = 0, n = 0;
    size_t outputs = (size_t)net.hp.output_size;
    for (size_t i = d; i < values.size(); i += outputs) {
        if (net.codes[i / outputs] == COV_CODE_PAD)
            continue;
        double z = log((double)values[i]);
        n++;
        sum += z;
        squares += z * z;
    }
    return {sum / n, sqrt(squares / n - sum / n * (sum / n))};
}

/* Scales the last layer so that the logarithms of each dataset have mean 0 and deviation 1. Those of random
 * weights may deviate by 0.003, of which the last bits of a float near 1, and thus of exp, are 1e-4. */
void standardize(Network *net)
{
    const struct cov_layer &last = net->shape.layers[net->shape.n - 1];
    const struct cov_layer_weights &w = net->shape.weights[net->shape.n - 1];
    std::vector<float> values = cpu_values(*net, NULL);
    float *weight = &net->block[(size_t)(w.weight - net->block.data())],
          *bias = &net->block[(size_t)(w.bias - net->block.data())];
    for (size_t d = 0; d < last.c_out; d++) {
        auto [mean, deviation] = spread_of(*net, values, d);
        bias[d] = (float)(((double)bias[d] - mean) / deviation);
        for (size_t i = 0; i < last.c_in; i++)
            weight[d * last.c_in + i] /= (float)deviation;
    }
}

/* Returns the largest error of the network's outputs before exp, relative to the standard deviation of
 * their dataset. Relative to the values themselves, which vary less, errors would seem smaller. */
double output_error(const Network &net, const std::vector<float> &got,
                    const std::vector<float> &want)
{
    double worst = 0;
    size_t outputs = (size_t)net.hp.output_size;
    for (size_t d = 0; d < outputs; d++) {
        double most = 0;
        for (size_t i = d; i < want.size(); i += outputs)
            if (net.codes[i / outputs] != COV_CODE_PAD)
                most = larger(most, fabs(log((double)got[i]) - log((double)want[i])));
            else if (got[i] != want[i])
                most = INFINITY;
        worst = larger(worst, most / spread_of(net, want, d).second);
    }
    return worst;
}

/* Returns the largest relative difference. */
double relative(const std::vector<float> &got, const std::vector<float> &want)
{
    double most = 0;
    for (size_t i = 0; i < want.size(); i++) {
        double d = fabs((double)got[i] - (double)want[i]) / fabs((double)want[i]);
        most = larger(most, d);
    }
    return most;
}

/* Checks that the values agree with the CPU's, and are bit-identical in batches of other sizes. */
void check_network(const Network &net, const Precision &p, const std::vector<float> &want,
                   const char *of)
{
    std::string name = p.name + ": " + of;
    struct cov_device *dev = open_with(p);
    std::vector<float> got = values_of(dev, net, net.n),
                       again = values_of(dev, net, (net.n + 1) / 2);
    double off = output_error(net, got, want);
    printf("# %s, %s: off by %.2g of the outputs' deviation, %.2g allowed\n", p.name.c_str(), of,
           off, p.net_bound);
    named(off <= p.net_bound, name + " agrees with the CPU");
    named(got == again, name + " does not depend on the batch");
    cov_device_close(dev);
}

/* Draws chunks that end with padding of various lengths. Of the last two chunks, one has no padding
 * and the other only padding. */
void draw_padded(struct cov_rng *rng, Network *net)
{
    draw_codes(rng, net);
    for (size_t i = 0; i < net->n; i++) {
        size_t end = i + 2 < net->n   ? 1 + cov_rng_below(rng, net->L / (i % 2 ? 2 : 6))
                     : i + 1 < net->n ? net->L
                                      : 0;
        for (size_t t = 0; t < net->L; t++)
            net->codes[i * net->L + t] = t >= end ? (uint8_t)COV_CODE_PAD : draw_base(rng);
    }
}

/* Checks that skipping padding changes values by less than 1e-5, and not at all with an LSTM in
 * bf16. */
void check_padding(const Network &net, const Precision &p, const char *type)
{
    struct cov_device *dev = open_with(p);
    struct cov_forward_counts part, all;
    const size_t row = net.L * (size_t)net.hp.output_size, positions = net.n * net.L;
    const std::vector<float> got = values_of(dev, net, net.n, &part),
                             want = values_of(dev, net, net.n, &all, true);
    /* A different batch: without the first two chunks and the last two. */
    Network fewer = net;
    fewer.n -= 4;
    fewer.codes.erase(fewer.codes.begin(), fewer.codes.begin() + (ptrdiff_t)(2 * net.L));
    const std::vector<float> again = values_of(dev, fewer, fewer.n);
    cov_device_close(dev);
    double off = relative(got, want), most = p.arithmetic.lstm == COV_CUDA_BF16 ? 0 : 1e-5;
    if (off > most)
        printf("# off by %g, %g allowed\n", off, most);
    named(off <= most, p.name + ": padding is skipped, " + type);
    named(std::equal(again.begin(), again.end(), got.begin() + (ptrdiff_t)(2 * row)),
          p.name + ":   the same bytes in another batch");
    bool less = part.positions_computed * 10 < positions * 9;
    if (!less)
        printf("# %zu of %zu computed\n", (size_t)part.positions_computed, positions);
    named(less && part.positions_computed + part.positions_at_rest == positions &&
              all.positions_computed == positions && all.positions_at_rest == 0,
          p.name + ":   positions are counted");
}

/* Random networks. The first has more channels than a block has columns, several blocks in each
 * dimension, and the largest LSTM of the bf16 kernel; the LSTM of the second is too large for that
 * kernel. The third needs several blocks for a sequence in its last two layers, whose taps are too
 * far apart for one tile. */
std::vector<Network> draw_networks(bool big)
{
    struct cov_rng rng;
    cov_rng_init(&rng, 31);
    std::vector<Network> nets((size_t)(big ? 60 : 12));
    for (size_t i = 0; i < nets.size(); i++) {
        Network &net = nets[i];
        net.hp = draw_hparams(&rng);
        if (i == 0) {
            int64_t outputs = net.hp.output_size;
            net.hp = small_network(33, 5, 128);
            net.hp.cnn_layers = net.hp.up = 2;
            net.hp.output_size = outputs;
        } else if (i == 1 || i == 3) {
            net.hp = nets[0].hp;
            net.hp.model_type = COV_MODEL_HYBRID;
            net.hp.cnn_layers = 1;
            net.hp.filter_size = 5;
            net.hp.hidden_size = i == 1 ? 131 : 50; /* 50 is padded to 64 */
        } else if (i == 2) {
            net.hp = small_network(5, 9, 1);
            net.hp.model_type = COV_MODEL_CNN;
            net.hp.step = 1;
            net.hp.dilation = 20;
            net.hp.output_size = 3;
        }
        size_t unit = 1;
        for (int64_t k = 0; k < net.hp.cnn_layers; k++)
            unit *= (size_t)net.hp.step;
        net.L =
            unit * (size_t)draw(&rng, 1, std::max<int64_t>(1, (big ? 400 : 24) / (int64_t)unit));
        net.n = (size_t)draw(&rng, 1, big ? 40 : 9);
        if (i == 0 || i == 2) {
            net.L = i ? 520 : 16;
            net.n = i ? 1 : 9;
        }
        make_network(&rng, &net);
    }
    return nets;
}

/* A network drawn with a seed of its own. */
Network seeded_network(uint64_t seed, const struct cov_hparams &hp, size_t L, size_t n)
{
    struct cov_rng rng;
    cov_rng_init(&rng, seed);
    Network net = {hp, L, n, {}, {}, {}};
    make_network(&rng, &net);
    return net;
}

/* A network with two layers of each kind. */
Network two_of_each(size_t L, size_t n)
{
    struct cov_hparams hp = small_network(12, 9, 40);
    hp.cnn_layers = hp.up = hp.lstm_layers = hp.output_size = 2;
    Network net = seeded_network(35, hp, L, n);
    standardize(&net);
    return net;
}

void check_random(bool big)
{
    std::vector<Network> nets = draw_networks(big);
    Network deep = two_of_each(big ? 1600 : 32, 9);
    std::vector<float> want = cpu_values(deep, "scalar");
    for (const Precision &p : precisions) {
        bool passed = true;
        use_sums(p.truncated);
        for (const Network &net : nets)
            passed = check_layers(net, p) && passed;
        print_errors(p.name);
        named(passed, p.name + ": layers agree with the reference");
        check_network(deep, p, want, "a network");
    }
    free_network(&deep);
    for (Network &net : nets)
        free_network(&net);
}

/* Returns values[n, L, D] of the reference, for networks without LSTM. `rounded`: the operands of
 * convolutions between the first and the last are rounded to bf16. */
std::vector<float> chained_values(const Network &net, bool rounded)
{
    std::vector<float> x = onehot_rows(net);
    for (size_t i = 0; i < net.shape.n; i++)
        x = reference_layer(net, i, rounded && i > 0 && i + 2 < net.shape.n ? COV_BF16 : COV_FP32,
                            x);
    return x;
}

double median_difference(const std::vector<float> &a, const std::vector<float> &b)
{
    std::vector<double> off;
    for (size_t i = 0; i < a.size(); i++)
        off.push_back(fabs((double)a[i] - (double)b[i]) / fabs((double)b[i]));
    std::nth_element(off.begin(), off.begin() + (ptrdiff_t)(off.size() / 2), off.end());
    return off[off.size() / 2];
}

/* A network whose last layer has large weights amplifies the rounding errors of bf16 to tens of
 * percent. The median value must still agree with the reference that rounds the same operands.
 * (Single values may not: occasionally a sum is so close to the midpoint of two bf16 numbers that
 * card and reference round it differently.) */
void check_amplified(const Precision &p)
{
    struct cov_rng rng;
    struct cov_hparams hp = small_network(16, 9, 1);
    hp.model_type = COV_MODEL_CNN;
    hp.cnn_layers = hp.up = 2;
    hp.bnorm = false;
    Network net = seeded_network(34, hp, 240, 2);
    cov_rng_init(&rng, 36);
    for (uint8_t &code : net.codes)
        code = draw_base(&rng);
    const struct cov_layer &last = net.shape.layers[net.shape.n - 1];
    size_t at = (size_t)(net.shape.weights[net.shape.n - 1].weight - net.block.data());
    for (size_t i = 0; i < last.c_in * last.c_out; i++)
        net.block[at + i] *= 2500;
    std::vector<float> exact = chained_values(net, false), rounded = chained_values(net, true);
    struct cov_device *dev = open_with(p);
    std::vector<float> got = values_of(dev, net, net.n);
    cov_device_close(dev);
    double of_bf16 = median_difference(rounded, exact), of_card = median_difference(got, rounded);
    printf("# %s, weights of the last layer about 1,000: bf16 changes the median value by %.2g, "
           "the card "
           "differs from the rounded reference by %.2g\n",
           p.name.c_str(), of_bf16, of_card);
    named(of_bf16 > 0.02 && of_card < of_bf16 / 50,
          p.name + ": only the rounding to bf16 is amplified");
    free_network(&net);
}

/* Checks long padding with two LSTM layers in both directions, with two in one direction, and
 * without LSTM. */
void check_padded(bool big)
{
    for (int type = COV_MODEL_CNN; type <= COV_MODEL_BI_HYBRID; type++) {
        struct cov_rng rng;
        cov_rng_init(&rng, 33);
        Network net;
        net.hp = small_network(8, 9, 12);
        net.hp.model_type = (enum cov_model_type)type;
        net.hp.cnn_layers = net.hp.up = net.hp.lstm_layers = 2;
        net.L = big ? 4000 : 800;
        net.n = big ? 40 : 10;
        make_network(&rng, &net);
        draw_padded(&rng, &net);
        for (const Precision &p : precisions) {
            if (big || p.arithmetic.conv == COV_CUDA_FP32 ||
                (type == COV_MODEL_BI_HYBRID && p.arithmetic.conv == COV_CUDA_BF16))
                check_padding(net, p, cov_model_type_name((enum cov_model_type)type));
        }
        free_network(&net);
    }
    for (const Precision &p : precisions)
        if (p.arithmetic.conv == COV_CUDA_BF16)
            check_amplified(p);
}

Network published_network(size_t L, size_t n)
{
    return seeded_network(32, published(2), L, n);
}

/* Checks a network of the published size; the emulation checks only its layers, with short chunks. */
void check_published(bool big)
{
    Network net = published_network(big ? 21384 : 48, big ? 5 : 3);
    for (const Precision &p : slow_ones(precisions)) {
        use_sums(p.truncated);
        bool passed = check_layers(net, p);
        print_errors(p.name + ", the published size");
        named(passed, p.name + ": layers of the published size agree with the reference");
    }
    if (big) {
        standardize(&net);
        std::vector<float> want = cpu_values(net, NULL);
        for (const Precision &p : slow_ones(precisions))
            check_network(net, p, want, "the published size");
    }
    free_network(&net);
}

/* Checks that 256 chunks, computed by four concurrent calls, have the same bytes as in batches of
 * five. The emulation compares one such batch of each call. */
void check_calls(bool big)
{
    enum { CALLS = 4, EACH = 64, FEW = 5 };
    Network net = big ? published_network(21384, CALLS * EACH) : two_of_each(8, CALLS * EACH);
    size_t row = net.L * (size_t)net.hp.output_size;
    std::vector<float> got(net.n * row), few(FEW * row);
    for (const Precision &p : slow_ones(precisions)) {
        struct cov_err e = COV_ERR_INIT;
        struct cov_net *program;
        bool same = true;
        struct cov_device *dev = open_with(p);
        must(cov_net_new(dev, &net.hp, net.block.data(), cov_net_size{net.L, CALLS, EACH}, &program,
                         &e),
             &e);
        in_threads(CALLS, [&](size_t i) {
            struct cov_err of_call = COV_ERR_INIT;
            must(cov_net_forward(program, (unsigned)i, EACH, &net.codes[i * EACH * net.L],
                                 &got[i * EACH * row], &of_call),
                 &of_call);
        });
        for (size_t i = 0; i < net.n; i += big ? FEW : EACH) {
            size_t n = std::min((size_t)FEW, net.n - i);
            must(cov_net_forward(program, 0, n, &net.codes[i * net.L], few.data(), &e), &e);
            same = same && std::equal(few.begin(), few.begin() + (ptrdiff_t)(n * row),
                                      got.begin() + (ptrdiff_t)(i * row));
        }
        cov_net_free(program);
        cov_device_close(dev);
        named(same, p.name + ": 256 chunks in four calls: the same bytes as five at a time");
    }
    free_network(&net);
}

/* Checks that the checks above find planted faults. */
void check_faults(void)
{
#if defined(SIMT_EMULATED_H)
    Network net = two_of_each(32, 9);
    std::vector<float> want = cpu_values(net, "scalar");
    for (const Precision &p : precisions) {
        /* The other precisions use the same kernels. */
        if (p.truncated || p.arithmetic.conv != p.arithmetic.lstm ||
            p.arithmetic.conv == COV_CUDA_TF32)
            continue;
        struct cov_device *dev = open_with(p);
        for (const Fault &f : faults) {
            if (p.arithmetic.wgmma ? !f.affects_wgmma(p.precision) : !f.affects(p.precision))
                continue;
            simt_set_fault(f.fault);
            /* This check computes every row with products, and so never rests. */
            bool layers = f.fault == SIMT_FAULT_REST || !check_layers(net, p);
            double off = output_error(net, values_of(dev, net, net.n), want);
            simt_set_fault(SIMT_FAULT_NONE);
            printf("# %s, %s: a network is off by %.2g of the outputs' deviation\n", p.name.c_str(),
                   f.name, off);
            named(layers && off > p.net_bound, p.name + ": " + f.name + " are found");
        }
        cov_device_close(dev);
    }
    worst.clear();
    free_network(&net);
#endif
}

} // namespace

int main(int argc, char **argv)
{
    Options o = parse_options(argc, argv);
    for (const Precision &p : choose_precisions(all_precisions, o.only)) {
        if (!p.arithmetic.wgmma || has_wgmma())
            precisions.push_back(p);
        else
            printf("ok %d # SKIP %s: no products by warpgroups\n", ++n_tests, p.name.c_str());
    }
    check_random(o.big);
    check_padded(o.big);
    check_published(o.big);
    check_calls(o.big);
    check_faults();
    return finish_tests();
}
