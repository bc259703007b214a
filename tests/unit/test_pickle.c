/* test_pickle.c - reading pickles as data, and writing them.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/rng.h"
#include "common/ckpt/pickle.h"
#include "common/ckpt/pickle_writer.h"

static const struct cov_pickle_name names[] = {
    {"collections", "OrderedDict", 7},
    {"torch", "FloatStorage", 8},
};

/* A string literal and its bytes, without the final zero. */
#define LITERAL(text) (text), sizeof(text) - 1

static struct cov_pickle *last;

static int free_last(void **state)
{
    cov_pickle_free(last);
    last = NULL;
    return 0;
}

/* Returns the root of a pickle, which lives until the next call. */
static const struct cov_pickle_value *good(const char *text, size_t n)
{
    (void)free_last(NULL);
    assert_ok(cov_pickle_read(text, n, names, COV_COUNT(names), &last, &e));
    return cov_pickle_root(last);
}

/* Checks that reading fails with an error text that contains `message`. */
static void bad(const char *text, size_t n, const char *message)
{
    struct cov_pickle *p = NULL;
    /* The copy has the exact size, so that a sanitizer notices reads past the end. */
    char *copy = must(malloc(n ? n : 1));
    memcpy(copy, text, n);
    assert_fails(cov_pickle_read(copy, n, names, COV_COUNT(names), &p, &e), COV_EINPUT, message);
    free(copy);
    assert_null(p);
}

TEST(scalars)
{
    static const struct {
        const char *text;
        size_t n;
        int64_t value;
    } ints[] = {
        {LITERAL("K\xff."), 255},
        {LITERAL("M\x88S."), 21384},
        {LITERAL("J\xff\xff\xff\xff."), -1},
        {LITERAL("J\0\0\0\x80."), INT32_MIN},
        {LITERAL("\x8a\0."), 0},
        {LITERAL("\x8a\1\xff."), -1},
        {LITERAL("\x8a\2\xff\0."), 255},
        {LITERAL("\x8a\7\0\0\0\0\0\0\x80."), -((int64_t)1 << 55)},
        {LITERAL("\x8a\x08\0\0\0\0\0\0\0\x80."), INT64_MIN},
        {LITERAL("\x8b\1\0\0\0\x7f."), 127},
    };
    for (size_t i = 0; i < COV_COUNT(ints); i++) {
        const struct cov_pickle_value *v = good(ints[i].text, ints[i].n);
        assert_int_equal(v->kind, COV_PICKLE_INT);
        assert_true(v->u.integer == ints[i].value);
    }
    const struct cov_pickle_value *v = good(LITERAL("\x80\2G\x3f\x50\x62\x4d\xd2\xf1\xa9\xfc."));
    assert_int_equal(v->kind, COV_PICKLE_FLOAT);
    assert_true(v->u.number == 0.001);
    v = good(LITERAL("\x8a\x09\0\0\0\0\0\0\0\0\1."));
    assert_int_equal(v->kind, COV_PICKLE_LONG);
    assert_int_equal(v->u.text.n_bytes, 9);
    assert_string_equal(cov_pickle_type(v), "int");
    v = good(LITERAL("\x88."));
    assert_true(v->kind == COV_PICKLE_BOOL && v->u.boolean);
    v = good(LITERAL("\x89."));
    assert_true(v->kind == COV_PICKLE_BOOL && !v->u.boolean);
    assert_int_equal(good(LITERAL("N."))->kind, COV_PICKLE_NONE);
}

TEST(texts)
{
    static const struct {
        const char *text;
        size_t n;
        enum cov_pickle_kind kind;
    } all[] = {
        {LITERAL("X\3\0\0\0abc."), COV_PICKLE_STRING},
        {LITERAL("\x8c\3abc."), COV_PICKLE_STRING},
        {LITERAL("\x8d\3\0\0\0\0\0\0\0abc."), COV_PICKLE_STRING},
        {LITERAL("B\3\0\0\0abc."), COV_PICKLE_BYTES},
        {LITERAL("C\3abc."), COV_PICKLE_BYTES},
        {LITERAL("\x8e\3\0\0\0\0\0\0\0abc."), COV_PICKLE_BYTES},
        {LITERAL("\x96\3\0\0\0\0\0\0\0abc."), COV_PICKLE_BYTES},
    };
    for (size_t i = 0; i < COV_COUNT(all); i++) {
        const struct cov_pickle_value *v = good(all[i].text, all[i].n);
        char *copy = NULL;
        assert_int_equal(v->kind, all[i].kind);
        assert_int_equal(v->u.text.n_bytes, 3);
        assert_memory_equal(v->u.text.data, "abc", 3);
        assert_int_equal(cov_pickle_is_string(v, "abc"), v->kind == COV_PICKLE_STRING);
        assert_false(cov_pickle_is_string(v, "abcd"));
        assert_int_equal(cov_pickle_string(v, &copy, NULL),
                         v->kind == COV_PICKLE_STRING ? COV_OK : COV_EINPUT);
        if (copy)
            assert_string_equal(copy, "abc");
        free(copy);
    }
    char *copy;
    assert_int_equal(cov_pickle_string(good(LITERAL("X\3\0\0\0a\0c.")), &copy, NULL), COV_EINPUT);
    assert_null(copy);
}

