/* A set of items that is packed by the tasks of a plan: its bytes are those of imrec_pack_items(),
 * whatever the tasks are made of, and items that are not those that were counted never get into it.
 */
#include "tests/support/item_plans.h"
#include "tests/support/suite.h"

CASE(.timeout = 250, .setup = setup, .teardown = teardown)

/* ---- bytes ------------------------------------------------------------------------------------
 */

static const char *const cuts[] = {"24",       "0 24 0",
                                   "5 0 7 12", "8 8 8",
                                   "0 0 23 1", "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"};
enum { CUTS = 6, SETS = 8 };

static void choose_set(int i)
{
    static const char *const classes[] = {"ant", "bee", "cow"};
    p.o.shards = i == 1 || i == 5 ? 3 : 0;
    p.o.shard_size = i == 2 ? 9000 : 0;
    p.o.pass_through = i == 3;
    p.o.resize = i == 3 ? 0 : 20;
    p.o.copies = i == 4 || i == 5 ? 3 : 1;
    p.o.augment = p.o.copies > 1 ? "rand_mirror=1 max_rotate_angle=20" : "";
    p.o.format = i == 6 ? IMREC_PACK_CBF : IMREC_PACK_REC;
    p.o.cbf_chunk = 3000;
    set.source.encoding = i == 7 ? IMREC_ENCODE_JPEG : IMREC_ENCODE_PNG;
    set.source.quality = i == 7 ? 60 : 3;
    set.source.color = i == 7 ? 1 : -1;
    set.source.classes = i == 1 || i == 4 ? classes : NULL;
    set.source.class_count = i == 1 || i == 4 ? 3 : 0;
    set.label_count = i == 3 ? 4 : i == 7 ? 0 : 1;
    set.refused_at = i % 2 == 0 ? UINT64_MAX : 9;
    nameless = i % 3 == 0;
    p.o.threads = 1 + i % 3;
}

LOOP_TEST(any_partition_makes_the_set_of_one_run, 0, CUTS *SETS)
{
    cut(cuts[_i % CUTS]);
    choose_set(_i / CUTS);
    pack_a();
    const struct imrec_pack_result of_run = p.result;
    expect_ok(make());
    ck_assert_uint_eq(now.tasks, tasks);
    ck_assert_uint_eq(now.images, 24);
    const bool whole = p.o.shard_size == 0 && (p.o.shards == 3 ? _i % CUTS == 3 : _i % CUTS == 0);
    ck_assert_int_eq(now.joins, !whole);
    imrec_pack_source_init(&set.source); /* all of it but next and user is the plan's */
    set.source.next = next_item;
    set.source.user = &set;
    set.source.encoding = set.source.quality == 3 ? IMREC_ENCODE_JPEG : IMREC_ENCODE_PNG;
    set.source.color = 0;
    work_all();
    expect_ok(finish());
    expect_set();
    ck_assert_uint_eq(p.result.packed, of_run.packed);
    ck_assert_uint_eq(p.result.skipped, of_run.skipped);
    ck_assert_uint_eq(p.result.total, of_run.total);
    ck_assert_uint_eq(p.result.unlabelled, of_run.unlabelled);
    ck_assert_mem_eq(p.result.kinds, of_run.kinds, sizeof(of_run.kinds));
    ck_assert_mem_eq(p.result.encoded, of_run.encoded, sizeof(of_run.encoded));
}

static enum imrec_status
next_without_id(void *user, struct imrec_pack_item *item, struct imrec_error *err)
{
    const enum imrec_status st = next_item(user, item, err);
    item->id = 7;
    return st;
}

TEST(items_are_numbered_over_all_tasks)
{
    cut("5 0 7 12");
    pack_a(); /* its ids are those of the itemset: 0, 1, ... */
    set.source.next = next_without_id;
    set.source.numbered = true;
    expect_ok(make());
    work_all();
    expect_ok(finish());
    expect_set();
}

/* Their numbers of labels are those of the first three items, in turn. */
static const double boxes[] = {2, 5, 1, 0.1, 0.1, 0.5, 0.5, 0, 0.2, 0.2, 0.4, 0.9};
static uint32_t box_labels[3];

