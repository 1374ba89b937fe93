/* tests/dataset/test_transfer.c - records of any kind into TFRecord files and RecordIO: nothing is
 * lost on the way there and back, and what would be is refused. */
#include "base/alloc.h"
#include "container/example_record.h"
#include "dataset/record_writer.h"
#include "imrec/convert.h"
#include "storage/mem.h"
#include "storage/source.h"
#include "tests/support/suite.h"
#include "tests/support/tars.h"
#include "tests/support/tfrecords.h"

#include <stdlib.h>

static struct buf g_file;
static struct imrec_records_result g_result;
static struct imrec_error g_err;
static unsigned g_found;

static void begin(void)
{
    g_file = BUF_INIT((size_t)1 << 26);
    g_found = 0;
}

static void end(void)
{
    buf_free(&g_file);
    mem_clear();
    ck_assert_int_eq(imrec_alloc_live(), 0); /* also after calls that have failed */
}

static void keep(const char *name)
{
    ck_assert_int_eq(mem_put(name, g_file.p, g_file.n, NULL), IMREC_OK);
}

static void count_finding(void *user, const struct imrec_finding *f)
{
    (void)user;
    ck_assert(f->reason[0] != '\0' && f->end > f->begin);
    g_found++;
}

static struct imrec_records_options from_to(const char *input, const char *output)
{
    struct imrec_records_options o;
    imrec_records_options_init(&o);
    o.input = input;
    o.output = output;
    o.finding = count_finding;
    return o;
}

static void convert_as(const struct imrec_records_options *o)
{
    ck_assert_msg(imrec_convert_records(o, &g_result, &g_err) == IMREC_OK, "%s", g_err.message);
}

static void convert(const char *input, const char *output)
{
    const struct imrec_records_options o = from_to(input, output);
    convert_as(&o);
}

static void refuse(const struct imrec_records_options *o, enum imrec_status want, const char *words)
{
    const enum imrec_status st = imrec_convert_records(o, &g_result, &g_err);
    ck_assert_msg(st == want && strstr(g_err.message, words) != NULL, "%d: %s", (int)st,
                  g_err.message);
}

static void expect_same(const char *a, const char *b)
{
    uint8_t *p, *q;
    size_t n, m;
    ck_assert_int_eq(source_load(a, 1 << 26, &p, &n, &g_err), IMREC_OK);
    ck_assert_int_eq(source_load(b, 1 << 26, &q, &m, &g_err), IMREC_OK);
    ck_assert_uint_eq(n, m);
    ck_assert_mem_eq(p, q, n);
    imrec_free(p);
    imrec_free(q);
}

/* Records with labels of every form, ids of 64 bits, a mask. */
static void write_records(void)
{
    static const float one[] = {7}, many[] = {1, -2, 16777216}, odd[] = {0.5f, 1e30f, -0.0f},
                       minus[] = {-0.0f};
    const struct written_image images[] = {
        {one, 1, 3, 0, text_bytes("one"), {NULL, 0}, NULL, 0},
        {many, 3, UINT64_MAX, 9, text_bytes("two"), {NULL, 0}, NULL, 0},
        {odd, 3, 0, UINT64_MAX, text_bytes("three"), text_bytes("its mask"), NULL, 0},
        {minus, 1, 5, 0, text_bytes("four"), {NULL, 0}, NULL, 0},
    };
    struct imrec_writer *w;
    ck_assert_int_eq(
        record_writer_open("mem://a.rec", "mem://a.idx", "mem://a.crc", true, &w, &g_err),
        IMREC_OK);
    for (size_t i = 0; i < sizeof(images) / sizeof(*images); i++)
        ck_assert_int_eq(record_writer_image(w, &images[i], &g_err), IMREC_OK);
    ck_assert_int_eq(imrec_writer_commit(w, &g_err), IMREC_OK);
}

CASE(.setup = begin, .teardown = end)