static int64_t item(const struct cov_pickle_value *v, size_t i)
{
    assert_true(i < v->n_items);
    assert_int_equal(v->items[i]->kind, COV_PICKLE_INT);
    return v->items[i]->u.integer;
}

/* {"a": [1, 2, 3], "b": (4, (5,), (6, 7), (8, 9, 10)), "c": <"a"'s list>, "a": {11}, 12:
 * frozenset((13,))} */
TEST(containers)
{
    const struct cov_pickle_value *root =
        good(LITERAL("\x80\4\x95\1\0\0\0\0\0\0\0}\x94(\x8c\1"
                     "a\x94]\x94(K\1K\2eK\3a"
                     "\x8c\1"
                     "b(K\4K\5\x85K\6K\7\x86K\x08K\x09K\x0a\x87t\x8c\1"
                     "ch\2"
                     "h\1\x8f(K\x0b\x90K\x0c(K\x0d\x91u."));
    assert_int_equal(root->kind, COV_PICKLE_DICT);
    assert_int_equal(root->n_items, 10);
    assert_int_equal(root->depth, 3);
    const struct cov_pickle_value *list = root->items[1], *tuple = cov_pickle_get(root, "b");
    assert_int_equal(list->kind, COV_PICKLE_LIST);
    assert_int_equal(list->n_items, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(item(list, i), i + 1);
    assert_ptr_equal(cov_pickle_get(root, "c"), list);
    assert_int_equal(tuple->kind, COV_PICKLE_TUPLE);
    assert_int_equal(tuple->n_items, 4);
    assert_int_equal(item(tuple->items[1], 0), 5);
    assert_int_equal(item(tuple->items[2], 1), 7);
    assert_int_equal(item(tuple->items[3], 2), 10);
    /* The last value of a key wins, as in Python. */
    assert_int_equal(cov_pickle_get(root, "a")->kind, COV_PICKLE_SET);
    assert_int_equal(item(cov_pickle_get(root, "a"), 0), 11);
    assert_int_equal(root->items[9]->kind, COV_PICKLE_SET);
    assert_int_equal(item(root->items[9], 0), 13);
    assert_null(cov_pickle_get(root, "d"));
    assert_null(cov_pickle_get(list, "a"));
}

/* Reads an OrderedDict() with an item and a state, and a persistent id that is a tuple. */
TEST(objects)
{
    static const char *const makers[] = {"ccollections\nOrderedDict\n)R",
                                         "\x8c\x0b"
                                         "collections\x8c\x0bOrderedDict\x93)\x81"};
    for (size_t i = 0; i < COV_COUNT(makers); i++) {
        static const char rest[] = "\x8c\1kctorch\nFloatStorage\nK\1\x86Qs}b.";
        char text[200];
        size_t n = strlen(makers[i]);
        memcpy(text, makers[i], n);
        memcpy(text + n, rest, sizeof rest);
        const struct cov_pickle_value *v = good(text, n + sizeof rest - 1), *id;
        assert_int_equal(v->kind, COV_PICKLE_OBJECT);
        assert_string_equal(cov_pickle_type(v), "OrderedDict");
        assert_int_equal(v->u.object.callee->u.global->tag, 7);
        assert_int_equal(v->u.object.args->n_items, 0);
        assert_int_equal(v->u.object.state->kind, COV_PICKLE_DICT);
        id = cov_pickle_get(v, "k");
        assert_int_equal(id->kind, COV_PICKLE_PERSISTENT);
        assert_string_equal(cov_pickle_type(id), "persistent id");
        assert_string_equal(cov_pickle_type(id->u.object.args->items[0]), "FloatStorage");
    }
}

/* Every way to name or call a function is refused. */
TEST(nothing_is_executed)
{
    static const struct {
        const char *text;
        size_t n;
        const char *message;
    } all[] = {
        /* GLOBAL and REDUCE: what pickle.dumps writes for __reduce__ */
        {LITERAL("\x80\2cos\nsystem\nX\2\0\0\0id\x85R."), "imports os.system,"},
        {LITERAL("cposix\nsystem\n(X\2\0\0\0idtR."), "imports posix.system,"},
        {LITERAL("c__builtin__\neval\nX\1\0\0\0001\x85R."), "imports __builtin__.eval,"},
        {LITERAL("cbuiltins\nexec\nX\1\0\0\0001\x85R."), "imports builtins.exec,"},
        {LITERAL("ccollections\nOrderedDict.fromkeys\n)R."), "collections.OrderedDict.fromkeys,"},
        {LITERAL("ccollections.abc\nOrderedDict\n)R."), "imports collections.abc.OrderedDict,"},
        {LITERAL("ccollections\norderedDict\n)R."), "imports collections.orderedDict,"},
        {LITERAL("c\n\n)R."), "imports ., which"},
        {LITERAL("cos\nsys\ttem\x1b[2J\n)R."), "imports os.sys?tem?[2J,"},
        /* STACK_GLOBAL */
        {LITERAL("\x80\4\x8c\2os\x8c\6system\x93\x8c\2id\x85R."), "imports os.system,"},
        {LITERAL("\x80\4\x8c\2os\x8c\6system\x93."), "imports os.system,"},
        {LITERAL("\x80\4K\1K\2\x93."), "a name that is not a string"},
        {LITERAL("\x80\4C\2osC\6system\x93."), "a name that is not a string"},
        /* INST, OBJ, NEWOBJ, NEWOBJ_EX, BUILD */
        {LITERAL("(X\2\0\0\0idios\nsystem\n."), "imports os.system,"},
        {LITERAL("(icollections\nOrderedDict\n."), "opcode 0x69"},
        {LITERAL("(cos\nsystem\nX\2\0\0\0ido."), "imports os.system,"},
        {LITERAL("(ccollections\nOrderedDict\no."), "opcode 0x6f at byte 26,"},
        {LITERAL("cos\nsystem\nX\2\0\0\0id\x85\x81."), "imports os.system,"},
        {LITERAL("ccollections\nOrderedDict\n)}\x92."), "opcode 0x92"},
        {LITERAL("cos\nsystem\n}b."), "imports os.system,"},
        {LITERAL("ccollections\nOrderedDict\n}b."), "state set on a value that cannot hold it"},
        {LITERAL("]}b."), "state set on a value that cannot hold it"},
        {LITERAL("ccollections\nOrderedDict\n)R}b}b."), "state set on a value that cannot hold it"},
        /* calls of values that are not names */
        {LITERAL("X\2\0\0\0os)R."), "a call of a value that is not a function"},
        {LITERAL("ccollections\nOrderedDict\n)R)R."), "a call of a value that is not a function"},
        {LITERAL("ccollections\nOrderedDict\n]R."), "a call of a value that is not a function"},
        {LITERAL("K\1)\x81."), "a call of a value that is not a function"},
        /* registered extensions, and textual ids */
        {LITERAL("\x82\1."), "opcode 0x82"},
        {LITERAL("\x83\1\0."), "opcode 0x83"},
        {LITERAL("\x84\1\0\0\0."), "opcode 0x84"},
        {LITERAL("Pos.system\n."), "opcode 0x50"},
        /* protocol 0 */
        {LITERAL("cos\nsystem\n(S'id'\ntR."), "imports os.system,"},
        {LITERAL("(lp0\nI1\na."), "opcode 0x6c"},
    };
    for (size_t i = 0; i < COV_COUNT(all); i++)
        bad(all[i].text, all[i].n, all[i].message);
    /* Very long names are shortened. */
    char text[1000];
    memset(text, 'x', sizeof text);
    text[0] = 'c';
    text[500] = text[900] = '\n';
    bad(text, 901, "which is not allowed; nothing was executed");
}

TEST(every_code)
{
    /* A pickle of a single opcode is valid only if the opcode pushes a value. No opcode may cause a
     * crash. */
    for (int code = 0; code < 256; code++) {
        char text[64] = {(char)code};
        for (size_t n = 1; n < sizeof text; n++) {
            struct cov_pickle *p = NULL;
            struct cov_err e = COV_ERR_INIT;
            if (cov_pickle_read(text, n, names, COV_COUNT(names), &p, &e) == 0)
                assert_non_null(p);
            else
                assert_true(e.code == COV_EINPUT && e.text[0]);
            cov_pickle_free(p);
        }
    }
    bad(LITERAL("\xff."), "opcode 0xff at byte 0");
    bad(LITERAL("NZ."), "opcode 0x5a at byte 1");
}

TEST(damaged)
{
    static const struct {
        const char *text;
        size_t n;
        const char *message;
    } all[] = {
        {LITERAL(""), "truncated operation"},
        {LITERAL("."), "values left over"},
        {LITERAL("NN."), "values left over"},
        {LITERAL("(N."), "values left over"},
        {LITERAL("N.N"), "trailing bytes"},
        {LITERAL("\x80\1N."), "protocol 1"},
        {LITERAL("\x80\6N."), "protocol 6"},
        {LITERAL("\x95\xff\xff\xff\xff\xff\xff\xff\xffN."), "a frame extends past the end"},
        {LITERAL("X\xff\xff\xff\xff"
                 "abc."),
         "truncated operation"},
        {LITERAL("\x8d\xff\xff\xff\xff\xff\xff\xff\xff"
                 "abc."),
         "truncated operation"},
        {LITERAL("\x8e\0\0\0\0\0\0\0\x80"
                 "abc."),
         "truncated operation"},
        {LITERAL("\x8b\xff\xff\xff\x7f\1."), "truncated operation"},
        {LITERAL("\x8b\xff\xff\xff\xff\1."), "truncated operation"},
        {LITERAL("cos"), "truncated name"},
        {LITERAL("cos\nsystem"), "truncated name"},
        {LITERAL("h\0."), "never stored"},
        {LITERAL("Nq\1h\0."), "never stored"},
        {LITERAL("Nq\1j\xff\xff\xff\xff."), "never stored"},
        {LITERAL("q\0."), "stack underflow"},
        {LITERAL("\x94."), "stack underflow"},
        {LITERAL("a."), "stack underflow"},
        {LITERAL("Na."), "stack underflow"},
        {LITERAL("NNa."), "cannot hold them"},
        {LITERAL(")Na."), "cannot hold them"},
        {LITERAL("]NNs."), "cannot hold them"},
        {LITERAL("}(Nu."), "cannot hold them"},
        {LITERAL("}(NNe."), "cannot hold them"},
        {LITERAL("]N(\x90."), "cannot hold them"},
        {LITERAL("](a."), "stack underflow"},
        {LITERAL("]N(a."), "stack underflow"},
        {LITERAL("]((u."), "stack underflow"},
        {LITERAL("e."), "missing mark"},
        {LITERAL("t."), "missing mark"},
        {LITERAL("(e."), "stack underflow"},
        {LITERAL("\x85."), "stack underflow"},
        {LITERAL("N\x86."), "stack underflow"},
        {LITERAL("NN\x87."), "stack underflow"},
        {LITERAL("N(R."), "stack underflow"},
        {LITERAL("Q."), "stack underflow"},
        /* structures that contain themselves */
        {LITERAL("]q\0h\0a."), "contains itself"},
        {LITERAL("]q\0]q\1h\0aa."), "contains itself"},
        {LITERAL("}q\0K\1h\0s."), "contains itself"},
        {LITERAL("]q\0\x85q\1h\0h\1a."), "contains itself"},
        {LITERAL("]q\0\x85h\0N"
                 "a\x86."),
         "contains itself"},
        {LITERAL("ccollections\nOrderedDict\n)Rq\0h\0b."), "contains itself"},
    };
    for (size_t i = 0; i < COV_COUNT(all); i++)
        bad(all[i].text, all[i].n, all[i].message);
}

TEST(limits)
{
    enum { DEPTH = 100, VALUES = 4 << 20 };
    char *text = unit_alloc(VALUES + 10);
    bad(LITERAL("Nq\2."), "a memo index is too large");
    bad(LITERAL("Nr\xff\xff\xff\xff."), "a memo index is too large");
    /* A list of n values has n + 1. */
    for (size_t more = 0; more < 2; more++) {
        size_t n = VALUES - 1 + more;
        text[0] = ']';
        text[1] = '(';
        memset(text + 2, 'N', n);
        text[2 + n] = 'e';
        text[3 + n] = '.';
        if (more)
            bad(text, n + 4, "more than 4194304 values");
        else
            (void)good(text, n + 4);
    }
    for (size_t more = 0; more < 2; more++) {
        size_t n = DEPTH + more;
        memset(text, ']', n + 1);
        memset(text + n + 1, 'a', n);
        text[2 * n + 1] = '.';
        if (more)
            bad(text, 2 * n + 2, "nests values more than 100 deep");
        else
            assert_int_equal(good(text, 2 * n + 2)->depth, DEPTH);
    }
    /* Repeats every opcode that nests values a million times. */
    static const char *const nests[] = {"]a", "(t", "N\x85", "}\x8f", "((", "QQ"};
    for (size_t i = 0; i < COV_COUNT(nests); i++) {
        const size_t n = 1000000;
        text[0] = 'N';
        memset(text + 1, nests[i][0], n);
        memset(text + n, nests[i][1], n);
        bad(text, 2 * n, "");
    }
    /* Each list contains the previous one twice, which makes 2^90 paths, but only 91 values. */
    static const char first[] = {'(', ']', 'q', 0};
    size_t n = sizeof first;
    memcpy(text, first, n);
    for (int i = 0; i < 90; i++) {
        const char step[] = {']', 'q', (char)(i + 1), '(', 'h', (char)i, 'h', (char)i, 'e'};
        memcpy(text + n, step, sizeof step);
        n += sizeof step;
    }
    text[n++] = 't';
    text[n++] = '.';
    assert_int_equal(good(text, n)->depth, 91);
}

TEST(writing)
{
    static const int64_t ints[] = {0,
                                   255,
                                   256,
                                   65535,
                                   65536,
                                   -1,
                                   INT32_MAX,
                                   INT32_MIN,
                                   INT64_MAX,
                                   INT64_MIN,
                                   INT32_MAX + (int64_t)1};
    static const double doubles[] = {0, -0.0, 0.001, 1e300, -1.5, INFINITY};
    struct cov_pickle_writer w = COV_PICKLE_WRITER_INIT;
    cov_pickle_begin(&w);
    cov_pickle_begin_ordered_dict(&w);
    cov_pickle_text(&w, "ints");
    cov_pickle_begin_list(&w);
    for (size_t i = 0; i < COV_COUNT(ints); i++)
        cov_pickle_int(&w, ints[i]);
    cov_pickle_end_list(&w);
    cov_pickle_text(&w, "doubles");
    cov_pickle_begin_tuple(&w);
    for (size_t i = 0; i < COV_COUNT(doubles); i++)
        cov_pickle_float(&w, doubles[i]);
    cov_pickle_end_tuple(&w);
    cov_pickle_text(&w, "others");
    cov_pickle_begin_dict(&w);
    cov_pickle_none(&w);
    cov_pickle_bool(&w, true);
    cov_pickle_bool(&w, false);
    cov_pickle_global(&w, "torch", "FloatStorage");
    cov_pickle_persistent(&w);
    cov_pickle_end_dict(&w);
    cov_pickle_end_dict(&w);
    assert_ok(cov_pickle_stop(&w, &e));

    const struct cov_pickle_value *root = good((const char *)w.data, w.n_bytes),
                                  *v = cov_pickle_get(root, "ints");
    assert_string_equal(cov_pickle_type(root), "OrderedDict");
    assert_int_equal(v->n_items, COV_COUNT(ints));
    for (size_t i = 0; i < COV_COUNT(ints); i++)
        assert_true(item(v, i) == ints[i]);
    v = cov_pickle_get(root, "doubles");
    assert_int_equal(v->n_items, COV_COUNT(doubles));
    for (size_t i = 0; i < COV_COUNT(doubles); i++)
        assert_memory_equal(&v->items[i]->u.number, &doubles[i], sizeof(double));
    v = cov_pickle_get(root, "others");
    assert_int_equal(v->items[0]->kind, COV_PICKLE_NONE);
    assert_true(v->items[1]->u.boolean && !v->items[2]->u.boolean);
    assert_int_equal(v->items[3]->kind, COV_PICKLE_PERSISTENT);

    /* Any truncation is an error; no change may cause a crash. */
    for (size_t n = 0; n < w.n_bytes; n++)
        bad((const char *)w.data, n, "truncated");
    struct cov_rng rng;
    cov_rng_init(&rng, 1);
    for (size_t i = 0; i < 8 * w.n_bytes; i++) {
        w.data[i / 8] ^= (uint8_t)(1 << (i % 8));
        size_t other = (size_t)cov_rng_below(&rng, w.n_bytes);
        uint8_t was = w.data[other];
        for (int round = 0; round < 20; round++) {
            struct cov_pickle *p;
            if (cov_pickle_read(w.data, w.n_bytes, names, COV_COUNT(names), &p, NULL) == 0)
                cov_pickle_free(p);
            w.data[other] = (uint8_t)cov_rng_next(&rng);
        }
        w.data[other] = was;
        w.data[i / 8] ^= (uint8_t)(1 << (i % 8));
    }
    (void)good((const char *)w.data, w.n_bytes);
    free(w.data);
}

TEST_GROUP(NULL, free_last)
