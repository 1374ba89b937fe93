/* tests/dataset/test_features.c - Examples of other writers, by way of records and archives, are
 * the same bytes again: features in any order, of every type, any names. */
#include "base/alloc.h"
#include "dataset/record_writer.h"
#include "imrec/convert.h"
#include "storage/mem.h"
#include "storage/source.h"
#include "tests/support/bitmaps.h"
#include "tests/support/suite.h"
#include "tests/support/tfrecords.h"

#include <stdlib.h>

#define MOST ((size_t)1 << 24)

static struct buf g_image, g_file;
static struct imrec_records_result g_result;
static struct imrec_error g_err;

static void begin(void)
{
    g_image = g_file = BUF_INIT(MOST);
    add_bitmap(&g_image, 3);
}

static void end(void)
{
    buf_free(&g_image);
    buf_free(&g_file);
    mem_clear();
}

static enum imrec_status convert_of(const char *input, const char *output, const char *label)
{
    struct imrec_records_options o;
    imrec_records_options_init(&o);
    o.input = input;
    o.output = output;
    o.label = label;
    return imrec_convert_records(&o, &g_result, &g_err);
}

static void convert(const char *input, const char *output)
{
    ck_assert_msg(convert_of(input, output, NULL) == IMREC_OK, "%s: %s", output, g_err.message);
}

static bool are_same(const char *a, const char *b)
{
    uint8_t *p, *q;
    size_t n, m;
    ck_assert_int_eq(source_load(a, MOST, &p, &n, &g_err), IMREC_OK);
    ck_assert_int_eq(source_load(b, MOST, &q, &m, &g_err), IMREC_OK);
    const bool same = n == m && memcmp(p, q, n) == 0;
    imrec_free(p);
    imrec_free(q);
    return same;
}

static void expect_same(const char *a, const char *b)
{
    ck_assert_msg(are_same(a, b), "%s and %s differ", a, b);
}

static struct example_item image_item(const char *name)
{
    return (struct example_item){
        .name = text_bytes(name), .type = EXAMPLE_BYTES, .bytes = {g_image.p, g_image.n}};
}

static struct example_item floats_item(const char *name, const void *p, size_t n)
{
    return (struct example_item){
        .name = text_bytes(name), .type = EXAMPLE_FLOATS, .floats = p, .count = n};
}

static struct example_item list_item(const char *name, const struct bytes *list, size_t n)
{
    return (struct example_item){
        .name = text_bytes(name), .type = EXAMPLE_BYTES, .list = list, .count = n};
}

static void keep_file(const char *name)
{
    ck_assert_int_eq(mem_put(name, g_file.p, g_file.n, NULL), IMREC_OK);
}

/* ---- every way ---------------------------------------------------------------------------- */

static const int64_t one[] = {7}, two[] = {3, 4}, far[] = {INT64_MIN, -1, 0, INT64_MAX},
                     id[] = {123456789012};
static const float third[] = {1.0f / 3}, whole[] = {2, 3}, zero[] = {-0.0f},
                   odd[] = {-0.0f, 1e-45f, 3.4028234e38f, 0.1f};
static const struct bytes captions[] = {
    {(const uint8_t *)"a cat", 5}, {(const uint8_t *)"", 0}, {(const uint8_t *)"a cat again", 11}};

#define SHAPES 12
static size_t shape(int i, struct example_item *to)
{
    const struct example_item image = image_item("image/encoded"),
                              label = ints_item("image/class/label", one, 1);
    const struct example_item all[SHAPES][8] = {
        {image, label},
        {bytes_item("image/format", "JPEG"), image, label, bytes_item("image/class/text", "cat")},
        {floats_item("image/class/label", whole, 2), image},
        {image, ints_item("image/class/label", two, 2), floats_item("x", third, 1)},
        {floats_item("image/class/label", zero, 1), ints_item("far", far, 4), image,
         floats_item("odd", odd, 4)},
        {list_item("captions", captions, 3),
         image,
         label,
         list_item("none", captions, 0),
         ints_item("no ints", one, 0),
         floats_item("no floats", odd, 0),
         {.name = text_bytes("nothing")}},
        {bytes_item("cls", "9"), bytes_item("CLS", "8"), bytes_item("imrec_id", "1 2"), image,
         label, bytes_item("a/b c%2F", "x"), bytes_item("a%2Fb c%2F", "y")},
        {bytes_item("image/id", "COCO_1.jpg"), label, image, bytes_item("image/id2", "")},
        {ints_item("image/id", id, 1), image, label, ints_item("image/id2", one, 1)},
        {ints_item("image/id", far, 4), bytes_item("image/format", "x"), image, label},
        {bytes_item("image/segmentation/class/encoded", "a mask"), bytes_item("z", "1"), label,
         image},
        {label, image, bytes_item("__key__", "n01/x"), bytes_item("a", "b")},
    };
    size_t n = 0;
    while (n < 8 && all[i][n].name.n != 0) {
        to[n] = all[i][n];
        n++;
    }
    return n;
}

