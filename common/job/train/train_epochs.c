/* train_epochs.c - trains a network: the epochs and steps of cov_train (train_setup.h).
 *
 * cov_train opens all that a training needs, with the first weights (train_setup.c); train_all loads
 * the data and runs epochs. An epoch plans its batches, trains (train_epoch: steps over the batches of
 * the feed), and ends (end_epoch: validates the weights, decides whether to stop, saves metrics and
 * checkpoints). Between two steps, a checkpoint within the epoch may be written. A resumed training
 * plans the same epoch again, and begins at the batch where the checkpoint was written (find_place).
 * With several processes, all make the same calls, and the first one writes.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/pool.h"
#include "common/base/progress.h"
#include "common/base/text.h"
#include "common/base/version.h"
#include "common/compute/device_open.h"
#include "common/examples/evaluate.h"
#include "common/examples/example_batches.h"
#include "common/examples/ranks.h"
#include "common/input/device_options.h"
#include "common/job/train/train_saver.h"
#include "common/job/train/train_setup.h"
#include "common/net/net.h"
#include "common/net/train.h"

/* Batches prepared in advance, including the one in use. */
enum { SLOTS = 4 };

/* Log a hint if an epoch has fewer steps. */
enum { FEW_STEPS = 10 };

/* Means over batches that have a target, weighted by their number of chunks. */
struct means {
    double loss, accuracy, chunks;
};

struct train_job {
    const struct cov_train_options *o;
    struct cov_progress *progress;
    struct cov_ranks ranks; /* the first one writes outputs */
    struct cov_train_setup setup;
    struct cov_train_saver saver;
    struct cov_pool *pool;
    struct cov_device *device;
    struct cov_trainer *trainer;
    struct cov_example_feed *feed;
    struct cov_train_log *log;
    struct cov_example_plan val; /* in file order */
    int64_t n_steps;             /* in the whole training */
    double values[COV_TRAIN_QUANTITIES];
    char what[120];     /* label of the progress bar */
    bool in_validation; /* validating epoch point.epoch, not training the next one */
    int64_t n_saved;    /* epochs saved by this run */
    int64_t n_parts;    /* checkpoints within epochs written by this run */
    bool replaced;      /* the training in the output directory, if setup.replaces */
    bool stopped;       /* by --max-hours */
    double begin, longest_step, longest_val, longest_save;
    struct cov_stats *stats;         /* NULL: none */
    struct cov_train_totals earlier; /* runs before this one; n_runs 0: none, or unknown */
    int64_t chunks, bases;           /* of this run */
    double train_seconds, wait_seconds, val_seconds, save_seconds, load_seconds;
};

/* ---------------------------------------------------------------- steps */

/* Learning rate of step `step` (from 0) of n_steps: rises during the warm-up, then is constant or
 * falls as a cosine to 0. */
static double learning_rate_at(const struct cov_train_options *o, double learning_rate,
                               int64_t step, int64_t n_steps)
{
    if (step < o->warmup_steps)
        return learning_rate * (double)(step + 1) / (double)o->warmup_steps;
    if (o->schedule == COV_SCHEDULE_CONSTANT || n_steps <= o->warmup_steps)
        return learning_rate;
    double done = (double)(step - o->warmup_steps) / (double)(n_steps - o->warmup_steps);
    return learning_rate * 0.5 * (1 + cos(M_PI * (done < 1 ? done : 1)));
}

static void describe_step(struct train_job *j, const double *loss)
{
    cov_train_describe(j->o, &j->setup.ckpt, j->n_steps, loss, j->what, sizeof j->what);
}

static void add_mean(struct means *m, double loss, double accuracy, size_t n)
{
    m->loss += loss * (double)n;
    m->accuracy += accuracy * (double)n;
    m->chunks += (double)n;
}

static struct cov_example_plan_options plan_options(const struct train_job *j)
{
    return (struct cov_example_plan_options){
        .batch = j->o->batch,
        .shuffle = !j->o->in_order,
        .accumulate = j->o->accumulate,
        .strands = j->o->strands,
        .balance_species = j->o->balance_species,
        .random_offset = j->o->random_offset,
        .seed = j->setup.seed,
    };
}

/* ---------------------------------------------------------------- time left */

/* Returns how many epochs of `n` steps are left to train; the last may be incomplete. */
static double epochs_left(const struct train_job *j, int64_t n)
{
    return n > 0 ? (double)(j->n_steps - j->setup.ckpt.state.n_steps) / (double)n : 0;
}

