/* pickle.c - see pickle.h.
 *
 * A pickle is a program for a stack machine. This machine runs the program, but instead of
 * executing an opcode that would call Python, it records the call. One rule makes the values
 * acyclic: a value that was stored in another value must no longer change. Python completes a value
 * before storing it in another, unless a structure contains itself.
 * SPDX-License-Identifier: MIT */
#include "common/ckpt/pickle.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

enum { BLOCK_VALUES = 512, MAX_VALUES = 4 << 20, MAX_DEPTH = 100 };

/* Values are allocated in blocks, which are freed without walking the graph. */
struct block {
    struct block *next;
    size_t n;
    struct cov_pickle_value values[BLOCK_VALUES];
};

struct cov_pickle {
    struct block *blocks;
    const struct cov_pickle_value *root;
};

struct machine {
    struct cov_pickle *p;
    const uint8_t *data;
    size_t n, at, op_at; /* start of the current opcode */
    const struct cov_pickle_name *names;
    size_t n_names;
    size_t n_pushed; /* limits the stack, the values, all items and the memo */
    struct cov_pickle_value **stack;
    size_t n_stack, cap_stack;
    size_t *marks; /* stack heights */
    size_t n_marks, cap_marks;
    struct cov_pickle_value **memo; /* [cap_memo], of which n_memo are not NULL */
    size_t n_memo, cap_memo;
    struct cov_err *e;
};

static int damaged(struct machine *m, const char *what)
{
    (void)cov_fail(m->e, COV_EINPUT, "damaged pickle: %s at byte %zu", what, m->op_at);
    return COV_EINPUT;
}

static int too_deep(struct machine *m)
{
    return cov_fail(m->e, COV_EINPUT, "pickle nests values more than %d deep", MAX_DEPTH);
}

static int refuse(struct machine *m)
{
    return cov_fail(m->e, COV_EINPUT,
                    "pickle uses opcode 0x%02x at byte %zu, which torch.save does not write; "
                    "nothing was executed",
                    m->data[m->op_at], m->op_at);
}

/* ---------------------------------------------------------------- bytes */

/* Returns the next n bytes, or NULL if fewer are left. */
static const uint8_t *take(struct machine *m, uint64_t n)
{
    if (n > m->n - m->at) {
        (void)damaged(m, "truncated operation");
        return NULL;
    }
    const uint8_t *p = m->data + m->at;
    m->at += (size_t)n;
    return p;
}

static uint64_t little_endian(const uint8_t *p, int n)
{
    uint64_t v = 0;
    for (int i = n - 1; i >= 0; i--)
        v = v << 8 | p[i];
    return v;
}

/* Reads an unsigned integer of n <= 8 bytes. */
static int take_number(struct machine *m, int n, uint64_t *out)
{
    const uint8_t *p = take(m, (uint64_t)n);
    if (!p)
        return COV_EINPUT;
    *out = little_endian(p, n);
    return COV_OK;
}

/* ---------------------------------------------------------------- values and the stack */

static struct cov_pickle_value *new_value(struct machine *m, enum cov_pickle_kind kind)
{
    struct block *b = m->p->blocks;
    if (!b || b->n == BLOCK_VALUES) {
        b = cov_calloc(1, sizeof *b, m->e);
        if (!b)
            return NULL;
        b->next = m->p->blocks;
        m->p->blocks = b;
    }
    struct cov_pickle_value *v = &b->values[b->n++];
    v->kind = kind;
    return v;
}

/* Makes room for one more value. */
static int reserve_stack(struct machine *m)
{
    int rc = COV_RESERVE(&m->stack, &m->cap_stack, m->n_stack + 1, m->e);
    return rc;
}

static int push(struct machine *m, struct cov_pickle_value *v)
{
    if (!v)
        return COV_ENOMEM;
    if (++m->n_pushed > MAX_VALUES)
        return cov_fail(m->e, COV_EINPUT, "pickle has more than %d values", MAX_VALUES);
    int rc = reserve_stack(m);
    if (rc)
        return rc;
    m->stack[m->n_stack++] = v;
    return COV_OK;
}

/* Returns the number of values above the topmost mark. */
static size_t height(const struct machine *m)
{
    return m->n_stack - (m->n_marks ? m->marks[m->n_marks - 1] : 0);
}

