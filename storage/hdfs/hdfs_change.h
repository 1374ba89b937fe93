/* storage/hdfs/hdfs_change.h - what changes names and bytes: create, append, truncate, rename,
 * delete.
 *
 * Bytes go in two steps: the NameNode says which DataNode takes them, and the DataNode gets them. A
 * file is closed with each request: its bytes are then in the memory or on the disks of as many
 * DataNodes as dfs.replication says. */
#ifndef IMREC_STORAGE_HDFS_CHANGE_H
#define IMREC_STORAGE_HDFS_CHANGE_H

#include "storage/hdfs/hdfs_place.h"

/* A file of these bytes; folders above it are made. Without `overwrite`, where one has the name,
 * IMREC_ERR_IO with EEXIST. */
IMREC_NODISCARD enum imrec_status hdfs_create(struct hdfs_place *p, bool overwrite,
                                              const void *bytes, size_t n, struct imrec_error *err);
/* Appends to a file of `size` bytes. Where an answer is lost, the file is cut to `size` before the
 * next try: the bytes are in it once. */
IMREC_NODISCARD enum imrec_status hdfs_append(struct hdfs_place *p, uint64_t size,
                                              const void *bytes, size_t n, struct imrec_error *err);
/* Keeps the first `size` bytes; waits up to two minutes for a writer that was killed to lose the
 * file. IMREC_ERR_IO where it has fewer. */
IMREC_NODISCARD enum imrec_status
hdfs_truncate(struct hdfs_place *p, uint64_t size, struct imrec_error *err);
/* A file becomes `to`, a place of the same NameNodes, in the place of a file that has the name. The
 * NameNode does so at once; HttpFS knows no such rename, there the old one is removed before. */
IMREC_NODISCARD enum imrec_status
hdfs_rename(struct hdfs_place *from, struct hdfs_place *to, struct imrec_error *err);
/* The same, but never over another: *done is false where the name is taken. */
IMREC_NODISCARD enum imrec_status hdfs_rename_to_free(struct hdfs_place *from,
                                                      struct hdfs_place *to, bool *done,
                                                      struct imrec_error *err);
/* A file that does not exist is removed already; a folder is refused. */
IMREC_NODISCARD enum imrec_status hdfs_delete(struct hdfs_place *p, struct imrec_error *err);
void hdfs_forget(struct hdfs_place *p); /* the same, if it can be done */
/* Whether a file has the name; a folder is none. */
IMREC_NODISCARD enum imrec_status
hdfs_exists(struct hdfs_place *p, bool *there, struct imrec_error *err);
#endif
