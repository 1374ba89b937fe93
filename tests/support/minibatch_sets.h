/* tests/support/minibatch_sets.h - small texts and binary files, and the ways to read them, that
 * tests of minibatch sources go through. */
#ifndef IMREC_TESTS_MINIBATCH_SETS_H
#define IMREC_TESTS_MINIBATCH_SETS_H

#include "base/alloc.h"
#include "base/buf.h"
#include "imrec/convert.h"
#include "storage/mem.h"
#include "tests/support/minibatches.h"
#include "tests/support/tmpdir.h"

#include <stdarg.h>
#include <stdio.h>

enum {
    SET_SINGLES = 230, /* sequences of mem://one.ctf, a sample each */
    SET_LONGS = 120,   /* of mem://long.ctf, 1 to 9 samples each, as many in A as in B */
    SET_OTHER_SEED = 99,
};

static struct tmpdir set_dir;
static char set_cbf[600]; /* "file=...": mem://long.ctf as a binary file of several chunks */

__attribute__((format(printf, 2, 3))) static inline void
set_print(struct buf *b, const char *fmt, ...)
{
    char line[256];
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);
    EXPECT(n >= 0 && (size_t)n < sizeof(line));
    EXPECT(buf_append(b, line, (size_t)n, NULL) == IMREC_OK);
}

static inline uint32_t set_draw(uint32_t *state, uint32_t below)
{
    *state = *state * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)*state * below) >> 32);
}

static inline uint32_t set_length(uint64_t id) /* of a sequence of mem://long.ctf */
{
    return 1 + (uint32_t)(id * 7 % 9);
}

static inline uint64_t set_long_samples(void)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < SET_LONGS; i++)
        n += set_length(3 * i + 5);
    return n;
}

static inline void set_put(const char *name, struct buf *b)
{
    EXPECT(mem_put(name, b->p, b->n, NULL) == IMREC_OK);
    buf_free(b);
}

static inline void set_sparse(struct buf *b, uint32_t *state)
{
    for (uint32_t k = set_draw(state, 4); k > 0; k--)
        set_print(b, " %u:%u.%u", set_draw(state, 50), set_draw(state, 100), set_draw(state, 1000));
}

/* A dense 2, B sparse 50; no ids: the lines are numbered. */
static inline void set_make_singles(void)
{
    struct buf b = BUF_INIT(1 << 20);
    uint32_t state = 1;
    for (uint32_t i = 0; i < SET_SINGLES; i++) {
        set_print(&b, "|A %u %u.%u |B", i, set_draw(&state, 900), set_draw(&state, 10000));
        set_sparse(&b, &state);
        set_print(&b, "\n");
    }
    set_put("one.ctf", &b);
}

/* The same of ids 5, 8, 11, ...; ragged: B has fewer lines than A, or none. */
static inline void set_make_longs(const char *name, bool ragged)
{
    struct buf b = BUF_INIT(1 << 20);
    uint32_t state = 2;
    for (uint64_t id = 5; id < 5 + 3 * SET_LONGS; id += 3)
        for (uint32_t k = 0; k < set_length(id); k++) {
            set_print(&b, "%u |A %u -%u.%u", (unsigned)id, k, (unsigned)id, set_draw(&state, 77));
            if (!ragged || k < id % 4) {
                set_print(&b, " |B");
                set_sparse(&b, &state);
            }
            set_print(&b, "\n");
        }
    set_put(name, &b);
}

/* C dense 3, of the ids of mem://long.ctf, backwards, a sample each or as many as there. */
static inline void set_make_other(const char *name, bool equal)
{
    struct buf b = BUF_INIT(1 << 20);
    for (uint64_t i = SET_LONGS; i > 0; i--) {
        const uint64_t id = 5 + 3 * (i - 1);
        for (uint32_t k = 0; k < (equal ? set_length(id) : 1); k++)
            set_print(&b, "%u |C 1 %u %u\n", (unsigned)id, (unsigned)id, k);
    }
    set_put(name, &b);
}

static inline void set_make_binary(void)
{
    struct imrec_convert_options o;
    struct imrec_convert_result result;
    struct imrec_error err;
    static const char header[] = "A A dense 2\nB B sparse 50\n";
    struct buf b = BUF_INIT(1 << 20);
    uint32_t state = 2;
    for (uint64_t id = 5; id < 5 + 3 * SET_LONGS; id += 3)
        for (uint32_t k = 0; k < set_length(id); k++) {
            set_print(&b, "%u |A %u -%u.%u |B", (unsigned)id, k, (unsigned)id,
                      set_draw(&state, 77));
            set_sparse(&b, &state);
            set_print(&b, "\n");
        }
    imrec_convert_options_init(&o);
    o.input = tmp_write(&set_dir, "long.ctf", b.p, b.n);
    o.header = tmp_write(&set_dir, "header", header, sizeof(header) - 1);
    o.output = tmp_path(&set_dir, "long.cbf");
    o.chunk_size = 900;
    o.threads = 1;
    EXPECT_SAYING(imrec_ctf_to_cbf(&o, NULL, NULL, &result, &err) == IMREC_OK, "%s", err.message);
    EXPECT(result.chunks > 4);
    snprintf(set_cbf, sizeof(set_cbf), "file=%s", o.output);
    buf_free(&b);
}

