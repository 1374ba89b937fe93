/* tests/storage/test_webhdfs_write.c - files of HDFS that are written: each byte once, the final
 * name at the end, one writer at a time. */
#include "storage/hdfs/hdfs_mark.h"
#include "storage/lock.h"
#include "storage/sink.h"
#include "tests/support/hdfs_case.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_there(const char *uri)
{
    bool there;
    ck_assert_int_eq(sink_exists(uri, &there, &err), IMREC_OK);
    return there;
}

CASE(.timeout = 120, .setup = setup, .teardown = teardown)

static void check_file(const char *path, size_t n)
{
    size_t got = 0;
    uint8_t *p = fake_hdfs_get(server, path, &got);
    ck_assert_ptr_nonnull(p);
    ck_assert_uint_eq(got, n);
    ck_assert_int_eq(memcmp(p, data, n), 0);
    free(p);
}

static bool has(const char *path)
{
    size_t n;
    uint8_t *p = fake_hdfs_get(server, path, &n);
    free(p);
    return p != NULL;
}

static void must(enum imrec_status st)
{
    ck_assert_msg(st == IMREC_OK, "%s", err.message);
}

static struct sink *begun(const char *uri)
{
    struct sink *s;
    must(sink_open(uri, &s, &err));
    return s;
}

LOOP_TEST(an_object_becomes_real_at_commit, 0, 2)
{
    server->plain = _i == 1;
    fake_hdfs_put(server, "/out/x.rec.part", "old", 3);
    struct sink *s = begun(at("/out/x.rec"));
    must(sink_append(s, data, 100, &err));
    must(sink_sync(s, &err));
    check_file("/out/x.rec.part", 100);
    must(sink_append(s, data + 100, BYTES - 100, &err));
    ck_assert(!is_there(at("/out/x.rec")));
    must(sink_commit(s, &err));
    check_file("/out/x.rec", BYTES);
    ck_assert(!has("/out/x.rec.part"));
    ck_assert(is_there(at("/out/x.rec")));
    ck_assert(!is_there(at("/out")));
}

LOOP_TEST(what_has_the_final_name_is_replaced, 0, 2)
{
    server->plain = _i == 1; /* it is removed before */
    fake_hdfs_put(server, "/out/x", "old", 3);
    struct sink *s = begun(at("/out/x"));
    must(sink_append(s, data, SMALL, &err));
    must(sink_commit(s, &err));
    check_file("/out/x", SMALL);
}

TEST(a_folder_of_the_final_name_is_not_replaced)
{
    fake_hdfs_put(server, "/out/x/y", "old", 3);
    struct sink *s = begun(at("/out/x"));
    ck_assert_int_eq(sink_commit(s, &err), IMREC_ERR_IO);
    ck_assert_int_eq(err.sys_errno, EISDIR);
    ck_assert_int_eq(sink_remove(at("/out/x"), &err), IMREC_ERR_IO);
    check_says("/out/x: is a folder");
}

TEST(what_an_append_lost_is_appended_once)
{
    struct sink *s = begun(at("/out/x"));
    must(sink_append(s, data, SMALL, &err));
    must(sink_sync(s, &err));
    server->lost = 1;
    must(sink_append(s, data + SMALL, SMALL, &err));
    must(sink_sync(s, &err));
    server->half_appends = 1;
    server->recovers = 2;
    must(sink_append(s, data + 2 * SMALL, SMALL, &err));
    must(sink_commit(s, &err));
    check_file("/out/x", 3 * SMALL);
    ck_assert_int_eq(server->recovers, 0);
}

TEST(a_cluster_without_datanodes_is_waited_for)
{
    refuse_next("CREATE", 403, "IOException",
                "Failed to find datanode, suggest to check cluster health.", 2);
    struct sink *s = begun(at("/out/x"));
    must(sink_append(s, data, SMALL, &err));
    refuse_next("APPEND", 403, "IOException",
                "File /out/x.part could only be written to 0 of the 1 minReplication nodes", 2);
    must(sink_commit(s, &err));
    check_file("/out/x", SMALL);
}