/* Before an epoch of the plan, `done` chunks of which are done: includes later epochs in the time
 * left. Until a validation has been timed, a chunk of it counts as a third of a chunk in training,
 * which needs two more passes. */
static void expect_epochs(struct train_job *j, const struct cov_example_plan *plan, size_t done)
{
    size_t steps = (plan->n_batches + j->o->accumulate - 1) / j->o->accumulate;
    double n = epochs_left(j, (int64_t)steps), ends = (double)j->n_saved;
    double units = n * (double)plan->n - (double)(plan->n - done);
    if (j->n_saved > 0)
        cov_progress_expect(j->progress, units,
                            ceil(n) * (j->val_seconds + j->save_seconds) / ends);
    else
        cov_progress_expect(j->progress, units + ceil(n) * (double)j->val.n / 3, 0);
}

/* Before the validation of n chunks: includes later epochs in the time left. */
static void expect_after_validation(struct train_job *j, size_t n)
{
    double left = epochs_left(j, j->setup.ckpt.training.n_epoch_steps);
    double seconds = (j->train_seconds + j->save_seconds) / (double)(j->n_saved + 1);
    cov_progress_expect(j->progress, ceil(left) * (double)n, left * seconds);
}

/* ---------------------------------------------------------------- validation */

/* Accumulates the scores of the validation chunks, batch by batch. */
struct validation {
    const struct train_job *run;
    size_t first; /* first example of this process */
    size_t batch; /* number of the current batch */
    struct cov_score score;
    struct means means;
    bool diverged;
};

static void end_batch(struct validation *v)
{
    const struct cov_example_plan *plan = &v->run->val;
    size_t n = plan->ends[v->batch] - (v->batch > 0 ? plan->ends[v->batch - 1] : 0);
    if (v->score.n_rows > 0)
        add_mean(&v->means, cov_score_loss(&v->score), cov_score_accuracy(&v->score), n);
    v->score = (struct cov_score){0};
    v->batch++;
}

static int add_val_chunk(void *arg, size_t i, const struct cov_fit *fits, struct cov_err *e)
{
    struct validation *v = arg;
    const float *weights = v->run->o->loss_weights;
    int rc = cov_evaluate_check(v->run->setup.val, &v->run->val.items[v->first + i], fits, e);
    v->diverged = rc != COV_OK;
    if (rc)
        return rc;
    while (v->first + i >= v->run->val.ends[v->batch])
        end_batch(v);
    for (int64_t d = 0; d < v->run->setup.network.hp.output_size; d++)
        if (fits[d].n > 0)
            cov_score_add(&v->score, &fits[d], weights ? (double)weights[d] : 1);
    return COV_OK;
}

static int fail_diverged(const struct train_job *j, double rate, struct cov_err *e)
{
    return cov_train_fail_diverged(j->o, &j->setup.ckpt, rate, j->in_validation,
                                   j->n_saved + j->n_parts, e);
}

/* Computes loss and accuracy of the weights that are saved. */
static int validate(struct train_job *j, struct cov_err *e)
{
    const struct cov_train_network *n = &j->setup.network;
    const struct cov_train_ckpt *p = &j->setup.ckpt;
    struct cov_net *net = NULL;
    struct validation v = {.run = j};
    size_t batch = cov_device_batch(j->device, n->L), beg, end;
    double clock = cov_clock();
    cov_example_feed_share(j->val.n_batches, j->ranks.rank, j->ranks.n, &v.batch, &end);
    size_t end_of_batches = end;
    beg = v.first = v.batch > 0 ? j->val.ends[v.batch - 1] : 0;
    end = end > 0 ? j->val.ends[end - 1] : 0;
    size_t share = (end - beg) / cov_pool_size(j->pool);
    batch = batch > share && share > 0 ? share : batch;
    int rc = cov_net_new(j->device, &n->hp, p->has_average ? p->state.average : p->state.block,
                         (struct cov_net_size){n->L, cov_pool_size(j->pool), batch}, &net, e);
    if (rc)
        return rc;
    const struct cov_evaluate_work work = {j->setup.val, j->val.items + beg, end - beg, net,
                                           batch,        add_val_chunk,      &v};
    cov_progress_begin(j->progress, "validating", "chunks", (int64_t)(end - beg));
    expect_after_validation(j, end - beg);
    rc = cov_evaluate_examples(&work, j->pool, j->progress, e);
    cov_progress_end(j->progress);
    cov_net_free(net);
    if (v.diverged)
        return fail_diverged(j, p->training.adam.learning_rate, e);
    while (v.batch < end_of_batches)
        end_batch(&v);
    double sums[] = {v.means.loss, v.means.accuracy, v.means.chunks};
    if (!rc)
        rc = cov_ranks_sum(&j->ranks, sums, COV_COUNT(sums), e);
    j->values[COV_VAL_LOSS] = sums[0] / sums[2];
    j->values[COV_VAL_ACCURACY] = sums[1] / sums[2];
    clock = cov_clock() - clock;
    j->longest_val = fmax(j->longest_val, clock);
    j->val_seconds += clock;
    return rc;
}

