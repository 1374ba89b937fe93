/* Two that write one set: the second is refused and told so, and the first ends as if alone. */
#include "base/alloc.h"
#include "base/threads.h"
#include "im2rec/set/set_files.h"
#include "imrec/reshape.h"
#include "storage/lock.h"
#include "tests/support/packing_faults.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

static struct packing p;
static char a_rec[512], b_rec[512];

static void setup(void)
{
    packing_make(&p, false);
    p.o.threads = 1;
    snprintf(a_rec, sizeof(a_rec), "%s", tmp_path(&p.dir, "a.rec"));
    snprintf(b_rec, sizeof(b_rec), "%s", tmp_path(&p.dir, "b.rec"));
}

static void teardown(void)
{
    packing_remove(&p);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

/* ---- every way to write the set a ----------------------------------------------------------- */

enum way { PLAIN, FORCE, RESUME, CBF, SHARDS, LIST, APPEND, MERGE, WAYS };

static enum imrec_status merge(struct imrec_error *err, imrec_progress_fn *progress)
{
    struct imrec_reshape_options o;
    struct imrec_reshape_result r;
    const char *uris[] = {b_rec};
    imrec_reshape_options_init(&o);
    o.force = true;
    o.progress = progress;
    return imrec_reshape(uris, 1, a_rec, "merge", &o, &r, err);
}

static enum imrec_status write_a(enum way way, imrec_progress_fn *progress, struct imrec_error *err)
{
    struct imrec_pack_options o = p.o;
    struct imrec_pack_result r;
    char name[512];
    snprintf(name, sizeof(name), "%s/%s", p.dir.path, way == LIST ? "a" : "a.rec");
    const struct imrec_pack_task task = {.root = p.source, .out = name, .progress = progress};
    o.force = way == FORCE;
    o.resume = way == RESUME;
    o.format = way == CBF ? IMREC_PACK_CBF : IMREC_PACK_REC;
    o.shards = way == SHARDS ? 3 : 0;
    o.list = way == LIST;
    if (way == MERGE)
        return merge(err, NULL);
    return way == APPEND ? imrec_append(&task, &o, &r, err) : imrec_pack(&task, &o, &r, err);
}

static int refused;

static void expect_all_refused(void)
{
    for (enum way way = 0; way < WAYS; way++) {
        struct imrec_error err;
        ck_assert_int_eq(write_a(way, NULL, &err), IMREC_ERR_IO);
        ck_assert_int_eq(err.sys_errno, EBUSY);
        ck_assert_msg(strstr(err.message, "/a.lock.part is held by process ") != NULL, "%s",
                      err.message);
        refused++;
    }
}

static bool while_packing(void *user, const struct imrec_progress *progress)
{
    (void)user, (void)progress;
    if (refused == 0)
        expect_all_refused();
    return true;
}

static bool while_reshaping(void *user, const struct imrec_progress *progress)
{
    (void)user, (void)progress;
    if (refused == 0)
        expect_all_refused();
    return true;
}

CASE(.timeout = 120, .setup = setup, .teardown = teardown)

LOOP_TEST(while_a_set_is_packed_nothing_else_writes_it, 0, 3)
{
    static const enum way first[] = {PLAIN, CBF, SHARDS};
    struct imrec_error err = {0};
    ck_assert_int_eq(packing_run(&p, b_rec), IMREC_OK);
    refused = 0;
    ck_assert_msg(write_a(first[_i], while_packing, &err) == IMREC_OK, "%s", err.message);
    ck_assert_int_eq(refused, WAYS);
    ck_assert(!is_there(&p, "a.lock.part"));
    if (first[_i] == PLAIN)
        expect_same_set(&p, "a", "b");
    ck_assert_msg(write_a(first[_i] == CBF ? CBF : FORCE, NULL, &err) != IMREC_ERR_IO, "%s",
                  err.message); /* it is free again */
}

TEST(while_images_are_appended_nothing_else_writes_it)
{
    struct imrec_error err = {0};
    ck_assert_int_eq(packing_run(&p, a_rec), IMREC_OK);
    ck_assert_int_eq(packing_run(&p, b_rec), IMREC_OK);
    refused = 0;
    ck_assert_msg(write_a(APPEND, while_packing, &err) == IMREC_OK, "%s", err.message);
    ck_assert_int_eq(refused, WAYS);
    ck_assert(packing_verifies(&p, a_rec));
    ck_assert(!is_there(&p, "a.lock.part") && !is_there(&p, "a.appended.lock.part"));
}

TEST(while_a_set_is_made_of_sets_nothing_else_writes_it)
{
    struct imrec_error err = {0};
    p.o.augment = "rand_mirror=1";
    p.o.copies = 50; /* progress is told every 1024 records */
    ck_assert_int_eq(packing_run(&p, b_rec), IMREC_OK);
    p.o.augment = "";
    p.o.copies = 1;
    refused = 0;
    ck_assert_msg(merge(&err, while_reshaping) == IMREC_OK, "%s", err.message);
    ck_assert_int_eq(refused, WAYS);
    ck_assert(packing_verifies(&p, a_rec));
    ck_assert(!is_there(&p, "a.lock.part"));
}

TEST(reading_needs_no_lock)
{
    struct lock *l;
    struct imrec_dataset_card card;
    ck_assert_int_eq(packing_run(&p, a_rec), IMREC_OK);
    ck_assert_int_eq(lock_take(tmp_path(&p.dir, "a.lock"), &l, &p.err), IMREC_OK);
    ck_assert(packing_verifies(&p, a_rec));
    ck_assert_int_eq(imrec_dataset_card(a_rec, NULL, NULL, &card, &p.err), IMREC_OK);
    imrec_dataset_card_free(&card);
    lock_drop(l);
}

/* A set and its lists alone have the same one. */
LOOP_TEST(whatever_names_an_output_has_its_lock, 0, 6)
{
    static const char *const names[][2] = {
        {"x", "x.lock.part"},     {"x.rec", "x.lock.part"},
        {"x.lst", "x.lock.part"}, {"x.lst.rec", "x.lst.lock.part"},
        {"lst", "lst.lock.part"}, {".lst", ".lock.part"},
    };
    struct lock *l;
    ck_assert_int_eq(chdir(p.dir.path), 0);
    ck_assert_msg(set_lock(names[_i][0], &l, &p.err) == IMREC_OK, "%s", p.err.message);
    ck_assert(is_there(&p, names[_i][1]));
    lock_drop(l);
    ck_assert_int_eq(chdir("/"), 0);
}

/* ---- at once ------------------------------------------------------------------------------- */

enum { AT_ONCE = 4 };

static bool ends_well(enum imrec_status st, const struct imrec_error *err)
{
    return st == IMREC_OK || (st == IMREC_ERR_IO && err->sys_errno == EBUSY);
}

static void *force_a(void *arg)
{
    struct imrec_error err = {0};
    bool *well = arg;
    *well = ends_well(write_a(FORCE, NULL, &err), &err);
    return NULL;
}

TEST(threads_that_replace_one_set_leave_it_whole)
{
    struct thread threads[AT_ONCE] = {0};
    bool well[AT_ONCE];
    ck_assert_int_eq(packing_run(&p, b_rec), IMREC_OK);
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < AT_ONCE; i++)
            ck_assert_int_eq(thread_start(&threads[i], "packer", force_a, &well[i], &p.err),
                             IMREC_OK);
        for (int i = 0; i < AT_ONCE; i++) {
            thread_join(&threads[i]);
            ck_assert(well[i]);
        }
        expect_same_set(&p, "a", "b");
    }
}

