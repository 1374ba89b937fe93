/* tests/unit/test_checksums.c - CRC-32C against RFC 3720, joining, and the .crc file. */
#include "base/alloc.h"
#include "base/rng.h"
#include "formats/crc32c.h"
#include "formats/set/checksums.h"
#include "tests/support/guard.h"
#include "tests/support/suite.h"

#include <stdio.h>

static uint8_t noise[40000];

static void make_noise(void)
{
    for (size_t i = 0; i < sizeof(noise); i++)
        noise[i] =
            (uint8_t)rng_block((struct rng_key){1, 2}, i / 8, 0, 0, RNG_AUGMENT).v[0] >> i % 8;
}

START_TEST(gives_the_checksums_of_the_standard) /* loop over the variants */
{
    const struct crc32c_variant *v = &crc32c_variants[_i];
    uint8_t b[32];
    if (!cpu_has(v->level))
        return;
    memset(b, 0, sizeof(b));
    ck_assert_uint_eq(v->update(0, b, 32), 0x8a9136aau);
    memset(b, 0xff, sizeof(b));
    ck_assert_uint_eq(v->update(0, b, 32), 0x62a8ab43u);
    for (int i = 0; i < 32; i++)
        b[i] = (uint8_t)i;
    ck_assert_uint_eq(v->update(0, b, 32), 0x46dd794eu);
    ck_assert_uint_eq(v->update(0, "123456789", 9), 0xe3069283u);
    ck_assert_uint_eq(v->update(7, "", 0), 7);
}
END_TEST

START_TEST(every_variant_gives_what_the_scalar_one_gives) /* loop over the variants */
{
    const struct crc32c_variant *v = &crc32c_variants[_i];
    static const size_t sizes[] = {0, 1, 7, 8, 9, 63, 12287, 12288, 12289, 24576, 36865, 40000};
    if (!cpu_has(v->level))
        return;
    make_noise();
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct guarded g = guarded_copy(noise, sizes[i]);
        ck_assert_uint_eq(v->update(0x1234567, g.p, sizes[i]),
                          crc32c_variants[0].update(0x1234567, noise, sizes[i]));
        guarded_free(g);
    }
}
END_TEST

START_TEST(joining_pieces_gives_the_checksum_of_the_whole)
{
    make_noise();
    const uint32_t whole = crc32c(0, noise, sizeof(noise));
    for (size_t cut = 0; cut <= sizeof(noise); cut += 611) {
        const uint32_t a = crc32c(0, noise, cut), b = crc32c(0, noise + cut, sizeof(noise) - cut);
        ck_assert_uint_eq(crc32c_join(a, b, sizeof(noise) - cut), whole);
        ck_assert_uint_eq(crc32c(a, noise + cut, sizeof(noise) - cut), whole);
    }
}
END_TEST

START_TEST(joining_knows_lengths_beyond_32_bits) /* 2^k zeros behind one byte, k = _i */
{
    uint32_t zeros = crc32c(0, "", 1), all = crc32c(0, "a", 1);
    for (int k = 0; k < _i; k++) /* twice as many zeros a turn */
        zeros = crc32c_join(zeros, zeros, 1ull << k);
    const uint32_t once = crc32c_join(all, zeros, 1ull << _i);
    uint32_t half = crc32c(0, "", 1);
    for (int k = 0; k < _i - 1; k++)
        half = crc32c_join(half, half, 1ull << k);
    all = crc32c_join(all, half, 1ull << (_i - 1));
    all = crc32c_join(all, half, 1ull << (_i - 1));
    ck_assert_uint_eq(once, all);
}
END_TEST

enum { RECORDS = 5 };
static const uint64_t lengths[RECORDS] = {8, 12, 40000, 8, 1u << 30};