/* ---------------------------------------------------------------- an epoch */

static int next_batch(struct train_job *j, const struct cov_feed_batch **batch, struct cov_err *e)
{
    double clock = cov_clock();
    int rc = cov_example_feed_next(j->feed, batch, e);
    j->wait_seconds += cov_clock() - clock;
    return rc;
}

/* An epoch in progress. */
struct epoch {
    const struct cov_example_plan *plan;
    int64_t fingerprint; /* of the plan */
    int64_t n_before;    /* steps before the epoch */
    size_t at;           /* the next batch */
    struct means means;  /* of the batches before it */
};

/* Counts a batch that was trained. */
static void count_batch(struct train_job *j, const struct cov_example_plan *plan, size_t batch)
{
    const size_t beg = batch > 0 ? plan->ends[batch - 1] : 0, end = plan->ends[batch];
    j->chunks += (int64_t)(end - beg);
    for (size_t i = beg; i < end; i++)
        j->bases += plan->items[i].end - plan->items[i].beg;
}

/* One step of the optimiser: up to `accumulate` batches. */
static int train_step(struct train_job *j, struct epoch *epoch, struct cov_err *e)
{
    const struct cov_example_plan *plan = epoch->plan;
    size_t *at = &epoch->at;
    struct cov_train_ckpt *p = &j->setup.ckpt;
    struct means of_step = {0};
    uint64_t first = 0;
    double rate =
        learning_rate_at(j->o, j->setup.network.learning_rate, p->state.n_steps, j->n_steps);
    for (size_t k = 0; k < j->o->accumulate && *at < plan->n_batches; k++, ++*at) {
        const struct cov_feed_batch *batch;
        struct cov_train_score score;
        size_t n = plan->ends[*at] - (*at > 0 ? plan->ends[*at - 1] : 0);
        int rc = next_batch(j, &batch, e);
        if (rc <= 0)
            return rc ? rc : cov_fail(e, COV_EIO, "a batch is missing");
        size_t beg, end;
        cov_example_feed_share(n, j->ranks.rank, j->ranks.n, &beg, &end);
        const struct cov_train_batch share = {batch->n, batch->codes, batch->targets,
                                              batch->present, first + beg};
        rc = cov_trainer_batch(j->trainer, &share, &score, e);
        if (rc)
            return rc == COV_EINPUT ? fail_diverged(j, rate, e) : rc;
        first += n;
        p->n_batches++;
        count_batch(j, plan, *at);
        if (score.n_rows > 0) {
            add_mean(&of_step, score.loss, score.accuracy, n);
            add_mean(&epoch->means, score.loss, score.accuracy, n);
        }
        cov_progress_add(j->progress, (int64_t)n);
    }
    const struct cov_ckpt_adam *a = &p->training.adam;
    const struct cov_adam adam = {.learning_rate = rate,
                                  .beta1 = a->beta1,
                                  .beta2 = a->beta2,
                                  .eps = a->eps,
                                  .weight_decay = a->weight_decay,
                                  .clip = j->o->clip,
                                  .average = j->o->average};
    int rc = cov_trainer_step(j->trainer, &adam, e);
    if (rc)
        return rc == COV_EINPUT ? fail_diverged(j, rate, e) : rc;
    p->training.adam.learning_rate = adam.learning_rate;
    const struct cov_train_step line = {++p->state.n_steps, of_step.loss / of_step.chunks,
                                        of_step.accuracy / of_step.chunks, adam.learning_rate};
    describe_step(j, &line.loss);
    return j->log ? cov_train_log_step(j->log, &line, e) : COV_OK;
}

static bool is_over(const struct train_job *j)
{
    return j->o->max_steps > 0 && j->setup.ckpt.state.n_steps >= j->o->max_steps;
}

