/* Which NameNodes a configuration of Hadoop means, and what is wrong with one. */
#include "storage/hdfs/hdfs_nodes.h"
#include "tests/support/starving.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static struct tmpdir dir;
static struct imrec_error err;
static struct hdfs_conf conf;

static void setup(void)
{
    dir = tmpdir_make();
}

static void teardown(void)
{
    hdfs_conf_free(&conf);
    conf = (struct hdfs_conf){0};
    tmpdir_remove(&dir);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

/* "name=value name=value" as a file of properties. */
static enum imrec_status add(const char *words)
{
    char text[4096], copy[2048];
    size_t n = (size_t)snprintf(text, sizeof(text), "<configuration>");
    snprintf(copy, sizeof(copy), "%s", words);
    for (char *w = strtok(copy, " "); w != NULL; w = strtok(NULL, " ")) {
        char *value = strchr(w, '=');
        *value++ = '\0';
        n += (size_t)snprintf(text + n, sizeof(text) - n,
                              "<property><name>%s</name><value>%s</value></property>", w, value);
    }
    n += (size_t)snprintf(text + n, sizeof(text) - n, "</configuration>");
    return hdfs_conf_add(&conf, "a.xml", (struct bytes){(const uint8_t *)text, n}, &err);
}

/* The NameNodes, a blank after each; NULL: an error. */
static const char *nodes_of(enum hdfs_scheme scheme, const char *authority)
{
    static char all[2048];
    struct hdfs_place p = {.shown = (char *)"hdfs://x"};
    const enum imrec_status st = hdfs_nodes_find(&conf, scheme, authority, &p, &err);
    all[0] = '\0';
    for (uint32_t i = 0; i < p.nodes; i++) {
        strcat(strcat(all, p.node[i]), " ");
        imrec_free(p.node[i]);
    }
    return st == IMREC_OK ? all : NULL;
}

#define HA                                                                                         \
    "dfs.nameservices=ns,other dfs.ha.namenodes.ns=a,b dfs.namenode.rpc-address.ns.a=one:8020 "    \
    "dfs.namenode.rpc-address.ns.b=two:8020 "

static const struct {
    const char *conf;
    enum hdfs_scheme scheme;
    const char *authority;
    const char *nodes; /* or, after "!", a part of the error */
} rows[] = {
    {"", HDFS_BY_NAME, "host:8020", "http://host:9870 "},
    {"dfs.http.policy=HTTPS_ONLY", HDFS_BY_NAME, "host", "https://host:9871 "},
    {"", HDFS_WEB_TLS, "host", "https://host:9871 "},
    {"", HDFS_WEB, "host:1", "http://host:1 "},
    {HA, HDFS_BY_NAME, "ns", "http://one:9870 http://two:9870 "}, /* no web address: that port */
    {HA "dfs.http.policy=HTTPS_ONLY", HDFS_BY_NAME, "ns", "https://one:9871 https://two:9871 "},
    {HA "dfs.namenode.http-address.ns.a=web:50070 dfs.namenode.http-address.ns.b=0.0.0.0:50071",
     HDFS_BY_NAME, "ns", "http://web:50070 http://two:50071 "},
    {HA, HDFS_BY_NAME, "two", "http://two:9870 "},
    {"dfs.nameservices=ns dfs.namenode.http-address.ns=web:1", HDFS_BY_NAME, "ns", "http://web:1 "},
    {"dfs.nameservices=ns dfs.ha.namenodes.ns=a", HDFS_BY_NAME, "ns",
     "!HADOOP_CONF_DIR has no property dfs.namenode.http-address.ns.a"},
    {"dfs.nameservices=ns", HDFS_BY_NAME, "ns",
     "!HADOOP_CONF_DIR has no property dfs.namenode.http-address.ns"},
    {"fs.defaultFS=hdfs://host:8020/ dfs.namenode.http-address=web:5", HDFS_BY_NAME, "host",
     "http://web:5 "},
    {"dfs.namenode.rpc-address=host dfs.namenode.http-address=:7", HDFS_BY_NAME, "host:8020",
     "http://host:7 "},
    {"fs.defaultFS=webhdfs://host:4/x", HDFS_BY_NAME, "", "http://host:4 "},
    {"fs.default.name=hdfs://old", HDFS_BY_NAME, "", "http://old:9870 "},
    {"fs.defaultFS=s3a://bucket", HDFS_BY_NAME, "", "!fs.defaultFS is 's3a://bucket'"},
    {"", HDFS_BY_NAME, "", "!names no host"},
    {"", HDFS_BY_NAME, "a b:1", "!'a b:1' is no address of a NameNode"},
    {"dfs.nameservices=ns dfs.namenode.http-address.ns=a/b", HDFS_BY_NAME, "ns",
     "!'a/b' is no address of a NameNode"},
    {"dfs.nameservices=ns dfs.ha.namenodes.ns=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17 "
     "dfs.namenode.http-address.ns.1=h:1 dfs.namenode.http-address.ns.2=h:1 "
     "dfs.namenode.http-address.ns.3=h:1 dfs.namenode.http-address.ns.4=h:1 "
     "dfs.namenode.http-address.ns.5=h:1 dfs.namenode.http-address.ns.6=h:1 "
     "dfs.namenode.http-address.ns.7=h:1 dfs.namenode.http-address.ns.8=h:1 "
     "dfs.namenode.http-address.ns.9=h:1 dfs.namenode.http-address.ns.10=h:1 "
     "dfs.namenode.http-address.ns.11=h:1 dfs.namenode.http-address.ns.12=h:1 "
     "dfs.namenode.http-address.ns.13=h:1 dfs.namenode.http-address.ns.14=h:1 "
     "dfs.namenode.http-address.ns.15=h:1 dfs.namenode.http-address.ns.16=h:1 "
     "dfs.namenode.http-address.ns.17=h:1",
     HDFS_BY_NAME, "ns", "!has more than 16 NameNodes"},
};

CASE(.timeout = 60, .setup = setup, .teardown = teardown)

LOOP_TEST(a_configuration_means_these_nodes, 0, COUNT(rows))
{
    ck_assert_msg(add(rows[_i].conf) == IMREC_OK, "%s", err.message);
    const char *nodes = nodes_of(rows[_i].scheme, rows[_i].authority);
    if (rows[_i].nodes[0] != '!') {
        ck_assert_msg(nodes != NULL, "%s", err.message);
        ck_assert_str_eq(nodes, rows[_i].nodes);
    } else {
        ck_assert_ptr_null(nodes);
        ck_assert_msg(strstr(err.message, rows[_i].nodes + 1) != NULL, "%s", err.message);
    }
}

TEST(memory_that_runs_out_leaves_nothing)
{
    STARVING(s)
    {
        s.st = add(HA);
        if (s.st == IMREC_OK && nodes_of(HDFS_BY_NAME, "ns") == NULL)
            s.st = err.status;
        hdfs_conf_free(&conf);
        conf = (struct hdfs_conf){0};
    }
}

static const char *const wrong[][2] = {
    {"<configuration><property><name>a</name></configuration>", "a.xml line 1: mismatched tag"},
    {"<other/>", "the root element is not <configuration>"},
    {"<!DOCTYPE a><configuration/>", "a DOCTYPE"},
    {"", "no element found"},
};

LOOP_TEST(a_file_that_is_no_configuration_is_named_with_its_line, 0, COUNT(wrong))
{
    const struct bytes text = {(const uint8_t *)wrong[_i][0], strlen(wrong[_i][0])};
    ck_assert_int_eq(hdfs_conf_add(&conf, "a.xml", text, &err), IMREC_ERR_CORRUPT);
    ck_assert_msg(strstr(err.message, wrong[_i][1]) != NULL, "%s", err.message);
}

/* A file of `n` times a text between two others. */
static enum imrec_status add_long(const char *begin, const char *text, size_t n, const char *end)
{
    const size_t each = strlen(text), all = strlen(begin) + n * each + strlen(end);
    char *p = malloc(all + 1), *at = stpcpy(p, begin);
    for (size_t i = 0; i < n; i++)
        at = stpcpy(at, text);
    strcpy(at, end);
    const enum imrec_status st =
        hdfs_conf_add(&conf, "a.xml", (struct bytes){(const uint8_t *)p, all}, &err);
    free(p);
    return st;
}

TEST(what_is_too_long_is_refused)
{
    ck_assert_int_eq(add_long("<configuration><property><value>", "x", 65537,
                              "</value></property></configuration>"),
                     IMREC_ERR_CORRUPT);
    ck_assert_msg(strstr(err.message, "longer than 65536 bytes") != NULL, "%s", err.message);
    ck_assert_int_eq(add_long("", " ", HDFS_CONF_BYTES + 1, ""), IMREC_ERR_LIMIT);
}

TEST(files_that_cannot_be_read_are_named)
{
    const char *path = tmp_path(&dir, "core-site.xml");
    ck_assert_int_eq(hdfs_conf_read(&conf, dir.path, &err), IMREC_OK); /* none is needed */
    ck_assert_int_eq(mkdir(path, 0777), 0);
    ck_assert_int_eq(hdfs_conf_read(&conf, dir.path, &err), IMREC_ERR_ARGUMENT);
    ck_assert_msg(strstr(err.message, "core-site.xml: is no regular file") != NULL, "%s",
                  err.message);
    ck_assert_int_eq(rmdir(path), 0);
    ck_assert_int_eq(symlink("core-site.xml", path), 0); /* to itself */
    ck_assert_int_eq(hdfs_conf_read(&conf, dir.path, &err), IMREC_ERR_IO);
    ck_assert_int_eq(err.sys_errno, ELOOP);
}
