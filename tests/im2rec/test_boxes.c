/* Annotations of COCO and Pascal VOC as the lines of a detection list. */
#include "base/alloc.h"
#include "base/error.h"
#include "im2rec/list/annotations.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static struct tmpdir dir;
static struct imrec_error err;
static struct annotations b;
static struct class_list classes;
static struct buf text;

static bool new_classes, drop_empty; /* of the next call */
static uint32_t keypoints;           /* likewise */

static void setup(void)
{
    dir = tmpdir_make();
    b = (struct annotations){0};
    classes = (struct class_list){0};
    text = BUF_INIT((size_t)1 << 20);
}

static void teardown(void)
{
    annotations_free(&b);
    class_list_free(&classes);
    buf_free(&text);
    tmpdir_remove(&dir);
    keypoints = 0;
    drop_empty = false;
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static enum imrec_status lines(enum imrec_status read, const struct class_list *given, bool shuffle)
{
    const struct annotations_order how = {shuffle, 100, given, new_classes, drop_empty};
    if (read != IMREC_OK)
        return read;
    IMREC_TRY(annotations_write(&b, &how, &text, &classes, &err));
    return buf_append(&text, "", 1, &err);
}

static enum imrec_status coco(const char *json)
{
    tmp_write(&dir, "a.json", json, strlen(json));
    return lines(annotations_read_coco(tmp_path(&dir, "a.json"), keypoints, &b, &err), NULL, false);
}

#define IMAGES                                                                                     \
    "\"images\": [{\"id\": 9, \"file_name\": \"b.jpg\", \"width\": 100, \"height\": 50},"          \
    " {\"id\": 4, \"file_name\": \"x/a.jpg\", \"width\": 10, \"height\": 10}]"
#define CATEGORIES                                                                                 \
    "\"categories\": [{\"id\": 7, \"name\": \"dog\"}, {\"id\": 3, \"name\": \"cat\"}]"

CASE(.setup = setup, .teardown = teardown)

TEST(coco_becomes_shares_of_the_sides_and_classes_by_their_ids)
{
    ck_assert_msg(
        coco("{\"info\": {\"a\": [1, {}]}, " IMAGES ", \"annotations\": ["
             "{\"image_id\": 4, \"category_id\": 3, \"bbox\": [1, 2, 4, 5.5], \"iscrowd\": 1},"
             "{\"image_id\": 9, \"category_id\": 7, \"bbox\": [25, 10, 50, 30], \"segmentation\": "
             "[[1, 2]]},"
             "{\"image_id\": 4, \"category_id\": 7, \"bbox\": [-5, 5, 100, 100]}], " CATEGORIES
             " }\n") == IMREC_OK,
        "%s", err.message);
    ck_assert_str_eq((const char *)text.p,
                     "9\t2.000000\t6.000000\t1.000000\t0.250000\t0.200000\t0.750000\t0.800000\t"
                     "0.000000\tb.jpg\n"
                     "4\t2.000000\t6.000000\t0.000000\t0.100000\t0.200000\t0.500000\t0.750000\t"
                     "1.000000\t1.000000\t0.000000\t0.500000\t1.000000\t1.000000\t0.000000\t"
                     "x/a.jpg\n");
    ck_assert_uint_eq(classes.count, 2);
    ck_assert_mem_eq(class_list_name(&classes, 0).p, "cat", 3);
}

LOOP_TEST(what_has_no_area_is_left_out_and_what_has_no_object_if_asked_for, 0, 2) /* _i: it is */
{
    static const char kept[] = "\n4\t2.000000\t6.000000\tx/a.jpg\n";
    drop_empty = _i;
    ck_assert_int_eq(coco("{" IMAGES ", \"annotations\": ["
                          "{\"image_id\": 4, \"category_id\": 3, \"bbox\": [10, 2, 4, 5]},"
                          "{\"image_id\": 4, \"category_id\": 3, \"bbox\": [1, 2, 0, 5]},"
                          "{\"image_id\": 9, \"category_id\": 7, \"bbox\": [0, 0, 1, 1]}"
                          "], " CATEGORIES "}"),
                     IMREC_OK);
    ck_assert_uint_eq(b.empty, 2);
    ck_assert_uint_eq(b.without, 1);
    ck_assert(memcmp(text.p, "9\t", 2) == 0);
    ck_assert_str_eq(strchr((const char *)text.p, '\n'), _i ? "\n" : kept);
}

#define POINTS                                                                                     \
    "{" IMAGES ", \"annotations\": [{\"image_id\": 4, \"category_id\": 3, \"bbox\": [1, 2, 4, 5]," \
    " \"keypoints\": [2, 3, 2, 7, 9, 1%s]}, {\"image_id\": 4, \"category_id\": 7,"                 \
    " \"bbox\": [0, 0, 10, 10], \"iscrowd\": 1}], " CATEGORIES "}"

TEST(cocos_keypoints_follow_their_box_where_they_are_wanted)
{
    drop_empty = true;
    char json[1024];
    snprintf(json, sizeof(json), POINTS, ", 5, 5, 0");
    keypoints = 3;
    ck_assert_msg(coco(json) == IMREC_OK, "%s", err.message);
    ck_assert_str_eq((const char *)text.p,
                     "4\t2.000000\t15.000000\t0.000000\t0.100000\t0.200000\t0.500000\t0.700000\t"
                     "0.000000\t0.250000\t0.350000\t2.000000\t0.750000\t0.950000\t1.000000\t"
                     "0.000000\t0.000000\t0.000000\t"
                     "1.000000\t0.000000\t0.000000\t1.000000\t1.000000\t1.000000\t0.000000\t"
                     "0.000000\t0.000000\t0.000000\t0.000000\t0.000000\t0.000000\t0.000000\t"
                     "0.000000\tx/a.jpg\n");
}

LOOP_TEST(keypoints_of_another_number_or_kind_are_refused, 0, 5)
{
    static const char *const more[] = {"", ", 1, 1", ", 1, 1, 3", ", 1, \"a\", 1", ", 1, 1, 1, 1"};
    char json[1024];
    snprintf(json, sizeof(json), POINTS, more[_i]);
    keypoints = 3;
    ck_assert_int_eq(coco(json), IMREC_ERR_CORRUPT);
    ck_assert_msg(strstr(err.message, "must be 9 numbers") != NULL, "%s", err.message);
}

static const struct {
    const char *json, *says;
} bad_coco[] = {
    {"", "one JSON object"},
    {"[]", "one JSON object"},
    {"{}", "\"key\": value"},
    {"{\"images\": [], \"annotations\": []}", "missing"},
    {"{\"images\": 3}", "must be arrays"},
    {"{\"images\": [3]}", "no object"},
    {"{\"images\": [{\"id\": -1}]}", "an image needs"},
    {"{\"images\": [{\"id\": 1, \"file_name\": \"a\", \"width\": 0, \"height\": 3}]}", "1 px"},
    {"{\"images\": [{]}", "byte 12: no JSON value begins here: string or '}' expected near ']'"},
    {"{\"images\": [{\"id\": 1, \"id\": 1}]}", "duplicate object key near '\"id\"'"},
    {"{\"images\": [], \"images\": []}", "there twice"},
    {"{\"info\": {\"a\": 1, \"a\": 2}}", "byte 9: no JSON value begins here: duplicate object key"},
    {"{\"annotations\": [{\"image_id\": 1, \"category_id\": 1, \"bbox\": [1, 2, 3]}]}", "four"},
    {"{\"annotations\": [{\"image_id\": 1, \"category_id\": 1, \"bbox\": [1, 2, 3, \"\"]}]}",
     "four"},
    {"{\"categories\": [{\"id\": \"1\"}]}", "a category needs"},
    {"{\"images\": [] \"a\": 1}", "expected ','"},
    {"{" IMAGES ", " CATEGORIES ", \"annotations\": []} x", "more text"},
    {"{" IMAGES ", " CATEGORIES ", \"annotations\": [{\"image_id\": 5, \"category_id\": 3, "
     "\"bbox\": [1, 2, 3, 4]}]}",
     "image 5"},
    {"{" IMAGES ", " CATEGORIES ", \"annotations\": [{\"image_id\": 4, \"category_id\": 2, "
     "\"bbox\": [1, 2, 3, 4]}]}",
     "category 2"},
    {"{" IMAGES ", \"categories\": [{\"id\": 1, \"name\": \"a\"}, {\"id\": 1, \"name\": \"b\"}], "
     "\"annotations\": []}",
     "two categories of the id 1"},
    {"{\"images\": [{\"id\": 1, \"file_name\": \"a\", \"width\": 1, \"height\": 3}, {\"id\": 1, "
     "\"file_name\": \"a\", \"width\": 1, \"height\": 3}], " CATEGORIES ", \"annotations\": []}",
     "two images of the id 1"},
};

LOOP_TEST(what_is_wrong_with_coco_is_said, 0, COUNT(bad_coco))
{
    ck_assert_int_eq(coco(bad_coco[_i].json), IMREC_ERR_CORRUPT);
    ck_assert_msg(strstr(err.message, bad_coco[_i].says) != NULL, "%s", err.message);
}

/* ---- VOC ------------------------------------------------------------------------------------ */

#define VOC(name, objects)                                                                         \
    "<annotation><folder>VOC</folder><filename>" name                                              \
    "</filename><size><width>200</width><height>100</height><depth>3</depth></size>" objects       \
    "</annotation>"
#define BOX(a, b, c, d)                                                                            \
    "<bndbox><xmin>" #a "</xmin><ymin>" #b "</ymin><xmax>" #c "</xmax><ymax>" #d "</ymax></"       \
    "bndbox>"

static enum imrec_status voc(const struct class_list *given)
{
    return lines(annotations_read_voc(dir.path, &b, &err), given, false);
}

static void put(const char *name, const char *xml)
{
    tmp_write(&dir, name, xml, strlen(xml));
}

TEST(voc_becomes_the_same_with_classes_by_name_and_parts_passed_over)
{
    put("2.xml",
        VOC("two.jpg",
            "<object><name>bird</name><difficult>1</difficult>" BOX(
                20, 10, 100, 100) "<part><name>head</name>" BOX(1, 2, 3, 4) "</part></object>"));
    put("10.xml", VOC("ten.jpg", "<object>" BOX(0, 0, 50.5, 25) "<name>cow</name></object>"
                                                                "<object><name>bird</name>" BOX(
                                                                    150, 50, 300, 75) "</object>"));
    put("note.txt", "no annotation");
    ck_assert_msg(voc(NULL) == IMREC_OK, "%s", err.message);
    ck_assert_str_eq((const char *)text.p,
                     "0\t2.000000\t6.000000\t1.000000\t0.000000\t0.000000\t0.252500\t0.250000\t"
                     "0.000000\t0.000000\t0.750000\t0.500000\t1.000000\t0.750000\t0.000000\t"
                     "ten.jpg\n"
                     "1\t2.000000\t6.000000\t0.000000\t0.100000\t0.100000\t0.500000\t1.000000\t"
                     "1.000000\ttwo.jpg\n");
    ck_assert_uint_eq(classes.count, 2);
    ck_assert_mem_eq(class_list_name(&classes, 0).p, "bird", 4);
}

TEST(a_given_class_list_numbers_and_must_have_every_class)
{
    struct class_list given = {0};
    const char *names = "cow\nhorse\nbird\n";
    put("1.xml", VOC("a.jpg", "<object><name>bird</name>" BOX(0, 0, 200, 100) "</object>"));
    ck_assert_int_eq(
        class_list_read("c", (struct bytes){(const uint8_t *)names, strlen(names)}, &given, &err),
        IMREC_OK);
    ck_assert_int_eq(voc(&given), IMREC_OK);
    ck_assert_mem_eq(text.p, "0\t2.000000\t6.000000\t2.000000\t", 29);
    annotations_free(&b);
    put("2.xml", VOC("b.jpg", "<object><name>cat</name>" BOX(0, 0, 200, 100) "</object>"));
    ck_assert_int_eq(voc(&given), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(err.message, "'cat'"));
    annotations_free(&b);
    new_classes = true; /* then it is numbered behind them */
    text.n = 0;
    ck_assert_int_eq(voc(&given), IMREC_OK);
    new_classes = false;
    ck_assert_ptr_nonnull(strstr((const char *)text.p, "\n1\t2.000000\t6.000000\t3.000000\t"));
    ck_assert_uint_eq(classes.count, 4);
    ck_assert_mem_eq(class_list_name(&classes, 1).p, "horse", 5);
    ck_assert_mem_eq(class_list_name(&classes, 3).p, "cat", 3);
    class_list_free(&given);
}

static const struct {
    const char *xml, *says;
} bad_voc[] = {
    {"", "1.xml byte 0"},
    {"<annotation/>", "filename"},
    {"<annotation><filename>a</filename></annotation>", "width and height"},
    {VOC("a", "<object>" BOX(1, 2, 3, 4) "</object>"), "lacks a name"},
    {VOC("a", "<object><name>b</name></object>"), "corner"},
    {VOC("a", "<object><name>b</name>" BOX(1, 2, x, 4) "</object>"), "not a number: 'x'"},
    {VOC("a", "<object><name>b</name>" BOX(1, nan, 3, 4) "</object>"), "not a number"},
};

LOOP_TEST(what_is_wrong_with_voc_is_said, 0, COUNT(bad_voc))
{
    put("1.xml", bad_voc[_i].xml);
    ck_assert_int_eq(voc(NULL), IMREC_ERR_CORRUPT);
    ck_assert_msg(strstr(err.message, bad_voc[_i].says) != NULL, "%s", err.message);
}

TEST(a_folder_without_annotations_is_an_error)
{
    ck_assert_int_eq(voc(NULL), IMREC_ERR_DATA);
}

TEST(a_folder_that_is_not_there_or_cannot_be_read_is_an_error_that_says_so)
{
    char uri[600], says[600];
    put("1.xml", VOC("a.jpg", ""));
    put("2.xml", VOC("b.jpg", ""));
    put(".3.xml", "hidden");
    ck_assert_int_eq(annotations_read_voc(tmp_path(&dir, "none"), &b, &err), IMREC_ERR_IO);
    snprintf(says, sizeof(says), "opening the folder %s/none: No such file or directory", dir.path);
    ck_assert_str_eq(err.message, says);
    for (int n = 1; n < 7; n++) { /* it, ".", "..", its files, and their end */
        snprintf(uri, sizeof(uri), "fault://folder_eio=%d:%s", n, dir.path);
        snprintf(says, sizeof(says),
                 n == 1 ? "opening the folder %s: Input/output error"
                        : "%s: cannot list it: Input/output error",
                 n == 1 ? uri : dir.path);
        ck_assert_int_eq(annotations_read_voc(uri, &b, &err), IMREC_ERR_IO);
        ck_assert_str_eq(err.message, says);
    }
    snprintf(uri, sizeof(uri), "fault://folder_eio=8:%s", dir.path);
    ck_assert_int_eq(annotations_read_voc(uri, &b, &err), IMREC_OK);
    ck_assert_uint_eq(b.image_count, 2);
}

LOOP_TEST(annotations_without_memory_are_an_error_and_leak_nothing, 0, 2) /* _i: COCO */
{
    enum imrec_status st = IMREC_ERR_NO_MEMORY;
    put("1.xml", VOC("a.jpg", "<object><name>bird</name>" BOX(0, 0, 200, 100) "</object>"));
    const char *json = "{" IMAGES ", \"annotations\": [{\"image_id\": 4, \"category_id\": 3, "
                       "\"bbox\": [1, 2, 4, 5.5]}], " CATEGORIES "}";
    tmp_write(&dir, "a.json", json, strlen(json));
    const char *coco_file = tmp_path(&dir, "a.json");
    for (long n = 0; st == IMREC_ERR_NO_MEMORY; n++) {
        err.message[0] = '\0';
        imrec_alloc_fail_after(n);
        st = _i ? annotations_read_coco(coco_file, 0, &b, &err)
                : annotations_read_voc(dir.path, &b, &err);
        imrec_alloc_fail_after(-1);
        ck_assert(st == IMREC_OK || (err.message[0] != '\0' && imrec_alloc_live() == 0));
    }
    ck_assert_msg(st == IMREC_OK, "%s", err.message);
}