/* After a checkpoint was written since `clock`: removes the training that this one replaces. */
static int after_save(struct train_job *j, double clock, struct cov_err *e)
{
    struct cov_train_ckpt *p = &j->setup.ckpt;
    int rc = COV_OK;
    if (j->setup.replaces && !j->replaced)
        rc = cov_train_log_commit(j->log, e);
    if (!rc && j->setup.replaces && !j->replaced)
        rc = cov_train_saver_clear(&j->saver, p, j->o->init_from ? j->o->init_from : j->o->resume,
                                   e);
    j->replaced = true;
    if (!rc)
        cov_train_set_last_words(j->o, p);
    clock = cov_clock() - clock;
    j->longest_save = fmax(j->longest_save, clock);
    j->save_seconds += clock;
    return rc;
}

/* Before a checkpoint is written: logs the totals of all runs, if those of earlier ones are known, and
 * syncs the logs. */
static int finish_logs(struct train_job *j, struct cov_err *e)
{
    struct cov_stats now = j->stats ? *j->stats : (struct cov_stats){0};
    cov_stats_finish(&now);
    const struct cov_train_totals run = {1, j->chunks, j->bases, now.wall_seconds, now.cpu_seconds};
    int rc = COV_OK;
    if (j->stats && (!j->o->resume || j->earlier.n_runs > 0))
        rc = cov_train_log_totals(j->log, j->setup.ckpt.state.n_steps, &j->earlier, &run, e);
    return rc ? rc : cov_train_log_sync(j->log, e);
}

static int read_trainer(struct train_job *j, struct cov_err *e)
{
    struct cov_train_ckpt *p = &j->setup.ckpt;
    p->has_moments = p->state.n_steps > 0;
    p->has_average = j->o->average > 0;
    return cov_trainer_read(j->trainer, &p->state, e);
}

/* Writes last.ckpt within an epoch. */
static int save_part(struct train_job *j, const struct epoch *epoch, struct cov_err *e)
{
    struct cov_train_ckpt *p = &j->setup.ckpt;
    double clock = cov_clock();
    p->training.part = (struct cov_ckpt_part){
        .is_there = true,
        .n_batches = (int64_t)epoch->at,
        .n_steps = p->state.n_steps - epoch->n_before,
        .plan = epoch->fingerprint,
        .loss = epoch->means.loss,
        .accuracy = epoch->means.accuracy,
        .chunks = epoch->means.chunks,
    };
    j->n_parts++;
    if (j->ranks.rank > 0)
        return COV_OK;
    int rc = read_trainer(j, e);
    if (!rc)
        rc = finish_logs(j, e);
    if (!rc)
        rc = cov_train_saver_save_part(&j->saver, &j->setup.network, p, e);
    return rc ? rc : after_save(j, clock, e);
}

/* Finds the first batch to train: the one after those that a checkpoint within the epoch had. */
static int find_place(const struct train_job *j, struct epoch *epoch, struct cov_err *e)
{
    const struct cov_ckpt_part *part = &j->setup.ckpt.training.part;
    epoch->n_before = j->setup.ckpt.state.n_steps - part->n_steps;
    if (part->is_there || j->o->save_every > 0 || j->o->max_hours > 0)
        epoch->fingerprint = cov_example_plan_fingerprint(epoch->plan);
    if (!part->is_there)
        return COV_OK;
    if (part->n_batches > (int64_t)epoch->plan->n_batches || part->plan != epoch->fingerprint)
        return cov_fail(e, COV_EINPUT,
                        "--resume-training %s: saved within epoch %" PRId64
                        ", which had other batches: use the same data, --batch-size (-b), --seed "
                        "and options of batches, or resume from the checkpoint of an epoch",
                        j->o->resume, j->setup.ckpt.epoch + 1);
    epoch->at = (size_t)part->n_batches;
    epoch->means = (struct means){part->loss, part->accuracy, part->chunks};
    return COV_OK;
}

/* Sets j->stopped if `seconds` more and a checkpoint may exceed --max-hours. All processes get the
 * same answer. */
static int check_time(struct train_job *j, double seconds, struct cov_err *e)
{
    if (j->o->max_hours <= 0)
        return COV_OK;
    /* Until a checkpoint has been written, it counts as a step. */
    seconds += j->longest_save > 0 ? j->longest_save : j->longest_step;
    double late = cov_clock() - j->begin + seconds > 3600 * j->o->max_hours;
    int rc = cov_ranks_sum(&j->ranks, &late, 1, e);
    j->stopped = late > 0;
    return rc;
}

/* After a step: writes a checkpoint if it is time to, or to stop. */
static int end_step(struct train_job *j, const struct epoch *epoch, struct cov_err *e)
{
    double seconds = j->longest_step;
    bool is_last = epoch->at == epoch->plan->n_batches || is_over(j);
    /* Until a validation has been timed, it counts as the training of a third of its chunks. */
    if (is_last)
        seconds = j->longest_val > 0
                      ? j->longest_val
                      : seconds * (double)j->val.n / (3 * (double)(j->o->batch * j->o->accumulate));
    int rc = check_time(j, seconds, e);
    bool is_due = j->o->save_every > 0 && j->setup.ckpt.state.n_steps % j->o->save_every == 0;
    return !rc && (j->stopped || is_due) ? save_part(j, epoch, e) : rc;
}

