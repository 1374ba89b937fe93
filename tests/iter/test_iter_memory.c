/* Batches in memory of the caller: every block is asked for once and freed once, images and masks
 * are made in it, and what the caller refuses is an error that leaves nothing. */
#include "tests/support/imageset.h"
#include "tests/support/suite.h"

#include <stdlib.h>

enum { RECORDS = 13, MOST = 64, BATCH_BYTES = 4 * 12 * 12 * 3 * 4 };

struct given {
    void *begin; /* what the library has */
    size_t bytes;
    enum imrec_memory_use use;
};

/* The caller. */
struct owner {
    struct given given[MOST];
    uint32_t count, asked;
    uint32_t fail_at;        /* the n-th call has no memory; 0: none */
    size_t beyond;           /* bytes beyond an aligned address */
    struct imrec_kept *also; /* released by the next free */
};

static void *owner_alloc(void *user, size_t bytes, enum imrec_memory_use use)
{
    struct owner *o = user;
    if (++o->asked == o->fail_at)
        return NULL;
    ck_assert_uint_lt(o->count, MOST);
    uint8_t *p = aligned_alloc(IMREC_MEMORY_ALIGN, (bytes + 2 * IMREC_MEMORY_ALIGN - 1) /
                                                       IMREC_MEMORY_ALIGN * IMREC_MEMORY_ALIGN);
    ck_assert_ptr_nonnull(p);
    memset(p, 0xa5, bytes); /* nobody may count on zeros */
    o->given[o->count++] = (struct given){p + o->beyond, bytes, use};
    return p + o->beyond;
}

static void owner_free(void *user, void *block, size_t bytes, enum imrec_memory_use use)
{
    struct owner *o = user;
    struct imrec_kept *also = o->also;
    uint32_t i = 0;
    while (i < o->count && o->given[i].begin != block)
        i++;
    ck_assert_msg(i < o->count, "a block that is not there any more");
    ck_assert_uint_eq(o->given[i].bytes, bytes);
    ck_assert_int_eq(o->given[i].use, use);
    free((uint8_t *)block - o->beyond);
    o->given[i] = o->given[--o->count];
    o->also = NULL;
    imrec_kept_release(also);
}

static struct imrec_memory memory_of(struct owner *o, bool free_released)
{
    return (struct imrec_memory){.struct_size = sizeof(struct imrec_memory),
                                 .user = o,
                                 .alloc = owner_alloc,
                                 .free = owner_free,
                                 .free_released = free_released};
}

static enum imrec_status try_open_in(const struct image_set *s, const char *words,
                                     const struct imrec_memory *m, struct imrec_iter **out,
                                     struct imrec_error *err)
{
    struct imrec_iter_options o;
    char text[512];
    imrec_iter_options_init(&o);
    *out = NULL;
    snprintf(text, sizeof(text), "data_shape=3,12,12 batch_size=4 prefetch_buffer=2 %s", words);
    for (char *rest = text, *word; (word = strtok_r(rest, " ", &rest)) != NULL;)
        ck_assert_int_eq(imrec_iter_options_set(&o, word, err), IMREC_OK);
    o.path_imgrec = strchr(s->rec, '=') + 1;
    return imrec_iter_open_memory(&o, NULL, m, out, err);
}

static struct imrec_iter *
open_in(const struct image_set *s, const char *words, const struct imrec_memory *m)
{
    struct imrec_iter *it;
    struct imrec_error err = {0};
    if (try_open_in(s, words, m, &it, &err) != IMREC_OK)
        ck_abort_msg("%s: %s", words, err.message);
    return it;
}

static struct image_set make(void)
{
    return image_set_make(
        &(struct image_set_options){.records = RECORDS, .shards = 1, .labels = 1, .jpeg = true});
}

static bool lies_in(const struct owner *o, const void *p, size_t bytes, enum imrec_memory_use use)
{
    for (uint32_t i = 0; i < o->count; i++) {
        const uint8_t *begin = o->given[i].begin, *at = p;
        if (o->given[i].use == use && at >= begin && at + bytes <= begin + o->given[i].bytes)
            return true;
    }
    return false;
}

CASE(.timeout = 60)

