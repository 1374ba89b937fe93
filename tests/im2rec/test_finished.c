/* Runs that end early or late: too many skips, folders that vanish, sets that are whole already. */
#include "base/alloc.h"
#include "im2rec/item/skip_limit.h"
#include "imrec/reshape.h"
#include "tests/support/packing.h"
#include "tests/support/suite.h"

static struct packing p;

static void setup(void)
{
    packing_make(&p, true);
    p.o.threads = 1;
}

static void teardown(void)
{
    packing_remove(&p);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static const char *list; /* NULL: the folder */

static enum imrec_status pack(const char *out)
{
    char kept[2][512];
    snprintf(kept[0], sizeof(kept[0]), "%s", tmp_path(&p.dir, out));
    snprintf(kept[1], sizeof(kept[1]), "%s", tmp_path(&p.dir, "l.lst"));
    const struct imrec_pack_task task = {
        .list = list != NULL ? kept[1] : NULL, .root = p.source, .out = kept[0]};
    return imrec_pack(&task, &p.o, &p.result, &p.err);
}

static void expect_packed(const char *out)
{
    ck_assert_msg(pack(out) == IMREC_OK, "%s", p.err.message);
}

static void expect_error(const char *out, enum imrec_status want, const char *words)
{
    const enum imrec_status st = pack(out);
    ck_assert_msg(st == want && strstr(p.err.message, words) != NULL, "%d, without '%s': %s",
                  (int)st, words, p.err.message);
}

static void expect_unpublished(void)
{
    ck_assert(!is_there(&p, "a.manifest.json") && !is_there(&p, "a.rec") && !is_there(&p, "a.lst"));
    ck_assert(is_there(&p, "a.journal.part"));
}

/* ---- sets that are whole -------------------------------------------------------------------- */

enum { WAYS = 8 };

static void choose(int way)
{
    list = NULL;
    if (way == 1)
        p.o.shards = 3;
    else if (way == 2)
        p.o.shard_size = 9000;
    else if (way == 3)
        p.o.format = IMREC_PACK_CBF;
    else if (way == 4)
        p.o.part = (struct imrec_share){1, 2};
    else if (way == 5)
        p.o.augment = "rand_mirror=1";
    else if (way == 6)
        p.o.encoding = IMREC_ENCODE_PNG;
    p.o.copies = way == 5 ? 2 : 1;
    if (way != 7)
        return;
    static const char text[] =
        "7\t1\tant/00.jpg\nnonsense\n3\t0.25\tant/gone.jpg\n1\t2\tcow/01.jpg\n";
    list = text;
    tmp_write(&p.dir, "l.lst", text, sizeof(text) - 1);
}

CASE(.timeout = 60, .setup = setup, .teardown = teardown)

LOOP_TEST(a_finished_set_is_complete_for_the_run_that_made_it, 0, WAYS)
{
    choose(_i);
    p.o.resume = true; /* also where it begins */
    expect_packed("a");
    const struct imrec_pack_result first = p.result;
    ck_assert(!first.was_complete);
    expect_packed("a");
    ck_assert(p.result.was_complete);
    ck_assert_uint_eq(p.result.packed, first.packed);
    ck_assert_uint_eq(p.result.skipped, first.skipped);
    ck_assert_uint_eq(p.result.total, first.total);
    ck_assert_uint_eq(p.result.shards, first.shards);
    ck_assert_uint_eq(p.result.bytes, first.bytes);
    p.o.threads = 2;
    p.o.max_skipped = "0"; /* these do not shape it */
    expect_packed("a");
    ck_assert(!is_there(&p, "a.journal.part") && !is_there(&p, "a.lock.part"));
}

TEST(one_of_other_options_is_not)
{
    p.o.resume = true;
    expect_packed("a");
    p.o.quality = 80;
    expect_error("a", IMREC_ERR_ARGUMENT, "with quality=95, and this run has 80; force packs it");
    p.o.quality = 95;
    p.o.masks = kept_path(&p, "source");
    expect_error("a", IMREC_ERR_ARGUMENT, "with masks=");
    p.o.masks = "";
    p.o.resume = false;
    expect_error("a", IMREC_ERR_ARGUMENT, "is there already; force replaces it");
}

LOOP_TEST(one_of_another_folder_is_not, 0, 4)
{
    static const char *const words = "of another list, or of a folder that has changed since";
    p.o.resume = true;
    expect_packed("a");
    if (_i == 0)
        make_image(&p.dir, "source/ant/99.jpg", 40, 50, 1);
    else if (_i == 1)
        ck_assert_int_eq(unlink(tmp_path(&p.dir, "source/cow/00.jpg")), 0);
    else if (_i == 2)
        ck_assert_int_eq(
            rename(tmp_path(&p.dir, "source/cow/00.jpg"), tmp_path(&p.dir, "source/cow/00.jpeg")),
            0);
    else
        ck_assert_int_eq(rename(tmp_path(&p.dir, "source/cow"), tmp_path(&p.dir, "source/dog")), 0);
    expect_error("a", IMREC_ERR_ARGUMENT, words);
}

LOOP_TEST(one_of_another_list_is_not, 0, 4)
{
    static const char *const others[] = {
        "7\t1\tant/00.jpg\n1\t2\tcow/01.jpg\n", "7\t1\tant/00.jpg\nx\ny\n1\t3\tcow/01.jpg\n",
        "8\t1\tant/00.jpg\nx\ny\n1\t2\tcow/01.jpg\n", "1\t2\tcow/01.jpg\nx\ny\n7\t1\tant/00.jpg\n"};
    choose(7);
    p.o.resume = true;
    expect_packed("a");
    tmp_write(&p.dir, "l.lst", others[_i], strlen(others[_i]));
    expect_error("a", IMREC_ERR_ARGUMENT, "of another list");
}

LOOP_TEST(one_that_lacks_a_file_is_not, 0, 5)
{
    static const char *const names[] = {"a.rec", "a.idx", "a.crc", "a.lst", "a.classes.txt"};
    const char *path = tmp_path(&p.dir, names[_i]);
    p.o.resume = true;
    expect_packed("a");
    ck_assert_int_eq(truncate(path, tmp_size(path) - 1), 0);
    expect_error("a", IMREC_ERR_ARGUMENT, " bytes, not ");
    ck_assert_int_eq(unlink(tmp_path(&p.dir, names[_i])), 0);
    expect_error("a", IMREC_ERR_ARGUMENT, " is missing; force packs it again");
}

static enum imrec_status append(void)
{
    char out[512];
    snprintf(out, sizeof(out), "%s", tmp_path(&p.dir, "a.rec"));
    const struct imrec_pack_task task = {.root = p.source, .out = out};
    return imrec_append(&task, &p.o, &p.result, &p.err);
}

TEST(one_that_was_appended_to_is_not)
{
    expect_packed("a");
    ck_assert_msg(append() == IMREC_OK, "%s", p.err.message);
    p.o.resume = true;
    expect_error("a", IMREC_ERR_ARGUMENT, "with appended=24, which this run lacks");
}

/* ---- too many skips ------------------------------------------------------------------------- */

TEST(a_limit_is_a_number_or_an_exact_share)
{
    static const struct {
        const char *text;
        uint64_t total, most;
    } good[] = {{"", 10, UINT64_MAX},
                {"0", 10, 0},
                {"12", 10, 12},
                {"0%", 1000, 0},
                {"100%", 1000, 1000},
                {"0.7%", 1000, 7},
                {"0.1%", 999, 0},
                {"33.333333%", 300000000, 99999999},
                {"0.000001%", 100000000, 1},
                {"50%", UINT64_MAX, UINT64_MAX / 2}};
    static const char *const bad[] = {"x",   "-1",  "101%", "100.1%",     "5 %",
                                      "%",   ".%",  "1e3",  "1.1234567%", "1.%",
                                      ".5%", "1%%", "+1",   "1,000",      "18446744073709551616"};
    struct skip_limit l;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        ck_assert_msg(skip_limit_parse(good[i].text, &l, &p.err) == IMREC_OK, "%s", p.err.message);
        ck_assert_uint_eq(skip_limit_of(&l, good[i].total), good[i].most);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        p.o.max_skipped = bad[i];
        expect_error("a", IMREC_ERR_ARGUMENT,
                     "max_skipped must be a number of images, as 10, or a");
        ck_assert_ptr_nonnull(strstr(p.err.message, bad[i]));
    }
    ck_assert(!is_there(&p, "a.journal.part"));
}

