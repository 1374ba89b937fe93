/* im2rec/item/pack_options.h - the packer's table, and what one option says about another. */
#ifndef IMREC_IM2REC_ITEM_PACK_OPTIONS_H
#define IMREC_IM2REC_ITEM_PACK_OPTIONS_H

#include "base/fnv.h"
#include "base/param.h"
#include "codec/codec.h"
#include "imrec/packer.h"

extern const struct param pack_params[];

/* Takes over the fields that the caller's struct has, checks ranges and combinations. */
IMREC_NODISCARD enum imrec_status pack_options_check(const struct imrec_pack_options *given,
                                                     struct imrec_pack_options *out,
                                                     struct imrec_error *err);

/* *t with paths where it has file:// in front of them; no root is the current folder.
 * IMREC_ERR_UNSUPPORTED: the root is in a store that has no folders. */
IMREC_NODISCARD enum imrec_status pack_task_paths(const struct imrec_pack_task *t,
                                                  struct imrec_pack_task *out,
                                                  struct imrec_error *err);

/* Of every image: 1, 3, or 0 where it is each one's own. */
uint32_t pack_options_channels(const struct imrec_pack_options *o);
/* Are records JPEGs that the packer encodes? */
bool pack_options_encodes_jpeg(const struct imrec_pack_options *o);
/* And how. */
struct codec_jpeg_how pack_options_jpeg(const struct imrec_pack_options *o);
/* Are JPEGs that are passed through written again, without loss? */
bool pack_options_rewrites(const struct imrec_pack_options *o);
/* One of both. */
bool pack_options_writes_jpeg(const struct imrec_pack_options *o);

/* Whether the set's bytes depend on it; these are in the manifest. */
bool pack_option_shapes(const struct imrec_pack_options *o, const struct param *p);
#define PACK_OPTION_BYTES 4200 /* of any value as text */
void pack_option_text(const struct imrec_pack_options *o, const struct param *p, char *out,
                      size_t room);
/* The text that it has where nobody names it, and the others are as in *o. */
void pack_option_preset(const struct imrec_pack_options *o, const struct param *p, char *out,
                        size_t room);

/* 64 bits over every option that shapes the bytes of the set; `from` goes in first. */
uint64_t pack_options_fingerprint(const struct imrec_pack_options *o, uint64_t from);

/* FNV-1a over more bytes. */
#define FINGERPRINT_START FNV_START
uint64_t fingerprint(uint64_t from, const void *p, size_t n);
#endif
