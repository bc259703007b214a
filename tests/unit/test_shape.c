/* test_shape.c - hyperparameters, the table of parameters, and the layers for a length, compared with
 * values computed by hand.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/net/shape.h"

static const struct cov_hparams small_cnn = {
    .model_type = COV_MODEL_CNN,
    .cnn_layers = 2,
    .filter_size = 16,
    .kernel_size = 9,
    .step = 2,
    .up = 3,
    .dilation = 1,
    .input_size = 4,
    .output_size = 1,
};

/* ---- hyperparameters ---- */

TEST(names_types)
{
    static const char *const names[] = {"cnn", "hybrid", "bi-hybrid"};
    enum cov_model_type type;
    for (int i = 0; i < 3; i++) {
        assert_ok(cov_model_type_parse(names[i], &type, &e));
        assert_int_equal(type, i);
        assert_string_equal(cov_model_type_name(type), names[i]);
    }
    assert_fails(cov_model_type_parse("Hybrid", &type, &e), COV_EINPUT, "model_type is \"Hybrid\"");
}

static void refuses(const struct cov_hparams *hp, const char *text)
{
    assert_fails(cov_hparams_check(hp, &e), COV_EINPUT, text);
}

static void accepts(const struct cov_hparams *hp)
{
    assert_ok(cov_hparams_check(hp, &e));
}

TEST(checks_ranges)
{
    accepts(&cov_hparams_published);
    struct cov_hparams hp;
    static const struct {
        const char *name;
        size_t at;
        int64_t most;
    } sizes[] = {
        {"cnn_layers", offsetof(struct cov_hparams, cnn_layers), 256},
        {"filter_size", offsetof(struct cov_hparams, filter_size), INT32_MAX},
        {"kernel_size", offsetof(struct cov_hparams, kernel_size), 1 << 20},
        {"step", offsetof(struct cov_hparams, step), 1 << 20},
        {"up", offsetof(struct cov_hparams, up), INT32_MAX},
        {"dilation", offsetof(struct cov_hparams, dilation), 1 << 20},
        {"lstm_layers", offsetof(struct cov_hparams, lstm_layers), 256},
        {"hidden_size", offsetof(struct cov_hparams, hidden_size), INT32_MAX},
        {"output_size", offsetof(struct cov_hparams, output_size), 10000},
    };
    for (size_t i = 0; i < COV_COUNT(sizes); i++) {
        const int64_t bad[] = {0, -1, INT64_MIN, sizes[i].most + 1, INT64_MAX};
        for (size_t j = 0; j < COV_COUNT(bad); j++) {
            hp = cov_hparams_published;
            memcpy((char *)&hp + sizes[i].at, &bad[j], sizeof bad[j]);
            refuses(&hp, sizes[i].name);
            hp.model_type = COV_MODEL_CNN; /* has no LSTM, so that LSTM sizes do not matter */
            if (strcmp(sizes[i].name, "lstm_layers") == 0 ||
                strcmp(sizes[i].name, "hidden_size") == 0)
                accepts(&hp);
            else
                refuses(&hp, sizes[i].name);
        }
    }
    hp = cov_hparams_published;
    hp.input_size = 5;
    refuses(&hp, "input_size is 5, not 4");
    const double dropouts[] = {-0.1, 1, 2, (double)NAN};
    for (size_t i = 0; i < COV_COUNT(dropouts); i++) {
        hp = cov_hparams_published;
        hp.dropout = dropouts[i];
        refuses(&hp, "dropout is ");
    }
}