static int train_steps(struct train_job *j, struct epoch *epoch, struct cov_err *e)
{
    int rc = COV_OK;
    while (!rc && !j->stopped && epoch->at < epoch->plan->n_batches && !is_over(j)) {
        double clock = cov_clock();
        rc = train_step(j, epoch, e);
        j->longest_step = fmax(j->longest_step, cov_clock() - clock);
        if (!rc)
            rc = end_step(j, epoch, e);
    }
    return rc;
}

static int train_epoch(struct train_job *j, const struct cov_example_plan *plan, struct cov_err *e)
{
    struct cov_train_ckpt *p = &j->setup.ckpt;
    struct epoch epoch = {.plan = plan};
    double clock = cov_clock(), saving = j->save_seconds;
    int rc = find_place(j, &epoch, e);
    if (!rc)
        rc = cov_example_feed_begin(j->feed, plan, epoch.at, j->ranks.rank, j->ranks.n, e);
    if (rc)
        return rc;
    size_t done = epoch.at > 0 ? plan->ends[epoch.at - 1] : 0;
    describe_step(j, NULL);
    cov_progress_begin(j->progress, j->what, "chunks", (int64_t)(plan->n - done));
    expect_epochs(j, plan, done);
    rc = train_steps(j, &epoch, e);
    cov_progress_end(j->progress);
    cov_example_feed_end(j->feed);
    j->train_seconds += cov_clock() - clock - (j->save_seconds - saving);
    if (j->stopped)
        return rc;
    j->values[COV_TRAIN_LOSS] = epoch.means.loss / epoch.means.chunks;
    j->values[COV_TRAIN_ACCURACY] = epoch.means.accuracy / epoch.means.chunks;
    p->training.n_batches += (int64_t)epoch.at;
    p->training.n_epoch_batches = (int64_t)epoch.at;
    p->training.n_epoch_steps = p->state.n_steps - epoch.n_before;
    return rc;
}

/* Validates the epoch that was trained; saves checkpoints and metrics. */
static int end_epoch(struct train_job *j, double clock, bool *stop, struct cov_err *e)
{
    struct cov_train_ckpt *p = &j->setup.ckpt;
    p->epoch++;
    int rc = read_trainer(j, e);
    j->in_validation = true;
    if (!rc)
        rc = validate(j, e);
    j->in_validation = false;
    if (rc)
        return rc;
    p->training.part = (struct cov_ckpt_part){0};
    cov_info("epoch %" PRId64 ": training loss %.6g, r %.4f; validation loss %.6g, r %.4f; %.0f s",
             p->epoch, j->values[COV_TRAIN_LOSS], j->values[COV_TRAIN_ACCURACY],
             j->values[COV_VAL_LOSS], j->values[COV_VAL_ACCURACY], cov_clock() - clock);
    clock = cov_clock();
    cov_train_saver_check(&j->saver, p, j->values, stop);
    j->n_saved++;
    if (j->ranks.rank > 0)
        return COV_OK;
    rc = cov_train_log_epoch(j->log, p->epoch, p->state.n_steps, j->values, e);
    if (!rc)
        rc = finish_logs(j, e);
    if (!rc)
        rc = cov_train_saver_save(&j->saver, &j->setup.network, p, j->values, e);
    return rc ? rc : after_save(j, clock, e);
}

static bool is_complete(const struct train_job *j)
{
    const struct cov_train_ckpt *p = &j->setup.ckpt;
    return p->epoch + 1 >= j->o->epochs || (is_over(j) && !p->training.part.is_there);
}

static int run_epoch(struct train_job *j, bool *stop, struct cov_err *e)
{
    const struct cov_example_plan_options options = plan_options(j);
    struct cov_example_plan plan;
    double clock = cov_clock();
    int rc = cov_example_plan_init(&plan, j->setup.train, &options,
                                   (uint64_t)(j->setup.ckpt.epoch + 1), e);
    if (!rc)
        rc = train_epoch(j, &plan, e);
    cov_example_plan_fini(&plan);
    if (!rc && !j->stopped)
        rc = end_epoch(j, clock, stop, e);
    if (!rc && !j->stopped && !*stop && !is_complete(j))
        rc = check_time(j, j->longest_step, e);
    *stop = *stop || j->stopped;
    return rc;
}