static void keep_shape(int i)
{
    struct example_item items[8];
    const size_t n = shape(i, items);
    tfrecord_put(&g_file, items, n);
    keep_file("a.tfrecord");
}

CASE(.setup = begin, .teardown = end)

LOOP_TEST(an_example_comes_back_from_records_and_from_archives_byte_for_byte, 0, SHAPES)
{
    keep_shape(_i);
    convert("mem://a.tfrecord", "mem://b.rec");
    ck_assert_uint_eq(g_result.rewritten, 0);
    convert("mem://b.rec", "mem://c.tfrecord");
    expect_same("mem://a.tfrecord", "mem://c.tfrecord");
    convert("mem://b.rec", "mem://d.tar");
    convert("mem://d.tar", "mem://e.tfrecord");
    expect_same("mem://a.tfrecord", "mem://e.tfrecord");
    convert("mem://a.tfrecord", "mem://f.tar");
    convert("mem://f.tar", "mem://g.tfrecord");
    expect_same("mem://a.tfrecord", "mem://g.tfrecord");
    convert("mem://f.tar", "mem://h.rec");
    convert("mem://h.rec", "mem://i.tfrecord");
    expect_same("mem://a.tfrecord", "mem://i.tfrecord");
    convert("mem://h.rec", "mem://j.tar");
    expect_same("mem://f.tar", "mem://j.tar");
    ck_assert_uint_eq(g_result.fields, 0);
}

/* As archives have them: the values, of NaN that it is one. */
TEST(numbers_that_are_none_come_back)
{
    const uint32_t bits[] = {0x7fc00000, 0xffc00000, 0x7fa12345, 0x7f800000, 0xff800000};
    float all[5];
    memcpy(all, bits, sizeof(bits));
    const struct example_item items[] = {image_item("image/encoded"),
                                         ints_item("image/class/label", one, 1),
                                         floats_item("x", all, 5)};
    tfrecord_put(&g_file, items, 3);
    keep_file("a.tfrecord");
    convert("mem://a.tfrecord", "mem://b.rec");
    convert("mem://b.rec", "mem://c.tfrecord");
    expect_same("mem://a.tfrecord", "mem://c.tfrecord");
    convert("mem://a.tfrecord", "mem://d.tar");
    convert("mem://d.tar", "mem://e.tfrecord");
    convert("mem://e.tfrecord", "mem://f.tar");
    expect_same("mem://d.tar", "mem://f.tar");
}

/* ---- lists -------------------------------------------------------------------------------- */

/* The list of the only record; n 0: it has none. */
static struct bytes list_of(const char *uri, char *to, size_t room)
{
    struct imrec_reader *r;
    struct imrec_record x;
    size_t n = 0;
    ck_assert_int_eq(imrec_reader_open(uri, 0, 1, &r, &g_err), IMREC_OK);
    ck_assert_int_eq(imrec_reader_next(r, &x, &g_err), IMREC_OK);
    for (uint32_t i = 0; i < x.field_count; i++) {
        if (x.fields[i].name_bytes != 12 || memcmp(x.fields[i].name, "__features__", 12) != 0)
            continue;
        n = x.fields[i].size;
        ck_assert_uint_lt(n, room);
        memcpy(to, x.fields[i].bytes, n);
    }
    imrec_reader_close(r);
    to[n] = '\0';
    return (struct bytes){(const uint8_t *)to, n};
}

TEST(a_list_says_what_and_of_what_type_features_are)
{
    char text[1000];
    keep_shape(5);
    convert("mem://a.tfrecord", "mem://b.rec");
    list_of("mem://b.rec", text, sizeof(text));
    ck_assert_str_eq(text, "bytes.3:captions image:image/encoded label.int64:image/class/label "
                           "bytes.0:none int64:no%20ints float:no%20floats none:nothing");
}

