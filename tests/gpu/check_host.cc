/* check_host.cc - checks the host side of the plugin with the cards and the cuBLAS of tests/mock: cards that
 * share a queue, batch sizes, too little memory, and failures; who computes the products of LSTMs, and what
 * happens if the library or our kernels are faulty. Prints TAP.
 * SPDX-License-Identifier: MIT */
extern "C" {
#include "common/base/log.h"
#include "common/base/pool.h"
#include "common/compute/device_open.h"
#include "common/net/net.h"
#include "common/seq/alphabet.h"
#include "tests/mock/runtime_mock.h"
}

#include "common/compute/cuda/cuda_cards.h"
#include "tests/gpu/toy.h"

namespace
{

std::string log_text;

void note(void *, enum cov_log_level level, const char *text)
{
    log_text += std::string(level == COV_LOG_WARNING ? "warning: " : "") + text + "\n";
}

bool has(const std::string &text, const char *part)
{
    bool found = text.find(part) != std::string::npos;
    if (!found)
        printf("# no \"%s\" in \"%s\"\n", part, text.c_str());
    return found;
}

/* length(i): the bases of chunk i; the rest is padding. */
template <typename Length>
Toy make_data(const struct cov_hparams &hp, size_t L, size_t n, Length length)
{
    struct cov_err e = COV_ERR_INIT;
    struct cov_rng rng;
    const size_t outputs = (size_t)hp.output_size;
    Toy d = {hp, L, n, {}, {}, {}, {}, {}, {}, {}};
    must(cov_params_init(&d.hp, &d.params, &e), &e);
    d.block.resize(d.params.n_floats);
    cov_params_randomize(&d.hp, &d.params, 5, d.block.data());
    cov_rng_init(&rng, 6);
    for (size_t i = 0; i < n * L; i++)
        d.codes.push_back(i % L < length(i / L) ? draw_base(&rng) : (uint8_t)COV_CODE_PAD);
    for (size_t i = 0; i < n * L * outputs; i++)
        d.targets.push_back((float)cov_rng_below(&rng, 5));
    d.present.assign(n * outputs, 1);
    return d;
}

/* Full chunks. */
Toy plain_data(int64_t hidden)
{
    struct cov_hparams hp = small_network(5, 5, hidden);
    hp.output_size = 2;
    return make_data(hp, 24, 37, [](size_t) { return (size_t)24; });
}

/* Two LSTM layers in both directions; chunks 0 and 1 form a group, since chunks 2 and on are shorter. */
Toy padded_data(void)
{
    struct cov_hparams hp = small_network(5, 5, 6);
    hp.lstm_layers = 2;
    return make_data(hp, 16, 9, [](size_t i) { return i < 2 ? 16 : 8 - i % 3; });
}

struct Run {
    std::string mock = "cards=1"; /* COVTOOLS_MOCK */
    const char *cublas = "";      /* COVTOOLS_CUBLAS */
    const char *wgmma = "";       /* COVTOOLS_WGMMA */
    const char *then = NULL;      /* COVTOOLS_MOCK once the network exists */
    std::vector<int> cards;       /* empty: all */
    enum cov_precision precision = COV_PRECISION_FP32;
    unsigned threads = 1;
    size_t batch = 4;
    bool full = false, trains = false;
    unsigned without = 0;
    size_t repeated = 0; /* expected number of repeated chunks */
    /* Results: values or a gradient. */
    int rc = COV_OK;
    struct cov_err e = COV_ERR_INIT;
    std::vector<float> values;
    std::string described, computed_in, by;
    /* While it runs: */
    const Toy *data = NULL;
    struct cov_net *net = NULL;
};

int forward(void *arg, size_t item, unsigned worker, struct cov_err *e)
{
    Run *r = (Run *)arg;
    const Toy &d = *r->data;
    size_t first = item * r->batch, n = std::min(r->batch, d.n - first);
    return cov_net_forward(r->net, worker, n, &d.codes[first * d.L],
                           &r->values[first * d.L * (size_t)d.hp.output_size], e);
}

void predict(const Toy &d, struct cov_device *dev, Run *r)
{
    struct cov_pool *pool;
    struct cov_forward_counts counts;
    must(cov_pool_new(r->threads, &pool, &r->e), &r->e);
    r->values.resize(d.n * d.L * (size_t)d.hp.output_size);
    r->rc = cov_net_new(dev, &d.hp, d.block.data(), cov_net_size{d.L, r->threads, r->batch},
                        &r->net, &r->e);
    if (!r->rc) {
        if (r->full)
            cov_net_compute_all(r->net);
        if (r->then)
            (void)setenv("COVTOOLS_MOCK", r->then, 1);
        r->rc = cov_pool_for(pool, (d.n + r->batch - 1) / r->batch, forward, r, &r->e);
        cov_net_counts(r->net, &counts);
        if (!r->rc &&
            (counts.chunks_repeated != r->repeated ||
             counts.positions_computed + counts.positions_at_rest != (d.n - r->repeated) * d.L))
            result(false, "all positions are counted");
    }
    cov_net_free(r->net);
    cov_pool_free(pool);
}

void train(const Toy &d, struct cov_device *dev, Run *r)
{
    Gradient g;
    r->rc = find_gradient(dev, d, d.n, &g, &r->e);
    r->values = g.v;
}

/* Opens, runs, closes; checks that nothing is left, whatever happens. */
void repeat(const Toy &d, Run *r)
{
    struct cov_device *dev = NULL;
    struct cov_cuda_options options = {r->cards.data(), r->cards.size(), r->precision};
    (void)setenv("COVTOOLS_MOCK", r->mock.c_str(), 1);
    (void)setenv("COVTOOLS_CUBLAS", r->cublas, 1);
    (void)setenv("COVTOOLS_WGMMA", r->wgmma, 1);
    log_text.clear();
    cublas_mock_reset();
    r->data = &d;
    r->rc = cov_cuda_plugin.open(&options, &dev, &r->e);
    if (!r->rc) {
        r->described = dev->ops->describe(dev);
        r->computed_in = dev->ops->precision(dev);
        cov_cuda_cards_of(dev)->without = r->without;
        r->trains ? train(d, dev, r) : predict(d, dev, r);
        const char *by = dev->ops->products(dev);
        r->by = by ? by : "";
    }
    cov_device_close(dev);
    if (runtime_mock_left() || cublas_mock_left())
        result(false, "all memory and descriptors are freed");
}

template <typename Set> Run go(const Toy &d, const std::string &mock, Set set)
{
    Run r;
    r.mock = mock;
    set(&r);
    repeat(d, &r);
    return r;
}

Run go(const Toy &d, const std::string &mock)
{
    return go(d, mock, [](Run *) {});
}

/* ---- cards ---- */

void several_cards(const Toy &d, const std::vector<float> &want)
{
    size_t before[3] = {runtime_mock_waits(0), runtime_mock_waits(1), runtime_mock_waits(2)};
    Run r = go(d, "cards=3", [](Run *s) {
        s->threads = 7;
        s->batch = 2;
    });
    result(r.rc == COV_OK && r.values == want, "three cards: the same bytes as one");
    bool all = true;
    for (int card = 0; card < 3;
         card++) /* the self-check waits twice, the upload of weights once */
        all = all && runtime_mock_waits(card) > before[card] + 3;
    result(all, "  all cards are used");
    result(has(r.described, "GPU 0 (Mock A), GPU 1 (Mock B), GPU 2 (Mock C), fp32"),
           "  all cards are named");
    r = go(d, "cards=3,name=200");
    result(has(r.described, "GPU 2 (Mock C....") && has(r.described, "...), fp32"),
           "  also if their names are long");
    size_t unused = runtime_mock_waits(1);
    r = go(d, "cards=3", [](Run *s) {
        s->cards = {2, 0};
        s->threads = 3;
    });
    result(r.rc == COV_OK && r.values == want && runtime_mock_waits(1) == unused,
           "two of three cards: the third is not used");
    r = go(d, "cards=3", [](Run *s) { s->cards = {0, 3}; });
    result(r.rc == COV_EUNSUPPORTED && has(r.e.text, "no GPU 3: CUDA finds 3, numbered from 0"),
           "a card that does not exist");
}

/* Checks that calls do not wait for each other's copies or kernels: all slots of each card work at
 * the same time if there are enough threads. */
void calls_overlap(const Toy &d, const std::vector<float> &want)
{
    Run r = go(d, "cards=2", [](Run *s) {
        s->then = "cards=2,together=8";
        s->threads = 9;
        s->batch = 2;
    });
    result(r.rc == COV_OK && r.values == want, "eight calls run at the same time on two cards");
    if (r.rc)
        printf("# %s\n", r.e.text);
}

/* The batch by the card's multiprocessors, each of which runs 8 sequences of a direction; and LSTMs, one
 * in each of 19 calls, whose blocks are placed before those of other kernels. */
void fills_the_card(const Toy &d, const std::vector<float> &want)
{
    static const struct {
        const char *multiprocessors;
        size_t batch, long_batch;
    } cards[] = {
        {"132", 528, 83}, {"114", 456, 83}, {"24", 96, 83}, {"3", 16, 16}, {"999", 1024, 83}};
    for (const auto &c : cards) {
        struct cov_device *dev = NULL;
        struct cov_err e = COV_ERR_INIT;
        const struct cov_cuda_options options = {NULL, 0, COV_PRECISION_FP32};
        std::string mock = std::string("cards=1,trusted=1,multiprocessors=") + c.multiprocessors;
        (void)setenv("COVTOOLS_MOCK", mock.c_str(), 1);
        must(cov_cuda_plugin.open(&options, &dev, &e), &e);
        named(cov_device_batch(dev, 16384) == c.batch &&
                  cov_device_batch(dev, 200000) == c.long_batch,
              std::string(c.multiprocessors) + " multiprocessors: a batch that fills them");
        cov_device_close(dev);
    }
    for (unsigned without : {0, (int)COV_CUDA_PRIORITY}) {
        size_t before = simt_prior_launches;
        Run r = go(d, "cards=1,trusted=1", [&](Run *s) {
            s->batch = 2;
            s->without = without;
        });
        result(r.values == want && simt_prior_launches == before + (without ? 0 : 19),
               without ? "  LSTMs without priority, if that is wanted" : "LSTMs have priority");
    }
}

/* Checks that equal chunks of a call, and chunks that are all N, are computed once, and that chunks
 * of only padding are not computed. */
void equal_chunks(Toy d)
{
    for (size_t i = 0; i < d.n; i++) {
        uint8_t *codes = &d.codes[i * d.L];
        if (i % 4 == 1) /* equal to the previous one, in the same call */
            memcpy(codes, codes - d.L, d.L);
        else if (i % 8 == 3) /* five of them */
            memset(codes, COV_CODE_N, d.L);
        else if (i % 8 == 7)
            memset(codes, COV_CODE_PAD, d.L);
    }
    Run full = go(d, "cards=1", [](Run *s) { s->full = true; });
    Run once = go(d, "cards=1", [](Run *s) { s->repeated = 9 + 4; });
    result(full.rc == COV_OK && once.rc == COV_OK && full.values == once.values,
           "equal chunks and empty chunks: the same bytes");
}

/* A card without enough memory for all slots, and one that reports more memory than it has. */
void little_memory(const Toy &d, const std::vector<float> &want)
{
    static const struct {
        const char *mock;
        size_t batch;
        unsigned threads;
        int rc;
        size_t n_refused; /* allocations */
        const char *text; /* of the log or the error */
        const char *name;
    } cases[] = {
        {"memory=500000", 64, 2, COV_OK, 0, "limited by its memory",
         "little memory: smaller batches, the same bytes"},
        {"memory=500000,free_percent=300", 64, 2, COV_OK, 1,
         "warning: GPU 0 (Mock A): not enough memory for batches of 64 chunks, continuing with "
         "32\n",
         "less memory than reported: the batch is halved, with a warning"},
        {"memory=500000,free_percent=900", 256, 2, COV_ENOMEM, 2,
         "batches of 256 chunks, continuing with 128\nGPU 0 (Mock A): memory: out of memory",
         "still not enough memory: an error after one retry"},
        {"memory=500000,free_percent=2", 4, 3, COV_OK, 0, "batches of 1 chunks",
         "memory for a single slot: the same bytes"},
        {"memory=1000", 4, 1, COV_ENOMEM, 1, "GPU 0 (Mock A)", "too little memory for the weights"},
    };
    for (const auto &c : cases) {
        size_t refused = runtime_mock_refused();
        Run r = go(d, c.mock, [&](Run *s) {
            s->batch = c.batch;
            s->threads = c.threads;
        });
        result(r.rc == c.rc && (r.rc || r.values == want) && has(log_text + r.e.text, c.text) &&
                   runtime_mock_refused() == refused + c.n_refused,
               c.name);
    }
}

/* The members of an ensemble share the memory of a card. */
void memory_of_members(const Toy &d)
{
    const struct cov_net_member one = {&d.hp, d.block.data()}, members[4] = {one, one, one, one};
    const struct cov_cuda_options options = {NULL, 0, COV_PRECISION_FP32};
    struct cov_device *dev = NULL;
    struct cov_net *net = NULL;
    struct cov_err e = COV_ERR_INIT;
    (void)setenv("COVTOOLS_MOCK", "memory=1000000,trusted=1", 1);
    must(cov_cuda_plugin.open(&options, &dev, &e), &e);
    int rc = cov_net_new_ensemble(dev, members, 4, false, cov_net_size{d.L, 2, 64}, &net, &e);
    result(rc == COV_OK, "little memory for an ensemble: each member gets a part");
    cov_net_free(net);
    cov_device_close(dev);
}

void failures(const Toy &d)
{
    for (unsigned threads : {1U, 5U}) {
        /* Earlier waits count, too, including those of the self-check of each card. */
        size_t waits = runtime_mock_waits(0) + runtime_mock_waits(1) + runtime_mock_waits(2);
        Run r = go(d, "cards=2,fail=" + std::to_string(waits + 10),
                   [&](Run *s) { s->threads = threads; });
        named(r.rc == COV_EIO && has(r.e.text, "Mock ") &&
                  has(r.e.text, "computing: an illegal memory access was encountered"),
              "a card fails during prediction, threads: " + std::to_string(threads));
    }
    static const struct {
        int64_t hidden;
        const char *mock, *text, *name;
    } cases[] = {
        {3000, "shared=60000",
         "an LSTM with 3000 units is too large for the shared memory of a block",
         "an LSTM that is too large for a block"},
        {6, "driver=no", "no working NVIDIA driver", "no driver"},
        {6, "cards=0", "finds no GPU", "no card"},
    };
    for (const auto &c : cases) {
        Run r = go(plain_data(c.hidden), c.mock);
        result(r.rc == COV_EUNSUPPORTED && has(r.e.text, c.text), c.name);
    }
}

/* Checks that a card with a fault is refused, in every precision that the fault affects. Comes first,
 * because checks that pass are not repeated. */
void faulty_cards(const Toy &d)
{
    for (const Fault &f : faults) {
        if (f.of_wgmma())
            continue;
        bool passed = true;
        for (enum cov_precision p :
             {COV_PRECISION_FP32, COV_PRECISION_BF16X3, COV_PRECISION_BF16}) {
            if (!f.affects(p)) /* tf32 and balanced use the same kernels */
                continue;
            simt_set_fault(f.fault);
            Run r = go(d, "cards=1", [&](Run *s) { s->precision = p; });
            simt_set_fault(SIMT_FAULT_NONE);
            passed = passed && r.rc == COV_EIO && has(r.e.text, "computes wrong values");
        }
        named(passed, std::string("the self-check finds ") + f.name);
    }
    Run r = go(d, "cards=3,wrong=1");
    result(r.rc == COV_EIO &&
               has(r.e.text, "GPU 1 (Mock B) computes wrong values: a small network is off by "),
           "a card that computes wrong values");
}

void precisions(const Toy &d, const std::vector<float> &want)
{
    static const struct {
        enum cov_precision asked;
        const char *mock, *got, *line;
    } cases[] = {
        {COV_PRECISION_EXACT, "major=9", "fp32", ""},
        {COV_PRECISION_BF16X3, "major=8", "tf32x3", "tf32x3 instead of bf16x3: "},
        {COV_PRECISION_BALANCED, "major=9", "balanced", ""},
        {COV_PRECISION_TF32, "major=9", "tf32", ""},
        {COV_PRECISION_BF16, "major=8", "bf16", ""},
        {COV_PRECISION_BF16, "major=7", "fp32",
         "fp32 instead of bf16: this GPU has no tensor cores"},
        {COV_PRECISION_BF16X3, "major=7", "fp32", "fp32 instead of bf16x3: "},
    };
    for (const auto &c : cases) {
        Run r = go(d, c.mock, [&](Run *s) { s->precision = c.asked; });
        bool exact = strcmp(c.got, "fp32") == 0;
        named(r.rc == COV_OK && r.computed_in == c.got && has(log_text, c.line) &&
                  (r.values == want) == exact,
              std::string(cov_precision_name(c.asked)) + ", " + c.mock + ": " + c.got);
    }
}

/* ---- cuBLAS ---- */

const char LIBRARY[] = "cublas=130100", NAME[] = "cublas 13.1.0";

/* What COVTOOLS_CUBLAS=always computes. */
template <typename Set> Run by_cublas(const Toy &d, const std::string &mock, Set set)
{
    return go(d, std::string(LIBRARY) + "," + mock, [&](Run *s) {
        s->precision = COV_PRECISION_BF16;
        s->cublas = "always";
        s->cards = {0};
        s->batch = d.n;
        set(s);
    });
}

/* Checks who computes the products, and that the values agree with those of our kernels. */
void cublas_values(const Toy &d, enum cov_precision precision)
{
    const double bound = 1e-2; /* bf16 that is rounded the other way, or truncated tf32 */
    const std::string name = std::string(cov_precision_name(precision)) + ": ";
    auto set = [&](Run *s) {
        s->precision = precision;
        s->batch = d.n;
    };
    std::vector<float> own;
    for (const char *mock : {LIBRARY, "cublas=0"})
        for (const char *wish : {"", "no"}) {
            Run r = go(d, mock, [&](Run *s) {
                set(s);
                s->cublas = wish;
            });
            own = own.empty() ? r.values : own;
            named(r.rc == COV_OK && r.by.empty() && cublas_mock_calls() == 0 && r.values == own,
                  name + "our kernels compute, " + mock + ", COVTOOLS_CUBLAS=" + wish);
        }
    Run always = by_cublas(d, "", set);
    named(always.rc == COV_OK && always.by == NAME && cublas_mock_products() > 0 &&
              cublas_mock_strangers() == 0,
          name + "with COVTOOLS_CUBLAS=always, the library, with one algorithm per shape");
    const double off = difference(always.values, own);
    printf("# %soff by %.2g, %.2g allowed\n", name.c_str(), off, bound);
    named(off <= bound && (precision != COV_PRECISION_TF32 || off > 0),
          name + "the same values, up to rounding");
}

void cublas_batches(const Toy &d)
{
    const Run all = by_cublas(d, "", [](Run *) {});
    bool same = all.rc == COV_OK;
    for (size_t batch : {1, 4}) {
        Run r = by_cublas(d, "", [&](Run *s) { s->batch = batch; });
        same = same && r.rc == COV_OK && r.values == all.values && cublas_mock_strangers() == 0;
    }
    result(same, "the same bytes and algorithms in every batch");
    Run two = by_cublas(d, "cards=2", [](Run *s) {
        s->cards = {1, 0};
        s->batch = 2;
    });
    result(two.rc == COV_OK && two.values == all.values, "  and on two cards");
    for (enum cov_precision p : {COV_PRECISION_FP32, COV_PRECISION_EXACT, COV_PRECISION_BF16X3}) {
        Run r = by_cublas(d, "", [&](Run *s) { s->precision = p; });
        named(r.rc == COV_OK && r.by.empty() && cublas_mock_calls() == 0 &&
                  has(log_text, "COVTOOLS_CUBLAS=always has no effect: "),
              std::string(cov_precision_name(p)) + " does not use cuBLAS");
    }
}

/* Faulty and missing functions, and a wrong wish. */
void cublas_faults(const Toy &d)
{
    static const struct {
        const char *mock, *cublas;
        int rc;
        const char *text;
    } cases[] = {
        {"cublas_fault=1", "always", COV_EIO, "computes wrong values"}, /* a wrong pitch */
        {"cublas_fault=2", "always", COV_EIO, "computes wrong values"}, /* no bias */
        {"cublas_fault=3", "always", COV_EIO, "cublasLtMatmulAlgoGetHeuristic: status 15"},
        {"cublas_lacks=1", "always", COV_EUNSUPPORTED,
         "cuBLAS not found, or without cublasLtCreate"},
        {"cublas_lacks=8", "always", COV_EUNSUPPORTED,
         "cuBLAS not found, or without cublasLtMatrix"},
        {"cublas_lacks=14", "always", COV_EUNSUPPORTED,
         "cuBLAS not found, or without cublasLtMatmul"},
        {"", "sometimes", COV_EUSAGE, "COVTOOLS_CUBLAS: 'sometimes': expected no or always"},
    };
    for (const auto &c : cases) {
        Run r = by_cublas(d, c.mock, [&](Run *s) { s->cublas = c.cublas; });
        named(r.rc == c.rc && has(r.e.text, c.text),
              std::string("an error: ") + c.mock + ": " + c.text);
    }
}

/* Fails calls in turn. */
void cublas_failures(const Toy &d)
{
    const Run all = by_cublas(d, "trusted=1", [](Run *) {});
    const size_t n_calls = cublas_mock_calls();
    size_t n_errors = 0, n_same = 0;
    bool passed = n_calls > 50;
    for (size_t i = 1; i <= n_calls; i++) {
        Run r = by_cublas(d, "trusted=1,cublas_fail=" + std::to_string(i), [](Run *) {});
        bool error = r.rc != COV_OK && strstr(r.e.text, "cublasLt");
        bool freeing = r.rc == COV_OK && r.values == all.values;
        n_errors += error;
        n_same += freeing;
        passed = passed && (error || freeing);
        if (!error && !freeing)
            printf("# call %zu: %s\n", i, r.e.text);
    }
    printf("# %zu errors, %zu calls that may fail\n", n_errors, n_same);
    result(passed && n_errors > 0, "each call that fails is an error, or only frees");
}

/* Checks that other kernels replace products by warpgroups that fail a self-check. Comes before checks
 * that pass, which are not repeated. */
void broken_wgmma(const Toy &d)
{
    auto with = [&](const char *mock, const char *wgmma, enum cov_precision p) {
        return go(d, mock, [&](Run *s) {
            s->wgmma = wgmma;
            s->precision = p;
        });
    };
    for (enum cov_precision p : {COV_PRECISION_BF16, COV_PRECISION_TF32, COV_PRECISION_BALANCED}) {
        const std::string name = cov_precision_name(p);
        std::vector<float> values = with("cards=1,major=8", "yes", p).values;
        for (const Fault &f : faults) {
            if (!f.of_wgmma() || (p != COV_PRECISION_BF16 && f.fault != SIMT_FAULT_SWIZZLE))
                continue; /* the same kernels */
            simt_set_fault(f.fault);
            Run r = with("cards=1", "yes", p);
            simt_set_fault(SIMT_FAULT_NONE);
            named(r.rc == COV_OK && r.values == values && has(log_text, " computes wrong values") &&
                      has(log_text, "; slower kernels replace products by wgmma"),
                  name + ": the other kernels replace " + f.name);
        }
        Run intact = with("cards=1", "yes", p);
        simt_set_fault(SIMT_FAULT_SWIZZLE);
        Run used = with("cards=1", "yes", p), no = with("cards=1", "no", p),
            usual = with("cards=1", "", p);
        simt_set_fault(SIMT_FAULT_NONE);
        named(intact.rc == COV_OK && used.rc == COV_OK && used.values != intact.values,
              name + ": products by warpgroups that pass are used");
        named(no.rc == COV_OK && no.values == values && usual.rc == COV_OK &&
                  usual.values == values && log_text.find("wgmma") == std::string::npos,
              name + ": the other kernels are the default");
    }
    Run r = with("cards=1,major=8", "yes", COV_PRECISION_BF16);
    result(r.rc == COV_OK && has(log_text, "COVTOOLS_WGMMA=yes has no effect on "),
           "COVTOOLS_WGMMA=yes without such a card: a message");
    r = with("cards=1", "maybe", COV_PRECISION_BF16);
    result(r.rc == COV_EUSAGE && has(r.e.text, "COVTOOLS_WGMMA: 'maybe': expected yes or no"),
           "COVTOOLS_WGMMA=maybe: an error");
}

/* Checks that cuBLAS replaces kernels that fail a self-check, if that helps. Comes before checks that
 * pass, which are not repeated. */
void broken_kernels(const Toy &d)
{
    /* Convolutions are intact in `balanced`. */
    auto with = [&](const char *cublas, bool trains, enum cov_precision p) {
        return by_cublas(d, "", [&](Run *s) {
            s->precision = p;
            s->cublas = cublas;
            s->trains = trains;
        });
    };
    simt_set_fault(SIMT_FAULT_GEMM);
    Run r = with("no", false, COV_PRECISION_BALANCED);
    result(r.rc == COV_EIO && has(r.e.text, " computes wrong "),
           "a card with broken products is refused without cuBLAS");
    r = with("", true, COV_PRECISION_BALANCED);
    result(r.rc == COV_EIO && r.by == NAME && has(r.e.text, " computes wrong gradients"),
           "  and in training");
    r = with("", false, COV_PRECISION_BALANCED);
    result(r.rc == COV_OK && r.by == NAME && has(log_text, " computes wrong ") &&
               has(log_text, "; cuBLAS replaces the kernels of LSTMs' products"),
           "broken products: cuBLAS is used");
    Run both = with("", false, COV_PRECISION_BF16);
    result(both.rc == COV_EIO && has(both.e.text, " computes wrong values") &&
               has(log_text, "with cuBLAS: GPU 0 (Mock A) computes wrong values"),
           "a card with other broken kernels, too, is refused");
    simt_set_fault(SIMT_FAULT_NONE);
    result(with("always", false, COV_PRECISION_BALANCED).values == r.values,
           "  and gives the same bytes as with intact ones");
}

} // namespace

int main(void)
{
    cov_log_set(note, NULL, COV_LOG_DEBUG);
    use_sums(true); /* as tensor cores do; so our kernels round differently from the mock library */
    Toy plain = plain_data(6), padded = padded_data();
    faulty_cards(plain);
    broken_kernels(padded);
    broken_wgmma(padded);
    const Run one = go(plain, "cards=1");
    must(one.rc, &one.e);
    several_cards(plain, one.values);
    calls_overlap(plain, one.values);
    fills_the_card(plain, one.values);
    equal_chunks(plain);
    little_memory(plain, one.values);
    memory_of_members(plain);
    failures(plain);
    precisions(plain, one.values);
    for (enum cov_precision p : {COV_PRECISION_BF16, COV_PRECISION_TF32})
        cublas_values(padded, p);
    cublas_batches(padded);
    cublas_faults(padded);
    cublas_failures(padded);
    cov_params_fini(&plain.params);
    cov_params_fini(&padded.params);
    return finish_tests();
}
