/* check_cublas.cc - checks products by cuBLAS with the library and cards of tests/mock/cublas_mock.h: who
 * computes what, values, batches, several cards, faults of the library and of our kernels, and failures
 * of every call. Prints TAP.
 * SPDX-License-Identifier: MIT */
extern "C" {
#include "common/base/log.h"
#include "common/base/pool.h"
#include "common/net/net.h"
#include "common/seq/alphabet.h"
#include "tests/mock/runtime_mock.h"
}

#include "tests/gpu/rig.h"
#include "tests/mock/cublas_mock.h"

namespace
{

std::string log_text;

void note(void *, enum cov_log_level, const char *text)
{
    log_text += std::string(text) + "\n";
}

bool has(const std::string &text, const char *part)
{
    bool found = text.find(part) != std::string::npos;
    if (!found)
        printf("# no \"%s\" in \"%s\"\n", part, text.c_str());
    return found;
}

const size_t L = 16, N = 9;

/* A network with two LSTM layers in both directions, and chunks with padding. */
struct Data {
    struct cov_hparams hp;
    struct cov_params params;
    std::vector<float> block;
    std::vector<uint8_t> codes;
    std::vector<float> targets;
    std::vector<char> present;
};

Data make_data(void)
{
    struct cov_err e = COV_ERR_INIT;
    struct cov_rng rng;
    Data d;
    d.hp = small_network(5, 5, 6);
    d.hp.lstm_layers = 2;
    must(cov_params_init(&d.hp, &d.params, &e), &e);
    d.block.resize(d.params.n_floats);
    cov_params_randomize(&d.hp, &d.params, 5, d.block.data());
    cov_rng_init(&rng, 6);
    for (size_t i = 0; i < N * L; i++) {
        /* Chunks 0 and 1 form a group, since chunks 2 and on are shorter. */
        size_t end = i / L < 2 ? L : L / 2 - i / L % 3;
        d.codes.push_back(i % L < end ? draw_base(&rng) : (uint8_t)COV_CODE_PAD);
        d.targets.push_back((float)cov_rng_below(&rng, 5));
    }
    d.present.assign(N, 1);
    return d;
}

struct Run {
    enum cov_precision precision = COV_PRECISION_BF16;
    const char *mock = "cublas=130100", *cublas = ""; /* COVTOOLS_MOCK, COVTOOLS_CUBLAS */
    std::vector<int> cards = {0};
    size_t batch = N;
    bool trains = false;
    /* Results: values or a gradient, and what computed the products. */
    int rc = COV_OK;
    struct cov_err e = COV_ERR_INIT;
    std::vector<float> values;
    std::string by;
    size_t products = 0; /* by the library */
};

void predict(const Data &d, struct cov_device *dev, Run *r)
{
    struct cov_net *net = NULL;
    r->values.resize(N * L);
    r->rc = cov_net_new(dev, &d.hp, d.block.data(), cov_net_size{L, 1, r->batch}, &net, &r->e);
    for (size_t i = 0; !r->rc && i < N; i += r->batch)
        r->rc = cov_net_forward(net, 0, std::min(r->batch, N - i), &d.codes[i * L],
                                &r->values[i * L], &r->e);
    cov_net_free(net);
}

void train(const Data &d, struct cov_device *dev, Run *r)
{
    struct cov_layers shape;
    struct cov_training *t = NULL;
    struct cov_training_spec spec = {};
    struct cov_train_batch b = {N, d.codes.data(), d.targets.data(), (const bool *)d.present.data(),
                                0};
    struct cov_train_score score;
    must(cov_shape(&d.hp, L, &d.params, d.block.data(), &shape, &r->e), &r->e);
    must(cov_pool_new(1, &spec.pool, &r->e), &r->e);
    spec.layers = shape.layers;
    spec.weights = shape.weights;
    spec.n_layers = shape.n;
    spec.block = d.block.data();
    spec.n_floats = d.block.size();
    spec.max_batch = N;
    r->values.resize(spec.n_floats);
    r->rc = dev->ops->training_new(dev, &spec, &t, &r->e);
    const bool one = !r->rc && t->gradients; /* several cards keep their gradients */
    if (one)
        r->rc = t->gradients->load(t, &r->e);
    if (one && !r->rc)
        r->rc = t->gradients->run(t, 1, &b, r->values.data(), &score, &r->e);
    cov_training_free(t);
    cov_layers_fini(&shape);
    cov_pool_free(spec.pool);
}

/* Runs, and checks that nothing is left. */
void go(const Data &d, Run *r)
{
    struct cov_device *dev = NULL;
    struct cov_cuda_options options = {r->cards.data(), r->cards.size(), r->precision};
    (void)setenv("COVTOOLS_MOCK", r->mock, 1);
    (void)setenv("COVTOOLS_CUBLAS", r->cublas, 1);
    log_text.clear();
    cublas_mock_reset();
    r->rc = cov_cuda_plugin.open(&options, &dev, &r->e);
    if (!r->rc && r->trains)
        train(d, dev, r);
    else if (!r->rc)
        predict(d, dev, r);
    r->products = cublas_mock_products();
    const char *by = dev ? dev->ops->products(dev) : NULL;
    r->by = by ? by : "";
    cov_device_close(dev);
    if (runtime_mock_left() || cublas_mock_left())
        result(false, "all memory and descriptors are freed");
}

/* The largest difference, relative to the largest value. */
double difference(const std::vector<float> &a, const std::vector<float> &b)
{
    double most = 0, largest = 0;
    for (size_t i = 0; i < b.size(); i++) {
        most = larger(most, fabs((double)a[i] - (double)b[i]));
        largest = std::max(largest, fabs((double)b[i]));
    }
    return most / largest;
}

/* Checks who computes the products, and that the values agree with those of our kernels. */
void check_values(const Data &d, enum cov_precision precision, bool trains)
{
    const double bound = 1e-2; /* bf16 that is rounded the other way, or truncated tf32 */
    const std::string name =
        std::string(cov_precision_name(precision)) + (trains ? ", training: " : ": ");
    Run own;
    own.precision = precision;
    own.trains = trains;
    Run always = own, no = own, missing = own;
    always.cublas = "always";
    no.cublas = "no";
    missing.mock = "cublas=0";
    for (Run *r : {&own, &no, &missing}) {
        go(d, r);
        must(r->rc, &r->e);
        result(r->by.empty() && cublas_mock_calls() == 0 && r->values == own.values,
               (name + "our kernels compute" +
                (r == &no        ? ", with COVTOOLS_CUBLAS=no"
                 : r == &missing ? ", without the library"
                                 : ""))
                   .c_str());
    }
    go(d, &always);
    must(always.rc, &always.e);
    result(
        always.by == "cublas 13.1.0" && always.products > 0 && cublas_mock_strangers() == 0,
        (name + "with COVTOOLS_CUBLAS=always, the library, with one algorithm per shape").c_str());
    double off = difference(always.values, own.values);
    printf("# %soff by %.2g, %.2g allowed\n", name.c_str(), off, bound);
    result(off <= bound && (precision != COV_PRECISION_TF32 || off > 0),
           (name + "the same values, up to rounding").c_str());
}

void check_batches(const Data &d)
{
    Run all;
    all.cublas = "always";
    go(d, &all);
    must(all.rc, &all.e);
    bool same = true;
    for (size_t batch : {1, 4}) {
        Run r;
        r.cublas = "always";
        r.batch = batch;
        go(d, &r);
        same = same && r.rc == COV_OK && r.values == all.values && cublas_mock_strangers() == 0;
    }
    result(same, "the same bytes and algorithms in every batch");
    Run two;
    two.mock = "cards=2,cublas=130100";
    two.cublas = "always";
    two.cards = {1, 0};
    two.batch = 2;
    go(d, &two);
    result(two.rc == COV_OK && two.values == all.values, "  and on two cards");
    Run uneven;
    uneven.mock = "cards=2,uneven=6,cublas=130100";
    uneven.cublas = "always";
    uneven.cards = {0, 1};
    uneven.trains = true;
    go(d, &uneven);
    result(uneven.rc == COV_OK && uneven.by == "cublas 13.1.0",
           "  also if one is larger than the other");
}

/* Checks that single precision never uses the library. */
void check_exact(const Data &d)
{
    for (enum cov_precision p : {COV_PRECISION_FP32, COV_PRECISION_EXACT, COV_PRECISION_BF16X3}) {
        Run r;
        r.precision = p;
        r.cublas = "always";
        go(d, &r);
        result(r.rc == COV_OK && r.by.empty() && cublas_mock_calls() == 0 &&
                   has(log_text, "COVTOOLS_CUBLAS=always has no effect: "),
               (std::string(cov_precision_name(p)) + " does not use cuBLAS").c_str());
    }
}

/* Checks that a faulty library is an error. */
void check_faults(const Data &d)
{
    static const struct {
        enum cublas_fault fault;
        const char *name, *why;
        bool training; /* all products fail, not only that of the gates */
    } cases[] = {
        {CUBLAS_FAULT_PITCH, "a wrong pitch", "its values are off by ", true},
        {CUBLAS_FAULT_BIAS, "no bias", "its values are off by ", false},
        {CUBLAS_FAULT_TRANSPOSE, "a swapped transposition", "its values are off by ", true},
        {CUBLAS_FAULT_BATCH, "rounding that depends on the batch", "its values depend on the batch",
         true},
        {CUBLAS_FAULT_ROWS, "rounding that depends on the rows", "its values depend on the batch",
         false},
        {CUBLAS_FAULT_CARD, "rounding that depends on the card",
         "GPU 1 (Mock B): its values depend on the GPU", false},
        {CUBLAS_FAULT_ALGORITHM, "no algorithm", "cublasLtMatmulAlgoGetHeuristic: status 15", true},
    };
    for (bool trains : {false, true})
        for (const auto &c : cases) {
            const std::string mock =
                "trusted=1,cards=2,cublas=130100,cublas_fault=" + std::to_string(c.fault);
            Run r;
            r.mock = mock.c_str();
            r.cublas = "always";
            r.trains = trains;
            if (!trains)
                r.cards = {0, 1};
            if (trains && !c.training)
                continue;
            go(d, &r);
            result(r.rc != COV_OK && has(r.e.text, c.why),
                   (std::string(c.name) + (trains ? " in training" : "") + ": an error").c_str());
        }
}

/* Fails calls, lacks functions, and lacks memory. */
void check_failures(const Data &d)
{
    for (bool trains : {false, true}) {
        Run all;
        all.trains = trains;
        all.mock = "trusted=1,cublas=130100";
        all.cublas = "always";
        go(d, &all);
        const size_t n_calls = cublas_mock_calls();
        size_t n_errors = 0, n_same = 0;
        bool passed = n_calls > 100;
        /* Not all, since each takes a while: a product has 19 calls. */
        for (size_t i = 1; i <= n_calls; i += trains ? 67 : 17) {
            const std::string mock = "trusted=1,cublas=130100,cublas_fail=" + std::to_string(i);
            Run r = Run();
            r.mock = mock.c_str();
            r.trains = trains;
            r.cublas = "always";
            go(d, &r);
            bool error = r.rc != COV_OK && strstr(r.e.text, "cublasLt");
            bool freeing = r.rc == COV_OK && r.values == all.values;
            n_errors += error;
            n_same += freeing;
            passed = passed && (error || freeing);
            if (!error && !freeing)
                printf("# call %zu: %s\n", i, r.e.text);
        }
        printf("# %zu errors, %zu calls that may fail\n", n_errors, n_same);
        result(passed && n_errors > 0,
               trains ? "  and in training" : "each call that fails is an error, or only frees");
    }
    bool passed = true;
    for (int i : {1, 8, 14}) {
        const std::string mock = "cublas=130100,cublas_lacks=" + std::to_string(i);
        Run r;
        r.mock = mock.c_str();
        r.cublas = "always";
        go(d, &r);
        passed = passed && r.rc == COV_EUNSUPPORTED &&
                 has(r.e.text, "cuBLAS not found, or without cublasLt");
    }
    result(passed, "a library that lacks a function is an error");
    Run r;
    r.cublas = "sometimes";
    go(d, &r);
    result(r.rc == COV_EUSAGE &&
               has(r.e.text, "COVTOOLS_CUBLAS: 'sometimes': expected no or always"),
           "COVTOOLS_CUBLAS is checked");
    r = Run();
    r.mock = "trusted=1,cublas=130100,memory=40000";
    r.cublas = "always";
    go(d, &r);
    result(r.rc == COV_ENOMEM && has(r.e.text, "by cuBLAS: GPU 0 (Mock A): memory: out of memory"),
           "too little memory for a sample is an error");
}

/* Checks that cuBLAS replaces kernels that fail a self-check, if that helps. Comes before checks that
 * pass, which are not repeated. */
void check_broken_kernels(const Data &d)
{
    simt_set_fault(SIMT_FAULT_GEMM);
    for (bool trains : {false, true}) {
        const std::string name = trains ? " in training" : "", wrong = " computes wrong ";
        Run r;
        r.precision = COV_PRECISION_BALANCED; /* convolutions are intact */
        r.trains = trains;
        if (!trains) {
            Run refused = r;
            refused.cublas = "no";
            go(d, &refused);
            result(refused.rc == COV_EIO && has(refused.e.text, wrong.c_str()),
                   "a card with broken products is refused without cuBLAS");
        }
        go(d, &r);
        result(r.rc == COV_OK && r.by == "cublas 13.1.0" && has(log_text, wrong.c_str()) &&
                   has(log_text, "; cuBLAS replaces the kernels of LSTMs' products"),
               ("broken products" + name + ": cuBLAS is used").c_str());
        if (trains)
            continue;
        simt_set_fault(SIMT_FAULT_NONE);
        Run intact = r;
        intact.cublas = "always";
        go(d, &intact);
        result(intact.rc == COV_OK && intact.values == r.values,
               "  and gives the same bytes as with intact ones");
        simt_set_fault(SIMT_FAULT_GEMM);
    }
    Run all;
    go(d, &all);
    result(all.rc == COV_EIO && has(all.e.text, " computes wrong values") &&
               has(log_text, "with cuBLAS: GPU 0 (Mock A) computes wrong values"),
           "a card with other broken kernels, too, is refused");
    simt_set_fault(SIMT_FAULT_NONE);
}

} // namespace

int main(void)
{
    cov_log_set(note, NULL, COV_LOG_DEBUG);
    use_sums(true); /* so that our kernels round differently from the mock library */
    Data d = make_data();
    check_broken_kernels(d);
    for (enum cov_precision p : {COV_PRECISION_BF16, COV_PRECISION_TF32})
        check_values(d, p, false);
    check_values(d, COV_PRECISION_BF16, true);
    check_batches(d);
    check_exact(d);
    check_faults(d);
    check_failures(d);
    cov_params_fini(&d.params);
    return finish_tests();
}