LOOP_TEST(a_run_that_skips_more_ends_and_can_be_resumed, 0, 3)
{
    static const char *const few[] = {"0", "2", "11%"}, *const enough[] = {"3", "100%", "11.2%"};
    expect_packed("b");
    p.o.max_skipped = few[_i];
    expect_error("a", IMREC_ERR_DATA, "images are skipped, max_skipped=");
    expect_unpublished();
    p.o.resume = true;
    expect_error("a", IMREC_ERR_DATA, "images are skipped, max_skipped="); /* they still are bad */
    expect_unpublished();
    p.o.max_skipped = enough[_i];
    expect_packed("a");
    ck_assert_uint_eq(p.result.skipped, MADE_BAD);
    expect_same_set(&p, "a", "b");
}

TEST(what_was_mended_meanwhile_is_packed)
{
    static const char *const bad[] = {"empty", "text", "torn"};
    char name[64];
    p.o.max_skipped = "0";
    expect_error("a", IMREC_ERR_DATA, "1 images are skipped");
    for (uint32_t i = 0; i < 3; i++) {
        snprintf(name, sizeof(name), "source/bee/%s.jpg", bad[i]);
        make_image(&p.dir, name, 60, 60, i);
    }
    p.o.resume = true;
    expect_packed("a");
    ck_assert_uint_eq(p.result.packed, MADE_GOOD + MADE_BAD);
    p.o.resume = false;
    expect_packed("b");
    expect_same_set(&p, "a", "b");
}