static inline void sets_make(void)
{
    set_dir = tmpdir_make();
    set_make_singles();
    set_make_longs("long.ctf", false);
    set_make_longs("ragged.ctf", true);
    set_make_other("other.ctf", false);
    set_make_other("equal.ctf", true);
    set_make_binary();
}

static inline void sets_forget(void)
{
    mem_clear();
    tmpdir_remove(&set_dir);
    EXPECT(imrec_alloc_live() == 0);
}

/* ---- ways to read ------------------------------------------------------------------------ */

#define SET_A_B                                                                                    \
    "input.A.format=dense", "input.A.dim=2", "input.B.format=sparse", "input.B.dim=50",            \
        "chunkSizeInBytes=300"
#define SET_COMPOSITE(other)                                                                       \
    "reader = { deserializers = (\n"                                                               \
    " { type = \"CNTKTextFormatDeserializer\" ; file = \"mem://long.ctf\" ; chunkSizeInBytes = "   \
    "300\n"                                                                                        \
    "   input = { A = { dim = 2 ; format = \"dense\" } ; B = { dim = 50 ; format = \"sparse\" } "  \
    "} }\n"                                                                                        \
    " { type = \"CNTKTextFormatDeserializer\" ; file = \"mem://" other                             \
    "\" ; chunkSizeInBytes = 200\n"                                                                \
    "   input = { C = { dim = 3 ; format = \"dense\" } } } ) }\n"

enum { SET_KEYS = 8, SET_KINDS = 9, SET_ORDERS = 6 };

static const char *const set_kinds[SET_KINDS][SET_KEYS] = {
    {"file=mem://one.ctf", SET_A_B},
    {"file=mem://long.ctf", SET_A_B},
    {"file=mem://ragged.ctf", SET_A_B},
    {"file=mem://ragged.ctf", SET_A_B, "input.A.definesMBSize=true"},
    {"file=mem://one.ctf;mem://one.ctf", SET_A_B},
    {set_cbf},
    {SET_COMPOSITE("other.ctf")},
    {"file=mem://long.ctf", SET_A_B, "truncationLength=4"},
    {SET_COMPOSITE("equal.ctf"), "truncationLength=3"},
};
static const char *const set_orders[SET_ORDERS][4] = {
    {"randomize=false"},
    {"randomizationWindow=1"},
    {"randomizationWindow=5", "randomizationSeed=3"},
    {"randomizationWindow=100000"},
    {"randomizationWindow=37", "sampleBasedRandomizationWindow=true"},
    {"randomizationWindow=2", "sampleBasedRandomizationWindow=true", "randomizationSeed=7"},
};

/* Way number n of SET_WAYS. */
#define SET_WAYS (SET_KINDS * SET_ORDERS)
static inline const char *const *set_way(int n)
{
    return mb_keys(set_kinds[n / SET_ORDERS], set_orders[n % SET_ORDERS]);
}
static inline bool set_truncates(int n)
{
    return n / SET_ORDERS >= 7;
}
/* Sizes that change from call to call, a function of the minibatch's number. */
static inline uint64_t set_size(uint64_t number)
{
    return 1 + number * 7919 % 23;
}

struct mb_positions {
    char **text; /* behind each minibatch; [0]: before the first */
    uint64_t n;
};

/* `count` minibatches, the first of which has this number, sized by set_size(). */
static inline enum imrec_status set_follow(struct imrec_minibatch_source *s, uint64_t number,
                                           uint64_t count, struct notes *to,
                                           struct mb_positions *positions)
{
    enum imrec_status st = IMREC_OK;
    for (uint64_t i = 0; i < count && st == IMREC_OK; i++) {
        if (positions != NULL) {
            const char *json;
            EXPECT(imrec_minibatch_position(s, &json, NULL) == IMREC_OK);
            positions->text = realloc(positions->text, (positions->n + 1) * sizeof(char *));
            positions->text[positions->n++] = strdup(json);
        }
        st = mb_follow(s, set_size(number + i), 1, 4, to);
    }
    return st;
}

static inline void mb_positions_free(struct mb_positions *p)
{
    for (uint64_t i = 0; i < p->n; i++)
        free(p->text[i]);
    free(p->text);
}
#endif
