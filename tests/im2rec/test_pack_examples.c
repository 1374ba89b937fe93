/* tests/im2rec/test_pack_examples.c - TFRecord files are packed as the images, labels and features
 * in their Examples: the records are those of the folder that they were made of. */
#include "im2rec/item/image_place.h"
#include "imrec/convert.h"
#include "imrec/plan.h"
#include "imrec/records.h"
#include "tests/support/archives.h"
#include "tests/support/starving.h"
#include "tests/support/tfrecords.h"

static struct buf file;
static char list_text[8192];
static size_t list_n, second; /* where the second record begins */

static void setup(void)
{
    archives_make();
    file = BUF_INIT((size_t)1 << 24);
    list_n = second = 0;
}

static void teardown(void)
{
    buf_free(&file);
    archives_remove();
}

CASE(.timeout = 300, .setup = setup, .teardown = teardown)

/* An image of the folder with its caption; a line of files.lst says the same. */
static void put_image(const char *class, int i, int64_t label)
{
    char name[64], text[64];
    snprintf(name, sizeof(name), "source/%s/%02d.jpg", class, i);
    const struct bytes jpeg = read_whole(tmp_path(&p.dir, name));
    snprintf(text, sizeof(text), "%s %d", class, i);
    snprintf(name, sizeof(name), "source/%s/%02d.txt", class, i);
    tmp_write(&p.dir, name, text, strlen(text));
    const int64_t sides[] = {i, 3};
    struct example_item items[] = {bytes_item("txt", text),
                                   ints_item("image/class/label", &label, 1),
                                   bytes_item("image/encoded", ""), ints_item("sides", sides, 2)};
    items[2].bytes = jpeg;
    if (file.n != 0 && second == 0)
        second = file.n;
    tfrecord_put(&file, items, COUNT(items));
    free((void *)(uintptr_t)jpeg.p);
    static int id;
    id = list_n == 0 ? 0 : id + 1;
    list_n +=
        (size_t)sprintf(list_text + list_n, "%d\t%d\t%s/%02d.jpg\n", id, (int)label, class, i);
}

static void write_file(const char *name)
{
    tmp_write(&p.dir, name, file.p, file.n);
    file.n = 0;
}

/* x.tfrecord and y-00001-of-00002 have the images of the folder, files.lst too. */
static void make_two(void)
{
    static const char *const classes[MADE_CLASSES] = {"ant", "bee", "cow"};
    for (int c = 0; c < MADE_CLASSES; c++) {
        for (int i = 0; i < MADE_EACH; i++)
            put_image(classes[c], i, c * 7);
        if (c == 0)
            write_file("x.tfrecord");
    }
    write_file("y-00001-of-00002");
    tmp_write(&p.dir, "files.lst", list_text, list_n);
}

#define BOTH "x.tfrecord;y-00001-of-00002"

static void expect_records(void)
{
    static const char *const files[] = {".rec", ".idx", ".crc"};
    for (size_t i = 0; i < COUNT(files); i++)
        expect_same_file(&p, "a", "b", files[i]);
}

TEST(names_say_whether_they_have_records)
{
    ck_assert(archives_are("x.tfrecord") && archives_are("s3://b/x.TFRecords"));
    ck_assert(archives_are("train-00000-of-01024") &&
              archives_are("train-{00000..00009}-of-00010"));
    ck_assert(archives_are("train-*-of-00010") && archives_are_examples(BOTH));
    ck_assert(!archives_are("train-of-00010") && !archives_are("-of-1") &&
              !archives_are("a-1-of-b"));
    ck_assert(!archives_are_examples("x.tfrecord;x.tar") && !archives_are_examples("x.tar"));
}

