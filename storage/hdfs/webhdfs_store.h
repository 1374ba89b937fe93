/* storage/hdfs/webhdfs_store.h - the stores of HDFS: by name service or host, by WebHDFS's port. */
#ifndef IMREC_STORAGE_HDFS_WEBHDFS_STORE_H
#define IMREC_STORAGE_HDFS_WEBHDFS_STORE_H

#include "storage/store/store.h"

extern const struct store hdfs_store, webhdfs_store, swebhdfs_store;
#endif
