/* tests/dataset/test_reader_options.c - what is read of samples, said by options: the readers, what
 * is built on them, and the iterator take the same part, and refuse the same with the same words.
 */
#include "container/container.h"
#include "dataset/record_writer.h"
#include "imrec/codec.h"
#include "imrec/dataset.h"
#include "imrec/iterator.h"
#include "imrec/records.h"
#include "storage/mem.h"
#include "tests/support/starving.h"
#include "tests/support/suite.h"
#include "tests/support/tars.h"
#include "tests/support/tfrecords.h"
#include "tests/support/tmpdir.h"

#include <stdlib.h>

enum { SAMPLES = 4, LACKS = 2 }; /* that sample has no second image */

static struct buf g_file;
static struct imrec_error g_err;

static void put(const char *name)
{
    ck_assert_int_eq(mem_put(name, g_file.p, g_file.n, NULL), IMREC_OK);
    g_file.n = 0;
}

/* Sample i: image "left I", "right I", labels 7 and i + 11. */
static void make_tar(void)
{
    char name[40], text[40];
    for (int i = 0; i < SAMPLES; i++) {
        const char *const parts[][2] = {
            {"jpg", "left %d"}, {"right.jpg", "right %d"}, {"cls", "7"}, {"count", "%d"}};
        for (size_t k = 0; k < sizeof(parts) / sizeof(*parts); k++) {
            if (k == 1 && i == LACKS)
                continue;
            (void)snprintf(name, sizeof(name), "%d.%s", i, parts[k][0]);
            (void)snprintf(text, sizeof(text), parts[k][1], k == 3 ? i + 11 : i);
            tar_text(&g_file, name, text);
        }
    }
    tar_end(&g_file);
    put("a.tar");
}

static void make_tfrecord(void)
{
    char left[40], right[40];
    for (int64_t i = 0; i < SAMPLES; i++) {
        const int64_t label = 7, count = i + 11;
        (void)snprintf(left, sizeof(left), "left %d", (int)i);
        (void)snprintf(right, sizeof(right), "right %d", (int)i);
        const struct example_item items[] = {
            ints_item("count", &count, 1), ints_item("image/class/label", &label, 1),
            bytes_item("image/encoded", left), bytes_item("right.jpg", right)};
        tfrecord_put(&g_file, items, i == LACKS ? 3 : 4);
    }
    put("a.tfrecord");
}

static void make_records(void)
{
    static const float labels[] = {3, 4};
    struct imrec_writer *w;
    ck_assert_int_eq(
        record_writer_open("mem://a.rec", "mem://a.idx", "mem://a.crc", true, &w, &g_err),
        IMREC_OK);
    for (uint64_t i = 0; i < SAMPLES; i++)
        ck_assert_int_eq(imrec_writer_append_image(w, i, labels, 1 + i % 2, i, "image", 5, &g_err),
                         IMREC_OK);
    ck_assert_int_eq(imrec_writer_commit(w, &g_err), IMREC_OK);
}

static void begin(void)
{
    g_file = BUF_INIT((size_t)1 << 24);
    make_tar();
    make_tfrecord();
    make_records();
}

static void end(void)
{
    buf_free(&g_file);
    mem_clear();
}

static const char *const files[] = {"mem://a.tar", "mem://a.tfrecord"};

static struct imrec_reader_options right_by_count(void)
{
    struct imrec_reader_options o;
    imrec_reader_options_init(&o);
    o.image = "right.jpg";
    o.label = "count";
    o.label_offset = -10;
    return o;
}

static struct imrec_reader *
open_records(const char *uri, const struct imrec_reader_options *o, bool one_file)
{
    struct imrec_reader *r;
    const enum imrec_status st = one_file ? imrec_reader_open_files_with(uri, 0, 1, o, &r, &g_err)
                                          : imrec_reader_open_with(uri, 0, 1, o, &r, &g_err);
    ck_assert_msg(st == IMREC_OK, "%s", g_err.message);
    return r;
}

static void expect_right(const struct imrec_record *r, uint64_t i, bool head)
{
    char image[40];
    (void)snprintf(image, sizeof(image), "right %d", (int)i);
    ck_assert(r->is_image && r->id == i && r->label_count == 1);
    ck_assert_float_eq(r->labels[0], (float)i + 1);
    ck_assert_uint_eq(r->image_size, head ? 0 : strlen(image));
    ck_assert(head || memcmp(r->image, image, strlen(image)) == 0);
}

CASE(.setup = begin, .teardown = end)

