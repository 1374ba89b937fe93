/* Storage that fails at every call in turn, a disk of every size, and memory that runs out at
 * every request: never a set that looks whole, and a resume ends as an undisturbed run does. */
#include "base/alloc.h"
#include "storage/fault.h"
#include "tests/support/packing_faults.h"
#include "tests/support/suite.h"

#include <sys/resource.h>

static struct packing p;

static void setup(void)
{
    packing_make(&p, true);
    p.o.threads = 2;
}

static void teardown(void)
{
    packing_end(&p);
}

static const char *scripted(const struct fault_script *script)
{
    return packing_scripted(&p, "b.rec", script);
}

static void start_anew(void)
{
    static const char *const names[] = {"b.rec",
                                        "b.idx",
                                        "b.crc",
                                        "b.lst",
                                        "b.classes.txt",
                                        "b.manifest.json",
                                        "b-00000-of-00002.rec",
                                        "b-00000-of-00002.idx",
                                        "b-00000-of-00002.crc",
                                        "b-00001-of-00002.rec",
                                        "b-00001-of-00002.idx",
                                        "b-00001-of-00002.crc",
                                        "b.cbf",
                                        "b.cbf.idx",
                                        "b-00000-of-00002.cbf",
                                        "b-00000-of-00002.cbf.idx",
                                        "b-00001-of-00002.cbf",
                                        "b-00001-of-00002.cbf.idx",
                                        "b.journal"};
    char part[64];
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(part, sizeof(part), "%s.part", names[i]);
        (void)remove(tmp_path(&p.dir, names[i]));
        (void)remove(tmp_path(&p.dir, part));
    }
}

/* After a failure: not real unless the manifest is, and a resume makes it what it should be. */
static void expect_resumable(const char *uri)
{
    const struct fault_script healthy = {0};
    ck_assert_int_ne(p.err.status, IMREC_OK);
    ck_assert_msg(!is_there(&p, "b.manifest.json"), "a failed run left a manifest");
    (void)scripted(&healthy);
    p.o.resume = true;
    ck_assert_msg(packing_run(&p, uri) == IMREC_OK, "%s", p.err.message);
    p.o.resume = false;
    ck_assert_uint_eq(p.result.packed, MADE_GOOD);
    ck_assert_uint_eq(p.result.skipped, MADE_BAD);
    ck_assert(!is_there(&p, "b.journal.part"));
}

static void expect_same(void)
{
    const bool cbf = p.o.format == IMREC_PACK_CBF;
    if (p.o.shards == 0 && !cbf) {
        expect_same_set(&p, "a", "b");
        return;
    }
    if (p.o.shards == 0)
        expect_same_file(&p, "a", "b", ".cbf");
    for (int k = 0; k < (int)p.o.shards; k++) {
        char a[32], b[32];
        snprintf(a, sizeof(a), "a-0000%d-of-00002", k);
        snprintf(b, sizeof(b), "b-0000%d-of-00002", k);
        if (cbf) {
            expect_same_file(&p, a, b, ".cbf");
            continue;
        }
        expect_same_file(&p, a, b, ".rec");
        expect_same_file(&p, a, b, ".idx");
        expect_same_file(&p, a, b, ".crc");
    }
    expect_same_file(&p, "a", "b", ".lst");
    expect_same_manifest(&p, "a", "b");
}

/* The n-th call of `field` fails, n = 1, 2, ... until the run is too short to meet it. */
static void walk(size_t field)
{
    struct fault_script script = {0};
    uint64_t n = 1, failures = 0;
    ck_assert_int_eq(packing_run(&p, tmp_path(&p.dir, "a")), IMREC_OK);
    for (;; n++) {
        start_anew();
        memcpy((char *)&script + field, &n, sizeof(n));
        const char *uri = scripted(&script);
        const enum imrec_status st = packing_run(&p, uri);
        if (st == IMREC_OK) {
            expect_same();
            break;
        }
        failures++;
        ck_assert_msg(st == IMREC_ERR_IO, "call %d: %d, %s", (int)n, (int)st, p.err.message);
        if (!is_there(&p, "b.manifest.json")) {
            expect_resumable(uri);
            expect_same();
        }
    }
    ck_assert_uint_ge(failures, 3);
}

CASE(.timeout = 250, .setup = setup, .teardown = teardown)

LOOP_TEST(any_call_that_fails_leaves_a_run_that_can_go_on, 0, 16)
{
    static const size_t fields[] = {
        offsetof(struct fault_script, write_eio), offsetof(struct fault_script, sync_eio),
        offsetof(struct fault_script, rename_eio), offsetof(struct fault_script, call_eio)};
    p.o.shards = _i % 2 * 2;
    p.o.format = _i / 8 != 0 ? IMREC_PACK_CBF : IMREC_PACK_REC;
    p.o.cbf_chunk = 5000;
    walk(fields[_i / 2 % 4]);
}

