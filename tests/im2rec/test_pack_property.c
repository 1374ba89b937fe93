/* The bytes of a packed set depend on its list and options alone. */
#include "base/alloc.h"
#include "storage/fault.h"
#include "tests/support/packing.h"
#include "tests/support/suite.h"

static struct packing p;

static void setup(void)
{
    packing_make(&p, true);
}

static void teardown(void)
{
    fault_forget("packing");
    packing_remove(&p);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static void expect_packed(const char *out)
{
    ck_assert_msg(packing_run(&p, tmp_path(&p.dir, out)) == IMREC_OK, "%s", p.err.message);
    ck_assert_uint_eq(p.result.total, MADE_GOOD + MADE_BAD);
    ck_assert_uint_eq(p.result.packed, MADE_GOOD);
    ck_assert_uint_eq(p.result.skipped, MADE_BAD);
}

CASE(.timeout = 60, .setup = setup, .teardown = teardown)

LOOP_TEST(any_number_of_workers_packs_the_same_bytes, 0, 3)
{
    static const int workers[] = {2, 5, 16};
    p.o.threads = 1;
    expect_packed("a");
    p.o.threads = workers[_i];
    expect_packed("b");
    expect_same_set(&p, "a", "b");
    ck_assert_uint_eq(p.result.classes, MADE_CLASSES);
    ck_assert_uint_eq(p.result.class_least, MADE_EACH);
    ck_assert_uint_eq(p.result.class_most, MADE_EACH);
}

TEST(little_memory_packs_the_same_bytes)
{
    expect_packed("a");
    p.o.memory = 16 << 20;
    p.o.threads = 4;
    make_image(&p.dir, "source/ant/huge.jpg", 3000, 2500, 5); /* more than all of it */
    ck_assert_int_eq(packing_run(&p, tmp_path(&p.dir, "b")), IMREC_OK);
    p.o.memory = (int64_t)1 << 30;
    p.o.threads = 1;
    ck_assert_int_eq(packing_run(&p, tmp_path(&p.dir, "c")), IMREC_OK);
    ck_assert_uint_eq(p.result.packed, MADE_GOOD + 1);
    expect_same_set(&p, "b", "c");
}

/* All files of a kind one after the other: records do not know how shards are cut. */
static struct bytes join(const char *form, uint64_t count)
{
    struct bytes all = {NULL, 0};
    char name[128];
    uint8_t *to = NULL;
    for (uint64_t k = 0; k < count; k++) {
        snprintf(name, sizeof(name), form, (unsigned)k, (unsigned)count);
        const struct bytes one = read_whole(tmp_path(&p.dir, name));
        ck_assert_msg(one.p != NULL, "%s is missing", name);
        to = realloc(to, all.n + one.n + 1);
        memcpy(to + all.n, one.p, one.n);
        all = (struct bytes){to, all.n + one.n};
        free((void *)(uintptr_t)one.p);
    }
    return all;
}

static void expect_joined(const char *form, uint64_t count, const char *whole)
{
    const struct bytes all = join(form, count), want = read_whole(tmp_path(&p.dir, whole));
    ck_assert_uint_eq(all.n, want.n);
    ck_assert(memcmp(all.p, want.p, want.n) == 0);
    free((void *)(uintptr_t)all.p);
    free((void *)(uintptr_t)want.p);
}

LOOP_TEST(shards_one_after_the_other_are_the_records_of_one, 0, 3)
{
    expect_packed("whole");
    const uint64_t bytes = p.result.bytes;
    if (_i == 0)
        p.o.shards = 4;
    else
        p.o.shard_size = (int64_t)bytes / _i / 3;
    expect_packed("cut");
    ck_assert_uint_eq(p.result.bytes, bytes);
    ck_assert_uint_ge(p.result.shards, _i == 0 ? 4 : 3);
    expect_joined("cut-%05u-of-%05u.rec", p.result.shards, "whole.rec");
    expect_same_file(&p, "whole", "cut", ".lst");
    for (uint64_t k = 0; _i > 0 && k < p.result.shards; k++) {
        char name[64];
        snprintf(name, sizeof(name), "cut-%05u-of-%05u.rec", (unsigned)k,
                 (unsigned)p.result.shards);
        ck_assert_int_le(tmp_size(tmp_path(&p.dir, name)), p.o.shard_size);
    }
}

TEST(shares_one_after_the_other_are_the_whole)
{
    char name[32];
    uint64_t packed = 0, skipped = 0;
    expect_packed("whole");
    for (int k = 0; k < 5; k++) {
        p.o.part = (struct imrec_share){k, 5};
        snprintf(name, sizeof(name), "part%d", k);
        ck_assert_int_eq(packing_run(&p, tmp_path(&p.dir, name)), IMREC_OK);
        packed += p.result.packed;
        skipped += p.result.skipped;
    }
    ck_assert_uint_eq(packed, MADE_GOOD);
    ck_assert_uint_eq(skipped, MADE_BAD);
    expect_joined("part%u.rec", 5, "whole.rec");
    expect_joined("part%u.lst", 5, "whole.lst");
}

TEST(a_list_that_was_written_packs_as_its_folder_does)
{
    const struct imrec_pack_task task = {
        .list = kept_path(&p, "set.lst"), .root = p.source, .out = kept_path(&p, "b")};
    expect_packed("a");
    p.o.list = true;
    ck_assert_int_eq(packing_run(&p, tmp_path(&p.dir, "set")), IMREC_OK);
    ck_assert_uint_eq(p.result.lists, 1);
    p.o.list = false;
    p.o.classes = kept_path(&p, "set.classes.txt");
    ck_assert_int_eq(imrec_pack(&task, &p.o, &p.result, &p.err), IMREC_OK);
    ck_assert_uint_eq(p.result.packed, MADE_GOOD);
    expect_same_set(&p, "a", "b");
}

/* ---- interrupted and gone on with ------------------------------------------------------- */

struct stopper {
    uint64_t at;
};

static bool stop_at(void *user, const struct imrec_progress *progress)
{
    const struct stopper *s = user;
    return progress->total == 0 || progress->done < s->at;
}

static void expect_nothing_real(const char *out)
{
    static const char *const suffixes[] = {".rec", ".idx",         ".crc",
                                           ".lst", ".classes.txt", ".manifest.json"};
    char name[64];
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        snprintf(name, sizeof(name), "%s%s", out, suffixes[i]);
        ck_assert_msg(!is_there(&p, name), "%s is there", name);
    }
}

