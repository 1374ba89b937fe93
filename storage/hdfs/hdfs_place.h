/* storage/hdfs/hdfs_place.h - a name of a file system of Hadoop: its NameNodes, its path, who asks.
 *
 *     hdfs://nameservice/path        the NameNodes of HADOOP_CONF_DIR
 *     hdfs://host:port/path          the NameNode that HADOOP_CONF_DIR has for this RPC address,
 * else http://host:9870 hdfs:///path                   those of fs.defaultFS
 *     webhdfs://host:port/path       http://host:port: a NameNode, or HttpFS
 *     swebhdfs://host:port/path      likewise https://
 *
 * A name "user@" before the host is who asks; else HADOOP_USER_NAME, else the system's user.
 * HADOOP_DELEGATION_TOKEN takes the place of a user. With hadoop.security.authentication=kerberos
 * in core-site.xml, and no token, libcurl proves it (SPNEGO). */
#ifndef IMREC_STORAGE_HDFS_PLACE_H
#define IMREC_STORAGE_HDFS_PLACE_H

#include "base/buf.h"
#include "imrec/error.h"
#include "storage/store/scope.h"

#include <stdatomic.h>

#define HDFS_NODES_MOST  16
#define HDFS_URL_BYTES   (64u << 10)
#define HDFS_TOKEN_BYTES 8192

enum hdfs_scheme { HDFS_BY_NAME, HDFS_WEB, HDFS_WEB_TLS }; /* hdfs://, webhdfs://, swebhdfs:// */

struct hdfs_place {
    char *shown;                 /* the URI without a user, for messages */
    char *path;                  /* percent-encoded, begins with '/' */
    char *who;                   /* "&user.name=alice", "&delegation=...", "" */
    char *node[HDFS_NODES_MOST]; /* "http://host:9870" */
    uint32_t nodes;
    bool negotiate;
    struct traffic *traffic; /* of the scope that opened it; NULL: nobody counts */
    atomic_uint active;      /* the one that answered last */
};

/* `name`: the URI without its scheme; `suffix` is added to its path. On failure *out is zeroed. */
IMREC_NODISCARD enum imrec_status hdfs_place_make(enum hdfs_scheme scheme, const char *name,
                                                  const char *suffix, struct hdfs_place *out,
                                                  struct imrec_error *err);
/* Appends a NUL-terminated URL: of a NameNode, for the query "op=...". */
IMREC_NODISCARD enum imrec_status hdfs_place_url(const struct hdfs_place *p, uint32_t node,
                                                 const char *query, struct buf *url,
                                                 struct imrec_error *err);
/* What answered: places made later ask it first. */
void hdfs_place_answered(struct hdfs_place *p, uint32_t node);
void hdfs_place_free(struct hdfs_place *p); /* zeroed memory is fine */
#endif
