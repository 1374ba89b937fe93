/* tests/unit/test_recordio.c - measure, join, copy, resynchronise, frame; by hand-made bytes. */
#include "base/alloc.h"
#include "base/error.h"
#include "formats/recordio/magic_scan.h"
#include "formats/recordio/recordio.h"
#include "tests/support/guard.h"
#include "tests/support/suite.h"

/* "abc", then a record that held the magic and was cut into two parts: "wxyz" MAGIC "!". */
static const uint8_t shard[] = {
    0x0a, 0x23, 0xd7, 0xce, 3, 0, 0, 0x00, 'a', 'b', 'c', 0,   /* whole */
    0x0a, 0x23, 0xd7, 0xce, 4, 0, 0, 0x20, 'w', 'x', 'y', 'z', /* first */
    0x0a, 0x23, 0xd7, 0xce, 1, 0, 0, 0x60, '!', 0,   0,   0,   /* last */
};
enum { FIRST_END = 12, SHARD_BYTES = sizeof(shard) };
#define JOINED "wxyz\x0a\x23\xd7\xce!"

START_TEST(measures_whole_and_split_records)
{
    struct recordio_span span;
    ck_assert_int_eq(recordio_measure(shard, SHARD_BYTES, 0, &span, NULL), IMREC_OK);
    ck_assert_uint_eq(span.bytes, 12);
    ck_assert_uint_eq(span.size, 3);
    ck_assert_uint_eq(span.parts, 1);
    ck_assert_int_eq(recordio_measure(shard + FIRST_END, SHARD_BYTES - FIRST_END, 0, &span, NULL),
                     IMREC_OK);
    ck_assert_uint_eq(span.bytes, 24);
    ck_assert_uint_eq(span.size, 9);
    ck_assert_uint_eq(span.parts, 2);
}
END_TEST

START_TEST(joins_in_place_what_copy_joins_elsewhere)
{
    struct recordio_span span;
    struct buf scratch = BUF_INIT(64);
    struct bytes copied;
    uint8_t mine[SHARD_BYTES];
    memcpy(mine, shard, sizeof(mine));
    ck_assert_int_eq(recordio_measure(mine + FIRST_END, SHARD_BYTES - FIRST_END, 0, &span, NULL),
                     IMREC_OK);
    ck_assert_int_eq(recordio_copy(mine + FIRST_END, &span, &scratch, &copied, NULL), IMREC_OK);
    ck_assert_mem_eq(mine, shard, sizeof(mine)); /* copying changes nothing */
    const struct bytes joined = recordio_join(mine + FIRST_END, &span);
    ck_assert_uint_eq(joined.n, 9);
    ck_assert_mem_eq(joined.p, JOINED, 9);
    ck_assert_uint_eq(copied.n, 9);
    ck_assert_mem_eq(copied.p, JOINED, 9);
    buf_free(&scratch);
}
END_TEST

START_TEST(views_a_whole_record_without_copying)
{
    struct recordio_span span;
    struct buf scratch = BUF_INIT(0);
    struct bytes copied;
    ck_assert_int_eq(recordio_measure(shard, SHARD_BYTES, 0, &span, NULL), IMREC_OK);
    ck_assert_int_eq(recordio_copy(shard, &span, &scratch, &copied, NULL), IMREC_OK);
    ck_assert_ptr_eq(copied.p, shard + 8);
    ck_assert_uint_eq(copied.n, 3);
}
END_TEST

START_TEST(a_truncated_record_asks_for_the_least_that_helps) /* loop: _i bytes of it are there */
{
    const size_t n = (size_t)_i, want = n < 8 ? 8 : n < 20 ? 20 : 24;
    struct guarded g = guarded_copy(shard + FIRST_END, n);
    struct recordio_span span = {0};
    const enum imrec_status st = recordio_measure(g.p, n, 0, &span, NULL);
    ck_assert_int_eq(st, n == 24 ? IMREC_OK : IMREC_END);
    ck_assert_uint_eq(span.bytes, want);
    guarded_free(g);
}
END_TEST

static const struct {
    uint8_t flags[2];
    uint64_t offset;
} bad_orders[] = {{{1, 0}, 108}, {{1, 1}, 108}, {{2, 3}, 100}, {{3, 0}, 100},
                  {{4, 0}, 100}, {{7, 0}, 100}, {{1, 4}, 108}};

