/* Every call of the system that fails in turn, and every allocation, while a set is packed,
 * resumed, verified and read: no crash, no leak, one error that names a file, or the right result;
 * nothing that is not whole under its final name. */
#include "base/alloc.h"
#include "base/error.h"
#include "imrec/imrec.h"
#include "tests/support/disk_image.h"
#include "tests/support/failing_calls.h"
#include "tests/support/packing_faults.h"
#include "tests/support/suite.h"

#include <errno.h>

static struct packing p;
static struct disk_image *whole, *begun; /* a finished set, and what an interrupted run left */
static uint64_t labels;                  /* of an epoch */

static const char *out_rec(void)
{
    return tmp_path(&p.dir, "o/b.rec");
}

/* ---- what is run
 * --------------------------------------------------------------------------------- */

static enum imrec_status run_pack(void)
{
    return packing_run(&p, out_rec());
}

static enum imrec_status run_verify(void)
{
    struct imrec_verify_options v;
    struct imrec_verify_result result;
    imrec_verify_options_init(&v);
    v.threads = 1;
    const enum imrec_status st = imrec_dataset_verify(tmp_path(&p.dir, "o"), &v, &result, &p.err);
    if (st == IMREC_OK && result.findings != 0)
        return imrec_fail(&p.err, IMREC_ERR_DATA, "%s: findings", out_rec());
    return st;
}

static uint64_t labels_of(const struct imrec_batch *b)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < b->count; i++)
        sum += 1000 + b->ids[i] * 7 + (uint64_t)b->labels[i];
    return sum;
}

static enum imrec_status read_epoch(struct imrec_iter *it)
{
    struct imrec_batch b;
    enum imrec_status st;
    labels = 0;
    while ((st = imrec_iter_next(it, &b, &p.err)) == IMREC_OK)
        labels += labels_of(&b);
    return st == IMREC_END ? IMREC_OK : st;
}

static enum imrec_status run_read(void)
{
    struct imrec_iter_options o;
    struct imrec_iter *it;
    imrec_iter_options_init(&o);
    o.path_imgrec = kept_path(&p, "o");
    p.kept_count--;
    o.data_shape = (struct imrec_shape){3, 24, 24};
    o.batch_size = 5;
    o.preprocess_threads = 1;
    o.prefetch_buffer = 1;
    o.last_batch = IMREC_LAST_PARTIAL;
    o.shuffle = true;
    enum imrec_status st = imrec_iter_open(&o, &it, &p.err);
    if (st != IMREC_OK)
        return st;
    st = read_epoch(it);
    imrec_iter_close(it);
    return st;
}

/* ---- what is asked
 * -------------------------------------------------------------------------------- */

static int open_files(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (d != NULL && readdir(d) != NULL)
        n++;
    if (d != NULL)
        closedir(d);
    return n;
}

/* Nothing is under a final name that is not as it is to be. */
static void check_names(const char *call, long n)
{
    struct disk_image *now = disk_image_read(tmp_path(&p.dir, "o"));
    for (int i = 0; i < now->count; i++) {
        const char *name = now->files[i].name;
        const size_t length = strlen(name);
        if (length < 5 || strcmp(name + length - 5, ".part") != 0)
            ck_assert_msg(disk_image_same(now, whole, name), "%s, call %ld: %s is not whole", call,
                          n, name);
    }
    disk_image_free(now);
}

static void check_whole(const char *call, long n)
{
    struct disk_image *now = disk_image_read(tmp_path(&p.dir, "o"));
    const char *name = disk_image_differs(now, whole);
    ck_assert_msg(name == NULL, "%s, call %ld: %s differs", call, n, name);
    disk_image_free(now);
}

/* The sentence names a file of the test, and a reason. */
static void check_error(enum imrec_status st, const char *call, long n)
{
    ck_assert_msg(st == IMREC_ERR_IO || st == IMREC_ERR_NO_MEMORY || st == IMREC_ERR_DATA ||
                      st == IMREC_ERR_ARGUMENT,
                  "%s, call %ld: status %d, %s", call, n, (int)st, p.err.message);
    ck_assert_msg(strstr(p.err.message, p.dir.path) != NULL || st == IMREC_ERR_NO_MEMORY ||
                      strstr(p.err.message, ".jpg") != NULL,
                  "%s, call %ld: no file in: %s", call, n, p.err.message);
    ck_assert_msg(strchr(p.err.message, '\n') == NULL, "%s: not one line", p.err.message);
}

typedef enum imrec_status run_fn(void);

/* A file or folder that could not be read is skipped and counted; then the set is another one. What
 * could not be removed in the end stays, under its temporary name. */
static void check_packed(run_fn *run, enum imrec_status st, const char *call, long n)
{
    if (st == IMREC_OK && p.result.packed < MADE_GOOD) {
        ck_assert_msg(p.result.skipped > 0, "%s, call %ld: images are missing", call, n);
        return;
    }
    check_names(call, n);
    if (st != IMREC_OK) {
        p.o.resume = true;
        ck_assert_msg(run() == IMREC_OK, "%s, call %ld, resumed: %s", call, n, p.err.message);
        p.o.resume = begun != NULL;
    }
    (void)remove(tmp_path(&p.dir, "o/b.lock.part"));
    (void)remove(tmp_path(&p.dir, "o/b.journal.part"));
    check_whole(call, n);
}

