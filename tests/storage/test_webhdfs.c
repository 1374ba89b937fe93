/* tests/storage/test_webhdfs.c - files of HDFS: their bytes, or an error that names them, whatever
 * NameNodes and DataNodes do. */
#include "base/alloc.h"
#include "storage/folder.h"
#include "storage/hdfs/hdfs_mark.h"
#include "storage/lock.h"
#include "storage/sink.h"
#include "storage/source.h"
#include "storage/uri_list.h"
#include "tests/support/fake_hdfs.h"
#include "tests/support/http_proxy.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 9 << 20, SMALL = 5000 }; /* several parts; one */

static struct tmpdir dir;
static struct fake_hdfs *server;
static struct imrec_error err;
static uint8_t *data;

/* A service of two NameNodes, and the same as single ones. */
static void write_conf(void)
{
    static const char core[] =
        "<?xml version='1.0'?>\n<configuration>\n<property><name>fs.defaultFS</name>"
        "<value>hdfs://ns</value></property></configuration>\n";
    char site[2048];
    const int n =
        snprintf(site, sizeof(site),
                 "<configuration>\n"
                 "<property><name> dfs.nameservices </name><value>other, ns</value></property>\n"
                 "<property><name>dfs.ha.namenodes.ns</name><value>a,b</value></property>\n"
                 "<property><name>dfs.namenode.http-address.ns.a</name><value>${host.a}:%d</value>"
                 "<final>true</final></property>\n"
                 "<property><name>dfs.namenode.http-address.ns.a</name><value>nowhere:1</value>"
                 "</property>\n"
                 "<property><name>host.a</name><value>127.0.0.1</value></property>\n"
                 "<property><name>dfs.namenode.rpc-address.ns.b</name><value>127.0.0.1:8020</value>"
                 "</property>\n"
                 "<property><name>dfs.namenode.http-address.ns.b</name><value>0.0.0.0:%d</value>"
                 "</property>\n</configuration>\n",
                 server->port[0], server->port[1]);
    tmp_write(&dir, "core-site.xml", core, sizeof(core) - 1);
    tmp_write(&dir, "hdfs-site.xml", site, (size_t)n);
}

static void setup(void)
{
    dir = tmpdir_make();
    data = malloc(BYTES);
    for (size_t i = 0; i < BYTES; i++)
        data[i] = (uint8_t)(i * 131 + i / 257);
    server = fake_hdfs_start();
    fake_hdfs_put(server, "/set/a.rec", data, BYTES);
    fake_hdfs_put(server, "/set/small", data, SMALL);
    fake_hdfs_put(server, "/set/empty", data, 0);
    write_conf();
    setenv("HADOOP_CONF_DIR", dir.path, 1);
    setenv("HADOOP_USER_NAME", "alice b", 1);
    unsetenv("HADOOP_DELEGATION_TOKEN");
}