TEST(workers_write_into_the_callers_blocks_what_they_write_into_the_librarys)
{
    struct image_set s = make();
    struct owner o = {0};
    const struct imrec_memory m = memory_of(&o, false);
    struct imrec_iter *it = open_in(&s, "shuffle=1 rand_crop=1 last_batch=pad", &m);
    struct imrec_iter *twin = set_open(&s, false,
                                       "data_shape=3,12,12 batch_size=4 shuffle=1 "
                                       "rand_crop=1 last_batch=pad");
    ck_assert_uint_eq(o.count, 3);
    for (int i = 0; i < 12; i++) {
        const struct imrec_batch b = following_batch(it), t = following_batch(twin);
        ck_assert(lies_in(&o, b.data, BATCH_BYTES, IMREC_MEMORY_DATA));
        ck_assert_int_eq(memcmp(b.data, t.data, BATCH_BYTES), 0); /* padding is zeros, too */
    }
    imrec_iter_close(twin);
    imrec_iter_close(it);
    ck_assert_uint_eq(o.count, 0);
    ck_assert_uint_eq(o.asked, 3);
    image_set_free(&s);
}

TEST(masks_have_blocks_of_their_own)
{
    struct image_set s = make();
    struct owner o = {0};
    const struct imrec_memory m = memory_of(&o, false);
    struct imrec_iter *it = open_in(&s, "masks=uint8 on_error=skip", &m);
    uint32_t masks = 0;
    for (uint32_t i = 0; i < o.count; i++)
        masks += o.given[i].use == IMREC_MEMORY_MASKS && o.given[i].bytes >= 4 * 12 * 12;
    ck_assert_uint_eq(masks, 3);
    ck_assert_uint_eq(o.count, 6);
    struct imrec_batch b;
    struct imrec_error e;
    ck_assert_int_eq(imrec_iter_next(it, &b, &e), IMREC_OK);
    ck_assert(lies_in(&o, b.views[0].masks, 4 * 12 * 12, IMREC_MEMORY_MASKS));
    imrec_iter_close(it);
    ck_assert_uint_eq(o.count, 0);
    image_set_free(&s);
}

LOOP_TEST(a_kept_block_is_freed_after_its_release, 0, 2) /* _i: free_released */
{
    struct image_set s = make();
    struct owner o = {0};
    const struct imrec_memory m = memory_of(&o, _i == 1);
    struct imrec_iter *it = open_in(&s, "", &m);
    struct imrec_kept *kept, *last;
    for (int i = 0; i < 8; i++) {
        (void)following_batch(it);
        ck_assert_int_eq(imrec_iter_keep(it, &kept, NULL), IMREC_OK);
        ck_assert_uint_eq(o.count, 4);
        imrec_kept_release(kept);
        ck_assert_uint_eq(o.count, _i == 1 ? 3 : 4);
    }
    ck_assert_uint_eq(o.asked, _i == 1 ? 3 + 8 : 4);
    (void)following_batch(it);
    ck_assert_int_eq(imrec_iter_close_keeping(it, &last, NULL), IMREC_OK);
    ck_assert_uint_eq(o.count, 1); /* the batch that is held */
    imrec_kept_release(last);
    ck_assert_uint_eq(o.count, 0);
    image_set_free(&s);
}

TEST(a_free_may_release_other_batches_of_the_same_iterator)
{
    struct image_set s = make();
    struct owner o = {0};
    const struct imrec_memory m = memory_of(&o, true);
    struct imrec_iter *it = open_in(&s, "", &m);
    struct imrec_kept *first, *second;
    (void)following_batch(it);
    ck_assert_int_eq(imrec_iter_keep(it, &first, NULL), IMREC_OK);
    (void)following_batch(it);
    ck_assert_int_eq(imrec_iter_keep(it, &second, NULL), IMREC_OK);
    o.also = second;
    imrec_kept_release(first);
    ck_assert_uint_eq(o.count, 3);
    imrec_iter_close(it);
    ck_assert_uint_eq(o.count, 0);
    image_set_free(&s);
}

