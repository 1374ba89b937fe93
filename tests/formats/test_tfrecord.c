/* tests/formats/test_tfrecord.c - frames of TFRecord files, protobuf's wire format, and Examples as
 * protobuf's own parser reads them. */
#include "formats/tfrecord/example_write.h"
#include "formats/tfrecord/proto_wire.h"
#include "formats/tfrecord/tfrecord_frame.h"
#include "tests/support/guard.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

#define B(text) ((struct bytes){(const uint8_t *)(text), sizeof(text) - 1})

static struct buf g_out;

static void begin(void)
{
    g_out = BUF_INIT((size_t)1 << 20);
}

static void end(void)
{
    buf_free(&g_out);
}

CASE(.setup = begin, .teardown = end)

/* ---- frames ------------------------------------------------------------------------------- */

/* tf.io.TFRecordWriter's file of the one record b"abc". */
static const uint8_t abc[] = {3,    0,    0,   0,   0,   0,    0,    0,    0xb0, 0x99,
                              0x49, 0x0e, 'a', 'b', 'c', 0x6e, 0x57, 0xf1, 0x21};

TEST(a_frame_has_masked_sums_of_length_and_content)
{
    uint64_t length = 0;
    ck_assert_int_eq(tfrecord_frame(B("abc"), &g_out, NULL), IMREC_OK);
    ck_assert_uint_eq(g_out.n, sizeof(abc));
    ck_assert_mem_eq(g_out.p, abc, sizeof(abc));
    ck_assert(tfrecord_head(g_out.p, &length) && length == 3);
    ck_assert(tfrecord_is_head((struct bytes){g_out.p, TFRECORD_HEAD_BYTES}));
    ck_assert(!tfrecord_is_head((struct bytes){g_out.p, TFRECORD_HEAD_BYTES - 1}));
    ck_assert(tfrecord_is_intact(B("abc"), g_out.p + 15));
    ck_assert(!tfrecord_is_intact(B("abd"), g_out.p + 15));
    g_out.p[1] ^= 1;
    ck_assert(!tfrecord_head(g_out.p, &length));
}

LOOP_TEST(a_head_is_found_behind_any_bytes, 0, 40)
{
    uint8_t noise[40];
    memset(noise, 0x5a, sizeof(noise));
    ck_assert_int_eq(buf_append(&g_out, noise, (size_t)_i, NULL), IMREC_OK);
    ck_assert_int_eq(tfrecord_frame(B("content"), &g_out, NULL), IMREC_OK);
    struct guarded g = guarded_copy(g_out.p, g_out.n);
    ck_assert_uint_eq(tfrecord_find((struct bytes){g.p, g_out.n}, g_out.n), (size_t)_i);
    ck_assert_uint_eq(tfrecord_find((struct bytes){g.p, g_out.n}, g_out.n - 1), g_out.n);
    guarded_free(g);
}

/* ---- wire --------------------------------------------------------------------------------- */

TEST(every_kind_of_field_is_read)
{
    struct bytes left = B("\x08\x96\x01\x11\1\2\3\4\5\6\7\x08\x1a\2hi\x25\1\0\0\0");
    struct wire_field f;
    ck_assert(wire_next(&left, &f, NULL) == IMREC_OK && f.number == 1 && f.value == 150);
    ck_assert(wire_next(&left, &f, NULL) == IMREC_OK && f.value == 0x0807060504030201u);
    ck_assert(wire_next(&left, &f, NULL) == IMREC_OK && f.bytes.n == 2 && f.bytes.p[0] == 'h');
    ck_assert(wire_next(&left, &f, NULL) == IMREC_OK && f.number == 4 && f.value == 1);
    ck_assert_int_eq(wire_next(&left, &f, NULL), IMREC_END);
}

