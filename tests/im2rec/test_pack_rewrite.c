/* JPEGs that are passed through, but written again without loss: the bytes of imrec tile, of any
 * number of workers, in a run that was interrupted, and where memory runs out. */
#include "base/alloc.h"
#include "imrec/reshape.h"
#include "tests/support/mixed.h"
#include "tests/support/suite.h"

enum { ALL = MADE_GOOD + MIXED, JPEGS = MADE_GOOD + MIXED_JPEGS };

static struct packing p;

static void setup(void)
{
    packing_make(&p, false);
    make_mixed(&p.dir);
    p.o.resize = 0;
    p.o.pass_through = true;
    p.o.tile = IMREC_TILE_YES;
}

static void teardown(void)
{
    packing_remove(&p);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static void expect_packed(const char *out, uint64_t rewritten)
{
    uint64_t encoded = 0;
    ck_assert_msg(packing_run(&p, tmp_path(&p.dir, out)) == IMREC_OK, "%s", p.err.message);
    ck_assert_uint_eq(p.result.packed, ALL);
    ck_assert_uint_eq(p.result.rewritten, rewritten);
    for (uint32_t i = 0; i < p.result.encoded_count; i++)
        encoded += p.result.encoded[i].count;
    ck_assert_uint_eq(encoded, rewritten);
}

CASE(.timeout = 120, .setup = setup, .teardown = teardown)

TEST(the_bytes_are_those_of_imrec_tile)
{
    const char *plain = kept_path(&p, "plain.rec");
    struct imrec_reshape_options o;
    struct imrec_reshape_result r;
    expect_packed("a", JPEGS);
    p.o.tile = IMREC_TILE_AUTO;
    expect_packed("plain", 0);
    imrec_reshape_options_init(&o);
    o.tile = true;
    ck_assert_int_eq(imrec_reshape(&plain, 1, kept_path(&p, "b.rec"), "tile", &o, &r, &p.err),
                     IMREC_OK);
    ck_assert_uint_eq(r.tiled, JPEGS);
    expect_same_file(&p, "a", "b", ".rec");
    expect_same_file(&p, "a", "b", ".lst");
}

LOOP_TEST(any_number_of_workers_and_little_memory_give_the_same_bytes, 0, 4)
{
    static const int workers[] = {2, 5, 16, 3};
    static const struct jpeg_layout large = {
        .colours = COLOURS_YCC, .h = 2, .v = 2, .progressive = true, .quality = 98};
    put_image(&p.dir, "source/ant/00.jpg", jpeg_make(901, 700, &large));
    p.o.threads = 1;
    p.o.tile = _i != 1 ? IMREC_TILE_YES : IMREC_TILE_NO;
    p.o.baseline = _i == 1;
    expect_packed("a", _i != 1 ? JPEGS : MIXED_PROGRESSIVE + 1);
    p.o.threads = workers[_i];
    p.o.memory = _i == 3 ? 16 << 20 : 1 << 30;
    expect_packed("b", _i != 1 ? JPEGS : MIXED_PROGRESSIVE + 1);
    expect_same_set(&p, "a", "b");
}

TEST(a_run_that_was_told_to_stop_ends_the_same_when_it_is_resumed)
{
    uint64_t at = 7, runs = 0;
    enum imrec_status st;
    const struct imrec_pack_task task = {
        .root = p.source, .out = kept_path(&p, "b"), .progress = stop_at_done, .user = &at};
    char name[64];
    for (uint32_t i = 0; i < 100; i++) { /* more than can be in flight at once */
        snprintf(name, sizeof(name), "source/cow/more%03u.jpg", i);
        make_image(&p.dir, name, 33 + i % 5, 34, i);
    }
    ck_assert_int_eq(packing_run(&p, tmp_path(&p.dir, "a")), IMREC_OK);
    for (p.o.resume = true;; runs++, at += 13) {
        st = imrec_pack(&task, &p.o, &p.result, &p.err);
        if (st != IMREC_ERR_CANCELLED)
            break;
    }
    ck_assert_msg(st == IMREC_OK, "%s", p.err.message);
    ck_assert_uint_gt(runs, 0);
    ck_assert_uint_gt(p.result.resumed, 0);
    ck_assert_uint_eq(p.result.rewritten, JPEGS + 100);
    expect_same_set(&p, "a", "b");
}

TEST(a_finished_set_is_complete_for_the_same_options_alone)
{
    expect_packed("a", JPEGS);
    p.o.resume = true;
    ck_assert_int_eq(packing_run(&p, tmp_path(&p.dir, "a")), IMREC_OK);
    ck_assert(p.result.was_complete);
    p.o.tile = IMREC_TILE_AUTO;
    ck_assert_int_eq(packing_run(&p, tmp_path(&p.dir, "a")), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(p.err.message, "with tile=yes, and this run has no"));
    p.o.baseline = true;
    ck_assert_int_eq(packing_run(&p, tmp_path(&p.dir, "a")), IMREC_ERR_ARGUMENT);
}

/* The n-th request fails, for every n: the image is tried again, or the run ends. */
TEST(memory_that_runs_out_ends_the_run_or_is_tried_again)
{
    long ended = 0, tried_again = 0;
    p.o.threads = 1;
    p.o.force = true;
    expect_packed("a", JPEGS);
    for (long n = 0;; n += 1 + n / 40) {
        imrec_alloc_fail_after(n);
        const enum imrec_status st = packing_run(&p, tmp_path(&p.dir, "b"));
        const bool failed = imrec_alloc_has_failed();
        imrec_alloc_fail_after(-1);
        ck_assert_int_eq(imrec_alloc_live(), 0);
        if (st == IMREC_OK) {
            ck_assert_uint_eq(p.result.rewritten, JPEGS);
            expect_same_set(&p, "a", "b");
            tried_again += failed;
        } else {
            ck_assert_msg(st == IMREC_ERR_NO_MEMORY, "request %ld: %s", n, p.err.message);
            ended++;
        }
        if (!failed)
            break;
    }
    ck_assert_int_gt(ended, 10);
    ck_assert_int_gt(tried_again, 10);
}

TEST(what_is_no_image_keeps_its_bytes_where_nothing_is_checked)
{
    static const char text[] = "0\t1\tbee/text.jpg\n1\t2\tbee/00.jpg\n2\t0\tdog/two.bmp\n";
    const struct imrec_pack_task task = {
        .list = kept_path(&p, "l.lst"), .root = p.source, .out = kept_path(&p, "b.rec")};
    tmp_write(&p.dir, "l.lst", text, sizeof(text) - 1);
    tmp_write(&p.dir, "source/bee/text.jpg", "no image", 8);
    ck_assert_int_eq(imrec_pack(&task, &p.o, &p.result, &p.err), IMREC_OK);
    ck_assert_uint_eq(p.result.packed, 2);
    ck_assert_uint_eq(p.result.skipped, 1);
    p.o.check = IMREC_CHECK_NONE;
    p.o.force = true;
    ck_assert_int_eq(imrec_pack(&task, &p.o, &p.result, &p.err), IMREC_OK);
    ck_assert_uint_eq(p.result.packed, 3);
    ck_assert_uint_eq(p.result.rewritten, 1);
    const struct bytes rec = read_whole(tmp_path(&p.dir, "b.rec"));
    ck_assert(bytes_hold(rec, "no image", 8));
    bytes_free(rec);
}

TEST(an_image_that_needs_more_than_memory_allows_is_skipped_before_it_is_read)
{
    static const struct jpeg_layout grey = {
        .colours = COLOURS_GREY, .h = 1, .v = 1, .progressive = true, .quality = 1};
    put_image(&p.dir, "source/ant/00.jpg", jpeg_make(7000, 6000, &grey)); /* 80 MiB of blocks */
    p.o.memory = 64 << 20;
    ck_assert_int_eq(packing_run(&p, tmp_path(&p.dir, "a")), IMREC_OK);
    ck_assert_uint_eq(p.result.packed, ALL - 1);
    ck_assert_str_eq(p.result.first_skips[0].path, "ant/00.jpg");
    ck_assert_str_eq(p.result.first_skips[0].code, "too_large");
    p.o.tile = IMREC_TILE_NO;
    expect_packed("b", 0);
    p.o.tile = IMREC_TILE_YES;
    p.o.max_pixels = 40 << 20;
    ck_assert_int_eq(packing_run(&p, tmp_path(&p.dir, "c")), IMREC_OK);
    ck_assert_ptr_nonnull(strstr(p.result.first_skips[0].reason, "7000 x 6000"));
}

/* Appends the folder to "a"; of its JPEGs so many are written again. */
static void expect_appended(uint64_t rewritten)
{
    const struct imrec_pack_task task = {.root = p.source, .out = kept_path(&p, "a")};
    ck_assert_msg(imrec_append(&task, &p.o, &p.result, &p.err) == IMREC_OK, "%s", p.err.message);
    ck_assert_uint_eq(p.result.packed, ALL);
    ck_assert_uint_eq(p.result.rewritten, rewritten);
}

LOOP_TEST(what_is_appended_follows_the_set_unless_it_names_it, 0, 3) /* _i: plain, baseline, tile */
{
    static const uint64_t follows[] = {0, MIXED_PROGRESSIVE, JPEGS};
    p.o.tile = _i == 2 ? IMREC_TILE_YES : IMREC_TILE_AUTO;
    p.o.baseline = _i == 1;
    expect_packed("a", follows[_i]);
    p.o.tile = IMREC_TILE_AUTO;
    p.o.baseline = false;
    expect_appended(follows[_i]);
    p.o.tile = IMREC_TILE_YES;
    expect_appended(JPEGS);
    p.o.tile = IMREC_TILE_NO;
    expect_appended(_i == 0 ? 0 : MIXED_PROGRESSIVE);
}
