/* A run over items that fails anywhere leaves nothing: storage that fails at every call in turn, a
 * disk of every size, memory that runs out at every request. */
#include "base/alloc.h"
#include "storage/fault.h"
#include "tests/support/itemset.h"
#include "tests/support/packing_faults.h"
#include "tests/support/suite.h"

#include <fcntl.h>
#include <unistd.h>

static struct packing p;
static struct itemset s;

static void setup(void)
{
    packing_make(&p, false);
    p.o.threads = 2;
    p.o.pass_through = true;
    p.o.resize = 0;
    itemset_make(&s, &p, ITEM_MIXED);
}

static void teardown(void)
{
    packing_end(&p);
}

static const char *scripted(const struct fault_script *script)
{
    return packing_scripted(&p, "b.rec", script);
}

static const char *const names[] = {"ant", "bee", "cow"};

static void choose_set(int i)
{
    s.source.classes = names;
    s.source.class_count = i % 3 == 0 ? COUNT(names) : 0;
    p.o.shard_size = i % 2 * 9000;
    p.o.format = i / 2 % 2 != 0 ? IMREC_PACK_CBF : IMREC_PACK_REC;
    p.o.cbf_chunk = 5000;
}

CASE(.timeout = 250, .setup = setup, .teardown = teardown)

LOOP_TEST(any_call_that_fails_leaves_nothing, 0, 16) /* _i: what fails, and the set */
{
    static const size_t fields[] = {
        offsetof(struct fault_script, write_eio), offsetof(struct fault_script, sync_eio),
        offsetof(struct fault_script, rename_eio), offsetof(struct fault_script, call_eio)};
    struct fault_script script = {0};
    uint64_t n = 1;
    choose_set(_i / 4);
    for (;; n++) {
        memcpy((char *)&script + fields[_i % 4], &n, sizeof(n));
        if (itemset_run(&s, scripted(&script)) == IMREC_OK)
            break;
        ck_assert_msg(p.err.status == IMREC_ERR_IO, "call %d: %s", (int)n, p.err.message);
        ck_assert_msg(files_but(&p, NULL) == 0, "call %d: %s", (int)n, p.err.message);
    }
    ck_assert_uint_ge(n, 3);
    ck_assert_uint_eq(p.result.packed, MADE_GOOD);
}

static enum imrec_status
next_and_in_the_way(void *user, struct imrec_pack_item *item, struct imrec_error *err)
{
    const enum imrec_status st = itemset_next(user, item, err);
    if (st == IMREC_END)
        make_folder(&p.dir, "b.idx");
    return st;
}

/* It lies where the set's own would; another file cannot get its name. */
TEST(a_class_list_that_was_given_is_left_alone)
{
    choose_set(0);
    s.source.next = next_and_in_the_way;
    tmp_write(&p.dir, "b.classes.txt", "ant\nbee\ncow\n", 12);
    p.o.classes = kept_path(&p, "b.classes.txt");
    ck_assert_int_eq(itemset_run(&s, tmp_path(&p.dir, "b.rec")), IMREC_ERR_IO);
    ck_assert_msg(strstr(p.err.message, "b.idx") != NULL, "%s", p.err.message);
    ck_assert_int_eq(tmp_size(tmp_path(&p.dir, "b.classes.txt")), 12);
    ck_assert_int_eq(files_but(&p, NULL), 2);
}

LOOP_TEST(a_full_disk_leaves_nothing, 0, 4) /* _i: the set */
{
    struct fault_script script = {0};
    choose_set(_i);
    for (script.space = 1;; script.space += 2003) {
        if (itemset_run(&s, scripted(&script)) == IMREC_OK)
            break;
        ck_assert_msg(strstr(p.err.message, "No space left") != NULL, "%s", p.err.message);
        ck_assert_int_eq(files_but(&p, NULL), 0);
    }
    ck_assert_uint_gt(script.space, 20000);
}

TEST(a_full_disk_keeps_the_old_set)
{
    struct fault_script script = {0};
    ck_assert_int_eq(itemset_run(&s, tmp_path(&p.dir, "a.rec")), IMREC_OK);
    ck_assert_int_eq(itemset_run(&s, tmp_path(&p.dir, "b.rec")), IMREC_OK);
    p.o.force = true;
    script.space = 10000;
    ck_assert_int_eq(itemset_run(&s, scripted(&script)), IMREC_ERR_IO);
    expect_same_file(&p, "a", "b", ".rec");
    expect_same_file(&p, "a", "b", ".idx");
    expect_same_manifest(&p, "a", "b");
    ck_assert_int_eq(files_but(&p, NULL), 10);
}

/* The n-th request fails, for every n: the run's own ends it, an image's is tried again. */
LOOP_TEST(memory_that_runs_out_leaves_nothing_or_is_tried_again, 0, 5) /* _i: the set */
{
    long ended = 0, tried_again = 0;
    const int in = dup(STDIN_FILENO); /* as whoever packs may have it */
    choose_set(_i);
    p.o.shared_tables = _i == 4;
    p.o.pass_through = _i != 4;
    s.source.class_count = COUNT(names);
    p.o.threads = 1;
    p.o.force = true;
    for (long n = 0;; n += 1 + n / 60) {
        const long live = imrec_alloc_live();
        imrec_alloc_fail_after(n);
        const enum imrec_status st = itemset_run(&s, tmp_path(&p.dir, "b.rec"));
        const bool failed = imrec_alloc_has_failed();
        imrec_alloc_fail_after(-1);
        ck_assert_int_eq(imrec_alloc_live(), live);
        ck_assert_int_eq(fcntl(STDIN_FILENO, F_GETFD) >= 0, in >= 0);
        if (st == IMREC_OK)
            ck_assert_uint_eq(p.result.packed, MADE_GOOD);
        if (!failed)
            break;
        tried_again += st == IMREC_OK;
        ended += st != IMREC_OK;
        ck_assert_msg(st == IMREC_OK || st == IMREC_ERR_NO_MEMORY, "request %ld: %d, %s", n,
                      (int)st, p.err.message);
        if (st != IMREC_OK && tried_again == 0)
            ck_assert_int_eq(files_but(&p, NULL), 0);
    }
    (void)close(in);
    ck_assert_int_gt(ended, 10);
    ck_assert_int_gt(tried_again, 10);
}
