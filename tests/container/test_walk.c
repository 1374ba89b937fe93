/* Every record of a well-formed shard is in exactly one cell, whatever the grid; and what a
 * walk finds, also in damage, does not depend on how much it is shown at a time. */
#include "container/walk/recordio_walk.h"
#include "tests/support/shards.h"
#include "tests/support/suite.h"

#include <stdio.h>

enum { MOST_ITEMS = 4096 };

struct items {
    struct walk_item item[MOST_ITEMS];
    enum walk_step step[MOST_ITEMS];
    size_t n;
};

/* Walks one cell; the view never begins before `keep` and ends `extra` bytes behind `need`. */
static void walk_cell(const struct buf *f, uint64_t begin, uint64_t end, uint64_t extra,
                      const struct hole *holes, struct items *out)
{
    struct walk w;
    struct view v = {f->p, 0, f->n, holes};
    if (extra != UINT64_MAX)
        v = (struct view){f->p + begin, begin, begin, holes};
    walk_begin(&w, f->n, begin, end, begin == 0);
    for (size_t rounds = 0;; rounds++) {
        struct walk_item item;
        MUST(rounds < 100000);
        const enum walk_step step = walk_next(&w, &v, &item);
        if (step == WALK_END)
            return;
        if (step == WALK_MORE) {
            MUST(extra < UINT64_MAX); /* a whole shard is enough */
            MUST(w.keep < w.need && w.need <= f->n && w.keep % 4 == 0);
            const uint64_t to = w.need + extra < f->n ? w.need + extra : f->n;
            v = (struct view){f->p + w.keep, w.keep, to, holes};
            continue;
        }
        if (step == WALK_RECORD)
            MUST(v.begin <= item.begin && item.end <= v.end);
        MUST(out->n < MOST_ITEMS);
        out->step[out->n] = step;
        out->item[out->n++] = item;
    }
}

static void walk_grid(const struct buf *f, uint64_t grid, uint64_t extra, const struct hole *holes,
                      struct items *out)
{
    out->n = 0;
    for (uint64_t at = 0; at < f->n; at += grid)
        walk_cell(f, at, f->n - at < grid ? f->n : at + grid, extra, holes, out);
}

static void check_equal(const struct items *a, const struct items *b, uint64_t grid, uint64_t extra)
{
    ck_assert_msg(a->n == b->n, "%zu and %zu items, grid %zu, extra %zu", a->n, b->n, (size_t)grid,
                  (size_t)extra);
    for (size_t i = 0; i < a->n; i++) {
        MUST(a->step[i] == b->step[i]);
        MUST(a->item[i].begin == b->item[i].begin);
        MUST(a->item[i].end == b->item[i].end);
        MUST(a->item[i].span.size == b->item[i].span.size);
    }
}

static struct items want, got;

CASE(.timeout = 60)

LOOP_TEST(every_record_is_in_exactly_one_cell_of_every_grid, 0, 16) /* _i = seed */
{
    struct dice d = {(uint64_t)_i};
    struct made_shard s = made_shard(&d, 30, 1 + 37 * (size_t)_i);
    for (uint64_t grid = 4; grid < 2 * s.file.n + 8; grid += grid / 3 / 4 * 4 + 4) {
        const uint64_t extra = grid % 3 == 0 ? UINT64_MAX : dice_below(&d, 64);
        walk_grid(&s.file, grid, extra, NULL, &got);
        MUST(got.n == s.count);
        for (size_t i = 0; i < s.count; i++) {
            MUST(got.step[i] == WALK_RECORD);
            MUST(got.item[i].begin == s.records[i].begin);
            MUST(got.item[i].end == s.records[i].end);
            MUST(got.item[i].span.size == s.records[i].n);
        }
    }
    made_free(&s);
}

/* Damages some bytes and returns the range that was touched. */
static void damage(struct dice *d, struct made_shard *s, uint64_t *begin, uint64_t *end)
{
    const struct made_record *r = &s->records[dice_below(d, s->count)];
    uint8_t *head = s->file.p + r->begin;
    *begin = r->begin;
    *end = r->begin + 8;
    switch (dice_below(d, 7)) {
    case 0: /* the magic is gone */
        memset(head, 0, 4);
        break;
    case 1: /* longer */
        store_le32(head + 4, load_le32(head + 4) + 4 * (uint32_t)(1 + dice_below(d, 2000)));
        break;
    case 2: /* enormous */
        store_le32(head + 4, load_le32(head + 4) | 1u << (22 + dice_below(d, 7)));
        break;
    case 3: /* another flag */
        store_le32(head + 4, load_le32(head + 4) ^ (uint32_t)(1 + dice_below(d, 7)) << 29);
        break;
    case 4: /* cut */
        s->file.n = *begin + dice_below(d, r->end - r->begin);
        *begin = s->file.n;
        *end = UINT64_MAX;
        break;
    default: { /* zeros, or noise */
        const size_t n = 4 + (size_t)dice_below(d, 3000);
        *begin = dice_below(d, s->file.n);
        *end = *begin + n < s->file.n ? *begin + n : s->file.n;
        for (uint64_t i = *begin; i < *end; i++)
            s->file.p[i] = n % 2 == 0 ? 0 : (uint8_t)dice_bits(d);
    }
    }
}