TEST(datanodes_that_end_in_an_append_are_waited_for)
{
    struct sink *s = begun(at("/out/x"));
    must(sink_append(s, data, SMALL, &err));
    must(sink_sync(s, &err));
    server->bad_nodes = 2;
    server->recovers = 2;
    must(sink_append(s, data + SMALL, SMALL, &err));
    must(sink_commit(s, &err));
    check_file("/out/x", 2 * SMALL);
    ck_assert_int_eq(server->bad_nodes, 0);
}

/* What a DataNode says of a NameNode that is gone. */
TEST(connections_between_the_servers_are_waited_for)
{
    refuse_next("APPEND", 403, "ConnectException", "Call From a to b failed", 2);
    struct sink *s = begun(at("/out/x"));
    must(sink_append(s, data, SMALL, &err));
    must(sink_commit(s, &err));
    check_file("/out/x", SMALL);
}

LOOP_TEST(a_rename_whose_answer_is_lost_was_done, 0, 2)
{
    server->plain = _i == 1;
    struct sink *s = begun(at("/out/x"));
    must(sink_append(s, data, SMALL, &err));
    server->lost_renames = 1;
    must(sink_commit(s, &err));
    check_file("/out/x", SMALL);
}

TEST(a_standby_that_says_where_to_write_is_skipped)
{
    server->standby[0] = true;
    struct sink *s = begun("hdfs://ns/out/x");
    must(sink_append(s, data, SMALL, &err));
    must(sink_commit(s, &err));
    check_file("/out/x", SMALL);
    ck_assert_int_ge(fake_hdfs_count(server, "CREATE", 0), 1);
}

TEST(a_failover_while_writing_is_followed)
{
    struct sink *s = begun("hdfs://ns/out/x");
    must(sink_append(s, data, SMALL, &err));
    must(sink_sync(s, &err));
    server->standby[0] = true;
    must(sink_append(s, data + SMALL, SMALL, &err));
    must(sink_sync(s, &err));
    server->standby[0] = false;
    server->standby[1] = true;
    must(sink_commit(s, &err));
    check_file("/out/x", 2 * SMALL);
}

TEST(a_resume_keeps_the_first_bytes)
{
    struct sink *s = begun(at("/out/x"));
    must(sink_append(s, data, SMALL, &err));
    sink_leave(s);
    check_file("/out/x.part", SMALL);
    server->recovers = 3; /* its writer was killed */
    must(sink_resume(at("/out/x"), 1000, &s, &err));
    must(sink_append(s, data + 1000, 4000, &err));
    must(sink_commit(s, &err));
    check_file("/out/x", SMALL);
}

TEST(a_resume_of_fewer_bytes_is_refused)
{
    struct sink *s;
    fake_hdfs_put(server, "/out/x.part", data, 10);
    ck_assert_int_eq(sink_resume(at("/out/x"), 11, &s, &err), IMREC_ERR_IO);
    check_says("/out/x.part: has 10 bytes; resuming needs the first 11");
    ck_assert_int_eq(sink_resume(at("/out/none"), 0, &s, &err), IMREC_ERR_IO);
    ck_assert_int_eq(err.sys_errno, ENOENT);
}

TEST(a_server_that_cannot_truncate_resumes_whole_files)
{
    struct sink *s;
    fake_hdfs_put(server, "/out/x.part", data, 10);
    refuse_next("TRUNCATE", 400, "IllegalArgumentException", "Invalid value of op", 2);
    must(sink_resume(at("/out/x"), 10, &s, &err));
    must(sink_append(s, data + 10, 10, &err));
    must(sink_commit(s, &err));
    check_file("/out/x", 20);
    fake_hdfs_put(server, "/out/x.part", data, 10);
    ck_assert_int_eq(sink_resume(at("/out/x"), 9, &s, &err), IMREC_ERR_IO);
    check_says("IllegalArgumentException");
}

TEST(an_abort_leaves_nothing)
{
    struct sink *s = begun(at("/out/x"));
    must(sink_append(s, data, SMALL, &err));
    sink_abort(s);
    ck_assert(!has("/out/x.part") && !has("/out/x"));
    fake_hdfs_put(server, "/out/x", data, SMALL);
    must(sink_remove(at("/out/x"), &err));
    ck_assert(!has("/out/x"));
    must(sink_remove(at("/out/x"), &err));
}