LOOP_TEST(records_are_those_of_the_folder, 0, 4)
{
    make_two();
    p.o.threads = _i == 0 ? 1 : 5;
    p.o.pass_through = _i == 1;
    p.o.resize = _i == 1 ? 0 : 16;
    p.o.fields = _i >= 2 ? "txt" : "";
    p.o.copies = _i == 3 ? 2 : 1;
    p.o.augment = _i == 3 ? "rand_mirror=1" : "";
    expect_ok(pack_from(p.source, "files.lst", "a"));
    expect_ok(pack_from(here(BOTH), NULL, "b"));
    ck_assert_uint_eq(p.result.packed, (uint64_t)MADE_GOOD * (_i == 3 ? 2 : 1));
    ck_assert_uint_eq(p.result.other_files, 0);
    expect_records();
    const struct bytes lst = read_whole(tmp_path(&p.dir, "b.lst"));
    ck_assert(_i == 3 || strstr((const char *)lst.p, "9\t7.000000\ty-00001-of-00002/1\n") != NULL);
    free((void *)(uintptr_t)lst.p);
}

static const struct imrec_field *field_of(const struct imrec_record *r, const char *name, size_t n)
{
    for (uint32_t i = 0; i < r->field_count; i++)
        if (r->fields[i].name_bytes == n && memcmp(r->fields[i].name, name, n) == 0)
            return &r->fields[i];
    return NULL;
}

/* But for the list of features, by which convert makes the same Example again. */
static void expect_same_record(const struct imrec_record *a, const struct imrec_record *b)
{
    static const char list[] = "__features__";
    const bool listed = field_of(a, list, sizeof(list) - 1) != NULL;
    ck_assert(a->id == b->id && a->label_count == b->label_count &&
              a->image_size == b->image_size && a->field_count == b->field_count + listed);
    ck_assert_mem_eq(a->labels, b->labels, a->label_count * sizeof(float));
    ck_assert_mem_eq(a->image, b->image, a->image_size);
    for (uint32_t i = 0; i < b->field_count; i++) {
        const struct imrec_field *f = &b->fields[i], *g = field_of(a, f->name, f->name_bytes);
        ck_assert(g != NULL && g->kind == f->kind && g->size == f->size);
        ck_assert_mem_eq(g->bytes, f->bytes, f->size);
    }
}

TEST(records_are_those_that_convert_makes)
{
    struct imrec_records_options c;
    struct imrec_records_result result;
    make_two();
    p.o.pass_through = true;
    p.o.resize = 0;
    p.o.fields = "sides,none?,txt";
    expect_ok(pack_from(here("x.tfrecord"), NULL, "b"));
    char from[512], to[512];
    snprintf(from, sizeof(from), "%s", tmp_path(&p.dir, "x.tfrecord"));
    snprintf(to, sizeof(to), "%s", tmp_path(&p.dir, "a.rec"));
    imrec_records_options_init(&c);
    c.input = from;
    c.output = to;
    expect_ok(imrec_convert_records(&c, &result, &p.err));
    ck_assert_uint_eq(result.records, MADE_EACH);
    struct imrec_reader *a, *b;
    struct imrec_record x, y;
    expect_ok(imrec_reader_open(to, 0, 1, &a, &p.err));
    expect_ok(imrec_reader_open(tmp_path(&p.dir, "b.rec"), 0, 1, &b, &p.err));
    for (uint64_t i = 0; i < result.records; i++) {
        expect_ok(imrec_reader_next(a, &x, &p.err));
        expect_ok(imrec_reader_next(b, &y, &p.err));
        expect_same_record(&x, &y);
    }
    ck_assert_int_eq(imrec_reader_next(b, &y, &p.err), IMREC_END);
    imrec_reader_close(a);
    imrec_reader_close(b);
}