static int need(struct machine *m, size_t n)
{
    return height(m) < n ? damaged(m, "stack underflow") : COV_OK;
}

static struct cov_pickle_value *pop(struct machine *m)
{
    return m->stack[--m->n_stack];
}

static struct cov_pickle_value *top(struct machine *m)
{
    return m->stack[m->n_stack - 1];
}

/* Removes the topmost mark; the values above it are stack[*beg .. n_stack), for the caller to
 * use. */
static int pop_mark(struct machine *m, size_t *beg)
{
    if (!m->n_marks)
        return damaged(m, "missing mark");
    *beg = m->marks[--m->n_marks];
    return COV_OK;
}

/* Records that `whole` contains `part`. */
static int contain(struct machine *m, struct cov_pickle_value *whole, struct cov_pickle_value *part)
{
    if (whole->sealed || whole == part)
        return damaged(m, "a value changes after being stored in another, or contains itself");
    if (part->depth >= MAX_DEPTH)
        return too_deep(m);
    part->sealed = true;
    if (whole->depth <= part->depth)
        whole->depth = part->depth + 1;
    return COV_OK;
}

static int add_items(struct machine *m, struct cov_pickle_value *whole,
                     struct cov_pickle_value **items, size_t n)
{
    int rc = COV_RESERVE(&whole->items, &whole->cap_items, whole->n_items + n, m->e);
    for (size_t i = 0; !rc && i < n; i++) {
        rc = contain(m, whole, items[i]);
        if (!rc)
            whole->items[whole->n_items++] = items[i];
    }
    return rc;
}

/* ---------------------------------------------------------------- opcodes */

/* `kind` is the kind of value; n is the size of an integer or length in bytes, or the number of
 * values. */
struct operation {
    int (*run)(struct machine *m, const struct operation *op); /* NULL: refused */
    enum cov_pickle_kind kind;
    int n;
};

static int op_proto(struct machine *m, const struct operation *op)
{
    uint64_t version;
    int rc = take_number(m, op->n, &version);
    if (!rc && (version < 2 || version > 5))
        rc = cov_fail(m->e, COV_EINPUT, "pickle protocol %d is not supported, only 2 to 5",
                      (int)version);
    return rc;
}

/* FRAME is only a hint for stream readers, that the next n bytes belong together. */
static int op_frame(struct machine *m, const struct operation *op)
{
    uint64_t n;
    int rc = take_number(m, op->n, &n);
    if (!rc && n > m->n - m->at)
        rc = damaged(m, "a frame extends past the end");
    return rc;
}

/* Pushes None, or an empty list, tuple, set or dict. */
static int op_empty(struct machine *m, const struct operation *op)
{
    return push(m, new_value(m, op->kind));
}

static int op_bool(struct machine *m, const struct operation *op)
{
    struct cov_pickle_value *v = new_value(m, COV_PICKLE_BOOL);
    if (v)
        v->u.boolean = op->n;
    return push(m, v);
}

static int push_int(struct machine *m, int64_t integer)
{
    struct cov_pickle_value *v = new_value(m, COV_PICKLE_INT);
    if (v)
        v->u.integer = integer;
    return push(m, v);
}

/* Integers of four bytes are signed; those of one and two bytes are unsigned. */
static int op_int(struct machine *m, const struct operation *op)
{
    uint64_t number;
    int rc = take_number(m, op->n, &number);
    if (rc)
        return rc;
    return push_int(m, op->n == 4 ? (int32_t)(uint32_t)number : (int64_t)number);
}

static int push_text(struct machine *m, enum cov_pickle_kind kind, const uint8_t *data, uint64_t n)
{
    struct cov_pickle_value *v = new_value(m, kind);
    if (v) {
        v->u.text.data = (const char *)data;
        v->u.text.n_bytes = (size_t)n;
    }
    return push(m, v);
}

/* Pushes a string or bytes, which follow their length. */
static int op_text(struct machine *m, const struct operation *op)
{
    uint64_t n;
    int rc = take_number(m, op->n, &n);
    if (rc)
        return rc;
    const uint8_t *p = take(m, n);
    return p ? push_text(m, op->kind, p, n) : COV_EINPUT;
}

/* Reads a length and as many bytes, an integer in little-endian two's complement; no bytes mean
 * 0. */
