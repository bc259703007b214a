/* test_model.c - reading networks from checkpoints, and refusing invalid checkpoints.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/own_dir.h"

#include "common/ckpt/ckpt.h"
#include "common/input/model.h"
#include "common/net/shape.h"

static const char path[] = "x.ckpt";

static const struct cov_hparams small = {
    .model_type = COV_MODEL_HYBRID,
    .cnn_layers = 1,
    .filter_size = 3,
    .kernel_size = 4,
    .step = 2,
    .up = 2,
    .dilation = 1,
    .lstm_layers = 2,
    .hidden_size = 5,
    .input_size = 4,
    .output_size = 2,
    .bnorm = true,
    .dropout = 0.25,
};

/* How a checkpoint differs from the usual one for `hp`. A NULL member means no difference. */
struct variant {
    struct cov_hparams hp;       /* determine the shapes of the tensors */
    const char *without_hparam;  /* omitted */
    const char *changed_integer; /* hyperparameter that is set to `integer` */
    int64_t integer;             /* value of `changed_integer` */
    const char *as_float;        /* hyperparameter that is set to `number` */
    double number;               /* value of `as_float` */
    const char *as_string;       /* hyperparameter set to "x" */
    const char *as_none;         /* hyperparameter set to None */
    bool loose_types;            /* store integers as floats, and bools and floats as integers */
    const char *const *datasets;
    size_t n_datasets;
    const char *without_tensor;
    const char *reshaped; /* tensor whose shape is reversed, or has a single dimension */
    bool flat;
    const char *as_integers; /* tensor stored as int64 */
    const char *extra;       /* additional tensor */
    bool without_counts;     /* omit num_batches_tracked */
};

static const char *const ab[] = {"atac", "h3k4me3"};

static bool is(const char *a, const char *b)
{
    return a && strcmp(a, b) == 0;
}

static void put_hparams(struct cov_ckpt *c, const struct variant *v)
{
    const struct cov_hparams *hp = &v->hp;
    const struct {
        const char *name;
        int64_t value;
    } sizes[] = {
        {"cnn_layers", hp->cnn_layers},
        {"filter_size", hp->filter_size},
        {"kernel_size", hp->kernel_size},
        {"step", hp->step},
        {"up", hp->up},
        {"dilation", hp->dilation},
        {"lstm_layers", hp->lstm_layers},
        {"hidden_size", hp->hidden_size},
        {"seq_len", 21384},
        {"input_size", hp->input_size},
        {"output_size", hp->output_size},
    };
    assert_ok(cov_ckpt_add_string(c, "model_type", cov_model_type_name(hp->model_type), &e));
    for (size_t i = 0; i < COV_COUNT(sizes); i++)
        assert_ok(cov_ckpt_add_int(c, sizes[i].name, sizes[i].value, &e));
    assert_ok(cov_ckpt_add_bool(c, "bnorm", hp->bnorm, &e));
    assert_ok(cov_ckpt_add_float(c, "dropout", hp->dropout, &e));
    assert_ok(cov_ckpt_add_float(c, "learning_rate", 0.001, &e));
    assert_ok(cov_ckpt_add_strings(c, "datasets", v->datasets, v->n_datasets, &e));
}

static void change_hparam(struct cov_ckpt *c, const struct variant *v, struct cov_hparam *h)
{
    if (v->loose_types && (h->kind == COV_HPARAM_INT || h->kind == COV_HPARAM_BOOL)) {
        h->number = h->kind == COV_HPARAM_INT ? (double)h->integer : h->boolean;
        h->kind = COV_HPARAM_FLOAT;
    } else if (is(v->changed_integer, h->name)) {
        h->kind = COV_HPARAM_INT;
        h->integer = v->integer;
    } else if (is(v->as_float, h->name)) {
        h->kind = COV_HPARAM_FLOAT;
        h->number = v->number;
    } else if (is(v->as_none, h->name)) {
        h->kind = COV_HPARAM_NONE;
    } else if (is(v->without_hparam, h->name)) {
        h->name[0] = '?';
    } else if (is(v->as_string, h->name)) {
        h->name[0] = '?';
        assert_ok(cov_ckpt_add_string(c, v->as_string, "x", &e));
    }
}

