/* im2rec/set/shard_names.h - whether a file can be of a set, by its name alone. */
#ifndef IMREC_IM2REC_SET_SHARD_NAMES_H
#define IMREC_IM2REC_SET_SHARD_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Suffixes of a shard of RecordIO and of the files next to it; of CNTK's format also of its table
 * while it is written. NULL at the end. */
extern const char *const shard_suffixes_rec[], *const shard_suffixes_cbf[],
                                                   *const shard_suffixes_cbf_work[];

/* name[0..n), a name without a folder, is OUT or OUT-00003-of-00010 with one of the suffixes, and
 * `list`, likewise without a folder, is the list OUT.lst: it tells sets apart, whatever their
 * shards are called. */
bool shard_name_is_of(const char *name, size_t n, const char *const *suffixes, const char *list);
#endif
