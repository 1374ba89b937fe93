/* tests/container/test_tfrecord_files.c - TFRecord files as sets: which features are image and
 * labels, what is damaged, partitions, which files are taken. */
#include "container/container.h"
#include "container/example_record.h"
#include "formats/set/image_list.h"
#include "imrec/records.h"
#include "storage/mem.h"
#include "tests/support/record_reads.h"
#include "tests/support/suite.h"
#include "tests/support/tfrecords.h"

#include <stdio.h>

#define URI "mem://a.tfrecord"

static struct buf g_file;

static void begin(void)
{
    g_file = BUF_INIT((size_t)1 << 26);
}

static void end(void)
{
    buf_free(&g_file);
    mem_clear();
}

static void keep(const char *name)
{
    ck_assert_int_eq(mem_put(name, g_file.p, g_file.n, NULL), IMREC_OK);
}

static struct imrec_reader *open_uri(const char *uri, uint64_t part, uint64_t parts)
{
    struct imrec_reader *r;
    struct imrec_error err = {0};
    ck_assert_msg(imrec_reader_open(uri, part, parts, &r, &err) == IMREC_OK, "%s", err.message);
    return r;
}

static struct imrec_reader *open_file(void)
{
    keep("a.tfrecord");
    return open_uri(URI, 0, 1);
}

CASE(.setup = begin, .teardown = end)

TEST(an_example_is_a_record)
{
    tfrecord_image(&g_file, "one", 7);
    const int64_t class = -16777216;
    const struct example_item items[] = {
        bytes_item("image/encoded", "replaced"), ints_item("image/class/label", &class, 1),
        bytes_item("image/format", "JPEG"), bytes_item("image/encoded", "two")};
    tfrecord_put(&g_file, items, 4);
    struct imrec_reader *r = open_file();
    expect(r, 0, "one", 7);
    expect(r, 1, "two", -16777216);
    expect_end(r);
}

TEST(what_is_wrong_with_an_example_costs_it_alone)
{
    const int64_t large = 16777217, two[] = {1, 2};
    tfrecord_image(&g_file, "zero", 0);
    tfrecord_put(&g_file, (struct example_item[]){bytes_item("image", "x")}, 1);
    tfrecord_image(&g_file, "two", large);
    tfrecord_put(&g_file, (struct example_item[]){ints_item("image/encoded", two, 2)}, 1);
    tfrecord_put(&g_file,
                 (struct example_item[]){bytes_item("image/encoded", "x"),
                                         bytes_item("image/class/label", "cat")},
                 2);
    ck_assert_int_eq(tfrecord_frame(text_bytes("no Example"), &g_file, NULL), IMREC_OK);
    const size_t damaged = g_file.n;
    tfrecord_image(&g_file, "six", 6);
    tfrecord_image(&g_file, "seven", 7);
    g_file.p[damaged + 20] ^= 1;
    struct imrec_reader *r = open_file();
    expect(r, 0, "zero", 0);
    expect_lost(r, "no feature 'image/encoded' (image=NAME names another one): it has 'image'");
    expect_lost(r, "feature 'image/class/label' has 16777217: a label is a finite number");
    expect_lost(r, "feature 'image/encoded' has 2 numbers");
    expect_lost(r, "feature 'image/class/label' is bytes");
    expect_lost(r, "field 13 of a message has type 6");
    expect_lost(r, "the checksum of the record's 5");
    expect(r, 7, "seven", 7);
    expect_end(r);
}

/* After a damaged head the next one is searched for, however far it is. */
LOOP_TEST(a_damaged_head_costs_the_bytes_up_to_the_next_one, 0, 12) /* _i: byte of the head */
{
    static char large[(2 << 20) + 5];
    memset(large, 'x', sizeof(large) - 1);
    tfrecord_image(&g_file, "zero", 0);
    const size_t damaged = g_file.n;
    tfrecord_image(&g_file, large, 1);
    const size_t next = g_file.n;
    tfrecord_image(&g_file, "two", 2);
    g_file.p[damaged + (size_t)_i] ^= 0x80;
    struct imrec_reader *r = open_file();
    char words[80];
    (void)snprintf(words, sizeof(words), "length is wrong; the next record begins at byte %zu",
                   next);
    expect(r, 0, "zero", 0);
    expect_lost(r, words);
    expect(r, 2, "two", 2);
    expect_end(r);
}

