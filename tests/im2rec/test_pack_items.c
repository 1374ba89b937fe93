/* Images that a caller hands over: packed as those of a list are, and never half. */
#include "base/buf.h"
#include "base/error.h"
#include "base/threads.h"
#include "imrec/codec.h"
#include "imrec/records.h"
#include "tests/support/item_runs.h"
#include "tests/support/suite.h"

/* The list that the items of files amount to. */
static void pack_list(const char *name)
{
    char line[128];
    struct buf text = BUF_INIT(1 << 16);
    for (int i = 0; i < MADE_GOOD; i++) {
        const int n =
            snprintf(line, sizeof(line), "%d\t%d\t%s/%02d.jpg\n", i, i / MADE_EACH,
                     (const char *const[]){"ant", "bee", "cow"}[i / MADE_EACH], i % MADE_EACH);
        ck_assert_int_eq(buf_append(&text, line, (size_t)n, NULL), IMREC_OK);
    }
    tmp_write(&p.dir, "source/all.lst", text.p, text.n);
    buf_free(&text);
    const struct imrec_pack_task task = {
        .list = kept_path(&p, "source/all.lst"), .root = p.source, .out = kept_path(&p, name)};
    ck_assert_msg(imrec_pack(&task, &p.o, &p.result, &p.err) == IMREC_OK, "%s", p.err.message);
}

static void expect_same_records(void)
{
    static const char *const suffixes[] = {".rec", ".idx", ".crc", ".lst"};
    for (int i = 0; i < 4; i++)
        expect_same_file(&p, "a", "b", suffixes[i]);
}

CASE(.timeout = 100, .setup = setup, .teardown = teardown)

LOOP_TEST(bytes_and_paths_are_packed_as_a_list_is, 0, 12) /* _i: kind, options */
{
    s.kind = _i % 2 == 0 ? ITEM_BYTES : ITEM_PATHS;
    p.o.pass_through = _i / 2 == 1;
    p.o.resize = _i / 2 == 2 ? 20 : 0;
    p.o.augment = _i / 2 == 3 || _i / 2 == 5 ? "rand_mirror=1 max_rotate_angle=20" : "";
    p.o.copies = _i / 2 == 3 || _i / 2 == 5 ? 3 : 1;
    p.o.shared_tables = _i / 2 >= 4;
    p.o.pack_label = true;
    pack_list("a");
    const struct imrec_pack_result list = p.result;
    expect_ok("b");
    expect_same_records();
    ck_assert_uint_eq(p.result.total, list.total);
    ck_assert_uint_eq(p.result.packed, list.packed);
    ck_assert_uint_eq(p.result.file_bytes, list.file_bytes);
    ck_assert_mem_eq(p.result.kinds, list.kinds, sizeof(list.kinds));
    ck_assert_mem_eq(p.result.encoded, list.encoded, sizeof(list.encoded));
    ck_assert_uint_eq(p.result.encoded_count, p.o.pass_through ? 0 : 1);
    ck_assert_int_eq(files_but(&p, "a."), 5);
}

LOOP_TEST(bytes_depend_on_no_thread_nor_on_memory, 0, 4) /* _i: threads */
{
    static const int64_t threads[] = {2, 3, 7, 7};
    s.kind = ITEM_MIXED;
    s.count = 200;
    p.o.copies = 2;
    p.o.augment = "rand_crop=1 data_shape=3,20,20 brightness=0.3";
    p.o.shard_size = 40000;
    p.o.threads = 1;
    p.o.shared_tables = _i % 2 == 1;
    expect_ok("a");
    p.o.threads = threads[_i];
    p.o.memory = _i == 3 ? 16 << 20 : p.o.memory;
    expect_ok("b");
    ck_assert_uint_eq(p.result.packed, 400);
    ck_assert_uint_gt(p.result.shards, 3);
    expect_same_manifest(&p, "a", "b");
    for (int k = 0; k < (int)p.result.shards; k++) {
        char a[64], b[64];
        snprintf(a, sizeof(a), "a-%05d-of-%05d", k, (int)p.result.shards);
        snprintf(b, sizeof(b), "b-%05d-of-%05d", k, (int)p.result.shards);
        expect_same_file(&p, a, b, ".rec");
        expect_same_file(&p, a, b, ".idx");
    }
}