START_TEST(refuses_an_impossible_order_of_parts) /* loop over bad_orders; the part is named */
{
    const uint8_t two[] = {
        0x0a, 0x23, 0xd7, 0xce, 0, 0, 0, (uint8_t)(bad_orders[_i].flags[0] << 5),
        0x0a, 0x23, 0xd7, 0xce, 0, 0, 0, (uint8_t)(bad_orders[_i].flags[1] << 5)};
    struct recordio_span span;
    struct imrec_error err = {0};
    ck_assert_int_eq(recordio_measure(two, sizeof(two), 100, &span, &err), IMREC_ERR_CORRUPT);
    ck_assert_uint_eq(err.offset, bad_orders[_i].offset);
    ck_assert_str_ne(err.message, "");
}
END_TEST

START_TEST(refuses_a_wrong_magic_in_any_of_its_bits) /* loop: bit _i of the first head */
{
    uint8_t mine[SHARD_BYTES];
    struct recordio_span span;
    struct imrec_error err = {0};
    memcpy(mine, shard, sizeof(mine));
    mine[_i / 8] ^= (uint8_t)(1 << _i % 8);
    ck_assert_int_eq(recordio_measure(mine, sizeof(mine), 7, &span, &err), IMREC_ERR_CORRUPT);
    ck_assert_uint_eq(err.offset, 7);
}
END_TEST

/* Memory that costs nothing before it is touched. */
static uint8_t *reserve(size_t n)
{
    uint8_t *p =
        mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert_ptr_ne(p, MAP_FAILED);
    return p;
}

START_TEST(parts_may_add_up_to_the_limit_and_no_further) /* loop: bytes over it */
{
    const uint32_t first = 1u << 28, last = RECORDIO_PART_MAX_BYTES - 4 - first + (uint32_t)_i;
    const size_t n = 16 + (size_t)first + last / 4 * 4 + 4;
    uint8_t *p = reserve(n);
    struct recordio_span span;
    store_le32(p, RECORDIO_MAGIC);
    store_le32(p + 4, 1u << 29 | first);
    store_le32(p + 8 + first, RECORDIO_MAGIC);
    store_le32(p + 12 + first, 3u << 29 | last);
    ck_assert_int_eq(recordio_measure(p, n, 0, &span, NULL),
                     _i == 0 ? IMREC_OK : IMREC_ERR_CORRUPT);
    if (_i == 0)
        ck_assert_uint_eq(span.size, RECORDIO_PART_MAX_BYTES);
    munmap(p, n);
}
END_TEST

START_TEST(a_record_of_the_limit_may_be_framed_and_one_more_byte_is_refused)
{
    const size_t most = RECORDIO_PART_MAX_BYTES;
    uint8_t *p = reserve(most + 1);
    struct buf out = BUF_INIT(SIZE_MAX / 2);
    ck_assert_int_eq(recordio_frame((struct bytes){p, most + 1}, &out, NULL), IMREC_ERR_LIMIT);
    imrec_alloc_fail_after(0); /* half a gigabyte need not be written to see that it may */
    ck_assert_int_eq(recordio_frame((struct bytes){p, most}, &out, NULL), IMREC_ERR_NO_MEMORY);
    imrec_alloc_fail_after(-1);
    ck_assert_uint_eq(out.n, 0);
    buf_free(&out);
    munmap(p, most + 1);
}
END_TEST

START_TEST(sync_finds_the_next_head_and_no_later_part) /* loop: from every word of the shard */
{
    const size_t from = 4 * (size_t)_i;
    const size_t found = from + recordio_sync(shard + from, SHARD_BYTES - from);
    ck_assert_uint_eq(found, from == 0 ? 0 : from <= FIRST_END ? FIRST_END : SHARD_BYTES);
}
END_TEST

START_TEST(sync_wants_all_eight_bytes_of_a_head) /* loop: _i bytes of the shard */
{
    struct guarded g = guarded_copy(shard, (size_t)_i);
    ck_assert_uint_eq(recordio_sync(g.p, (size_t)_i), _i < 8 ? (size_t)_i : 0);
    guarded_free(g);
}
END_TEST