TEST(what_this_command_wrote_by_itself_needs_no_list)
{
    char text[1000];
    keep_shape(0);
    convert("mem://a.tfrecord", "mem://b.rec");
    ck_assert_uint_ne(list_of("mem://b.rec", text, sizeof(text)).n, 0);
    static const float label[] = {7};
    const struct imrec_field fields[] = {{"z", 1, "last", 4, IMREC_FIELD_BYTES},
                                         {"a", 1, far, sizeof(far), IMREC_FIELD_INT64},
                                         {"b", 1, third, sizeof(third), IMREC_FIELD_FLOAT32}};
    const struct written_image image = {label,     1,      5, 6, {g_image.p, g_image.n},
                                        {NULL, 0}, fields, 3};
    struct imrec_writer *w;
    ck_assert_int_eq(
        record_writer_open("mem://c.rec", "mem://c.idx", "mem://c.crc", true, &w, &g_err),
        IMREC_OK);
    ck_assert_int_eq(record_writer_image(w, &image, &g_err), IMREC_OK);
    ck_assert_int_eq(imrec_writer_commit(w, &g_err), IMREC_OK);
    convert("mem://c.rec", "mem://d.tfrecord");
    convert("mem://d.tfrecord", "mem://e.rec"); /* the order of fields, too */
    expect_same("mem://c.rec", "mem://e.rec");
    ck_assert_uint_eq(list_of("mem://e.rec", text, sizeof(text)).n, 0);
    convert("mem://d.tfrecord", "mem://f.tar"); /* where numbers are text */
    convert("mem://f.tar", "mem://g.tfrecord");
    expect_same("mem://d.tfrecord", "mem://g.tfrecord");
}

TEST(features_of_other_names_and_none_as_labels_come_back)
{
    struct imrec_records_options o;
    const struct example_item items[] = {bytes_item("image/encoded", "another image"),
                                         image_item("png"), ints_item("image/class/label", two, 2),
                                         ints_item("label", one, 1)};
    tfrecord_put(&g_file, items, 4);
    keep_file("a.tfrecord");
    imrec_records_options_init(&o);
    o.image = "png";
    for (int i = 0; i < 4; i++) {
        o.label = i % 2 == 0 ? "label" : "none";
        o.input = "mem://a.tfrecord";
        o.output = i < 2 ? "mem://b.rec" : "mem://b.tar";
        ck_assert_msg(imrec_convert_records(&o, &g_result, &g_err) == IMREC_OK, "%s",
                      g_err.message);
        convert(o.output, "mem://c.tfrecord");
        expect_same("mem://a.tfrecord", "mem://c.tfrecord");
    }
}

/* ---- what changed on the way -------------------------------------------------------------- */

/* b.rec again, with these labels and one more field. */
static void write_changed(const float *labels, uint32_t n)
{
    struct imrec_reader *r;
    struct imrec_record x;
    struct imrec_field fields[10];
    struct imrec_writer *w;
    ck_assert_int_eq(imrec_reader_open("mem://b.rec", 0, 1, &r, &g_err), IMREC_OK);
    ck_assert_int_eq(imrec_reader_next(r, &x, &g_err), IMREC_OK);
    ck_assert_uint_lt(x.field_count, 9);
    memcpy(fields, x.fields, x.field_count * sizeof(*fields));
    fields[x.field_count] = (struct imrec_field){"new", 3, "value", 5, IMREC_FIELD_BYTES};
    ck_assert_int_eq(imrec_writer_open("mem://c.rec", "mem://c.idx", true, &w, &g_err), IMREC_OK);
    ck_assert_int_eq(imrec_writer_append_fields(w, 0, labels, n, 0, x.image, x.image_size, fields,
                                                x.field_count + 1, &g_err),
                     IMREC_OK);
    ck_assert_int_eq(imrec_writer_commit(w, &g_err), IMREC_OK);
    imrec_reader_close(r);
}

LOOP_TEST(labels_and_fields_that_changed_are_written_as_they_are, 0, 3)
{
    static const float labels[] = {0.5f, 3};
    const uint32_t n = _i == 0 ? 2 : 1;
    const float *const now = _i == 0 ? labels : labels + 1;
    const int64_t as_int[] = {3};
    struct example_item items[9];
    keep_shape(_i == 2 ? 2 : 1); /* ints, ints, floats */
    convert("mem://a.tfrecord", "mem://b.rec");
    write_changed(now, n);
    convert("mem://c.rec", "mem://d.tfrecord");
    size_t count = shape(_i == 2 ? 2 : 1, items);
    items[_i == 2 ? 0 : 2] = _i == 1 ? ints_item("image/class/label", as_int, 1)
                                     : floats_item("image/class/label", now, n);
    items[count++] = bytes_item("new", "value");
    g_file.n = 0;
    tfrecord_put(&g_file, items, count);
    keep_file("e.tfrecord");
    expect_same("mem://d.tfrecord", "mem://e.tfrecord");
}

