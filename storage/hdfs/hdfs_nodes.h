/* storage/hdfs/hdfs_nodes.h - which NameNodes a URI's authority means. */
#ifndef IMREC_STORAGE_HDFS_NODES_H
#define IMREC_STORAGE_HDFS_NODES_H

#include "storage/hdfs/hdfs_conf.h"
#include "storage/hdfs/hdfs_place.h"

/* Fills node and nodes. `authority` is that of the URI, without a user: "", "ns", "host:port". */
IMREC_NODISCARD enum imrec_status hdfs_nodes_find(const struct hdfs_conf *c,
                                                  enum hdfs_scheme scheme, const char *authority,
                                                  struct hdfs_place *p, struct imrec_error *err);
#endif
