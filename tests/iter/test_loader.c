/* Every record exactly once over all partitions; windows that no thread count changes. */
#include "base/alloc.h"
#include "iter/load/loader.h"
#include "tests/support/loading.h"
#include "tests/support/shards.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

#include <stdio.h>

static struct tmpdir dir;
static struct imrec_error err;
static struct made_shard shards[3];
static char spec[2048], idx_spec[2048];

static void make(uint64_t seed, size_t count, size_t most)
{
    struct dice d = {seed};
    dir = tmpdir_make();
    spec[0] = idx_spec[0] = '\0';
    for (size_t i = 0; i < 3; i++) {
        char name[16];
        struct buf idx = BUF_INIT(1 << 20);
        shards[i] = made_shard(&d, dice_below(&d, 5) == 0 ? 0 : 1 + dice_below(&d, count), most);
        snprintf(name, sizeof(name), "%zu.rec", i);
        strcat(strcat(spec, i != 0 ? ";" : ""),
               tmp_write(&dir, name, shards[i].file.p, shards[i].file.n));
        for (size_t k = shards[i].count; k-- > 0;) /* from the back: order must not matter */
            ck_assert_int_eq(
                record_index_write(&idx, 1000 * i + k, shards[i].records[k].begin, &err), IMREC_OK);
        snprintf(name, sizeof(name), "%zu.idx", i);
        strcat(strcat(idx_spec, i != 0 ? ";" : ""), tmp_write(&dir, name, idx.p, idx.n));
        buf_free(&idx);
    }
}

static void clear(void)
{
    for (size_t i = 0; i < 3; i++)
        made_free(&shards[i]);
    tmpdir_remove(&dir);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

/* Counts a window's records; each must be what was made. */
static void count_window(const struct window *w, uint32_t *seen[3])
{
    ck_assert_uint_eq(w->damage_count, 0);
    for (uint64_t i = 0; i < w->count; i++) {
        const struct record_ref *r = &w->records[i];
        const struct made_shard *s = &shards[r->shard];
        size_t k = 0;
        while (k < s->count && s->records[k].begin != r->offset)
            k++;
        MUST(k < s->count);
        MUST(!r->lost);
        MUST(r->bytes.n == s->records[k].n);
        MUST(r->bytes.p != NULL && memcmp(r->bytes.p, s->records[k].bytes, r->bytes.n) == 0);
        seen[r->shard][k]++;
    }
}

static void check_all_once(bool indexed, uint64_t num_parts, uint64_t cell, uint64_t units)
{
    uint32_t *seen[3];
    uint64_t *counts = calloc(num_parts, sizeof(*counts));
    for (size_t i = 0; i < 3; i++)
        seen[i] = calloc(shards[i].count + 1, sizeof(uint32_t));
    for (uint64_t p = 0; p < num_parts; p++) {
        struct loading ld;
        uint64_t n = 0;
        struct container_options o = {.path_imgrec = spec,
                                      .path_imgidx = indexed ? idx_spec : "",
                                      .num_parts = num_parts,
                                      .part_index = p,
                                      .cell_bytes = cell,
                                      .keep_in_memory = p % 2 == 1,
                                      .drop_behind = p % 3 == 2};
        loading_start(&ld, &o, units, 2, 2);
        ck_assert_int_eq(container_count(&ld.container, counts, &err), IMREC_OK);
        for (uint64_t w = 0; w < ld.o.windows; w++) {
            struct window *win = loading_take(&ld);
            ck_assert_uint_eq(win->number, w);
            count_window(win, seen);
            n += win->count;
            loader_release(ld.loader, win);
        }
        ck_assert_uint_eq(n, counts[p]);
        loading_stop(&ld);
    }
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < shards[i].count; k++)
            ck_assert_uint_eq(seen[i][k], 1);
        free(seen[i]);
    }
    free(counts);
}

CASE(.timeout = 60)

LOOP_TEST(every_record_is_in_exactly_one_partition, 0, 8) /* _i = seed */
{
    make((uint64_t)_i, 60, 40 * ((size_t)_i + 1));
    const uint64_t cells[] = {64, 1000, 4096, 1 << 18};
    for (uint64_t parts = 1; parts <= 20; parts += 1 + (uint64_t)_i % 3)
        check_all_once(parts % 4 == 3, parts, cells[(parts + (uint64_t)_i) % 4],
                       1 + ((uint64_t)_i + parts) % 9);
    clear();
}