/* More images than can be in flight at once. */
static void add_images(uint32_t n)
{
    char name[64];
    for (uint32_t i = 0; i < n; i++) {
        snprintf(name, sizeof(name), "source/cow/more%03u.jpg", i);
        make_image(&p.dir, name, 33 + i % 5, 34, i);
    }
}

LOOP_TEST(a_run_that_was_told_to_stop_ends_the_same_when_it_is_resumed, 0, 5)
{
    enum { MORE = 200 };
    const uint64_t step = (uint64_t)_i * 17 + 1;
    struct stopper s = {step};
    const struct imrec_pack_task task = {
        .root = p.source, .out = kept_path(&p, "b"), .progress = stop_at, .user = &s};
    struct imrec_pack_skip skips[IMREC_PACK_SKIPS];
    uint64_t resumed = 0, runs = 0;
    add_images(MORE);
    p.o.report = kept_path(&p, "a.report");
    ck_assert_int_eq(packing_run(&p, tmp_path(&p.dir, "a")), IMREC_OK);
    memcpy(skips, p.result.first_skips, sizeof(skips));
    ck_assert_uint_eq(p.result.first_skip_count, MADE_BAD);
    p.o.report = kept_path(&p, "b.report");
    p.o.resume = true;
    p.o.threads = 3;
    for (;; runs++) { /* a few images at a time */
        const enum imrec_status st = imrec_pack(&task, &p.o, &p.result, &p.err);
        ck_assert_uint_ge(p.result.resumed, resumed);
        resumed = p.result.resumed;
        if (st == IMREC_OK)
            break;
        ck_assert_msg(st == IMREC_ERR_CANCELLED, "%s", p.err.message);
        expect_nothing_real("b");
        s.at += step;
    }
    ck_assert_uint_gt(runs, 0);
    ck_assert_uint_gt(resumed, 0);
    ck_assert_uint_eq(p.result.packed, MADE_GOOD + MORE);
    ck_assert(memcmp(skips, p.result.first_skips, sizeof(skips)) == 0); /* as if in one run */
    expect_same_set(&p, "a", "b");
    expect_same_file(&p, "a", "b", ".report");
    ck_assert(!is_there(&p, "b.journal.part"));
}