/* Products such as filter_size * up^i must not overflow before the network is refused. */
TEST(refuses_petabytes)
{
    const char *text = "more than 2^31 parameters";
    struct cov_hparams hp = cov_hparams_published;
    hp.filter_size = INT32_MAX;
    refuses(&hp, text);
    hp = cov_hparams_published;
    hp.up = INT32_MAX;
    refuses(&hp, text);
    hp = cov_hparams_published;
    hp.cnn_layers = 256;
    refuses(&hp, text);
    hp = cov_hparams_published;
    hp.hidden_size = INT32_MAX;
    refuses(&hp, text);
    hp = cov_hparams_published;
    hp.lstm_layers = 256;
    hp.hidden_size = 1 << 14;
    refuses(&hp, text);

    /* A cnn without a norm, with one layer, kernel 1, step 1, f filters and d outputs, has 4f + f +
     * 4f + 4 + 5d parameters. */
    hp = (struct cov_hparams){.model_type = COV_MODEL_CNN,
                              .cnn_layers = 1,
                              .kernel_size = 1,
                              .step = 1,
                              .up = 1,
                              .dilation = 1,
                              .input_size = 4,
                              .output_size = 8};
    hp.filter_size = ((INT64_C(1) << 31) - 4 - 40) / 9; /* as many as fit */
    assert_true(hp.filter_size * 9 + 44 == (INT64_C(1) << 31) - 3);
    accepts(&hp);
    hp.output_size = 9;
    refuses(&hp, text);

    /* A hybrid has 4f + f parameters, then 4h(f + h + 2) in the LSTM, then 4h + 4 + 5d. With h = 1,
     * the sum is 9f + 12 + 4 + 4 + 5d. */
    hp.model_type = COV_MODEL_HYBRID;
    hp.lstm_layers = 1;
    hp.hidden_size = 1;
    hp.output_size = 1;
    hp.filter_size = ((INT64_C(1) << 31) - 25) / 9;
    accepts(&hp);
    hp.filter_size++;
    refuses(&hp, text);
}

TEST(refuses_kernels)
{
    struct cov_hparams hp = cov_hparams_published;
    hp.step = 1;
    hp.kernel_size = 8;
    refuses(&hp, "step is 1 with the even kernel_size 8");
    hp.step = 5;
    hp.kernel_size = 3;
    refuses(&hp, "step 5 is too large for kernel_size 3 and dilation 1");
    hp.step = 3;
    hp.kernel_size = 1;
    hp.dilation = 100;
    refuses(&hp, "step 3 is too large for kernel_size 1");
    hp = cov_hparams_published;
    hp.kernel_size = 1025;
    hp.dilation = 1024;
    refuses(&hp, "kernel_size 1025 with dilation 1024 spans more than");
}

/* ---- parameters ---- */

/* Compares the names and shapes of the parameters with a table in parts. */
static void check_table(const struct cov_hparams *hp, const char *const *parts, size_t n_parts)
{
    struct cov_params p;
    char table[4096];
    const char *left = table;
    size_t n_floats = 0, at = 0;
    assert_ok(cov_params_init(hp, &p, &e));
    for (size_t i = 0; i < p.n_items; i++) {
        const struct cov_param *item = &p.items[i];
        size_t n_elems = 1;
        at += (size_t)snprintf(table + at, sizeof table - at, "%s", item->name);
        for (int d = 0; d < item->n_dims; d++) {
            at += (size_t)snprintf(table + at, sizeof table - at, " %zu", item->shape[d]);
            n_elems *= item->shape[d];
        }
        at += (size_t)snprintf(table + at, sizeof table - at, "\n");
        assert_true(at < sizeof table);
        assert_int_equal(item->n, n_elems);
        assert_int_equal(item->offset, n_floats);
        assert_int_equal(item->trained, strstr(item->name, "running_") == NULL);
        assert_ptr_equal(cov_params_find(&p, item->name), item);
        n_floats += n_elems;
    }
    for (size_t i = 0; i < n_parts; left += strlen(parts[i++]))
        assert_memory_equal(left, parts[i], strlen(parts[i]));
    assert_string_equal(left, "");
    assert_int_equal(p.n_floats, n_floats);
    assert_null(cov_params_find(&p, "down_layer_list.0"));
    cov_params_fini(&p);
    assert_null(p.items);
}

