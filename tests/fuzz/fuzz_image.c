/* tests/fuzz/fuzz_image.c - arbitrary bytes as an image of any format: claimed, whole, a region,
 * scaled and checked; accepted truncated and not. A region is what the whole has in its place. */
#include "base/image.h"
#include "codec/codec.h"
#include "tests/fuzz/must.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_PIXELS (256 * 256)

/* Both decode without warnings: the region is a cut of the whole. */
static void compare(struct codec *c, struct bytes image, const struct codec_limits *limits,
                    const struct imrec_image_info *info, uint32_t channels)
{
    const struct imrec_rect all = {0, 0, info->width, info->height};
    const struct imrec_rect part = {info->width / 3, info->height / 3, (info->width + 2) / 3,
                                    (info->height + 2) / 3};
    struct image whole = {0}, cut = {0};
    struct imrec_image_info again;
    uint32_t warnings = 0, more = 0;
    const bool made =
        codec_decode_image(c, all, channels, &whole, &warnings, NULL) == IMREC_OK && warnings == 0;
    must(codec_begin(c, image, limits, &again, NULL) == IMREC_OK);
    if (codec_decode_image(c, part, channels, &cut, &more, NULL) == IMREC_OK && made && more == 0)
        for (uint32_t y = 0; y < part.height; y++)
            must(memcmp(cut.view.pixels + y * cut.view.stride,
                        whole.view.pixels + (y + part.y) * whole.view.stride + part.x * channels,
                        part.width * channels) == 0);
    image_free(&whole);
    image_free(&cut);
}

static void
try(struct codec *c, struct bytes image, const struct codec_limits *limits, uint32_t channels)
{
    struct imrec_image_info info;
    struct image scaled = {0};
    (void)codec_begin_claim(image);
    if (codec_begin(c, image, limits, &info, NULL) != IMREC_OK)
        return;
    must(codec_claim(c, 1) >= 4 * (uint64_t)info.width); /* walks over what a file claims */
    must((uint64_t)info.width * info.height <= MAX_PIXELS && info.width != 0 && info.height != 0);
    must(info.orientation >= 1 && info.orientation <= 8);
    compare(c, image, limits, &info, channels);
    if (codec_begin(c, image, limits, &info, NULL) == IMREC_OK)
        (void)!codec_decode_scaled(c, 4, channels, &scaled, NULL, NULL);
    if (codec_begin(c, image, limits, &info, NULL) == IMREC_OK)
        (void)!codec_check(c, NULL, NULL);
    image_free(&scaled);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t channels[] = {1, 3, 4};
    struct codec *c;
    uint8_t *copy = malloc(size != 0 ? size : 1); /* its end is guarded by the sanitizer */
    must(copy != NULL && codec_new(&c, NULL) == IMREC_OK);
    memcpy(copy, data, size);
    for (int i = 0; i < 3; i++) {
        const struct codec_limits limits = {.max_pixels = MAX_PIXELS,
                                            .max_scans = 20,
                                            .accept_truncated = i == 1,
                                            .alpha = i == 2 ? CODEC_ALPHA_WHITE : CODEC_ALPHA_DROP};
        try(c, (struct bytes){copy, size}, &limits, channels[i]);
    }
    codec_free(c);
    free(copy);
    return 0;
}