/* The n-th call fails, for every n; `again` makes the folder as it is before. */
static void torture(run_fn *run, int code, void (*again)(void),
                    void (*check)(run_fn *run, enum imrec_status st, const char *call, long n))
{
    long failures = 0, skips = 0, n = 1;
    for (;; n++) {
        again();
        const long live = imrec_alloc_live();
        const int files = open_files();
        failing_call(n, code);
        const enum imrec_status st = run();
        const char *call = failed_call();
        failing_call(0, 0);
        if (call == NULL)
            break;
        ck_assert_msg(imrec_alloc_live() == live, "%s, call %ld: memory leaks", call, n);
        ck_assert_msg(open_files() == files, "%s, call %ld: a file stays open", call, n);
        failures += st != IMREC_OK;
        skips += st == IMREC_OK && p.result.packed < MADE_GOOD;
        if (st != IMREC_OK)
            check_error(st, call, n);
        check(run, st, call, n);
    }
    printf("%ld calls failed in turn with %s, %ld of them made the run fail, %ld cost an image or "
           "a folder\n",
           n - 1, strerror(code), failures, skips);
    ck_assert_int_gt(failures, 5);
}

/* ---- before each
 * ------------------------------------------------------------------------------------ */

static void write_folder(const struct disk_image *image)
{
    static const struct disk_image empty;
    disk_image_write(image != NULL ? image : &empty, tmp_path(&p.dir, "o"));
}

static void with_nothing(void)
{
    write_folder(NULL);
}

static void with_begun(void)
{
    write_folder(begun);
}

static void with_whole(void)
{
    write_folder(whole);
}

static void setup(void)
{
    tmp_in_memory();
    packing_make(&p, true);
    make_folder(&p.dir, "o");
    p.o.threads = 1;
    p.o.shards = 2;
    begun = NULL;
    ck_assert_int_eq(run_pack(), IMREC_OK);
    whole = disk_image_read(tmp_path(&p.dir, "o"));
}

static void teardown(void)
{
    disk_image_free(whole);
    packing_end(&p);
}

CASE(.timeout = 60, .setup = setup, .teardown = teardown)

static const int codes[] = {EIO, EINTR, ENOSPC, ENOMEM};

/* The others where there is time. */
static bool has_time(int i)
{
    return i < 1 || getenv("IMREC_TORTURE_ALL") != NULL;
}

LOOP_TEST(packing, 0, COUNT(codes))
{
    if (has_time(_i))
        torture(run_pack, codes[_i], with_nothing, check_packed);
}

/* What an interrupted run left: an image that cannot be packed ends it after the first shard. */
static void leave_begun(void)
{
    with_nothing();
    p.o.max_skipped = "2";
    ck_assert_int_eq(run_pack(), IMREC_ERR_DATA);
    p.o.max_skipped = "";
    begun = disk_image_read(tmp_path(&p.dir, "o"));
    p.o.resume = true;
}

LOOP_TEST(resuming, 0, COUNT(codes))
{
    if (!has_time(_i))
        return;
    leave_begun();
    torture(run_pack, codes[_i], with_begun, check_packed);
    disk_image_free(begun);
}

static void check_kept(run_fn *run, enum imrec_status st, const char *call, long n)
{
    (void)run, (void)st;
    check_whole(call, n);
}

LOOP_TEST(verifying, 0, COUNT(codes))
{
    if (has_time(_i))
        torture(run_verify, codes[_i], with_whole, check_kept);
}

static uint64_t all_labels;

/* What was delivered is right: all of it, or a run that says that it is not. */
static void check_read(run_fn *run, enum imrec_status st, const char *call, long n)
{
    (void)run;
    ck_assert_msg(st != IMREC_OK || labels == all_labels, "%s, call %ld: records are missing", call,
                  n);
    check_whole(call, n);
}

LOOP_TEST(reading_an_epoch, 0, COUNT(codes))
{
    with_whole();
    ck_assert_msg(run_read() == IMREC_OK, "%s", p.err.message);
    all_labels = labels;
    ck_assert_uint_ne(all_labels, 0);
    if (has_time(_i))
        torture(run_read, codes[_i], with_whole, check_read);
}

/* What a run that is resumed asks memory for; that of the others: test_im2rec_faults,
 * test_dataset_faults, test_loader_faults. */
TEST(resuming_without_memory)
{
    long ended = 0;
    leave_begun();
    for (long n = 0;; n += 1 + n / 60) {
        with_begun();
        const long live = imrec_alloc_live();
        const int files = open_files();
        imrec_alloc_fail_after(n);
        const enum imrec_status st = run_pack();
        const bool failed = imrec_alloc_has_failed();
        imrec_alloc_fail_after(-1);
        ck_assert_msg(imrec_alloc_live() == live, "request %ld: memory leaks", n);
        ck_assert_msg(open_files() == files, "request %ld: a file stays open", n);
        ck_assert_msg(st == IMREC_OK || st == IMREC_ERR_NO_MEMORY, "request %ld: %s", n,
                      p.err.message);
        ended += st != IMREC_OK;
        check_packed(run_pack, st, "memory", n);
        if (!failed)
            break;
    }
    ck_assert_int_gt(ended, 10);
    disk_image_free(begun);
}