LOOP_TEST(every_way_to_a_record_takes_the_parts_that_are_named, 0, 2)
{
    const struct imrec_reader_options o = right_by_count();
    for (int one = 0; one < 2; one++) {
        struct imrec_reader *r = open_records(files[_i], &o, one != 0);
        struct imrec_record x;
        for (uint64_t i = 0; i < SAMPLES; i++) {
            ck_assert_int_eq(imrec_reader_next(r, &x, &g_err),
                             i == LACKS ? IMREC_ERR_DATA : IMREC_OK);
            if (i != LACKS)
                expect_right(&x, i, false);
        }
        ck_assert_int_eq(imrec_reader_next(r, &x, &g_err), IMREC_END);
        ck_assert_int_eq(imrec_reader_get(r, 3, &x, &g_err), IMREC_OK);
        expect_right(&x, 3, false);
        ck_assert_int_eq(imrec_reader_head(r, 1, &x, &g_err), IMREC_OK);
        expect_right(&x, 1, true);
        imrec_reader_close(r);
    }
}

LOOP_TEST(without_options_the_usual_parts_are_read, 0, 2)
{
    struct imrec_reader_options o;
    struct imrec_record x;
    imrec_reader_options_init(&o);
    o.image = o.label = o.path_root = NULL; /* as "" */
    for (int given = 0; given < 2; given++) {
        struct imrec_reader *r = open_records(files[_i], given != 0 ? &o : NULL, false);
        ck_assert_int_eq(imrec_reader_next(r, &x, &g_err), IMREC_OK);
        ck_assert(x.image_size == 6 && memcmp(x.image, "left 0", 6) == 0);
        ck_assert_float_eq(x.labels[0], 7);
        imrec_reader_close(r);
    }
}

TEST(labels_of_records_are_moved_by_every_way_to_them)
{
    struct imrec_reader_options o;
    struct imrec_record x;
    imrec_reader_options_init(&o);
    o.label_offset = -3;
    struct imrec_reader *r = open_records("mem://a.rec", &o, false);
    ck_assert_int_eq(imrec_reader_next(r, &x, &g_err), IMREC_OK);
    ck_assert(x.label_count == 1 && x.labels[0] == 0);
    ck_assert_int_eq(imrec_reader_get(r, 1, &x, &g_err), IMREC_OK);
    ck_assert(x.label_count == 2 && x.labels[0] == 0 && x.labels[1] == 1);
    ck_assert_int_eq(imrec_reader_head(r, 3, &x, &g_err), IMREC_OK);
    ck_assert(x.label_count == 2 && x.labels[0] == 0 && x.labels[1] == 1);
    imrec_reader_close(r);
}

/* 16777219 + 3 and 4: the first is no float32. */
TEST(a_label_that_would_change_is_damage_of_its_record)
{
    struct imrec_reader_options o;
    struct imrec_record x;
    uint32_t shard;
    uint64_t from, to;
    imrec_reader_options_init(&o);
    o.label_offset = 1 << 24;
    struct imrec_reader *r = open_records("mem://a.rec", &o, false);
    ck_assert_int_eq(imrec_reader_next(r, &x, &g_err), IMREC_ERR_DATA);
    ck_assert_ptr_nonnull(
        strstr(g_err.message, "label 3 and the offset 16777216 are no number that a float32"));
    imrec_reader_damage(r, &shard, &from, &to);
    ck_assert(shard == 0 && from == 0 && to == 40);
    imrec_reader_close(r);
    struct imrec_checked *c;
    ck_assert_int_eq(imrec_checked_open_with("mem://a.rec", &o, NULL, NULL, &c, &g_err), IMREC_OK);
    ck_assert_int_eq(imrec_checked_next(c, &x, &g_err), IMREC_ERR_DATA);
    ck_assert_int_eq(imrec_checked_found(c)->kind, IMREC_FOUND_DAMAGE);
    imrec_checked_close(c);
}

LOOP_TEST(the_card_and_the_check_are_of_the_parts_that_are_named, 0, 2)
{
    const struct imrec_reader_options o = right_by_count();
    struct imrec_dataset_card card;
    struct imrec_verify_options v;
    struct imrec_verify_result result;
    uint32_t shard;
    uint64_t offset;
    ck_assert_int_eq(imrec_dataset_card_with(files[_i], &o, NULL, NULL, &card, &g_err), IMREC_OK);
    ck_assert(card.images == SAMPLES - 1 && card.damaged_ranges == 1 && card.label_count == 3);
    ck_assert(card.labels[0].label == 1 && card.image_bytes.max == 7);
    imrec_dataset_card_free(&card);
    imrec_verify_options_init(&v);
    v.structure_only = true;
    v.reader = &o;
    ck_assert_int_eq(imrec_dataset_verify(files[_i], &v, &result, &g_err), IMREC_OK);
    ck_assert(result.records == SAMPLES - 1 && result.found[IMREC_FOUND_DAMAGE] == 1);
    ck_assert_int_eq(imrec_dataset_find_with(files[_i], &o, 3, &shard, &offset, &g_err), IMREC_OK);
}

