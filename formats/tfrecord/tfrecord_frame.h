/* formats/tfrecord/tfrecord_frame.h - the frame of a record in a TFRecord file, little-endian:
 *     u64 length | u32 sum of these 8 bytes | content | u32 sum of the content
 * A sum is a masked CRC-32C (formats/crc32c.h). docs/formats/tfrecord.md is the specification. */
#ifndef IMREC_FORMATS_TFRECORD_TFRECORD_FRAME_H
#define IMREC_FORMATS_TFRECORD_TFRECORD_FRAME_H

#include "base/buf.h"
#include "base/bytes.h"

#define TFRECORD_HEAD_BYTES 12u /* length and its sum */
#define TFRECORD_TAIL_BYTES 4u

/* The length in a head; false: its sum is another one. */
bool tfrecord_head(const uint8_t p[TFRECORD_HEAD_BYTES], uint64_t *length);
/* Whether a file begins with a head. */
bool tfrecord_is_head(struct bytes first);
/* Whether the tail has the sum of the content. */
bool tfrecord_is_intact(struct bytes content, const uint8_t tail[TFRECORD_TAIL_BYTES]);
/* Where the first head in b is whose record ends within `left` bytes from b.p on, of which b is the
 * beginning; b.n: there is none, or it begins in the last TFRECORD_HEAD_BYTES - 1 bytes. */
size_t tfrecord_find(struct bytes b, uint64_t left);

/* Appends the content in its frame. */
IMREC_NODISCARD enum imrec_status
tfrecord_frame(struct bytes content, struct buf *out, struct imrec_error *err);
#endif