/* The rows of a convolution or the linear layer, of a norm, and of one direction of an LSTM layer. */
#define LAYER(name, weight, bias) name ".weight " weight "\n" name ".bias " bias "\n"
#define NORM(name, c) LAYER(name, c, c) name ".running_mean " c "\n" name ".running_var " c "\n"
#define LSTM(k, end, in, hidden, gates)                                                            \
    "lstm_layer_list." k ".weight_ih_l0" end " " gates " " in "\n"                                 \
    "lstm_layer_list." k ".weight_hh_l0" end " " gates " " hidden "\n"                             \
    "lstm_layer_list." k ".bias_ih_l0" end " " gates "\n"                                          \
    "lstm_layer_list." k ".bias_hh_l0" end " " gates "\n"

TEST(tabulates)
{
    /* Norms between convolutions, and dropout between LSTM layers, count as modules. */
    static const char *const with_all[] = {
        LAYER("down_layer_list.0", "64 4 9", "64"),
        NORM("down_layer_list.1", "64"),
        LAYER("down_layer_list.2", "128 64 9", "128"),
        NORM("down_layer_list.3", "128"),
        LAYER("down_layer_list.4", "256 128 9", "256"),
        NORM("down_layer_list.5", "256"),
        LSTM("0", "", "256", "128", "512"),
        LSTM("0", "_reverse", "256", "128", "512"),
        LSTM("2", "", "256", "128", "512"),
        LSTM("2", "_reverse", "256", "128", "512"),
        LAYER("up_layer_list.0", "256 128 9", "128"),
        NORM("up_layer_list.1", "128"),
        LAYER("up_layer_list.2", "128 64 9", "64"),
        NORM("up_layer_list.3", "64"),
        LAYER("up_layer_list.4", "64 4 9", "4"),
        NORM("up_layer_list.5", "4"),
        LAYER("out", "2 4", "2"),
    };
    check_table(&cov_hparams_published, with_all, COV_COUNT(with_all));

    static const char *const plain[] = {
        LAYER("down_layer_list.0", "16 4 9", "16"),
        LAYER("down_layer_list.1", "48 16 9", "48"),
        LAYER("up_layer_list.0", "48 16 9", "16"),
        LAYER("up_layer_list.1", "16 4 9", "4"),
        LAYER("out", "1 4", "1"),
    };
    check_table(&small_cnn, plain, COV_COUNT(plain));

    /* The LSTM has one direction, so the input of the up layers has the hidden size. There is no
     * dropout. */
    struct cov_hparams hp = small_cnn;
    hp.model_type = COV_MODEL_HYBRID;
    hp.lstm_layers = 2;
    hp.hidden_size = 20;
    static const char *const hybrid[] = {
        LAYER("down_layer_list.0", "16 4 9", "16"),
        LAYER("down_layer_list.1", "48 16 9", "48"),
        LSTM("0", "", "48", "20", "80"),
        LSTM("1", "", "20", "20", "80"),
        LAYER("up_layer_list.0", "20 16 9", "16"),
        LAYER("up_layer_list.1", "16 4 9", "4"),
        LAYER("out", "1 4", "1"),
    };
    check_table(&hp, hybrid, COV_COUNT(hybrid));
}

TEST(counts_published_parameters)
{
    struct cov_params p;
    size_t trained = 0;
    assert_ok(cov_params_init(&cov_hparams_published, &p, &e));
    for (size_t i = 0; i < p.n_items; i++)
        if (p.items[i].trained)
            trained += p.items[i].n;
    /* down 2368 + 73856 + 295168, up 295040 + 73792 + 2308, norms 2 * (64 + 128 + 256 + 128 + 64
     * + 4), LSTM 4 * 512 * (256 + 128 + 2), out 10 */
    assert_int_equal(trained, 1534358);
    cov_params_fini(&p);
}

struct net {
    struct cov_params params;
    float *block;
    struct cov_layers shape;
};