LOOP_TEST(an_index_by_image_has_the_samples_that_have_it, 0, 2)
{
    const struct imrec_reader_options o = right_by_count();
    struct imrec_index_options x;
    struct imrec_index_result result;
    imrec_index_options_init(&x);
    ck_assert_int_eq(imrec_dataset_index_with(files[_i], NULL, &x, &result, &g_err), IMREC_OK);
    ck_assert_uint_eq(result.records, SAMPLES);
    x.reader = &o;
    ck_assert_int_eq(imrec_dataset_index_with(files[_i], NULL, &x, &result, &g_err),
                     IMREC_ERR_ARGUMENT);
    x.force = true;
    ck_assert_int_eq(imrec_dataset_index_with(files[_i], NULL, &x, &result, &g_err), IMREC_OK);
    ck_assert_uint_eq(result.records, SAMPLES - 1);
    const struct container_options set = {
        .path_imgrec = files[_i], .path_imgidx = "auto", .num_parts = 1, .cell_bytes = 4096};
    struct container c;
    ck_assert_int_eq(container_open(&set, &c, &g_err), IMREC_OK);
    ck_assert_uint_eq(c.unit_count, SAMPLES - 1);
    container_close(&c);
}

/* ---- masks ---------------------------------------------------------------------------------- */

