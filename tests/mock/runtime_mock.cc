/* runtime_mock.cc - see runtime_mock.h.
 * SPDX-License-Identifier: MIT */
extern "C" {
#include "tests/mock/runtime_mock.h"
#include "common/compute/cuda/runtime.h"
}

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "common/compute/cuda/cuda_cards.h"
#include "tests/mock/simt_emulated.h"

/* Also used by cublas_mock.cc. */
extern "C" long runtime_mock_setting(const char *name, long otherwise)
{
    const char *text = getenv("COVTOOLS_MOCK");
    size_t n = strlen(name);
    while (text && *text) {
        if (strncmp(text, name, n) == 0 && text[n] == '=')
            return strtol(text + n + 1, nullptr, 10);
        text = strchr(text, ',');
        text = text ? text + 1 : nullptr;
    }
    return otherwise;
}

namespace
{

enum { PAGE = 4096, MAX_CARDS = 8 };

struct Stream {
    int card;
    std::vector<std::function<void()>> queue;
    std::vector<std::function<void()>> *recording = nullptr;
};

struct Block {
    int card;
    char *pages;
    size_t bytes; /* whole pages, without guard pages */
    size_t asked;
};

/* Only one card computes at a time. */
std::mutex lock;
std::map<void *, Block> blocks;
size_t used[MAX_CARDS], waits[MAX_CARDS], all_waits, refused, host_blocks, graphs, replays;

/* Streams with queued work, and the maximum so far. */
std::mutex queue_lock;
std::condition_variable queued_more;
size_t n_queued, most_queued;

bool no_driver(void)
{
    const char *text = getenv("COVTOOLS_MOCK");
    return text && strstr(text, "driver=no");
}

size_t n_allocations;

size_t memory_of_card(void)
{
    const bool limited = n_allocations >= (size_t)runtime_mock_setting("spare", 0);
    const long most = 128L << 20;
    return (size_t)(limited ? runtime_mock_setting("memory", most) : most);
}

void protect(int card, int how)
{
    for (auto &b : blocks)
        if (b.second.card == card && mprotect(b.second.pages + PAGE, b.second.bytes, how))
            abort();
}

thread_local int chosen_card;

/* Set by runtime_mock_idle. */
const char *idle_values;
size_t idle_bytes;
std::set<const void *> copied_in;      /* memory of cards */
std::map<const void *, size_t> filled; /* memory of the host: bytes */

} // namespace

void simt_queue(void *stream, std::function<void()> work)
{
    Stream *s = (Stream *)stream;
    if (s->recording) {
        s->recording->push_back(std::move(work));
        return;
    }
    if (idle_values)
        return;
    if (s->queue.empty()) {
        std::lock_guard<std::mutex> guard(queue_lock);
        n_queued++;
        most_queued = most_queued < n_queued ? n_queued : most_queued;
        queued_more.notify_all();
    }
    s->queue.push_back(std::move(work));
}

