/* codec/jpeg_encode.c - pixels to JPEG by our own encoder: slow integer DCT, optimal Huffman
 * tables (2 to 8 % smaller), JFIF and nothing else; restart markers where they are asked for. */
#include "codec/jpeg_encode.h"

#include "base/error.h"
#include "codec/format.h"
#include "codec/jpeg/encode/jpeg_encoder.h"
#include "codec/jpeg_writer.h"

enum {
    FIRST_BYTES = 64 << 10,
    KEPT_BYTES = 4 << 20, /* of what was on the way to the result, between images */
};

/* In quarter bytes a pixel: noise that takes all of the range, and a quarter to a half more. Grey
 * has two thirds of the coefficients; 4:4:4 has twice as many. */
static uint64_t most_bytes(uint64_t pixels, struct codec_jpeg_how how)
{
    const uint64_t quarters = how.quality > 98   ? 14
                              : how.quality > 95 ? 10
                              : how.quality > 90 ? 8
                              : how.quality > 75 ? 6
                                                 : 4;
    return pixels * quarters * (how.full_chroma ? 2 : 1) / 4 + FIRST_BYTES;
}

uint64_t codec_encode_jpeg_most(uint32_t width, uint32_t height, struct codec_jpeg_how how)
{
    return most_bytes((uint64_t)width * height, how);
}

/* The JPEG's buffer is made for twice its bytes: any of them may need stuffing. Buffers are a
 * quarter larger than they need be, and of the JPEG's bytes a quarter was to spare. */
uint64_t codec_encode_jpeg_claim(uint32_t width, uint32_t height, uint32_t channels,
                                 struct codec_jpeg_how how)
{
    return 3 * most_bytes((uint64_t)width * height, how) +
           jpeg_encoder_claim(width, height, channels, how.full_chroma);
}

enum imrec_status codec_encode_jpeg(struct codec *c, const struct imrec_image *image,
                                    struct codec_jpeg_how how, struct bytes *out,
                                    struct imrec_error *err)
{
    const int quality = how.quality;
    if (quality < 1 || quality > 100 || (image->channels != 1 && image->channels != 3))
        return IMREC_REFUSE(err,
                            "JPEG: quality %d with %u channels; quality is 1..100, channels are "
                            "1 or 3",
                            quality, image->channels);
    if (image->width > JPEG_MAX_SIDE || image->height > JPEG_MAX_SIDE)
        return imrec_fail(err, IMREC_ERR_LIMIT, "JPEG: %u x %u px; a side is limited to %d px",
                          image->width, image->height, JPEG_MAX_SIDE);
    if (c->encoder == NULL)
        IMREC_TRY(jpeg_encoder_new(&c->encoder, err));
    const uint64_t most = codec_encode_jpeg_most(image->width, image->height, how);
    const struct jpeg_encoding encoding = {.quality = quality,
                                           .tile = how.tile,
                                           .full_chroma = how.full_chroma,
                                           .shared = c->tables != NULL ? c->tables->spec : NULL,
                                           .shared_most = most - most / 5}; /* see the claim */
    IMREC_TRY(jpeg_encode(c->encoder, image, &encoding, c->stop, &c->encoded, err));
    if (jpeg_encoder_memory(c->encoder) > KEPT_BYTES) /* one large image is no reason to hold it */
        jpeg_encoder_drop(c->encoder);
    *out = (struct bytes){c->encoded.p, c->encoded.n};
    return IMREC_OK;
}

/* ---- shared tables ------------------------------------------------------------------------ */

void codec_share_tables(struct codec *c, const struct jpeg_tables *tables)
{
    c->tables = tables;
}

enum imrec_status codec_count_symbols(struct codec *c, struct bytes jpeg,
                                      struct jpeg_counts *counts, struct imrec_error *err)
{
    struct jpeg_writer *w;
    bool done;
    IMREC_TRY(jpeg_writer_of(c, &w, err));
    return jpeg_optimizer_count(w->optimizer, jpeg, c->stop, counts->of, &done, err);
}

/* A JPEG of 4:4:4 has twice the coefficients that the optimizer expects. Of its bits there is one
 * more copy, a quarter larger: of noise four bytes a pixel and more. */
uint64_t codec_count_claim(uint32_t width, uint32_t height)
{
    const uint64_t pixels = (uint64_t)width * height;
    return jpeg_optimizer_claim(2 * pixels) + 6 * pixels;
}