TEST(records_come_back_from_examples_byte_for_byte)
{
    write_records();
    convert("mem://a.rec", "mem://b.tfrecord");
    ck_assert(g_result.records == 4 && g_result.unchecked == 0 && g_result.fields == 0);
    convert("mem://b.tfrecord", "mem://c.rec");
    ck_assert(g_result.records == 4 && g_result.unchecked == 0 && g_result.fields == 0);
    expect_same("mem://a.rec", "mem://c.rec");
    expect_same("mem://a.idx", "mem://c.idx");
    expect_same("mem://a.crc", "mem://c.crc");
}

TEST(examples_are_copied_byte_for_byte_from_several_files)
{
    const int64_t odd[] = {1, 2};
    tfrecord_image(&g_file, "one", 1);
    keep("a.tfrecord");
    const size_t first = g_file.n;
    tfrecord_put(&g_file,
                 (struct example_item[]){ints_item("numbers", odd, 2),
                                         bytes_item("image/encoded", "two"),
                                         bytes_item("numbers", "again")},
                 3);
    keep("all.tfrecord");
    ck_assert_int_eq(mem_put("b.tfrecord", g_file.p + first, g_file.n - first, NULL), IMREC_OK);
    convert("mem://a.tfrecord;mem://b.tfrecord", "mem://c.tfrecords");
    ck_assert_uint_eq(g_result.bytes, g_file.n);
    expect_same("mem://all.tfrecord", "mem://c.tfrecords");
}

/* The image of the record `number`, its labels, its fields: as one text. */
static void show(const char *uri, char *to, size_t room)
{
    const struct container_options o = {.path_imgrec = uri, .num_parts = 1, .cell_bytes = 4096};
    struct container c;
    struct parse_room p;
    struct record x;
    size_t n = 0;
    ck_assert_int_eq(container_open(&o, &c, &g_err), IMREC_OK);
    ck_assert_int_eq(parse_room_init(&p, 4, IMREC_LABEL_FLOAT32, 1 << 20, &g_err), IMREC_OK);
    for (uint64_t u = 0; u < c.unit_count; u++) {
        struct record_place at = {.number = u};
        struct record_ref ref = {.unit = u};
        uint64_t used;
        ck_assert_int_eq(container_locate(&c, &at, 1, &g_err), IMREC_OK);
        uint8_t *bytes = malloc((size_t)(at.end - at.begin));
        ck_assert_int_eq(
            source_read(c.shards[0].source, at.begin, bytes, (size_t)(at.end - at.begin), &g_err),
            IMREC_OK);
        ck_assert_int_eq(
            c.kind->open(&c, &at, bytes, (size_t)(at.end - at.begin), &ref.bytes, &used, &g_err),
            IMREC_OK);
        ck_assert_int_eq(c.kind->parse(&c, &ref, RECORD_PARTS, &p, &x, &g_err), IMREC_OK);
        n += (size_t)snprintf(to + n, room - n, "%.*s", (int)x.image.n, (const char *)x.image.p);
        for (uint32_t i = 0; i < x.label_count; i++)
            n += (size_t)snprintf(to + n, room - n, " %g", (double)record_label(&x, i));
        for (uint32_t i = 0; i < x.field_count; i++)
            n += (size_t)snprintf(to + n, room - n, " %.*s=%.*s", (int)x.fields[i].name.n,
                                  (const char *)x.fields[i].name.p,
                                  x.fields[i].type == FIELD_BYTES ? (int)x.fields[i].value.n : 0,
                                  (const char *)x.fields[i].value.p);
        n += (size_t)snprintf(to + n, room - n, ";");
        ck_assert_uint_lt(n, room);
        free(bytes);
    }
    parse_room_free(&p);
    container_close(&c);
}

static void write_tar(void)
{
    tar_text(&g_file, "0.jpg", "zero");
    tar_text(&g_file, "0.cls", "1");
    tar_text(&g_file, "0.txt", "a cat");
    tar_text(&g_file, "1.png", "one");
    tar_text(&g_file, "1.json", "{}");
    tar_end(&g_file);
    keep("a.tar");
}