LOOP_TEST(a_plan_makes_the_same_set, 0, 2)
{
    char plan[512], out[512], all[2048];
    struct imrec_plan_status s;
    make_two();
    p.o.fields = _i == 1 ? "txt,sides" : "";
    expect_ok(pack_from(here(BOTH), NULL, "a"));
    const struct imrec_pack_result whole = p.result;
    snprintf(plan, sizeof(plan), "%s/plan", p.dir.path);
    snprintf(out, sizeof(out), "%s/b", p.dir.path);
    snprintf(all, sizeof(all), "%s", here(BOTH));
    const struct imrec_pack_task task = {.root = all, .out = out};
    expect_ok(imrec_plan_make(plan, &task, &p.o, 5, &s, &p.err));
    for (uint64_t k = s.tasks; k > 0; k--)
        expect_ok(imrec_plan_work(plan, k - 1, NULL, &p.result, &p.err));
    expect_ok(imrec_plan_finish(plan, NULL, &p.result, &p.err));
    ck_assert_int_eq(memcmp(&whole, &p.result, sizeof(whole)), 0);
    expect_records();
    expect_same_file(&p, "a", "b", ".lst");
    expect_same_manifest(&p, "a", "b");
}

TEST(files_of_stores_are_read_ahead)
{
    make_two();
    const struct bytes x = read_whole(tmp_path(&p.dir, "x.tfrecord"));
    expect_ok(mem_put("x.tfrecord", x.p, x.n, &p.err));
    free((void *)(uintptr_t)x.p);
    expect_ok(pack_from(here("x.tfrecord"), NULL, "a"));
    expect_ok(pack_from("mem://x.tfrecord", NULL, "b"));
    expect_records();
}

static void expect_skip_of(const char *path, const char *code, const char *words)
{
    for (uint32_t i = 0; i < p.result.first_skip_count; i++) {
        const struct imrec_pack_skip *s = &p.result.first_skips[i];
        if (strcmp(s->path, path) == 0 && strcmp(s->code, code) == 0 &&
            strstr(s->reason, words) != NULL)
            return;
    }
    ck_abort_msg("no skip %s, %s: %s", path, code, words);
}

TEST(damage_costs_a_record_and_is_reported)
{
    make_two();
    const struct bytes x = read_whole(tmp_path(&p.dir, "x.tfrecord"));
    uint8_t *bytes = (uint8_t *)(uintptr_t)x.p;
    bytes[second] ^= 1; /* its head */
    bytes[100] ^= 1;    /* the content of the first one */
    tmp_write(&p.dir, "z.tfrecord", bytes, x.n - 3);
    expect_ok(pack_from(here("z.tfrecord"), NULL, "b"));
    ck_assert(p.result.packed == MADE_EACH - 3 && p.result.skipped == 3);
    expect_skip_of("z.tfrecord/0", "damaged", "the checksum of the record's");
    expect_skip_of("z.tfrecord", "damaged", "the checksum of the record's length is wrong");
    expect_skip_of("z.tfrecord", "damaged", "are left of the file");
    p.o.archive_errors = IMREC_ARCHIVE_STOP;
    expect_error(pack_from(here("z.tfrecord"), NULL, "c"), IMREC_ERR_CORRUPT, "z.tfrecord: byte ");
    ck_assert_uint_eq(p.err.offset, second);
    bytes[second] ^= 1;
    tmp_write(&p.dir, "z.tfrecord", bytes, x.n);
    p.o.on_error = IMREC_ON_ERROR_STOP;
    expect_error(pack_from(here("z.tfrecord"), NULL, "c"), IMREC_ERR_DATA, "z.tfrecord/0");
    free(bytes);
}

