/* cuda_team.cu - training on several cards (cuda_cards.h). Each call of the tables runs on all cards,
 * with a thread for each.
 * SPDX-License-Identifier: MIT */
extern "C" {
#include "common/base/mem.h"
}
#include "common/compute/cuda/cuda_cards.h"
#include "common/compute/cuda/train_run.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct team;

struct member {
    struct team *team;
    size_t number;
    struct cov_training *training;
    struct cov_cuda_share share;
    void *shared; /* what it adds to the sum in progress */

    /* Of the call in progress: */
    pthread_t thread;
    struct cov_train_score score;
    struct cov_err error;
};

struct team : cov_training {
    struct member *members; /* [n] */
    size_t n;
    size_t length, depth;
    struct cov_train_reduce reduce; /* over processes */

    pthread_mutex_t lock;
    pthread_cond_t met;
    /* Of the call in progress: */
    size_t n_working; /* members that did not fail */
    size_t n_waiting, n_meetings;
    const struct member *failed; /* the first one; NULL: none */
    const void *run;             /* what each member runs */
};

/* ---- sums over the cards ---- */

/* Ends a meeting, with the lock held. */
static void end_meeting(struct team *t)
{
    t->n_waiting = 0;
    t->n_meetings++;
    pthread_cond_broadcast(&t->met);
}

/* A member failed, and comes to no further meeting of this call. */
static void give_up(struct member *m)
{
    struct team *t = m->team;
    pthread_mutex_lock(&t->lock);
    if (!t->failed)
        t->failed = m;
    if (t->n_waiting == --t->n_working && t->n_waiting > 0)
        end_meeting(t);
    pthread_mutex_unlock(&t->lock);
}

/* Waits until all members that work are here, so that nobody uses another's memory any more. Fails
 * if a member gave up. */
static int meet(struct team *t, struct cov_err *e)
{
    pthread_mutex_lock(&t->lock);
    size_t meeting = t->n_meetings;
    if (++t->n_waiting == t->n_working)
        end_meeting(t);
    while (t->n_meetings == meeting)
        pthread_cond_wait(&t->met, &t->lock);
    bool failed = t->failed;
    pthread_mutex_unlock(&t->lock);
    return failed ? cov_fail(e, COV_EIO, "another GPU failed") : COV_OK;
}

/* A sum over a subtree of parts: values of the member's columns. */
template <typename T> struct subtree {
    struct cov_node node;
    T *v;
};

/* Adds v[beg..end) of all nodes, and gives the result to all members. */
template <typename T> static void add_nodes(struct team *t, size_t n, size_t beg, size_t end)
{
    struct subtree<T> stack[COV_PART_LEVELS + 1];
    int depth = 0;
    for (size_t k = 0; k < t->n; k++) {
        struct cov_node nodes[COV_MOST_NODES];
        int n_nodes = cov_parts_nodes(t->members[k].share.parts, nodes);
        for (int i = 0; i < n_nodes; i++) {
            stack[depth++] = {nodes[i], (T *)t->members[k].shared + (size_t)i * n};
            while (depth > 1 && stack[depth - 2].node.n == stack[depth - 1].node.n) {
                const T *right = stack[--depth].v;
                struct subtree<T> *left = &stack[depth - 1];
                left->node.n *= 2;
                for (size_t at = beg; at < end; at++)
                    left->v[at] += right[at];
            }
        }
    }
    for (size_t k = 1; k < t->n; k++)
        memcpy((T *)t->members[k].shared + beg, stack[0].v + beg, (end - beg) * sizeof(T));
}

/* Sums up v over the cards (struct cov_cuda_share). Each member does it for some of the n columns. */
template <typename T> static int sum_up(void *arg, T *v, size_t n, struct cov_err *e)
{
    struct member *m = (struct member *)arg;
    struct team *t = m->team;
    m->shared = v;
    int rc = meet(t, e);
    if (!rc)
        add_nodes<T>(t, n, n * m->number / t->n, n * (m->number + 1) / t->n);
    return rc ? rc : meet(t, e);
}

/* struct cov_train_reduce: the sum over processes of v, which is the same on all cards of a process. */
static int sum_processes(void *arg, double *v, size_t n, struct cov_err *e)
{
    struct member *m = (struct member *)arg;
    struct team *t = m->team;
    int rc = m->number == 0 ? t->reduce.fn(t->reduce.arg, v, n, e) : COV_OK;
    if (rc)
        return rc; /* run_member tells the others */
    m->shared = v;
    rc = meet(t, e);
    if (!rc && m->number > 0)
        memcpy(v, t->members[0].shared, n * sizeof *v);
    return rc ? rc : meet(t, e); /* until all have copied it */
}

/* ---- calls ---- */

template <typename Run> static void *run_member(void *arg)
{
    struct member *m = (struct member *)arg;
    m->error = COV_ERR_INIT;
    if ((*(const Run *)m->team->run)(m, &m->error))
        give_up(m);
    return NULL;
}