static uint64_t hash_of_two_sweeps(const struct container_options *o, uint64_t units,
                                   uint32_t arenas, uint32_t threads)
{
    struct loading ld;
    uint64_t hash = 0;
    loading_start(&ld, o, units, arenas, threads);
    for (uint64_t i = 0; i < 2 * ld.o.windows; i++) {
        struct window *w = loading_take(&ld);
        ck_assert_uint_eq(w->sweep, i / ld.o.windows);
        hash = loading_hash(hash, w);
        loader_release(ld.loader, w);
    }
    loading_stop(&ld);
    return hash;
}

LOOP_TEST(windows_are_the_same_for_every_number_of_threads, 0, 6) /* _i = seed */
{
    make((uint64_t)_i + 50, 200, 3000);
    struct container_options o = {.path_imgrec = spec,
                                  .path_imgidx = _i % 2 ? idx_spec : "",
                                  .num_parts = 1 + (uint64_t)_i % 2,
                                  .cell_bytes = 5000};
    const uint64_t want = hash_of_two_sweeps(&o, 7, 2, 1);
    for (uint32_t threads = 1; threads <= 4; threads++)
        for (uint32_t arenas = 2; arenas <= 5; arenas += 3)
            ck_assert_uint_eq(hash_of_two_sweeps(&o, 7, arenas, threads), want);
    clear();
}

LOOP_TEST(a_seek_goes_to_any_window_and_held_ones_stay, 0, 6) /* _i = seed */
{
    make((uint64_t)_i + 90, 200, 2000);
    struct container_options o = {.path_imgrec = spec,
                                  .path_imgidx = _i % 2 ? idx_spec : "",
                                  .num_parts = 1,
                                  .cell_bytes = 3000};
    struct loading ld;
    struct dice d = {(uint64_t)_i};
    uint64_t want[64];
    loading_start(&ld, &o, 5, 4, 1 + (uint32_t)_i % 4);
    const uint64_t sweep = ld.o.windows < 21 ? ld.o.windows : 21;
    for (uint64_t i = 0; i < 3 * sweep; i++) {
        if (i % sweep == 0)
            loader_seek(ld.loader, i / sweep, 0);
        struct window *w = loading_take(&ld);
        want[i] = loading_hash(0, w);
        loader_release(ld.loader, w);
    }
    struct window *held = NULL;
    uint64_t held_i = 0;
    for (int jump = 0; jump < 200; jump++) {
        const uint64_t to = dice_below(&d, 3 * sweep);
        loader_seek(ld.loader, to / sweep, to % sweep);
        for (uint64_t k = 0, steps = dice_below(&d, 3); k < steps && to % sweep + k < sweep; k++) {
            struct window *w = loading_take(&ld);
            ck_assert_uint_eq(loading_hash(0, w), want[to + k]);
            if (held != NULL) {
                ck_assert_uint_eq(loading_hash(0, held), want[held_i]);
                loader_release(ld.loader, held);
            }
            held = w;
            held_i = to + k;
            loader_hold(ld.loader, held);
            loader_release(ld.loader, held);
        }
    }
    loading_stop(&ld); /* a window that is still held goes with the loader */
    clear();
}

TEST(memory_stays_what_it_is_once_the_arenas_have_grown)
{
    make(5, 300, 3000);
    struct container_options o = {
        .path_imgrec = spec, .path_imgidx = "", .num_parts = 1, .cell_bytes = 8000};
    struct loading ld;
    uint64_t memory = 0;
    memset(&ld, 0, sizeof(ld));
    ck_assert_int_eq(container_open(&o, &ld.container, &err), IMREC_OK);
    loading_begin(&ld, 6, 3, 1);
    ld.in_order = true; /* every sweep has the same windows: each arena soon has seen all */
    ck_assert_int_eq(loader_start(&ld.o, 0, 0, &ld.loader, &err), IMREC_OK);
    /* Two held: one arena is free at a time, so that they take turns whatever the timing. */
    struct window *held[2] = {loading_take(&ld), loading_take(&ld)};
    for (uint64_t i = 0; i < 20 * ld.o.windows; i++) {
        struct window *w = loading_take(&ld);
        if (i == 4 * ld.o.windows)
            memory = loader_memory(ld.loader);
        loader_release(ld.loader, held[i % 2]);
        held[i % 2] = w;
    }
    ck_assert_uint_eq(loader_memory(ld.loader), memory);
    loader_release(ld.loader, held[0]);
    loader_release(ld.loader, held[1]);
    loading_stop(&ld);
    clear();
}