/* Adds the tensors in reverse order. The value of each element is its index in the block. */
static void put_tensors(struct cov_ckpt *c, const struct variant *v)
{
    struct cov_params params;
    struct cov_torch_tensor *t;
    assert_ok(cov_params_init(&v->hp, &params, &e));
    for (size_t i = params.n_items; i-- > 0;) {
        const struct cov_param *p = &params.items[i];
        if (is(v->without_tensor, p->name))
            continue;
        int n_dims = p->n_dims;
        int64_t shape[3] = {(int64_t)p->shape[0], (int64_t)p->shape[1], (int64_t)p->shape[2]};
        if (is(v->reshaped, p->name)) {
            for (int d = 0; d < n_dims; d++)
                shape[d] = (int64_t)p->shape[n_dims - 1 - d];
            if (v->flat) {
                n_dims = 1;
                shape[0] = (int64_t)p->n;
            }
        }
        bool integers = is(v->as_integers, p->name);
        assert_ok(cov_ckpt_add_tensor(c, p->name, integers ? COV_TORCH_INT64 : COV_TORCH_FLOAT32,
                                      n_dims, shape, &t, &e));
        for (size_t j = 0; !integers && j < p->n; j++)
            t->f32[j] = (float)(p->offset + j);
        size_t stem = strlen(p->name) - strlen("running_var");
        if (!v->without_counts && strcmp(p->name + stem, "running_var") == 0) {
            char name[96];
            (void)snprintf(name, sizeof name, "%.*snum_batches_tracked", (int)stem, p->name);
            assert_ok(cov_ckpt_add_tensor(c, name, COV_TORCH_INT64, 0, NULL, &t, &e));
            t->i64[0] = 77;
        }
    }
    if (v->extra)
        assert_ok(cov_ckpt_add_tensor(c, v->extra, COV_TORCH_FLOAT32, 1, (int64_t[]){3}, &t, &e));
    cov_params_fini(&params);
}

static int open_variant(const struct variant *v, struct cov_model **m, struct cov_err *e)
{
    struct cov_ckpt c = COV_CKPT_INIT;
    c.lightning_version = strdup("2.0.2");
    put_hparams(&c, v);
    for (size_t i = 0, n = c.n_hparams; i < n; i++)
        change_hparam(&c, v, &c.hparams[i]);
    put_tensors(&c, v);
    assert_int_equal(cov_ckpt_write(path, &c, NULL), 0);
    cov_ckpt_fini(&c);
    return cov_model_open(path, m, e);
}

static struct variant usual(void)
{
    return (struct variant){.hp = small, .datasets = ab, .n_datasets = 2};
}

static struct cov_model *opens(const struct variant *v)
{
    struct cov_model *m;
    assert_ok(open_variant(v, &m, &e));
    return m;
}

static void refuses(const struct variant *v, const char *text)
{
    struct cov_model *m;
    struct cov_err e = COV_ERR_INIT;
    assert_int_equal(open_variant(v, &m, &e), COV_EINPUT);
    assert_null(m);
    char expected[512];
    (void)snprintf(expected, sizeof expected, "%s: %s", path, text);
    if (strncmp(e.text, expected, strlen(expected)) != 0)
        fail_msg("\"%s\" instead of \"%s\"", e.text, expected);
}

TEST(reads_all)
{
    struct variant v = usual();
    struct cov_model *m = opens(&v);
    assert_string_equal(m->path, path);
    assert_memory_equal(&m->hp, &small, sizeof small);
    assert_string_equal(m->datasets[0], "atac");
    assert_string_equal(m->datasets[1], "h3k4me3");
    /* down 48 + 3 + 6, LSTM 20 * (3 + 5 + 2) + 20 * 12, up 80 + 4 + 8, out 8 + 2; the norms'
     * statistics, 2 * (3 + 4), are not trained */
    assert_int_equal(m->n_parameters, 599);
    for (size_t i = 0; i < 599 + 14; i++)
        assert_true(m->block[i] == (float)i);
    assert_string_equal(m->description,
                        "hybrid, 1 convolution, 2 LSTM layers, 599 parameters: atac, h3k4me3");
    cov_model_close(m);
    cov_model_close(NULL);

    v.without_counts = true;
    cov_model_close(opens(&v));
}