static enum imrec_status
next_boxes(void *user, struct imrec_pack_item *item, struct imrec_error *err)
{
    const enum imrec_status st = itemset_next(user, item, err);
    item->labels = boxes;
    item->label_count = box_labels[(set.next - 1) % 3];
    return st;
}

LOOP_TEST(boxes_are_as_wide_as_in_one_run, 0, 4) /* _i: format, tasks that could be shards */
{
    memcpy(box_labels, (const uint32_t[]){12, 7, 7}, sizeof(box_labels));
    set.source.next = next_boxes;
    p.o.format = _i % 2 == 0 ? IMREC_PACK_REC : IMREC_PACK_CBF;
    p.o.shards = _i / 2 * 3;
    cut(_i / 2 == 0 ? "1 23" : "8 8 8"); /* task 1 begins with fewer */
    pack_a();
    expect_ok(make());
    ck_assert_int_eq(now.joins, _i != 2);
    work_all();
    expect_ok(finish());
    expect_set();
}

TEST(a_class_list_may_be_a_file)
{
    cut("10 14");
    p.o.classes = kept_path(&p, "source/classes.txt");
    tmp_write(&p.dir, "source/classes.txt", "ant\nbee\ncow\n", 12);
    pack_a();
    expect_ok(make());
    work_all();
    expect_ok(finish());
    expect_set();
    ck_assert(is_there(&p, "b.classes.txt"));
}

TEST(paths_are_relative_to_the_root_of_the_plan)
{
    char was[512];
    cut("3 21");
    set.kind = ITEM_PATHS;
    pack_a();
    ck_assert(getcwd(was, sizeof(was)) != NULL && chdir(p.source) == 0);
    for (uint64_t k = 0; k < tasks; k++)
        expect_ok(count(k));
    const struct imrec_pack_task here = {.out = out};
    expect_ok(imrec_plan_make_items(plan, &here, &set.source, &p.o, counted, tasks, NULL, &p.err));
    ck_assert_int_eq(chdir(was), 0);
    work_all();
    expect_ok(finish());
    expect_set();
}

/* ---- items that are others --------------------------------------------------------------------
 */

LOOP_TEST(other_numbers_of_items_are_refused, 0, 3) /* _i: of task 1, that has _i items too many */
{
    static const char *const says[] = {"task 1 of %s has 0 items, and had 1 when the plan was made",
                                       "", "task 1 of %s has at least 2 items, and had 1"};
    char words[700];
    cut("3 1 20");
    expect_ok(make());
    give(1);
    set.count = set.next + (uint64_t)_i;
    if (_i == 1) {
        expect_ok(work_on(1));
        return;
    }
    snprintf(words, sizeof(words), says[_i], plan);
    expect_error(work_on(1), IMREC_ERR_CORRUPT, words);
    expect_ok(imrec_plan_status(plan, &now, &p.err));
    ck_assert_uint_eq(now.missing, 3);
    expect_ok(work(1));
}

TEST(a_task_without_items_must_stay_so)
{
    cut("3 0 20");
    expect_ok(make());
    give(0);
    expect_error(work_on(1), IMREC_ERR_CORRUPT, "has at least 1 items, and had 0");
    expect_ok(work(1));
}

enum { SWAPPED, OTHER_LABEL, OTHER_ID, OTHER_NAME, OTHER_REFUSAL, OTHER_BYTES, SHORTER, OTHERS };
static int other;
static uint8_t changed[100000];

static void change_bytes(struct imrec_pack_item *item)
{
    ck_assert_uint_le(item->byte_count, sizeof(changed));
    memcpy(changed, item->bytes, item->byte_count);
    changed[item->byte_count - 1] ^= other == OTHER_BYTES;
    item->byte_count -= other == SHORTER;
    item->bytes = changed;
}

/* Item 5 of the plan, which is of task 1 and the third one there, is another one. */
static enum imrec_status
next_other(void *user, struct imrec_pack_item *item, struct imrec_error *err)
{
    static double label;
    static char name[300];
    const uint64_t i = set.next;
    if (other == SWAPPED && (i == 5 || i == 6))
        set.next = 11 - i;
    const enum imrec_status st = itemset_next(user, item, err);
    set.next = i + 1;
    if (st != IMREC_OK || i != 5)
        return st;
    snprintf(name, sizeof(name), "%s.", item->name);
    label = item->labels[0] + 1;
    item->labels = other == OTHER_LABEL ? &label : item->labels;
    item->id += other == OTHER_ID;
    item->name = other == OTHER_NAME ? name : item->name;
    item->refused = other == OTHER_REFUSAL ? "it is gone" : NULL;
    if (other == OTHER_BYTES || other == SHORTER)
        change_bytes(item);
    return st;
}