/* The bytes are searched in pieces of 1 MiB: the next head ends _i bytes after the first one. */
LOOP_TEST(a_head_between_two_pieces_is_found, 0, 13)
{
    const size_t n = ((size_t)1 << 20) - 15 - 12 + (size_t)_i;
    uint8_t *content = calloc(n, 1);
    ck_assert_ptr_nonnull(content);
    ck_assert_int_eq(tfrecord_frame((struct bytes){content, n}, &g_file, NULL), IMREC_OK);
    free(content);
    tfrecord_image(&g_file, "one", 1);
    g_file.p[9] ^= 1;
    struct imrec_reader *r = open_file();
    expect_lost(r, "length is wrong; the next record begins at byte 10");
    expect(r, 1, "one", 1);
    expect_end(r);
}

TEST(a_file_whose_first_head_is_damaged_is_one)
{
    tfrecord_image(&g_file, "zero", 0);
    tfrecord_image(&g_file, "one", 1);
    g_file.p[0] ^= 1;
    struct imrec_reader *r = open_file();
    expect_lost(r, "length is wrong");
    expect(r, 1, "one", 1);
    expect_end(r);
}

TEST(a_file_that_is_cut_off_loses_its_last_record)
{
    tfrecord_image(&g_file, "zero", 0);
    const size_t whole = g_file.n;
    tfrecord_image(&g_file, "one", 1);
    const size_t all = g_file.n;
    for (size_t n = whole + 1; n < all; n++) {
        g_file.n = n;
        struct imrec_reader *r = open_file();
        expect(r, 0, "zero", 0);
        expect_lost(r, n - whole < 16 ? "cut off here" : "are left of the file");
        expect_end(r);
    }
}

LOOP_TEST(partitions_count_the_records_off, 1, 6) /* _i parts */
{
    char text[20];
    uint64_t seen = 0;
    for (int i = 0; i < 11; i++) {
        (void)snprintf(text, sizeof(text), "image %d", i);
        tfrecord_image(&g_file, text, i);
        if (i != 4)
            continue;
        keep("a.tfrecord");
        g_file.n = 0;
    }
    keep("b-00000-of-00001"); /* as TensorFlow's sets are often called */
    for (int part = 0; part < _i; part++) {
        struct imrec_reader *r =
            open_uri(URI ";mem://b-00000-of-00001", (uint64_t)part, (uint64_t)_i);
        struct imrec_record x;
        for (; imrec_reader_next(r, &x, NULL) == IMREC_OK; seen++)
            ck_assert(x.id == seen && x.labels[0] == (float)seen);
        imrec_reader_close(r);
    }
    ck_assert_uint_eq(seen, 11);
}

/* Records 1 and 4 of 6 have damaged heads: each partition has one of them. */
TEST(damage_in_each_partition_has_its_own_reason)
{
    size_t begin[7] = {0};
    char text[20], words[2][80];
    for (int i = 0; i < 6; i++) {
        (void)snprintf(text, sizeof(text), "image %d", i);
        tfrecord_image(&g_file, text, i);
        begin[i + 1] = g_file.n;
    }
    for (int k = 0; k < 2; k++) {
        g_file.p[begin[1 + 3 * k]] ^= 1;
        (void)snprintf(words[k], sizeof(words[k]), "the next record begins at byte %zu",
                       begin[2 + 3 * k]);
    }
    keep("a.tfrecord");
    for (uint64_t part = 0; part < 2; part++) {
        struct imrec_reader *r = open_uri(URI, part, 2);
        expect(r, 3 * part, part == 0 ? "image 0" : "image 3", 3 * (float)part);
        expect_lost(r, words[part]);
        expect(r, 3 * part + 2, part == 0 ? "image 2" : "image 5", 3 * (float)part + 2);
        expect_end(r);
    }
}

/* ---- options ------------------------------------------------------------------------------ */

static const struct container_options defaults = {
    .path_imgrec = URI, .num_parts = 1, .cell_bytes = 4096};

