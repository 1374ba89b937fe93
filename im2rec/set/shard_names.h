/* im2rec/set/shard_names.h - whether a file can be of a set, by its name alone. */
#ifndef IMREC_IM2REC_SET_SHARD_NAMES_H
#define IMREC_IM2REC_SET_SHARD_NAMES_H

#include <stdbool.h>
#include <stddef.h>

struct shard_kind;

/* name[0..n), a name without a folder, is OUT or OUT-00003-of-00010 with one of the kind's
 * suffixes, and `list`, likewise without a folder, is the list OUT.lst: it tells sets apart,
 * whatever their shards are called. */
bool shard_name_is_of(const char *name, size_t n, const struct shard_kind *kind, const char *list);
#endif
