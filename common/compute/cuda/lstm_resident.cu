/* lstm_resident.cu - the steps of an LSTM in single precision with 32, 64, 96 or 128 units: prediction, and training
 * forward and backward (kernels.h).
 *
 * A block runs up to MOST sequences of one direction through all steps by itself, and keeps all weights of the direction:
 * most in registers, the rest in shared memory. The four lanes of a group compute the four gates of one unit, each from a
 * quarter of the previous h; then they exchange their sums, so that a lane has all gates of the unit for one sequence,
 * and also keeps the cell. With fewer than four sequences, lanes repeat each other's work. Only h passes through shared
 * memory, and a step needs one barrier. In the backward pass, the 16 lanes of a group compute the gradients of the h of
 * four units, each from a sixteenth of the gates that use it, so that one read of a gradient serves four units. What a
 * step reads from memory is loaded during the previous step. Sums are added in the same order for any number of sequences
 * per block, so values do not depend on the batch.
 *
 * Bound of a step with 128 units and S sequences, in cycles of a multiprocessor with one block of 16 warps: 65,536 S
 * multiplications take 512 S. A warp's read of 16 bytes per lane from shared memory takes 4; so h and gradients take
 * 512 S, and the weights that are not in registers 704 to 1,088. On an H200 (1.98 GHz), a step took 1.1 us with one
 * sequence and 2.4 us with four; backward, with groups of one unit (2,048 S cycles for gradients), 1.74 us with one. The
 * backward pass in its present form has not been timed.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cuda/lstm_edits.h"

/* The lanes of a group compute as many units as a quarter of the group has lanes. */
enum { QUARTERS = 4, MOST = 4, UNITS_BACK = 4 };

/* How a block of U units, whose groups compute R units each, stores its weights and rows of h. */
template <int U, int R> struct layout {
    static constexpr int THREADS = QUARTERS * U, LANES = QUARTERS * R;
    static constexpr int EACH = U / LANES; /* the units whose h, or gradients, a lane multiplies */
    static constexpr int N_WEIGHTS = R * EACH; /* of four gates; a lane's */
    /* Padding, so that lanes read different banks. */
    static constexpr int PART = EACH + 4, PART_BACK = EACH * 4 + 4;
    static constexpr int ROW = LANES * PART, ROW_BACK = LANES * PART_BACK;
};

/* A thread of a block of S sequences with R units per group. In a step it multiplies with all units of its group, and
 * then handles one of them in one sequence. */
struct seat {
    int tid, part, first_unit, unit, quarter, direction, slot,
        sequence; /* slot: of the block's sequences */
    bool writes;  /* no other lane does the same */
};

template <int S, int R, typename Layer> SIMT_DEVICE struct seat seat_of(const Layer &l)
{
    struct seat my;
    my.tid = (int)threadIdx.x;
    my.part = my.tid % (QUARTERS * R);
    my.first_unit = my.tid / (QUARTERS * R) * R;
    my.unit = my.first_unit + my.tid % R;
    my.quarter = my.tid / R % QUARTERS;
    my.direction = (int)blockIdx.y;
    my.slot = my.quarter % S;
    my.sequence = (int)blockIdx.x * S + my.slot;
    my.writes = my.quarter < S && my.sequence < l.n;
    return my;
}

SIMT_DEVICE float add(float a, float b)
{
    return a + b;
}