/* The only record of the file, as the options and the type of labels say. */
static enum imrec_status parse_only(struct container_options o, enum imrec_label_dtype type,
                                    struct parse_room *room, struct record *out,
                                    struct imrec_error *err)
{
    struct container c;
    keep("a.tfrecord");
    ck_assert_int_eq(container_open(&o, &c, err), IMREC_OK);
    struct record_place at = {0};
    struct record_ref ref = {0};
    uint64_t used;
    ck_assert_int_eq(container_locate(&c, &at, 1, err), IMREC_OK);
    ck_assert_int_eq(
        c.kind->open(&c, &at, g_file.p, (size_t)(at.end - at.begin), &ref.bytes, &used, err),
        IMREC_OK);
    ck_assert_uint_eq(used, g_file.n);
    ck_assert_int_eq(parse_room_init(room, 4, type, 1 << 20, err), IMREC_OK);
    const enum imrec_status st = c.kind->parse(&c, &ref, RECORD_PARTS, room, out, err);
    container_close(&c);
    return st;
}

TEST(features_are_chosen_by_their_names)
{
    const int64_t classes[] = {1, -2, 16777217};
    const struct example_item items[] = {
        bytes_item("image/encoded", "usual"), bytes_item("left", "chosen"),
        bytes_item(EXAMPLE_MASK, "mask"), ints_item("classes", classes, 3)};
    struct container_options o = defaults;
    struct parse_room room;
    struct record x;
    struct imrec_error err = {0};
    o.image = "left";
    o.label = "classes";
    tfrecord_put(&g_file, items, 4);
    ck_assert_int_eq(parse_only(o, IMREC_LABEL_INT64, &room, &x, &err), IMREC_OK);
    ck_assert(x.image.n == 6 && memcmp(x.image.p, "chosen", 6) == 0);
    ck_assert(x.mask.n == 4 && memcmp(x.mask.p, "mask", 4) == 0);
    ck_assert(x.label_count == 3 && x.typed[0].i == 1 && x.typed[2].i == 16777217);
    ck_assert(record_label(&x, 1) == -2);
    parse_room_free(&room);
    o.label = "label";
    o.image = NULL;
    ck_assert_int_eq(parse_only(o, IMREC_LABEL_INT64, &room, &x, &err), IMREC_ERR_CORRUPT);
    ck_assert(x.image.n == 5);
    ck_assert_ptr_nonnull(strstr(err.message, "no feature 'label' (label=NAME"));
    parse_room_free(&room);
    o.label = "none";
    ck_assert_int_eq(parse_only(o, IMREC_LABEL_INT64, &room, &x, &err), IMREC_OK);
    ck_assert(x.label_count == 4 && x.typed[3].i == 0);
    parse_room_free(&room);
}

TEST(floats_are_labels)
{
    const uint8_t values[] = {0, 0, 0x80, 0x3f, 0, 0, 0x20, 0xc0}; /* 1, -2.5 */
    const struct example_item items[] = {bytes_item("image/encoded", "x"),
                                         {.name = text_bytes("image/class/label"),
                                          .type = EXAMPLE_FLOATS,
                                          .floats = values,
                                          .count = 2}};
    struct parse_room room;
    struct record x;
    struct imrec_error err = {0};
    tfrecord_put(&g_file, items, 2);
    ck_assert_int_eq(parse_only(defaults, IMREC_LABEL_FLOAT32, &room, &x, &err), IMREC_OK);
    ck_assert(x.label_count == 2 && record_label(&x, 0) == 1 && record_label(&x, 1) == -2.5f);
    parse_room_free(&room);
    ck_assert_int_eq(parse_only(defaults, IMREC_LABEL_INT64, &room, &x, &err), IMREC_ERR_CORRUPT);
    ck_assert_ptr_nonnull(strstr(err.message, "has -2.5: a label is"));
    parse_room_free(&room);
}

static void expect_field(const struct record_field *f, const char *name, enum field_type type,
                         const void *p, size_t n)
{
    ck_assert(f->name.n == strlen(name) && memcmp(f->name.p, name, f->name.n) == 0);
    ck_assert_int_eq(f->type, type);
    ck_assert_uint_eq(f->value.n, n);
    ck_assert_mem_eq(f->value.p, p, n);
}

