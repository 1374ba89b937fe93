/* codec/webp_tables.h - how much memory the codes of a lossless WebP take. */
#ifndef IMREC_CODEC_WEBP_TABLES_H
#define IMREC_CODEC_WEBP_TABLES_H

#include "base/bytes.h"

/* Bytes that libwebp's tables for decoding such data take, at most: of an image ("VP8L" holds it
 * behind 5 bytes that name its size) or a plane of alpha (in "ALPH" behind 1 byte). Data that are
 * broken before that is known take none, as libwebp does not come so far either. */
uint64_t webp_tables_bytes(struct bytes data, uint32_t width, uint32_t height);
#endif
