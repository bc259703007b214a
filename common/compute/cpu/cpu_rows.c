/* cpu_rows.c - the convolutions of a sequence, and the shapes and counts that device_cpu.c and
 * cpu_edits.c share.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/base/mem.h"
#include "common/compute/cpu/cpu_program.h"
#include "common/seq/alphabet.h"

enum { MUCH_PADDING = 8 }; /* padding is shared if it fills at least 1 / MUCH_PADDING of a chunk */

size_t cov_cpu_lstm_floats(const struct cov_layer *layers, size_t n_layers)
{
    size_t most = 0;
    for (size_t i = 0; i < n_layers; i++)
        if (layers[i].kind == COV_LAYER_LSTM)
            most =
                cov_size_max(most, layers[i].t_in * cov_size_max(layers[i].c_in, layers[i].c_out));
    return most;
}

bool cov_cpu_has_much_padding(const struct cov_cpu_program *p, size_t filled)
{
    size_t length = p->layers[0].t_in;
    return filled > 0 && length - filled >= length / MUCH_PADDING;
}

void cov_cpu_count_work(const struct cov_cpu_program *p, struct cov_cpu_arena *a, double work)
{
    size_t length = p->layers[0].t_in;
    double part = work / p->full_work;
    uint64_t computed = part < 1 ? (uint64_t)(part * (double)length + 0.5) : length;
    a->counts.positions_computed += computed;
    a->counts.positions_at_rest += length - computed;
}

void cov_cpu_one_hot(const struct cov_row_plan *plan, const uint8_t *codes, float *x)
{
    for (size_t i = 0; i < plan->n_ranges; i++)
        for (size_t t = plan->ranges[i].beg; t < plan->ranges[i].end; t++)
            memcpy(x + 4 * t, cov_onehot_f32[codes[t] & 15], 4 * sizeof *x);
}

/* Fills the rows of y that are copies of computed rows. */
static void copy_rows(const struct cov_row_plan *plan, size_t c, float *y, size_t y_stride)
{
    for (size_t i = 0; i < plan->n_copies; i++) {
        const struct cov_copy *copy = &plan->copies[i];
        size_t at = (copy->beg - copy->from) % copy->period;
        for (size_t t = copy->beg; t < copy->end; t++) {
            memcpy(y + t * y_stride, y + (copy->from + at) * y_stride, c * sizeof *y);
            at = at + 1 == copy->period ? 0 : at + 1;
        }
    }
}

double cov_cpu_run_rows(const struct cov_cpu_program *p, struct cov_cpu_arena *a,
                        const struct cov_row_plan *plans, struct cov_rows of, const uint8_t *codes,
                        const struct cov_layer_io *io)
{
    double work = 0;
    const float *x = io->x;
    size_t x_stride = io->x_stride;
    if (!x && !cov_conv_reads_codes(p->fast[0])) {
        cov_cpu_one_hot(plans, codes, a->onehot);
        x = a->onehot;
        x_stride = 4;
    }
    for (size_t i = of.beg; i < of.end; i++) {
        const struct cov_layer *l = &p->layers[i];
        const struct cov_row_plan *plan = &plans[i + 1];
        bool last = i + 1 == of.end;
        const struct cov_layer_io step = {x, x_stride, last ? io->y : a->rows[i % 2],
                                          last ? io->y_stride : l->c_out};
        for (size_t k = 0; k < plan->n_ranges; k++) {
            struct cov_rows rows = plan->ranges[k];
            if (x)
                cov_conv_rows(p->fast[i], rows, &step, a->scratch);
            else
                cov_conv_rows_of_codes(p->fast[i], rows, codes, step.y, step.y_stride);
            work += (double)(rows.end - rows.beg) * cov_plan_work_of_row(l);
        }
        if (i + 1 != p->lstm_beg ||
            p->lstm_beg == p->lstm_end) /* LSTMs read copied rows from their source */
            copy_rows(plan, l->c_out, step.y, step.y_stride);
        x = step.y;
        x_stride = step.y_stride;
    }
    return work;
}
