/* im2rec/set/shard_files.h - one shard being written: .rec, .idx and .crc under temporary names, or
 * a CBF file. */
#ifndef IMREC_IM2REC_SET_SHARD_FILES_H
#define IMREC_IM2REC_SET_SHARD_FILES_H

#include "base/buf.h"
#include "formats/set/checksums.h"
#include "im2rec/set/cbf_shard.h"
#include "im2rec/set/journal.h"

#define NAME_BYTES 4096 /* of every name of an output; writer_open() refuses longer ones */

struct shard_files {
    struct sink *rec, *idx, *crc; /* NULL: not open */
    struct checksums_writer sums;
    uint32_t idx_crc;
    struct buf text;
    struct cbf_shard *cbf; /* instead of the three */
};

/* `rec` is the working name of the shard; from->records of it are there already. shape: of a CBF
 * file, or NULL. */
IMREC_NODISCARD enum imrec_status shard_open(const char *rec, const struct cbf_shape *shape,
                                             const struct journal_shard *from,
                                             struct shard_files *out, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status shard_put(struct shard_files *s, uint64_t key,
                                            struct bytes framed, uint32_t crc,
                                            struct imrec_error *err);
IMREC_NODISCARD enum imrec_status shard_sync(struct shard_files *s, struct imrec_error *err);
/* What it holds now; out->number is left alone. */
void shard_sums(const struct shard_files *s, struct journal_shard *out);
/* Durable under the temporary names, and closed. */
IMREC_NODISCARD enum imrec_status
shard_finish(struct shard_files *s, struct journal_shard *out, struct imrec_error *err);
bool shard_is_open(const struct shard_files *s);
/* Of an open one: sink_stop_with(). */
void shard_stop_with(struct shard_files *s, const struct stop *stop);
/* All that was put can be made durable now; of a CBF file only whole chunks can. */
bool shard_is_even(const struct shard_files *s);
uint64_t shard_size(const struct shard_files *s); /* bytes of the shard so far */
void shard_leave(struct shard_files *s);          /* zeroed memory is fine */
#endif