static struct buf make_file(void)
{
    struct buf out = BUF_INIT(1 << 12);
    struct checksums_writer w;
    ck_assert_int_eq(checksums_begin(&w, &out, NULL), IMREC_OK);
    for (uint32_t i = 0; i < RECORDS; i++)
        ck_assert_int_eq(checksums_add(&w, lengths[i], 100 + i, &out, NULL), IMREC_OK);
    ck_assert_uint_eq(out.n, CHECKSUMS_HEADER_BYTES + RECORDS * CHECKSUMS_ENTRY_BYTES);
    ck_assert_int_eq(checksums_finish(&w, &out, NULL), IMREC_OK);
    return out;
}

START_TEST(a_file_gives_back_length_offset_and_checksum_of_every_record)
{
    struct buf file = make_file();
    struct checksums c;
    struct checksum sum;
    uint64_t offset = 0;
    ck_assert_int_eq(checksums_open("a.crc", (struct bytes){file.p, file.n}, &c, NULL), IMREC_OK);
    ck_assert_uint_eq(c.records, RECORDS);
    uint32_t whole = 0;
    for (uint32_t i = 0; i < RECORDS; i++)
        whole = crc32c_join(whole, 100 + i, lengths[i]);
    ck_assert_uint_eq(c.shard_crc, whole);
    for (uint32_t i = 0; i < RECORDS; i++) {
        ck_assert(checksums_next(&c, &sum));
        ck_assert_uint_eq(sum.record, i);
        ck_assert_uint_eq(sum.offset, offset);
        ck_assert_uint_eq(sum.framed_bytes, lengths[i]);
        ck_assert_uint_eq(sum.crc, 100 + i);
        offset += lengths[i];
    }
    ck_assert(!checksums_next(&c, &sum));
    ck_assert_uint_eq(c.shard_bytes, offset);
    buf_free(&file);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}
END_TEST

START_TEST(the_checksum_of_the_shard_is_that_of_all_its_bytes)
{
    struct buf out = BUF_INIT(1 << 12);
    struct checksums_writer w;
    make_noise();
    ck_assert_int_eq(checksums_begin(&w, &out, NULL), IMREC_OK);
    for (size_t i = 0; i < sizeof(noise); i += 8000)
        ck_assert_int_eq(checksums_add(&w, 8000, crc32c(0, noise + i, 8000), &out, NULL), IMREC_OK);
    ck_assert_uint_eq(w.shard_crc, crc32c(0, noise, sizeof(noise)));
    ck_assert_uint_eq(w.shard_bytes, sizeof(noise));
    buf_free(&out);
}
END_TEST

START_TEST(every_damaged_bit_is_noticed) /* loop: byte _i */
{
    struct buf file = make_file();
    struct checksums c;
    for (int bit = 0; bit < 8; bit++) {
        struct imrec_error err = {0};
        file.p[_i] ^= (uint8_t)(1 << bit);
        ck_assert_int_ne(checksums_open("a.crc", (struct bytes){file.p, file.n}, &c, &err),
                         IMREC_OK);
        ck_assert_msg(strncmp(err.message, "a.crc: ", 7) == 0, "%s", err.message);
        file.p[_i] ^= (uint8_t)(1 << bit);
    }
    buf_free(&file);
}
END_TEST

START_TEST(every_truncation_is_noticed) /* loop: _i bytes */
{
    struct buf file = make_file();
    struct guarded g = guarded_copy(file.p, (size_t)_i);
    struct checksums c;
    ck_assert_int_eq(checksums_open("a.crc", (struct bytes){g.p, (size_t)_i}, &c, NULL),
                     IMREC_ERR_CORRUPT);
    guarded_free(g);
    buf_free(&file);
}
END_TEST