TEST(describes)
{
    struct variant v = usual();
    static const char *const odd[] = {"a\033[2J"};
    v.hp.model_type = COV_MODEL_CNN;
    v.hp.cnn_layers = 2;
    v.hp.output_size = 1;
    v.hp.filter_size = 330;
    v.hp.bnorm = false;
    v.datasets = odd;
    v.n_datasets = 1;
    struct cov_model *m = opens(&v);
    /* down 330 * 4 * 4 + 330 and 660 * 330 * 4 + 660, up the same with 330 and 4 biases, out 5 */
    assert_int_equal(m->n_parameters, 5280 + 330 + 871200 + 660 + 871200 + 330 + 5280 + 4 + 5);
    assert_string_equal(m->description, "cnn, 2 convolutions, 1754289 parameters: a?[2J");
    assert_string_equal(m->datasets[0], odd[0]);
    cov_model_close(m);
    v = usual();
    v.hp.model_type = COV_MODEL_BI_HYBRID;
    v.hp.lstm_layers = 1;
    m = opens(&v);
    assert_contains(m->description, "bi-hybrid, 1 convolution, 1 LSTM layer, ");
    cov_model_close(m);
}

TEST(takes_loose_types)
{
    struct variant v = usual();
    v.loose_types = true;
    struct cov_model *m = opens(&v);
    assert_int_equal(m->hp.filter_size, 3);
    assert_true(m->hp.bnorm);
    cov_model_close(m);
    v = usual();
    v.hp.bnorm = false;
    v.changed_integer = "bnorm";
    v.integer = 0;
    m = opens(&v);
    assert_false(m->hp.bnorm);
    cov_model_close(m);
    v = usual();
    v.hp.dropout = 0;
    v.changed_integer = "dropout";
    v.integer = 0;
    m = opens(&v);
    assert_true(m->hp.dropout == 0);
    cov_model_close(m);
}

TEST(needs_hparams)
{
    static const char *const needed[] = {"model_type",  "cnn_layers",  "filter_size", "kernel_size",
                                         "step",        "up",          "dilation",    "bnorm",
                                         "input_size",  "output_size", "datasets",    "dropout",
                                         "lstm_layers", "hidden_size"};
    for (size_t i = 0; i < COV_COUNT(needed); i++) {
        char text[96];
        struct variant v = usual();
        v.without_hparam = needed[i];
        (void)snprintf(text, sizeof text, "hyperparameter %s is missing", needed[i]);
        refuses(&v, text);
        v.without_hparam = NULL;
        v.as_string = needed[i];
        (void)snprintf(text, sizeof text, "hyperparameter %s is a string, not ", needed[i]);
        refuses(&v, is(needed[i], "model_type") ? "model_type is \"x\"" : text);
        v = usual();
        v.hp.model_type = COV_MODEL_CNN;
        v.without_hparam = needed[i];
        if (i < 11)
            refuses(&v, "hyperparameter ");
        else
            cov_model_close(opens(&v));
    }
    struct variant v = usual();
    v.without_hparam = "seq_len";
    cov_model_close(opens(&v));
    v = usual();
    v.as_none = "step";
    refuses(&v, "hyperparameter step is None, not an integer");
    v.as_none = "model_type";
    refuses(&v, "hyperparameter model_type is None, not a string");
    v = usual();
    v.changed_integer = "bnorm";
    v.integer = 2;
    refuses(&v, "hyperparameter bnorm is an int, not True or False");
}

TEST(refuses_fractions)
{
    const double numbers[] = {2.5, 1e300, -1e300};
    for (size_t i = 0; i < COV_COUNT(numbers); i++) {
        char text[96];
        struct variant v = usual();
        v.as_float = "kernel_size";
        v.number = numbers[i];
        (void)snprintf(text, sizeof text, "hyperparameter kernel_size is %g, not an integer",
                       numbers[i]);
        refuses(&v, text);
    }
}

