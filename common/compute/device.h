/* device.h - the interface of devices that compute networks: tables of functions that the CPU and
 * GPUs implement.
 *
 * A device gets a network once, as a list of layers with weights in PyTorch's layouts, and packs it
 * in any way it likes. Then it runs batches of chunks through the network. So a device may fuse
 * layers, choose the layout of activations and overlap copies. The scalar reference
 * (cpu/layers/ref.h) is the specification. Arrays are row-major; T is positions, C channels, n
 * sequences of a batch.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_DEVICE_H
#define COV_COMPUTE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

enum cov_layer_kind {
    COV_LAYER_CONV,            /* y[n,t_out,c_out]: convolution, bias, ReLU, then norm if any */
    COV_LAYER_CONV_TRANSPOSED, /* the same, transposed */
    COV_LAYER_LSTM,            /* y[n,T,directions*hidden]: forward half, then backward half */
    COV_LAYER_LINEAR_EXP,      /* y[n,T,c_out] = exp(W x + b); the last layer */
};

struct cov_layer {
    enum cov_layer_kind kind;
    size_t t_in, c_in, t_out, c_out;
    size_t kernel, stride, dilation;
    int64_t pad;   /* zero rows before the first (PyTorch's "padding"); negative: rows to skip */
    size_t hidden; /* LSTM: units per direction */
    size_t directions; /* LSTM: 1 or 2 */
    bool norm;         /* BatchNorm after the ReLU */
};

/* Borrowed while the network is built. PyTorch's shapes: conv weight[c_out,c_in,kernel], transposed
 * weight[c_in,c_out,kernel], linear weight[c_out,c_in], bias[c_out]; norm: gamma, beta, mean,
 * var[c_out], y = (x - mean) / sqrt(var + COV_NORM_EPS) * gamma + beta; LSTM, per direction:
 * w_ih[4*hidden,c_in], w_hh[4*hidden,hidden], b_ih, b_hh[4*hidden], gates in the order i, f, g,
 * o. */
struct cov_layer_weights {
    const float *weight, *bias;
    const float *gamma, *beta, *mean, *var;
    const float *w_ih[2], *w_hh[2], *b_ih[2], *b_hh[2];
};

#define COV_NORM_EPS 1e-5
/* Added to the denominator of the accuracy. */
#define COV_PEARSON_EPS 1e-8

/* The value of padded positions. */
#define COV_PAD_VALUE (-1.0f)

/* Counts the work of all forward calls of a program. For n chunks of L positions, n L =
 * positions_computed + positions_at_rest + chunks_repeated L. The positions of a chunk count as
 * computed in proportion to its multiplications, relative to those of a full chunk; the others
 * count as at rest. */
struct cov_forward_counts {
    uint64_t positions_computed, positions_at_rest;
    uint64_t
        chunks_repeated; /* copied from an equal chunk of the same call, or from an earlier chunk
                          * that is all N */
};

/* ---- training ---- */

struct cov_pool;

/* For processes that share a batch: fn replaces v[0..n) by its sum over all processes, with the
 * same bits in each process. fn is NULL if there is only one process. */
struct cov_train_reduce {
    int (*fn)(void *arg, double *v, size_t n, struct cov_err *e);
    void *arg;
};

/* The target of a masked position, which counts neither in the loss nor in the accuracy. */
#define COV_TARGET_MASKED (-1.0f)

struct cov_train_batch {
    size_t n;             /* 0: this process has no chunks of the batch */
    const uint8_t *codes; /* [n,L] base codes, COV_CODE_PAD on padding */
    const float *targets; /* [n,L,D]; not read where absent or padding; < 0: masked */
    const bool *present;  /* [n,D]: the chunk has a target for the dataset */
    /* Number of the first chunk within the step's whole batch, over all calls and processes, so
     * that dropout does not depend on the split. */
    uint64_t first;
};

struct cov_train_score {
    double loss, accuracy; /* over the batch (of all processes); 0 if no row has a target */
    uint64_t n_rows;       /* rows that have a target, of all processes */
};