TEST(what_the_scan_passes_over_counts_before_anything_is_written)
{
    tmp_write(&p.dir, "source/ant/a\nb.jpg", "x", 1);
    p.o.max_skipped = "0";
    expect_error("a", IMREC_ERR_DATA, "1 images are skipped");
    ck_assert(!is_there(&p, "a.journal.part"));
    p.o.max_skipped = "4";
    expect_packed("a");
    ck_assert_uint_eq(p.result.skipped, 4);
}

TEST(an_append_that_skips_too_much_leaves_the_set_as_it_is)
{
    expect_packed("a");
    expect_packed("b");
    p.o.max_skipped = "2";
    ck_assert_int_eq(append(), IMREC_ERR_DATA);
    expect_same_set(&p, "a", "b");
}

/* ---- folders that vanish -------------------------------------------------------------------- */

static char from[512], to[512];
static bool replaces;

static bool move_at_4(void *user, const struct imrec_progress *progress)
{
    (void)user;
    if (progress->done == 4 && rename(from, to) == 0 && replaces)
        (void)mkdir(from, 0777);
    return true;
}

static enum imrec_status pack_while_it_moves(const char *folder)
{
    char out[512], lst[512];
    snprintf(out, sizeof(out), "%s", tmp_path(&p.dir, "a"));
    snprintf(lst, sizeof(lst), "%s", tmp_path(&p.dir, "l.lst"));
    snprintf(from, sizeof(from), "%s", tmp_path(&p.dir, folder));
    snprintf(to, sizeof(to), "%s", tmp_path(&p.dir, "moved"));
    const struct imrec_pack_task task = {
        .list = list != NULL ? lst : NULL, .root = p.source, .out = out, .progress = move_at_4};
    return imrec_pack(&task, &p.o, &p.result, &p.err);
}

/* The list of all images. */
static void make_list(void)
{
    expect_packed("b");
    const struct bytes b = read_whole(tmp_path(&p.dir, "b.lst"));
    tmp_write(&p.dir, "l.lst", b.p, b.n);
    free((void *)(uintptr_t)b.p);
    list = "l.lst";
}

LOOP_TEST(a_folder_that_vanishes_ends_the_run_and_is_not_skipped, 0, 3)
{
    const char *folder = _i == 0 ? "source/cow" : "source";
    list = NULL;
    if (_i == 2)
        make_list();
    ck_assert_int_eq(pack_while_it_moves(folder), IMREC_ERR_IO);
    ck_assert_msg(strstr(p.err.message, "is missing, or another one, since the run began") != NULL,
                  "%s", p.err.message);
    expect_unpublished();
    ck_assert_int_eq(rename(to, from), 0);
    p.o.resume = true;
    expect_packed("a");
    p.o.resume = false;
    expect_packed("c");
    expect_same_file(&p, "a", "c", ".rec");
    expect_same_file(&p, "a", "c", ".lst");
    expect_same_manifest(&p, "a", "c");
}

LOOP_TEST(an_empty_folder_in_its_place_is_another_one, 0, 2) /* as where it is unmounted */
{
    list = NULL;
    replaces = true;
    if (_i == 1)
        make_list();
    ck_assert_int_eq(pack_while_it_moves("source"), IMREC_ERR_IO);
    ck_assert_ptr_nonnull(strstr(p.err.message, "is missing, or another one, since the run began"));
    expect_unpublished();
}

/* Files alone, of a list or a folder, are skipped and counted; a limit ends the run. */
TEST(single_files_that_vanish_are_skipped_up_to_the_limit)
{
    char name[64];
    make_list();
    for (uint32_t i = 0; i < MADE_EACH; i++) {
        snprintf(name, sizeof(name), "source/cow/%02u.jpg", i);
        ck_assert_int_eq(unlink(tmp_path(&p.dir, name)), 0);
    }
    p.o.max_skipped = "5";
    expect_error("a", IMREC_ERR_DATA, "there is no such file");
    expect_unpublished();
    p.o.max_skipped = "";
    p.o.resume = true;
    expect_packed("a");
    ck_assert_uint_eq(p.result.skipped, MADE_EACH);
    ck_assert_str_eq(p.result.first_skips[0].reason, "there is no such file");
}