static int op_long(struct machine *m, const struct operation *op)
{
    uint64_t n;
    int rc = take_number(m, op->n, &n);
    if (rc)
        return rc;
    const uint8_t *p = take(m, n);
    if (!p)
        return COV_EINPUT;
    if (n > 8)
        return push_text(m, COV_PICKLE_LONG, p, n);
    uint64_t number = little_endian(p, (int)n);
    if (n > 0 && n < 8 && p[n - 1] & 0x80)
        number |= UINT64_MAX << (8 * n);
    return push_int(m, (int64_t)number);
}

/* Reads a big-endian double. */
static int op_float(struct machine *m, const struct operation *op)
{
    uint64_t bits;
    int rc = take_number(m, op->n, &bits);
    if (rc)
        return rc;
    bits = __builtin_bswap64(bits);
    struct cov_pickle_value *v = new_value(m, COV_PICKLE_FLOAT);
    if (v)
        memcpy(&v->u.number, &bits, sizeof bits);
    return push(m, v);
}

static int op_mark(struct machine *m, const struct operation *op)
{
    (void)op;
    if (m->n_marks >= MAX_DEPTH)
        return too_deep(m);
    int rc = COV_RESERVE(&m->marks, &m->cap_marks, m->n_marks + 1, m->e);
    if (!rc)
        m->marks[m->n_marks++] = m->n_stack;
    return rc;
}

/* Replaces stack[beg..] with a tuple or set of these values. */
static int collect(struct machine *m, enum cov_pickle_kind kind, size_t beg)
{
    struct cov_pickle_value *v = new_value(m, kind);
    if (!v)
        return COV_ENOMEM;
    int rc = add_items(m, v, m->stack + beg, m->n_stack - beg);
    m->n_stack = beg;
    return rc ? rc : push(m, v);
}

static int op_collect(struct machine *m, const struct operation *op)
{
    int rc = need(m, (size_t)op->n);
    return rc ? rc : collect(m, op->kind, m->n_stack - (size_t)op->n);
}

static int op_collect_marked(struct machine *m, const struct operation *op)
{
    size_t beg;
    int rc = pop_mark(m, &beg);
    return rc ? rc : collect(m, op->kind, beg);
}

/* Puts stack[beg..] into the value below them, which is a list, a set or, for pairs, a dict or
 * object. */
static int put_into(struct machine *m, enum cov_pickle_kind kind, size_t beg)
{
    size_t bottom = m->n_marks ? m->marks[m->n_marks - 1] : 0;
    if (beg <= bottom)
        return damaged(m, "stack underflow");
    size_t n = m->n_stack - beg;
    struct cov_pickle_value *whole = m->stack[beg - 1];
    bool pairs = kind == COV_PICKLE_DICT;
    if (!(whole->kind == kind || (pairs && whole->kind == COV_PICKLE_OBJECT)) || (pairs && n % 2))
        return damaged(m, "items added to a value that cannot hold them");
    int rc = add_items(m, whole, m->stack + beg, n);
    m->n_stack = beg;
    return rc;
}

static int op_put(struct machine *m, const struct operation *op)
{
    int rc = need(m, (size_t)op->n + 1);
    return rc ? rc : put_into(m, op->kind, m->n_stack - (size_t)op->n);
}

static int op_put_marked(struct machine *m, const struct operation *op)
{
    size_t beg;
    int rc = pop_mark(m, &beg);
    return rc ? rc : put_into(m, op->kind, beg);
}

/* Stores the topmost value in the memo, under the given index, or under the next index if n is
 * 0. */
static int op_memo_put(struct machine *m, const struct operation *op)
{
    uint64_t index = m->n_memo;
    int rc = op->n ? take_number(m, op->n, &index) : COV_OK;
    if (!rc)
        rc = need(m, 1);
    if (rc)
        return rc;
    /* Indices are consecutive and start at 0 or 1. */
    if (index > m->n_pushed)
        return damaged(m, "a memo index is too large");
    size_t before = m->cap_memo;
    rc = COV_RESERVE(&m->memo, &m->cap_memo, (size_t)index + 1, m->e);
    if (rc)
        return rc;
    memset(m->memo + before, 0, (m->cap_memo - before) * sizeof *m->memo);
    m->n_memo += !m->memo[index];
    m->memo[index] = top(m);
    return COV_OK;
}