static int net_init(struct net *net, const struct cov_hparams *hp, size_t L, struct cov_err *e)
{
    assert_int_equal(cov_params_init(hp, &net->params, e), 0);
    net->block = unit_zeros(net->params.n_floats * sizeof *net->block);
    return cov_shape(hp, L, &net->params, net->block, &net->shape, e);
}

static void net_fini(struct net *net)
{
    cov_layers_fini(&net->shape);
    unit_free();
    cov_params_fini(&net->params);
}

TEST(lays_out)
{
    struct net net;
    assert_ok(net_init(&net, &cov_hparams_published, 21384, &e));
    static const struct cov_layer expected[] = {
        {COV_LAYER_CONV, 21384, 4, 10692, 64, 9, 2, 1, 4, 0, 0, true},
        {COV_LAYER_CONV, 10692, 64, 5346, 128, 9, 2, 1, 4, 0, 0, true},
        {COV_LAYER_CONV, 5346, 128, 2673, 256, 9, 2, 1, 4, 0, 0, true},
        {COV_LAYER_LSTM, 2673, 256, 2673, 256, 0, 0, 0, 0, 128, 2, false},
        {COV_LAYER_LSTM, 2673, 256, 2673, 256, 0, 0, 0, 0, 128, 2, false},
        {COV_LAYER_CONV_TRANSPOSED, 2673, 256, 5346, 128, 9, 2, 1, 4, 0, 0, true},
        {COV_LAYER_CONV_TRANSPOSED, 5346, 128, 10692, 64, 9, 2, 1, 4, 0, 0, true},
        {COV_LAYER_CONV_TRANSPOSED, 10692, 64, 21384, 4, 9, 2, 1, 4, 0, 0, true},
        {COV_LAYER_LINEAR_EXP, 21384, 4, 21384, 2, 0, 0, 0, 0, 0, 0, false},
    };
    assert_int_equal(net.shape.n, COV_COUNT(expected));
    for (size_t i = 0; i < net.shape.n; i++) {
        const struct cov_layer *is = &net.shape.layers[i], *should = &expected[i];
        assert_int_equal(is->kind, should->kind);
        assert_int_equal(is->t_in, should->t_in);
        assert_int_equal(is->c_in, should->c_in);
        assert_int_equal(is->t_out, should->t_out);
        assert_int_equal(is->c_out, should->c_out);
        assert_int_equal(is->kernel, should->kernel);
        assert_int_equal(is->stride, should->stride);
        assert_int_equal(is->dilation, should->dilation);
        assert_int_equal(is->pad, should->pad);
        assert_int_equal(is->hidden, should->hidden);
        assert_int_equal(is->directions, should->directions);
        assert_int_equal(is->norm, should->norm);
    }
    net_fini(&net);
}

static const float *at(const struct net *net, const char *name)
{
    const struct cov_param *param = cov_params_find(&net->params, name);
    assert_non_null(param);
    return net->block + param->offset;
}