START_TEST(a_footer_that_lies_is_noticed_even_with_a_right_checksum) /* loop: its two numbers */
{
    struct buf file = make_file();
    struct checksums c;
    struct imrec_error err = {0};
    file.p[file.n - CHECKSUMS_FOOTER_BYTES + 8 * (size_t)_i]++;
    store_le32(file.p + file.n - 4, crc32c(0, file.p, file.n - 4));
    ck_assert_int_eq(checksums_open("a.crc", (struct bytes){file.p, file.n}, &c, &err),
                     IMREC_ERR_CORRUPT);
    ck_assert_ptr_nonnull(strstr(err.message, "footer"));
    buf_free(&file);
}
END_TEST

START_TEST(another_version_is_not_read) /* loop: version, and what is behind it */
{
    struct buf file = make_file();
    struct checksums c;
    file.p[8 + 4 * _i]++;
    store_le32(file.p + file.n - 4, crc32c(0, file.p, file.n - 4));
    ck_assert_int_eq(checksums_open("a.crc", (struct bytes){file.p, file.n}, &c, NULL),
                     IMREC_ERR_UNSUPPORTED);
    buf_free(&file);
}
END_TEST

START_TEST(a_file_too_short_for_a_footer_is_refused_though_its_checksum_is_right)
{
    struct buf file = make_file();
    struct checksums c;
    struct imrec_error err = {0};
    for (size_t n = CHECKSUMS_HEADER_BYTES + 8; n < CHECKSUMS_HEADER_BYTES + 24; n += 4) {
        struct guarded g = guarded_copy(file.p, n);
        store_le32(g.p + n - 4, crc32c(0, g.p, n - 4));
        ck_assert_int_eq(checksums_open("a.crc", (struct bytes){g.p, n}, &c, &err),
                         IMREC_ERR_CORRUPT);
        ck_assert_ptr_nonnull(strstr(err.message, "cut short"));
        guarded_free(g);
    }
    buf_free(&file);
}
END_TEST

START_TEST(an_empty_shard_has_an_empty_file_of_checksums)
{
    struct buf out = BUF_INIT(1 << 12);
    struct checksums_writer w;
    struct checksums c;
    struct checksum sum;
    ck_assert_int_eq(checksums_begin(&w, &out, NULL), IMREC_OK);
    ck_assert_int_eq(checksums_finish(&w, &out, NULL), IMREC_OK);
    ck_assert_int_eq(checksums_open("a.crc", (struct bytes){out.p, out.n}, &c, NULL), IMREC_OK);
    ck_assert(!checksums_next(&c, &sum));
    ck_assert_uint_eq(c.records + c.shard_bytes + c.shard_crc, 0);
    buf_free(&out);
}
END_TEST