TEST(files_of_a_sample_become_features)
{
    char text[1000];
    write_tar();
    convert("mem://a.tar", "mem://b.tfrecord");
    show("mem://b.tfrecord", text, sizeof(text));
    ck_assert_str_eq(text, "zero 1 __files__=0 jpg/cls/txt __key__=0 cls=1 image/id= txt=a cat;"
                           "one __files__=0 png/json __key__=1 image/id= json={};");
    struct imrec_records_options o = from_to("mem://b.tfrecord", "mem://c.rec");
    refuse(&o, IMREC_ERR_DATA, "has no labels, a RecordIO record needs one: label=none writes 0");
    o.label = "none";
    convert_as(&o);
    ck_assert_uint_eq(g_result.fields, 0);
    convert("mem://c.rec", "mem://d.tfrecord"); /* RecordIO has fields, labels among them then */
    expect_same("mem://b.tfrecord", "mem://d.tfrecord");
}

/* ---- back into archives ------------------------------------------------------------------- */

/* Keys in folders, an image that is not the first file, two images, a name of over 100 bytes, files
 * that end and do not end at a block's end. */
static void write_odd_tar(bool with_long)
{
    char name[200], text[1025];
    memset(text, 'x', 1024);
    text[1024] = '\0';
    tar_text(&g_file, "./a/0.cls", "1");
    tar_text(&g_file, "./a/0.jpg", "zero");
    tar_text(&g_file, "./a/0.left.png", text);
    tar_text(&g_file, "./a/1.JPG", "one");
    tar_text(&g_file, "./a/1.cls", "-2.5 3");
    tar_text(&g_file, "./a/1.empty", "");
    if (with_long) {
        memset(name, 'n', sizeof(name));
        memcpy(name, "28 path=", 8);
        (void)snprintf(name, sizeof(name), "%s", "142 path=");
        memset(name + 9, 'n', 128);
        memcpy(name + 137, ".cls\n", 6);
        tar_put(&g_file, "PaxHeader", 'x', name, 142);
        memset(name, 'n', 100);
        name[99] = '\0';
        tar_put(&g_file, name, '0', "7", 1);
    }
}

static void finish_tar(void)
{
    static const uint8_t zeros[20480];
    ck_assert_int_eq(buf_append(&g_file, zeros,
                                20480 - (g_file.n % 10240) - (g_file.n % 10240 <= 9216 ? 10240 : 0),
                                NULL),
                     IMREC_OK);
    keep("a.tar");
}

TEST(an_archive_comes_back_from_records_and_from_examples_byte_for_byte)
{
    write_odd_tar(false);
    finish_tar();
    convert("mem://a.tar", "mem://copy.tar");
    expect_same("mem://a.tar", "mem://copy.tar");
    convert("mem://a.tar", "mem://b.rec");
    convert("mem://b.rec", "mem://c.tar");
    expect_same("mem://a.tar", "mem://c.tar");
    convert("mem://a.tar", "mem://d.tfrecord");
    convert("mem://d.tfrecord", "mem://e.tar");
    expect_same("mem://a.tar", "mem://e.tar");
    convert("mem://d.tfrecord", "mem://f.rec");
    convert("mem://f.rec", "mem://g.tar");
    expect_same("mem://a.tar", "mem://g.tar");
    ck_assert_uint_eq(g_result.records, 2);
}

TEST(copies_that_one_reader_would_join_are_refused)
{
    tar_text(&g_file, "a.jpg", "one");
    tar_text(&g_file, "a.cls", "1");
    finish_tar();
    struct imrec_records_options o = from_to("mem://a.tar;mem://a.tar", "mem://b.tar");
    refuse(&o, IMREC_ERR_DATA, "has the key of the one before it");
    g_file.n = 0;
    tar_text(&g_file, "../a.jpg", "one");
    tar_text(&g_file, "../a.cls", "1");
    finish_tar();
    o.input = "mem://a.tar";
    refuse(&o, IMREC_ERR_DATA, "names no file in a folder: ../a");
}