SIMT_DEVICE float4 add(const float4 &a, const float4 &b)
{
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

SIMT_DEVICE float from_lane(float v, int mask)
{
    return simt_shuffle_xor(v, mask);
}

SIMT_DEVICE float4 from_lane(const float4 &v, int mask)
{
    return make_float4(simt_shuffle_xor(v.x, mask), simt_shuffle_xor(v.y, mask),
                       simt_shuffle_xor(v.z, mask), simt_shuffle_xor(v.w, mask));
}

SIMT_DEVICE float select(bool second, float a, float b)
{
    return second ? b : a;
}

/* By components, because a choice of addresses would put both values into memory. */
SIMT_DEVICE float4 select(bool second, const float4 &a, const float4 &b)
{
    return make_float4(second ? b.x : a.x, second ? b.y : a.y, second ? b.z : a.z,
                       second ? b.w : a.w);
}

/* Of two values, keeps the one that `second` selects, and adds the one that lane ^ mask has of it. */
template <typename T> SIMT_DEVICE T exchange(const T &a, const T &b, bool second, int mask)
{
    return add(select(second, a, b), from_lane(select(second, b, a), mask));
}

/* Returns the sum of the lane's slot over the quarters of its group, whose lanes are R apart; parts[slot] are the lane's
 * own sums. */
template <int R, typename T> SIMT_DEVICE T total(const T (&parts)[4], int quarter)
{
    T low = exchange(parts[0], parts[1], quarter & 1, R),
      high = exchange(parts[2], parts[3], quarter & 1, R);
    return exchange(low, high, quarter & 2, 2 * R);
}

template <int R, typename T> SIMT_DEVICE T total(const T (&parts)[2], int quarter)
{
    T half = exchange(parts[0], parts[1], quarter & 1, R);
    return add(half, from_lane(half, 2 * R));
}

template <int R, typename T> SIMT_DEVICE T total(const T (&parts)[1], int)
{
    T half = add(parts[0], from_lane(parts[0], R));
    return add(half, from_lane(half, 2 * R));
}

/* The weights of a lane: those of the units of its group and of its part of the block's units. */
template <int U, int S, int R> struct weights {
    /* As many in registers as 128 units leave; more sequences need more registers for their sums. */
    static constexpr int MOST_KEPT = S == 4 ? 15 : S == 2 ? 18 : 21;
    static constexpr int ALL = layout<U, R>::N_WEIGHTS, THREADS = layout<U, R>::THREADS;
    static constexpr int KEPT = ALL < MOST_KEPT ? ALL : MOST_KEPT, SHARED = ALL - KEPT;
    static constexpr size_t BYTES = (size_t)SHARED * THREADS * sizeof(float4);
    float4 kept[KEPT];
    const float4 *shared; /* [SHARED][THREADS], from this thread on */
    SIMT_DEVICE_MEMBER void load(const void *w, const struct seat &my, float4 *area)
    {
        auto read = [&](int i) {
            int other = my.part * layout<U, R>::EACH + i / R, unit = my.first_unit + i % R;
            return simt_read4((const float *)w +
                              (((size_t)my.direction * U + other) * U + unit) * 4);
        };
#pragma unroll
        for (int i = 0; i < KEPT; i++)
            kept[i] = read(i);
        for (int i = KEPT; i < ALL; i++)
            area[(i - KEPT) * THREADS + my.tid] = read(i);
        shared = area + my.tid;
    }
    /* The weights of a unit of the group and the k-th of the part; constants after unrolling. */
    SIMT_DEVICE_MEMBER float4 at(int k, int unit) const
    {
        int i = k * R + unit;
        return i < KEPT ? kept[i] : shared[(i - KEPT) * THREADS];
    }
};

/* Returns the sums of w h for the lane's unit and sequence; h[S] are rows of layout<U, 1>::ROW. */
template <int U, int S>
SIMT_DEVICE float4 multiply_h(const struct weights<U, S, 1> &w, const float *h,
                              const struct seat &my)
{
    float4 sum[S];
#pragma unroll
    for (int s = 0; s < S; s++)
        sum[s] = make_float4(0, 0, 0, 0);
    h += my.part * layout<U, 1>::PART;
#pragma unroll
    for (int k = 0; k < layout<U, 1>::EACH; k += 4) {
        float4 x[S];
#pragma unroll
        for (int s = 0; s < S; s++)
            x[s] = *(const float4 *)(h + s * layout<U, 1>::ROW + k);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const float4 v = w.at(k + i, 0);
#pragma unroll
            for (int s = 0; s < S; s++) {
                float of = i == 0 ? x[s].x : i == 1 ? x[s].y : i == 2 ? x[s].z : x[s].w;
                sum[s].x = fmaf(v.x, of, sum[s].x);
                sum[s].y = fmaf(v.y, of, sum[s].y);
                sum[s].z = fmaf(v.z, of, sum[s].z);
                sum[s].w = fmaf(v.w, of, sum[s].w);
            }
        }
    }
    return total<1>(sum, my.quarter);
}

/* The place of a unit in a row of h. */
template <int U> SIMT_DEVICE int place_of(int unit)
{
    return unit / layout<U, 1>::EACH * layout<U, 1>::PART + unit % layout<U, 1>::EACH;
}

/* Walks over the steps of a lane's unit and sequence. `place` is the index of its h at step t (lstm_place). */
struct walk {
    int t, forth;
    ptrdiff_t place, stride;
};