static int op_memo_get(struct machine *m, const struct operation *op)
{
    uint64_t index;
    int rc = take_number(m, op->n, &index);
    if (rc)
        return rc;
    if (index >= m->cap_memo || !m->memo[index])
        return damaged(m, "a memo index was never stored");
    return push(m, m->memo[index]);
}

static int push_name(struct machine *m, const char *module, size_t n_module, const char *name,
                     size_t n_name)
{
    for (size_t i = 0; i < m->n_names; i++) {
        const struct cov_pickle_name *known = &m->names[i];
        if (strlen(known->module) == n_module && memcmp(known->module, module, n_module) == 0 &&
            strlen(known->name) == n_name && memcmp(known->name, name, n_name) == 0) {
            struct cov_pickle_value *v = new_value(m, COV_PICKLE_GLOBAL);
            if (v)
                v->u.global = known;
            return push(m, v);
        }
    }
    const size_t most = 100;
    return cov_fail(m->e, COV_EINPUT,
                    "pickle imports %.*s.%.*s, which is not allowed; nothing was executed",
                    (int)(n_module < most ? n_module : most), module,
                    (int)(n_name < most ? n_name : most), name);
}

/* Reads the next line of text, without its newline. */
static int take_line(struct machine *m, const char **line, size_t *n)
{
    const uint8_t *beg = m->data + m->at;
    const uint8_t *end = memchr(beg, '\n', m->n - m->at);
    if (!end)
        return damaged(m, "truncated name");
    *line = (const char *)beg;
    *n = (size_t)(end - beg);
    m->at += *n + 1;
    return COV_OK;
}

static int op_global(struct machine *m, const struct operation *op)
{
    (void)op;
    const char *module, *name;
    size_t n_module, n_name;
    int rc = take_line(m, &module, &n_module);
    if (!rc)
        rc = take_line(m, &name, &n_name);
    return rc ? rc : push_name(m, module, n_module, name, n_name);
}

static int op_stack_global(struct machine *m, const struct operation *op)
{
    (void)op;
    int rc = need(m, 2);
    if (rc)
        return rc;
    const struct cov_pickle_value *name = pop(m), *module = pop(m);
    if (name->kind != COV_PICKLE_STRING || module->kind != COV_PICKLE_STRING)
        return damaged(m, "a name that is not a string");
    return push_name(m, module->u.text.data, module->u.text.n_bytes, name->u.text.data,
                     name->u.text.n_bytes);
}

/* Records a call or a construction. */
static int op_object(struct machine *m, const struct operation *op)
{
    (void)op;
    int rc = need(m, 2);
    if (rc)
        return rc;
    struct cov_pickle_value *args = pop(m), *callee = pop(m);
    if (callee->kind != COV_PICKLE_GLOBAL || args->kind != COV_PICKLE_TUPLE)
        return damaged(m, "a call of a value that is not a function");
    struct cov_pickle_value *v = new_value(m, COV_PICKLE_OBJECT);
    if (!v)
        return COV_ENOMEM;
    rc = contain(m, v, callee);
    if (!rc)
        rc = contain(m, v, args);
    v->u.object.callee = callee;
    v->u.object.args = args;
    return rc ? rc : push(m, v);
}

static int op_build(struct machine *m, const struct operation *op)
{
    (void)op;
    int rc = need(m, 2);
    if (rc)
        return rc;
    struct cov_pickle_value *state = pop(m), *v = top(m);
    if (v->kind != COV_PICKLE_OBJECT || v->u.object.state)
        return damaged(m, "state set on a value that cannot hold it");
    rc = contain(m, v, state);
    if (!rc)
        v->u.object.state = state;
    return rc;
}

static int op_persistent(struct machine *m, const struct operation *op)
{
    (void)op;
    int rc = need(m, 1);
    if (rc)
        return rc;
    struct cov_pickle_value *id = pop(m), *v = new_value(m, COV_PICKLE_PERSISTENT);
    if (!v)
        return COV_ENOMEM;
    rc = contain(m, v, id);
    v->u.object.args = id;
    return rc ? rc : push(m, v);
}

/* INST is refused like other protocol 0 opcodes, but a name that is not allowed gets a better
 * message. */
