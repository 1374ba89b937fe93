/* storage/lock.h - a name that one call at a time holds, of all processes and threads.
 *
 * Of files the lock of PATH is a lock of the system on the file PATH.part, which says who holds it.
 * The system drops it with the process, however that ends, so that a file that was left behind
 * holds up nobody; lock_drop() removes the file. It is an open file description lock (fcntl(),
 * F_OFD_SETLK), where a kernel has none flock(): both keep threads apart, too. Over NFS both reach
 * other machines, unless the mount says nolock or local_lock. Where a file system has no locks at
 * all, a warning in the log says so and the call goes on without one. */
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
