/* What the original's packer made of four photographs, and its lists of a small tree. */
#include "formats/recordio/image_record.h"
#include "formats/recordio/record_index.h"
#include "formats/recordio/recordio.h"
#include "imrec/codec.h"
#include "tests/support/built.h"
#include "tests/support/packing.h"
#include "tests/support/suite.h"
#include "tests/support/vectors.h"

static struct packing p;

static void setup(void)
{
    memset(&p, 0, sizeof(p));
    p.dir = tmpdir_make();
    imrec_pack_options_init(&p.o);
}

static void teardown(void)
{
    packing_remove(&p);
}

static const struct {
    const char *name, *options;
} packs[] = {
    {"256", "resize=256"},
    {"pass", "pass_through=1"},
    {"crop128", "resize=128 center_crop=1"},
    {"gray", "resize=128 color=0"},
    {"png", "resize=96 encoding=png"},
    {"multi", "resize=64 pack_label=1"},
};

static void set_all(const char *options)
{
    static char copies[2][128]; /* options point into them */
    static int next;
    char *copy = copies[next++ % 2];
    snprintf(copy, sizeof(copies[0]), "%s", options);
    for (char *o = strtok(copy, " "); o != NULL; o = strtok(NULL, " "))
        ck_assert_msg(imrec_pack_options_set(&p.o, o, &p.err) == IMREC_OK, "%s", p.err.message);
}

static void check_labels(const struct image_record *r, const json_t *label)
{
    ck_assert_uint_eq(r->label_count, json_array_size(label));
    for (uint32_t i = 0; i < r->label_count; i++)
        ck_assert(image_record_label(r, i) == (float)json_number_value(json_array_get(label, i)));
}

static void check_image(const struct image_record *r, const json_t *shape)
{
    struct imrec_image_info info;
    ck_assert_int_eq(imrec_image_info(r->image.p, r->image.n, &info, &p.err), IMREC_OK);
    ck_assert_int_eq(info.height, json_integer_value(json_array_get(shape, 0)));
    ck_assert_int_eq(info.width, json_integer_value(json_array_get(shape, 1)));
    if (json_array_size(shape) == 3)
        ck_assert_int_eq(info.channels, json_integer_value(json_array_get(shape, 2)));
    else
        ck_assert_int_eq(info.channels, 1);
}

/* Our index leads to records with the ids, labels and sizes of theirs. */
static void check_records(const json_t *want)
{
    const struct bytes rec = read_whole(tmp_path(&p.dir, "out.rec"));
    const struct bytes idx = read_whole(tmp_path(&p.dir, "out.idx"));
    struct index_cursor at;
    uint64_t key, offset;
    size_t i = 0;
    record_index_begin(&at, "out.idx", idx);
    while (record_index_next(&at, &key, &offset, &p.err) == IMREC_OK) {
        struct recordio_span span;
        struct image_record r;
        const json_t *record = json_array_get(want, i++);
        ck_assert_int_eq(recordio_measure(rec.p + offset, rec.n - offset, offset, &span, &p.err),
                         IMREC_OK);
        const struct bytes whole = recordio_join((uint8_t *)(uintptr_t)rec.p + offset, &span);
        ck_assert_int_eq(image_record_parse(whole, &r, &p.err), IMREC_OK);
        ck_assert_uint_eq(key, vectors_u64(record, "id"));
        ck_assert_uint_eq(r.id, key);
        ck_assert_uint_eq(r.flag, vectors_u64(record, "flag"));
        check_labels(&r, json_object_get(record, "label"));
        check_image(&r, json_object_get(record, "shape"));
    }
    ck_assert_uint_eq(i, json_array_size(want));
    free((void *)(uintptr_t)rec.p);
    free((void *)(uintptr_t)idx.p);
}

START_TEST(records_have_the_ids_labels_and_sizes_of_the_original_s)
{
    char name[64], list[512], root[512];
    snprintf(name, sizeof(name), "im2rec_im4_%s.json", packs[_i].name);
    json_t *v = vectors_json(name);
    snprintf(name, sizeof(name), "vectors/mxnet/im2rec_im4_%s/a.lst", packs[_i].name);
    snprintf(list, sizeof(list), "%s", shared_path(name));
    snprintf(root, sizeof(root), "%s", shared_path("vectors/mxnet/src"));
    const struct imrec_pack_task task = {
        .list = list, .root = root, .out = kept_path(&p, "out.rec")};
    set_all(packs[_i].options);
    if (p.o.encoding == IMREC_ENCODE_PNG && !built_with("png")) {
        json_decref(v);
        return;
    }
    ck_assert_msg(imrec_pack(&task, &p.o, &p.result, &p.err) == IMREC_OK, "%s", p.err.message);
    const struct bytes lst = read_whole(tmp_path(&p.dir, "out.lst"));
    ck_assert_str_eq((const char *)lst.p, vectors_text(v, "lst"));
    free((void *)(uintptr_t)lst.p);
    check_records(json_object_get(v, "records"));
    if (p.o.pass_through) { /* no encoder in between: the same bytes */
        const struct bytes ours = read_whole(tmp_path(&p.dir, "out.rec"));
        struct file_bytes theirs = vectors_file("im2rec_im4_pass/a.rec");
        ck_assert_uint_eq(ours.n, theirs.n);
        ck_assert(memcmp(ours.p, theirs.p, ours.n) == 0);
        free((void *)(uintptr_t)ours.p);
        free(theirs.p);
    }
    json_decref(v);
}
END_TEST

static const struct {
    const char *name, *options;
} lists[] = {
    {"flat", "class_from=flat"},
    {"recursive", ""},
    {"recursive_noshuffle", "shuffle=0"},
    {"chunks2_noshuffle", "shuffle=0 chunks=2"},
    {"split", "shuffle=0 train_ratio=0.5 test_ratio=0.3"},
    {"exts_bmp", "shuffle=0 exts=.bmp"},
};

START_TEST(lists_are_the_original_s_byte_for_byte)
{
    json_t *v = vectors_json("im2rec_list.json");
    const json_t *c = json_object_get(json_object_get(v, "cases"), lists[_i].name);
    const json_t *files = json_object_get(c, "files");
    const char *name;
    json_t *text;
    char root[512];
    snprintf(root, sizeof(root), "%s", shared_path("vectors/mxnet/listtree"));
    const struct imrec_pack_task task = {.root = root, .out = kept_path(&p, "a")};
    set_all("list=1 class_from=leaf exts=.jpeg,.jpg,.png");
    set_all(lists[_i].options);
    ck_assert_msg(imrec_pack(&task, &p.o, &p.result, &p.err) == IMREC_OK, "%s", p.err.message);
    ck_assert_uint_eq(p.result.lists, json_object_size(files));
    json_object_foreach((json_t *)(uintptr_t)files, name, text)
    {
        const struct bytes ours = read_whole(tmp_path(&p.dir, name));
        ck_assert_msg(ours.p != NULL, "%s is missing", name);
        ck_assert_str_eq((const char *)ours.p, json_string_value(text));
        free((void *)(uintptr_t)ours.p);
    }
    json_decref(v);
}
END_TEST

int main(void)
{
    shared_or_skip();
    Suite *s = suite_create("pack vectors");
    TCase *t = tcase_create("all");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, records_have_the_ids_labels_and_sizes_of_the_original_s, 0,
                        sizeof(packs) / sizeof(packs[0]));
    tcase_add_loop_test(t, lists_are_the_original_s_byte_for_byte, 0,
                        sizeof(lists) / sizeof(lists[0]));
    suite_add_tcase(s, t);
    return suite_run(s);
}
