/* check_lstm.cc - checks the kernels of LSTMs in single precision that keep their weights on a multiprocessor: in prediction
 * and training, for all their sizes, with 1, 2 and 4 sequences per block. They must agree with the kernels for any size,
 * which check_kernels and check_training compare with the CPU. Prints TAP.
 *   check_lstm [--big] [--precision fp32]
 * Runs on a GPU or in emulation, like check_kernels.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cuda/kernels.h"
#include "tests/gpu/rig.h"

namespace
{

enum { FORGET = 1 };       /* the gate; low, so that resting sequences settle quickly */
const double BOUND = 3e-6; /* of differences, relative to the largest value */

/* A layer with two directions on the card. The sequences of a small layer are the first ones of a larger layer. */
struct Layer {
    int n, t, units;
    bool resident;
    void *stream;
    std::vector<void *> memory;
    std::vector<float> gates, w, dy;
    size_t places(void) const
    {
        return (size_t)n * (size_t)t * 2 * (size_t)units;
    }
};

Layer make_layer(int n, int t, int units, bool resident)
{
    struct cov_err e = COV_ERR_INIT;
    struct cov_rng rng;
    Layer l = {n, t, units, resident, NULL, {}, {}, {}, {}};
    auto between = [&](double least, double most) {
        return (float)(least + (most - least) * cov_rng_double(&rng));
    };
    must(cov_rt_stream_new(0, &l.stream, &e), &e);
    cov_rng_init(&rng, 1);
    l.w.resize((size_t)units * (size_t)units * 8);
    for (float &v : l.w)
        v = between(-1, 1) / sqrtf((float)units);
    for (size_t i = 0; i < l.places(); i++) {
        for (int gate = 0; gate < 4; gate++)
            l.gates.push_back(gate == FORGET ? between(-4, -1) : between(-2, 2));
        l.dy.push_back(between(-1, 1));
    }
    return l;
}

/* Copies values to new memory of the card. */
template <typename T> T *put(Layer *l, const std::vector<T> &values)
{
    struct cov_err e = COV_ERR_INIT;
    void *p;
    must(cov_rt_alloc(0, values.size() * sizeof(T), &p, &e), &e);
    l->memory.push_back(p);
    must(cov_rt_copy_in(l->stream, p, values.data(), values.size() * sizeof(T), &e), &e);
    return (T *)p;
}

template <typename T> std::vector<T> get(const Layer &l, const void *from, size_t n)
{
    struct cov_err e = COV_ERR_INIT;
    std::vector<T> values(n);
    must(cov_rt_launched("steps of an LSTM", &e), &e);
    must(cov_rt_copy_out(l.stream, values.data(), from, n * sizeof(T), &e), &e);
    must(cov_rt_wait(l.stream, &e), &e);
    return values;
}

void free_layer(Layer *l)
{
    for (void *p : l->memory)
        cov_rt_free(0, p);
    cov_rt_stream_free(0, l->stream);
}

/* What the kernels compute, for comparison: arrays [n, ...]. */
typedef std::vector<std::vector<float>> Values;

/* A third of the sequences have equal gates after a quarter of their steps, so that they rest; another third ends
 * early. */
Values predict(int n, int t, int units, bool resident, bool rest, int *products)
{
    Layer layer = make_layer(n, t, units, resident);
    std::vector<struct cov_cuda_extent> extents;
    for (int i = 0; i < n; i++)
        extents.push_back({i % 3 == 0 ? t / 4 : t, t, i % 3 == 1 ? t / 3 : t, {0, 0}});
    struct cov_cuda_lstm l = {};
    l.gates = put(&layer, layer.gates);
    l.w = put(&layer, layer.w);
    l.y = put(&layer, std::vector<float>(layer.places(), 0.0f));
    l.extents = put(&layer, extents);
    l.n = n;
    l.t = t;
    l.directions = 2;
    l.units = units;
    l.extent_pitch = 1;
    l.rest = rest;
    l.resident = resident;
    cov_cuda_lstm_fp32(&l, layer.stream);
    Values values = {get<float>(layer, l.y, layer.places())};
    *products = get<struct cov_cuda_extent>(layer, l.extents, (size_t)n)[0].products[0];
    /* A block runs as many steps as its longest sequence; those of the others are not compared. */
    for (int i = 1; i < n; i += 3)
        for (int step = t / 3; step < t; step++)
            for (int u = 0; u < units; u++)
                values[0][(((size_t)i * (size_t)t + (size_t)step) * 2) * (size_t)units +
                          (size_t)u] = 0;
    free_layer(&layer);
    return values;
}