LOOP_TEST(a_disk_that_is_full_leaves_a_run_that_can_go_on, 0, 2)
{
    struct fault_script script = {0};
    p.o.format = _i != 0 ? IMREC_PACK_CBF : IMREC_PACK_REC;
    ck_assert_int_eq(packing_run(&p, tmp_path(&p.dir, "a")), IMREC_OK);
    const uint64_t most = p.result.bytes + 8192;
    for (script.space = 1;; script.space += most / 37) {
        start_anew();
        const char *uri = scripted(&script);
        if (packing_run(&p, uri) == IMREC_OK)
            break;
        ck_assert_msg(strstr(p.err.message, "No space left") != NULL, "%s", p.err.message);
        expect_resumable(uri);
        expect_same();
    }
    ck_assert_uint_gt(script.space, p.result.bytes);
    expect_same();
}

/* The n-th request fails, for every n. Where it is the run's own, the run ends; where it is an
 * image's, the image is tried again, and nothing is missing. */
LOOP_TEST(memory_that_runs_out_ends_the_run_or_is_tried_again, 0, 2) /* _i: format */
{
    long ended = 0, tried_again = 0;
    p.o.threads = 1;
    p.o.format = _i != 0 ? IMREC_PACK_CBF : IMREC_PACK_REC;
    ck_assert_int_eq(packing_run(&p, tmp_path(&p.dir, "a")), IMREC_OK);
    for (long n = 0;; n += 1 + n / 50) {
        start_anew();
        const char *uri = tmp_path(&p.dir, "b.rec");
        const long live = imrec_alloc_live();
        imrec_alloc_fail_after(n);
        const enum imrec_status st = packing_run(&p, uri);
        const bool failed = imrec_alloc_has_failed();
        imrec_alloc_fail_after(-1);
        ck_assert_int_eq(imrec_alloc_live(), live);
        if (st == IMREC_OK) {
            ck_assert_uint_eq(p.result.packed, MADE_GOOD);
            ck_assert_uint_eq(p.result.skipped, MADE_BAD);
            expect_same();
            tried_again += failed;
        }
        if (!failed)
            break;
        if (st == IMREC_OK)
            continue;
        ended++;
        ck_assert_msg(st == IMREC_ERR_NO_MEMORY, "request %ld: %d, %s", n, (int)st, p.err.message);
        if (n % 7 == 0) {
            p.o.resume = true;
            ck_assert_msg(packing_run(&p, uri) == IMREC_OK, "%s", p.err.message);
            p.o.resume = false;
            expect_same();
        }
    }
    ck_assert_int_gt(ended, 20);
    ck_assert_int_gt(tried_again, 10);
}

static char *report_of(const char *name)
{
    const struct bytes report = read_whole(tmp_path(&p.dir, name));
    ck_assert_ptr_nonnull(report.p);
    return (char *)(uintptr_t)report.p;
}

/* Two of the images need more than there is, again and again. */
static void make_large_ones(void)
{
    make_image(&p.dir, "source/ant/05.jpg", 1500, 1200, 1);
    make_image(&p.dir, "source/cow/02.jpg", 1300, 1600, 2);
    p.o.resize = 0;
    p.o.report = kept_path(&p, "report");
}

LOOP_TEST(an_image_that_finds_no_memory_costs_itself, 0, 3) /* _i: threads */
{
    static const int threads[] = {1, 2, 5};
    make_large_ones();
    p.o.threads = threads[_i];
    imrec_alloc_fail_above(5 << 20);
    const enum imrec_status st = packing_run(&p, tmp_path(&p.dir, "b.rec"));
    imrec_alloc_fail_above(0);
    ck_assert_msg(st == IMREC_OK, "%s", p.err.message);
    ck_assert_uint_eq(p.result.packed, MADE_GOOD - 2);
    ck_assert_uint_eq(p.result.skipped, MADE_BAD + 2);
    char *report = report_of("report");
    const char *first = strstr(report, "\"code\":\"no_memory\"");
    ck_assert_msg(first != NULL && strstr(first + 1, "\"code\":\"no_memory\"") != NULL, "%s",
                  report);
    ck_assert_ptr_nonnull(strstr(report, "no memory for an image of 1500 x 1200 px"));
    free(report);
}

TEST(an_image_that_finds_no_memory_ends_a_run_that_is_to_stop)
{
    make_large_ones();
    p.o.shuffle = false;
    (void)remove(tmp_path(&p.dir, "source/bee/empty.jpg"));
    (void)remove(tmp_path(&p.dir, "source/bee/text.jpg"));
    (void)remove(tmp_path(&p.dir, "source/bee/torn.jpg"));
    p.o.on_error = IMREC_ON_ERROR_STOP;
    imrec_alloc_fail_above(5 << 20);
    enum imrec_status st = packing_run(&p, tmp_path(&p.dir, "b.rec"));
    imrec_alloc_fail_above(0);
    ck_assert_int_eq(st, IMREC_ERR_DATA);
    ck_assert_ptr_nonnull(strstr(p.err.message, "ant/05.jpg"));
    ck_assert_ptr_nonnull(strstr(p.err.message, "no memory"));
    p.o.resume = true;
    st = packing_run(&p, tmp_path(&p.dir, "b.rec"));
    ck_assert_msg(st == IMREC_OK, "%s", p.err.message);
    ck_assert_uint_eq(p.result.packed, MADE_GOOD);
}