template <typename Layer>
SIMT_DEVICE struct walk walk_of(const Layer &l, const struct seat &my, bool from_end)
{
    struct walk at;
    at.forth = from_end ? -1 : 1;
    at.t = from_end ? l.t - 1 : 0;
    at.place = (ptrdiff_t)lstm_place(l, my.sequence, at.t, my.direction, my.unit);
    at.stride = (ptrdiff_t)at.forth * l.directions * l.units;
    return at;
}

SIMT_DEVICE void advance(struct walk *at)
{
    at->t += at->forth;
    at->place += at->stride;
}

/* ---- prediction ---- */

/* What a lane keeps of its unit and sequence between steps. */
struct cell {
    float c;
    struct lstm_gates gates;
    float4 ref_x; /* the inputs that the gates were computed from */
    float ref_h;
};

/* The shared memory of a block between its weights and its rows of h. */
struct common {
    uint32_t moved[4]; /* by step: the slots whose gates are computed */
};

template <int U, int S> struct sizes {
    static constexpr size_t WEIGHTS = weights<U, S, 1>::BYTES,
                            WEIGHTS_BACK = weights<U, S, UNITS_BACK>::BYTES;
    static constexpr size_t FORWARD = WEIGHTS + (size_t)2 * S * layout<U, 1>::ROW * sizeof(float);
    static constexpr size_t PREDICT = FORWARD + sizeof(struct common);
    static constexpr size_t BACKWARD =
        WEIGHTS_BACK + (size_t)2 * S * layout<U, UNITS_BACK>::ROW_BACK * sizeof(float);
};

/* Records the slots that moved before the next step; clears the mask of the step after it. Lanes of a slot have the same
 * remainder. */
template <int S>
SIMT_DEVICE void note_moved(const struct seat &my, int step, bool moves, uint32_t *moved)
{
    const uint32_t lanes = simt_ballot(moves);
    if (my.tid % 32 == 0 && lanes) {
        uint32_t all = 0;
#pragma unroll
        for (int s = 0; s < S; s++)
            all |= lanes & (S == 4   ? 0x11111111U
                            : S == 2 ? 0x55555555U
                                     : 0xffffffffU)
                               << s
                       ? 1U << s
                       : 0;
        simt_or(&moved[(step + 1) % 4], all);
    }
    if (my.tid == 0)
        moved[(step + 2) % 4] = 0;
}

template <int U, int S> SIMT_KERNEL(4 * U) lstm_resident(struct cov_cuda_lstm l)
{
    constexpr int ROWS = S * layout<U, 1>::ROW;
    float4 *const area = (float4 *)simt_shared();
    struct common *const common = (struct common *)((char *)area + sizes<U, S>::WEIGHTS);
    float *const h = (float *)(common + 1); /* [2][S][ROW], by step */
    const struct seat my = seat_of<S, 1>(l);
    /* Slots without a sequence repeat the block's first one, and write nothing. */
    const int sequence = my.sequence < l.n ? my.sequence : (int)blockIdx.x * S;
    const struct cov_cuda_extent extent = l.extents[(size_t)sequence * l.extent_pitch];
    const int steps = lstm_count_steps(l, my.direction, (int)blockIdx.x * S, S),
              place = my.slot * layout<U, 1>::ROW + place_of<U>(my.unit);
    struct weights<U, S, 1> w;
    w.load(l.w, my, area);
    for (int i = my.tid; i < 2 * ROWS; i += layout<U, 1>::THREADS)
        h[i] = 0;
    if (my.tid < 4)
        common->moved[my.tid] = my.tid ? 0 : (1U << S) - 1;

    struct walk at = walk_of(l, my, my.direction != 0);
    const float *const first = l.gates + lstm_place(l, sequence, 0, my.direction, my.unit) * 4;
    const uint32_t row_floats = (uint32_t)l.directions * U * 4;
    auto read = [&](int t) {
        return simt_read4(first +
                          (size_t)(uint32_t)gates_row(extent.head, extent.tail, t) * row_floats);
    };
    struct cell cell = {};
    float mine = 0; /* h of the last step */
    int n_products = 0, before = 0, after = ROWS;
    float4 x = read(at.t);
    __syncthreads();
    for (int step = 0; step < steps; step++) {
        const float4 next = step + 1 < steps ? read(at.t + at.forth) : x;
        const uint32_t moving = l.rest ? common->moved[step % 4] : (1U << S) - 1;
        if (moving) {
            const float4 sum = add(x, multiply_h<U, S>(w, h + before, my));
            n_products++;
            if (moving >> my.slot & 1) {
                cell.gates = lstm_gates_of(sum.x, sum.y, sum.z, sum.w);
                cell.ref_x = x;
                cell.ref_h = mine;
            }
        }
        mine = lstm_advance(cell.gates, &cell.c);
        if (my.quarter < S)
            h[after + place] = mine;
        if (my.writes)
            store1(l.y, (size_t)at.place, l.y_bf16, mine);
        x = next;
        if (l.rest)
            note_moved<S>(my, step,
                          lstm_moved(mine, cell.ref_h, 0x1p-5f) || lstm_moved(x, cell.ref_x),
                          common->moved);
        advance(&at);
        before = after;
        after = ROWS - before;
        __syncthreads();
    }
    if (my.unit == 0 && my.writes)
        l.extents[(size_t)my.sequence * l.extent_pitch].products[my.direction] = n_products;
}