Values train(int n, int t, int units, bool resident)
{
    Layer layer = make_layer(n, t, units, resident);
    struct cov_cuda_lstm_train l = {};
    l.gates = put(&layer, layer.gates);
    l.w = put(&layer, layer.w);
    l.cells = put(&layer, layer.dy);
    l.y = put(&layer, layer.dy);
    l.dy = put(&layer, layer.dy);
    l.dgates = l.gates; /* as in training in single precision */
    l.n = n;
    l.t = t;
    l.directions = 2;
    l.units = units;
    l.resident = resident;
    cov_cuda_lstm_forward_fp32(&l, layer.stream);
    Values values = {get<float>(layer, l.y, layer.places()),
                     get<float>(layer, l.cells, layer.places()),
                     get<float>(layer, l.gates, layer.places() * 4)};
    cov_cuda_lstm_backward_fp32(&l, layer.stream);
    values.push_back(get<float>(layer, l.dgates, layer.places() * 4));
    free_layer(&layer);
    return values;
}

double difference(const Values &got, const Values &want)
{
    double off = 0;
    for (size_t k = 0; k < want.size(); k++)
        off = larger(off, ::difference(got[k], want[k]));
    return off;
}

bool begins_with(const Values &many, const Values &few)
{
    for (size_t k = 0; k < few.size(); k++)
        if (!std::equal(few[k].begin(), few[k].end(), many[k].begin()))
            return false;
    return true;
}

void report(const std::string &name, const Values &any, const Values &one, const Values &two,
            const Values &four)
{
    double off = difference(one, any);
    printf("# %s: off by %.2g of the largest value, %.2g allowed\n", name.c_str(), off, BOUND);
    result(off <= BOUND, (name + ": agrees with the kernels for any size").c_str());
    result(begins_with(two, one) && begins_with(four, one),
           (name + ": values do not depend on the sequences per block").c_str());
}

/* Returns true if the kernels fit into the card's shared memory. The emulation has enough for all of them. */
bool can_check(int units)
{
#if defined(SIMT_EMULATED_H)
    (void)units;
    return true;
#else
    struct cov_rt_card card;
    struct cov_err e = COV_ERR_INIT;
    must(cov_rt_describe(0, &card, &e), &e);
    return cov_cuda_lstm_resident_fits(units, card.shared_bytes);
#endif
}

void check_units(int units, int t, int t_train)
{
    if (!can_check(units)) {
        printf("ok %d # SKIP %d units: too little shared memory\n", ++n_tests, units);
        return;
    }
    const std::string of = " of " + std::to_string(units) + " units";
    int any_products, products;
    Values any = predict(9, t, units, false, true, &any_products),
           one = predict(9, t, units, true, true, &products);
    report("prediction" + of, any, one, predict(17, t, units, true, true, &any_products),
           predict(33, t, units, true, true, &any_products));
    result(products < t, ("prediction" + of + ": a sequence rests").c_str());
    result(difference(one, predict(9, t, units, true, false, &products)) <= BOUND && products == t,
           ("prediction" + of + ": resting makes no difference").c_str());
    report("training" + of, train(9, t_train, units, false), train(9, t_train, units, true),
           train(65, t_train, units, true), train(129, t_train, units, true));
}

/* Checks that the comparisons above find planted faults. */
void check_faults(void)
{
#if defined(SIMT_EMULATED_H)
    const int n = 9, t = 48, t_train = 8, units = 32;
    int products;
    Values predicted = predict(n, t, units, false, true, &products),
           trained = train(n, t_train, units, false);
    for (const Fault &f : faults) {
        if (f.fault != SIMT_FAULT_BARRIER && f.fault != SIMT_FAULT_REST)
            continue;
        simt_set_fault(f.fault);
        bool found = difference(predict(n, t, units, true, true, &products), predicted) > BOUND &&
                     (f.fault == SIMT_FAULT_REST ||
                      difference(train(n, t_train, units, true), trained) > BOUND);
        simt_set_fault(SIMT_FAULT_NONE);
        result(found, (std::string("found: ") + f.name).c_str());
    }
#endif
}

} // namespace

int main(int argc, char **argv)
{
    Options o = parse_options(argc, argv);
    for (int units = 32; units <= COV_CUDA_LSTM_UNITS; units += 32)
        if (!o.only || strcmp(o.only, "fp32") == 0)
            check_units(units, o.big ? 2000 : 48, o.big ? 400 : 8);
    check_faults();
    return finish_tests();
}