/* Chunks whose predicted sums are explained (explain in cov_gradient_ops). */
struct cov_explain_batch {
    size_t n;
    const float *inputs; /* [n,L,4], in the columns of alphabet.h; not only 0 and 1 */
    size_t dataset;
    const size_t *beg, *end; /* [n]: the positions that are added up */
};

/* A network to train. Borrowed during the call, except for block and pool. */
struct cov_training_spec {
    const struct cov_layer *layers;          /* the last one's output is used without exp */
    const struct cov_layer_weights *weights; /* [n_layers] pointers into block */
    size_t n_layers;
    const float *block; /* [n_floats] parameters; running statistics are read to explain only */
    size_t n_floats;
    size_t max_batch;
    double dropout;            /* applied between LSTM layers */
    uint64_t seed;             /* seed of dropout */
    const float *loss_weights; /* [D]; NULL: all 1 */
    const uint8_t *frozen;     /* [n_floats]: 1 where a step changes nothing; NULL: nowhere */
    size_t first_trained;      /* layers before it need no gradients */
    bool recompute;            /* keep few activations; compute the others again, bit for bit */
    /* For gradients->explain only: norms use their running statistics, as in a prediction. Not with
     * recompute; dropout is 0. */
    bool explain;
    struct cov_train_reduce reduce;
    struct cov_pool *pool;
};

/* The optimiser: Adam as in PyTorch, with the decoupled weight decay of AdamW (cov_adam_step). */
struct cov_adam {
    double learning_rate, beta1, beta2, eps; /* 0.001, 0.9, 0.999, 1e-8 */
    double weight_decay;                     /* 0: none */
    double clip;                             /* upper limit of the gradient's norm; 0: none */
    double
        average; /* after the step, average = average * this + parameters * (1 - this); 0: no average */
};

/* The momentum of running statistics, and the constant that PyTorch adds to the norm of a clipped
 * gradient. */
#define COV_TRAIN_MOMENTUM 0.1f
#define COV_CLIP_EPS 1e-6
/* Upper limit of the gradient's norm: the square of the norm must fit in a float. */
#define COV_TRAIN_MAX_NORM 1e19

/* A copy of the state of a training. Each array has n_floats elements, like the block. NULL means
 * not wanted (read) or unchanged (write). Moments of running statistics are 0. The average includes
 * running statistics. It starts as a copy of the parameters at the first step with adam.average;
 * before that step, reading the average gives the parameters. */
struct cov_train_state {
    float *block, *moment1, *moment2, *average;
    int64_t n_steps; /* steps of the optimiser */
};

/* ---- networks on a device ---- */

/* A network to run: layers[0] reads one-hot rows (c_in = 4). Borrowed while the program is
 * built. */
struct cov_program_spec {
    const struct cov_layer *layers;
    const struct cov_layer_weights *weights; /* [n_layers] */
    size_t n_layers;
    unsigned n_workers; /* callers at a time */
    size_t max_batch;   /* chunks per call, >= 1 */
    size_t n_programs;  /* this one, and those that the caller makes next and uses with it */
};

/* Chunks that differ from other chunks, their bases, in some positions. */
struct cov_edited_chunk {
    size_t of;       /* index of the chunk that it differs from, in `originals` */
    size_t beg, end; /* wanted positions */
};
struct cov_edited_chunks {
    size_t n_originals;                    /* <= COV_EDITED_ORIGINALS */
    const uint8_t *originals;              /* [n_originals,L] codes */
    size_t n;                              /* <= max_batch */
    const uint8_t *codes;                  /* [n,L] */
    const struct cov_edited_chunk *chunks; /* [n] */
};
enum { COV_EDITED_ORIGINALS = 2 };

/* A network in the form that a device runs. Every device's own program struct starts with this
 * one. */
struct cov_program {
    const struct cov_program_ops *ops;
    /* NULL if the device has no such function. Sets out[n,L,D] like forward, at wanted positions;
     * others are undefined. Computes originals once, unless the worker's last call had the same ones, and of
     * edited chunks only what differs. Values depend on the chunk and its original only, and differ
     * from those of forward by at most 1e-5. */
    int (*forward_edited)(struct cov_program *p, unsigned worker,
                          const struct cov_edited_chunks *chunks, float *out, struct cov_err *e);
    bool edits_many; /* with few edited chunks of the same originals, forward is faster */
};