/* Runs run(member, error) on all cards. Fails like the first member that failed. */
template <typename Run> static int run_all(struct team *t, const Run &run, struct cov_err *e)
{
    size_t n = 1;
    t->run = &run;
    t->failed = NULL;
    t->n_waiting = 0;
    t->n_working = t->n;
    while (n < t->n &&
           pthread_create(&t->members[n].thread, NULL, run_member<Run>, &t->members[n]) == 0)
        n++;
    if (n == t->n)
        (void)run_member<Run>(&t->members[0]);
    for (size_t i = n; i < t->n; i++) { /* these have no thread */
        t->members[i].error = COV_ERR_INIT;
        (void)cov_fail(&t->members[i].error, COV_ENOMEM, "cannot start a thread for each GPU");
        give_up(&t->members[i]);
    }
    if (n < t->n)
        give_up(&t->members[0]);
    while (n-- > 1)
        (void)pthread_join(t->members[n].thread, NULL);
    if (!t->failed)
        return COV_OK;
    return cov_fail(e, t->failed->error.code, "%s", t->failed->error.text);
}

static int add_training(struct cov_training *base, const struct cov_train_batch *batch,
                        struct cov_train_score *score, struct cov_err *e)
{
    struct team *t = (struct team *)base;
    auto add = [=](struct member *m, struct cov_err *own) {
        struct cov_parts *parts = &m->share.parts;
        struct cov_train_batch share = *batch;
        parts->n = share.n;
        const size_t beg = cov_parts_chunk({parts->n, 0, COV_PARTS}, parts->beg);
        share.n = cov_parts_chunk(*parts, parts->end);
        share.codes += beg * t->length;
        share.targets += beg * t->length * t->depth;
        share.present += beg * t->depth;
        share.first += beg;
        return m->training->resident->add(m->training, &share, &m->score, own);
    };
    int rc = run_all(t, add, e);
    *score = t->members[0].score; /* of the whole batch */
    return rc;
}

static int step_training(struct cov_training *base, const struct cov_adam *adam, struct cov_err *e)
{
    auto step = [=](struct member *m, struct cov_err *own) {
        return m->training->resident->step(m->training, adam, own);
    };
    return run_all((struct team *)base, step, e);
}

static int read_training(struct cov_training *base, struct cov_train_state *state,
                         struct cov_err *e)
{
    struct cov_training *first = ((struct team *)base)->members[0].training;
    return first->resident->read(first, state, e);
}

static int write_training(struct cov_training *base, const struct cov_train_state *state,
                          struct cov_err *e)
{
    auto write = [=](struct member *m, struct cov_err *own) {
        return m->training->resident->write(m->training, state, own);
    };
    return run_all((struct team *)base, write, e);
}

/* ---- making ---- */

static void free_team(struct cov_training *base)
{
    struct team *t = (struct team *)base;
    for (size_t i = 0; t->members && i < t->n; i++)
        cov_training_free(t->members[i].training);
    pthread_cond_destroy(&t->met);
    pthread_mutex_destroy(&t->lock);
    free(t->members);
    free(t);
}

int cov_cuda_team_new(const struct cov_cuda_cards *cards, const struct cov_training_spec *spec,
                      struct cov_training **out, struct cov_err *e)
{
    static const struct cov_resident_ops resident = {add_training, step_training, read_training,
                                                     write_training};
    *out = NULL;
    if (cards->n > COV_PARTS)
        return cov_fail(e, COV_EUNSUPPORTED, "%zu GPUs are too many to train: at most %d", cards->n,
                        COV_PARTS);
    struct team *t = (struct team *)cov_calloc(1, sizeof *t, e);
    if (!t)
        return COV_ENOMEM;
    t->resident = &resident;
    t->free = free_team;
    t->n = cards->n;
    t->length = spec->layers[0].t_in;
    t->depth = spec->layers[spec->n_layers - 1].c_out;
    t->reduce = spec->reduce;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->met, NULL);
    t->members = (struct member *)cov_calloc(t->n, sizeof *t->members, e);
    int rc = t->members ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; !rc && i < t->n; i++) {
        struct member *m = &t->members[i];
        struct cov_training_spec own = *spec;
        const struct cov_cuda_seat seat = {cards, i, &m->share};
        const size_t beg = COV_PARTS * i / t->n, end = COV_PARTS * (i + 1) / t->n;
        m->team = t;
        m->number = i;
        m->share = {{0, (int)beg, (int)end}, sum_up<double>, sum_up<float>, m};
        own.max_batch = (spec->max_batch * (end - beg) + COV_PARTS - 1) / COV_PARTS;
        if (spec->reduce.fn)
            own.reduce = {sum_processes, m};
        rc = cov_cuda_training_new(&seat, &own, &m->training, e);
    }
    if (rc) {
        free_team(t);
        return cov_err_prefix(e, rc, "for the share of each of %zu GPUs in a batch", cards->n);
    }
    *out = t;
    return COV_OK;
}