static int op_inst(struct machine *m, const struct operation *op)
{
    int rc = op_global(m, op);
    return rc ? rc : refuse(m);
}

/* ---------------------------------------------------------------- running */

/* Indexed by opcode, from Lib/pickletools.py. Opcodes without a function are refused, because
 * torch.save does not write them. */
static const struct operation operations[256] = {
    [0x80] = {op_proto, 0, 1},                        /* PROTO */
    [0x95] = {op_frame, 0, 8},                        /* FRAME */
    ['N'] = {op_empty, COV_PICKLE_NONE, 0},           /* NONE */
    [0x88] = {op_bool, 0, 1},                         /* NEWTRUE */
    [0x89] = {op_bool, 0, 0},                         /* NEWFALSE */
    ['J'] = {op_int, 0, 4},                           /* BININT */
    ['K'] = {op_int, 0, 1},                           /* BININT1 */
    ['M'] = {op_int, 0, 2},                           /* BININT2 */
    [0x8a] = {op_long, 0, 1},                         /* LONG1 */
    [0x8b] = {op_long, 0, 4},                         /* LONG4 */
    ['G'] = {op_float, 0, 8},                         /* BINFLOAT */
    [0x8c] = {op_text, COV_PICKLE_STRING, 1},         /* SHORT_BINUNICODE */
    ['X'] = {op_text, COV_PICKLE_STRING, 4},          /* BINUNICODE */
    [0x8d] = {op_text, COV_PICKLE_STRING, 8},         /* BINUNICODE8 */
    ['C'] = {op_text, COV_PICKLE_BYTES, 1},           /* SHORT_BINBYTES */
    ['B'] = {op_text, COV_PICKLE_BYTES, 4},           /* BINBYTES */
    [0x8e] = {op_text, COV_PICKLE_BYTES, 8},          /* BINBYTES8 */
    [0x96] = {op_text, COV_PICKLE_BYTES, 8},          /* BYTEARRAY8 */
    ['('] = {op_mark, 0, 0},                          /* MARK */
    [')'] = {op_empty, COV_PICKLE_TUPLE, 0},          /* EMPTY_TUPLE */
    [0x85] = {op_collect, COV_PICKLE_TUPLE, 1},       /* TUPLE1 */
    [0x86] = {op_collect, COV_PICKLE_TUPLE, 2},       /* TUPLE2 */
    [0x87] = {op_collect, COV_PICKLE_TUPLE, 3},       /* TUPLE3 */
    ['t'] = {op_collect_marked, COV_PICKLE_TUPLE, 0}, /* TUPLE */
    [0x91] = {op_collect_marked, COV_PICKLE_SET, 0},  /* FROZENSET */
    [']'] = {op_empty, COV_PICKLE_LIST, 0},           /* EMPTY_LIST */
    ['a'] = {op_put, COV_PICKLE_LIST, 1},             /* APPEND */
    ['e'] = {op_put_marked, COV_PICKLE_LIST, 0},      /* APPENDS */
    ['}'] = {op_empty, COV_PICKLE_DICT, 0},           /* EMPTY_DICT */
    ['s'] = {op_put, COV_PICKLE_DICT, 2},             /* SETITEM */
    ['u'] = {op_put_marked, COV_PICKLE_DICT, 0},      /* SETITEMS */
    [0x8f] = {op_empty, COV_PICKLE_SET, 0},           /* EMPTY_SET */
    [0x90] = {op_put_marked, COV_PICKLE_SET, 0},      /* ADDITEMS */
    ['q'] = {op_memo_put, 0, 1},                      /* BINPUT */
    ['r'] = {op_memo_put, 0, 4},                      /* LONG_BINPUT */
    [0x94] = {op_memo_put, 0, 0},                     /* MEMOIZE */
    ['h'] = {op_memo_get, 0, 1},                      /* BINGET */
    ['j'] = {op_memo_get, 0, 4},                      /* LONG_BINGET */
    ['c'] = {op_global, 0, 0},                        /* GLOBAL */
    [0x93] = {op_stack_global, 0, 0},                 /* STACK_GLOBAL */
    ['R'] = {op_object, 0, 0},                        /* REDUCE */
    [0x81] = {op_object, 0, 0},                       /* NEWOBJ */
    ['b'] = {op_build, 0, 0},                         /* BUILD */
    ['Q'] = {op_persistent, 0, 0},                    /* BINPERSID */
    ['i'] = {op_inst, 0, 0},                          /* INST */
};

