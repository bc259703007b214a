/* check_edits.cc - checks chunks after edits on a GPU (forward_edited of device.h): they must have the values of
 * whole chunks, whatever else is in the call, for less work; and wrong kernels must be found. Prints TAP.
 *   check_edits [--big] [--precision NAME]
 * Runs on a GPU or in emulation, like check_kernels.
 * SPDX-License-Identifier: MIT */
extern "C" {
#include "common/base/log.h"
#include "common/net/net.h"
#include "common/seq/alphabet.h"
}

#include "tests/gpu/rig.h"

namespace
{

struct Precision {
    std::string name;
    enum cov_precision precision;
    double bound; /* of the difference from whole chunks, relative to the largest value */
    bool truncated;
};

const Precision all_precisions[] = {
    {"fp32", COV_PRECISION_FP32, 1e-5, false},
    {"tf32x3", COV_PRECISION_BF16X3, 1e-5, false},
    {"balanced", COV_PRECISION_BALANCED, 1e-4, false},
    {"tf32", COV_PRECISION_TF32, 1e-5, false},
    {"bf16", COV_PRECISION_BF16, 1e-4, false},
};

const size_t N_CHUNKS = 21, N_ORIGINALS = COV_EDITED_ORIGINALS;

std::string log_text;

void note(void *, enum cov_log_level level, const char *text)
{
    log_text += std::string(level == COV_LOG_WARNING ? "warning: " : "") + text + "\n";
}

/* A network with originals and edited chunks. */
struct Case {
    struct cov_hparams hp;
    size_t L, D, batch;
    std::vector<float> block;
    std::vector<uint8_t> originals, codes;
    std::vector<struct cov_edited_chunk> chunks;
};

/* Networks whose LSTMs have kernels for edits: a few units less than a multiple of 32. */
struct cov_hparams draw_hparams(struct cov_rng *rng)
{
    struct cov_hparams hp;
    do {
        hp = published(draw(rng, 1, 3));
        hp.model_type = draw(rng, 0, 2) ? COV_MODEL_BI_HYBRID : COV_MODEL_HYBRID;
        hp.cnn_layers = draw(rng, 1, 3);
        hp.filter_size = draw(rng, 1, 20);
        hp.kernel_size = draw(rng, 1, 11);
        hp.step = draw(rng, 1, 3);
        hp.up = draw(rng, 1, 2);
        hp.dilation = draw(rng, 0, 3) ? 1 : 2;
        hp.lstm_layers = draw(rng, 1, 3);
        hp.hidden_size = 32 * draw(rng, 1, 2) - draw(rng, 0, 8);
        hp.bnorm = draw(rng, 0, 1);
    } while (cov_hparams_check(&hp, NULL));
    return hp;
}

/* Draws the originals: random bases, a run of N, and a little padding in the second one. */
void draw_originals(Case *c, struct cov_rng *rng)
{
    const size_t L = c->L;
    c->originals.resize(N_ORIGINALS * L);
    for (uint8_t &code : c->originals)
        code = draw_base(rng);
    memset(&c->originals[(size_t)draw(rng, 0, (int64_t)L / 2)], COV_CODE_N, L / 10);
    memset(&c->originals[2 * L - L / 20], COV_CODE_PAD, L / 20);
}

/* Draws chunk k: an original with one or a few bases replaced, first and last ones, too; with a base less or more; or
 * as it is. */
void draw_chunk(Case *c, size_t k, struct cov_rng *rng)
{
    const size_t L = c->L, of = k % N_ORIGINALS, filled = L - L / 20 * of;
    uint8_t *codes = &c->codes[k * L];
    const size_t last = filled - 1, at = cov_rng_below(rng, filled);
    memcpy(codes, &c->originals[of * L], L);
    c->chunks[k] = {of, 0, filled};
    if (k % 3 == 1) /* as for a variant */
        c->chunks[k] = {of, at > 20 ? at - 20 : 0, std::min(at + 20, filled)};
    else if (k % 5 == 2) { /* anywhere, perhaps nowhere */
        c->chunks[k].beg = cov_rng_below(rng, filled);
        c->chunks[k].end = (size_t)draw(rng, (int64_t)c->chunks[k].beg, (int64_t)filled);
    }
    switch (k % 8) {
    case 0:
        codes[k == 0 ? 0 : last] ^= COV_CODE_N;
        break;
    case 1:
        break;
    case 2:
        memmove(codes + at, codes + at + 1, L - at - 1);
        break;
    case 3:
        memmove(codes + at + 1, codes + at, L - at - 1);
        c->chunks[k].end += c->chunks[k].end == filled && filled < L;
        break;
    case 4:
        for (int i = 0; i < 3; i++)
            codes[cov_rng_below(rng, filled)] ^= COV_CODE_N;
        break;
    default:
        codes[at] ^= COV_CODE_N;
        break;
    }
}

void draw_chunks(Case *c, struct cov_rng *rng)
{
    draw_originals(c, rng);
    c->codes.resize(N_CHUNKS * c->L);
    c->chunks.resize(N_CHUNKS);
    for (size_t k = 0; k < N_CHUNKS; k++)
        draw_chunk(c, k, rng);
}

Case draw_case(struct cov_hparams hp, size_t rows, size_t batch, uint64_t seed)
{
    struct cov_err e = COV_ERR_INIT;
    struct cov_params params;
    struct cov_rng rng;
    Case c = {hp, rows, (size_t)hp.output_size, batch, {}, {}, {}, {}};
    for (int64_t i = 0; i < hp.cnn_layers; i++)
        c.L *= (size_t)hp.step;
    cov_rng_init(&rng, seed);
    must(cov_params_init(&hp, &params, &e), &e);
    c.block.resize(params.n_floats);
    cov_params_randomize(&hp, &params, seed, c.block.data());
    for (size_t i = 0; i < params.n_items; i++)
        for (size_t k = 0; !params.items[i].trained && k < params.items[i].n; k++)
            c.block[params.items[i].offset + k] += (float)cov_rng_double(&rng) * 0.5f;
    const struct cov_param *out = cov_params_find(&params, "out.weight");
    for (size_t k = 0; k < out->n; k++) /* random weights give nearly equal values */
        c.block[out->offset + k] *= 20;
    cov_params_fini(&params);
    draw_chunks(&c, &rng);
    return c;
}

struct cov_net *open_net(struct cov_device *dev, const Case &c, unsigned workers)
{
    struct cov_net *net;
    struct cov_err e = COV_ERR_INIT;
    must(cov_net_new(dev, &c.hp, c.block.data(), cov_net_size{c.L, workers, c.batch}, &net, &e),
         &e);
    return net;
}

/* Returns the values of chunks [beg, end). */
std::vector<float> edited(struct cov_net *net, const Case &c, size_t beg, size_t end,
                          unsigned worker = 0)
{
    struct cov_err e = COV_ERR_INIT;
    std::vector<float> values((end - beg) * c.L * c.D);
    for (size_t k = beg; k < end; k += c.batch) {
        const struct cov_edited_chunks some = {N_ORIGINALS, c.originals.data(),
                                               std::min(c.batch, end - k), &c.codes[k * c.L],
                                               &c.chunks[k]};
        must(cov_net_forward_edited(net, worker, &some, &values[(k - beg) * c.L * c.D], &e), &e);
    }
    return values;
}

std::vector<float> whole(struct cov_net *net, const Case &c)
{
    struct cov_err e = COV_ERR_INIT;
    std::vector<float> values(N_CHUNKS * c.L * c.D);
    for (size_t k = 0; k < N_CHUNKS; k += c.batch)
        must(cov_net_forward(net, 0, std::min(c.batch, N_CHUNKS - k), &c.codes[k * c.L],
                             &values[k * c.L * c.D], &e),
             &e);
    return values;
}

/* Returns the values that are wanted, chunk by chunk. */
std::vector<float> wanted(const Case &c, const std::vector<float> &values)
{
    std::vector<float> some;
    for (size_t k = 0; k < N_CHUNKS; k++)
        for (size_t i = c.chunks[k].beg * c.D; i < c.chunks[k].end * c.D; i++)
            some.push_back(values[k * c.L * c.D + i]);
    return some;
}

double off(const Case &c, const std::vector<float> &got, const std::vector<float> &want)
{
    return difference(wanted(c, got), wanted(c, want));
}

uint64_t computed(const struct cov_net *net, uint64_t *before)
{
    struct cov_forward_counts counts;
    cov_net_counts(net, &counts);
    const uint64_t n = counts.positions_computed - *before;
    *before = counts.positions_computed;
    return n;
}

/* Compares random networks, others for each number `seed`, with whole chunks, in one call and one by one. */
void check_values(const Precision &p, uint64_t seed, bool big)
{
    struct cov_device *dev = open_gpu(p);
    struct cov_rng rng;
    double worst = 0;
    bool same = true, can = true;
    cov_rng_init(&rng, seed);
    for (int i = 0; i < (big ? 40 : 2); i++) {
        Case c = draw_case(draw_hparams(&rng), (size_t)draw(&rng, 1, big ? 400 : 50),
                           (size_t)draw(&rng, 2, (int64_t)N_CHUNKS), (uint64_t)i);
        struct cov_net *net = open_net(dev, c, 1);
        can = can && cov_net_can_edit(net);
        for (int again = 0; again < (i ? 1 : 2) && cov_net_can_edit(net); again++) {
            std::vector<float> got = edited(net, c, 0, N_CHUNKS);
            worst = larger(worst, off(c, got, whole(net, c)));
            std::vector<float> single;
            for (size_t k = 0; k < N_CHUNKS; k++) {
                std::vector<float> one = edited(net, c, k, k + 1);
                single.insert(single.end(), one.begin(), one.end());
            }
            same = same && wanted(c, single) == wanted(c, got);
            draw_chunks(&c, &rng);
        }
        cov_net_free(net);
    }
    cov_device_close(dev);
    printf("# %s: off by %.2g of the largest value, %.2g allowed\n", p.name.c_str(), worst,
           p.bound);
    named(can, p.name + ": networks with 32 or 64 units can be edited");
    named(worst <= p.bound, p.name + ": values of whole chunks");
    named(same, p.name + ": a chunk's values do not depend on the call");
}

/* A network like the published one, with this many rows of the LSTMs; smaller in emulation. */
Case big_case(bool big, size_t rows)
{
    struct cov_hparams hp = published(2);
    if (!big) {
        hp.filter_size = 8;
        hp.hidden_size = 32;
    }
    return draw_case(hp, big ? 2673 : rows, N_CHUNKS, 5);
}

/* Returns the correlation of what the edits change, in logarithms. */
double correlation(const Case &c, const std::vector<float> &got, const std::vector<float> &want,
                   const std::vector<float> &before)
{
    double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    for (size_t k = 0; k < N_CHUNKS; k++)
        for (size_t i = c.chunks[k].beg * c.D; i < c.chunks[k].end * c.D; i++) {
            const size_t at = k * c.L * c.D + i;
            if (!(before[at] > 0) || !(want[at] > 0))
                continue;
            const double a = log((double)got[at] / (double)before[at]),
                         b = log((double)want[at] / (double)before[at]);
            n++;
            x += a;
            y += b;
            xx += a * a;
            yy += b * b;
            xy += a * b;
        }
    return (n * xy - x * y) / sqrt((n * xx - x * x) * (n * yy - y * y));
}

void check_effects(const Precision &p, bool big)
{
    struct cov_device *dev = open_gpu(p);
    Case c = big_case(big, 100), unedited = c;
    for (size_t k = 0; k < N_CHUNKS; k++)
        memcpy(&unedited.codes[k * c.L], &c.originals[c.chunks[k].of * c.L], c.L);
    struct cov_net *net = open_net(dev, c, 1);
    const double r =
        correlation(c, edited(net, c, 0, N_CHUNKS), whole(net, c), whole(net, unedited));
    printf("# %s: correlation of effects %.6f\n", p.name.c_str(), r);
    named(r >= 0.999, p.name + ": effects of edits, r at least 0.999");
    cov_net_free(net);
    cov_device_close(dev);
}

/* Originals are computed once, for all workers, and a replaced base costs a small part of a chunk. */
void check_work(bool big)
{
    struct cov_device *dev = open_gpu(COV_PRECISION_FP32);
    Case c = big_case(big, 200);
    const size_t L = c.L;
    struct cov_net *net = open_net(dev, c, 3);
    uint64_t before = 0;
    for (size_t k = 0; k < 2; k++) {
        memcpy(&c.codes[k * L], &c.originals[0], L);
        c.chunks[k] = {0, 0, L};
    }
    c.codes[L + L / 2] ^= COV_CODE_N;
    (void)edited(net, c, 0, 1);
    result(computed(net, &before) == 2 * L, "the originals are computed");
    (void)edited(net, c, 1, 2);
    (void)computed(net, &before); /* with the check of the first edit */
    (void)edited(net, c, 1, 2, 2);
    const uint64_t all = computed(net, &before);
    printf("# a replaced base: %.3f of a chunk\n", (double)all / (double)L);
    result(all > 0 && all < L / 2, "only once, for all workers; an edit costs less");
    c.chunks[1] = {0, L / 2, L / 2 + 1};
    (void)edited(net, c, 1, 2, 1);
    const uint64_t few = computed(net, &before);
    printf("# with one wanted position: %.3f of a chunk\n", (double)few / (double)L);
    result(few > 0 && few < all * 3 / 4, "few wanted positions cost less");
    memset(&c.originals[L / 2], COV_CODE_PAD, L / 2);
    (void)edited(net, c, 1, 2);
    result(computed(net, &before) == L, "much padding: the chunk is computed whole");
    cov_net_free(net);
    cov_device_close(dev);
}

/* Many threads with more originals than are kept. */
void check_threads(void)
{
    enum { THREADS = 12 };
    struct cov_device *dev = open_gpu(COV_PRECISION_FP32);
    std::vector<Case> cases;
    for (uint64_t i = 0; i < THREADS; i++)
        cases.push_back(draw_case(small_network(8, 5, 32), 40, 4, i * 3 / 4));
    for (Case &c : cases)
        c.block = cases[0].block;
    struct cov_net *net = open_net(dev, cases[0], THREADS);
    bool same = true;
    std::vector<std::vector<float>> got(THREADS);
    in_threads(THREADS, [&](size_t i) {
        for (int again = 0; again < 2; again++)
            got[i] = edited(net, cases[i], 0, N_CHUNKS, (unsigned)i);
    });
    for (size_t i = 0; i < THREADS; i++)
        same = same &&
               wanted(cases[i], edited(net, cases[i], 0, N_CHUNKS)) == wanted(cases[i], got[i]);
    result(same, "12 threads, more originals than are kept: the same bytes as from one thread");
    cov_net_free(net);
    cov_device_close(dev);
}

/* Little memory means smaller groups, and none that chunks are computed whole. */
void check_memory(void)
{
#if defined(SIMT_EMULATED_H)
    struct cov_device *dev = open_gpu(COV_PRECISION_FP32);
    const Case c = draw_case(small_network(8, 5, 32), 40, N_CHUNKS, 7);
    const std::string usual = getenv("COVTOOLS_MOCK");
    std::vector<float> got[3];
    const char *const memory[3] = {"", ",free_percent=0", ",memory=0"};
    for (size_t i = 0; i < 3; i++) {
        struct cov_net *net = open_net(dev, c, 1);
        (void)setenv("COVTOOLS_MOCK", (usual + memory[i]).c_str(), 1);
        log_text.clear();
        got[i] = wanted(c, edited(net, c, 0, N_CHUNKS));
        const bool whole_chunks =
            log_text.find("computing all windows in full") != std::string::npos;
        result(i == 2 ? whole_chunks && got[i] == wanted(c, whole(net, c))
                      : !whole_chunks && got[i] == got[0],
               i == 0   ? "enough memory"
               : i == 1 ? "little memory: groups of one edit, the same bytes"
                        : "no memory: whole chunks");
        (void)setenv("COVTOOLS_MOCK", usual.c_str(), 1);
        cov_net_free(net);
    }
    cov_device_close(dev);
#endif
}

/* Checks that planted faults change the values, and that the check of a program's first edits finds them, so that all
 * chunks are computed whole. */
void check_faults(const Precision &p)
{
#if defined(SIMT_EMULATED_H)
    const Case c = big_case(false, 50);
    for (const Fault &f : faults) {
        if (f.fault != SIMT_FAULT_BARRIER && f.fault != SIMT_FAULT_REST &&
            f.fault != SIMT_FAULT_PRODUCTS)
            continue;
        struct cov_device *dev = open_gpu(p);
        struct cov_net *net = open_net(dev, c, 1);
        const std::vector<float> want = whole(net, c);
        (void)edited(net, c, 0, N_CHUNKS);
        simt_set_fault(f.fault);
        const double found = off(c, edited(net, c, 0, N_CHUNKS), want);
        simt_set_fault(SIMT_FAULT_NONE);
        cov_net_free(net);
        named(found > p.bound, p.name + ", found: " + f.name);
        if (f.fault ==
            SIMT_FAULT_PRODUCTS) { /* of whole chunks, too, as the card's self-check finds */
            cov_device_close(dev);
            continue;
        }
        net = open_net(dev, c, 1);
        log_text.clear();
        simt_set_fault(f.fault);
        (void)edited(net, c, 0, N_CHUNKS);
        simt_set_fault(SIMT_FAULT_NONE);
        named(log_text.find("warning: GPU 0 (Mock A) computes wrong values after edits") !=
                      std::string::npos &&
                  edited(net, c, 0, N_CHUNKS) == want,
              p.name + ", " + f.name + ": computes whole chunks, with a warning");
        cov_net_free(net);
        cov_device_close(dev);
    }
#else
    (void)p;
#endif
}

} // namespace

int main(int argc, char **argv)
{
    (void)setenv("COVTOOLS_MOCK", "shared=232448", 0); /* as much as an H100 has */
    Options o = parse_options(argc, argv);
    cov_log_set(note, NULL, COV_LOG_DEBUG);
    const std::vector<Precision> precisions = choose_precisions(all_precisions, o.only);
    for (const Precision &p : precisions) {
        check_values(p, (uint64_t)(&p - precisions.data()), o.big);
        if (o.big || p.precision == COV_PRECISION_BF16)
            check_effects(p, o.big);
    }
    for (const Precision &p : slow_ones(precisions))
        if (p.precision == COV_PRECISION_FP32 || p.precision == COV_PRECISION_BF16)
            check_faults(p);
    use_sums(false);
    check_work(o.big);
    check_threads();
    check_memory();
    return finish_tests();
}