TEST(refuses_sizes)
{
    static const struct {
        const char *name;
        int64_t value;
        const char *text;
    } cases[] = {
        {"lstm_layers", -1, "lstm_layers is -1, less than 1"},
        {"lstm_layers", INT64_MAX, "lstm_layers is 9223372036854775807, more than 256"},
        {"cnn_layers", 0, "cnn_layers is 0, less than 1"},
        {"cnn_layers", INT64_MIN, "cnn_layers is -9223372036854775808, less than 1"},
        {"filter_size", INT64_MAX, "filter_size is 9223372036854775807, more than"},
        {"filter_size", INT32_MAX, "cnn_layers 1, filter_size 2147483647, up 2, kernel_size 4"},
        /* 2 * 16 * 10^7 parameters are allowed, but are not in the file. */
        {"filter_size", 10000000,
         "tensor down_layer_list.0.weight is 3 x 4 x 4, but the "
         "hyperparameters make it 10000000 x 4 x 4"},
        {"hidden_size", 10000,
         "tensor lstm_layer_list.0.weight_ih_l0 is 20 x 3, but the "
         "hyperparameters make it 40000 x 3"},
        {"input_size", 5, "input_size is 5, not 4"},
        {"output_size", 1, "datasets has 2 names, but output_size is 1"},
        {"output_size", 1000000000, "output_size is 1000000000, more than 10000"},
        {"step", 9, "step 9 is too large for kernel_size 4 and dilation 1"},
        {"step", 1, "step is 1 with the even kernel_size 4"},
        {"dropout", 1, "dropout is 1, outside [0, 1)"},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        struct variant v = usual();
        v.changed_integer = cases[i].name;
        v.integer = cases[i].value;
        refuses(&v, cases[i].text);
    }
}

TEST(refuses_tensors)
{
    struct variant v = usual();
    v.without_tensor = "out.bias";
    refuses(&v, "tensor out.bias is missing");
    v = usual();
    v.without_tensor = "up_layer_list.1.running_var"; /* its count is also omitted */
    refuses(&v, "tensor up_layer_list.1.running_var is missing");
    v = usual();
    v.reshaped = "up_layer_list.0.weight";
    refuses(&v, "tensor up_layer_list.0.weight is 4 x 4 x 5, but the hyperparameters make it "
                "5 x 4 x 4");
    v.flat = true;
    refuses(&v, "tensor up_layer_list.0.weight is 80, but the hyperparameters make it 5 x 4 x 4");
    v = usual();
    v.as_integers = "out.bias";
    refuses(&v, "tensor out.bias has type int64, not a floating-point one");
    v = usual();
    v.extra = "lstm_layer_list.1.weight_ih_l0";
    refuses(&v, "unknown tensor lstm_layer_list.1.weight_ih_l0: ");
    v.extra = "down_layer_list.0.num_batches_tracked"; /* this layer is a convolution, not a norm */
    refuses(&v, "unknown tensor down_layer_list.0.num_batches_tracked: ");
    v.extra = ".num_batches_tracked";
    refuses(&v, "unknown tensor .num_batches_tracked: ");
    v.extra = "a_name_that_is_longer_than_any_name_a_parameter_of_the_network_can_have"
              ".num_batches_tracked";
    refuses(&v, "unknown tensor a_name_that_is_longer");
    /* Without dropout, the LSTM layers have the numbers 0 and 1. */
    v = usual();
    v.changed_integer = "dropout";
    v.integer = 0;
    refuses(&v, "unknown tensor lstm_layer_list.2.");
}

TEST(refuses_datasets)
{
    struct variant v = usual();
    v.n_datasets = 1;
    refuses(&v, "datasets has 1 names, but output_size is 2");
    v.n_datasets = 0;
    refuses(&v, "datasets has 0 names, but output_size is 2");
    static const char *const twice[] = {"atac", "atac"}, *const unnamed[] = {"atac", ""};
    v = usual();
    v.datasets = twice;
    refuses(&v, "datasets: duplicate name \"atac\"");
    v.datasets = unnamed;
    refuses(&v, "datasets: name 2 is empty");
}

TEST(names_missing_file)
{
    struct cov_model *m;
    assert_fails(cov_model_open("/nowhere/model.ckpt", &m, &e), COV_EIO, "/nowhere/model.ckpt");
    assert_null(m);
}

TEST_GROUP(enter_dir, leave_dir)