LOOP_TEST(other_items_are_refused, 0, OTHERS)
{
    cut("3 5 16");
    set.kind = ITEM_BYTES;
    p.o.pass_through = true; /* nothing else looks at the bytes */
    p.o.check = IMREC_CHECK_NONE;
    p.o.resize = 0;
    pack_a();
    expect_ok(make());
    set.source.next = next_other;
    other = _i;
    expect_error(work(1), IMREC_ERR_CORRUPT, "the 5 items of task 1 of");
    ck_assert_ptr_nonnull(strstr(p.err.message, "not those that it had when the plan was made"));
    expect_ok(work(0)); /* that of the others is as it was */
    set.source.next = next_item;
    work_all();
    expect_ok(finish());
    expect_set();
}

enum { FIRST_ROW, LAST_ROW, PADDING, NARROWER, TURNED, GREY, PIXEL_CASES };

/* Item 1 has 20 x 12 pixels; of `other`, others. Of TURNED and GREY the bytes are the same. */
static enum imrec_status
next_pixels(void *user, struct imrec_pack_item *item, struct imrec_error *err)
{
    const uint64_t i = set.next;
    const size_t stride = other == TURNED ? 36 : other == PADDING ? 64 : 60;
    const enum imrec_status st = itemset_next(user, item, err);
    if (st != IMREC_OK || i != 1)
        return st;
    for (size_t k = 0; k < 12 * 60; k++)
        set.pixels[stride == 64 ? k / 60 * 64 + k % 60 : k] = (uint8_t)(k * 7);
    set.pixels[60] = other == PADDING ? (uint8_t)set.count : set.pixels[60]; /* in no row */
    set.pixels[0] ^= other == FIRST_ROW;
    set.pixels[12 * 60 - 1] ^= other == LAST_ROW;
    item->pixels = (struct imrec_image){set.pixels, stride, 20, 12, 3};
    if (other == TURNED)
        item->pixels = (struct imrec_image){set.pixels, stride, 12, 20, 3};
    if (other == GREY)
        item->pixels = (struct imrec_image){set.pixels, stride, 60, 12, 1};
    item->pixels.width -= other == NARROWER;
    return st;
}

LOOP_TEST(other_pixels_are_refused, 0, PIXEL_CASES)
{
    cut("24");
    set.kind = ITEM_PIXELS;
    set.source.next = next_pixels;
    other = PIXEL_CASES;
    expect_ok(make());
    other = _i;
    if (other == PADDING)
        expect_ok(work(0));
    else
        expect_error(work(0), IMREC_ERR_CORRUPT, "not those that it had");
}

static enum imrec_status
next_path(void *user, struct imrec_pack_item *item, struct imrec_error *err)
{
    const uint64_t i = set.next;
    const enum imrec_status st = itemset_next(user, item, err);
    if (i == 3)
        item->path = "ant/04.jpg";
    return st;
}

TEST(another_path_is_refused)
{
    cut("24");
    set.kind = ITEM_PATHS;
    expect_ok(make());
    set.source.next = next_path;
    expect_error(work(0), IMREC_ERR_CORRUPT, "not those that it had");
    set.source.next = next_item;
    tmp_write(&p.dir, "source/ant/00.jpg", "", 0); /* what the files have is not compared */
    expect_ok(work(0));
}

/* ---- labels -----------------------------------------------------------------------------------
 */

TEST(labels_are_looked_at_before_anything_is_packed)
{
    static const char *const classes[] = {"ant", "bee"};
    cut("10 14");
    set.source.classes = classes;
    set.source.class_count = 2;
    expect_ok(count(0));
    expect_error(count(1), IMREC_ERR_ARGUMENT,
                 "item 6 ('cow/00.jpg'): label 2 is the number of none of the 2 classes");
    set.source.class_count = 0;
    set.odd_at = 12;
    set.odd_count = 1;
    set.odd_label = 16777217;
    expect_error(count(1), IMREC_ERR_ARGUMENT, "item 2 (");
    set.odd_count = 2;
    set.odd_label = 1;
    expect_error(count(1), IMREC_ERR_ARGUMENT, "item 2 ('bee/04.jpg'): 2 labels, where the first");
}

