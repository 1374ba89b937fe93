/* im2rec/shard/shard_kinds.h - the kinds of shards that the packer writes. One more is a file here
 * and its row in shard_kinds.c, with its word of `format` in imrec/packer.h and its suffix in
 * formats/set/set_names.c. */
#ifndef IMREC_IM2REC_SHARD_SHARD_KINDS_H
#define IMREC_IM2REC_SHARD_SHARD_KINDS_H

#include "im2rec/shard/shard_writer.h"

/* By enum imrec_pack_format; NULL after the last. */
extern const struct shard_kind *const shard_kinds[];
/* The kind with this word of `format`; NULL: none. */
const struct shard_kind *shard_kind_of_format(const char *format);
/* The kind whose shards are called so; NULL: none. */
const struct shard_kind *shard_kind_of_name(const char *name);
/* Whether `name` ends like a shard of this kind. */
bool shard_name_has_suffix(const struct shard_kind *kind, const char *name);
#endif
