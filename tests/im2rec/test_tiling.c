/* JPEGs of records coded again in tiles, in little memory: the same records, in the same order. */
#include "base/alloc.h"
#include "base/error.h"
#include "codec/codec.h"
#include "im2rec/item/budget.h"
#include "im2rec/reshape/tiling.h"
#include "tests/support/images.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

enum { RECORDS = 20, HEAD = 8, TAIL = 5 };

static const struct jpeg_layout
    photo = {.colours = COLOURS_YCC, .h = 2, .v = 2, .quality = 100, .optimal = true},
    small = {.colours = COLOURS_YCC, .h = 1, .v = 1, .progressive = true},
    grey = {.colours = COLOURS_GREY, .h = 1, .v = 1, .quality = 1, .progressive = true};

static struct bytes images[3]; /* whose coding takes about 30 MiB; little; 70 MiB */

struct set {
    uint32_t next, put, tiled;
    bool photos;          /* all of them, else images of every kind */
    uint32_t fails_at;    /* the put that fails */
    uint64_t bytes, hash; /* of what was put */
    uint8_t *record;
};

static uint32_t kind_of(uint32_t i)
{
    return i == 7 ? 2 : i % 3 == 0 ? 0 : 1;
}

static enum imrec_status next(void *context, struct tiling_record *out, struct imrec_error *err)
{
    struct set *s = context;
    (void)err;
    if (s->next == RECORDS)
        return IMREC_END;
    const uint32_t i = s->next++;
    const struct bytes image = images[s->photos ? 0 : kind_of(i)];
    free(s->record);
    s->record = malloc(HEAD + image.n + TAIL);
    memset(s->record, (int)i, HEAD);
    memcpy(s->record + HEAD, image.p, image.n);
    memset(s->record + HEAD + image.n, 200 - (int)i, TAIL);
    *out = (struct tiling_record){
        .to = {.id = i, .path = "x", .record = {s->record, HEAD + image.n + TAIL}},
        .image_at = HEAD,
        .image_size = image.n};
    return IMREC_OK;
}

static enum imrec_status
put(void *context, const struct tiling_record *r, bool tiled, struct imrec_error *err)
{
    struct set *s = context;
    const struct bytes b = r->to.record;
    ck_assert_uint_eq(r->to.id, s->put);
    ck_assert(b.p[0] == s->put && b.p[HEAD - 1] == s->put && b.p[b.n - 1] == 200 - s->put);
    if (s->put == s->fails_at)
        return IMREC_REFUSE(err, "put fails");
    s->put++;
    s->tiled += tiled;
    s->bytes += b.n;
    for (size_t i = 0; i < b.n; i += 13)
        s->hash = s->hash * 31 + b.p[i];
    return IMREC_OK;
}

static const uint64_t little = 64 << 20; /* two photographs at a time, and not the third kind */

static struct set run(bool photos, int64_t threads, uint64_t memory, uint32_t fails_at)
{
    struct imrec_error err;
    struct set s = {.photos = photos, .fails_at = fails_at};
    const enum imrec_status st = tiling_run(
        &(struct tiling){
            .context = &s, .next = next, .put = put, .threads = threads, .memory = memory},
        &err);
    ck_assert_int_eq(st, fails_at < RECORDS ? IMREC_ERR_ARGUMENT : IMREC_OK);
    if (st == IMREC_ERR_ARGUMENT)
        ck_assert_str_eq(err.message, "put fails");
    free(s.record);
    s.record = NULL;
    return s;
}

static void setup(void)
{
    images[0] = jpeg_make(901, 801, &photo);
    images[1] = jpeg_make(75, 60, &small);
    images[2] = jpeg_make(5000, 4000, &grey);
}

static void teardown(void)
{
    for (size_t i = 0; i < 3; i++)
        bytes_free(images[i]);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

CASE(.timeout = 100, .setup = setup, .teardown = teardown)

TEST(threads_that_wait_for_memory_put_the_same_records)
{
    const struct set all = run(false, 1, 1 << 30, UINT32_MAX);
    const struct set a = run(false, 1, little, UINT32_MAX);
    ck_assert_uint_eq(all.tiled, RECORDS);
    ck_assert_uint_eq(a.tiled, RECORDS - 1);
    for (int64_t threads = 2; threads <= 8; threads *= 2) {
        const struct set b = run(false, threads, little, UINT32_MAX);
        ck_assert_uint_eq(b.put, RECORDS);
        ck_assert_uint_eq(b.tiled, a.tiled);
        ck_assert(b.bytes == a.bytes && b.hash == a.hash);
    }
}

TEST(records_that_wait_to_be_put_take_their_share)
{
    ck_assert_uint_eq(run(true, 8, little, UINT32_MAX).tiled, RECORDS);
}

LOOP_TEST(a_record_that_cannot_be_put_ends_threads_that_wait, 0, 3)
{
    ck_assert_uint_eq(run(true, 8, little, (uint32_t)_i * 5).put, (uint32_t)_i * 5);
}

TEST(memory_that_runs_out_is_an_error_and_never_a_hang)
{
    long failures = 0;
    for (long n = 0;; n += 1 + n / 3, failures++) {
        struct imrec_error err;
        struct set s = {.fails_at = UINT32_MAX};
        imrec_alloc_fail_after(n);
        const enum imrec_status st = tiling_run(
            &(struct tiling){
                .context = &s, .next = next, .put = put, .threads = 3, .memory = little},
            &err);
        imrec_alloc_fail_after(-1);
        free(s.record);
        ck_assert_int_eq(imrec_alloc_live(), 0);
        if (st == IMREC_OK)
            break;
        ck_assert_int_eq(st, IMREC_ERR_NO_MEMORY);
    }
    ck_assert_int_gt(failures, 5);
}