/* ---- sequences after edits ---- */

/* Sums over x are read a step ahead, and kept values at the start of their step. */
template <int U, int S> SIMT_KERNEL(4 * U) lstm_resident_edits(struct cov_cuda_lstm_edits l)
{
    constexpr int ROWS = S * layout<U, 1>::ROW;
    float4 *const area = (float4 *)simt_shared();
    struct common *const common = (struct common *)((char *)area + sizes<U, S>::WEIGHTS);
    float *const h = (float *)(common + 1); /* [2][S][ROW], by step */
    const struct seat my = seat_of<S, 1>(l);
    const int place = my.slot * layout<U, 1>::ROW + place_of<U>(my.unit);
    struct weights<U, S, 1> w;
    w.load(l.w, my, area);
    struct edit_walk at = edit_walk_of(l, my.sequence, my.direction, my.unit, 4);
    const bool inside = edit_starts_inside(l, at);
    float c = inside ? edit_kept_cell(l, at, at.t - at.forth) : 0;
    float4 x = edit_sums<false>(at, at.t);
    if (my.tid < 4)
        common->moved[my.tid] = 0;
    if (my.quarter < S)
        h[place] = inside ? edit_kept_h(l, at, at.t - at.forth) : 0;
    __syncthreads();
    if (my.unit == 0 && my.quarter < S && at.there)
        simt_or(&common->moved[0], 1U << my.slot);
    __syncthreads();
    int before = 0, after = ROWS;
    for (int step = 0;; step++) {
        const uint32_t moving = common->moved[step % 4];
        if (!moving)
            break;
        const float4 next = edit_sums<false>(at, edit_next(at));
        const float kept_h = l.cells ? 0 : edit_kept_h(l, at, at.t),
                    kept_c = l.cells ? 0 : edit_kept_cell(l, at, at.t);
        const float4 sum = add(x, multiply_h<U, S>(w, h + before, my));
        const float value = lstm_advance(lstm_gates_of(sum.x, sum.y, sum.z, sum.w), &c);
        const bool moves = moving >> my.slot & 1;
        if (my.quarter < S)
            h[after + place] = value;
        if (moves && my.writes)
            edit_write(l, &at, value, c);
        note_moved<S>(my, step,
                      moves &&
                          edit_moves(l, at, edit_differs(value, kept_h) || edit_differs(c, kept_c)),
                      common->moved);
        if (moves)
            at.t = edit_next(at);
        x = next;
        before = after;
        after = ROWS - before;
        __syncthreads();
    }
    if (my.unit == 0 && my.writes)
        l.edits[my.sequence].stop[my.direction] = at.stop;
}

/* ---- training ---- */

template <int U, int S> SIMT_KERNEL(4 * U) lstm_resident_forward(struct cov_cuda_lstm_train l)
{
    constexpr int ROWS = S * layout<U, 1>::ROW;
    float4 *const area = (float4 *)simt_shared();
    float *const h = (float *)((char *)area + sizes<U, S>::WEIGHTS); /* [2][S][ROW], by step */
    const struct seat my = seat_of<S, 1>(l);
    const int place = my.slot * layout<U, 1>::ROW + place_of<U>(my.unit);
    struct weights<U, S, 1> w;
    w.load(l.w, my, area);
    for (int i = my.tid; i < 2 * ROWS; i += layout<U, 1>::THREADS)
        h[i] = 0;
    struct walk at = walk_of(l, my, my.direction != 0);
    auto read = [&](ptrdiff_t of) {
        return my.sequence < l.n ? *(const float4 *)(l.gates + of * 4) : make_float4(0, 0, 0, 0);
    };
    float c = 0;
    int before = 0, after = ROWS;
    float4 x = read(at.place);
    __syncthreads();
    for (int step = 0; step < l.t; step++) {
        const float4 next = step + 1 < l.t ? read(at.place + at.stride) : x;
        const float4 sum = add(x, multiply_h<U, S>(w, h + before, my));
        const float4 gates = make_float4(lstm_sigmoid(sum.x), lstm_sigmoid(sum.y), lstm_tanh(sum.z),
                                         lstm_sigmoid(sum.w));
        c = fmaf(gates.y, c, gates.x * gates.z);
        const float value = gates.w * lstm_tanh(c);
        if (my.quarter < S)
            h[after + place] = value;
        if (my.writes)
            lstm_keep(l, (size_t)at.place, gates, c, value);
        x = next;
        advance(&at);
        before = after;
        after = ROWS - before;
        __syncthreads();
    }
}