START_TEST(a_length_that_swallows_the_next_record_is_found_out)
{
    struct recordio_span span;
    uint8_t mine[SHARD_BYTES];
    memcpy(mine, shard, sizeof(mine));
    ck_assert_int_eq(recordio_measure(mine, sizeof(mine), 0, &span, NULL), IMREC_OK);
    ck_assert_uint_eq(recordio_swallowed(mine, &span), span.bytes);
    mine[4] = 3 + 12;
    ck_assert_int_eq(recordio_measure(mine, sizeof(mine), 0, &span, NULL), IMREC_OK);
    ck_assert_uint_eq(recordio_swallowed(mine, &span), FIRST_END);

    uint8_t two[SHARD_BYTES - FIRST_END + 12]; /* a last part that swallows a whole record */
    memcpy(two, shard + FIRST_END, SHARD_BYTES - FIRST_END);
    memcpy(two + SHARD_BYTES - FIRST_END, shard, FIRST_END);
    two[16] = 4 + 12;
    ck_assert_int_eq(recordio_measure(two, sizeof(two), 0, &span, NULL), IMREC_OK);
    ck_assert_uint_eq(span.bytes, sizeof(two));
    ck_assert_uint_eq(recordio_swallowed(two, &span), SHARD_BYTES - FIRST_END);
}
END_TEST

START_TEST(every_scan_variant_finds_the_magic_at_every_place) /* loop over the variants */
{
    const struct magic_scan_variant *v = &magic_scan_variants[_i];
    if (!cpu_has(v->level))
        return;
    for (size_t n = 0; n <= 300; n++) {
        uint8_t zeros[300] = {0};
        struct guarded g = guarded_copy(zeros, n);
        ck_assert_uint_eq(v->scan(g.p, n), n);
        for (size_t at = 0; at + 4 <= n; at++) { /* unaligned ones must not count */
            store_le32(g.p + at, RECORDIO_MAGIC);
            ck_assert_uint_eq(v->scan(g.p, n), at % 4 == 0 ? at : n);
            store_le32(g.p + at, 0);
        }
        guarded_free(g);
    }
}
END_TEST

START_TEST(framing_leaves_no_half_record_when_an_allocation_fails)
{
    static const uint8_t payload[600] = {0x0a, 0x23, 0xd7, 0xce};
    enum imrec_status st = IMREC_ERR_NO_MEMORY;
    for (long n = 0; st == IMREC_ERR_NO_MEMORY; n++) {
        struct buf out = BUF_INIT(1 << 20);
        imrec_alloc_fail_after(n);
        st = recordio_frame((struct bytes){payload, sizeof(payload)}, &out, NULL);
        ck_assert_uint_eq(out.n, st == IMREC_OK ? 8 + 8 + 596 : 0);
        buf_free(&out);
        ck_assert_int_eq(imrec_alloc_live(), 0);
    }
    imrec_alloc_fail_after(-1);
    ck_assert_int_eq(st, IMREC_OK);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("recordio");
    TCase *tc = tcase_create("bytes");
    tcase_set_timeout(tc, 50);
    tcase_add_test(tc, measures_whole_and_split_records);
    tcase_add_test(tc, joins_in_place_what_copy_joins_elsewhere);
    tcase_add_test(tc, views_a_whole_record_without_copying);
    tcase_add_loop_test(tc, a_truncated_record_asks_for_the_least_that_helps, 0, 25);
    tcase_add_loop_test(tc, refuses_an_impossible_order_of_parts, 0,
                        sizeof(bad_orders) / sizeof(bad_orders[0]));
    tcase_add_loop_test(tc, refuses_a_wrong_magic_in_any_of_its_bits, 0, 32);
    tcase_add_loop_test(tc, parts_may_add_up_to_the_limit_and_no_further, 0, 2);
    tcase_add_test(tc, a_record_of_the_limit_may_be_framed_and_one_more_byte_is_refused);
    tcase_add_loop_test(tc, sync_finds_the_next_head_and_no_later_part, 0, SHARD_BYTES / 4);
    tcase_add_loop_test(tc, sync_wants_all_eight_bytes_of_a_head, 0, SHARD_BYTES);
    tcase_add_test(tc, a_length_that_swallows_the_next_record_is_found_out);
    tcase_add_loop_test(tc, every_scan_variant_finds_the_magic_at_every_place, 0,
                        (int)magic_scan_variant_count);
    tcase_add_test(tc, framing_leaves_no_half_record_when_an_allocation_fails);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
