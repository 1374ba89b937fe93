/* Images of COCO's and Pascal VOC's annotations that have no object: kept without a box, or left
 * out; whatever a run began with, resuming and appending stay with it. */
#include "base/alloc.h"
#include "imrec/imrec.h"
#include "tests/support/packing.h"
#include "tests/support/suite.h"

static struct packing p;
static char warned[1024];

static void listen(void *user, enum imrec_log_level level, const char *line)
{
    (void)user;
    (void)level;
    const size_t n = strlen(warned);
    snprintf(warned + n, sizeof(warned) - n, "%s\n", line);
}

/* Ids first + 0: one object; + 1: none; + 2: one without area; + 3: one, but no image file. */
static const char *annotations(const char *name, int first)
{
    static const char image[] = "%s{\"id\": %d, \"file_name\": \"%s\", \"width\": 40, "
                                "\"height\": 79}";
    static const char object[] =
        "%s{\"image_id\": %d, \"category_id\": 1, \"bbox\": [1, 2, %d, 9]}";
    static const char *const files[] = {"ant/00.jpg", "ant/01.jpg", "bee/02.jpg", "bee/none.jpg"};
    static const int widths[] = {20, -1, 0, 20};
    char json[2048];
    size_t n = (size_t)snprintf(json, sizeof(json), "{\"images\": [");
    for (int i = 0; i < 4; i++)
        n += (size_t)snprintf(json + n, sizeof(json) - n, image, i != 0 ? ", " : "", first + i,
                              files[i]);
    n += (size_t)snprintf(json + n, sizeof(json) - n, "], \"annotations\": [");
    for (int i = 0; i < 4; i++)
        if (widths[i] >= 0)
            n += (size_t)snprintf(json + n, sizeof(json) - n, object, i != 0 ? ", " : "", first + i,
                                  widths[i]);
    snprintf(json + n, sizeof(json) - n, "], \"categories\": [{\"id\": 1, \"name\": \"bug\"}]}");
    tmp_write(&p.dir, name, json, strlen(json));
    return kept_path(&p, name);
}

static void setup(void)
{
    packing_make(&p, false);
    p.o.annotations = annotations("coco.json", 1);
    p.o.shuffle = false;
    warned[0] = '\0';
    imrec_set_log(listen, NULL, IMREC_LOG_WARNING);
}

static void teardown(void)
{
    imrec_set_log(NULL, NULL, IMREC_LOG_WARNING);
    packing_remove(&p);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

/* Ids of all records, and how many values each label has: "1:8 2:2 ". */
static const char *records_of(const char *out)
{
    static char text[256];
    struct imrec_reader *r;
    struct imrec_record record;
    ck_assert_msg(imrec_reader_open(tmp_path(&p.dir, out), 0, 1, &r, &p.err) == IMREC_OK, "%s",
                  p.err.message);
    text[0] = '\0';
    while (imrec_reader_next(r, &record, &p.err) == IMREC_OK) {
        const size_t n = strlen(text);
        snprintf(text + n, sizeof(text) - n, "%llu:%u ", (unsigned long long)record.id,
                 record.label_count);
    }
    imrec_reader_close(r);
    return text;
}

static void expect_run(const char *out)
{
    ck_assert_msg(packing_run(&p, tmp_path(&p.dir, out)) == IMREC_OK, "%s", p.err.message);
}

CASE(.timeout = 60, .setup = setup, .teardown = teardown)

TEST(images_without_an_object_are_kept_and_counted_in_a_warning)
{
    expect_run("a.rec");
    ck_assert_str_eq(records_of("a.rec"), "1:8 2:2 3:2 ");
    ck_assert_ptr_nonnull(strstr(warned, "images without an object: 2, packed without a box"));
    ck_assert_ptr_nonnull(strstr(warned, "objects without an area inside their image: 1"));
}

TEST(batches_show_them_with_no_box)
{
    struct imrec_iter_options o;
    struct imrec_iter *it;
    struct imrec_batch b;
    expect_run("a.rec");
    imrec_iter_options_init(&o);
    ck_assert_int_eq(imrec_iter_options_set(&o, "preset=ImageDetRecordIter", NULL), IMREC_OK);
    o.path_imgrec = kept_path(&p, "a.rec");
    o.data_shape = (struct imrec_shape){3, 32, 32};
    o.batch_size = 3;
    ck_assert_msg(imrec_iter_open(&o, &it, &p.err) == IMREC_OK, "%s", p.err.message);
    ck_assert_msg(imrec_iter_next(it, &b, &p.err) == IMREC_OK, "%s", p.err.message);
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_uint_eq(imrec_detections_of(b.labels + i * b.label_width).count, i == 0);
    imrec_iter_close(it);
}

TEST(drop_empty_leaves_them_out_and_counts_them)
{
    p.o.drop_empty = true;
    expect_run("a.rec");
    ck_assert_str_eq(records_of("a.rec"), "1:8 ");
    ck_assert_ptr_nonnull(strstr(warned, "images without an object: 2, skipped"));
    p.o.annotations = "";
    ck_assert_int_eq(packing_run(&p, tmp_path(&p.dir, "b.rec")), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(p.err.message, "drop_empty"));
}

LOOP_TEST(a_resumed_run_keeps_its_choice, 0, 2) /* _i: it drops */
{
    p.o.drop_empty = _i;
    expect_run("a.rec");
    p.o.on_error = IMREC_ON_ERROR_STOP;
    ck_assert_int_eq(packing_run(&p, tmp_path(&p.dir, "b.rec")), IMREC_ERR_DATA);
    p.o.on_error = IMREC_ON_ERROR_SKIP;
    p.o.resume = true;
    p.o.drop_empty = !_i;
    expect_run("b.rec");
    ck_assert_uint_gt(p.result.resumed, 0);
    expect_same_set(&p, "a", "b");
}

LOOP_TEST(what_is_appended_follows_the_set, 0, 2) /* _i: the set dropped them */
{
    const struct imrec_pack_task task = {.root = p.source, .out = kept_path(&p, "a.rec")};
    p.o.drop_empty = _i;
    expect_run("a.rec");
    p.o.annotations = annotations("more.json", 11);
    p.o.drop_empty = !_i;
    warned[0] = '\0';
    ck_assert_msg(imrec_append(&task, &p.o, &p.result, &p.err) == IMREC_OK, "%s", p.err.message);
    ck_assert_str_eq(records_of("a.rec"), _i ? "1:8 11:8 " : "1:8 2:2 3:2 11:8 12:2 13:2 ");
    ck_assert_ptr_nonnull(strstr(warned, "so are the appended images"));
}

LOOP_TEST(voc_is_treated_alike, 0, 2) /* _i: drop_empty */
{
    static const char xml[] =
        "<annotation><filename>ant/00.jpg</filename><size><width>40</width><height>90</height>"
        "<depth>3</depth></size></annotation>";
    static const char other[] =
        "<annotation><filename>ant/01.jpg</filename><size><width>47</width><height>85</height>"
        "<depth>3</depth></size><object><name>bug</name><bndbox><xmin>1</xmin><ymin>1</ymin>"
        "<xmax>9</xmax><ymax>9</ymax></bndbox></object></annotation>";
    make_folder(&p.dir, "voc");
    tmp_write(&p.dir, "voc/0.xml", xml, strlen(xml));
    tmp_write(&p.dir, "voc/1.xml", other, strlen(other));
    p.o.annotations = kept_path(&p, "voc");
    p.o.drop_empty = _i;
    expect_run("a.rec");
    ck_assert_str_eq(records_of("a.rec"), _i ? "1:8 " : "0:2 1:8 ");
}
