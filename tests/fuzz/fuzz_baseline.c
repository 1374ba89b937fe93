/* tests/fuzz/fuzz_baseline.c - arbitrary bytes as a JPEG: with our decoder for plain ones and
 * without it everything is the same. */
#include "tests/support/twin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_PIXELS (128 * 128)

static void compare_all(struct twin *t, struct bytes jpeg, const struct codec_limits *limits,
                        const struct imrec_picture_info *info)
{
    const struct imrec_rect all = {0, 0, info->width, info->height};
    const struct imrec_rect part = {info->width / 3, info->height / 3, (info->width + 2) / 3,
                                    (info->height + 2) / 3};
    (void)twin_compare(t, jpeg, limits, TWIN_REGION, all, 3);
    (void)twin_compare(t, jpeg, limits, TWIN_REGION, part, 3);
    (void)twin_compare(t, jpeg, limits, TWIN_REGION, part, 1);
    (void)twin_compare(t, jpeg, limits, TWIN_CHECK, all, 3);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct imrec_picture_info info;
    struct twin twin;
    uint8_t *copy = malloc(size != 0 ? size : 1); /* its end is guarded by the sanitizer */
    if (copy == NULL)
        abort();
    memcpy(copy, data, size);
    const struct bytes jpeg = {copy, size};
    twin_begin(&twin);
    for (int i = 0; i < 2; i++) {
        const struct codec_limits limits = {
            .max_pixels = MAX_PIXELS, .max_scans = 5, .accept_truncated = i == 1};
        if (size > 2 && copy[0] == 0xFF &&
            codec_begin(twin.own, jpeg, &limits, &info, NULL) == IMREC_OK)
            compare_all(&twin, jpeg, &limits, &info);
    }
    twin_end(&twin);
    free(copy);
    return 0;
}