TEST(points_into_block)
{
    struct net net;
    assert_ok(net_init(&net, &cov_hparams_published, 64, &e));
    const struct cov_layer_weights *w = &net.shape.weights[1];
    assert_ptr_equal(w->weight, at(&net, "down_layer_list.2.weight"));
    assert_ptr_equal(w->bias, at(&net, "down_layer_list.2.bias"));
    assert_ptr_equal(w->gamma, at(&net, "down_layer_list.3.weight"));
    assert_ptr_equal(w->beta, at(&net, "down_layer_list.3.bias"));
    assert_ptr_equal(w->mean, at(&net, "down_layer_list.3.running_mean"));
    assert_ptr_equal(w->var, at(&net, "down_layer_list.3.running_var"));
    assert_null(w->w_ih[0]);
    w = &net.shape.weights[4];
    assert_ptr_equal(w->w_ih[0], at(&net, "lstm_layer_list.2.weight_ih_l0"));
    assert_ptr_equal(w->w_hh[0], at(&net, "lstm_layer_list.2.weight_hh_l0"));
    assert_ptr_equal(w->b_ih[0], at(&net, "lstm_layer_list.2.bias_ih_l0"));
    assert_ptr_equal(w->b_hh[0], at(&net, "lstm_layer_list.2.bias_hh_l0"));
    assert_ptr_equal(w->w_ih[1], at(&net, "lstm_layer_list.2.weight_ih_l0_reverse"));
    assert_ptr_equal(w->w_hh[1], at(&net, "lstm_layer_list.2.weight_hh_l0_reverse"));
    assert_ptr_equal(w->b_ih[1], at(&net, "lstm_layer_list.2.bias_ih_l0_reverse"));
    assert_ptr_equal(w->b_hh[1], at(&net, "lstm_layer_list.2.bias_hh_l0_reverse"));
    assert_null(w->weight);
    w = &net.shape.weights[7];
    assert_ptr_equal(w->weight, at(&net, "up_layer_list.4.weight"));
    assert_ptr_equal(w->var, at(&net, "up_layer_list.5.running_var"));
    w = &net.shape.weights[8];
    assert_ptr_equal(w->weight, at(&net, "out.weight"));
    assert_ptr_equal(w->bias, at(&net, "out.bias"));
    assert_null(w->gamma);
    net_fini(&net);
}

/* Compares every small kernel, step and dilation with the literal definition in doubles. A shape
 * must be valid exactly if PyTorch accepts the network. */
TEST(follows_definition)
{
    int n_sound = 0;
    for (int k = 1; k <= 12; k++) {
        for (int s = 1; s <= 7; s++) {
            for (int d = 1; d <= 5; d++) {
                struct cov_hparams hp = small_cnn;
                hp.kernel_size = k;
                hp.step = s;
                hp.dilation = d;
                double l_in = 10. * s * s, l_out = l_in / s;
                double p = ceil(((l_out - 1) * s - l_in + d * (k - 1) + 1) / 2);
                int op = (s + k) % 2 == 0 ? 0 : 1;
                if (d % 2 == 0 && k % 2 == 0)
                    op = !op;
                l_in = 10;
                l_out = l_in * s;
                double tp = trunc(((l_in - 1) * s - l_out + d * (k - 1) + op + 1) / 2);
                bool sound = p >= 0 && tp >= 0 && !(s == 1 && k % 2 == 0);
                assert_int_equal(cov_hparams_check(&hp, NULL), sound ? 0 : COV_EINPUT);
                if (!sound)
                    continue;
                struct net net;
                n_sound++;
                assert_ok(net_init(&net, &hp, (size_t)(10 * s * s), &e));
                assert_true((double)net.shape.layers[0].pad == p);
                assert_true((double)net.shape.layers[1].pad == p);
                assert_true((double)net.shape.layers[2].pad == tp);
                assert_int_equal(cov_hparams_paddings(&hp).output, op);
                assert_int_equal(net.shape.layers[1].t_out, 10);
                assert_int_equal(net.shape.layers[3].t_out, 10 * s * s);
                net_fini(&net);
            }
        }
    }
    assert_true(n_sound > 300);
}

static void refuses_length(const struct cov_hparams *hp, size_t L, const char *text)
{
    struct net net;
    assert_fails(net_init(&net, hp, L, &e), COV_EINPUT, text);
    assert_null(net.shape.layers);
    assert_null(net.shape.weights);
    net_fini(&net);
}