/* ---------------------------------------------------------------- the training */

/* Sets *n to the number of steps of an epoch. */
static int count_steps_of(const struct train_job *j, int64_t epoch, int64_t *n, struct cov_err *e)
{
    const struct cov_example_plan_options options = plan_options(j);
    struct cov_example_plan plan;
    int rc = cov_example_plan_init(&plan, j->setup.train, &options, (uint64_t)epoch, e);
    if (rc)
        return rc;
    *n = (int64_t)((plan.n_batches + j->o->accumulate - 1) / j->o->accumulate);
    cov_example_plan_fini(&plan);
    return COV_OK;
}

/* Warns if an epoch has n steps now but had a different number in the training that is resumed. */
static void compare_steps(const struct train_job *j, int64_t n)
{
    double had;
    if (j->o->resume && cov_train_steps_differ(j->o, &j->setup.ckpt, n, &had))
        cov_warn(
            "%s: the last epoch had %.4g steps, but an epoch now has %" PRId64
            ": --batch-size (-b) and --accumulate are not in a checkpoint and must be given again",
            j->o->resume, had, n);
}

/* Counts the steps of the whole training: those made before, and those of the remaining epochs, up
 * to --max-steps. */
static int count_steps(struct train_job *j, struct cov_err *e)
{
    /* With random offsets epochs differ, which matters only to a schedule. */
    bool differ = j->o->random_offset && j->o->schedule != COV_SCHEDULE_CONSTANT;
    int64_t most = j->o->max_steps > 0 ? j->o->max_steps : INT64_MAX, n = 0;
    int rc = count_steps_of(j, 0, &n, e);
    if (rc)
        return rc;
    if (n == 0)
        return cov_fail(e, COV_EINPUT, "%s: nothing to train on: all chunks are gaps%s",
                        j->setup.places.train,
                        j->o->blacklist || j->o->blacklist_path ? " or on the blacklist" : "");
    compare_steps(j, n);
    if (n < FEW_STEPS && (int64_t)j->o->batch > n && !j->o->resume)
        cov_info("an epoch has %" PRId64 " step%s, of up to %zu chunks: a smaller --batch-size "
                 "(-b) gives more steps, which usually learns faster",
                 n, cov_text_s(n), j->o->batch * j->o->accumulate);
    int64_t epoch = j->setup.ckpt.epoch + 1, n_left = 0;
    j->n_steps = j->setup.ckpt.state.n_steps - j->setup.ckpt.training.part.n_steps;
    for (; differ && !rc && epoch < j->o->epochs && j->n_steps < most; epoch++) {
        rc = count_steps_of(j, epoch, &n, e);
        j->n_steps += n;
    }
    if (epoch < j->o->epochs && !differ &&
        (__builtin_mul_overflow(n, j->o->epochs - epoch, &n_left) ||
         __builtin_add_overflow(j->n_steps, n_left, &j->n_steps)))
        j->n_steps = INT64_MAX;
    j->n_steps = j->n_steps < most ? j->n_steps : most;
    return rc;
}

static void log_data(const struct train_job *j)
{
    int64_t n = (int64_t)cov_examples_n_kept(j->setup.train);
    int64_t n_files = (int64_t)j->setup.train->n_files;
    cov_info("%" PRId64 " chunk%s to train on in %" PRId64 " file%s, %zu to validate with; %" PRId64
             " step%s",
             n, cov_text_s(n), n_files, cov_text_s(n_files), j->val.n, j->n_steps,
             cov_text_s(j->n_steps));
}

static int load_data(struct train_job *j, struct cov_err *e)
{
    const struct cov_example_plan_options in_order = {.batch = j->o->batch};
    double clock = cov_clock();
    int rc = cov_examples_prepare(j->setup.train, j->pool, j->progress, e);
    if (!rc)
        rc = cov_examples_prepare(j->setup.val, j->pool, j->progress, e);
    if (!rc)
        rc = cov_examples_warn_copies(j->setup.val, j->setup.train, e);
    if (!rc)
        rc = count_steps(j, e);
    if (!rc)
        rc = cov_example_plan_init(&j->val, j->setup.val, &in_order, 0, e);
    if (!rc && j->val.n == 0)
        rc = cov_fail(e, COV_EINPUT, "%s: nothing to validate with", j->setup.places.val);
    j->load_seconds = cov_clock() - clock;
    if (!rc)
        log_data(j);
    return rc;
}

/* Opens the device. Processes that share batches must all compute the same way, so they use GPUs
 * only if requested. */
