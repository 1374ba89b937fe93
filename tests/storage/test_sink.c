#include "base/alloc.h"
#include "base/clock.h"
#include "base/stop.h"
#include "base/threads.h"
#include "storage/fault.h"
#include "storage/fault_disk.h"
#include "storage/mem.h"
#include "storage/sink.h"
#include "storage/source.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { BIG = 9 << 20 }; /* more than two buffers */

static struct tmpdir dir;
static struct imrec_error err;
static uint8_t *data;

static void setup(void)
{
    dir = tmpdir_make();
    data = malloc(BIG);
    for (size_t i = 0; i < BIG; i++)
        data[i] = (uint8_t)(i * 31 + i / 511);
}

static void teardown(void)
{
    free(data);
    mem_clear();
    fault_forget("test");
    tmpdir_remove(&dir);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

/* "fault://script=test:folder/out.rec", with this script. */
static const char *scripted(const struct fault_script *script)
{
    static char uri[1024];
    snprintf(uri, sizeof(uri), "fault://script=test:%s", tmp_path(&dir, "out.rec"));
    ck_assert_int_eq(fault_set("test", script, &err), IMREC_OK);
    return uri;
}

static void expect_content(const char *uri, size_t n)
{
    uint8_t *p;
    size_t got;
    ck_assert_msg(source_load(uri, BIG, &p, &got, &err) == IMREC_OK, "%s", err.message);
    ck_assert_uint_eq(got, n);
    ck_assert(memcmp(p, data, n) == 0);
    imrec_free(p);
}

/* Appends data[from..BIG) in pieces of many sizes. */
static enum imrec_status append_all(struct sink *s, size_t from)
{
    for (size_t piece = 1; from < BIG; piece = piece * 3 + 1) {
        const size_t n = piece < BIG - from ? piece : BIG - from;
        const enum imrec_status st = sink_append(s, data + from, n, &err);
        if (st != IMREC_OK)
            return st;
        from += n;
    }
    ck_assert_uint_eq(sink_size(s), BIG);
    return IMREC_OK;
}

static enum imrec_status write_all(const char *uri)
{
    struct sink *s;
    enum imrec_status st = sink_open(uri, &s, &err);
    if (st != IMREC_OK)
        return st;
    st = append_all(s, 0);
    if (st == IMREC_OK)
        return sink_commit(s, &err);
    sink_abort(s);
    return st;
}

static bool is_there(const char *uri)
{
    bool there;
    ck_assert_int_eq(sink_exists(uri, &there, &err), IMREC_OK);
    return there;
}

CASE(.timeout = 60, .setup = setup, .teardown = teardown)

TEST(an_object_is_there_after_its_commit_and_not_before)
{
    const char *uris[] = {tmp_path(&dir, "plain.rec"), "mem://out",
                          scripted(&(struct fault_script){.short_bytes = 70000, .interrupt = 3})};
    for (size_t i = 0; i < 3; i++) {
        struct sink *s;
        ck_assert_int_eq(sink_open(uris[i], &s, &err), IMREC_OK);
        ck_assert_int_eq(append_all(s, 0), IMREC_OK);
        ck_assert_int_eq(sink_sync(s, &err), IMREC_OK);
        ck_assert(!is_there(uris[i]));
        ck_assert_int_eq(sink_commit(s, &err), IMREC_OK);
        ck_assert(is_there(uris[i]));
        expect_content(uris[i], BIG);
        ck_assert_int_eq(sink_remove(uris[i], &err), IMREC_OK);
        ck_assert(!is_there(uris[i]));
        ck_assert_int_eq(sink_remove(uris[i], &err), IMREC_OK);
    }
    ck_assert_int_eq(tmp_size(tmp_path(&dir, "plain.rec.part")), -1);
}

TEST(what_was_left_goes_on_where_the_resume_says)
{
    const char *uris[] = {tmp_path(&dir, "plain.rec"), "mem://out"};
    for (size_t i = 0; i < 2; i++) {
        struct sink *s;
        ck_assert_int_eq(sink_resume(uris[i], 0, &s, &err), IMREC_ERR_IO); /* nothing there */
        ck_assert_int_eq(sink_open(uris[i], &s, &err), IMREC_OK);
        ck_assert_int_eq(sink_append(s, data, 5000, &err), IMREC_OK);
        sink_leave(s);
        ck_assert_int_eq(sink_resume(uris[i], 5001, &s, &err), IMREC_ERR_IO);
        ck_assert_msg(strstr(err.message, "has 5000 bytes; resuming needs the first 5001"), "%s",
                      err.message);
        ck_assert_int_eq(sink_resume(uris[i], 1234, &s, &err), IMREC_OK);
        ck_assert_uint_eq(sink_size(s), 1234);
        ck_assert_int_eq(append_all(s, 1234), IMREC_OK);
        ck_assert_int_eq(sink_finish(s, &err), IMREC_OK);
        ck_assert(!is_there(uris[i]));
        ck_assert_int_eq(sink_publish(uris[i], &err), IMREC_OK);
        expect_content(uris[i], BIG);
    }
}

TEST(an_object_can_get_another_final_name)
{
    const char *uris[][2] = {
        {tmp_path(&dir, "a-00000.rec"), tmp_path(&dir, "a-00000-of-00001.rec")},
        {"mem://a-00000", "mem://b"}};
    for (size_t i = 0; i < 2; i++) {
        struct sink *s;
        char part[600];
        snprintf(part, sizeof(part), "%s.part", uris[i][0]);
        ck_assert_int_eq(sink_open(uris[i][0], &s, &err), IMREC_OK);
        ck_assert_int_eq(append_all(s, 0), IMREC_OK);
        ck_assert_int_eq(sink_finish(s, &err), IMREC_OK);
        expect_content(part, BIG);
        ck_assert_int_eq(sink_publish_as(uris[i][0], uris[i][1], &err), IMREC_OK);
        ck_assert(!is_there(uris[i][0]) && !is_there(part));
        expect_content(uris[i][1], BIG);
        ck_assert_int_eq(sink_publish_as(uris[i][0], uris[1 - i][0], &err), IMREC_ERR_ARGUMENT);
        ck_assert_int_eq(sink_publish(uris[i][0], &err), IMREC_ERR_IO); /* nothing there */
    }
}

TEST(an_aborted_object_leaves_nothing)
{
    struct sink *s;
    ck_assert_int_eq(sink_open(tmp_path(&dir, "a"), &s, &err), IMREC_OK);
    ck_assert_int_eq(append_all(s, 0), IMREC_OK);
    sink_abort(s);
    ck_assert_int_eq(tmp_size(tmp_path(&dir, "a")), -1);
    ck_assert_int_eq(tmp_size(tmp_path(&dir, "a.part")), -1);
    sink_abort(NULL);
    sink_leave(NULL);
}

static const struct {
    struct fault_script script;
    const char *says;
    int code;
} faults[] = {
    {{.space = 1000000}, "out.rec.part: cannot write at byte 1000000: No space left", 28},
    {{.space = 1}, "out.rec.part: cannot write at byte 1: No space left", 28},
    {{.write_eio = 1}, "out.rec.part: cannot write at byte 0: Input/output error", 5},
    {{.write_eio = 2}, "out.rec.part: cannot write at byte", 5},
    {{.sync_eio = 1}, "out.rec.part: cannot make it durable: Input/output error", 5},
    {{.rename_eio = 1}, "out.rec: cannot take its final name: Input/output error", 5},
    {{.sync_eio = 2}, "out.rec.part: cannot make its name durable: Input/output error", 5},
    {{.sync_eio = 3}, "out.rec: cannot make its name durable: Input/output error", 5},
};

LOOP_TEST(nothing_stands_under_the_final_name_after_a_failure, 0, COUNT(faults))
{
    const char *uri = scripted(&faults[_i].script);
    ck_assert_int_eq(write_all(uri), IMREC_ERR_IO);
    ck_assert_msg(strstr(err.message, faults[_i].says) != NULL, "%s", err.message);
    ck_assert_int_eq(err.sys_errno, faults[_i].code);
    ck_assert_int_eq(tmp_size(tmp_path(&dir, "out.rec")), -1);
    scripted(&(struct fault_script){0});
    ck_assert_int_eq(write_all(uri), IMREC_OK);
    expect_content(tmp_path(&dir, "out.rec"), BIG);
}

TEST(every_single_call_that_fails_is_reported) /* by its number */
{
    uint64_t failed = 0;
    for (uint64_t call = 1;; call++) {
        const char *uri = scripted(&(struct fault_script){.call_eio = call});
        const enum imrec_status st = write_all(uri);
        if (st == IMREC_OK)
            break;
        ck_assert_int_eq(st, IMREC_ERR_IO);
        ck_assert_int_eq(tmp_size(tmp_path(&dir, "out.rec")), -1);
        failed = call;
    }
    ck_assert_uint_ge(failed, 5); /* two writes, sync, rename, sync */
}

TEST(after_a_failed_write_no_commit_succeeds)
{
    struct sink *s;
    const char *uri = scripted(&(struct fault_script){.write_eio = 1});
    ck_assert_int_eq(sink_open(uri, &s, &err), IMREC_OK);
    ck_assert_int_eq(sink_append(s, data, BIG, &err), IMREC_ERR_IO);
    ck_assert_int_eq(sink_append(s, data, 10, &err), IMREC_ERR_IO);
    ck_assert_ptr_nonnull(strstr(err.message, "an earlier write to it has failed"));
    ck_assert_int_eq(sink_commit(s, &err), IMREC_ERR_IO);
    ck_assert_int_eq(tmp_size(tmp_path(&dir, "out.rec")), -1);
}

LOOP_TEST(a_write_that_fails_behind_the_back_is_told_before_anything_is_committed, 1, 4)
{
    struct sink *s;
    const char *uri = scripted(&(struct fault_script){.write_eio = (uint64_t)_i});
    enum imrec_status st = IMREC_OK;
    ck_assert_int_eq(sink_open(uri, &s, &err), IMREC_OK);
    for (size_t from = 0; from + 100000 <= BIG && st == IMREC_OK; from += 100000)
        st = sink_append(s, data + from, 100000, &err);
    if (st == IMREC_OK)
        st = sink_sync(s, &err);
    ck_assert_int_eq(st, IMREC_ERR_IO);
    ck_assert_ptr_nonnull(strstr(err.message, "out.rec.part: cannot write at byte"));
    ck_assert_int_eq(sink_commit(s, &err), IMREC_ERR_IO);
    ck_assert_int_eq(tmp_size(tmp_path(&dir, "out.rec")), -1);
}

TEST(only_a_regular_file_is_replaced)
{
    struct sink *s;
    ck_assert_int_eq(mkdir(tmp_path(&dir, "folder"), 0700), 0);
    ck_assert_int_eq(mkfifo(tmp_path(&dir, "pipe"), 0600), 0);
    ck_assert_int_eq(mkfifo(tmp_path(&dir, "b.part"), 0600), 0);
    ck_assert_int_eq(sink_open(tmp_path(&dir, "folder"), &s, &err), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(err.message, "a directory, not a regular file"));
    ck_assert_int_eq(sink_open(tmp_path(&dir, "pipe"), &s, &err), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(sink_open(tmp_path(&dir, "b"), &s, &err), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(sink_open("/dev/null", &s, &err), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(sink_open("/nowhere/a", &s, &err), IMREC_ERR_IO);
    ck_assert_str_eq(err.message,
                     "/nowhere/a.part cannot be made: the folder /nowhere does not exist");
    ck_assert_int_eq(err.sys_errno, ENOENT);
    ck_assert_int_eq(sink_open("ftp://a/b", &s, &err), IMREC_ERR_UNSUPPORTED);
    ck_assert_ptr_null(s);
}

TEST(no_allocation_that_fails_leaks_or_leaves_a_file)
{
    for (long n = 0;; n++) {
        imrec_alloc_fail_after(n);
        const enum imrec_status st = write_all(tmp_path(&dir, "a"));
        imrec_alloc_fail_after(-1);
        ck_assert_int_eq(imrec_alloc_live(), 0);
        if (st == IMREC_OK)
            break;
        ck_assert_int_eq(st, IMREC_ERR_NO_MEMORY);
        ck_assert_int_eq(tmp_size(tmp_path(&dir, "a")), -1);
        ck_assert_int_lt(n, 100);
    }
}

/* ---- asked to end ------------------------------------------------------------------------- */

static void *ask_soon(void *arg)
{
    disk_sleep_until(clock_ns() + 300000000u);
    stop_ask(arg);
    return NULL;
}

/* 60 MB for a disk that takes 3 MB a second. */
TEST(a_long_write_or_sync_ends_soon_after_it_is_asked_to)
{
    const struct fault_script slow = {.push_kb_per_s = 3000};
    struct stop stop = {0};
    struct thread asker = {0};
    struct sink *s;
    ck_assert_int_eq(sink_open(scripted(&slow), &s, &err), IMREC_OK);
    sink_stop_with(s, &stop);
    for (int i = 0; i < 7; i++)
        ck_assert_int_eq(sink_append(s, data, BIG, &err), IMREC_OK);
    ck_assert_int_eq(thread_start(&asker, "asker", ask_soon, &stop, &err), IMREC_OK);
    const uint64_t begin = clock_ns();
    ck_assert_int_eq(sink_sync(s, &err), IMREC_ERR_CANCELLED);
    ck_assert_uint_lt(clock_ns() - begin, (uint64_t)5000000000); /* 1 s of grace, one piece */
    ck_assert_uint_gt(clock_ns() - begin, 1000000000);
    thread_join(&asker);
    ck_assert_int_eq(sink_sync(s, &err), IMREC_ERR_IO); /* it may have holes now */
    sink_leave(s);
    ck_assert_int_eq(fault_counts("test").syncs, 0);
    ck_assert_int_eq(sink_open(scripted(&slow), &s, &err), IMREC_OK);
    sink_stop_with(s, &stop);
    ck_assert_int_eq(sink_append(s, data, BIG, &err), IMREC_ERR_CANCELLED); /* it is overdue */
    sink_abort(s);
}

TEST(what_is_pushed_in_pieces_is_whole)
{
    const struct fault_script healthy = {0},
                              broken = {.sync_eio = 3}; /* the second is of the folder */
    const struct stop stop = {0};
    struct sink *s;
    for (int fails = 0; fails < 2; fails++) {
        ck_assert_int_eq(sink_open(scripted(fails ? &broken : &healthy), &s, &err), IMREC_OK);
        sink_stop_with(s, &stop);
        for (int i = 0; i < 5; i++)
            ck_assert_int_eq(sink_append(s, data, BIG, &err), IMREC_OK);
        ck_assert_int_eq(sink_sync(s, &err), IMREC_OK);
        for (int i = 0; i < 5; i++)
            ck_assert_int_eq(sink_append(s, data, BIG, &err), IMREC_OK);
        ck_assert_int_eq(sink_finish(s, &err), fails ? IMREC_ERR_IO : IMREC_OK);
    }
    const char *part = tmp_path(&dir, "out.rec.part");
    ck_assert_int_eq(tmp_size(part), 10L * BIG);
}