static int run(struct machine *m)
{
    for (;;) {
        m->op_at = m->at;
        const uint8_t *code = take(m, 1);
        if (!code)
            return COV_EINPUT;
        if (*code == '.') /* STOP */
            break;
        const struct operation *op = &operations[*code];
        int rc = op->run ? op->run(m, op) : refuse(m);
        if (rc)
            return rc;
    }
    if (m->n_stack != 1 || m->n_marks)
        return damaged(m, "values left over at the end");
    if (m->at != m->n)
        return damaged(m, "trailing bytes");
    m->p->root = pop(m);
    return COV_OK;
}

int cov_pickle_read(const void *data, size_t n, const struct cov_pickle_name *names, size_t n_names,
                    struct cov_pickle **out, struct cov_err *e)
{
    struct machine m = {.data = data, .n = n, .names = names, .n_names = n_names, .e = e};
    *out = NULL;
    m.p = cov_calloc(1, sizeof *m.p, e);
    if (!m.p)
        return COV_ENOMEM;
    int rc = reserve_stack(&m);
    if (!rc)
        rc = run(&m);
    free(m.stack);
    free(m.marks);
    free(m.memo);
    if (rc) {
        cov_pickle_free(m.p);
        return rc;
    }
    *out = m.p;
    return COV_OK;
}

void cov_pickle_free(struct cov_pickle *p)
{
    if (!p)
        return;
    while (p->blocks) {
        struct block *b = p->blocks;
        p->blocks = b->next;
        for (size_t i = 0; i < b->n; i++)
            free(b->values[i].items);
        free(b);
    }
    free(p);
}

const struct cov_pickle_value *cov_pickle_root(const struct cov_pickle *p)
{
    return p->root;
}

/* ---------------------------------------------------------------- accessing values */

bool cov_pickle_is_string(const struct cov_pickle_value *v, const char *text)
{
    return v->kind == COV_PICKLE_STRING && v->u.text.n_bytes == strlen(text) &&
           memcmp(v->u.text.data, text, v->u.text.n_bytes) == 0;
}

const struct cov_pickle_value *cov_pickle_get(const struct cov_pickle_value *v, const char *key)
{
    if (v->kind != COV_PICKLE_DICT && v->kind != COV_PICKLE_OBJECT)
        return NULL;
    for (size_t i = v->n_items; i >= 2; i -= 2)
        if (cov_pickle_is_string(v->items[i - 2], key))
            return v->items[i - 1];
    return NULL;
}

int cov_pickle_string(const struct cov_pickle_value *v, char **out, struct cov_err *e)
{
    *out = NULL;
    if (v->kind != COV_PICKLE_STRING)
        return cov_fail(e, COV_EINPUT, "expected a string, found type %s", cov_pickle_type(v));
    if (memchr(v->u.text.data, 0, v->u.text.n_bytes))
        return cov_fail(e, COV_EINPUT, "a string contains a zero byte");
    *out = cov_strndup(v->u.text.data, v->u.text.n_bytes, e);
    return *out ? COV_OK : COV_ENOMEM;
}

const char *cov_pickle_type(const struct cov_pickle_value *v)
{
    switch (v->kind) {
    case COV_PICKLE_NONE:
        return "None";
    case COV_PICKLE_BOOL:
        return "bool";
    case COV_PICKLE_INT:
    case COV_PICKLE_LONG:
        return "int";
    case COV_PICKLE_FLOAT:
        return "float";
    case COV_PICKLE_STRING:
        return "str";
    case COV_PICKLE_BYTES:
        return "bytes";
    case COV_PICKLE_LIST:
        return "list";
    case COV_PICKLE_TUPLE:
        return "tuple";
    case COV_PICKLE_SET:
        return "set";
    case COV_PICKLE_DICT:
        return "dict";
    case COV_PICKLE_GLOBAL:
        return v->u.global->name;
    case COV_PICKLE_OBJECT:
        return v->u.object.callee->u.global->name;
    case COV_PICKLE_PERSISTENT:
        break;
    }
    return "persistent id";
}