static int open_train_device(struct train_job *j, struct cov_err *e)
{
    struct cov_device_choice choice = j->o->device.choice;
    if (j->ranks.n > 1 && choice.kind == COV_DEVICE_AUTO)
        choice.kind = COV_DEVICE_CPU;
    return cov_device_open(&choice, &j->o->cpu, &j->device, e);
}

static int open_trainer(struct train_job *j, struct cov_err *e)
{
    struct cov_train_setup *s = &j->setup;
    const struct cov_trainer_options options = {
        .hp = &s->network.hp,
        .L = s->network.L,
        .max_batch = (j->o->batch + j->ranks.n - 1) / j->ranks.n,
        .seed = s->seed,
        .loss_weights = j->o->n_loss_weights > 0 ? j->o->loss_weights : NULL,
        .frozen = s->network.frozen,
        .recompute = j->o->recompute,
        .pool = j->pool,
        .reduce = {j->ranks.n > 1 ? cov_ranks_sum : NULL, &j->ranks},
    };
    int rc = open_train_device(j, e);
    if (!rc)
        rc = cov_trainer_new(j->device, &options, s->ckpt.state.block, &j->trainer, e);
    if (!rc && j->o->resume) {
        struct cov_train_state from = s->ckpt.state;
        if (!s->ckpt.has_average)
            from.average = NULL;
        rc = cov_trainer_write(j->trainer, &from, e);
    }
    if (!rc)
        rc = cov_train_provenance(s, j->o, j->device, e);
    size_t n = 0, n_frozen = 0;
    char frozen[48] = "";
    for (size_t i = 0; i < s->network.params.n_items; i++) {
        const struct cov_param *param = &s->network.params.items[i];
        n += param->trained ? param->n : 0;
        n_frozen += s->network.frozen[i] ? param->n : 0;
    }
    if (n_frozen > 0)
        (void)snprintf(frozen, sizeof frozen, ", %zu of them frozen", n_frozen);
    if (!rc)
        cov_info("%s, %u thread%s; %s, %zu parameters%s", j->device->ops->describe(j->device),
                 cov_pool_size(j->pool), cov_text_s(cov_pool_size(j->pool)),
                 cov_model_type_name(s->network.hp.model_type), n, frozen);
    return rc;
}

static void begin_training(struct train_job *j)
{
    struct cov_ckpt_training *t = &j->setup.ckpt.training;
    t->has_seed = true;
    t->seed = j->setup.seed;
    t->n_val_batches = (int64_t)j->val.n_batches;
    j->saver = (struct cov_train_saver){
        .dir = j->o->output,
        .save_by = j->o->save_by,
        .stop_by = j->o->stop_by,
        .top_k = j->o->top_k,
        .patience = j->o->patience,
    };
}

static int train_all(struct train_job *j, struct cov_err *e)
{
    struct cov_train_ckpt *p = &j->setup.ckpt;
    bool stop = false;
    int rc = load_data(j, e);
    if (!rc)
        rc = cov_example_feed_new(j->setup.train, j->o->batch, SLOTS, &j->feed, e);
    if (rc)
        return rc;
    begin_training(j);
    rc = cov_train_saver_begin(&j->saver, p, e);
    if (!rc && j->ranks.rank == 0 && p->epoch >= 0 && !j->setup.replaces)
        rc = cov_train_saver_resume(&j->saver, p, e);
    if (!rc && j->ranks.rank == 0)
        rc = cov_train_log_open(
            j->o->output, j->o->tensorboard, j->setup.has_remains ? -1 : p->epoch,
            j->setup.has_remains ? 0 : p->state.n_steps, j->setup.replaces, &j->log, e);
    while (!rc && !stop && !is_complete(j))
        rc = run_epoch(j, &stop, e);
    if (!rc)
        cov_train_saver_report(&j->saver);
    if (!rc && j->stopped)
        cov_info("stopped after %.3g h; %s", (cov_clock() - j->begin) / 3600, cov_log_last_words());
    int rc2 = cov_train_log_close(j->log, rc ? NULL : e);
    return rc ? rc : rc2;
}