TEST(long_names_come_back)
{
    char text[4000];
    write_odd_tar(true);
    finish_tar();
    struct imrec_records_options o = from_to("mem://a.tar", "mem://b.rec");
    o.on_error = IMREC_ON_ERROR_SKIP; /* the sample of the long name has no image */
    convert_as(&o);
    ck_assert(g_result.records == 2 && g_result.left_out == 1);
    o.image = "jpg,cls";
    convert_as(&o);
    ck_assert(g_result.records == 3 && g_result.left_out == 0);
    convert("mem://b.rec", "mem://c.tar");
    o = from_to("mem://c.tar", "mem://d.tfrecord");
    o.image = "jpg,cls";
    convert_as(&o);
    show("mem://d.tfrecord", text, sizeof(text));
    ck_assert_ptr_nonnull(
        strstr(text, "__key__=nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"));
}

TEST(records_that_are_no_images_have_no_name_in_an_archive)
{
    write_records();
    struct imrec_records_options o = from_to("mem://a.rec", "mem://b.tar");
    refuse(&o, IMREC_ERR_DATA, "the record at byte 0 has an image of no format that is known");
}

/* A record with these two fields of an archive. */
static void write_named(const char *key, const char *files, const char *second_key)
{
    static const float one[] = {7};
    struct imrec_writer *w;
    const char *keys[] = {key, second_key};
    ck_assert_int_eq(
        record_writer_open("mem://a.rec", "mem://a.idx", "mem://a.crc", true, &w, &g_err),
        IMREC_OK);
    for (size_t i = 0; i < 2 && keys[i] != NULL; i++) {
        const struct imrec_field fields[] = {
            {"__key__", 7, keys[i], strlen(keys[i]), IMREC_FIELD_BYTES},
            {"__files__", 9, files, strlen(files), IMREC_FIELD_BYTES},
            {"txt", 3, "text", 4, IMREC_FIELD_BYTES}};
        const struct written_image image = {one,       1,      i, 0, text_bytes("image"),
                                            {NULL, 0}, fields, 3};
        ck_assert_int_eq(record_writer_image(w, &image, &g_err), IMREC_OK);
    }
    ck_assert_int_eq(imrec_writer_commit(w, &g_err), IMREC_OK);
}

LOOP_TEST(names_that_make_no_archive_are_refused, 0, 12)
{
    static const struct {
        const char *key, *files, *second, *words;
    } rows[] = {
        {"../a", "0 jpg/txt", NULL, "names no file in a folder: ../a"},
        {"a/../../b", "0 jpg/txt", NULL, "names no file"},
        {"/etc/a", "0 jpg/txt", NULL, "names no file"},
        {"", "0 jpg/txt", NULL, "names no file"},
        {"a.b", "0 jpg/txt", NULL, "names no file"},
        {"a", "0 jpg/txt/json", NULL, "lacks a field that its __files__ names: json"},
        {"a", "0 jpg/txt/txt", NULL, "lacks a field that its __files__ names: txt"},
        {"a", "jpg/txt", NULL, "no list of files"},
        {"a", "0", NULL, "no list of files"},
        {"a", "-1 jpg", NULL, "no list of files"},
        {"a", "9999999999 jpg", NULL, "no list of files"},
        {"a", "0 jpg/txt", "a", "has the key of the one before it"},
    };
    struct source *none;
    struct imrec_records_options o = from_to("mem://a.rec", "mem://b.tar");
    write_named(rows[_i].key, rows[_i].files, rows[_i].second);
    refuse(&o, IMREC_ERR_DATA, rows[_i].words);
    ck_assert_int_ne(source_open("mem://b.tar", &none, NULL), IMREC_OK);
}

TEST(fields_that_the_list_of_files_does_not_name_are_kept)
{
    char text[1000];
    write_named("x/1", "0 jpg", "x/2");
    convert("mem://a.rec", "mem://b.tar");
    struct imrec_records_options o = from_to("mem://b.tar", "mem://c.tfrecord");
    o.label = "none";
    convert_as(&o);
    show("mem://c.tfrecord", text, sizeof(text));
    ck_assert_str_eq(text, "image __files__=0 jpg/txt __key__=x/1 image/id= txt=text;"
                           "image __files__=0 jpg/txt __key__=x/2 image/id= txt=text;");
}

