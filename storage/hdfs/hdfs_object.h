/* storage/hdfs/hdfs_object.h - a file of HDFS that is open for reading.
 *
 * What it is (length, time of change and, where the server says it, number of the file) is pinned
 * when it is opened. OPEN gives no identity with the bytes, so after each read the NameNode is
 * asked again: bytes are given out only where the file under the name is still the one that was
 * opened. (One that was renamed away and back in between is the same file.) Small reads that follow
 * each other are served from up to 2 MiB that were read ahead, and checked then. */
#ifndef IMREC_STORAGE_HDFS_OBJECT_H
#define IMREC_STORAGE_HDFS_OBJECT_H

#include "storage/hdfs/hdfs_place.h"

struct hdfs_object;

#define HDFS_AT_ONCE 32u /* reads, each of which is two requests or more */
#define HDFS_PART_BYTES                                                                            \
    ((size_t)4 << 20) /* that one asks for at most: two requests, a connection */

/* The place is the object's from here on, also on failure: *p is then zeroed. */
IMREC_NODISCARD enum imrec_status
hdfs_object_open(struct hdfs_place *p, struct hdfs_object **out, struct imrec_error *err);
uint64_t hdfs_object_size(const struct hdfs_object *o);
uint64_t hdfs_object_modified(const struct hdfs_object *o); /* ns since 1970 */
/* Of the version that was opened: its time, length and, where the server says it, number. */
const char *hdfs_object_identity(const struct hdfs_object *o);
/* Bytes [offset, offset + n), which it has; any number of threads. */
IMREC_NODISCARD enum imrec_status hdfs_object_read(struct hdfs_object *o, uint64_t offset, void *to,
                                                   size_t n, struct imrec_error *err);
/* Reads that are under way, and later ones, end with IMREC_ERR_CANCELLED; any thread. */
void hdfs_object_cancel(struct hdfs_object *o);
void hdfs_object_close(struct hdfs_object *o); /* NULL is allowed */
#endif