extern "C" {

int cov_rt_count(int *n, struct cov_err *e)
{
    *n = (int)runtime_mock_setting("cards", 1);
    if (no_driver())
        return cov_fail(e, COV_EUNSUPPORTED, "no working NVIDIA driver (libcuda.so.1)");
    return *n > 0 ? COV_OK : cov_fail(e, COV_EUNSUPPORTED, "the NVIDIA driver finds no GPU");
}

int cov_rt_describe(int card, struct cov_rt_card *out, struct cov_err *e)
{
    (void)e;
    *out = cov_rt_card{};
    snprintf(out->name, sizeof out->name, "Mock %c%s", 'A' + card,
             std::string((size_t)runtime_mock_setting("name", 0), '.').c_str());
    out->major = (int)runtime_mock_setting("major", 9);
    out->n_multiprocessors = (int)runtime_mock_setting("multiprocessors", 2);
    out->shared_bytes = (size_t)runtime_mock_setting("shared", 100 * 1024);
    return COV_OK;
}

int cov_rt_check(int card, struct cov_err *e)
{
    return cov_rt_use(card, e);
}

int cov_rt_use(int card, struct cov_err *e)
{
    chosen_card = card;
    return card < runtime_mock_setting("cards", 1) ? COV_OK
                                                   : cov_fail(e, COV_EIO, "choosing the GPU: none");
}

int cov_rt_free_bytes(int card, size_t *out, struct cov_err *e)
{
    std::lock_guard<std::mutex> guard(lock);
    (void)e;
    *out = memory_of_card() - used[card];
    /* Above 100: another process takes memory before this one does. */
    *out = *out * (size_t)runtime_mock_setting("free_percent", 100) / 100;
    return COV_OK;
}

int cov_rt_alloc(int card, size_t bytes, void **out, struct cov_err *e)
{
    std::lock_guard<std::mutex> guard(lock);
    *out = nullptr;
    if (used[card] + bytes > memory_of_card()) {
        refused++;
        return cov_fail(e, COV_ENOMEM, "memory: out of memory");
    }
    /* The block ends at the guard page, except for alignment. */
    size_t size = (bytes + PAGE - 1) / PAGE * PAGE + (bytes ? 0 : PAGE);
    char *pages =
        (char *)mmap(nullptr, size + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return cov_fail(e, COV_ENOMEM, "memory: out of memory");
    if (!idle_values) {
        if (mprotect(pages + PAGE, size, PROT_READ | PROT_WRITE))
            abort();
        memset(pages + PAGE, 0xff, size); /* NaN */
        if (mprotect(pages + PAGE, size, PROT_NONE))
            abort();
    }
    *out = pages + PAGE + (size - bytes) / 16 * 16;
    blocks[*out] = Block{card, pages, size, bytes};
    used[card] += bytes;
    n_allocations++;
    return COV_OK;
}

void cov_rt_free(int card, void *p)
{
    std::lock_guard<std::mutex> guard(lock);
    if (!p)
        return;
    auto at = blocks.find(p);
    if (at == blocks.end() || at->second.card != card)
        abort();
    used[card] -= at->second.asked;
    munmap(at->second.pages, at->second.bytes + 2 * PAGE);
    blocks.erase(at);
}

int cov_rt_alloc_host(int card, size_t bytes, void **out, struct cov_err *e)
{
    (void)card;
    *out = malloc(bytes ? bytes : 1);
    if (!*out)
        return cov_fail(e, COV_ENOMEM, "pinned memory: out of memory");
    std::lock_guard<std::mutex> guard(lock);
    host_blocks++;
    return COV_OK;
}

void cov_rt_free_host(int card, void *p)
{
    (void)card;
    if (!p)
        return;
    free(p);
    std::lock_guard<std::mutex> guard(lock);
    host_blocks--;
}

int cov_rt_stream_new(int card, void **out, struct cov_err *e)
{
    (void)e;
    *out = new Stream{card, {}, nullptr};
    return COV_OK;
}

void cov_rt_stream_free(int card, void *stream)
{
    (void)card;
    delete (Stream *)stream;
}

int cov_rt_copy_in(void *stream, void *card_memory, const void *host, size_t bytes,
                   struct cov_err *e)
{
    (void)e;
    if (idle_values) {
        std::lock_guard<std::mutex> guard(lock);
        copied_in.insert(card_memory);
    }
    simt_queue(stream, [=] { memcpy(card_memory, host, bytes); });
    return COV_OK;
}

int cov_rt_copy_out(void *stream, void *host, const void *card_memory, size_t bytes,
                    struct cov_err *e)
{
    (void)e;
    bool wrong = runtime_mock_setting("wrong", -1) == ((Stream *)stream)->card;
    if (idle_values) {
        std::lock_guard<std::mutex> guard(lock);
        size_t beg = filled[host] / idle_bytes * idle_bytes;
        for (size_t at = beg; copied_in.count(card_memory) == 0 && at < bytes; at += idle_bytes)
            memcpy((char *)host + at, idle_values, std::min(idle_bytes, bytes - at));
        filled[host] = std::max(filled[host], bytes);
    }
    simt_queue(stream, [=] {
        memcpy(host, card_memory, bytes);
        if (wrong)
            *(float *)host += 1;
    });
    return COV_OK;
}

typedef std::vector<std::function<void()>> Graph;

int cov_rt_record(void *stream, struct cov_err *e)
{
    Stream *s = (Stream *)stream;
    if (runtime_mock_setting("graph_fail", 0) == 1)
        return cov_fail(e, COV_EIO, "recording a graph: operation not permitted");
    s->recording = new Graph;
    return COV_OK;
}

int cov_rt_recorded(void *stream, void **graph, struct cov_err *e)
{
    Stream *s = (Stream *)stream;
    *graph = s->recording;
    s->recording = nullptr;
    if (runtime_mock_setting("graph_fail", 0) == 2) {
        delete (Graph *)*graph;
        *graph = nullptr;
        return cov_fail(e, COV_EIO, "recording a graph: operation failed due to a previous error");
    }
    std::lock_guard<std::mutex> guard(lock);
    graphs++;
    return COV_OK;
}

int cov_rt_replay(void *stream, void *graph, struct cov_err *e)
{
    (void)e;
    long lacks = runtime_mock_setting("graph_lacks", 0);
    for (const std::function<void()> &work : *(const Graph *)graph)
        if (lacks-- != 1)
            simt_queue(stream, work);
    std::lock_guard<std::mutex> guard(lock);
    replays++;
    return COV_OK;
}

void cov_rt_graph_free(int card, void *graph)
{
    (void)card;
    std::lock_guard<std::mutex> guard(lock);
    graphs -= graph != nullptr;
    delete (Graph *)graph;
}

int cov_rt_launched(const char *what, struct cov_err *e)
{
    (void)what;
    (void)e;
    return COV_OK;
}

int cov_rt_wait(void *stream, struct cov_err *e)
{
    Stream *s = (Stream *)stream;
    size_t together = (size_t)runtime_mock_setting("together", 0);
    if (s->recording)
        abort();
    {
        std::unique_lock<std::mutex> guard(queue_lock);
        if (!queued_more.wait_for(guard, std::chrono::seconds(10),
                                  [=] { return most_queued >= together; }))
            return cov_fail(e, COV_EIO, "computing: at most %zu streams at a time", most_queued);
        n_queued -= !s->queue.empty();
    }
    if (idle_values)
        return COV_OK;
    std::lock_guard<std::mutex> guard(lock);
    waits[s->card]++;
    all_waits++;
    if (all_waits == (size_t)runtime_mock_setting("fail", 0)) {
        s->queue.clear();
        return cov_fail(e, COV_EIO, "computing: an illegal memory access was encountered");
    }
    protect(s->card, PROT_READ | PROT_WRITE);
    for (auto &work : s->queue)
        work();
    s->queue.clear();
    protect(s->card, PROT_NONE);
    return COV_OK;
}

void runtime_mock_idle(const void *values, size_t bytes)
{
    idle_values = (const char *)values;
    idle_bytes = bytes;
    copied_in.clear();
    filled.clear();
}

void *cov_rt_cublas_function(const char *name)
{
    return cublas_mock_function(name);
}

int runtime_mock_card(void)
{
    return chosen_card;
}

int runtime_mock_stream_card(const void *stream)
{
    return ((const Stream *)stream)->card;
}

size_t runtime_mock_waits(int card)
{
    std::lock_guard<std::mutex> guard(lock);
    return waits[card];
}

size_t runtime_mock_refused(void)
{
    std::lock_guard<std::mutex> guard(lock);
    return refused;
}

size_t runtime_mock_left(void)
{
    std::lock_guard<std::mutex> guard(lock);
    return blocks.size() + host_blocks + graphs;
}

size_t runtime_mock_replays(void)
{
    std::lock_guard<std::mutex> guard(lock);
    return replays;
}
}

/* The self-check, which the Makefile renames. */
int own_self_check(const struct cov_cuda_cards *, size_t, struct cov_pool *, struct cov_err *);

int cov_cuda_self_check(const struct cov_cuda_cards *cards, size_t which, struct cov_pool *pool,
                        struct cov_err *e)
{
    return runtime_mock_setting("trusted", 0) ? COV_OK : own_self_check(cards, which, pool, e);
}
