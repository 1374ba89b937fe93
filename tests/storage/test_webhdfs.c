/* tests/storage/test_webhdfs.c - files and folders of HDFS: their bytes, or an error that names
 * them, whatever NameNodes and DataNodes do. */
#include "base/error.h"
#include "storage/folder.h"
#include "storage/store/scope.h"
#include "storage/uri_list.h"
#include "tests/support/hdfs_case.h"
#include "tests/support/http_proxy.h"

#include <errno.h>

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

static void check_refused(struct source *s, int code, const char *words)
{
    uint8_t *got = malloc(BYTES);
    err.message[0] = '\0';
    ck_assert_int_eq(source_read(s, 0, got, (size_t)s->size, &err), IMREC_ERR_IO);
    check_says(words);
    ck_assert_int_eq(err.sys_errno, code);
    free(got);
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

TEST(small_reads_that_follow_each_other_are_few_requests)
{
    struct source *s = opened(at("/set/a.rec"));
    for (uint64_t offset = 0; offset + 3001 <= BYTES; offset += 3001)
        check_bytes(s, offset, 3001);
    ck_assert_int_lt(fake_hdfs_count(server, "OPEN", -1), 2 * 12);
    const int before = fake_hdfs_count(server, "OPEN", -1);
    for (uint64_t i = 1; i <= 10; i++) /* none of them follows another */
        check_bytes(s, BYTES - i * 700000, 100);
    ck_assert_ptr_nonnull(strstr(fake_hdfs_last(server, "OPEN"), "length=100"));
    ck_assert_int_le(fake_hdfs_count(server, "OPEN", -1), before + 2 * 10);
    source_close(s);
}

TEST(what_was_read_ahead_is_of_the_version_that_was_opened)
{
    struct source *s = opened(at("/set/a.rec"));
    for (uint64_t i = 0; i < 10; i++)
        check_bytes(s, i * 1000, 1000);
    uint8_t *other = calloc(BYTES, 1);
    fake_hdfs_put(server, "/set/a.rec", other, BYTES);
    free(other);
    enum imrec_status st = IMREC_OK;
    for (uint64_t at = 10000; at < BYTES && st == IMREC_OK; at += 1000) {
        uint8_t got[1000];
        st = source_read(s, at, got, 1000, &err);
        ck_assert(st != IMREC_OK || memcmp(got, data + at, 1000) == 0);
    }
    ck_assert_int_eq(st, IMREC_ERR_IO);
    ck_assert_int_eq(err.sys_errno, ESTALE);
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

TEST(with_kerberos_no_user_is_said)
{
    static const char core[] = "<configuration><property><name>hadoop.security.authentication"
                               "</name><value>kerberos</value></property></configuration>";
    struct source *s;
    tmp_write(&dir, "core-site.xml", core, sizeof(core) - 1);
    setenv("KRB5CCNAME", "FILE:/nonexistent", 1); /* no ticket */
    fake_hdfs_say(server, "GETFILESTATUS", 401, "<html>who?</html>", 9);
    ck_assert_int_ne(source_open(at("/set/small"), &s, &err), IMREC_OK);
    ck_assert_ptr_null(strstr(fake_hdfs_last(server, "GETFILESTATUS"), "user.name"));
    if (err.status == IMREC_ERR_IO)
        ck_assert_int_eq(err.sys_errno, EACCES);
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
    memcpy(five, data + 10, 5); /* which have no 0 */
    five[5] = '\0';
    fake_hdfs_say(server, "OPEN", 200, five, 1);
    check_bytes(s, 10, 100);
    ck_assert_ptr_nonnull(strstr(fake_hdfs_last(server, "OPEN"), "offset=15&length=95"));
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

/* Reads of pieces that do not follow each other; the 51st DataNode never answers. */
TEST(a_read_that_hangs_is_overtaken_by_a_second_one)
{
    enum { PIECES = 60, PIECE = BYTES / PIECES };
    char upstream[64];
    struct store_scope scope = {0};
    struct imrec_traffic t;
    snprintf(upstream, sizeof(upstream), "127.0.0.1:%d", server->port[0]);
    struct proxy *proxy = proxy_start(NULL, "--upstream", upstream, NULL);
    proxy_rules(proxy, "match=data=true skip=50 nth=1 do=hang-head");
    struct store_scope *before = store_scope_enter(&scope);
    struct source *s = opened(at_port(proxy->port, "/set/a.rec"));
    store_scope_enter(before);
    for (uint64_t i = 0; i < PIECES; i++)
        check_bytes(s, (i * 7 % PIECES) * PIECE, PIECE);
    ck_assert_int_eq((int)proxy_hits(proxy, 0), 1);
    traffic_read(&scope.traffic, &t, sizeof(t));
    ck_assert_uint_ge(t.hedges, 1);
    ck_assert_uint_eq(t.retries, 0); /* nobody waited for its silence */
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

/* /set is listed once; of its file `name` a source that nobody was asked for. */
static struct source *listed(const char *name, const struct later_check *check)
{
    struct listed all = {NULL}, *before = listed_enter(&all);
    struct folder_entries own;
    const struct folder_entries *entries, *again;
    struct source *s;
    const int looks = fake_hdfs_count(server, "GETFILESTATUS", -1);
    ck_assert_int_eq(folder_list(at("/set/"), &own, &entries, &err), IMREC_OK);
    const int lists = fake_hdfs_count(server, "LISTSTATUS_BATCH", -1);
    ck_assert_int_eq(folder_list(at("/set"), &own, &again, &err), IMREC_OK);
    ck_assert_ptr_eq(entries, again);
    ck_assert_int_eq(source_open_later(at(name), check, &s, &err), IMREC_OK);
    ck_assert_int_eq(fake_hdfs_count(server, "GETFILESTATUS", -1), looks);
    ck_assert_int_eq(fake_hdfs_count(server, "LISTSTATUS_BATCH", -1), lists);
    listed_enter(before);
    listed_free(&all);
    return s;
}

LOOP_TEST(what_is_listed_is_opened_when_it_is_read, 0, 2) /* _i: like HttpFS */
{
    server->plain = _i;
    struct source *s = listed("/set/a.rec", NULL), *same = opened(at("/set/a.rec"));
    ck_assert_uint_eq(s->size, BYTES);
    ck_assert_str_eq(s->identity, same->identity);
    check_bytes(s, 5, 1000);
    check_bytes(s, 0, BYTES);
    source_close(same);
    source_close(s);
}

TEST(what_was_replaced_since_it_was_listed_is_an_error)
{
    struct source *s = listed("/set/small", NULL);
    const size_t n = (size_t)s->size;
    fake_hdfs_put(server, "/set/small", data + 1, n);
    check_refused(s, ESTALE, "/set/small: it is another version");
    fake_hdfs_put(server, "/set/small", data, n + 1);
    check_refused(s, ESTALE, "where it was listed");
    fake_hdfs_remove(server, "/set/small");
    check_refused(s, ENOENT, "/set/small");
    source_close(s);
}

static enum imrec_status
check_first(const struct later_check *c, const char *uri, struct bytes first, struct imrec_error *e)
{
    (void)c;
    ck_assert_uint_eq(first.n, LATER_FIRST_BYTES);
    ck_assert_int_eq(memcmp(first.p, data, first.n), 0);
    return imrec_fail(e, IMREC_ERR_IO, "%s: is looked at", uri);
}

LOOP_TEST(the_first_bytes_are_looked_at_before_any_are_given_out, 0, 2)
{
    static const struct later_check check = {check_first};
    struct source *s = listed("/set/a.rec", &check);
    uint8_t got[1024];
    for (int i = 0; i < 2; i++) { /* and again */
        err.message[0] = '\0';
        ck_assert_int_eq(source_read(s, _i == 0 ? 0 : 7000, got, sizeof(got), &err), IMREC_ERR_IO);
        check_says("/set/a.rec: is looked at");
    }
    source_close(s);
}

TEST(a_source_that_was_cancelled_before_it_was_read_stays_so)
{
    struct source *s = listed("/set/a.rec", NULL);
    uint8_t got[16];
    source_cancel(s);
    ck_assert_int_eq(source_read(s, 0, got, sizeof(got), &err), IMREC_ERR_CANCELLED);
    source_close(s);
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
    {PAGE(ENTRY("b"), "1"), PAGE(ENTRY("b"), "1"), "its pages do not continue"},
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