TEST(images_that_are_no_plain_files_are_skipped_each_with_its_reason)
{
    static const char text[] = "0\t0\tpipe.jpg\n1\t0\tant\n2\t0\tmissing.jpg\n3\t0\t/dev/null\n"
                               "4\t0\tant/00.jpg\n5\t0\tant/00.jpg/x\n6\t0\tlink.jpg\n7\tnonsense\n"
                               "8\t0\tloop.jpg\n9\t0\tbee/empty.jpg\n";
    const struct imrec_pack_task task = {
        .list = kept_path(&p, "l.lst"), .root = p.source, .out = kept_path(&p, "b.rec")};
    static const char *const reasons[] = {"is a FIFO",   "is a folder",     "no such file",
                                          "is a device", "line 8",          "leads back to itself",
                                          "is empty",    "l.lst\\\" line 8"};
    tmp_write(&p.dir, "l.lst", text, sizeof(text) - 1);
    ck_assert_int_eq(mkfifo(tmp_path(&p.dir, "source/pipe.jpg"), 0666), 0);
    ck_assert_int_eq(symlink("ant/01.jpg", tmp_path(&p.dir, "source/link.jpg")), 0);
    ck_assert_int_eq(symlink("loop.jpg", tmp_path(&p.dir, "source/loop.jpg")), 0);
    p.o.report = kept_path(&p, "report");
    ck_assert_msg(imrec_pack(&task, &p.o, &p.result, &p.err) == IMREC_OK, "%s", p.err.message);
    ck_assert_uint_eq(p.result.packed, 2);
    ck_assert_uint_eq(p.result.skipped, 8);
    const struct bytes report = read_whole(p.o.report);
    for (size_t i = 0; i < 7; i++)
        ck_assert_msg(strstr((const char *)report.p, reasons[i]) != NULL, "%s is not in %s",
                      reasons[i], (const char *)report.p);
    free((void *)(uintptr_t)report.p);
}

#if !defined(__clang__) /* whose OpenMP opens files itself, and aborts where it cannot */
TEST(too_few_file_descriptors_are_an_error_not_skipped_images)
{
    const struct rlimit before = {1024, 1024};
    bool failed = false;
    p.o.threads = 1;
    p.o.force = true;
    for (rlim_t n = 4;; n++) {
        const struct rlimit few = {n, before.rlim_max};
        const char *uri = kept_path(&p, "b.rec");
        p.kept_count--;
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
        const enum imrec_status st = packing_run(&p, uri);
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
        if (st == IMREC_OK && p.result.packed == MADE_GOOD)
            break;
        ck_assert_msg(st == IMREC_ERR_IO, "%d descriptors: %d, %s", (int)n, (int)st, p.err.message);
        failed = true;
        ck_assert_int_lt(n, 100);
    }
    ck_assert(failed);
}
#endif

TEST(a_file_larger_than_any_image_is_not_even_read)
{
    const char *name = tmp_path(&p.dir, "source/ant/huge.jpg");
    p.o.max_pixels = 100 * 100;
    tmp_write(&p.dir, "source/ant/huge.jpg", "x", 1);
    ck_assert_int_eq(truncate(name, (8 * 100 * 100) + (64 << 20) + 1), 0);
    p.o.report = kept_path(&p, "report");
    ck_assert_int_eq(packing_run(&p, tmp_path(&p.dir, "b.rec")), IMREC_OK);
    const struct bytes report = read_whole(p.o.report);
    ck_assert_ptr_nonnull(strstr((const char *)report.p, "more than any image of max_pixels"));
    free((void *)(uintptr_t)report.p);
}

TEST(a_folder_without_a_good_image_is_an_error_and_leaves_nothing)
{
    struct packing q;
    packing_make(&q, true);
    q.o.exts = ".none";
    ck_assert_int_eq(packing_run(&q, tmp_path(&q.dir, "b.rec")), IMREC_ERR_DATA);
    q.o.exts = "";
    q.o.max_pixels = 1;
    ck_assert_int_eq(packing_run(&q, tmp_path(&q.dir, "b.rec")), IMREC_ERR_DATA);
    ck_assert_ptr_nonnull(strstr(q.err.message, "none of 27 images could be packed; the first, '"));
    ck_assert_msg(strstr(q.err.message, q.result.first_skips[0].path) != NULL &&
                      strstr(q.err.message, q.result.first_skips[0].reason) != NULL,
                  "%s", q.err.message);
    ck_assert(!is_there(&q, "b.journal.part"));
    ck_assert(!is_there(&q, "b.lst.part"));
    packing_remove(&q);
}