/* Returns the sum over gates of w dgates for the lane's unit and sequence; gradients[S] are rows of ROW_BACK. */
template <int U, int S>
SIMT_DEVICE float multiply_gradients(const struct weights<U, S, UNITS_BACK> &w,
                                     const float *gradients, const struct seat &my)
{
    float sum[UNITS_BACK][S] = {}, own[S];
    gradients += my.part * layout<U, UNITS_BACK>::PART_BACK;
#pragma unroll
    for (int k = 0; k < layout<U, UNITS_BACK>::EACH; k++) {
        float4 x[S];
#pragma unroll
        for (int s = 0; s < S; s++)
            x[s] = *(const float4 *)(gradients + s * layout<U, UNITS_BACK>::ROW_BACK + k * 4);
#pragma unroll
        for (int unit = 0; unit < UNITS_BACK; unit++) {
            const float4 v = w.at(k, unit);
#pragma unroll
            for (int s = 0; s < S; s++) {
                float by = fmaf(v.x, x[s].x, sum[unit][s]);
                sum[unit][s] = fmaf(v.w, x[s].w, fmaf(v.z, x[s].z, fmaf(v.y, x[s].y, by)));
            }
        }
    }
    static_assert(UNITS_BACK == 4, "the two exchanges below");
#pragma unroll
    for (int s = 0; s < S; s++)
        own[s] = exchange(exchange(sum[0][s], sum[1][s], my.tid & 1, 1),
                          exchange(sum[2][s], sum[3][s], my.tid & 1, 1), my.tid & 2, 2);
    return total<UNITS_BACK>(own, my.quarter);
}

/* The values that a step of the backward pass reads; past: c of the previous step. */
struct reading {
    float4 gates;
    float past, dy;
};

template <int U, int S> SIMT_KERNEL(4 * U) lstm_resident_backward(struct cov_cuda_lstm_train l)
{
    constexpr int ROWS = S * layout<U, UNITS_BACK>::ROW_BACK;
    float4 *const area = (float4 *)simt_shared();
    float *const gradients =
        (float *)((char *)area + sizes<U, S>::WEIGHTS_BACK); /* [2][S][ROW_BACK], by step */
    const struct seat my = seat_of<S, UNITS_BACK>(l);
    const int place = my.slot * layout<U, UNITS_BACK>::ROW_BACK +
                      my.unit / layout<U, UNITS_BACK>::EACH * layout<U, UNITS_BACK>::PART_BACK +
                      my.unit % layout<U, UNITS_BACK>::EACH * 4;
    struct weights<U, S, UNITS_BACK> w;
    w.load(l.w, my, area);
    for (int i = my.tid; i < 2 * ROWS; i += layout<U, UNITS_BACK>::THREADS)
        gradients[i] = 0;
    struct walk at = walk_of(l, my, my.direction == 0);
    /* The step at `of`, which is followed by `left` more. */
    auto read = [&](ptrdiff_t of, int left) {
        struct reading r = {};
        if (my.sequence < l.n && left >= 0) {
            r.gates = *(const float4 *)(l.gates + of * 4);
            r.dy = l.dy[of];
            r.past = left > 0 ? l.cells[of + at.stride] : 0;
        }
        return r;
    };
    struct reading now = read(at.place, l.t - 1);
    float dc = 0, state = my.sequence < l.n ? l.cells[at.place] : 0;
    int after = 0, here = ROWS;
    __syncthreads();
    for (int left = l.t - 1; left >= 0; left--) {
        const struct reading next = read(at.place + at.stride, left - 1);
        const float dh = now.dy + multiply_gradients<U, S>(w, gradients + after, my);
        const float4 by = lstm_gradient(now.gates, lstm_tanh(state), now.past, dh, &dc);
        if (my.quarter < S)
            *(float4 *)(gradients + here + place) = by;
        if (my.writes)
            lstm_write_gradient(l, (size_t)at.place, by);
        state = now.past;
        now = next;
        advance(&at);
        after = here;
        here = ROWS - after;
        __syncthreads();
    }
}