struct cov_program_ops {
    /* Sets out[n,L,D] to the network's value at each position, or to COV_PAD_VALUE where codes[n,L]
     * is padding. n <= max_batch. Workers < n_workers may run at the same time, on threads that
     * flush denormals to zero, as the threads of the pool do. The values of a chunk depend neither
     * on the other chunks of the batch nor on its position in it. Fails if memory runs out or, with
     * an error that names it, if a GPU does not answer: the job ends, and does not try again. */
    int (*forward)(struct cov_program *p, unsigned worker, size_t n, const uint8_t *codes,
                   float *out, struct cov_err *e);
    /* Makes forward compute every position, for comparison; call it before the first forward.
     * Without it, a device may skip constant, repeated or unused work; values then differ only by
     * rounding, by at most 1e-5. */
    void (*compute_all)(struct cov_program *p);
    /* Sums over all workers; call it only while no forward is running. */
    void (*counts)(const struct cov_program *p, struct cov_forward_counts *out);
    void (*free)(struct cov_program *p);
};

static inline void cov_program_free(struct cov_program *p) /* NULL is accepted */
{
    if (p)
        p->ops->free(p);
}

/* A network in training. Every device's own training struct starts with this one. There are two
 * interfaces; if the device does not implement one of them, its table is NULL. Only one thread at a
 * time may call. tests/lib/reference/ref_train.h is the specification. */
struct cov_training {
    const struct cov_gradient_ops *gradients;
    const struct cov_resident_ops *resident;
    void (*free)(struct cov_training *t);
};

/* The host keeps parameters and moments and performs the steps; the device returns gradients. */
struct cov_gradient_ops {
    /* Reads the parameters in spec.block; call it before the first run and whenever they change. */
    int (*load)(struct cov_training *t, struct cov_err *e);
    /* Sets gradient[n_floats] to this process's share of the gradient of the batch's loss; the
     * shares of all processes add up to the gradient. It is 0 for layers before
     * spec.first_trained. At the places of a norm's running statistics, it holds the mean and the
     * unbiased variance of the whole batch instead. `step` seeds dropout.
     * Returns COV_EINPUT if the loss is not finite. Results do not depend on the number of
     * threads. */
    int (*run)(struct cov_training *t, uint64_t step, const struct cov_train_batch *batch,
               float *gradient, struct cov_train_score *score, struct cov_err *e);
    /* With spec.explain: sets sums[n] to the sums of the predicted values, and gradient[n,L,4] to
     * their gradients with respect to the inputs. Those of a chunk do not depend on the others. NULL
     * if the device cannot. */
    int (*explain)(struct cov_training *t, const struct cov_explain_batch *batch, double *sums,
                   float *gradient, struct cov_err *e);
};

/* The device keeps parameters, moments and gradients; cov_trainer_batch, step, read and write
 * (net/train.h) specify what each function does. Training starts with spec.block, moments of 0 and
 * step 0. The number of steps seeds dropout. */
struct cov_resident_ops {
    int (*add)(struct cov_training *t, const struct cov_train_batch *batch,
               struct cov_train_score *score, struct cov_err *e);
    int (*step)(struct cov_training *t, const struct cov_adam *adam, struct cov_err *e);
    int (*read)(struct cov_training *t, struct cov_train_state *state, struct cov_err *e);
    int (*write)(struct cov_training *t, const struct cov_train_state *state, struct cov_err *e);
};

static inline void cov_training_free(struct cov_training *t) /* NULL is accepted */
{
    if (t)
        t->free(t);
}

/* ---- devices ---- */

struct cov_device;

/* How to use a device efficiently. */
struct cov_device_advice {
    size_t batch;       /* chunks per call; fewer if they would have ... */
    size_t batch_bases; /* ... more than this many bases in total */
    unsigned n_waiting; /* threads that only wait for calls in progress; start this many in addition
                         * to those that use the CPU */
};