TEST(a_run_that_stopped_at_a_bad_image_goes_on_behind_it)
{
    expect_packed("a");
    p.o.on_error = IMREC_ON_ERROR_STOP;
    ck_assert_int_eq(packing_run(&p, tmp_path(&p.dir, "b")), IMREC_ERR_DATA);
    ck_assert_ptr_nonnull(strstr(p.err.message, "bee/"));
    expect_nothing_real("b");
    p.o.on_error = IMREC_ON_ERROR_SKIP;
    ck_assert_int_eq(packing_run(&p, tmp_path(&p.dir, "b")), IMREC_ERR_ARGUMENT); /* not silently */
    ck_assert_ptr_nonnull(strstr(p.err.message, "interrupted"));
    p.o.resume = true;
    expect_packed("b");
    expect_same_set(&p, "a", "b");
}

TEST(what_is_there_is_refused_and_replaced_only_when_forced)
{
    p.o.shards = 3;
    expect_packed("a");
    ck_assert_int_eq(packing_run(&p, tmp_path(&p.dir, "a")), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(p.err.message, "is there already"));
    p.o.shards = 2;
    p.o.force = true;
    expect_packed("a");
    ck_assert(is_there(&p, "a-00001-of-00002.rec"));
    ck_assert(!is_there(&p, "a-00001-of-00003.rec"));
    ck_assert(!is_there(&p, "a-00001-of-00003.idx"));
}

LOOP_TEST(any_file_of_a_set_that_is_there_is_in_the_way, 0, 6)
{
    static const char *const names[] = {"a.rec", "a.idx",         "a.crc",
                                        "a.lst", "a.classes.txt", "a.manifest.json"};
    tmp_write(&p.dir, names[_i], "x", 1);
    ck_assert_int_eq(packing_run(&p, tmp_path(&p.dir, "a.rec")), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(p.err.message, names[_i]));
    p.o.force = true;
    expect_packed("a.rec");
}

TEST(a_huge_image_after_a_resume_goes_ahead_alone)
{
    struct stopper s = {5};
    const struct imrec_pack_task task = {
        .root = p.source, .out = kept_path(&p, "b"), .progress = stop_at, .user = &s};
    add_images(100);
    make_image(&p.dir, "source/cow/zz.jpg", 3000, 2500, 5);
    p.o.memory = 16 << 20;
    p.o.shuffle = false;
    p.o.threads = 3;
    ck_assert_int_eq(imrec_pack(&task, &p.o, &p.result, &p.err), IMREC_ERR_CANCELLED);
    s.at = UINT64_MAX;
    p.o.resume = true;
    ck_assert_int_eq(imrec_pack(&task, &p.o, &p.result, &p.err), IMREC_OK);
    ck_assert_uint_gt(p.result.resumed, 0);
    ck_assert_uint_eq(p.result.packed, MADE_GOOD + 101);
}

TEST(a_ratio_cuts_where_its_decimal_says)
{
    struct bytes text;
    size_t lines = 0;
    add_images(3);
    p.o.list = true;
    p.o.train_ratio = 0.7f; /* of 30: 21, though the float is a little less than 0.7 */
    ck_assert_int_eq(packing_run(&p, tmp_path(&p.dir, "a")), IMREC_OK);
    text = read_whole(tmp_path(&p.dir, "a_train.lst"));
    for (size_t i = 0; i < text.n; i++)
        lines += text.p[i] == '\n';
    ck_assert_uint_eq(lines, 21);
    free((void *)(uintptr_t)text.p);
}

TEST(a_journal_of_other_options_is_refused)
{
    p.o.on_error = IMREC_ON_ERROR_STOP;
    ck_assert_int_eq(packing_run(&p, tmp_path(&p.dir, "a")), IMREC_ERR_DATA);
    p.o.on_error = IMREC_ON_ERROR_SKIP;
    p.o.resume = true;
    p.o.quality--;
    ck_assert_int_eq(packing_run(&p, tmp_path(&p.dir, "a")), IMREC_ERR_ARGUMENT);
    p.o.quality++;
    expect_packed("a");
}
