/* storage/hdfs/hdfs_mark.h - a file that says who writes the files of a name: PATH.part.
 *
 * The NameNode creates it for one writer alone. HDFS does not remove it when that writer dies: a
 * mark of a process that is gone from this machine is taken over; one of another machine stays
 * until it is removed by hand, which the error says. */
#ifndef IMREC_STORAGE_HDFS_MARK_H
#define IMREC_STORAGE_HDFS_MARK_H

#include "storage/hdfs/hdfs_place.h"

struct hdfs_mark;

/* The place is the mark's from here on, also on failure: *p is then zeroed. IMREC_ERR_IO with EBUSY
 * where another holds it. */
IMREC_NODISCARD enum imrec_status
hdfs_mark_take(struct hdfs_place *p, struct hdfs_mark **out, struct imrec_error *err);
void hdfs_mark_drop(struct hdfs_mark *m);

#define HDFS_MARK_BYTES 512

/* For the tests: what the line says of its writer. */
enum hdfs_holder { HDFS_NO_MARK, HDFS_HELD, HDFS_DEAD };
enum hdfs_holder hdfs_mark_judge(const char *line);
#endif
