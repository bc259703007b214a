/* flame.c - flame graphs of perf samples.
 *
 * After Gregg, "The flame graph", 2016.
 * SPDX-License-Identifier: MIT */
#include "tools/benchmark/bench.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

enum { MAX_DEPTH = 48, NAME = 80, WIDTH = 900, ROW = 17, TOP = 34, LETTER = 7, MARGIN = 10 };

struct node {
    char name[NAME];
    size_t n;           /* samples */
    size_t first, next; /* first callee, next sibling; 0: none */
};

struct tree {
    struct node *nodes; /* nodes[0] is the root */
    size_t n, cap, depth;
};

static int find_child(struct tree *t, size_t parent, const char *name, size_t *out,
                      struct cov_err *e)
{
    for (size_t i = t->nodes[parent].first; i; i = t->nodes[i].next)
        if (strcmp(t->nodes[i].name, name) == 0) {
            *out = i;
            return COV_OK;
        }
    if (COV_RESERVE(&t->nodes, &t->cap, t->n + 1, e))
        return COV_ENOMEM;
    struct node *node = &t->nodes[t->n];
    *node = (struct node){.next = t->nodes[parent].first};
    (void)snprintf(node->name, sizeof node->name, "%s", name);
    t->nodes[parent].first = *out = t->n++;
    return COV_OK;
}

/* "  7f12 cov_gemm+0x12 (/lib/libcov.so)" -> "cov_gemm" */
static void take_name(const char *line, size_t n, char name[NAME])
{
    const char *p = line, *end = line + n;
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    while (p < end && *p != ' ')
        p++; /* the address */
    while (p < end && *p == ' ')
        p++;
    const char *stop = p;
    while (stop < end && *stop != '+' && !(stop[0] == ' ' && stop + 1 < end && stop[1] == '('))
        stop++;
    (void)snprintf(name, NAME, "%.*s", (int)(stop - p < NAME - 1 ? stop - p : NAME - 1), p);
}

/* A stack sample: names[0] is the innermost function, names[n - 1] the outermost. */
static int add_sample(struct tree *t, char (*names)[NAME], size_t n, struct cov_err *e)
{
    size_t at = 0, depth = 0;
    int rc = COV_OK;
    t->nodes[0].n++;
    for (size_t i = n; i > 0 && !rc; i--) {
        if (strcmp(names[i - 1], "[unknown]") == 0)
            continue;
        rc = find_child(t, at, names[i - 1], &at, e);
        if (!rc)
            t->nodes[at].n++;
        depth++;
    }
    t->depth = depth > t->depth ? depth : t->depth;
    return rc;
}

static int read_samples(struct tree *t, const char *text, size_t n, struct cov_err *e)
{
    char(*names)[NAME] = cov_calloc(MAX_DEPTH, sizeof *names, e);
    size_t depth = 0;
    int rc = names ? COV_OK : COV_ENOMEM;
    bool inside = false;
    for (const char *p = text, *end = text + n; p < end && !rc;) {
        const char *line_end = memchr(p, '\n', (size_t)(end - p));
        size_t k = (size_t)((line_end ? line_end : end) - p);
        if (k == 0 && inside) {
            rc = add_sample(t, names, depth, e);
            inside = false;
        } else if (k > 0 && p[0] != ' ' && p[0] != '\t') {
            inside = true;
            depth = 0;
        } else if (k > 0 && inside && depth < MAX_DEPTH) {
            take_name(p, k, names[depth++]);
        }
        p += k + 1;
    }
    if (!rc && inside)
        rc = add_sample(t, names, depth, e);
    free(names);
    return rc;
}

/* ---------------------------------------------------------------- drawing */

/* Returns a warm colour that depends only on the name. */
static unsigned colour(const char *name)
{
    uint32_t h = 2166136261U;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 16777619U;
    return (205 + h % 50) << 16 | (90 + h / 64 % 120) << 8 | (30 + h / 8192 % 40);
}

struct box {
    size_t node, depth;
    double x, width;
};

static void put_box(const struct tree *t, const struct box *b, int height, FILE *f)
{
    const struct node *node = &t->nodes[b->node];
    double part = 100 * (double)node->n / (double)t->nodes[0].n;
    int y = height - MARGIN - (int)(b->depth + 1) * ROW;
    (void)fprintf(f, "<g><title>");
    bench_put_text(node->name, f);
    (void)fprintf(f,
                  " %.1f %%</title><rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" "
                  "fill=\"#%06x\" rx=\"1\"/>",
                  part, b->x, y, b->width > 0.5 ? b->width - 0.4 : b->width, ROW - 1,
                  b->depth ? colour(node->name) : 0xd8d8d8);
    if ((double)strlen(node->name) * LETTER <= b->width) { /* otherwise only the title has it */
        (void)fprintf(f, "<text x=\"%.1f\" y=\"%d\">", b->x + 3, y + ROW - 5);
        bench_put_text(node->name, f);
        (void)fprintf(f, "</text>");
    }
    (void)fprintf(f, "</g>\n");
}

static int draw(const struct tree *t, const char *title, FILE *f, struct cov_err *e)
{
    int height = TOP + (int)(t->depth + 1) * ROW + 2 * MARGIN;
    size_t cap = 0, n = 1;
    struct box *stack = NULL;
    if (COV_RESERVE(&stack, &cap, t->n + 1, e))
        return COV_ENOMEM;
    (void)fprintf(f,
                  "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/"
                  "svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" font-family=\"DejaVu "
                  "Sans, sans-serif\" font-size=\"11\" fill=\"#222222\">\n<rect width=\"%d\" "
                  "height=\"%d\" fill=\"#ffffff\"/>\n<text x=\"%d\" y=\"22\" font-size=\"13\" "
                  "text-anchor=\"middle\">",
                  WIDTH, height, WIDTH, height, WIDTH, height, WIDTH / 2);
    bench_put_text(title, f);
    (void)fprintf(f, "</text>\n");
    stack[0] = (struct box){0, 0, MARGIN, WIDTH - 2 * MARGIN};
    while (n > 0) {
        struct box b = stack[--n];
        put_box(t, &b, height, f);
        double x = b.x, each = b.width / (double)t->nodes[b.node].n;
        for (size_t i = t->nodes[b.node].first; i; i = t->nodes[i].next) {
            double width = each * (double)t->nodes[i].n;
            if (width >= 0.3)
                stack[n++] = (struct box){i, b.depth + 1, x, width};
            x += width;
        }
    }
    (void)fprintf(f, "</svg>\n");
    free(stack);
    return COV_OK;
}

int flame_draw(const char *text, size_t n, const char *title, FILE *out, struct cov_err *e)
{
    struct tree t = {0};
    if (COV_RESERVE(&t.nodes, &t.cap, 64, e))
        return COV_ENOMEM;
    t.nodes[0] = (struct node){.name = "all"};
    t.n = 1;
    int rc = read_samples(&t, text, n, e);
    if (!rc && t.nodes[0].n == 0)
        rc = cov_fail(e, COV_EINPUT, "no samples");
    if (!rc)
        rc = draw(&t, title, out, e);
    free(t.nodes);
    return rc;
}