TEST(refuses_lengths)
{
    refuses_length(&cov_hparams_published, 21383,
                   "21383 is not a multiple of 8 (step 2 to the power of "
                   "cnn_layers 3); the nearest that fits is 21376 or 21384");
    refuses_length(&cov_hparams_published, 5, "the nearest that fits is 8");
    refuses_length(&cov_hparams_published, 0, "the nearest that fits is 8");
    refuses_length(&cov_hparams_published, SIZE_MAX, "is more than 1099511627776");
    refuses_length(&cov_hparams_published, ((size_t)1 << 40) + 8, "is more than 1099511627776");
    refuses_length(&cov_hparams_published, (size_t)1 << 40,
                   "1099511627776 positions and 64 channels");
    struct cov_hparams hp = small_cnn;
    hp.cnn_layers = 200;
    hp.up = 1;
    refuses_length(&hp, 21384, "step 2 and cnn_layers 200 ask for a subsequence length");
    hp.cnn_layers = 41; /* 2 to the power of this is a number of 64 bits */
    refuses_length(&hp, 21384, "step 2 and cnn_layers 41 ask for a subsequence length");
    /* These hyperparameters are not valid: their lengths would not match in PyTorch. */
    hp = small_cnn;
    hp.step = 1;
    hp.kernel_size = 8;
    refuses_length(&hp, 100,
                   "kernel_size 8, step 1 and dilation 1 do not fit together: a layer of "
                   "length 100 gives 101 instead of 100");
    hp.step = 5;
    hp.kernel_size = 3;
    refuses_length(&hp, 100, "(padding -1)");
}

TEST(randomizes)
{
    struct cov_params p;
    assert_ok(cov_params_init(&cov_hparams_published, &p, &e));
    float *a = unit_alloc(p.n_floats * sizeof *a), *b = unit_alloc(p.n_floats * sizeof *b);
    memset(a, 0xff, p.n_floats * sizeof *a); /* NaN, to detect elements that are not set */
    cov_params_randomize(&cov_hparams_published, &p, 7, a);
    cov_params_randomize(&cov_hparams_published, &p, 7, b);
    assert_memory_equal(a, b, p.n_floats * sizeof *a);
    static const struct {
        const char *name;
        double fan_in;
    } fans[] = {
        {"down_layer_list.0.weight", 4 * 9},     {"down_layer_list.0.bias", 4 * 9},
        {"down_layer_list.4.weight", 128 * 9},   {"down_layer_list.4.bias", 128 * 9},
        {"lstm_layer_list.0.weight_ih_l0", 128}, {"lstm_layer_list.2.bias_hh_l0_reverse", 128},
        {"up_layer_list.0.weight", 128 * 9},     {"up_layer_list.4.weight", 4 * 9},
        {"up_layer_list.2.bias", 64 * 9},
    };
    for (size_t i = 0; i < COV_COUNT(fans); i++) {
        const struct cov_param *param = cov_params_find(&p, fans[i].name);
        assert_non_null(param);
        double bound = 1 / sqrt(fans[i].fan_in), most = 0, squares = 0;
        for (size_t j = 0; j < param->n; j++) {
            double x = (double)a[param->offset + j];
            most = fmax(most, fabs(x));
            squares += x * x;
        }
        assert_true(most <= bound * (1 + 1e-7));
        if (param->n >= 64) { /* the variance is bound^2 / 3, within five deviations */
            assert_true(most > 0.9 * bound);
            double ratio = squares / (double)param->n / (bound * bound / 3);
            assert_true(fabs(ratio - 1) < 5 * sqrt(0.8 / (double)param->n));
        }
    }
    for (size_t i = 0; i < p.n_items; i++) {
        const struct cov_param *param = &p.items[i];
        bool one = strstr(param->name, "running_var") != NULL;
        bool zero = strstr(param->name, "running_mean") != NULL;
        for (size_t j = 0; j < param->n; j++) {
            float x = a[param->offset + j];
            assert_true(fabsf(x) <= 1);
            assert_true(!one || x == 1);
            assert_true(!zero || x == 0);
        }
    }
    assert_true(a[cov_params_find(&p, "up_layer_list.3.weight")->offset + 63] == 1);
    assert_true(a[cov_params_find(&p, "up_layer_list.3.bias")->offset + 63] == 0);
    cov_params_randomize(&cov_hparams_published, &p, 8, b);
    assert_true(a[0] != b[0] && a[1] != b[1]);
    cov_params_fini(&p);
}