/* Record i of b, decoded to the channels it has. */
static void expect_pixels(uint64_t i, const struct imrec_image *wanted, const char *format)
{
    struct imrec_reader *r;
    struct imrec_record record;
    struct imrec_decoder *d;
    struct imrec_image image;
    struct imrec_image_info info;
    ck_assert_int_eq(imrec_reader_open(out_of("b.rec"), 0, 1, &r, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_reader_get(r, i, &record, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_decoder_new(&d, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_image_info(record.image, record.image_size, &info, NULL), IMREC_OK);
    ck_assert_str_eq(info.format, format);
    ck_assert_uint_eq(info.channels, wanted->channels);
    ck_assert_int_eq(imrec_decoder_decode(d, record.image, record.image_size, wanted->channels,
                                          true, 1000000, &image, NULL),
                     IMREC_OK);
    ck_assert(image.width == wanted->width && image.height == wanted->height);
    for (uint32_t y = 0; y < image.height && strcmp(format, "png") == 0; y++)
        ck_assert_mem_eq(image.pixels + y * image.stride, wanted->pixels + y * wanted->stride,
                         (size_t)image.width * image.channels);
    imrec_decoder_free(d);
    imrec_reader_close(r);
}

LOOP_TEST(pixels_lose_nothing_beside_bytes_that_are_kept, 0, 2) /* _i: pass_through */
{
    s.kind = ITEM_MIXED;
    p.o.pass_through = _i == 1;
    expect_ok("b");
    for (uint64_t i = 1; i < MADE_GOOD; i += ITEM_KINDS) {
        const struct imrec_image wanted = itemset_pixels(&s, i);
        expect_pixels(i, &wanted, "png");
    }
    uint64_t pixels = 0;
    for (uint32_t k = 0; k < p.result.encoded_count; k++)
        pixels +=
            strncmp(p.result.encoded[k].name, "pixels ", 7) == 0 ? p.result.encoded[k].count : 0;
    ck_assert_uint_eq(pixels, MADE_GOOD / 3);
    ck_assert_uint_eq(p.result.encoded_count, _i == 1 ? 1 : 2);
    ck_assert_uint_eq(p.result.kind_count, 2);
}

TEST(pixels_are_encoded_as_the_source_says)
{
    s.kind = ITEM_PIXELS;
    s.source.encoding = IMREC_ENCODE_JPEG;
    s.source.quality = 90;
    s.source.color = 1;
    expect_ok("b");
    const struct imrec_image wanted = {s.pixels, 240, 30, 33, 3};
    expect_pixels(0, &wanted, "jpeg");
    p.o.resize = 11; /* what is asked of all is done to pixels, too */
    p.o.force = true;
    expect_ok("b");
    const struct imrec_image small = {s.pixels, 240, 11, 12, 3};
    expect_pixels(0, &small, "jpeg");
}

TEST(pixels_go_into_a_cbf_file_of_pixels)
{
    s.kind = ITEM_MIXED;
    p.o.format = IMREC_PACK_CBF;
    p.o.pixels = p.o.center_crop = true;
    p.o.resize = 8;
    expect_ok("b");
    ck_assert_uint_eq(p.result.packed, MADE_GOOD);
    ck_assert_uint_eq(p.result.encoded_count, 0);
    ck_assert_int_eq(files_but(&p, NULL), 3);
}

LOOP_TEST(what_the_source_says_ends_the_run_and_leaves_nothing, 0, 12) /* _i: where, and what */
{
    static const uint64_t places[] = {0, 1, 7, MADE_GOOD};
    static const enum imrec_status statuses[] = {IMREC_ERR_IO, IMREC_ERR_CANCELLED,
                                                 IMREC_ERR_CORRUPT};
    s.fails_at = places[_i % 4];
    s.status = statuses[_i / 4];
    p.o.format = _i % 2 == 0 ? IMREC_PACK_REC : IMREC_PACK_CBF;
    p.o.cbf_chunk = 5000;
    expect_refused(s.status, "the caller's own words");
    ck_assert_int_eq(p.err.status, s.status);
    ck_assert_int_eq(p.err.sys_errno, 42);
    ck_assert_uint_eq(p.err.offset, 7);
}

static enum imrec_status
next_wordless(void *user, struct imrec_pack_item *item, struct imrec_error *err)
{
    (void)err;
    return s.next == 4 ? IMREC_ERR_IO : itemset_next(user, item, err);
}

TEST(a_source_that_fails_without_a_word_gets_one)
{
    s.source.next = next_wordless;
    expect_refused(IMREC_ERR_IO, "the source ended the run at item 4");
    ck_assert_int_eq(p.err.status, IMREC_ERR_IO);
}

/* From item 5 on a worker finds labels that cannot be packed so; item 9 is none at all. */
static enum imrec_status
next_twice_bad(void *user, struct imrec_pack_item *item, struct imrec_error *err)
{
    static const double plain[7] = {0}, boxes[7] = {2, 5, 1, 0.1, 0.1, 0.5, 0.5};
    const bool good = s.next < 5;
    if (s.next == 9)
        return imrec_fail(err, IMREC_ERR_IO, "the source's end");
    const enum imrec_status st = itemset_next(user, item, err);
    item->labels = good ? plain : boxes;
    item->label_count = 7;
    return st;
}

LOOP_TEST(the_error_is_that_of_the_first_item_that_has_one, 1, 6) /* _i: threads */
{
    s.source.next = next_twice_bad;
    s.source.class_count = 0;
    p.o.format = IMREC_PACK_CBF;
    p.o.pass_through = false;
    p.o.center_crop = true;
    p.o.pack_label = true;
    p.o.threads = _i;
    for (int round = 0; round < 20; round++)
        expect_refused(IMREC_ERR_ARGUMENT, "ant/05.jpg: its labels are boxes");
}

TEST(a_source_without_an_item_is_refused)
{
    s.count = 0;
    expect_refused(IMREC_ERR_ARGUMENT, "the source has no item");
}

static bool stop_soon(void *user, const struct imrec_progress *progress)
{
    (void)user;
    ck_assert_uint_eq(progress->total, 0);
    ck_assert_uint_ge(progress->found, progress->done);
    return progress->done < 5;
}

TEST(progress_ends_the_run_and_leaves_nothing)
{
    char out[512];
    const struct imrec_pack_task task = {
        .root = p.source, .out = out, .progress = stop_soon, .user = NULL};
    snprintf(out, sizeof(out), "%s", out_of("b"));
    s.count = 10000;
    ck_assert_int_eq(imrec_pack_items(&task, &s.source, &p.o, &p.result, &p.err),
                     IMREC_ERR_CANCELLED);
    itemset_forget(&s);
    ck_assert_str_eq(p.err.message, "interrupted");
    ck_assert_uint_lt(s.next, 1000);
    ck_assert_int_eq(files_but(&p, NULL), 0);
}

/* ---- a source that waits for what it gave to be written ----------------------------------- */

static struct mutex slow_lock = MUTEX_INIT;
static struct cond slow_moved;
static uint64_t slow_done;

static bool tell_slow(void *user, const struct imrec_progress *progress)
{
    (void)user;
    mutex_lock(&slow_lock);
    slow_done = progress->done;
    cond_wake_all(&slow_moved);
    mutex_unlock(&slow_lock);
    return true;
}

static enum imrec_status
next_slow(void *user, struct imrec_pack_item *item, struct imrec_error *err)
{
    mutex_lock(&slow_lock);
    while (slow_done < s.next)
        cond_wait(&slow_moved, &slow_lock);
    mutex_unlock(&slow_lock);
    return itemset_next(user, item, err);
}

TEST(a_source_that_waits_holds_nobody_up)
{
    char out[512];
    const struct imrec_pack_task task = {.root = p.source, .out = out, .progress = tell_slow};
    snprintf(out, sizeof(out), "%s", out_of("b"));
    cond_init(&slow_moved);
    s.source.next = next_slow;
    p.o.threads = 3;
    ck_assert_int_eq(imrec_pack_items(&task, &s.source, &p.o, &p.result, &p.err), IMREC_OK);
    itemset_forget(&s);
    ck_assert_uint_eq(p.result.packed, MADE_GOOD);
    cond_destroy(&slow_moved);
}

/* ---- old sets ------------------------------------------------------------------------------ */

TEST(an_old_set_stands_until_the_new_one_is_whole)
{
    p.o.shard_size = 6000;
    expect_ok("b");
    const int before = files_but(&p, NULL);
    ck_assert_int_gt(before, 12);
    ck_assert_int_eq(itemset_run(&s, out_of("b")), IMREC_ERR_ARGUMENT);
    p.o.force = true;
    s.fails_at = 20;
    s.status = IMREC_ERR_DATA;
    ck_assert_int_eq(itemset_run(&s, out_of("b")), IMREC_ERR_DATA);
    ck_assert_int_eq(files_but(&p, NULL), before);
    ck_assert(file_holds("b.manifest.json", "\"records\": 24"));
    s.fails_at = UINT64_MAX;
    s.count = 3;
    p.o.shard_size = 0;
    expect_ok("b");
    ck_assert_int_eq(files_but(&p, NULL), 5);
    ck_assert(file_holds("b.manifest.json", "\"records\": 3"));
}

TEST(an_interrupted_run_over_a_list_is_left_alone)
{
    char out[512];
    snprintf(out, sizeof(out), "%s", out_of("b"));
    tmp_write(&p.dir, "source/bee/text.jpg", "no image", 8);
    p.o.on_error = IMREC_ON_ERROR_STOP;
    ck_assert_int_eq(packing_run(&p, out), IMREC_ERR_DATA); /* as if killed: it can be resumed */
    const int before = files_but(&p, NULL);
    ck_assert(is_there(&p, "b.journal.part"));
    ck_assert_int_eq(itemset_run(&s, out_of("b")), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(p.err.message, "a run was interrupted; force begins again"));
    ck_assert_int_eq(files_but(&p, NULL), before);
    p.o.on_error = IMREC_ON_ERROR_SKIP;
    p.o.resume = true;
    ck_assert_int_eq(packing_run(&p, out), IMREC_OK);
    ck_assert_uint_eq(p.result.packed, MADE_GOOD);
}

/* ---- options, skips ------------------------------------------------------------------------ */

LOOP_TEST(options_of_lists_and_folders_are_refused_with_a_sentence, 0, 11) /* _i: an option */
{
    static const struct {
        const char *option, *words;
    } refused[] = {{"list=1", "list writes lists of a folder"},
                   {"masks=x", "masks and annotations"},
                   {"annotations=x", "masks and annotations"},
                   {"part=1/2", "choose the share where items are made"},
                   {"class_from=leaf", "are for folders"},
                   {"exts=.jpg", "are for folders"},
                   {"new_classes=1", "are for folders"},
                   {"label_width=3", "are for folders"},
                   {"resume=1", "cannot be resumed"},
                   {"shards=2", "give the total"},
                   {"train_ratio=0.5", "they need list"}};
    ck_assert_int_lt(_i, (int)(sizeof(refused) / sizeof(refused[0])));
    ck_assert_int_eq(imrec_pack_options_set(&p.o, refused[_i].option, &p.err), IMREC_OK);
    expect_refused(IMREC_ERR_ARGUMENT, refused[_i].words);
    ck_assert_uint_eq(s.next, 0);
}

TEST(sources_that_are_none_are_refused)
{
    struct imrec_pack_task task = {.out = kept_path(&p, "b"), .list = "x.lst"};
    ck_assert_int_eq(imrec_pack_items(&task, &s.source, &p.o, NULL, &p.err), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(imrec_pack_items(&task, NULL, &p.o, NULL, &p.err), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(imrec_pack_items(NULL, &s.source, &p.o, NULL, &p.err), IMREC_ERR_ARGUMENT);
    task.list = NULL;
    for (int i = 0; i < 6; i++) {
        struct imrec_pack_source bad = s.source;
        bad.struct_size = i == 0 ? 0 : bad.struct_size;
        bad.next = i == 1 ? NULL : bad.next;
        bad.class_count = i == 2;
        bad.quality = i == 3 ? 0 : bad.quality;
        bad.color = i == 4 ? 2 : bad.color;
        bad.encoding = i == 5 ? (enum imrec_encoding)9 : bad.encoding;
        ck_assert_int_eq(imrec_pack_items(&task, &bad, &p.o, NULL, &p.err), IMREC_ERR_ARGUMENT);
    }
    ck_assert_int_eq(files_but(&p, NULL), 0);
}

LOOP_TEST(a_known_total_is_cut_into_equal_shards_and_kept, 0, 3) /* _i: items more than said */
{
    p.o.shards = 3;
    s.source.total = (uint64_t)(MADE_GOOD - (_i - 1));
    if (_i != 1) {
        expect_refused(IMREC_ERR_ARGUMENT,
                       _i == 0 ? "25 items, but it has 24" : "23 items, but it has at least 24");
        return;
    }
    expect_ok("b");
    ck_assert_uint_eq(p.result.shards, 3);
    ck_assert(file_holds("b.manifest.json", "b-00002-of-00003.rec"));
    ck_assert(!file_holds("b.manifest.json", "\"records\": 7,"));
}

TEST(what_cannot_be_packed_is_skipped_and_reported)
{
    s.refused_at = s.odd_at = 2;
    s.odd_count = 0; /* what is refused needs no labels */
    p.o.report = kept_path(&p, "report");
    tmp_write(&p.dir, "source/ant/04.jpg", "no image", 8);
    tmp_write(&p.dir, "source/ant/05.jpg", "", 0);
    s.kind = ITEM_BYTES;
    expect_ok("b");
    ck_assert_uint_eq(p.result.packed, MADE_GOOD - 3);
    ck_assert_uint_eq(p.result.skipped, 3);
    ck_assert(file_holds("report", "the source has lost it"));
    ck_assert(file_holds("report", "no image of a known format"));
    ck_assert(file_holds("report", "\"code\":\"empty\""));
    p.o.on_error = IMREC_ON_ERROR_STOP;
    p.o.force = true;
    ck_assert_int_eq(itemset_run(&s, out_of("b")), IMREC_ERR_DATA);
    ck_assert_ptr_nonnull(strstr(p.err.message, "'ant/02.jpg': the source has lost it"));
    ck_assert(file_holds("b.manifest.json", "\"records\": 21"));
}

/* Only where the source has said how many items come is it known before the last one. */
LOOP_TEST(a_share_of_skips_ends_the_run_as_soon_as_it_is_known, 0, 2) /* _i: it has */
{
    s.count = 4000;
    s.source.total = _i == 1 ? s.count : 0;
    s.kind = ITEM_BYTES;
    p.o.max_skipped = "2%"; /* one of 24 is more */
    tmp_write(&p.dir, "source/ant/04.jpg", "", 0);
    expect_refused(IMREC_ERR_DATA, "images are skipped, max_skipped=");
    ck_assert_uint_gt(s.next, 1900);
    ck_assert_int_eq(s.next < s.count, _i == 1);
}