static void teardown(void)
{
    fake_hdfs_stop(server);
    free(data);
    tmpdir_remove(&dir);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static const char *at_port(int port, const char *path)
{
    static char uri[600];
    snprintf(uri, sizeof(uri), "webhdfs://127.0.0.1:%d%s", port, path);
    return uri;
}

static const char *at(const char *path)
{
    return at_port(server->port[0], path);
}

static struct source *opened(const char *uri)
{
    struct source *s;
    ck_assert_msg(source_open(uri, &s, &err) == IMREC_OK, "%s", err.message);
    return s;
}

static void check_bytes(struct source *s, uint64_t offset, size_t n)
{
    uint8_t *got = malloc(n + 1);
    ck_assert_msg(source_read(s, offset, got, n, &err) == IMREC_OK, "%s", err.message);
    ck_assert_int_eq(memcmp(got, data + offset, n), 0);
    free(got);
}

static void check_says(const char *words)
{
    ck_assert_msg(strstr(err.message, words) != NULL, "%s", err.message);
}

static void check_refused(struct source *s, int code, const char *words)
{
    uint8_t *got = malloc(BYTES);
    err.message[0] = '\0';
    ck_assert_int_eq(source_read(s, 0, got, (size_t)s->size, &err), IMREC_ERR_IO);
    check_says(words);
    ck_assert_int_eq(err.sys_errno, code);
    free(got);
}

static const char refusal[] = "{\"RemoteException\":{\"exception\":\"%s\",\"javaClassName\":\"x\","
                              "\"message\":\"%s\"}}";

static void
refuse_next(const char *op, int status, const char *exception, const char *message, int times)
{
    char text[2048];
    snprintf(text, sizeof(text), refusal, exception, message);
    fake_hdfs_say(server, op, status, text, times);
}

/* ---- reading --------------------------------------------------------------------------------- */

CASE(.timeout = 120, .setup = setup, .teardown = teardown)

TEST(every_range_has_its_bytes)
{
    static const struct {
        uint64_t offset;
        size_t n;
    } ranges[] = {{0, BYTES}, {0, 1}, {BYTES - 1, 1},      {(4 << 20) - 1, 2}, {4 << 20, 4 << 20},
                  {1000, 0},  {0, 8}, {3, (4 << 20) + 70}, {BYTES, 0}};
    struct source *s = opened(at("/set/a.rec"));
    ck_assert_uint_eq(s->size, BYTES);
    ck_assert_uint_gt(s->modified, UINT64_C(1795420112467000000));
    for (int i = 0; i < COUNT(ranges); i++)
        check_bytes(s, ranges[i].offset, ranges[i].n);
    source_close(s);
    s = opened(at("/set/empty"));
    ck_assert_uint_eq(s->size, 0);
    source_close(s);
}

TEST(a_read_is_what_was_asked_and_one_look_at_the_version)
{
    struct source *s = opened(at("/set/small"));
    check_bytes(s, 10, 20);
    ck_assert_int_eq(fake_hdfs_count(server, "OPEN", -1), 2); /* both steps */
    ck_assert_int_eq(fake_hdfs_count(server, "GETFILESTATUS", -1), 2);
    ck_assert_ptr_nonnull(strstr(fake_hdfs_last(server, "OPEN"), "offset=10&length=20"));
    source_close(s);
}

TEST(who_asks_is_said_and_encoded)
{
    source_close(opened(at("/set/small")));
    ck_assert_ptr_nonnull(strstr(fake_hdfs_last(server, "GETFILESTATUS"), "&user.name=alice%20b"));
    char uri[256];
    snprintf(uri, sizeof(uri), "webhdfs://bob@127.0.0.1:%d/set/small", server->port[0]);
    source_close(opened(uri));
    ck_assert_ptr_nonnull(strstr(fake_hdfs_last(server, "GETFILESTATUS"), "&user.name=bob"));
    unsetenv("HADOOP_USER_NAME");
    source_close(opened(at("/set/small")));
    ck_assert_ptr_nonnull(strstr(fake_hdfs_last(server, "GETFILESTATUS"), "&user.name="));
}

TEST(a_token_goes_to_the_namenode_and_into_no_message)
{
    struct source *s;
    setenv("HADOOP_DELEGATION_TOKEN", "SECRET-token_1", 1);
    refuse_next("GETFILESTATUS", 403, "InvalidToken", "SECRET-token_1 is not known", 1);
    ck_assert_int_eq(source_open(at("/set/small"), &s, &err), IMREC_ERR_IO);
    ck_assert_ptr_null(strstr(err.message, "SECRET"));
    check_says("/set/small: the server answers 403");
    ck_assert_ptr_nonnull(
        strstr(fake_hdfs_last(server, "GETFILESTATUS"), "&delegation=SECRET-token_1"));
    ck_assert_ptr_null(strstr(fake_hdfs_last(server, "GETFILESTATUS"), "user.name"));
}

TEST(names_are_data)
{
    static const char name[] = "/set/a b%20?x=y&op=DELETE#\xc3\xa9+.rec";
    fake_hdfs_put(server, name, data, SMALL);
    struct source *s = opened(at(name));
    check_bytes(s, 0, SMALL);
    source_close(s);
}

static const struct {
    const char *path, *words;
} bad_names[] = {
    {"/set/../etc", "has no '.' and '..'"},
    {"/./x", "has no '.' and '..'"},
    {"/a\nb", "control character, byte 0x0a"},
    {"/a\x7f", "control character"},
    {"/a\xff", "not UTF-8"},
};
LOOP_TEST(names_that_hdfs_cannot_have_are_refused, 0, COUNT(bad_names))
{
    struct source *s;
    ck_assert_int_eq(source_open(at(bad_names[_i].path), &s, &err), IMREC_ERR_ARGUMENT);
    check_says(bad_names[_i].words);
    ck_assert_int_eq(fake_hdfs_count(server, "GETFILESTATUS", -1), 0);
}

TEST(what_is_no_file_is_named_with_its_errno)
{
    struct source *s;
    ck_assert_int_eq(source_open(at("/none"), &s, &err), IMREC_ERR_IO);
    ck_assert_int_eq(err.sys_errno, ENOENT);
    check_says("/none: the server answers 404 (FileNotFoundException): File does not exist");
    ck_assert_int_eq(source_open(at("/set"), &s, &err), IMREC_ERR_IO);
    ck_assert_int_eq(err.sys_errno, EISDIR);
    check_says("/set: is a folder; a file is needed");
    refuse_next("GETFILESTATUS", 403, "AccessControlException", "Permission denied: user=x", 1);
    ck_assert_int_eq(source_open(at("/set/small"), &s, &err), IMREC_ERR_IO);
    ck_assert_int_eq(err.sys_errno, EACCES);
}

/* ---- versions -------------------------------------------------------------------------------- */

TEST(a_file_that_was_replaced_is_an_error_that_says_so)
{
    struct source *s = opened(at("/set/small"));
    fake_hdfs_put(server, "/set/small", data, SMALL);
    check_refused(s, ESTALE, "/set/small: was changed since it was opened (5000 bytes");
    fake_hdfs_remove(server, "/set/small");
    check_refused(s, ESTALE, "/set/small: was removed or renamed since it was opened");
    source_close(s);
}

TEST(a_file_that_was_cut_is_an_error_that_says_so)
{
    struct source *s = opened(at("/set/small"));
    fake_hdfs_put(server, "/set/small", data, 10);
    check_refused(s, ESTALE, "was changed since it was opened");
    source_close(s);
}

TEST(without_a_file_id_time_and_length_are_the_version)
{
    server->plain = true;
    struct source *s = opened(at("/set/small"));
    check_bytes(s, 0, SMALL);
    fake_hdfs_put(server, "/set/small", data, SMALL);
    check_refused(s, ESTALE, "was changed since it was opened");
    source_close(s);
}

/* ---- NameNodes ------------------------------------------------------------------------------- */

TEST(the_standby_is_skipped_and_then_remembered)
{
    server->standby[0] = true;
    struct source *s = opened("hdfs://ns/set/a.rec");
    check_bytes(s, 0, BYTES);
    source_close(s);
    s = opened("hdfs:///set/small");
    check_bytes(s, 0, SMALL);
    source_close(s);
    ck_assert_int_le(fake_hdfs_count(server, "GETFILESTATUS", 0), 1);
    ck_assert_int_eq(fake_hdfs_count(server, "GETFILESTATUS", 1), 4);
}

TEST(a_failover_in_the_middle_is_followed)
{
    struct source *s = opened("hdfs://ns/set/a.rec");
    check_bytes(s, 0, SMALL);
    server->standby[0] = true;
    check_bytes(s, 0, BYTES);
    server->standby[0] = false;
    server->standby[1] = true;
    check_bytes(s, 0, BYTES);
    source_close(s);
}

TEST(two_standbys_become_active_after_a_while)
{
    refuse_next("GETFILESTATUS", 403, "StandbyException", "x", 5);
    source_close(opened("hdfs://ns/set/small"));
    ck_assert_int_eq(fake_hdfs_count(server, "GETFILESTATUS", -1), 6);
}

TEST(a_namenode_that_is_gone_is_skipped)
{
    char site[512];
    const int n = snprintf(
        site, sizeof(site),
        "<configuration><property><name>dfs.ha.namenodes.ns</name><value>a b</value></property>"
        "<property><name>dfs.namenode.http-address.ns.a</name><value>127.0.0.1:1</value>"
        "</property><property><name>dfs.namenode.http-address.ns.b</name>"
        "<value>127.0.0.1:%d</value></property></configuration>",
        server->port[0]);
    tmp_write(&dir, "hdfs-site.xml", site, (size_t)n);
    struct source *s = opened("hdfs://ns/set/small");
    check_bytes(s, 0, SMALL);
    source_close(s);
}

TEST(an_rpc_address_is_that_of_the_configuration)
{
    struct source *s = opened("hdfs://127.0.0.1/set/small"); /* port 8020 */
    source_close(s);
    ck_assert_int_eq(fake_hdfs_count(server, "GETFILESTATUS", 1), 1);
}

static const struct {
    const char *uri, *core, *words;
} bad_confs[] = {
    {"hdfs://nn@@b ad/x", "<configuration/>", "is no address of a NameNode"},
    {"hdfs://ns:1:2/x", "<configuration/>", NULL},
    {"hdfs://a:pw@ns/x", "<configuration/>", "a password before the host"},
    {"webhdfs://:5/x", "<configuration/>", "is no address of a NameNode"},
    {"hdfs:///x", "<conf/>", "core-site.xml line 1: the root element is not <configuration>"},
    {"hdfs:///x", "<configuration>\n<property>", "core-site.xml line 2: no element found"},
    {"hdfs:///x", "<!DOCTYPE a [<!ENTITY e 'x'>]>\n<configuration/>", "line 1: a DOCTYPE"},
    {"hdfs:///x", "<configuration>&e;</configuration>", "line 1: undefined entity"},
    {"hdfs:///x",
     "<configuration><property><name>fs.defaultFS</name><value>s3a://b</value></property>"
     "</configuration>",
     "fs.defaultFS is 's3a://b'; hdfs://HOST:PORT is right"},
};
LOOP_TEST(what_no_namenode_can_be_found_for_is_refused, 0, COUNT(bad_confs))
{
    struct source *s;
    tmp_write(&dir, "core-site.xml", bad_confs[_i].core, strlen(bad_confs[_i].core));
    ck_assert_int_ne(source_open(bad_confs[_i].uri, &s, &err), IMREC_OK);
    if (bad_confs[_i].words != NULL)
        check_says(bad_confs[_i].words);
}

TEST(without_a_configuration_a_host_is_needed)
{
    struct source *s;
    setenv("HADOOP_CONF_DIR", "/nonexistent", 1);
    ck_assert_int_eq(source_open("hdfs:///x", &s, &err), IMREC_ERR_ARGUMENT);
    check_says("hdfs:///x: names no host, and no file of HADOOP_CONF_DIR has fs.defaultFS");
}

/* ---- answers --------------------------------------------------------------------------------- */

static const struct {
    const char *body, *words;
} bad_answers[] = {
    {"", "not JSON"},
    {"[]", "no type that is right"},
    {"{\"FileStatus\":{\"type\":\"FILE\",\"length\":-1,\"modificationTime\":1}}", "no length"},
    {"{\"FileStatus\":{\"type\":\"FILE\",\"length\":\"1\",\"modificationTime\":1}}", "no length"},
    {"{\"FileStatus\":{\"type\":\"FILE\",\"length\":9223372036854775807,\"modificationTime\":1}}",
     "no length"},
    {"{\"FileStatus\":{\"type\":\"FILE\",\"length\":1}}", "no modificationTime"},
    {"{\"FileStatus\":{\"type\":\"FILE\",\"length\":1,\"length\":2,\"modificationTime\":1}}",
     "duplicate object key"},
};
LOOP_TEST(an_answer_that_is_not_right_is_refused, 0, COUNT(bad_answers))
{
    struct source *s;
    fake_hdfs_say(server, "GETFILESTATUS", 200, bad_answers[_i].body, 1);
    ck_assert_int_eq(source_open(at("/set/small"), &s, &err), IMREC_ERR_CORRUPT);
    check_says("/set/small: the server's answer");
    check_says(bad_answers[_i].words);
}

TEST(a_refusal_that_is_too_long_is_still_understood)
{
    char message[1500];
    memset(message, 'x', sizeof(message) - 1);
    message[sizeof(message) - 1] = '\0';
    refuse_next("GETFILESTATUS", 403, "StandbyException", message, 1);
    source_close(opened("hdfs://ns/set/small"));
}

TEST(more_bytes_than_asked_are_refused_and_fewer_asked_for_again)
{
    struct source *s = opened(at("/set/small"));
    fake_hdfs_say(server, "OPEN", 200, "xy", 1);
    uint8_t byte;
    ck_assert_int_eq(source_read(s, 0, &byte, 1, &err), IMREC_ERR_IO);
    check_says("the server sends more than was asked for");
    char five[6];
    memcpy(five, data + 1, 5); /* the bytes 1 to 5 of it have no 0 */
    five[5] = '\0';
    fake_hdfs_say(server, "OPEN", 200, five, 1);
    check_bytes(s, 1, 100);
    ck_assert_ptr_nonnull(strstr(fake_hdfs_last(server, "OPEN"), "offset=6&length=95"));
    source_close(s);
}

/* With a proxy before both, whose rules break what goes through. */
static const char *const passing[] = {
    "match=data=true skip=1 times=2 do=short=100000",
    "match=data=true times=1 do=reset-after=70000",
    "match=op=OPEN times=2 do=status=503",
    "match=op=GETFILESTATUS skip=1 times=1 do=reset",
    "match=op=GETFILESTATUS times=1 do=garbage",
};
LOOP_TEST(what_passes_is_tried_again, 0, COUNT(passing))
{
    char upstream[64];
    snprintf(upstream, sizeof(upstream), "127.0.0.1:%d", server->port[0]);
    struct proxy *proxy = proxy_start(NULL, "--upstream", upstream, NULL);
    proxy_rules(proxy, passing[_i]);
    struct source *s = opened(at_port(proxy->port, "/set/a.rec"));
    check_bytes(s, 0, BYTES);
    ck_assert_int_ge((int)proxy_hits(proxy, 0), 1);
    source_close(s);
    proxy_stop(proxy);
}

TEST(a_redirect_that_never_ends_is_refused)
{
    char upstream[64];
    uint8_t byte;
    snprintf(upstream, sizeof(upstream), "127.0.0.1:%d", server->port[0]);
    struct proxy *proxy = proxy_start(NULL, "--upstream", upstream, NULL);
    struct source *s = opened(at_port(proxy->port, "/set/small"));
    proxy_rules(proxy, "match=op=OPEN do=redirect-loop");
    ck_assert_int_eq(source_read(s, 0, &byte, 1, &err), IMREC_ERR_IO);
    check_says("/set/small: no whole answer");
    source_close(s);
    proxy_stop(proxy);
}

/* ---- folders --------------------------------------------------------------------------------- */

CASE(.timeout = 120, .setup = setup, .teardown = teardown)

static void check_listing(const char *path, const char *expected)
{
    struct folder *f;
    struct folder_entry e;
    char all[1024] = "";
    ck_assert_msg(folder_open(at(path), &f, &err) == IMREC_OK, "%s", err.message);
    for (enum imrec_status st; (st = folder_next(f, &e, &err)) != IMREC_END;) {
        ck_assert_msg(st == IMREC_OK, "%s", err.message);
        strcat(all, e.name);
        strcat(all, e.kind == FOLDER_FOLDER ? "/ " : " ");
    }
    ck_assert_str_eq(all, expected);
    folder_close(f);
}

LOOP_TEST(a_folder_has_all_its_entries_once, 0, 4)
{
    server->page = _i; /* 0: one page */
    server->plain = _i == 3;
    fake_hdfs_put(server, "/set/sub/x", data, 1);
    fake_hdfs_put(server, "/set/b#&?.rec", data, 1);
    check_listing("/set", "a.rec b#&?.rec empty small sub/ ");
    check_listing("/set/", "a.rec b#&?.rec empty small sub/ ");
    check_listing("/", "set/ ");
}

TEST(lists_and_folders_of_shards_work)
{
    struct uri_list l;
    fake_hdfs_put(server, "/set/b.rec", data, 1);
    ck_assert_msg(uri_list_expand(at("/set/"), ".rec", &l, &err) == IMREC_OK, "%s", err.message);
    ck_assert_uint_eq(l.count, 2);
    ck_assert_ptr_nonnull(strstr(l.uri[0], "/set/a.rec"));
    ck_assert_ptr_nonnull(strstr(l.uri[1], "/set/b.rec"));
    struct source *s = opened(l.uri[0]);
    source_close(s);
    uri_list_free(&l);
}

TEST(what_is_no_folder_is_named_with_its_errno)
{
    struct folder *f;
    ck_assert_int_eq(folder_open(at("/none"), &f, &err), IMREC_ERR_IO);
    ck_assert_int_eq(err.sys_errno, ENOENT);
    ck_assert_int_eq(folder_open(at("/set/small"), &f, &err), IMREC_ERR_IO);
    ck_assert_int_eq(err.sys_errno, ENOTDIR);
}

#define PAGE(entries, left)                                                                        \
    "{\"DirectoryListing\":{\"partialListing\":{\"FileStatuses\":{\"FileStatus\":[" entries        \
    "]}},\"remainingEntries\":" left "}}"
#define ENTRY(name) "{\"pathSuffix\":\"" name "\",\"type\":\"FILE\",\"length\":1}"

static const struct {
    const char *first, *second, *words;
} bad_pages[] = {
    {PAGE(ENTRY("a") "," ENTRY("../b"), "0"), NULL, "the name '../b', which none can have"},
    {PAGE(ENTRY("a") "," ENTRY(".."), "0"), NULL, "the name '..'"},
    {PAGE(ENTRY("a") "," ENTRY(""), "0"), NULL, "the name ''"},
    {PAGE(ENTRY("a") ",{\"type\":\"FILE\"}", "0"), NULL, "no 'pathSuffix'"},
    {PAGE(ENTRY("a") ",{\"pathSuffix\":\"x\"}", "0"), NULL, "no type"},
    {PAGE("", "5"), NULL, "no files on a page"},
    {PAGE(ENTRY("a"), "-1"), NULL, "no 'remainingEntries'"},
    {"{\"FileStatuses\":{\"FileStatus\":{}}}", NULL, "no list of files"},
    {PAGE(ENTRY("b"), "1"), PAGE(ENTRY("b"), "1"), "its pages do not go on"},
    {PAGE(ENTRY("a") "," ENTRY("b\\u0000c"), "0"), NULL, "not JSON"},
};
LOOP_TEST(a_listing_that_is_not_right_is_refused, 0, COUNT(bad_pages))
{
    struct folder *f;
    struct folder_entry e;
    fake_hdfs_say(server, "LISTSTATUS_BATCH", 200, bad_pages[_i].first, 1);
    if (bad_pages[_i].second != NULL)
        fake_hdfs_say(server, "LISTSTATUS_BATCH", 200, bad_pages[_i].second, 5);
    enum imrec_status st = folder_open(at("/set"), &f, &err);
    while (st == IMREC_OK)
        st = folder_next(f, &e, &err);
    ck_assert_int_eq(st, IMREC_ERR_CORRUPT);
    check_says(bad_pages[_i].words);
    folder_close(f);
}

/* ---- writing --------------------------------------------------------------------------------- */

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
    ck_assert(!sink_exists(at("/out/x.rec")));
    must(sink_commit(s, &err));
    check_file("/out/x.rec", BYTES);
    ck_assert(!has("/out/x.rec.part"));
    ck_assert(sink_exists(at("/out/x.rec")));
    ck_assert(!sink_exists(at("/out")));
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

LOOP_TEST(a_rename_whose_answer_is_lost_was_done, 0, 2)
{
    server->plain = _i == 1;
    struct sink *s = begun(at("/out/x"));
    must(sink_append(s, data, SMALL, &err));
    server->lost_renames = 1;
    must(sink_commit(s, &err));
    check_file("/out/x", SMALL);
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