LOOP_TEST(damage_loses_no_intact_record_and_its_ranges_fill_the_rest, 0, 100) /* _i = seed */
{
    struct dice d = {(uint64_t)_i + 1000};
    struct made_shard s = made_shard(&d, 40, 1500);
    uint64_t begin[3], end[3], at = 0;
    for (int i = 0; i < 3; i++) {
        begin[i] = end[i] = 0;
        if (s.file.n > 16 && i <= _i % 3)
            damage(&d, &s, &begin[i], &end[i]);
        while (s.count > 1 && s.records[s.count - 1].begin >= s.file.n)
            free(s.records[--s.count].bytes);
    }
    walk_grid(&s.file, s.file.n + 4 - s.file.n % 4, UINT64_MAX, NULL, &want);
    for (size_t i = 0; i < want.n; i++) { /* nothing twice, nothing left out */
        MUST(want.item[i].begin == at);
        at = want.item[i].end;
    }
    MUST(at == s.file.n);
    for (size_t i = 0, k = 0; i < s.count; i++) {
        const struct made_record *r = &s.records[i];
        bool touched = r->end > s.file.n;
        for (int j = 0; j < 3; j++)
            touched = touched || (begin[j] < r->end && end[j] > r->begin);
        while (k < want.n && (want.item[k].begin < r->begin || want.step[k] != WALK_RECORD))
            k++;
        if (!touched)
            ck_assert_msg(k < want.n && want.item[k].begin == r->begin &&
                              want.item[k].end == r->end,
                          "record %zu at %zu is lost", i, (size_t)r->begin);
    }
    for (uint64_t grid = 4 + 4 * (uint64_t)_i; grid < s.file.n; grid += grid / 4 * 4 + 4) {
        const uint64_t extra = dice_below(&d, 3) == 0 ? 0 : dice_below(&d, 5000);
        walk_grid(&s.file, grid, UINT64_MAX, NULL, &got);
        check_equal(&want, &got, grid, 0);
        walk_grid(&s.file, grid, extra, NULL, &got);
        check_equal(&want, &got, grid, extra);
    }
    made_free(&s);
}

TEST(a_giant_length_is_not_believed_before_its_end_was_seen)
{
    enum { SMALL = 100, GIANT = 5 << 20 };
    uint8_t *bytes = calloc(1, GIANT);
    struct made_shard s = {.file = BUF_INIT((size_t)1 << 30)};
    for (int i = 0; i < 3; i++)
        made_add(&s, bytes, SMALL);
    made_add(&s, bytes, GIANT);
    made_add(&s, bytes, GIANT);
    made_add(&s, bytes, SMALL);
    for (int lie = 0; lie < 3; lie++) {
        uint64_t shown = 0; /* most bytes in one view */
        struct walk w;
        struct walk_item item;
        struct view v = {s.file.p, 0, 64, NULL};
        enum walk_step step;
        uint32_t records = 0;
        if (lie == 1)
            store_le32(s.file.p + s.records[1].begin + 4, 6 << 20);
        if (lie == 2) {
            store_le32(s.file.p + s.records[1].begin + 4, SMALL);
            memset(s.file.p + s.records[4].begin, 0, 8); /* nothing follows a giant */
        }
        walk_begin(&w, s.file.n, 0, s.file.n, true);
        while ((step = walk_next(&w, &v, &item)) != WALK_END) {
            records += step == WALK_RECORD;
            if (step == WALK_DAMAGE && lie == 1) {
                MUST(item.begin == s.records[1].begin);
                MUST(item.end == s.records[2].begin);
                ck_assert_ptr_nonnull(strstr(item.why.message, "swallows the record at 216"));
                MUST(shown < 1000);
            }
            if (step == WALK_DAMAGE && lie == 2) {
                MUST(item.begin == s.records[4].begin);
                MUST(item.end == s.records[5].begin);
            }
            if (step == WALK_MORE) {
                const uint64_t n = w.need - w.keep + 64;
                v = (struct view){s.file.p + w.keep, w.keep,
                                  w.keep + n < s.file.n ? w.keep + n : s.file.n, NULL};
                shown = n > shown ? n : shown;
            }
        }
        ck_assert_uint_eq(records, lie == 0 ? 6 : 5);
    }
    made_free(&s);
    free(bytes);
}

LOOP_TEST(an_unreadable_range_takes_only_the_records_it_touches, 0, 60) /* _i = seed */
{
    struct dice d = {(uint64_t)_i};
    struct made_shard s = made_shard(&d, 30, 700);
    struct hole h[2] = {{&h[1], 0, 0, {.status = IMREC_ERR_IO}},
                        {NULL, 0, 0, {.status = IMREC_ERR_IO}}};
    for (int i = 0; i < 2; i++) {
        h[i].begin = dice_below(&d, s.file.n);
        h[i].end = h[i].begin + 1 + dice_below(&d, s.file.n - h[i].begin);
        h[i].end = dice_below(&d, 3) == 0 ? h[i].end : h[i].begin / 4096 * 4096 + 4096;
        h[i].end = h[i].end < s.file.n ? h[i].end : s.file.n;
        memset(s.file.p + h[i].begin, 0, h[i].end - h[i].begin);
    }
    for (uint64_t grid = 4 + 40 * (uint64_t)_i; grid < 2 * s.file.n; grid += grid / 4 * 8 + 4) {
        uint8_t *covered = calloc(s.file.n, 1);
        walk_grid(&s.file, grid, dice_below(&d, 2) == 0 ? UINT64_MAX : dice_below(&d, 900), h,
                  &got);
        for (size_t i = 0; i < got.n; i++)
            for (uint64_t k = got.item[i].begin; k < got.item[i].end; k++)
                MUST(covered[k]++ == 0);
        MUST(memchr(covered, 0, s.file.n) == NULL);
        for (size_t i = 0, k = 0; i < s.count; i++) {
            const struct made_record *r = &s.records[i];
            while (k < got.n && (got.item[k].begin < r->begin || got.step[k] != WALK_RECORD))
                k++;
            const bool is = k < got.n && got.item[k].begin == r->begin;
            MUST(is == (unreadable_find(h, r->begin, r->end) == NULL));
        }
        free(covered);
    }
    made_free(&s);
}