/* Records without a list of files, with a BMP of a pixel, after which it is named. */
TEST(numbers_become_text_and_other_ids_a_file_of_an_archive)
{
    static const float one[] = {7}, scores[] = {0.5f, -2.5f};
    static const int64_t wide[] = {7, -1, INT64_C(1) << 40};
    const struct imrec_field fields[] = {{"score", 5, scores, sizeof(scores), IMREC_FIELD_FLOAT32},
                                         {"wide", 4, wide, sizeof(wide), IMREC_FIELD_INT64}};
    static const uint64_t ids[][2] = {{0, 0}, {1, 5}, {99, 0}};
    static const uint8_t bmp[58] = {
        'B', 'M', 58, [10] = 54, [14] = 40, [18] = 1, [22] = 1, [26] = 1, [28] = 24};
    char text[1000];
    struct imrec_writer *w;
    ck_assert_int_eq(
        record_writer_open("mem://a.rec", "mem://a.idx", "mem://a.crc", true, &w, &g_err),
        IMREC_OK);
    for (size_t i = 0; i < 3; i++) {
        const struct written_image image = {
            one, 1, ids[i][0], ids[i][1], {bmp, sizeof(bmp)}, {NULL, 0}, fields, i == 0 ? 2u : 0u};
        ck_assert_int_eq(record_writer_image(w, &image, &g_err), IMREC_OK);
    }
    ck_assert_int_eq(imrec_writer_commit(w, &g_err), IMREC_OK);
    convert("mem://a.rec", "mem://b.tar");
    show("mem://b.tar", text, sizeof(text));
    ck_assert_ptr_nonnull(strstr(text, "score=0.5 -2.5 wide=7 -1 1099511627776;"));
    ck_assert_ptr_nonnull(strstr(text, "imrec_id=1 5;"));
    ck_assert_ptr_nonnull(strstr(text, "imrec_id=99 0;"));
    ck_assert_ptr_null(strstr(text, "imrec_id=0"));
    uint64_t size;
    convert("mem://b.tar", "mem://c.rec");
    ck_assert_int_eq(source_measure("mem://c.rec", &size, &g_err), IMREC_OK);
    ck_assert_uint_eq(g_result.bytes, size);
}

TEST(labels_are_moved_and_stay_exact)
{
    char text[1000];
    write_tar();
    struct imrec_records_options o = from_to("mem://a.tar", "mem://b.tfrecord");
    o.label_offset = -1;
    convert_as(&o);
    show("mem://b.tfrecord", text, sizeof(text));
    ck_assert_ptr_nonnull(strstr(text, "zero 0 __files__=0 jpg/cls/txt __key__=0 cls=1"));
    o.label_offset = 16777216;
    refuse(&o, IMREC_ERR_DATA, "label 1 and the offset 16777216 are no number");
    o.input = "mem://b.tfrecord";
    o.output = "mem://c.tfrecord";
    refuse(&o, IMREC_ERR_ARGUMENT, "records of a TFRecord file are copied as they are");
}

TEST(damage_ends_the_call_or_is_left_out)
{
    tfrecord_image(&g_file, "one", 1);
    const size_t second = g_file.n;
    tfrecord_image(&g_file, "two", 2);
    tfrecord_image(&g_file, "three", 3);
    g_file.p[second + 20] ^= 1;
    keep("a.tfrecord");
    struct imrec_records_options o = from_to("mem://a.tfrecord", "mem://b.rec");
    struct source *none;
    refuse(&o, IMREC_ERR_DATA, "checksum of the record's");
    ck_assert_int_ne(source_open("mem://b.rec", &none, NULL), IMREC_OK);
    o.on_error = IMREC_ON_ERROR_SKIP;
    convert_as(&o);
    ck_assert(g_result.records == 2 && g_result.left_out == 1 && g_found == 1);
}

TEST(what_cannot_be_converted_is_refused)
{
    write_records();
    struct imrec_records_options o = from_to("mem://a.rec", "mem://b.rec");
    refuse(&o, IMREC_ERR_ARGUMENT, "is a RecordIO shard already: imrec merge and imrec split");
    o.output = "mem://b.zip";
    refuse(&o, IMREC_ERR_ARGUMENT, "written into .tar, .tfrecord, .tfrecords or .rec files");
    o.output = NULL;
    refuse(&o, IMREC_ERR_ARGUMENT, "input and output must be given");
}
