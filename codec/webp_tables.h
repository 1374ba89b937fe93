/* codec/webp_tables.h - how much memory the codes of a lossless WebP take. */
#ifndef IMREC_CODEC_WEBP_TABLES_H
#define IMREC_CODEC_WEBP_TABLES_H

#include "base/bytes.h"

/* Maximum bytes of libwebp's tables for decoding such data: of an image ("VP8L" holds it after 5
 * bytes that name its size) or a plane of alpha (in "ALPH" after 1 byte). Data that are broken
 * before that place take none, because libwebp does not reach it either. */
uint64_t webp_tables_bytes(struct bytes data, uint32_t width, uint32_t height);
#endif