TEST(labels_of_a_record_that_had_none_are_written)
{
    static const float label[] = {3};
    const int64_t as_int[] = {3};
    const struct example_item items[] = {image_item("image/encoded"), bytes_item("new", "value"),
                                         ints_item("image/class/label", as_int, 1)};
    tfrecord_put(&g_file, items, 1);
    keep_file("a.tfrecord");
    ck_assert_int_eq(convert_of("mem://a.tfrecord", "mem://b.rec", "none"), IMREC_OK);
    write_changed(label, 1);
    convert("mem://c.rec", "mem://d.tfrecord");
    g_file.n = 0;
    tfrecord_put(&g_file, items, 3);
    keep_file("e.tfrecord");
    expect_same("mem://d.tfrecord", "mem://e.tfrecord");
}

/* ---- Examples that others would not write so ---------------------------------------------- */

static void put_field(struct buf *to, uint8_t number, const struct buf *content)
{
    const uint8_t head[] = {(uint8_t)(number << 3 | 2), (uint8_t)content->n};
    ck_assert_uint_lt(content->n, 128);
    ck_assert_int_eq(buf_append(to, head, 2, NULL), IMREC_OK);
    ck_assert_int_eq(buf_append(to, content->p, content->n, NULL), IMREC_OK);
}

/* An entry of the map: a name, and a feature of these bytes. */
static void put_entry(struct buf *features, const char *name, const void *feature, size_t n)
{
    struct buf entry = BUF_INIT(MOST), part = BUF_INIT(MOST);
    ck_assert_int_eq(buf_append(&part, name, strlen(name), NULL), IMREC_OK);
    put_field(&entry, 1, &part);
    part.n = 0;
    ck_assert_int_eq(buf_append(&part, feature, n, NULL), IMREC_OK);
    put_field(&entry, 2, &part);
    put_field(features, 1, &entry);
    buf_free(&entry);
    buf_free(&part);
}

/* An image and a label of 5, then the feature `x` as these bytes, then these in the Example. */
static void keep_odd(const char *x, size_t x_bytes, const char *rest, size_t rest_bytes)
{
    struct buf features = BUF_INIT(MOST), example = BUF_INIT(MOST);
    put_entry(&features, "image/encoded", "\x0a\x05\x0a\x03img", 7);
    put_entry(&features, "image/class/label", "\x1a\x03\x0a\x01\x05", 5);
    put_entry(&features, "x", x, x_bytes);
    put_field(&example, 1, &features);
    ck_assert_int_eq(buf_append(&example, rest, rest_bytes, NULL), IMREC_OK);
    ck_assert_int_eq(tfrecord_frame((struct bytes){example.p, example.n}, &g_file, NULL), IMREC_OK);
    keep_file("a.tfrecord");
    buf_free(&features);
    buf_free(&example);
}

LOOP_TEST(other_bytes_come_back_by_value_and_are_counted, 0, 8)
{
    static const struct {
        const char *x, *rest;
        size_t x_bytes, rest_bytes;
        bool rewritten;
    } rows[] = {
        {"\x1a\x03\x0a\x01\x09", "", 5, 0, false},        /* an int64, packed */
        {"\x1a\x02\x08\x09", "", 4, 0, true},             /* not packed */
        {"\x1a\x04\x0a\x02\x89\x00", "", 6, 0, true},     /* with a byte too many */
        {"\x1a\x03\x0a\x01\x09", "\x12\x00", 5, 2, true}, /* lists of a SequenceExample */
        {"\x1a\x03\x0a\x01\x09\x20\x01", "", 7, 0, true}, /* a field that no feature has */
        {"\x0a\x00\x1a\x03\x0a\x01\x09", "", 7, 0, true}, /* two types */
        {"\x1a\x00\x1a\x03\x0a\x01\x09", "", 7, 0, true}, /* in two pieces */
        {"\x1a\x02\x0a\x00", "", 4, 0, true},             /* an empty list, packed */
    };
    keep_odd(rows[_i].x, rows[_i].x_bytes, rows[_i].rest, rows[_i].rest_bytes);
    convert("mem://a.tfrecord", "mem://copy.tfrecord");
    expect_same("mem://a.tfrecord", "mem://copy.tfrecord");
    ck_assert_uint_eq(g_result.rewritten, 0);
    convert("mem://a.tfrecord", "mem://b.rec");
    ck_assert_uint_eq(g_result.rewritten, rows[_i].rewritten);
    convert("mem://b.rec", "mem://c.tfrecord");
    ck_assert_int_eq(are_same("mem://a.tfrecord", "mem://c.tfrecord"), !rows[_i].rewritten);
    convert("mem://c.tfrecord", "mem://d.rec");
    expect_same("mem://b.rec", "mem://d.rec");
    ck_assert_uint_eq(g_result.rewritten, 0);
}

