/* storage/files/file_lock.h - the lock of local files, for the stores that have them. */
#ifndef IMREC_STORAGE_FILES_FILE_LOCK_H
#define IMREC_STORAGE_FILES_FILE_LOCK_H

#include "storage/store/store.h"

IMREC_NODISCARD enum imrec_status
file_lock(const char *name, struct lock **out, struct imrec_error *err);
void file_unlock(struct lock *lock);
#endif
