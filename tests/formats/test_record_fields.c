/* Fields behind an image: found, refused, written; and masks, old and new. */
#include "formats/crc32c.h"
#include "formats/recordio/record_fields.h"
#include "formats/recordio/record_mask.h"
#include "tests/support/suite.h"

#include <string.h>

static struct buf g_out;

static void begin(void)
{
    g_out = BUF_INIT((size_t)1 << 20);
    ck_assert_int_eq(buf_append(&g_out, "photo", 5, NULL), IMREC_OK);
}

static void end(void)
{
    buf_free(&g_out);
}

static struct bytes text(const char *t)
{
    return (struct bytes){(const uint8_t *)t, strlen(t)};
}

static void put_three(void)
{
    static const uint8_t number[8] = {7};
    const struct record_field f[] = {{text("caption"), text("a cat"), FIELD_BYTES},
                                     {text("mask"), text("PNG"), FIELD_BYTES},
                                     {text("n"), {number, 8}, FIELD_INT64}};
    const size_t before = g_out.n;
    ck_assert_int_eq(record_fields_append(&g_out, f, 3, NULL), IMREC_OK);
    ck_assert_uint_eq(g_out.n - before, record_fields_bytes(f, 3));
}

static enum imrec_status split(size_t n, struct record_payload *p, struct imrec_error *err)
{
    return record_payload_split((struct bytes){g_out.p, n}, p, err);
}

CASE(.setup = begin, .teardown = end)

TEST(fields_are_what_was_written)
{
    struct record_payload p;
    struct record_field f;
    put_three();
    ck_assert_mem_eq(g_out.p + g_out.n - 8,
                     "\x8b"
                     "flds1\r\n",
                     8);
    ck_assert_int_eq(split(g_out.n, &p, NULL), IMREC_OK);
    ck_assert(p.image.n == 5 && p.field_count == 3 && p.mask.n == 3);
    ck_assert_mem_eq(p.mask.p, "PNG", 3);
    ck_assert(record_fields_next(&p.fields, &f) && f.type == FIELD_BYTES);
    ck_assert(f.name.n == 7 && memcmp(f.name.p, "caption", 7) == 0);
    ck_assert(f.value.n == 5 && memcmp(f.value.p, "a cat", 5) == 0);
    ck_assert(record_fields_next(&p.fields, &f) && record_fields_next(&p.fields, &f));
    ck_assert(f.type == FIELD_INT64 && f.value.n == 8 && f.value.p[0] == 7);
    ck_assert(!record_fields_next(&p.fields, &f));
}

TEST(a_mask_alone_is_still_read)
{
    struct record_payload p;
    uint8_t trailer[RECORD_MASK_TRAILER_BYTES];
    record_mask_trailer(text("PNG"), trailer);
    ck_assert_int_eq(buf_append(&g_out, "PNG", 3, NULL), IMREC_OK);
    ck_assert_int_eq(buf_append(&g_out, trailer, sizeof(trailer), NULL), IMREC_OK);
    ck_assert_int_eq(split(g_out.n, &p, NULL), IMREC_OK);
    ck_assert(p.image.n == 5 && p.mask.n == 3 && p.field_count == 0 && p.fields.n == 0);
}

TEST(a_record_that_was_cut_has_no_fields)
{
    struct record_payload p;
    put_three();
    for (size_t n = 0; n < g_out.n; n++) {
        ck_assert_int_eq(split(n, &p, NULL), IMREC_OK);
        ck_assert(p.image.n == n && p.field_count == 0 && p.mask.n == 0);
    }
}

TEST(any_byte_that_changes_is_noticed)
{
    struct record_payload p;
    put_three();
    for (size_t i = 5; i < g_out.n - 8; i++) {
        g_out.p[i] ^= 0x40;
        ck_assert_int_eq(split(g_out.n, &p, NULL), IMREC_ERR_CORRUPT);
        ck_assert(p.image.n == g_out.n && p.field_count == 0 && p.mask.p == NULL);
        g_out.p[i] ^= 0x40;
    }
}

/* Who wrote the CRC has written this, too. */
static const struct lie {
    size_t at; /* in the fields or, from the end, the trailer */
    bool trailer;
    uint8_t value;
    const char *words;
} lies[] = {
    {0, false, FIELD_TYPES, "field 0 is none"},
    {1, false, 1, "field 0 is none"},
    {2, false, 0, "field 0 is none"},
    {3, false, 255, "field 0 is none"},
    {4, false, 255, "is none"},
    {7, false, 255, "field 0 is none"},
    {0, true, 2, "field 3 is none"},
    {0, true, 4, "there are 4 fields"},
};

LOOP_TEST(lies_with_a_right_checksum_are_refused, 0, COUNT(lies))
{
    const struct lie *lie = &lies[_i];
    struct record_payload p;
    struct imrec_error err;
    put_three();
    uint8_t *trailer = g_out.p + g_out.n - RECORD_FIELDS_TRAILER_BYTES;
    *(lie->trailer ? trailer + lie->at : g_out.p + 5 + lie->at) = lie->value;
    const size_t n = (size_t)(trailer - g_out.p) - 5;
    store_le32(trailer + 8, crc32c(0, g_out.p + 5, n + 8));
    ck_assert_int_eq(split(g_out.n, &p, &err), IMREC_ERR_CORRUPT);
    ck_assert_msg(strstr(err.message, lie->words) != NULL, "%s", err.message);
    ck_assert(p.image.n == g_out.n && p.mask.p == NULL);
}

TEST(what_a_record_cannot_have_is_not_written)
{
    const struct record_field nameless = {{NULL, 0}, {NULL, 0}, FIELD_BYTES};
    const struct record_field long_name = {{g_out.p, 65536}, {NULL, 0}, FIELD_BYTES};
    const struct record_field large = {{g_out.p, 1}, {g_out.p, (size_t)1 << 32}, FIELD_BYTES};
    const struct record_field *all[] = {&nameless, &long_name, &large};
    struct imrec_error err;
    for (int i = 0; i < 3; i++) {
        ck_assert(record_fields_bytes(all[i], 1) == UINT64_MAX);
        ck_assert_int_eq(record_fields_append(&g_out, all[i], 1, &err), IMREC_ERR_LIMIT);
    }
    ck_assert(record_fields_bytes(&nameless, RECORD_FIELDS_MOST + 1) == UINT64_MAX);
    ck_assert_uint_eq(g_out.n, 5);
}