TEST(of_features_of_one_name_the_last_one_comes_back)
{
    const struct example_item items[] = {bytes_item("x", "first"),
                                         image_item("image/encoded"),
                                         ints_item("x", far, 4),
                                         bytes_item("y", "1"),
                                         ints_item("image/class/label", two, 1),
                                         ints_item("image/class/label", one, 1)};
    const struct example_item want[] = {items[1], items[2], items[3], items[5]};
    tfrecord_put(&g_file, items, 6);
    keep_file("a.tfrecord");
    convert("mem://a.tfrecord", "mem://b.rec");
    ck_assert_uint_eq(g_result.rewritten, 1);
    convert("mem://b.rec", "mem://c.tfrecord");
    g_file.n = 0;
    tfrecord_put(&g_file, want, 4);
    keep_file("d.tfrecord");
    expect_same("mem://c.tfrecord", "mem://d.tfrecord");
}

/* ---- what is refused ---------------------------------------------------------------------- */

LOOP_TEST(lists_that_make_no_example_are_refused, 0, 15)
{
    static const struct {
        const char *list, *words;
    } rows[] = {
        {"", NULL},
        {"image:i txt:x", "is no list of features"},
        {"image:i ", "is no list of features"},
        {" image:i", "is no list of features"},
        {"image", "is no list of features"},
        {"bytes.:text", "is no list of features"},
        {"bytes.x:text", "is no list of features"},
        {"image:i image:j", "a part of the record twice: 'j'"},
        {"label.none:i label.int64:j", "a part of the record twice: 'j'"},
        {"image:%4", "a name that is none: '%4'"},
        {"bytes:none", "lacks a field that its __features__ names: 'none'"},
        {"bytes.2:text", "lacks a field that its __features__ names: 'text'"},
        {"bytes.18446744073709551615:text", "lacks a field"},
        {"int64:text", "has a field that is no int64s, as its __features__ says: 'text'"},
        {"bytes:number", "has numbers, and bytes by its __features__: 'number'"},
    };
    static const float label[] = {7};
    const struct imrec_field fields[] = {
        {"text", 4, "some", 4, IMREC_FIELD_BYTES},
        {"number", 6, far, sizeof(far), IMREC_FIELD_INT64},
        {"__features__", 12, rows[_i].list, strlen(rows[_i].list), IMREC_FIELD_BYTES}};
    struct imrec_writer *w;
    struct source *none;
    ck_assert_int_eq(imrec_writer_open("mem://a.rec", "mem://a.idx", true, &w, &g_err), IMREC_OK);
    ck_assert_int_eq(imrec_writer_append_fields(w, 0, label, 1, 0, "img", 3, fields, 3, &g_err),
                     IMREC_OK);
    ck_assert_int_eq(imrec_writer_commit(w, &g_err), IMREC_OK);
    const enum imrec_status st = convert_of("mem://a.rec", "mem://b.tfrecord", NULL);
    if (rows[_i].words == NULL) {
        ck_assert_msg(st == IMREC_OK, "%s", g_err.message);
        return;
    }
    ck_assert_msg(st == IMREC_ERR_DATA && strstr(g_err.message, rows[_i].words) != NULL, "%d: %s",
                  (int)st, g_err.message);
    ck_assert_int_ne(source_open("mem://b.tfrecord", &none, NULL), IMREC_OK);
}

static void refuse(const struct example_item *items, size_t n, const char *words)
{
    g_file.n = 0;
    tfrecord_put(&g_file, items, n);
    keep_file("a.tfrecord");
    const enum imrec_status st = convert_of("mem://a.tfrecord", "mem://b.rec", NULL);
    ck_assert_msg(st == IMREC_ERR_DATA && strstr(g_err.message, words) != NULL, "%d: %s", (int)st,
                  g_err.message);
}

TEST(names_that_records_have_a_meaning_for_are_refused)
{
    const struct example_item image = image_item("image/encoded"),
                              label = ints_item("image/class/label", one, 1),
                              mask = bytes_item("image/segmentation/class/encoded", "a mask"),
                              list = bytes_item("__features__", "image:x"),
                              other = bytes_item("mask", "another mask");
    refuse((const struct example_item[]){image, label, list}, 3, "has a feature '__features__'");
    refuse((const struct example_item[]){image, label, mask, other}, 4,
           "has a mask and a field 'mask'");
}
