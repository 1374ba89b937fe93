/* storage/lock.h - a name that one call at a time holds, of all processes and threads.
 *
 * The lock of a file PATH is a lock of the system on PATH.part, which names its holder.
 * The system drops it when the process ends in any way, so a file that is left blocks nobody;
 * lock_drop() removes the file. It is an open file description lock (fcntl(), F_OFD_SETLK), where a
 * kernel has none flock(): both exclude other threads, too. Over NFS both reach other machines,
 * unless the mount says nolock or local_lock. Where a file system has no locks at all, a warning is
 * logged and the call continues without one.
 *
 * HDFS has no such locks: there PATH.part stays when its holder is killed (hdfs/hdfs_mark.h). */
#ifndef IMREC_STORAGE_LOCK_H
#define IMREC_STORAGE_LOCK_H

#include "imrec/error.h"

struct lock;

/* Does not wait: a name that is held is IMREC_ERR_IO with EBUSY, and the message says by whom. A
 * file PATH.part that imrec did not write is IMREC_ERR_ARGUMENT, and stays as it is. */
IMREC_NODISCARD enum imrec_status
lock_take(const char *uri, struct lock **out, struct imrec_error *err);
void lock_drop(struct lock *l); /* NULL is allowed */
#endif