TEST(all_other_features_are_fields_by_name)
{
    const int64_t numbers[] = {7, -1};
    const uint8_t le[] = {7, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
                  one[] = {0, 0, 0x80, 0x3f};
    const struct example_item items[] = {
        ints_item("width", numbers, 2),
        bytes_item("text", "replaced"),
        bytes_item("image/encoded", "x"),
        {.name = text_bytes("score"), .type = EXAMPLE_FLOATS, .floats = one, .count = 1},
        ints_item("image/class/label", numbers, 1),
        bytes_item("text", "cat"),
        {.name = text_bytes("nothing"), .type = EXAMPLE_BYTES},
        ints_item("empty", NULL, 0)};
    struct parse_room room;
    struct record x;
    struct imrec_error err = {0};
    tfrecord_put(&g_file, items, 8);
    ck_assert_int_eq(parse_only(defaults, IMREC_LABEL_FLOAT32, &room, &x, &err), IMREC_OK);
    ck_assert_uint_eq(x.field_count, 5);
    expect_field(&x.fields[0], "empty", FIELD_INT64, "", 0);
    expect_field(&x.fields[1], "nothing", FIELD_BYTES, "", 0);
    expect_field(&x.fields[2], "score", FIELD_FLOAT32, one, 4);
    expect_field(&x.fields[3], "text", FIELD_BYTES, "cat", 3);
    expect_field(&x.fields[4], "width", FIELD_INT64, le, 16);
    parse_room_free(&room);
}

/* A list of several values of bytes is as many fields; one of none is none. */
TEST(values_of_bytes_are_a_field_each)
{
    static const char example[] =
        "\x0a\x33\x0a\x18\x0a\x0dimage/encoded\x12\7\x0a\5\x0a\3one"
        "\x0a\x0e\x0a\1a\x12\x09\x0a\7\x0a\2hi\x0a\1!\x0a\7\x0a\1n\x12\2\x0a\0";
    struct parse_room room;
    struct record x;
    struct imrec_error err = {0};
    ck_assert_int_eq(tfrecord_frame((struct bytes){(const uint8_t *)example, sizeof(example) - 1},
                                    &g_file, NULL),
                     IMREC_OK);
    ck_assert_msg(parse_only(defaults, IMREC_LABEL_FLOAT32, &room, &x, &err) == IMREC_OK, "%s",
                  err.message);
    ck_assert_uint_eq(x.field_count, 2);
    expect_field(&x.fields[0], "a", FIELD_BYTES, "hi", 2);
    expect_field(&x.fields[1], "a", FIELD_BYTES, "!", 1);
    parse_room_free(&room);
}

/* The names of a message are whole ones, and as many as fit. */
LOOP_TEST(features_that_are_there_are_named_as_far_as_they_fit, 0, 24) /* _i: bytes of the last */
{
    static const char *const names[] = {
        "zeroth feature",   "first", "second one",    "third feature",
        "a fourth feature", "fifth", "the sixth one", "seventh feature",
        "eighth of them",   "ninth", "tenth one",     "eleventh feature"};
    struct example_item items[COUNT(names) + 2];
    char last[] = "nnnnnnnnnnnnnnnnnnnnnnnn", want[300] = "";
    struct parse_room room;
    struct record x;
    struct imrec_error err = {0};
    last[_i + 1] = '\0';
    for (int i = 0; i < COUNT(names); i++)
        items[i] = bytes_item(names[i], "x");
    items[COUNT(names)] = bytes_item(last, "x");
    items[COUNT(names) + 1] = bytes_item("after", "x");
    for (int i = 0; i < COUNT(items); i++) {
        char more[40];
        const int n = snprintf(more, sizeof(more), "%s'%.*s'", i != 0 ? ", " : "",
                               (int)items[i].name.n, (const char *)items[i].name.p);
        if (strlen(want) + (size_t)n > 199)
            break;
        strcat(want, more);
    }
    tfrecord_put(&g_file, items, COUNT(items));
    ck_assert_int_eq(parse_only(defaults, IMREC_LABEL_FLOAT32, &room, &x, &err), IMREC_ERR_CORRUPT);
    const char *listed = strstr(err.message, "it has ");
    ck_assert_ptr_nonnull(listed);
    ck_assert_str_eq(listed + strlen("it has "), want);
    parse_room_free(&room);
}

/* Numbers may fill the room to its last byte; one more is refused. */
TEST(numbers_of_an_example_have_a_limit)
{
    static const int64_t numbers[100];
    const struct example_item items[] = {bytes_item("image/encoded", "x"),
                                         ints_item("n", numbers, COUNT(numbers))};
    struct buf example = BUF_INIT((size_t)1 << 20);
    const struct container_options o = {0};
    struct example_names names;
    struct parse_room room;
    struct record x = {0};
    struct imrec_error err = {0};
    ck_assert_int_eq(example_write(items, COUNT(items), &example, NULL), IMREC_OK);
    ck_assert_int_eq(example_names_copy(&names, &o, &err), IMREC_OK);
    ck_assert_int_eq(parse_room_init(&room, 4, IMREC_LABEL_FLOAT32, 1 << 20, &err), IMREC_OK);
    const struct bytes all = {example.p, example.n};
    room.limit = sizeof(numbers) - 1;
    ck_assert_int_eq(example_record(&names, all, RECORD_PARTS, &room, &x, &err), IMREC_ERR_LIMIT);
    ck_assert_msg(strstr(err.message, "take 800 bytes, at most 799 are kept") != NULL, "%s",
                  err.message);
    room.limit = sizeof(numbers);
    ck_assert_int_eq(example_record(&names, all, RECORD_PARTS, &room, &x, &err), IMREC_OK);
    ck_assert(x.field_count == 1 && x.fields[0].value.n == sizeof(numbers));
    parse_room_free(&room);
    example_names_free(&names);
    buf_free(&example);
}

/* ---- which files are taken ---------------------------------------------------------------- */

static void refuse(struct container_options o, const char *words)
{
    struct container c;
    struct imrec_error err = {0};
    ck_assert_int_ne(container_open(&o, &c, &err), IMREC_OK);
    ck_assert_msg(strstr(err.message, words) != NULL, "%s", err.message);
}

TEST(what_such_a_file_cannot_have_is_refused)
{
    struct container_options o = defaults;
    tfrecord_image(&g_file, "zero", 0);
    keep("a.tfrecord");
    o.path_imgidx = "a.idx";
    refuse(o, "is a TFRecord file, whose index imrec index writes");
    o.path_imgidx = NULL;
    o.verify_checksums = true;
    refuse(o, "is a TFRecord file, and only shards of records");
}

TEST(the_widest_label_is_not_known)
{
    struct container c;
    struct imrec_error err = {0};
    uint32_t widest = 7;
    tfrecord_image(&g_file, "zero", 0);
    keep("a.tfrecord");
    ck_assert_int_eq(container_open(&defaults, &c, &err), IMREC_OK);
    ck_assert_int_eq(c.kind->widest_label(&c, false, &widest, &err), IMREC_OK);
    ck_assert_uint_eq(widest, 0);
    ck_assert_int_eq(c.kind->widest_label(&c, true, &widest, &err), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(err.message, "label_pad_width must be given: " URI));
    container_close(&c);
}

TEST(reasons_of_damage_are_counted_as_memory)
{
    struct container c;
    struct imrec_error err = {0};
    tfrecord_image(&g_file, "zero", 0);
    const size_t damaged = g_file.n;
    tfrecord_image(&g_file, "one", 1);
    for (unsigned turn = 0; turn < 2; turn++) {
        g_file.p[damaged] ^= (uint8_t)turn;
        keep("a.tfrecord");
        ck_assert_int_eq(container_open(&defaults, &c, &err), IMREC_OK);
        ck_assert(turn == 0 ? container_state_memory(&c) == 0
                            : container_state_memory(&c) >= sizeof(err));
        container_close(&c);
    }
}

TEST(compressed_files_are_refused_with_what_helps)
{
    static const uint8_t gzip[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6, 7, 8},
                         zlib[] = {0x78, 0x9c, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    ck_assert_int_eq(mem_put("a.tfrecord", gzip, sizeof(gzip), NULL), IMREC_OK);
    refuse(defaults, "is compressed by gzip, not a TFRecord file: decompress it first (gunzip)");
    ck_assert_int_eq(mem_put("a.tfrecord", zlib, sizeof(zlib), NULL), IMREC_OK);
    refuse(defaults, "write it without compression_type");
}

TEST(a_set_is_of_one_kind)
{
    struct container_options o = defaults;
    static const uint8_t record[] = {0x0a, 0x23, 0xd7, 0xce, 0, 0, 0, 0};
    tfrecord_image(&g_file, "zero", 0);
    keep("a.tfrecord");
    ck_assert_int_eq(mem_put("b.rec", record, sizeof(record), NULL), IMREC_OK);
    o.path_imgrec = URI ";mem://b.rec";
    refuse(o, "is a TFRecord file and mem://b.rec a RecordIO shard");
}