static const struct {
    struct bytes bytes;
    const char *words;
} broken_fields[] = {
    {B("\x08\x80"), "number of field 1 does not end"},
    {B("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), "number of field 1 does not end"},
    {B("\x0a\x05hi"), "field 1 of a message has 5 bytes, 2 are left"},
    {B("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01hi"), "18446744073709551615 bytes, 2 are left"},
    {B("\x0a"), "length of field 1 does not end"},
    {B("\x0d\1\2\3"), "field 1 of a message has 4 bytes, 3 are left"},
    {B("\x09\1\2\3"), "field 1 of a message has 8 bytes, 3 are left"},
    {B("\x00\x01"), "no field of a message begins 1 bytes before its end"},
    {B("\x80\x80\x80\x80\x80\x01\x01"), "no field"},
    {B("\x0b\x0c"), "has type 3"},
};

LOOP_TEST(a_broken_field_is_an_error, 0, COUNT(broken_fields))
{
    struct guarded g = guarded_copy(broken_fields[_i].bytes.p, broken_fields[_i].bytes.n);
    struct bytes left = {g.p, broken_fields[_i].bytes.n};
    struct wire_field f;
    struct imrec_error err = {0};
    ck_assert_int_eq(wire_next(&left, &f, &err), IMREC_ERR_CORRUPT);
    ck_assert_msg(strstr(err.message, broken_fields[_i].words) != NULL, "%s", err.message);
    guarded_free(g);
}

/* ---- Examples ----------------------------------------------------------------------------- */

/* "name: i64 1 -2; ..." of all features, in their order. */
static enum imrec_status show(struct bytes example, char *to, size_t room, struct imrec_error *err)
{
    struct example_cursor c;
    struct example_entry e;
    struct example_feature f;
    struct example_values v;
    struct example_value x;
    enum imrec_status st;
    size_t n = 0;
    to[0] = '\0';
    example_begin(&c, example);
    while ((st = example_next(&c, &e, err)) == IMREC_OK) {
        if ((st = example_look(e.bytes, &f, err)) != IMREC_OK)
            return st;
        n += (size_t)snprintf(to + n, room - n, "%.*s:", (int)e.name.n, (const char *)e.name.p);
        uint64_t count = 0;
        for (example_values(&f, &v); example_value(&v, &x); count++)
            n += f.type == EXAMPLE_BYTES ? (size_t)snprintf(to + n, room - n, " '%.*s'",
                                                            (int)x.bytes.n, (const char *)x.bytes.p)
                 : f.type == EXAMPLE_INTS
                     ? (size_t)snprintf(to + n, room - n, " %lld", (long long)x.i)
                     : (size_t)snprintf(to + n, room - n, " %gf", (double)x.f);
        ck_assert_uint_eq(count, f.count);
        n += (size_t)snprintf(to + n, room - n, ";");
    }
    return st == IMREC_END ? IMREC_OK : st;
}

static const struct {
    const char *what, *shown;
    struct bytes example;
} examples[] = {
    {"nothing", "", B("")},
    {"features without any", "", B("\x0a\0")},
    {"packed numbers", "a: 1 -1;",
     B("\x0a\x16\x0a\x14\x0a\1a\x12\x0f\x1a\x0d\x0a\x0b\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\1")},
    {"numbers that are not packed", "a: 1 2;",
     B("\x0a\x0d\x0a\x0b\x0a\1a\x12\x06\x1a\4\x08\1\x08\2")},
    {"both", "a: 1 2 3;", B("\x0a\x10\x0a\x0e\x0a\1a\x12\x09\x1a\7\x08\1\x0a\1\2\x08\3")},
    {"packed floats", "a: 1f -2f;",
     B("\x0a\x13\x0a\x11\x0a\1a\x12\x0c\x12\x0a\x0a\x08\0\0\x80\x3f\0\0\0\xc0")},
    {"a float that is not packed", "a: 1f;",
     B("\x0a\x0e\x0a\x0c\x0a\1a\x12\7\x12\5\x0d\0\0\x80\x3f")},
    {"bytes, an empty one, too", "a: 'hi' '';",
     B("\x0a\x0f\x0a\x0d\x0a\1a\x12\x08\x0a\6\x0a\2hi\x0a\0")},
    {"a feature without a list", "a:;", B("\x0a\7\x0a\5\x0a\1a\x12\0")},
    {"a value before its key", "a: 1;", B("\x0a\x0b\x0a\x09\x12\4\x1a\2\x08\1\x0a\1a")},
    {"an entry without a key", ": 1;", B("\x0a\x08\x0a\6\x12\4\x1a\2\x08\1")},
    {"lists of one type are joined", "a: 1 2;",
     B("\x0a\x0f\x0a\x0d\x0a\1a\x12\x08\x1a\2\x08\1\x1a\2\x08\2")},
    {"values of an entry are joined", "a: 1 2;",
     B("\x0a\x11\x0a\x0f\x0a\1a\x12\4\x1a\2\x08\1\x12\4\x1a\2\x08\2")},
    {"of two types the last one counts", "a: 2;",
     B("\x0a\x15\x0a\x13\x0a\1a\x12\x0e\x1a\2\x08\1\x0a\4\x0a\2hi\x1a\2\x08\2")},
    {"features in two pieces are joined", "a:;b:;",
     B("\x0a\7\x0a\5\x0a\1a\x12\0\x0a\7\x0a\5\x0a\1b\x12\0")},
    {"unknown fields are passed over", "a: 1;",
     B("\x10\5\x0a\x14\x15\1\2\3\4\x0a\x0d\x18\7\x0a\1a\x12\6\x1a\2\x08\1\x40\1\x7a\1x")},
    {"a value of another wire type is unknown", "a: 1;",
     B("\x0a\x10\x0a\x0e\x0a\1a\x12\x09\x1a\7\x0d\1\2\3\4\x08\1")},
};

LOOP_TEST(what_protobuf_reads_is_read, 0, COUNT(examples))
{
    char text[200];
    struct imrec_error err = {0};
    ck_assert_msg(show(examples[_i].example, text, sizeof(text), &err) == IMREC_OK, "%s: %s",
                  examples[_i].what, err.message);
    ck_assert_msg(strcmp(text, examples[_i].shown) == 0, "%s: %s", examples[_i].what, text);
}

static const struct {
    struct bytes example;
    const char *words;
} broken[] = {
    {B("\x0a\x05\x0a"), "field 1 of a message has 5 bytes, 1 are left"},
    {B("\x0a\x0d\x0a\x0b\x0a\1a\x12\6\x12\4\x0a\2\0\0"), "packed floats end with 2 bytes"},
    {B("\x0a\x0c\x0a\x0a\x0a\1a\x12\5\x1a\3\x0a\1\x80"), "last of packed numbers does not end"},
    {B("\x0a\x09\x0a\7\x0a\1a\x12\2\x0a\5"), "5 bytes, 0 are left"},
    {B("\x0a\x0b\x0a\x09\x0a\1a\x12\4\x0a\2\x0a\7"), "7 bytes, 0 are left"}, /* in a list */
};

LOOP_TEST(a_broken_example_is_an_error, 0, COUNT(broken))
{
    char text[200];
    struct imrec_error err = {0};
    ck_assert_int_eq(show(broken[_i].example, text, sizeof(text), &err), IMREC_ERR_CORRUPT);
    ck_assert_msg(strstr(err.message, broken[_i].words) != NULL, "%s", err.message);
}

static void write_three(void)
{
    static const int64_t numbers[] = {0, -1, 127, 128, INT64_MAX, INT64_MIN};
    const uint8_t one[] = {0, 0, 0x80, 0x3f};
    const struct example_item items[] = {
        {.name = B("class"), .type = EXAMPLE_INTS, .ints = numbers, .count = 6},
        {.name = B("file"), .type = EXAMPLE_BYTES, .bytes = B("content")},
        {.name = B("none"), .type = EXAMPLE_INTS},
        {.name = B("weight"), .type = EXAMPLE_FLOATS, .floats = one, .count = 1},
    };
    ck_assert_int_eq(example_write(items, 4, &g_out, NULL), IMREC_OK);
}

TEST(what_is_written_is_read)
{
    char text[300];
    write_three();
    ck_assert_int_eq(show((struct bytes){g_out.p, g_out.n}, text, sizeof(text), NULL), IMREC_OK);
    ck_assert_str_eq(text, "class: 0 -1 127 128 9223372036854775807 -9223372036854775808;"
                           "file: 'content';none:;weight: 1f;");
}

TEST(every_cut_ends_or_is_an_error_inside_the_bytes)
{
    char text[300];
    write_three();
    for (size_t n = 0; n < g_out.n; n++) {
        struct guarded g = guarded_copy(g_out.p, n);
        struct imrec_error err = {0};
        const enum imrec_status st = show((struct bytes){g.p, n}, text, sizeof(text), &err);
        ck_assert(n == 0 ? st == IMREC_OK : st == IMREC_ERR_CORRUPT && err.message[0] != '\0');
        guarded_free(g);
    }
}

TEST(one_value_of_bytes_is_a_file)
{
    struct example_feature f;
    struct bytes file;
    ck_assert_int_eq(example_look(B("\x0a\1a\x12\x08\x0a\6\x0a\2hi\x0a\0"), &f, NULL), IMREC_OK);
    ck_assert(!example_only_bytes(&f, &file)); /* two */
    ck_assert_int_eq(example_look(B("\x0a\1a\x12\6\x0a\4\x0a\2hi"), &f, NULL), IMREC_OK);
    ck_assert(example_only_bytes(&f, &file) && file.n == 2 && memcmp(file.p, "hi", 2) == 0);
}
