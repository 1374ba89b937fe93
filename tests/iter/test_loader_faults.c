/* Damaged and unreadable shards, failing allocations, cancelling: the loader goes on or says why.
 */
#include "base/alloc.h"
#include "base/threads.h"
#include "container/walk/recordio_scan.h"
#include "storage/fault.h"
#include "storage/mem.h"
#include "tests/support/loading.h"
#include "tests/support/shards.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

#include <stdio.h>

static struct tmpdir dir;
static struct imrec_error err;
static char spec[600], idx_spec[600];

static void setup(void)
{
    dir = tmpdir_make();
}

static void teardown(void)
{
    mem_clear();
    fault_forget("test");
    tmpdir_remove(&dir);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static void place(const struct made_shard *s, const struct fault_script *script)
{
    struct buf idx = BUF_INIT(1 << 20);
    snprintf(spec, sizeof(spec), "fault://script=test:%s",
             tmp_write(&dir, "a.rec", s->file.p, s->file.n));
    for (size_t i = 0; i < s->count; i++)
        ck_assert_int_eq(record_index_write(&idx, i, s->records[i].begin, &err), IMREC_OK);
    snprintf(idx_spec, sizeof(idx_spec), "%s", tmp_write(&dir, "a.idx", idx.p, idx.n));
    buf_free(&idx);
    ck_assert_int_eq(fault_set("test", script, &err), IMREC_OK);
}

/* What the loader finds in one sweep, by file order. */
struct seen {
    uint64_t records, lost, damaged_bytes, record_bytes, damages;
    uint64_t begin[512], end[512]; /* of damages */
    uint8_t got[4096];             /* of each record of a made shard: how often */
};

static void look(struct loading *ld, const struct made_shard *s, struct seen *out)
{
    memset(out, 0, sizeof(*out));
    for (uint64_t i = 0; i < ld->o.windows; i++) {
        struct window *w = loading_take(ld);
        for (uint64_t k = 0; k < w->count; k++) {
            const struct record_ref *r = &w->records[k];
            size_t at = 0;
            while (at < s->count && s->records[at].begin != r->offset)
                at++;
            if (r->lost) {
                out->lost++;
                ck_assert_ptr_nonnull(loader_lost_reason(w, r));
                ck_assert_str_ne(loader_lost_reason(w, r)->message, "");
                continue;
            }
            ck_assert_ptr_null(loader_lost_reason(w, r));
            out->records++;
            if (at < s->count && r->bytes.n == s->records[at].n &&
                memcmp(r->bytes.p, s->records[at].bytes, r->bytes.n) == 0)
                out->got[at]++;
        }
        for (uint64_t k = 0; k < w->damage_count; k++) {
            const struct damage *d = &w->damages[k];
            MUST(d->begin < d->end && d->why.message[0] != '\0');
            out->begin[out->damages] = d->begin;
            out->end[out->damages++] = d->end;
            out->damaged_bytes += d->end - d->begin;
        }
        loader_release(ld->loader, w);
    }
}

static struct seen seen;

static uint64_t first_difference(const struct seen *a, const struct seen *b)
{
    return memcmp(a->got, b->got, sizeof(a->got)) != 0 || a->damaged_bytes != b->damaged_bytes ||
           a->records != b->records || a->lost != b->lost;
}

CASE(.timeout = 60, .setup = setup, .teardown = teardown)

LOOP_TEST(damage_takes_nothing_else_whatever_grid_and_threads, 0, 12) /* _i = seed */
{
    struct dice d = {(uint64_t)_i + 77};
    struct made_shard s = made_shard(&d, 200, 4000);
    static struct seen want;
    bool hit[200] = {false};
    for (int k = 0; k < 5; k++) { /* heads without magic, wrong lengths, a torn tail */
        const size_t at = dice_below(&d, s.count - 1);
        uint8_t *head = s.file.p + s.records[at].begin;
        if (k % 2 == 0)
            memset(head, 0x55, 4);
        else
            store_le32(head + 4, load_le32(head + 4) + (1u << (10 + 4 * k)));
        hit[at] = true;
    }
    s.file.n -= 3;
    hit[s.count - 1] = s.records[s.count - 1].end > s.file.n;
    place(&s, &(struct fault_script){.short_bytes = 3000, .interrupt = 5});
    const uint64_t grids[] = {64, 1000, 10000, 1 << 20};
    for (size_t g = 0; g < 4; g++)
        for (uint32_t threads = 1; threads <= 3; threads += 2) {
            struct loading ld;
            const struct container_options o = {
                .path_imgrec = spec, .path_imgidx = "", .num_parts = 1, .cell_bytes = grids[g]};
            loading_start(&ld, &o, 1 + g * 3, 3, threads);
            look(&ld, &s, &seen);
            loading_stop(&ld);
            if (g == 0 && threads == 1)
                want = seen;
            ck_assert_uint_eq(first_difference(&want, &seen), 0);
            for (size_t i = 0; i < s.count; i++)
                ck_assert_uint_eq(seen.got[i], !hit[i]);
            for (uint64_t k = 0; k < seen.damages; k++) { /* not one byte of an intact record */
                size_t at = 0;
                while (at < s.count && s.records[at].end <= seen.begin[k])
                    at++;
                for (; at < s.count && s.records[at].begin < seen.end[k]; at++)
                    MUST(hit[at]);
            }
        }
    made_free(&s);
}

LOOP_TEST(with_an_index_a_damaged_record_is_lost_and_says_why, 0, 6) /* _i = seed */
{
    struct dice d = {(uint64_t)_i};
    struct made_shard s = made_shard(&d, 100, 2000);
    const size_t a = 10 + (size_t)_i, b = 50 + (size_t)_i, c = 99;
    memset(s.file.p + s.records[a].begin, 0, 4);
    store_le32(s.file.p + s.records[b].begin + 4, 1u << 28);
    place(&s, &(struct fault_script){.ends_at = s.records[c].end - 1});
    const struct container_options o = {
        .path_imgrec = spec, .path_imgidx = idx_spec, .num_parts = 1, .cell_bytes = 64};
    struct loading ld;
    loading_start(&ld, &o, 7, 3, 2);
    look(&ld, &s, &seen);
    loading_stop(&ld);
    for (size_t i = 0; i < s.count; i++) /* b's length is of a part that was there before */
        ck_assert_uint_eq(seen.got[i], i != a && i != b && i != c);
    ck_assert_uint_eq(seen.lost, 3);
    ck_assert_uint_eq(seen.damages, 0);
    made_free(&s);
}

TEST(bytes_that_cannot_be_read_are_damage_and_the_rest_is_delivered)
{
    struct dice d = {5};
    struct made_shard s = made_shard(&d, 400, 4000);
    const uint64_t bad = s.file.n / 2, page = bad / 4096 * 4096;
    place(&s, &(struct fault_script){.bad_begin = bad, .bad_end = bad + 1});
    for (int indexed = 0; indexed < 2; indexed++)
        for (uint64_t cell = 8192; cell <= 1 << 20; cell *= 128) {
            const struct container_options o = {.path_imgrec = spec,
                                                .path_imgidx = indexed ? idx_spec : "",
                                                .num_parts = 1,
                                                .cell_bytes = cell};
            struct loading ld;
            uint64_t touched = 0;
            loading_start(&ld, &o, 5, 3, 3);
            look(&ld, &s, &seen);
            loading_stop(&ld);
            for (size_t i = 0; i < s.count; i++) {
                const struct made_record *r = &s.records[i];
                const bool in = r->begin < page + 4096 && r->end > page;
                touched += in;
                ck_assert_uint_eq(seen.got[i], !in);
            }
            ck_assert_uint_ge(touched, 1);
            uint64_t bytes = 0;
            for (size_t i = 0; i < s.count; i++)
                bytes += seen.got[i] != 0 ? 0 : s.records[i].end - s.records[i].begin;
            ck_assert_uint_eq(seen.damaged_bytes, indexed ? 0 : bytes);
            ck_assert_uint_eq(seen.lost, indexed ? touched : 0);
        }
    made_free(&s);
}

LOOP_TEST(a_disk_that_dies_ends_nothing_and_hangs_nothing, 1, 6) /* _i = number of the read */
{
    struct dice d = {5};
    struct made_shard s = made_shard(&d, 100, 4000);
    place(&s, &(struct fault_script){.read_dead = (uint64_t)_i});
    for (int indexed = 0; indexed < 2; indexed++) {
        const struct container_options o = {.path_imgrec = spec,
                                            .path_imgidx = indexed ? idx_spec : "",
                                            .num_parts = 1,
                                            .cell_bytes = 10000};
        struct loading ld;
        loading_start(&ld, &o, 3, 2, 2);
        look(&ld, &s, &seen);
        loading_stop(&ld);
        ck_assert_msg(seen.lost + seen.damages > 0, "indexed %d, %u records, %u reads", indexed,
                      (unsigned)seen.records, (unsigned)fault_counts("test").reads);
    }
    made_free(&s);
}

LOOP_TEST(a_read_that_fails_once_is_tried_again, 1, 8) /* _i = number of the read */
{
    struct dice d = {5};
    struct made_shard s = made_shard(&d, 60, 2000);
    place(&s, &(struct fault_script){.read_eio = (uint64_t)_i});
    const struct container_options o = {
        .path_imgrec = spec, .path_imgidx = "", .num_parts = 1, .cell_bytes = 5000};
    struct loading ld;
    loading_start(&ld, &o, 3, 2, 2);
    look(&ld, &s, &seen);
    loading_stop(&ld);
    ck_assert_uint_eq(seen.records, s.count);
    ck_assert_uint_eq(seen.damages, 0);
    made_free(&s);
}

TEST(no_allocation_that_fails_leaks_hangs_or_loses_silently)
{
    struct dice d = {9};
    struct made_shard s = made_shard(&d, 60, 2000);
    memset(s.file.p + s.records[20].begin, 0, 4);
    uint32_t failures = 0;
    for (int indexed = 0; indexed < 2; indexed++)
        for (long n = 0; n < 80; n++) {
            const struct container_options o = {.path_imgrec = "mem://a",
                                                .path_imgidx = indexed ? "mem://i" : "",
                                                .num_parts = 1,
                                                .cell_bytes = 4000,
                                                .keep_in_memory = n % 3 == 0};
            struct loading ld = {.in_order = false};
            struct buf idx = BUF_INIT(1 << 20);
            for (size_t i = 0; i < s.count; i++)
                ck_assert_int_eq(record_index_write(&idx, i, s.records[i].begin, &err), IMREC_OK);
            ck_assert_int_eq(mem_put("a", s.file.p, s.file.n, &err), IMREC_OK);
            ck_assert_int_eq(mem_put("i", idx.p, idx.n, &err), IMREC_OK);
            buf_free(&idx);
            const long before = imrec_alloc_live();
            imrec_alloc_fail_after(n);
            enum imrec_status st = container_open(&o, &ld.container, &err);
            if (st == IMREC_OK) {
                loading_begin(&ld, 4, 2, 2);
                st = loader_start(&ld.o, 0, 0, &ld.loader, &err);
            }
            uint64_t waited = 0, records = 0;
            for (uint64_t i = 0; st == IMREC_OK && i < ld.o.windows; i++) {
                struct window *w;
                st = loader_take(ld.loader, &w, &waited, &err);
                if (st == IMREC_OK) {
                    records += w->count;
                    loader_release(ld.loader, w);
                }
            }
            imrec_alloc_fail_after(-1);
            failures += st != IMREC_OK;
            MUST(st == IMREC_OK || st == IMREC_ERR_NO_MEMORY);
            if (st == IMREC_OK)
                ck_assert_uint_eq(records, s.count - !indexed);
            loading_stop(&ld);
            ck_assert_int_eq(imrec_alloc_live(), before);
            mem_clear();
        }
    ck_assert_uint_ge(failures, 20);
    made_free(&s);
}

static void *take_forever(void *arg)
{
    struct loading *ld = arg;
    struct window *w;
    uint64_t waited = 0;
    while (loader_take(ld->loader, &w, &waited, NULL) == IMREC_OK) {
        loader_hold(ld->loader, w);
        loader_release(ld->loader, w);
        loader_release(ld->loader, w);
    }
    return NULL;
}

LOOP_TEST(a_cancel_wakes_whoever_waits_at_any_moment, 0, 30) /* _i = seed */
{
    struct dice d = {(uint64_t)_i};
    struct made_shard s = made_shard(&d, 60, 2000);
    place(&s, &(struct fault_script){.latency_us = _i % 2 == 0 ? 2000 : 0});
    const struct container_options o = {.path_imgrec = spec,
                                        .path_imgidx = _i % 3 ? "" : idx_spec,
                                        .num_parts = 1,
                                        .cell_bytes = 5000};
    struct loading ld;
    struct thread t;
    loading_start(&ld, &o, 3, 2, 1 + (uint32_t)_i % 4);
    ck_assert_int_eq(thread_start(&t, "taker", take_forever, &ld, &err), IMREC_OK);
    for (uint64_t i = 0; i < dice_below(&d, 50); i++)
        loader_seek(ld.loader, i, i % ld.o.windows);
    usleep((useconds_t)dice_below(&d, 3000));
    loader_cancel(ld.loader);
    thread_join(&t);
    loading_stop(&ld);
    made_free(&s);
}

TEST(records_that_overlap_are_delivered_apart)
{
    /* Heads of many parts inside a record of many parts: no writer makes that, a shard may. */
    struct buf f = BUF_INIT(1 << 20);
    uint8_t word[4];
    for (uint32_t i = 0; i < 300; i++) {
        const uint32_t flag = i % 5 == 0 ? 1u : i % 5 == 4 ? 3u : 2u;
        const uint32_t n = (i * 7) % 40;
        store_le32(word, RECORDIO_MAGIC);
        ck_assert_int_eq(buf_append(&f, word, 4, &err), IMREC_OK);
        store_le32(word, flag << 29 | (i % 11 == 0 ? n + 400 : n));
        ck_assert_int_eq(buf_append(&f, word, 4, &err), IMREC_OK);
        for (uint32_t k = 0; k < (n + 3) / 4; k++)
            ck_assert_int_eq(buf_append(&f, word, 4, &err), IMREC_OK);
    }
    for (uint64_t cell = 4; cell < 2000; cell = cell * 2 + 4) {
        ck_assert_int_eq(mem_put("a", f.p, f.n, &err), IMREC_OK);
        uint64_t hash[2];
        for (int threads = 1; threads <= 2; threads++) {
            const struct container_options o = {
                .path_imgrec = "mem://a", .path_imgidx = "", .num_parts = 1, .cell_bytes = cell};
            struct loading ld;
            hash[threads - 1] = 0;
            loading_start(&ld, &o, 50, 2, (uint32_t)threads);
            for (uint64_t i = 0; i < ld.o.windows; i++) {
                struct window *w = loading_take(&ld);
                hash[threads - 1] = loading_hash(hash[threads - 1], w);
                loader_release(ld.loader, w);
            }
            loading_stop(&ld);
        }
        ck_assert_uint_eq(hash[0], hash[1]);
    }
    buf_free(&f);
}