TEST(tasks_with_other_numbers_of_labels_are_refused)
{
    const struct imrec_pack_task task = task_of();
    cut("0 10 14");
    expect_ok(count(0));
    expect_ok(count(1));
    set.label_count = 3;
    expect_ok(count(2));
    expect_error(imrec_plan_make_items(plan, &task, &set.source, &p.o, counted, 3, NULL, &p.err),
                 IMREC_ERR_ARGUMENT,
                 "the items of task 2 have 3 labels each, and those of task 1 have 1");
    ck_assert(!is_there(&p, "plan"));
}

TEST(a_task_has_the_labels_of_the_plan)
{
    memcpy(box_labels, (const uint32_t[]){7, 7, 7}, sizeof(box_labels));
    cut("10 14");
    set.source.next = next_boxes;
    expect_ok(make());
    set.source.next = next_item;
    set.label_count = 3;
    expect_error(work(1), IMREC_ERR_ARGUMENT, "item 10 ('bee/02.jpg'): 3 labels, where the first");
}

/* ---- images that cannot be packed -------------------------------------------------------------
 */

TEST(an_image_that_stops_a_run_has_its_number_over_all_tasks)
{
    cut("10 14");
    set.kind = ITEM_BYTES;
    nameless = true;
    tmp_write(&p.dir, "source/bee/05.jpg", "no image", 8);
    p.o.on_error = IMREC_ON_ERROR_STOP;
    expect_ok(make());
    expect_error(work(1), IMREC_ERR_DATA, "item 13");
    expect_ok(work(0));
    expect_error(finish(), IMREC_ERR_DATA, "1 of 2 tasks are not done: 1;");
}

LOOP_TEST(too_many_skips_are_seen_over_all_tasks, 1, 4) /* _i: that are allowed */
{
    char allowed[2] = {(char)('0' + _i), '\0'};
    cut("9 7 8");
    set.kind = ITEM_BYTES;
    p.o.max_skipped = allowed;
    tmp_write(&p.dir, "source/ant/05.jpg", "", 0);
    tmp_write(&p.dir, "source/bee/05.jpg", "", 0);
    tmp_write(&p.dir, "source/cow/05.jpg", "", 0);
    expect_ok(make());
    work_all();
    if (_i < 3) {
        expect_error(finish(), IMREC_ERR_DATA, "images are skipped, max_skipped=");
        return;
    }
    expect_ok(finish());
    ck_assert_uint_eq(p.result.skipped, 3);
    ck_assert_str_eq(p.result.first_skips[1].path, "bee/05.jpg");
}

/* ---- refusals ---------------------------------------------------------------------------------
 */

TEST(what_cannot_be_planned_is_refused)
{
    const struct imrec_pack_task task = task_of();
    cut("0 0");
    expect_error(make(), IMREC_ERR_ARGUMENT, "no task has an item");
    cut("24");
    expect_ok(count(0));
    expect_error(imrec_plan_make_items(plan, &task, &set.source, &p.o, counted, 0, NULL, &p.err),
                 IMREC_ERR_ARGUMENT, "tasks must be 1 to 1048576, not 0");
    expect_error(imrec_plan_make_items(plan, NULL, &set.source, &p.o, counted, 1, NULL, &p.err),
                 IMREC_ERR_ARGUMENT, "needs a task, a source");
    expect_error(imrec_plan_count_items(NULL, counted, &p.err), IMREC_ERR_ARGUMENT, "a source");
    expect_error(imrec_plan_work_items(plan, 0, NULL, NULL, NULL, &p.err), IMREC_ERR_ARGUMENT,
                 "a source");
    p.o.masks = "masks";
    expect_error(make(), IMREC_ERR_ARGUMENT, "masks and annotations belong to files");
    p.o.masks = "";
    p.o.resume = true;
    expect_error(make(), IMREC_ERR_ARGUMENT, "resume cannot go with a plan");
    p.o.resume = false;
    set.source.quality = 101;
    expect_error(make(), IMREC_ERR_ARGUMENT, "quality of a source's pixels");
    set.source.quality = 3;
    ck_assert(!is_there(&p, "plan"));
    expect_ok(make());
    expect_error(make(), IMREC_ERR_ARGUMENT, "a plan is made once");
    expect_error(work_on(1), IMREC_ERR_ARGUMENT, "has tasks 0 to 0, not 1");
}