/* Image and masks are grey PNGs of 5 x 4 px; "wrong" is one of 3 x 3. */
static struct buf png_of(uint32_t width, uint32_t height, uint8_t value)
{
    uint8_t pixels[64];
    const struct imrec_image image = {
        .pixels = pixels, .width = width, .height = height, .channels = 1, .stride = width};
    struct imrec_decoder *d;
    const void *png;
    size_t n;
    struct buf b = BUF_INIT(1 << 16);
    memset(pixels, value, sizeof(pixels));
    ck_assert_int_eq(imrec_decoder_new(&d, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_decoder_encode_png(d, &image, 3, &png, &n, NULL), IMREC_OK);
    ck_assert_int_eq(buf_append(&b, png, n, NULL), IMREC_OK);
    imrec_decoder_free(d);
    return b;
}

static const struct {
    const char *name;
    uint32_t width, height;
} parts[] = {{"1.mask.png", 5, 4}, {"1.parts.png", 5, 4}, {"1.png", 5, 4}, {"1.wrong.png", 3, 3}};

static void make_masks(void)
{
    struct example_item items[COUNT(parts)];
    struct buf png[COUNT(parts)];
    for (int i = 0; i < COUNT(parts); i++) {
        png[i] = png_of(parts[i].width, parts[i].height, (uint8_t)i);
        tar_put(&g_file, parts[i].name, '0', png[i].p, png[i].n);
        items[i] = bytes_item(parts[i].name + 2, "");
        items[i].bytes = (struct bytes){png[i].p, png[i].n};
    }
    tar_end(&g_file);
    put("masks.tar");
    items[0].name = text_bytes("image/segmentation/class/encoded");
    items[2].name = text_bytes("image/encoded");
    tfrecord_put(&g_file, items, COUNT(parts));
    put("masks.tfrecord");
    for (int i = 0; i < COUNT(parts); i++)
        buf_free(&png[i]);
}

static const char *const masked[] = {"mem://masks.tar", "mem://masks.tfrecord"};

LOOP_TEST(masks_are_chosen_by_name_and_checked, 0, 2)
{
    static const struct {
        const char *mask;
        int part;
        uint64_t findings;
    } of[] = {{"", 0, 0}, {"parts.png", 1, 0}, {"wrong.png", 3, 1}, {"none.png", -1, 0}};
    make_masks();
    for (int i = 0; i < COUNT(of); i++) {
        struct imrec_reader_options o;
        struct imrec_verify_options v;
        struct imrec_verify_result result;
        struct imrec_record x;
        imrec_reader_options_init(&o);
        o.mask = of[i].mask;
        struct imrec_reader *r = open_records(masked[_i], &o, false);
        ck_assert_msg(imrec_reader_next(r, &x, &g_err) == IMREC_OK, "%s", g_err.message);
        struct buf want = of[i].part < 0 ? BUF_INIT(1)
                                         : png_of(parts[of[i].part].width, parts[of[i].part].height,
                                                  (uint8_t)of[i].part);
        ck_assert(x.mask_size == want.n && (x.mask == NULL) == (want.n == 0));
        ck_assert(want.n == 0 || memcmp(x.mask, want.p, want.n) == 0);
        buf_free(&want);
        imrec_reader_close(r);
        imrec_verify_options_init(&v);
        v.reader = &o;
        ck_assert_int_eq(imrec_dataset_verify(masked[_i], &v, &result, &g_err), IMREC_OK);
        ck_assert(result.records == 1 && result.found[IMREC_FOUND_IMAGE] == of[i].findings);
    }
}

TEST(links_in_place_of_what_is_named_are_refused_by_an_index)
{
    struct imrec_index_options x;
    struct imrec_index_result result;
    struct imrec_reader_options o;
    tar_text(&g_file, "1.jpg", "image");
    tar_put(&g_file, "1.cls", '1', "", 0);
    tar_end(&g_file);
    put("link.tar");
    imrec_index_options_init(&x);
    ck_assert_int_eq(imrec_dataset_index_with("mem://link.tar", NULL, &x, &result, &g_err),
                     IMREC_ERR_CORRUPT);
    imrec_reader_options_init(&o);
    o.label = "none";
    x.reader = &o;
    ck_assert_int_eq(imrec_dataset_index_with("mem://link.tar", NULL, &x, &result, &g_err),
                     IMREC_OK);
}

/* What is refused: the same status and words as of the iterator. */
static const struct refused {
    const char *uri;
    struct imrec_reader_options o;
} refused[] = {
    {"mem://a.rec", {.image = "jpg"}},
    {"mem://a.rec", {.label = "cls"}},
    {"mem://a.rec", {.mask = "mask.png"}},
    {"mem://a.rec", {.path_root = "photos"}},
    {"mem://a.tar", {.path_root = "photos"}},
    {"mem://a.tfrecord", {.path_root = "photos"}},
    {"mem://a.rec", {.container = IMREC_CONTAINER_TAR}},
    {"mem://a.tar", {.container = IMREC_CONTAINER_CBF}},
    {"mem://a.tar", {.image = "a,,b"}},
    {"mem://a.tar", {.label = "json:"}},
};

LOOP_TEST(what_does_not_go_together_is_refused_as_by_the_iterator, 0, COUNT(refused))
{
    const struct refused *c = &refused[_i];
    struct imrec_reader_options o = c->o;
    struct imrec_reader *r;
    struct imrec_iter_options i;
    struct imrec_iter *it;
    struct imrec_error other;
    o.struct_size = sizeof(o);
    ck_assert_int_eq(imrec_reader_open_with(c->uri, 0, 1, &o, &r, &g_err), IMREC_ERR_ARGUMENT);
    imrec_iter_options_init(&i);
    i.path_imgrec = c->uri;
    i.batch_size = 1;
    i.data_shape = (struct imrec_shape){3, 8, 8};
    i.image = o.image != NULL ? o.image : "";
    i.label = o.label != NULL ? o.label : "";
    i.mask = o.mask != NULL ? o.mask : "";
    i.path_root = o.path_root != NULL ? o.path_root : "";
    i.container = o.container;
    ck_assert_int_eq(imrec_iter_open(&i, &it, &other), IMREC_ERR_ARGUMENT);
    ck_assert_str_eq(g_err.message, other.message);
}

/* Options that no program has filled. */
TEST(options_are_checked)
{
    struct imrec_reader *r;
    struct imrec_reader_options o = {.struct_size = 0};
    ck_assert_int_eq(imrec_reader_open_with("mem://a.rec", 0, 1, &o, &r, &g_err),
                     IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(g_err.message, "imrec_reader_options_init"));
    imrec_reader_options_init(&o);
    o.label_offset = INT64_MAX;
    ck_assert_int_eq(imrec_reader_open_with("mem://a.rec", 0, 1, &o, &r, &g_err),
                     IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(g_err.message, "label_offset"));
    imrec_reader_options_init(&o);
    o.container = (enum imrec_container)99;
    ck_assert_int_eq(imrec_reader_open_with("mem://a.rec", 0, 1, &o, &r, &g_err),
                     IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(g_err.message, "container"));
}

LOOP_TEST(an_index_without_memory_is_none, 0, 2)
{
    const struct imrec_reader_options o = right_by_count();
    struct imrec_index_options x;
    struct imrec_index_result result;
    imrec_index_options_init(&x);
    x.reader = &o;
    const struct tmpdir folder = tmpdir_make();
    const char *const to = tmp_path(&folder, "x.idxb");
    STARVING_SOME(s)
    {
        s.st = imrec_dataset_index_with(files[_i], to, &x, &result, NULL);
        ck_assert(unlink(to) == (s.st == IMREC_OK ? 0 : -1));
    }
    tmpdir_remove(&folder);
}
