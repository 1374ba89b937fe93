/* storage/hdfs/hdfs_listing.h - the entries of a folder, page by page. */
#ifndef IMREC_STORAGE_HDFS_LISTING_H
#define IMREC_STORAGE_HDFS_LISTING_H

#include "storage/hdfs/hdfs_answer.h"
#include "storage/hdfs/hdfs_place.h"

struct hdfs_listing;

/* The place is the listing's from here on, also on failure: *p is then zeroed. IMREC_ERR_IO with
 * ENOENT or ENOTDIR where there is no folder. */
IMREC_NODISCARD enum imrec_status
hdfs_listing_open(struct hdfs_place *p, struct hdfs_listing **out, struct imrec_error *err);
/* In the order of the names' bytes, as the server lists them. IMREC_END: there are no more. The
 * name lives until the next call. */
IMREC_NODISCARD enum imrec_status
hdfs_listing_next(struct hdfs_listing *l, struct hdfs_entry *out, struct imrec_error *err);
uint64_t hdfs_listing_number(const struct hdfs_listing *l); /* the same of one folder */
void hdfs_listing_close(struct hdfs_listing *l);            /* NULL is allowed */
#endif