struct cov_device_ops {
    const char *name;
    void (*close)(struct cov_device *dev);
    /* "AMD EPYC, AVX-512": hardware and kernels. Borrowed until close. */
    const char *(*describe)(const struct cov_device *dev);
    /* "fp32": the precision of products. */
    const char *(*precision)(const struct cov_device *dev);
    void (*advise)(const struct cov_device *dev, struct cov_device_advice *out); /* may be NULL */
    int (*program_new)(struct cov_device *dev, const struct cov_program_spec *spec,
                       struct cov_program **out, struct cov_err *e);
    /* NULL if the device cannot train. */
    int (*training_new)(struct cov_device *dev, const struct cov_training_spec *spec,
                        struct cov_training **out, struct cov_err *e);
    /* Returns the library that computes some products, such as "cublas 13.1.0"; NULL: none. May be
     * NULL. Borrowed until close. */
    const char *(*products)(const struct cov_device *dev);
};

/* The first member of every device. */
struct cov_device {
    const struct cov_device_ops *ops;
};

/* Precision of the products. Always in single precision: sums, LSTM gates, norms, the last layer,
 * the first and the last convolution, and in bf16x3 layers with few channels. */
enum cov_precision {
    COV_PRECISION_EXACT,  /* the faster of fp32 and bf16x3: on CPUs with AMX bf16x3, except for
                             * chunks after edits, otherwise fp32 */
    COV_PRECISION_FP32,   /* single precision */
    COV_PRECISION_BF16X3, /* operands split into two terms of bf16, three products; on a CPU only in
                             * LSTMs, with convolutions in single precision */
    COV_PRECISION_BALANCED, /* LSTMs as in bf16, convolutions as in bf16x3 */
    COV_PRECISION_BF16,     /* operands rounded to bf16 */
    COV_PRECISION_TF32,     /* operands rounded to the 10 bits of tf32; GPUs only */
};
const char *cov_precision_name(enum cov_precision precision);

/* All fields may be zero. */
struct cov_cpu_options {
    /* Allowed levels of instructions, as in cpu/kernels/level.h; NULL: all. "scalar" is the scalar
     * reference. */
    const char *levels;
    enum cov_precision
        precision; /* a device may use a more exact one that is as fast, and logs that choice */
    bool edits;    /* chunks after edits (forward_edited) are wanted, which need single precision */
};

/* Opens the CPU; `options` are borrowed for the call, NULL: all zero. */
int cov_device_open_cpu(const struct cov_cpu_options *options, struct cov_device **out,
                        struct cov_err *e) COV_MUST_USE;
void cov_device_close(struct cov_device *dev); /* NULL is accepted */

/* Implements --cpu: restricts all kernels of the process to the best available level of a list.
 * Call it before anything is computed. The levels are those of cpu/kernels/level.h; NULL means no
 * restriction. Returns COV_EUSAGE for an unknown level, and COV_EUNSUPPORTED if none is
 * available. */
int cov_device_limit_levels(const char *list, struct cov_err *e) COV_MUST_USE;
/* buf[0..n) = the available levels, separated by spaces. */
void cov_device_describe_levels(char *buf, size_t n);

/* ---- covtools-cuda.so, which device_open.c loads; its only symbol ---- */

struct cov_cuda_options {
    const int *cards; /* GPUs without duplicates */
    size_t n_cards;   /* 0: all that CUDA lists */
    enum cov_precision precision;
};

struct cov_cuda_plugin {
    const char *version; /* must equal the library's own: tables differ between versions */
    /* If it returns COV_EUNSUPPORTED, the message names what is missing. `options` are borrowed for
     * the call. */
    int (*open)(const struct cov_cuda_options *options, struct cov_device **out, struct cov_err *e);
};

#define COV_CUDA_PLUGIN_FILE "covtools-cuda.so"
#define COV_CUDA_PLUGIN_SYMBOL "cov_cuda_plugin"

/* The symbol; for programs that link the plugin. */
extern const struct cov_cuda_plugin cov_cuda_plugin;

#endif
