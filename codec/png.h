/* codec/png.h - libspng with our memory and our errors; and the memory of an encoded PNG. */
#ifndef IMREC_CODEC_PNG_H
#define IMREC_CODEC_PNG_H

#include "codec/codec.h"

bool png_matches(struct bytes b);
void png_encoded_free(struct codec *c);

#if IMREC_HAVE_SPNG
#include <spng.h>
extern struct spng_alloc png_allocator;
IMREC_NODISCARD enum imrec_status png_error(int e, struct imrec_error *err);
/* What was encoded with the outcome e, in c->png; frees ctx. */
IMREC_NODISCARD enum imrec_status png_deliver(struct codec *c, struct spng_ctx *ctx, int e,
                                              struct bytes *out, struct imrec_error *err);
/* A decoder of such bytes and at most such a size. */
IMREC_NODISCARD enum imrec_status png_decoder(struct bytes png, uint32_t width, uint32_t height,
                                              spng_ctx **out, struct imrec_error *err);
#endif
#endif