/* ---- launches ---- */

bool cov_cuda_lstm_resident_fits(int units, size_t bytes)
{
    switch (units) {
    case 32:
        return sizes<32, MOST>::BACKWARD <= bytes;
    case 64:
        return sizes<64, MOST>::BACKWARD <= bytes;
    case 96:
        return sizes<96, MOST>::BACKWARD <= bytes;
    case 128:
        return sizes<128, MOST>::BACKWARD <= bytes;
    default:
        return false;
    }
}

int cov_cuda_lstm_fp32_units(int hidden, size_t bytes)
{
    int wide = cov_round_up(hidden, 32);
    return 3 * wide <= 4 * hidden && cov_cuda_lstm_resident_fits(wide, bytes)
               ? wide
               : cov_round_up(hidden, 8);
}

template <int U, int S> struct predict {
    static void launch(const struct cov_cuda_lstm *l, void *stream)
    {
        simt_launch_at(l->priority, lstm_resident<U, S>, lstm_grid(l, S), QUARTERS * U,
                       sizes<U, S>::PREDICT, stream, *l);
    }
};

template <int U, int S> struct predict_edits {
    static void launch(const struct cov_cuda_lstm_edits *l, void *stream)
    {
        simt_launch(lstm_resident_edits<U, S>, lstm_grid(l, S), QUARTERS * U, sizes<U, S>::PREDICT,
                    stream, *l);
    }
};

template <int U, int S> struct train_forward {
    static void launch(const struct cov_cuda_lstm_train *l, void *stream)
    {
        simt_launch(lstm_resident_forward<U, S>, lstm_grid(l, S), QUARTERS * U,
                    sizes<U, S>::FORWARD, stream, *l);
    }
};

template <int U, int S> struct train_backward {
    static void launch(const struct cov_cuda_lstm_train *l, void *stream)
    {
        simt_launch(lstm_resident_backward<U, S>, lstm_grid(l, S), QUARTERS * U,
                    sizes<U, S>::BACKWARD, stream, *l);
    }
};

/* Launches a kernel with as few sequences per block, and so as short steps, as give at most `blocks` blocks. */
template <template <int, int> class Kernel, int U, typename Layer>
static void choose_sequences(const Layer *l, int blocks, void *stream)
{
    const int sequences = l->n * l->directions;
    if (sequences <= blocks)
        Kernel<U, 1>::launch(l, stream);
    else if (sequences <= 2 * blocks)
        Kernel<U, 2>::launch(l, stream);
    else
        Kernel<U, MOST>::launch(l, stream);
}

template <template <int, int> class Kernel, typename Layer>
static void choose(const Layer *l, int blocks, void *stream)
{
    if (l->n == 0)
        return;
    switch (l->units) {
    case 32:
        choose_sequences<Kernel, 32>(l, blocks, stream);
        break;
    case 64:
        choose_sequences<Kernel, 64>(l, blocks, stream);
        break;
    case 96:
        choose_sequences<Kernel, 96>(l, blocks, stream);
        break;
    default:
        choose_sequences<Kernel, 128>(l, blocks, stream);
        break;
    }
}

/* The multiprocessors of a large card, each of which runs one block; a prediction shares them with its other slots. */
enum { BLOCKS_TRAIN = 128, BLOCKS_PREDICT = BLOCKS_TRAIN / 4 };

void cov_cuda_lstm_resident(const struct cov_cuda_lstm *l, void *stream)
{
    choose<predict>(l, BLOCKS_PREDICT, stream);
}

void cov_cuda_lstm_edits_resident(const struct cov_cuda_lstm_edits *l, void *stream)
{
    choose<predict_edits>(l, BLOCKS_PREDICT, stream);
}

void cov_cuda_lstm_resident_forward(const struct cov_cuda_lstm_train *l, void *stream)
{
    choose<train_forward>(l, BLOCKS_TRAIN, stream);
}

void cov_cuda_lstm_resident_backward(const struct cov_cuda_lstm_train *l, void *stream)
{
    choose<train_backward>(l, BLOCKS_TRAIN, stream);
}
