/* tests/support/composed.h - of slots that show more than their own sample: on what they depend,
 * and what happens without memory. Each test program says what of a slot counts. */
#ifndef IMREC_TESTS_COMPOSED_H
#define IMREC_TESTS_COMPOSED_H

#include "tests/support/opening.h"
#include "tests/support/shards.h"

typedef uint64_t slot_hash_fn(const struct imrec_batch *b, uint32_t slot);

static inline uint64_t add_hash(uint64_t h, const void *from, size_t n)
{
    const uint8_t *p = from;
    for (size_t k = 0; k < n; k++)
        h = (h ^ p[k]) * 0x100000001b3u;
    return h;
}

/* The first n slots of the stream, and the position after the slot `stop`, if a batch ends there.
 */
static inline void slot_hashes(struct imrec_iter *it, slot_hash_fn *hash, uint64_t *out, uint32_t n,
                               uint32_t stop, char json[1024])
{
    struct imrec_batch b;
    const char *position;
    for (uint32_t at = 0; at < n;) {
        const enum imrec_status st = imrec_iter_next(it, &b, NULL);
        MUST(st == IMREC_OK || st == IMREC_END);
        for (uint32_t i = 0; st == IMREC_OK && i < b.count && at < n; i++)
            out[at++] = hash(&b, i);
        if (json != NULL && at == stop && json[0] == '\0') {
            ck_assert_int_eq(imrec_iter_position(it, &position, NULL), IMREC_OK);
            snprintf(json, 1024, "%s", position);
        }
    }
}

/* The same over a set, whose words `order` give windows of a few records each, so that a seek comes
 * into the middle of one: to `json`, or, NULL, from the begin. */
static inline void ordered_hashes(const char *rec, const char *common, const char *order,
                                  const char *more, const char *json, slot_hash_fn *hash,
                                  uint64_t *out, uint32_t n)
{
    char words[2048];
    snprintf(words, sizeof(words), "%s %s", order, more);
    struct imrec_iter *it = open_over(rec, common, words);
    if (json != NULL)
        ck_assert_int_eq(imrec_iter_seek(it, json, NULL), IMREC_OK);
    slot_hashes(it, hash, out, n, 0, NULL);
    imrec_iter_close(it);
}

/* Of n slots: threads, batch sizes and resumes change nothing; another seed does. */
static inline void only_the_order_must_matter(const char *rec, const char *common,
                                              const char *order, slot_hash_fn *hash, uint32_t n)
{
    enum { MOST = 128, STOP = 21 };
    uint64_t want[MOST], got[MOST];
    char json[1024] = "", words[2048];
    MUST(n > STOP && n <= MOST);
    snprintf(words, sizeof(words), "%s preprocess_threads=1 batch_size=7", order);
    struct imrec_iter *it = open_over(rec, common, words);
    slot_hashes(it, hash, want, n, STOP, json);
    ck_assert_msg(strstr(json, "\"window\": 0,") == NULL && json[0] == '{', "%s", json);
    imrec_iter_close(it);
    ordered_hashes(rec, common, order, "preprocess_threads=4 batch_size=16 prefetch_buffer=5", NULL,
                   hash, got, n);
    ck_assert_int_eq(memcmp(want, got, n * sizeof(*got)), 0);
    ordered_hashes(rec, common, order, "preprocess_threads=3 batch_size=5", json, hash, got,
                   n - STOP);
    ck_assert_int_eq(memcmp(want + STOP, got, (n - STOP) * sizeof(*got)), 0);
    ordered_hashes(rec, common, order, "seed_aug=9 batch_size=7", NULL, hash, got, n);
    ck_assert_int_ne(memcmp(want, got, n * sizeof(*got)), 0);
}

/* Whichever request for memory fails, opening or reading says so, or nothing changes. */
static inline void
missing_memory_must_be_told(const char *rec, const char *common, const char *words)
{
    bool failed = true;
    const long before = imrec_alloc_live();
    for (long n = 0; failed && n < 3000; n++) {
        struct imrec_iter *it = NULL;
        struct imrec_batch b;
        struct imrec_error err = {0};
        imrec_alloc_fail_after(n);
        enum imrec_status st = try_open_over(rec, common, words, &it, &err);
        if (st == IMREC_OK)
            st = imrec_iter_next(it, &b, &err);
        failed = imrec_alloc_has_failed();
        imrec_alloc_fail_after(-1);
        MUST(!failed || st != IMREC_OK || b.failed == 0);
        MUST(failed || st == IMREC_OK);
        MUST(st == IMREC_OK || strlen(err.message) > 0);
        imrec_iter_close(it);
        ck_assert_int_eq(imrec_alloc_live(), before);
    }
    ck_assert(!failed);
}
#endif