TEST(released_blocks_do_not_count_for_memory_limit_once_they_are_freed)
{
    struct image_set s = make();
    struct owner o = {0};
    const struct imrec_memory m = memory_of(&o, true);
    struct imrec_iter_stats stats;
    struct imrec_kept *kept;
    char words[64];
    struct imrec_iter *it = open_in(&s, "", &m);
    imrec_iter_get_stats(it, &stats);
    imrec_iter_close(it);
    snprintf(words, sizeof(words), "memory_limit=%llu",
             (unsigned long long)stats.memory_planned_bytes + BATCH_BYTES);
    it = open_in(&s, words, &m);
    for (int i = 0; i < 8; i++) { /* one at a time is within the limit, two are not */
        (void)following_batch(it);
        ck_assert_int_eq(imrec_iter_keep(it, &kept, NULL), IMREC_OK);
        if (i == 7) {
            struct imrec_kept *too_many;
            (void)following_batch(it);
            ck_assert_int_eq(imrec_iter_keep(it, &too_many, NULL), IMREC_ERR_LIMIT);
        }
        imrec_kept_release(kept);
    }
    imrec_iter_close(it);
    ck_assert_uint_eq(o.count, 0);
    image_set_free(&s);
}

LOOP_TEST(a_refused_block_is_an_error_of_opening, 1, 7) /* _i: which */
{
    struct image_set s = make();
    struct owner o = {.fail_at = (uint32_t)_i};
    const struct imrec_memory m = memory_of(&o, false);
    struct imrec_iter *it;
    struct imrec_error err = {0};
    ck_assert_int_eq(try_open_in(&s, "masks=uint8", &m, &it, &err), IMREC_ERR_NO_MEMORY);
    ck_assert_ptr_null(it);
    ck_assert_msg(strstr(err.message, "the caller's allocator refused") != NULL, "%s", err.message);
    ck_assert_uint_eq(o.count, 0);
    image_set_free(&s);
}

TEST(a_refused_block_costs_the_keeping_not_the_batch)
{
    struct image_set s = make();
    struct owner o = {.fail_at = 4};
    const struct imrec_memory m = memory_of(&o, false);
    struct imrec_iter *it = open_in(&s, "", &m);
    struct imrec_kept *kept;
    struct imrec_error err = {0};
    const void *data = following_batch(it).data;
    ck_assert_int_eq(imrec_iter_keep(it, &kept, &err), IMREC_ERR_NO_MEMORY);
    ck_assert_ptr_null(kept);
    ck_assert_int_eq(imrec_iter_keep(it, &kept, &err), IMREC_OK); /* it may be there now */
    ck_assert(lies_in(&o, data, BATCH_BYTES, IMREC_MEMORY_DATA));
    imrec_kept_release(kept);
    imrec_iter_close(it);
    ck_assert_uint_eq(o.count, 0);
    image_set_free(&s);
}

TEST(a_block_that_is_not_aligned_is_refused_and_freed)
{
    struct image_set s = make();
    struct owner o = {.beyond = 16};
    const struct imrec_memory m = memory_of(&o, false);
    struct imrec_iter *it;
    struct imrec_error err = {0};
    ck_assert_int_eq(try_open_in(&s, "", &m, &it, &err), IMREC_ERR_ARGUMENT);
    ck_assert_msg(strstr(err.message, "begins 16 bytes beyond a multiple of 64") != NULL, "%s",
                  err.message);
    ck_assert_uint_eq(o.count, 0);
    image_set_free(&s);
}

TEST(opening_in_the_callers_memory_fails_cleanly_at_every_allocation)
{
    struct image_set s = make();
    struct owner o = {0};
    const struct imrec_memory m = memory_of(&o, false);
    STARVING_SOME(starving)
    {
        struct imrec_iter *it;
        struct imrec_error err = {0};
        starving.st = try_open_in(&s, "", &m, &it, &err);
        imrec_iter_close(it);
        ck_assert_uint_eq(o.count, 0);
    }
    image_set_free(&s);
}

TEST(what_is_no_memory_is_refused)
{
    struct image_set s = make();
    struct owner o = {0};
    struct imrec_iter *it;
    struct imrec_error err = {0};
    struct imrec_memory m = memory_of(&o, false);
    ck_assert_int_eq(try_open_in(&s, "", NULL, &it, &err), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(err.message, "memory is NULL"));
    m.free = NULL;
    ck_assert_int_eq(try_open_in(&s, "", &m, &it, &err), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(err.message, "has no free"));
    m = memory_of(&o, false);
    m.struct_size = 8;
    ck_assert_int_eq(try_open_in(&s, "", &m, &it, &err), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(err.message, "struct_size"));
    m.struct_size = offsetof(struct imrec_memory, free_released); /* of an older header */
    ck_assert_int_eq(try_open_in(&s, "", &m, &it, &err), IMREC_OK);
    imrec_iter_close(it);
    ck_assert_uint_eq(o.asked, 3);
    image_set_free(&s);
}