START_TEST(a_length_no_record_can_have_is_refused)
{
    struct buf out = BUF_INIT(1 << 12);
    struct checksums_writer w = {0};
    ck_assert_int_eq(checksums_add(&w, 7, 0, &out, NULL), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(checksums_add(&w, 1ull << 32, 0, &out, NULL), IMREC_ERR_ARGUMENT);
    ck_assert_uint_eq(w.records + out.n, 0);
}
END_TEST

enum {
    FILE_BYTES = CHECKSUMS_HEADER_BYTES + RECORDS * CHECKSUMS_ENTRY_BYTES + CHECKSUMS_FOOTER_BYTES
};

START_TEST(the_table_finds_the_first_record_at_or_behind_every_byte) /* _i: records */
{
    struct buf out = BUF_INIT(1 << 16);
    struct checksums_writer w;
    struct checksums c;
    struct checksum_table t;
    struct checksum sum;
    uint64_t begin[200], offset = 0;
    ck_assert_int_eq(checksums_begin(&w, &out, NULL), IMREC_OK);
    for (int i = 0; i < _i; offset += 8 + 4 * (uint64_t)(i % 7), i++) {
        begin[i] = offset;
        ck_assert_int_eq(checksums_add(&w, 8 + 4 * (uint64_t)(i % 7), (uint32_t)i, &out, NULL),
                         IMREC_OK);
    }
    ck_assert_int_eq(checksums_finish(&w, &out, NULL), IMREC_OK);
    ck_assert_int_eq(checksums_open("a", (struct bytes){out.p, out.n}, &c, NULL), IMREC_OK);
    ck_assert(checksums_next(&c, &sum) || _i == 0); /* where the cursor stands does not matter */
    ck_assert_int_eq(checksum_table_make(&c, &t, NULL), IMREC_OK);
    for (uint64_t at = 0, next = 0; at <= offset; at++) {
        while (next < (uint64_t)_i && begin[next] < at)
            next++;
        ck_assert(checksum_table_at(&t, at, &sum) == (next < (uint64_t)_i));
        if (next < (uint64_t)_i)
            ck_assert(sum.record == next && sum.offset == begin[next] && sum.crc == next);
    }
    for (uint64_t i = 0; i < (uint64_t)_i; i++)
        ck_assert_uint_eq(checksum_table_entry(&t, i).offset, begin[i]);
    checksum_table_free(&t);
    buf_free(&out);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}
END_TEST

START_TEST(what_a_broken_file_still_has_can_be_used)
{
    struct buf file = make_file();
    struct checksums c;
    struct checksum sum;
    file.p[CHECKSUMS_HEADER_BYTES + 4] ^= 1; /* the first record's checksum */
    ck_assert_int_eq(checksums_open("a", (struct bytes){file.p, file.n}, &c, NULL),
                     IMREC_ERR_CORRUPT);
    ck_assert(checksums_salvage((struct bytes){file.p, file.n}, &c));
    for (uint32_t i = 0; i < RECORDS; i++) {
        ck_assert(checksums_next(&c, &sum));
        ck_assert_uint_eq(sum.framed_bytes, lengths[i]);
        ck_assert(i == 0 || sum.crc == 100 + i);
    }
    ck_assert(checksums_salvage((struct bytes){file.p, CHECKSUMS_HEADER_BYTES + 9}, &c));
    ck_assert_uint_eq(c.records, 1);
    ck_assert(!checksums_salvage((struct bytes){file.p, CHECKSUMS_HEADER_BYTES + 7}, &c));
    file.p[8] = 2; /* another version */
    ck_assert(!checksums_salvage((struct bytes){file.p, file.n}, &c));
    buf_free(&file);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("checksums");
    TCase *tc = tcase_create("crc32c");
    tcase_add_loop_test(tc, gives_the_checksums_of_the_standard, 0, (int)crc32c_variant_count);
    tcase_add_loop_test(tc, every_variant_gives_what_the_scalar_one_gives, 0,
                        (int)crc32c_variant_count);
    tcase_add_test(tc, joining_pieces_gives_the_checksum_of_the_whole);
    tcase_add_loop_test(tc, joining_knows_lengths_beyond_32_bits, 1, 60);
    suite_add_tcase(s, tc);
    tc = tcase_create("file");
    tcase_add_test(tc, a_file_gives_back_length_offset_and_checksum_of_every_record);
    tcase_add_test(tc, the_checksum_of_the_shard_is_that_of_all_its_bytes);
    tcase_add_loop_test(tc, every_damaged_bit_is_noticed, 0, FILE_BYTES);
    tcase_add_loop_test(tc, every_truncation_is_noticed, 0, FILE_BYTES);
    tcase_add_loop_test(tc, a_footer_that_lies_is_noticed_even_with_a_right_checksum, 0, 2);
    tcase_add_loop_test(tc, another_version_is_not_read, 0, 2);
    tcase_add_test(tc, a_file_too_short_for_a_footer_is_refused_though_its_checksum_is_right);
    tcase_add_test(tc, an_empty_shard_has_an_empty_file_of_checksums);
    tcase_add_test(tc, a_length_no_record_can_have_is_refused);
    tcase_add_loop_test(tc, the_table_finds_the_first_record_at_or_behind_every_byte, 0, 200);
    tcase_add_test(tc, what_a_broken_file_still_has_can_be_used);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