TEST(what_is_wrong_with_an_example_is_its_reason)
{
    const int64_t label = 3, odd = 16777217, many[] = {1, 2};
    const struct example_item no_label[] = {bytes_item("image/encoded", "x")};
    const struct example_item no_image[] = {ints_item("image/class/label", &label, 1)};
    const struct example_item inexact[] = {bytes_item("image/encoded", "x"),
                                           ints_item("image/class/label", &odd, 1)};
    const struct example_item text[] = {bytes_item("image/encoded", "x"),
                                        bytes_item("image/class/label", "x")};
    const struct example_item fine[] = {bytes_item("image/encoded", "x"),
                                        ints_item("image/class/label", many, 2),
                                        ints_item("left", &label, 1), bytes_item("right", "y")};
    tfrecord_put(&file, no_label, COUNT(no_label));
    tfrecord_put(&file, no_image, COUNT(no_image));
    tfrecord_put(&file, inexact, COUNT(inexact));
    tfrecord_put(&file, text, COUNT(text));
    tfrecord_put(&file, fine, COUNT(fine));
    write_file("x.tfrecord");
    p.o.pass_through = true;
    p.o.resize = 0;
    p.o.check = IMREC_CHECK_NONE;
    expect_ok(pack_from(here("x.tfrecord"), NULL, "b"));
    ck_assert_uint_eq(p.result.packed, 1);
    expect_skip_of("x.tfrecord/0", "label", "label_ext=NAME names another feature");
    expect_skip_of("x.tfrecord/1", "unsupported", "no feature 'image/encoded' (image_ext=NAME");
    expect_skip_of("x.tfrecord/2", "label", "'image/class/label' has 16777217");
    expect_skip_of("x.tfrecord/3", "label", "is bytes: labels are int64s or floats (label_ext=)");
    p.o.image_ext = "right";
    p.o.label_ext = "left";
    expect_ok(pack_from(here("x.tfrecord"), NULL, "c"));
    ck_assert(p.result.packed == 1 && p.result.file_bytes == 1);
    p.o.image_ext = "";
    p.o.label_ext = "none";
    expect_ok(pack_from(here("x.tfrecord"), NULL, "d"));
    ck_assert(p.result.packed == 4 && p.result.unlabelled == 4);
    p.o.label_ext = "";
    p.o.fields = "left";
    expect_ok(pack_from(here("x.tfrecord"), NULL, "e"));
    p.o.image_ext = "right";
    p.o.fields = "nothing";
    expect_error(pack_from(here("x.tfrecord"), NULL, "f"), IMREC_ERR_DATA, "x.tfrecord");
    expect_skip_of("x.tfrecord/4", "field", "no feature for the field nothing");
}

TEST(labels_are_numbers_of_the_class_list)
{
    make_two();
    tmp_write(&p.dir, "classes.txt", "a\nb\nc\n", 6);
    p.o.classes = kept_path(&p, "classes.txt");
    p.o.threads = 3;
    expect_ok(pack_from(here(BOTH), NULL, "b"));
    ck_assert(p.result.packed == MADE_EACH && p.result.skipped == 2 * MADE_EACH);
    expect_skip_of("y-00001-of-00002/0", "outside_a_class", "label 7 is none of the 3 classes");
}

TEST(features_are_no_extensions_of_files)
{
    make_two();
    p.o.fields = "image/encoded";
    expect_error(pack_from(p.source, "files.lst", "a"), IMREC_ERR_ARGUMENT, "list of extensions");
    p.o.fields = "";
    expect_error(pack_from(here("x.tfrecord;none.tfrecord"), NULL, "a"), IMREC_ERR_ARGUMENT,
                 "none.tfrecord");
}

TEST(places_of_examples_are_read_as_they_were_written)
{
    const struct image_place at = {10, 1, 2, 9, true};
    struct image_place got = {0};
    struct buf text = BUF_INIT(1000);
    expect_ok(image_place_write(&at, &text, &p.err));
    expect_ok(buf_append(&text, "x.tfrecord/0", 12, &p.err));
    struct bytes path = {text.p, text.n};
    ck_assert(image_place_take(&path, &got) && got.example && got.archive == 10);
    path = (struct bytes){(const uint8_t *)"1 2 9 5 f:x.tar/a", 17};
    ck_assert(!image_place_take(&path, &got));
    buf_free(&text);
}

TEST(lacking_memory_is_an_error_and_leaks_nothing)
{
    make_two();
    const struct archive_options o = {.spec = here("x.tfrecord"),
                                      .image_ext = "",
                                      .label_ext = "",
                                      .builtin = (const char *const[]){".jpg", NULL}};
    STARVING(s)
    {
        s.st = archives_scan(&o, &found, &root, &p.err);
        scan_free(&found);
        imrec_free(root);
        root = NULL;
    }
}