TEST(counts_that_no_set_has_are_refused)
{
    const struct imrec_pack_task task = task_of();
    struct imrec_plan_items wild[2] = {{.count = UINT64_MAX}, {.count = UINT64_MAX}};
    expect_error(imrec_plan_make_items(plan, &task, &set.source, &p.o, wild, 2, NULL, &p.err),
                 IMREC_ERR_LIMIT, "too many items");
    p.o.augment = "rand_mirror=1";
    p.o.copies = 2;
    expect_error(imrec_plan_make_items(plan, &task, &set.source, &p.o, wild, 1, NULL, &p.err),
                 IMREC_ERR_LIMIT, "too many copies");
}

TEST(files_and_items_are_not_mistaken_for_each_other)
{
    const struct imrec_pack_task task = task_of();
    cut("24");
    expect_ok(make());
    expect_error(imrec_plan_work(plan, 0, NULL, &p.result, &p.err), IMREC_ERR_ARGUMENT,
                 "are made of items, which the program that made it has");
    expect_error(imrec_plan_continue(plan, &task, &p.o, 0, &p.err), IMREC_ERR_ARGUMENT,
                 "its source differs");
    snprintf(plan, sizeof(plan), "%s", tmp_path(&p.dir, "other"));
    expect_ok(imrec_plan_make(plan, &task, &p.o, 1, NULL, &p.err));
    expect_error(work(0), IMREC_ERR_ARGUMENT, "are made of files, not of items");
    expect_error(again(), IMREC_ERR_ARGUMENT, "its source differs");
}

/* ---- the same call again ----------------------------------------------------------------------
 */

static void expect_other(const char *words)
{
    expect_error(again(), IMREC_ERR_ARGUMENT, words);
}

TEST(a_call_that_is_made_again_continues)
{
    cut("5 0 7 12");
    pack_a();
    for (uint64_t k = 0; k < tasks; k++)
        expect_ok(count(k));
    expect_ok(again()); /* makes it */
    expect_ok(work(2));
    expect_ok(again());
    expect_ok(imrec_plan_status(plan, &now, &p.err));
    ck_assert_uint_eq(now.done, 1);
    ck_assert_uint_eq(now.images_done, 7);
    ck_assert_uint_eq(now.images, 24);
    ck_assert(now.items);
    work_all();
    ck_assert(!p.result.was_complete);
    expect_ok(work(2));
    ck_assert(p.result.was_complete);
    expect_ok(finish());
    expect_ok(imrec_plan_status(plan, &now, &p.err));
    ck_assert(now.finished && now.images_done == 24);
    expect_ok(again());
    counted[3].check++;
    expect_other("its list of items differs");
    expect_set();
}

TEST(another_call_is_refused_by_name)
{
    static const char *const classes[] = {"ant", "bee", "cow"};
    cut("5 0 7 12");
    expect_ok(make());
    counted[2].check++;
    expect_other("the plan of other items: task 2 had 7 others, or in another order, when it was");
    counted[2].check--;
    counted[0].count = 6;
    expect_other("the plan of other items: task 0 had 5 when it was made, and has 6; finish it");
    counted[0].count = 5;
    tasks = 3;
    expect_other("its number of tasks differs");
    tasks = 4;
    p.o.resize = 21;
    expect_other("its resize differs");
    p.o.resize = 20;
    p.o.threads = 2;
    set.source.quality = 4;
    expect_other("its encoding of pixels differs");
    set.source.quality = 3;
    set.source.numbered = true;
    expect_other("its numbering of ids differs");
    set.source.numbered = false;
    set.source.classes = classes;
    set.source.class_count = 3;
    expect_other("its class list differs");
    set.source.class_count = 0;
    expect_ok(again());
}
