/* JPEGs of a set that share their Huffman tables: those of a sample of the images, the same for any
 * number of workers, in a run that was interrupted, and in what is appended. */
#include "base/alloc.h"
#include "base/buf.h"
#include "imrec/records.h"
#include "imrec/reshape.h"
#include "tests/support/mixed.h"
#include "tests/support/suite.h"

enum { ALL = MADE_GOOD + MIXED, SAMPLE = 256, DHT = 0xC4, SOS = 0xDA, MOST = 4096 };

static struct packing p;

static void setup(void)
{
    packing_make(&p, false);
    make_mixed(&p.dir);
    p.o.shared_tables = true;
}

static void teardown(void)
{
    packing_remove(&p);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static void expect_packed(const char *out)
{
    ck_assert_msg(packing_run(&p, tmp_path(&p.dir, out)) == IMREC_OK, "%s", p.err.message);
    ck_assert_uint_eq(p.result.skipped, 0);
}

/* ---- what a set has ----------------------------------------------------------------------- */

/* The segments of Huffman tables, one after the other. Returns their number. */
static uint32_t tables_of(const uint8_t *jpeg, size_t n, struct bytes *out, uint8_t to[MOST])
{
    uint32_t segments = 0;
    *out = (struct bytes){to, 0};
    for (size_t at = 2; at + 4 <= n && jpeg[at + 1] != SOS; at += 2 + load_be16(jpeg + at + 2)) {
        const size_t bytes = 2 + load_be16(jpeg + at + 2);
        if (jpeg[at + 1] != DHT)
            continue;
        ck_assert_uint_le(out->n + bytes, MOST);
        memcpy(to + out->n, jpeg + at, bytes);
        out->n += bytes;
        segments++;
    }
    return segments;
}

/* The text of the tables in a manifest. */
static void named_tables(const char *set, char out[MOST])
{
    char name[64];
    snprintf(name, sizeof(name), "%s.manifest.json", set);
    const struct bytes text = read_whole(tmp_path(&p.dir, name));
    ck_assert_ptr_nonnull(text.p);
    const char *at = strstr((const char *)text.p, "\"huffman_tables\", \"");
    ck_assert_msg(at != NULL, "%s names no tables", name);
    ck_assert_int_eq(sscanf(at, "\"huffman_tables\", \"%4095[0-9a-f]", out), 1);
    free((void *)(uintptr_t)text.p);
}

static uint8_t byte_at(const char **text)
{
    unsigned value = 0;
    ck_assert_int_eq(sscanf(*text, "%2x", &value), 1);
    *text += 2;
    return (uint8_t)value;
}

/* The first `segments` of them as an image has them. */
static struct bytes segments_of(const char *text, uint32_t segments, uint8_t to[MOST])
{
    size_t n = 0;
    for (uint32_t t = 0; t < segments; t++) {
        uint8_t *head = to + n;
        uint32_t symbols = 0;
        n += 5;
        for (uint32_t i = 0; i < 16; i++)
            symbols += to[n++] = byte_at(&text);
        for (uint32_t i = 0; i < symbols; i++)
            to[n++] = byte_at(&text);
        const uint8_t begin[5] = {0xFF, DHT, (uint8_t)((19 + symbols) >> 8),
                                  (uint8_t)(19 + symbols), (uint8_t)(t % 2 * 16 + t / 2)};
        memcpy(head, begin, sizeof(begin));
    }
    return (struct bytes){to, n};
}

struct seen {
    uint32_t images, others; /* with the tables that the manifest names, and with others */
};

/* Of the JPEGs of a set in one shard, those with so many tables. */
static struct seen look_at(const char *set, uint32_t segments)
{
    struct seen s = {0, 0};
    struct imrec_reader *r;
    struct imrec_record record;
    char text[MOST], rec[64];
    uint8_t room[MOST], wanted_room[MOST];
    struct bytes tables;
    snprintf(rec, sizeof(rec), "%s.rec", set);
    named_tables(set, text);
    const struct bytes wanted = segments_of(text, segments, wanted_room);
    ck_assert_int_eq(imrec_reader_open(tmp_path(&p.dir, rec), 0, 1, &r, &p.err), IMREC_OK);
    while (imrec_reader_next(r, &record, &p.err) == IMREC_OK) {
        const uint8_t *image = record.image;
        if (image[0] != 0xFF || tables_of(image, record.image_size, &tables, room) != segments)
            continue;
        const bool same = tables.n == wanted.n && memcmp(room, wanted.p, wanted.n) == 0;
        s.images += same;
        s.others += !same;
    }
    imrec_reader_close(r);
    return s;
}

static void expect_same_tables(const char *a, const char *b)
{
    char left[MOST], right[MOST];
    named_tables(a, left);
    named_tables(b, right);
    ck_assert_str_eq(left, right);
}

/* ---- tests -------------------------------------------------------------------------------- */

CASE(.timeout = 200, .setup = setup, .teardown = teardown)

/* _i: encoded, the same of full chroma, all written again, or those that are progressive */
LOOP_TEST(all_images_have_the_same_tables, 0, 4)
{
    static const uint32_t images[] = {ALL, ALL, MADE_GOOD + MIXED_JPEGS, MIXED_PROGRESSIVE};
    static const uint32_t as_they_are[] = {0, 0, 0, MADE_GOOD + 1};
    p.o.subsampling = _i == 1 ? IMREC_SUBSAMPLING_444 : IMREC_SUBSAMPLING_420;
    p.o.pass_through = _i >= 2;
    p.o.resize = _i >= 2 ? 0 : p.o.resize;
    p.o.tile = _i == 2 ? IMREC_TILE_YES : IMREC_TILE_AUTO;
    p.o.baseline = _i == 3;
    expect_packed("a");
    const struct seen s = look_at("a", 4);
    ck_assert_uint_eq(s.images, images[_i]);
    ck_assert_uint_eq(s.others, as_they_are[_i]);
}

TEST(grey_images_have_those_of_luma)
{
    p.o.color = 0;
    expect_packed("a");
    ck_assert_uint_eq(look_at("a", 2).images, ALL);
}

/* `count` lines of the made images, every `step`-th of a longer list; id and label are its line. */
static void pack_lines(const char *name, int count, int step)
{
    static const char *const classes[] = {"ant", "bee", "cow"};
    char line[128];
    struct buf text = BUF_INIT(1 << 20);
    for (int i = 0; i < count * step; i += step) {
        const int image = (i / 9 + i * 5) % MADE_GOOD,
                  n = snprintf(line, sizeof(line), "%d\t0\t%s/%02d.jpg\n", i,
                               classes[image / MADE_EACH], image % MADE_EACH);
        ck_assert_int_eq(buf_append(&text, line, (size_t)n, NULL), IMREC_OK);
    }
    tmp_write(&p.dir, "l.lst", text.p, text.n);
    buf_free(&text);
    const struct imrec_pack_task task = {
        .list = kept_path(&p, "l.lst"), .root = p.source, .out = kept_path(&p, name)};
    ck_assert_msg(imrec_pack(&task, &p.o, &p.result, &p.err) == IMREC_OK, "%s", p.err.message);
    ck_assert_uint_eq(p.result.packed, (uint64_t)(count * p.o.copies));
}

TEST(the_sample_is_spread_evenly_over_the_list)
{
    char all[MOST], first[MOST];
    pack_lines("a", 3 * SAMPLE, 1);
    pack_lines("b", SAMPLE, 3);
    pack_lines("c", SAMPLE, 1);
    expect_same_tables("a", "b");
    named_tables("a", all);
    named_tables("c", first);
    ck_assert_str_ne(all, first);
}

LOOP_TEST(any_number_of_workers_and_little_memory_give_the_same_bytes, 0, 3)
{
    static const int workers[] = {2, 7, 3};
    p.o.threads = 1;
    p.o.copies = 2;
    p.o.augment = "rand_mirror=1 max_rotate_angle=20";
    p.o.quality_target = _i == 1 ? "bytes=900" : "";
    pack_lines("a", 300, 1);
    p.o.threads = workers[_i];
    p.o.memory = _i == 2 ? 16 << 20 : p.o.memory;
    pack_lines("b", 300, 1);
    expect_same_file(&p, "a", "b", ".rec");
    expect_same_manifest(&p, "a", "b");
}

/* Between its runs an image changes that was packed before: a new sample would have other counts.
 */
TEST(a_run_that_is_resumed_keeps_its_tables)
{
    uint64_t at = 0, runs = 0;
    enum imrec_status st;
    const struct imrec_pack_task task = {
        .root = p.source, .out = kept_path(&p, "b"), .progress = stop_at_done, .user = &at};
    p.o.shuffle = false;
    expect_packed("a");
    for (p.o.resume = true;
         (st = imrec_pack(&task, &p.o, &p.result, &p.err)) == IMREC_ERR_CANCELLED; at += 5) {
        runs++;
        if (is_there(&p, "b.journal.part") && tmp_size(tmp_path(&p.dir, "b.lst.part")) > 0)
            make_image(&p.dir, "source/ant/00.jpg", 300, 300, 3);
    }
    ck_assert_msg(st == IMREC_OK, "%s", p.err.message);
    ck_assert_uint_gt(runs, 2);
    expect_same_tables("a", "b");
    ck_assert_uint_eq(look_at("b", 4).others, 0);
    p.o.resume = false;
    expect_packed("c");
    char before[MOST], now[MOST];
    named_tables("b", before);
    named_tables("c", now);
    ck_assert_str_ne(before, now);
}

TEST(what_is_appended_has_the_tables_of_the_set)
{
    const struct imrec_pack_task task = {.root = p.source, .out = kept_path(&p, "a")};
    expect_packed("a");
    expect_packed("b");
    make_image(&p.dir, "source/ant/00.jpg", 900, 900, 3);
    p.o.resize = 0;
    p.o.quality = 70;
    for (int i = 0; i < 2; i++) {
        p.o.shared_tables = i == 1;
        ck_assert_msg(imrec_append(&task, &p.o, &p.result, &p.err) == IMREC_OK, "%s",
                      p.err.message);
    }
    expect_same_tables("a", "b");
    ck_assert_uint_eq(look_at("a", 4).images, 3 * ALL);
}

TEST(a_set_without_shared_tables_gets_none)
{
    const struct imrec_pack_task task = {.root = p.source, .out = kept_path(&p, "a")};
    p.o.shared_tables = false;
    expect_packed("a");
    p.o.shared_tables = true;
    ck_assert_int_eq(imrec_append(&task, &p.o, &p.result, &p.err), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(p.err.message, "packed without shared_tables"));
    ck_assert(!is_there(&p, "a.appended.part"));
    p.o.resume = true;
    ck_assert_int_eq(packing_run(&p, tmp_path(&p.dir, "a")), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(p.err.message, "with shared_tables=0, and this run has 1"));
}

TEST(imrec_tile_gives_the_bytes_of_a_lossless_packing)
{
    const char *plain = kept_path(&p, "plain.rec");
    struct imrec_reshape_options o;
    struct imrec_reshape_result r;
    p.o.pass_through = true;
    p.o.resize = 0;
    p.o.tile = IMREC_TILE_YES;
    expect_packed("a");
    p.o.tile = IMREC_TILE_AUTO;
    p.o.shared_tables = false;
    expect_packed("plain");
    imrec_reshape_options_init(&o);
    o.shared_tables = true;
    ck_assert_int_eq(imrec_reshape(&plain, 1, kept_path(&p, "b.rec"), "tile", &o, &r, &p.err),
                     IMREC_ERR_ARGUMENT);
    o.tile = true;
    ck_assert_int_eq(imrec_reshape(&plain, 1, kept_path(&p, "b.rec"), "tile", &o, &r, &p.err),
                     IMREC_OK);
    expect_same_file(&p, "a", "b", ".rec");
    expect_same_tables("a", "b");
}

/* The n-th request fails, for every n: the image is tried again, or the run ends. */
TEST(memory_that_runs_out_ends_the_run_or_is_tried_again)
{
    long ended = 0, tried_again = 0;
    p.o.threads = 1;
    p.o.force = true;
    expect_packed("a");
    for (long n = 0;; n += 1 + n / 30) {
        imrec_alloc_fail_after(n);
        const enum imrec_status st = packing_run(&p, tmp_path(&p.dir, "b"));
        const bool failed = imrec_alloc_has_failed();
        imrec_alloc_fail_after(-1);
        ck_assert_int_eq(imrec_alloc_live(), 0);
        if (st == IMREC_OK) {
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