TEST(what_is_refused_is_named_and_not_tried_for_ever)
{
    struct sink *s;
    refuse_next("CREATE", 403, "AccessControlException", "Permission denied", 1);
    ck_assert_int_eq(sink_open(at("/out/x"), &s, &err), IMREC_ERR_IO);
    check_says("/out/x.part: the server answers 403 (AccessControlException): Permission denied");
    ck_assert_int_eq(err.sys_errno, EACCES);
    s = begun(at("/out/x"));
    must(sink_append(s, data, SMALL, &err));
    refuse_next("APPEND", 403, "DSQuotaExceededException", "The quota is exceeded", 1);
    ck_assert_int_eq(sink_sync(s, &err), IMREC_ERR_IO);
    ck_assert_int_eq(err.sys_errno, EDQUOT);
    sink_abort(s);
}

static const char *const bad_locations[] = {"{\"Location\":\"ftp://127.0.0.1/x\"}",
                                            "{\"Location\":7}", "{\"Location\":\"/x\"}", "{}"};
LOOP_TEST(bytes_go_nowhere_but_to_http, 0, COUNT(bad_locations))
{
    struct sink *s;
    fake_hdfs_say(server, "CREATE", 200, bad_locations[_i], 1);
    ck_assert_int_ne(sink_open(at("/out/x"), &s, &err), IMREC_OK);
    ck_assert_int_eq(fake_hdfs_count(server, "CREATE", -1), 1);
}

/* ---- locks ----------------------------------------------------------------------------------- */

CASE(.timeout = 120, .setup = setup, .teardown = teardown)

TEST(a_name_has_one_holder)
{
    struct lock *a, *b;
    must(lock_take(at("/out/x"), &a, &err));
    ck_assert(has("/out/x.part"));
    ck_assert_int_eq(lock_take(at("/out/x"), &b, &err), IMREC_ERR_IO);
    ck_assert_int_eq(err.sys_errno, EBUSY);
    check_says("/out/x.part is held by process ");
    lock_drop(a);
    ck_assert(!has("/out/x.part"));
    must(lock_take(at("/out/x"), &b, &err));
    lock_drop(b);
}

TEST(a_dead_holder_of_this_machine_is_no_holder)
{
    struct lock *l;
    const pid_t child = fork();
    if (child == 0)
        _exit(lock_take(at("/out/x"), &l, NULL) == IMREC_OK ? 0 : 1);
    int status = 1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert(has("/out/x.part"));
    must(lock_take(at("/out/x"), &l, &err));
    lock_drop(l);
    ck_assert(!has("/out/x.part"));
}

TEST(a_holder_elsewhere_stays_one)
{
    static const char line[] = "imrec lock: process 17 on far, begun 5, boot x, space y, turn 0\n";
    struct lock *l;
    fake_hdfs_put(server, "/out/x.part", line, strlen(line));
    ck_assert_int_eq(lock_take(at("/out/x"), &l, &err), IMREC_ERR_IO);
    ck_assert_int_eq(err.sys_errno, EBUSY);
    check_says("is held by process 17 on far, which writes");
    ck_assert(has("/out/x.part"));
}

TEST(a_file_of_somebody_else_is_in_the_way)
{
    struct lock *l;
    fake_hdfs_put(server, "/out/x.part", "hello", 5);
    ck_assert_int_eq(lock_take(at("/out/x"), &l, &err), IMREC_ERR_ARGUMENT);
    check_says("/out/x.part is in the way, and imrec did not write it");
    ck_assert(has("/out/x.part"));
}

TEST(a_process_number_means_nothing_elsewhere)
{
    ck_assert_int_eq(hdfs_mark_judge("hello"), HDFS_NO_MARK);
    ck_assert_int_eq(hdfs_mark_judge("imrec lock: process 1 on a\n"), HDFS_HELD);
    ck_assert_int_eq(
        hdfs_mark_judge("imrec lock: process 9 on a, begun 1, boot b, space c, turn 0\n"),
        HDFS_HELD);
}
