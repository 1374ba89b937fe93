/* Names, labels and classes of items: held to what a record and a list can hold. */
#include "imrec/records.h"
#include "tests/support/item_runs.h"
#include "tests/support/suite.h"

#include <math.h>

CASE(.timeout = 100, .setup = setup, .teardown = teardown)

LOOP_TEST(labels_that_would_change_end_the_run_by_name, 0, 5) /* _i: a label */
{
    static const struct {
        double label;
        const char *words;
    } labels[] = {{16777217, "label 16777217 changes in a float32"},
                  {-33554435, "label -33554435 changes"},
                  {1e39, "changes"},
                  {(double)NAN, "is not finite"},
                  {(double)INFINITY, "is not finite"}};
    s.odd_at = 13;
    s.odd_label = labels[_i].label;
    expect_refused(IMREC_ERR_ARGUMENT, labels[_i].words);
    ck_assert_ptr_nonnull(strstr(p.err.message, "item 13 ('bee/05.jpg'): "));
    ck_assert_int_eq(p.err.status, IMREC_ERR_ARGUMENT);
    s.odd_label = 16777216;
    expect_ok("b");
}

TEST(another_number_of_labels_ends_the_run_unless_they_are_boxes)
{
    s.odd_at = 9;
    s.odd_label = 1;
    s.odd_count = 2;
    expect_refused(IMREC_ERR_ARGUMENT, "2 labels, where the first item has 1");
    s.odd_count = 0;
    expect_refused(IMREC_ERR_ARGUMENT, "0 labels, where the first item has 1");
    s.label_count = 3;
    s.odd_count = 3;
    expect_ok("b");
    ck_assert_uint_eq(p.result.unlabelled, 0);
}

static enum imrec_status
next_boxes(void *user, struct imrec_pack_item *item, struct imrec_error *err)
{
    static const double labels[] = {2, 5, 1, 0.1, 0.1, 0.5, 0.5, 0, 0.2, 0.2, 0.4, 0.9};
    static const double none[] = {2, 5};
    const enum imrec_status st = itemset_next(user, item, err);
    const uint64_t i = s.next - 1;
    item->labels = i % 3 == 2 ? none : labels;
    item->label_count = i % 3 == 0 ? 7 : i % 3 == 1 ? 12 : 2;
    return st;
}

TEST(boxes_come_in_any_number)
{
    s.source.next = next_boxes;
    expect_ok("b");
    struct imrec_reader *r;
    struct imrec_record record;
    ck_assert_int_eq(imrec_reader_open(out_of("b.rec"), 0, 1, &r, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_reader_get(r, 4, &record, NULL), IMREC_OK);
    ck_assert_uint_eq(record.label_count, 12);
    imrec_reader_close(r);
}

TEST(more_boxes_than_a_cbf_file_has_room_for_are_refused)
{
    s.source.next = next_boxes;
    p.o.format = IMREC_PACK_CBF;
    expect_refused(IMREC_ERR_DATA, "ant/01.jpg has 12 labels, and the first image 7");
    s.count = 1;
    expect_ok("b");
}

TEST(images_without_labels_say_so_in_card_and_manifest)
{
    s.label_count = 0;
    expect_ok("b");
    ck_assert_uint_eq(p.result.unlabelled, MADE_GOOD);
    ck_assert_uint_eq(p.result.classes, 0);
    ck_assert(file_holds("b.manifest.json", "[\"labels\", \"none\"]"));
    s.label_count = 1;
    expect_ok("a");
    ck_assert(!file_holds("a.manifest.json", "\"labels\""));
}

TEST(classes_are_kept_and_labels_held_to_them)
{
    static const char *const names[] = {"ant", "bee", "cow"};
    s.source.classes = names;
    s.source.class_count = 3;
    expect_ok("b");
    ck_assert(file_holds("b.classes.txt", "ant\nbee\ncow\n"));
    ck_assert_uint_eq(p.result.classes, 3);
    ck_assert_uint_eq(p.result.class_least, MADE_EACH);
    p.o.classes = kept_path(&p, "b.classes.txt");
    expect_ok("a");
    ck_assert(file_holds("a.classes.txt", "ant\nbee\ncow\n"));
}

LOOP_TEST(a_label_that_is_no_class_ends_the_run, 0, 4) /* _i: a label */
{
    static const char *const names[] = {"ant", "bee", "cow"};
    static const double labels[] = {-1, 3, 0.5, 16777216};
    s.source.classes = names;
    s.source.class_count = 3;
    s.odd_at = 3;
    s.odd_label = labels[_i];
    expect_refused(IMREC_ERR_ARGUMENT, "is the number of none of the 3 classes");
}

TEST(classes_in_another_order_than_the_list_are_refused)
{
    static const char *const names[] = {"bee", "ant"};
    tmp_write(&p.dir, "source/c.txt", "ant\nbee\n", 8);
    p.o.classes = kept_path(&p, "source/c.txt");
    s.source.classes = names;
    s.source.class_count = 2;
    expect_refused(IMREC_ERR_ARGUMENT, "class 0 of the items is 'bee'");
}

static enum imrec_status next_odd(void *user, struct imrec_pack_item *item, struct imrec_error *err)
{
    const enum imrec_status st = itemset_next(user, item, err);
    const uint64_t i = s.next - 1;
    item->name = i == 1 ? "  " : i == 2 ? NULL : i == 3 ? "a\tb" : i == 4 ? "\xff" : item->name;
    if (i == 5)
        item->bytes = NULL;
    if (i == 6)
        item->id = UINT64_MAX;
    if (i == 7) {
        item->bytes = NULL;
        item->pixels = (struct imrec_image){s.pixels, 0, UINT32_MAX, UINT32_MAX, 4};
    }
    if (i == 8) {
        item->bytes = NULL;
        item->pixels = (struct imrec_image){s.pixels, 240, 10, 10, 2};
    }
    return st;
}

TEST(odd_names_ids_and_sizes_cost_themselves)
{
    s.source.next = next_odd;
    p.o.report = kept_path(&p, "report");
    expect_ok("b");
    ck_assert_uint_eq(p.result.packed, MADE_GOOD - 5);
    ck_assert(file_holds("b.lst", "1\t0.000000\titem 1\n2\t0.000000\titem 2\n6\t"
                                  "0.000000\tant/06.jpg\n") ||
              file_holds("b.lst", "18446744073709551615\t0.000000\tant/06.jpg\n"));
    ck_assert(file_holds("b.lst", "\titem 2\n"));
    ck_assert(file_holds("report", "control character"));
    ck_assert(file_holds("report", "not UTF-8"));
    ck_assert(file_holds("report", "it has no bytes, no pixels and no path"));
    ck_assert(file_holds("report", "bytes are more than any image of max_pixels"));
    ck_assert(file_holds("report", "pixels of 2 channels"));
}
