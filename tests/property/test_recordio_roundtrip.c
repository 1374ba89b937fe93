/* tests/property/test_recordio_roundtrip.c - random payloads, rich in magics: what is framed
 * comes back, and the framed bytes have the shape that makes resynchronising safe. */
#include "base/rng.h"
#include "formats/recordio/recordio.h"
#include "tests/support/guard.h"
#include "tests/support/suite.h"

enum { CASES = 160, RECORDS = 24, MAX_PAYLOAD = 96 };

struct shard {
    uint8_t payload[RECORDS][MAX_PAYLOAD];
    size_t size[RECORDS];
    size_t head[RECORDS + 1]; /* offsets of the heads, and the end */
    struct buf bytes;
};

static uint64_t draw(int test, uint64_t i, uint64_t j)
{
    return rng_block((struct rng_key){1, (uint64_t)test}, i, j, 0, RNG_AUGMENT).v[0];
}

/* Words are magic, a piece that looks like a head, or anything; the size need not be whole. */
static size_t make_payload(int test, uint64_t record, uint8_t *p)
{
    static const uint32_t words[] = {RECORDIO_MAGIC, RECORDIO_MAGIC, 0x20000004, 0x60000000, 0};
    for (uint64_t w = 0; w < MAX_PAYLOAD / 4; w++) {
        const uint64_t v = draw(test, record, w), kind = v % 8;
        store_le32(p + 4 * w, kind < 5 ? words[kind] : (uint32_t)(v >> 32));
    }
    const uint64_t v = draw(test, record, 1000);
    if (v % 4 == 0) /* a shifted magic, which must not be taken for one */
        memmove(p + 1, p, MAX_PAYLOAD - 1);
    return v / 4 % (MAX_PAYLOAD + 1);
}

static void make_shard(int test, struct shard *s)
{
    s->bytes = BUF_INIT(1 << 20);
    for (uint64_t r = 0; r < RECORDS; r++) {
        s->size[r] = make_payload(test, r, s->payload[r]);
        s->head[r] = s->bytes.n;
        ck_assert_int_eq(recordio_frame((struct bytes){s->payload[r], s->size[r]}, &s->bytes, NULL),
                         IMREC_OK);
        ck_assert_uint_eq(recordio_framed_bytes((struct bytes){s->payload[r], s->size[r]}),
                          s->bytes.n - s->head[r]);
    }
    s->head[RECORDS] = s->bytes.n;
}

static void every_record_comes_back_and_ends_where_the_next_begins(int test)
{
    struct shard s;
    make_shard(test, &s);
    struct buf scratch = BUF_INIT(1 << 20);
    for (size_t r = 0; r < RECORDS; r++) {
        struct recordio_span span;
        struct bytes copied;
        uint8_t *p = s.bytes.p + s.head[r];
        ck_assert_int_eq(recordio_measure(p, s.bytes.n - s.head[r], s.head[r], &span, NULL),
                         IMREC_OK);
        ck_assert_uint_eq(span.bytes, s.head[r + 1] - s.head[r]);
        ck_assert_uint_eq(recordio_swallowed(p, &span), span.bytes);
        ck_assert_int_eq(recordio_copy(p, &span, &scratch, &copied, NULL), IMREC_OK);
        ck_assert_uint_eq(copied.n, s.size[r]);
        ck_assert_mem_eq(copied.p, s.payload[r], s.size[r]);
        const struct bytes joined = recordio_join(p, &span);
        ck_assert_uint_eq(joined.n, s.size[r]);
        ck_assert_mem_eq(joined.p, s.payload[r], s.size[r]);
    }
    buf_free(&scratch);
    buf_free(&s.bytes);
}

static void the_aligned_magic_appears_at_part_heads_only(int test)
{
    struct shard s;
    make_shard(test, &s);
    size_t head = 0;
    for (size_t i = 0; i < s.bytes.n; i += 4) {
        const bool is_magic = load_le32(s.bytes.p + i) == RECORDIO_MAGIC;
        ck_assert_int_eq(is_magic, i == head);
        if (is_magic)
            head += 8 + ((load_le32(s.bytes.p + i + 4) & RECORDIO_PART_MAX_BYTES) + 3) / 4 * 4;
    }
    ck_assert_uint_eq(head, s.bytes.n);
    buf_free(&s.bytes);
}

static void sync_from_anywhere_lands_on_the_next_record(int test)
{
    struct shard s;
    make_shard(test, &s);
    size_t next = 0;
    for (size_t i = 0; i <= s.bytes.n; i += 4) {
        while (s.head[next] < i)
            next++;
        ck_assert_uint_eq(i + recordio_sync(s.bytes.p + i, s.bytes.n - i), s.head[next]);
    }
    buf_free(&s.bytes);
}

static void every_truncation_asks_for_more_and_never_for_too_much(int test)
{
    struct shard s;
    make_shard(test, &s);
    const size_t whole = s.head[1];
    for (size_t n = 0; n < whole; n++) {
        struct guarded g = guarded_copy(s.bytes.p, n);
        struct recordio_span span;
        ck_assert_int_eq(recordio_measure(g.p, n, 0, &span, NULL), IMREC_END);
        ck_assert_uint_gt(span.bytes, n);
        ck_assert_uint_le(span.bytes, whole);
        guarded_free(g);
    }
    buf_free(&s.bytes);
}

static void (*const properties[])(int test) = {
    every_record_comes_back_and_ends_where_the_next_begins,
    the_aligned_magic_appears_at_part_heads_only,
    sync_from_anywhere_lands_on_the_next_record,
    every_truncation_asks_for_more_and_never_for_too_much,
};

START_TEST(holds_for_random_shards) /* loop over properties: a fork a case is slow in asan */
{
    for (int test = 0; test < CASES; test++)
        properties[_i](test);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("recordio round trip");
    TCase *tc = tcase_create("random payloads");
    tcase_set_timeout(tc, 50);
    tcase_add_loop_test(tc, holds_for_random_shards, 0, sizeof(properties) / sizeof(properties[0]));
    suite_add_tcase(s, tc);
    return suite_run(s);
}