static pid_t packer_process(void)
{
    const pid_t child = fork();
    if (child == 0) {
        execl(IM2REC, "im2rec", "--quiet", "--force", "--resize=32", "--threads=1", p.source, a_rec,
              (char *)NULL);
        _exit(99);
    }
    return child;
}

TEST(processes_that_replace_one_set_leave_it_whole)
{
    pid_t child[AT_ONCE];
    int status, packed = 0;
    ck_assert_int_eq(packing_run(&p, b_rec), IMREC_OK);
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < AT_ONCE; i++)
            child[i] = packer_process();
        for (int i = 0; i < AT_ONCE; i++) {
            ck_assert_int_eq(waitpid(child[i], &status, 0), child[i]);
            ck_assert(WIFEXITED(status) && WEXITSTATUS(status) <= 1);
            packed += WEXITSTATUS(status) == 0;
        }
        expect_same_set(&p, "a", "b");
    }
    ck_assert_int_ge(packed, 5);
}

/* A process that stops in mid-packing and waits there to be killed. */
static bool stop_in_the_middle(void *user, const struct imrec_progress *progress)
{
    if (progress->done < 10)
        return true;
    if (write(*(int *)user, "x", 1) == 1)
        pause();
    return false;
}

TEST(a_packer_that_is_killed_holds_up_nobody)
{
    int ready[2];
    char byte;
    struct imrec_error err = {0};
    ck_assert_int_eq(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        const struct imrec_pack_task task = {
            .root = p.source, .out = a_rec, .progress = stop_in_the_middle, .user = &ready[1]};
        _exit(imrec_pack(&task, &p.o, &p.result, &p.err) == IMREC_OK ? 0 : 99);
    }
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    ck_assert_int_eq(write_a(FORCE, NULL, &err), IMREC_ERR_IO);
    ck_assert_int_eq(err.sys_errno, EBUSY);
    ck_assert(is_there(&p, "a.rec.part")); /* and is not touched */
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    ck_assert(is_there(&p, "a.lock.part"));
    ck_assert_msg(write_a(RESUME, NULL, &err) == IMREC_OK, "%s", err.message);
    ck_assert_int_eq(packing_run(&p, b_rec), IMREC_OK);
    expect_same_set(&p, "a", "b");
    ck_assert(!is_there(&p, "a.lock.part"));
    close(ready[0]);
    close(ready[1]);
}
