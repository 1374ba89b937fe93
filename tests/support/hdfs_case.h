/* tests/support/hdfs_case.h - a fake HDFS with a few files, and a configuration that names it. */
#ifndef IMREC_TESTS_HDFS_CASE_H
#define IMREC_TESTS_HDFS_CASE_H

#include "base/alloc.h"
#include "storage/source.h"
#include "tests/support/fake_hdfs.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES = 9 << 20, SMALL = 5000 }; /* several parts; one */

static struct tmpdir dir;
static struct fake_hdfs *server;
static struct imrec_error err;
static uint8_t *data;

/* A service of two NameNodes, and the same as single ones. */
static inline void write_conf(void)
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

static inline void setup(void)
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

static inline void teardown(void)
{
    fake_hdfs_stop(server);
    free(data);
    tmpdir_remove(&dir);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static inline const char *at_port(int port, const char *path)
{
    static char uri[600];
    snprintf(uri, sizeof(uri), "webhdfs://127.0.0.1:%d%s", port, path);
    return uri;
}

static inline const char *at(const char *path)
{
    return at_port(server->port[0], path);
}

static inline void check_says(const char *words)
{
    ck_assert_msg(strstr(err.message, words) != NULL, "%s", err.message);
}

static const char refusal[] = "{\"RemoteException\":{\"exception\":\"%s\",\"javaClassName\":\"x\","
                              "\"message\":\"%s\"}}";

static inline void
refuse_next(const char *op, int status, const char *exception, const char *message, int times)
{
    char text[2048];
    snprintf(text, sizeof(text), refusal, exception, message);
    fake_hdfs_say(server, op, status, text, times);
}
#endif