static int fill_train_stats(const struct train_job *j, struct cov_stats *stats, struct cov_err *e)
{
    struct cov_stats_figure figures[] = {
        [COV_VAL_LOSS] = {"", "Loss", "Poisson loss of the last epoch, validation"},
        [COV_VAL_ACCURACY] = {"", "r", "Pearson's r of the last epoch, validation",
                              .is_score = true},
        [COV_TRAIN_LOSS] = {"", "Training loss", "Poisson loss of the last epoch, training"},
        [COV_TRAIN_ACCURACY] = {"", "Training r", "Pearson's r of the last epoch, training",
                                .is_score = true},
        {"epochs", "Epochs", "epochs, including those before resuming",
         .value = (double)(j->setup.ckpt.epoch + 1)},
        {"steps", "Steps", "steps of the optimiser", .value = (double)j->setup.ckpt.state.n_steps},
    };
    const struct cov_train_totals *was = &j->earlier;
    stats->chunks = was->chunks + j->chunks;
    stats->bases = was->bases + j->bases;
    if (was->n_runs > 0)
        stats->earlier = (struct cov_stats_earlier){
            was->bases, was->chunks, true, (int)was->n_runs, was->wall_seconds, was->cpu_seconds};
    cov_stats_add_stage(stats, "load", j->load_seconds);
    cov_stats_add_stage(stats, "train", j->train_seconds);
    cov_stats_add_stage(stats, "wait", j->wait_seconds);
    cov_stats_add_stage(stats, "validate", j->val_seconds);
    cov_stats_add_stage(stats, "save", j->save_seconds);
    int rc = cov_device_fill_stats(j->device, NULL, stats, e);
    for (int i = 0; i < COV_TRAIN_QUANTITIES; i++) {
        (void)snprintf(figures[i].name, sizeof figures[i].name, "%s", cov_train_quantity_names[i]);
        figures[i].decimals = 4;
        figures[i].value = j->values[i];
    }
    return rc ? rc : cov_stats_add_figures(stats, NULL, figures, COV_COUNT(figures), e);
}

/* Processes with different options or precision would add gradients of something else. */
static int agree_on_options(struct train_job *j, struct cov_err *e)
{
    const struct cov_rank_item items[] = {{"version", cov_text_fingerprint(cov_version())},
                                          {"options", j->o->fingerprint}};
    return cov_ranks_compare(&j->ranks, items, COV_COUNT(items), e);
}

static int agree_on_precision(struct train_job *j, struct cov_err *e)
{
    const struct cov_rank_item item = {
        "precision", cov_text_fingerprint(cov_device_recorded_precision(j->device))};
    return cov_ranks_compare(&j->ranks, &item, 1, e);
}

int cov_train(const struct cov_train_options *options, struct cov_progress *progress,
              struct cov_stats *stats, struct cov_err *e)
{
    struct train_job j = {.o = options,
                          .progress = progress,
                          .stats = stats,
                          .setup = {.lock = -1},
                          .begin = cov_clock()};
    for (int i = 0; i < COV_TRAIN_QUANTITIES; i++)
        j.values[i] = (double)NAN;
    int rc = cov_ranks_open(&j.ranks, e);
    if (!rc && j.ranks.rank > 0) {
        /* Only the first process logs. */
        cov_log_set(NULL, NULL, COV_LOG_ERROR);
        j.progress = NULL;
    }
    cov_train_set_last_words(options, NULL);
    if (!rc)
        rc = agree_on_options(&j, e);
    if (!rc)
        rc = cov_train_setup_open(&j.setup, options, &j.ranks, e);
    if (!rc && options->resume)
        rc = cov_train_log_read(options->resume, j.setup.ckpt.epoch, j.setup.ckpt.state.n_steps,
                                j.values, &j.earlier, e);
    if (!rc)
        rc = cov_pool_new(options->n_threads, &j.pool, e);
    if (!rc)
        rc = open_trainer(&j, e);
    if (!rc)
        rc = agree_on_precision(&j, e);
    if (!rc && j.setup.ckpt.epoch + 1 >= options->epochs)
        cov_info("nothing to do: %s already has %" PRId64 " epochs; a larger --epochs continues it",
                 options->resume, j.setup.ckpt.epoch + 1);
    else if (!rc && is_complete(&j))
        cov_info("nothing to do: %s already has %" PRId64
                 " steps; a larger --max-steps continues it",
                 options->resume, j.setup.ckpt.state.n_steps);
    else if (!rc)
        rc = train_all(&j, e);
    if (!rc && stats)
        rc = fill_train_stats(&j, stats, e);
    cov_log_set_last_words(NULL);
    cov_example_feed_free(j.feed);
    cov_trainer_free(j.trainer);
    cov_device_close(j.device);
    cov_pool_free(j.pool);
    cov_example_plan_fini(&j.val);
    cov_train_setup_fini(&j.setup);
    if (rc)
        rc = cov_ranks_name(&j.ranks, rc, e);
    cov_ranks_close(&j.ranks, rc != COV_OK);
    return rc;
}
