/* check_host.cc - checks the host side of the plugin with the mock cards of
 * tests/mock/runtime_mock.h: cards that share a queue, batch sizes, too little memory, and failures
 * during prediction. Prints TAP.
 * SPDX-License-Identifier: MIT */
extern "C" {
#include "common/base/log.h"
#include "common/base/pool.h"
#include "common/net/net.h"
#include "common/seq/alphabet.h"
#include "tests/mock/runtime_mock.h"
}

#include <string>

#include "tests/gpu/rig.h"

namespace
{

std::string log_text;

void note(void *, enum cov_log_level level, const char *text)
{
    log_text += level == COV_LOG_WARNING ? "warning: " : "";
    log_text += text;
    log_text += "\n";
}

bool has(const std::string &text, const char *part)
{
    bool found = text.find(part) != std::string::npos;
    if (!found)
        printf("# no \"%s\" in \"%s\"\n", part, text.c_str());
    return found;
}

void set_mock(const char *words)
{
    (void)setenv("COVTOOLS_MOCK", words, 1);
    log_text.clear();
}

const size_t L = 24, N = 37;

struct cov_hparams network(int64_t hidden)
{
    struct cov_hparams hp = small_network(5, 5, hidden);
    hp.output_size = 2;
    return hp;
}

struct Run {
    struct cov_hparams hp = network(6);
    std::vector<float> block;
    std::vector<uint8_t> codes;
    std::vector<int> cards;
    enum cov_precision precision = COV_PRECISION_FP32;
    unsigned threads = 1;
    size_t batch = 4;
    bool full = false;
    const char *then = NULL; /* COVTOOLS_MOCK once the network exists */
    size_t repeated = 0;     /* expected number of repeated chunks */
    /* Results. */
    int rc = COV_OK;
    struct cov_err e = COV_ERR_INIT;
    std::vector<float> values;
    std::string described, computed_in;
    struct cov_net *net = NULL;
};

int forward(void *arg, size_t item, unsigned worker, struct cov_err *e)
{
    Run *r = (Run *)arg;
    size_t first = item * r->batch, n = std::min(r->batch, N - first);
    return cov_net_forward(r->net, worker, n, &r->codes[first * L], &r->values[first * L * 2], e);
}

Run make_run(int64_t hidden)
{
    Run r;
    struct cov_params params;
    struct cov_rng rng;
    r.hp = network(hidden);
    must(cov_params_init(&r.hp, &params, &r.e), &r.e);
    r.block.resize(params.n_floats);
    cov_params_randomize(&r.hp, &params, 5, r.block.data());
    cov_params_fini(&params);
    cov_rng_init(&rng, 6);
    r.codes.resize(N * L);
    for (uint8_t &code : r.codes)
        code = draw_base(&rng);
    r.values.resize(N * L * 2);
    return r;
}

/* Opens, predicts, closes; checks that no memory of a card leaks, whatever happens. */
void go(Run *r)
{
    struct cov_device *dev = NULL;
    struct cov_pool *pool = NULL;
    struct cov_forward_counts counts = {};
    struct cov_cuda_options options = {r->cards.data(), r->cards.size(), r->precision};
    must(cov_pool_new(r->threads, &pool, &r->e), &r->e);
    r->rc = cov_cuda_plugin.open(&options, &dev, &r->e);
    if (!r->rc) {
        r->described = dev->ops->describe(dev);
        r->computed_in = dev->ops->precision(dev);
        r->rc = cov_net_new(dev, &r->hp, r->block.data(), cov_net_size{L, r->threads, r->batch},
                            &r->net, &r->e);
    }
    if (!r->rc) {
        if (r->full)
            cov_net_compute_all(r->net);
        if (r->then)
            set_mock(r->then);
        r->rc = cov_pool_for(pool, (N + r->batch - 1) / r->batch, forward, r, &r->e);
        cov_net_counts(r->net, &counts);
        if (!r->rc &&
            (counts.chunks_repeated != r->repeated ||
             counts.positions_computed + counts.positions_at_rest != (N - r->repeated) * L))
            result(false, "all positions are counted");
    }
    cov_net_free(r->net);
    cov_device_close(dev);
    cov_pool_free(pool);
    if (runtime_mock_left())
        result(false, "all memory is freed");
}

std::vector<float> one_card(void)
{
    Run r = make_run(6);
    set_mock("cards=1");
    r.cards = {0};
    go(&r);
    must(r.rc, &r.e);
    return r.values;
}

void several_cards(const std::vector<float> &want)
{
    Run r = make_run(6);
    size_t before[3] = {runtime_mock_waits(0), runtime_mock_waits(1), runtime_mock_waits(2)};
    set_mock("cards=3");
    r.threads = 7;
    r.batch = 2;
    go(&r); /* all cards */
    must(r.rc, &r.e);
    result(r.values == want, "three cards: the same bytes as one");
    bool all = true;
    for (int card = 0; card < 3;
         card++) /* the self-check waits twice, the upload of weights once */
        all = all && runtime_mock_waits(card) > before[card] + 3;
    result(all, "  all cards are used");
    result(has(r.described, "GPU 0 (Mock A), GPU 1 (Mock B), GPU 2 (Mock C), fp32"),
           "  all cards are named");

    set_mock("cards=3,name=200");
    r = make_run(6);
    go(&r);
    result(has(r.described, "GPU 2 (Mock C....") && has(r.described, "...), fp32"),
           "  also if their names are long");

    set_mock("cards=3");
    r = make_run(6);
    size_t unused = runtime_mock_waits(1);
    r.cards = {2, 0};
    r.threads = 3;
    go(&r);
    result(r.rc == COV_OK && r.values == want && runtime_mock_waits(1) == unused,
           "two of three cards: the third is not used");
    r = make_run(6);
    r.cards = {0, 3};
    go(&r);
    result(r.rc == COV_EUNSUPPORTED && has(r.e.text, "no GPU 3: CUDA finds 3, numbered from 0"),
           "a card that does not exist");
}

/* Checks that calls do not wait for each other's copies or kernels: all slots of each card work at
 * the same time if there are enough threads. */
void calls_overlap(const std::vector<float> &want)
{
    Run r = make_run(6);
    set_mock("cards=2");
    r.then = "cards=2,together=8";
    r.threads = 9;
    r.batch = 2;
    go(&r);
    result(r.rc == COV_OK && r.values == want, "eight calls run at the same time on two cards");
    if (r.rc)
        printf("# %s\n", r.e.text);
}

/* Checks that equal chunks of a call, and chunks that are all N, are computed once, and that chunks
 * of only padding are not computed. */
void equal_chunks(void)
{
    Run full = make_run(6);
    set_mock("cards=1");
    for (size_t i = 0; i < N; i++) {
        uint8_t *codes = &full.codes[i * L];
        if (i % 4 == 1) /* equal to the previous one, in the same call */
            memcpy(codes, codes - L, L);
        else if (i % 8 == 3) /* five of them */
            memset(codes, COV_CODE_N, L);
        else if (i % 8 == 7)
            memset(codes, COV_CODE_PAD, L);
    }
    Run once = full;
    full.full = true;
    go(&full);
    once.repeated = 9 + 4;
    go(&once);
    result(full.rc == COV_OK && once.rc == COV_OK && full.values == once.values,
           "equal chunks and empty chunks: the same bytes");
}

/* A card without enough memory for slots of 16 chunks, but with enough for smaller ones. */
void little_memory(const std::vector<float> &want)
{
    Run r = make_run(6);
    size_t refused = runtime_mock_refused();
    set_mock("cards=1,memory=500000");
    r.batch = 64;
    r.threads = 2;
    go(&r);
    result(r.rc == COV_OK && r.values == want, "little memory: smaller batches, the same bytes");
    result(runtime_mock_refused() == refused && has(log_text, "limited by its memory"),
           "  no allocation is refused");

    r = make_run(6);
    set_mock("cards=1,memory=500000,free_percent=300");
    r.batch = 64;
    r.threads = 2;
    go(&r);
    result(r.rc == COV_OK && r.values == want,
           "less memory than reported: the batch is halved, the same bytes");
    result(runtime_mock_refused() == refused + 1 &&
               has(log_text, "warning: GPU 0 (Mock A): not enough memory for batches of 64 chunks, "
                             "continuing with 32\n"),
           "  with a warning");

    r = make_run(6);
    set_mock("cards=1,memory=500000,free_percent=900");
    r.batch = 256;
    r.threads = 2;
    go(&r);
    result(r.rc == COV_ENOMEM && has(r.e.text, "GPU 0 (Mock A): memory: out of memory") &&
               has(log_text, "batches of 256 chunks, continuing with 128"),
           "still not enough memory: an error after one retry");
    r = make_run(6);
    set_mock("cards=1,memory=500000,free_percent=2");
    r.threads = 3;
    go(&r);
    result(r.rc == COV_OK && r.values == want && has(log_text, "batches of 1 chunks"),
           "memory for a single slot: the same bytes");
    set_mock("cards=1,memory=1000");
    r = make_run(6);
    go(&r);
    result(r.rc == COV_ENOMEM && has(r.e.text, "GPU 0 (Mock A)"),
           "too little memory for the weights");
}

void failures(void)
{
    char words[64];
    for (int threads = 1; threads <= 5; threads += 4) {
        Run r = make_run(6);
        /* Earlier waits count, too, including those of the self-check of each card. */
        size_t waits = 0;
        for (int card = 0; card < 3; card++)
            waits += runtime_mock_waits(card);
        (void)snprintf(words, sizeof words, "cards=2,fail=%zu", waits + 10);
        set_mock(words);
        r.threads = (unsigned)threads;
        go(&r);
        (void)snprintf(words, sizeof words, "a card fails during prediction, %d thread%s", threads,
                       threads > 1 ? "s" : "");
        result(r.rc == COV_EIO && has(r.e.text, "Mock ") &&
                   has(r.e.text, "computing: an illegal memory access was encountered"),
               words);
    }
    Run r = make_run(3000);
    set_mock("shared=60000");
    go(&r);
    result(
        r.rc == COV_EUNSUPPORTED &&
            has(r.e.text, "an LSTM with 3000 units is too large for the shared memory of a block"),
        "an LSTM that is too large for a block");
    r = make_run(6);
    set_mock("driver=no");
    go(&r);
    result(r.rc == COV_EUNSUPPORTED && has(r.e.text, "no working NVIDIA driver"), "no driver");
    set_mock("cards=0");
    r = make_run(6);
    go(&r);
    result(r.rc == COV_EUNSUPPORTED && has(r.e.text, "finds no GPU"), "no card");
}

/* Checks that a card with a fault is refused, in every precision that the fault affects. Comes first,
 * because checks that pass are not repeated. */
void faulty_cards(void)
{
    set_mock("cards=1");
    for (const Fault &f : faults) {
        bool passed = true;
        for (enum cov_precision p :
             {COV_PRECISION_FP32, COV_PRECISION_BF16X3, COV_PRECISION_BF16}) {
            if (!f.affects(p)) /* tf32 and balanced use the same kernels */
                continue;
            Run r = make_run(6);
            r.precision = p;
            simt_set_fault(f.fault);
            go(&r);
            simt_set_fault(SIMT_FAULT_NONE);
            passed = passed && r.rc == COV_EIO && has(r.e.text, "computes wrong values");
        }
        result(passed, (std::string("the self-check finds ") + f.name).c_str());
    }
    set_mock("cards=3,wrong=1");
    Run r = make_run(6);
    go(&r);
    result(r.rc == COV_EIO &&
               has(r.e.text, "GPU 1 (Mock B) computes wrong values: a small network is off by "),
           "a card that computes wrong values");
}

void precisions(const std::vector<float> &want)
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
        Run r = make_run(6);
        char name[64];
        set_mock(c.mock);
        r.precision = c.asked;
        go(&r);
        bool exact = strcmp(c.got, "fp32") == 0;
        (void)snprintf(name, sizeof name, "%s, %s: %s", cov_precision_name(c.asked), c.mock, c.got);
        result(r.rc == COV_OK && r.computed_in == c.got && has(log_text, c.line) &&
                   (r.values == want) == exact,
               name);
    }
}

} // namespace

int main(void)
{
    cov_log_set(note, NULL, COV_LOG_DEBUG);
    use_sums(true); /* as tensor cores do */
    faulty_cards();
    std::vector<float> want = one_card();
    several_cards(want);
    calls_overlap(want);
    equal_chunks();
    little_memory(want);
    failures();
    precisions(want);
    return finish_tests();
}
