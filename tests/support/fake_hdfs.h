/*
 * tests/support/fake_hdfs.h - files in memory behind WebHDFS, in a thread of the test: two
 * NameNodes, whose redirects lead back to them as DataNodes (data=true in the query).
 *
 *     struct fake_hdfs *h = fake_hdfs_start();
 *     fake_hdfs_put(h, "/dir/a.rec", bytes, n);
 *     fake_hdfs_say(h, "OPEN", 403, "{...}", 1);     the next OPEN is answered by this
 *     ... webhdfs://127.0.0.1:h->port[0]/dir/a.rec ...
 *     fake_hdfs_stop(h);
 *
 * Redirects name the Host of the request: with a proxy (http_proxy.h) before it, what goes to
 * DataNodes goes through the proxy, too. One request a connection.
 */
#ifndef IMREC_TESTS_FAKE_HDFS_H
#define IMREC_TESTS_FAKE_HDFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fake_hdfs {
    int port[2];
    /* Set at any time; `plain` is a server like HttpFS: it knows no noredirect, no pages of
     * listings, no rename that overwrites, and says no fileId. */
    volatile bool standby[2], plain;
    volatile int page;     /* entries of a page of a listing; 0: all */
    volatile int recovers; /* TRUNCATE answers false, or that a block is recovered, so often */
    volatile int lost;     /* so many appends are done and not answered */
    volatile int lost_renames;
    volatile int half_appends; /* so many appends take half of their bytes, and break off */
    volatile int bad_nodes;    /* so many take half, and are refused as the DataNodes are gone */
};

struct fake_hdfs *fake_hdfs_start(void);
void fake_hdfs_put(struct fake_hdfs *h, const char *path, const void *bytes, size_t n);
/* The bytes of a file, to be freed; NULL: there is none. */
uint8_t *fake_hdfs_get(struct fake_hdfs *h, const char *path, size_t *n);
void fake_hdfs_remove(struct fake_hdfs *h, const char *path);
/* Answers the next `times` requests of this op, those of both steps, by status and body. */
void fake_hdfs_say(struct fake_hdfs *h, const char *op, int status, const char *body, int times);
/* How many requests came of this op ("OPEN"), redirected ones twice; of NameNode `node`, or -1. */
int fake_hdfs_count(struct fake_hdfs *h, const char *op, int node);
/* The target of the last request of this op, in a static buffer. */
const char *fake_hdfs_last(struct fake_hdfs *h, const char *op);
void fake_hdfs_stop(struct fake_hdfs *h);
#endif
