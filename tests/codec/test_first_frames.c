/* The first frame of GIF and WebP files that decoders disagree about is Pillow's:
 * first_frames.json, which make_first_frames.py has written. */
#include "codec/codec.h"
#include "tests/support/built.h"
#include "tests/support/suite.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static json_t *g_cases;

/* "0aff" to bytes; the caller frees them. */
static struct bytes unhex(const json_t *text)
{
    const char *hex = json_string_value(text);
    const size_t n = strlen(hex) / 2;
    uint8_t *p = malloc(n + 1);
    for (size_t i = 0; i < n; i++) {
        unsigned v = 0;
        ck_assert_int_eq(sscanf(hex + 2 * i, "%2x", &v), 1);
        p[i] = (uint8_t)v;
    }
    return (struct bytes){p, n};
}

static bool is_built_in(const char *name)
{
    const char *dot = strrchr(name, '.');
    return built_with(dot + 1);
}

/* Pixel i of what Pillow has, in so many channels. */
static void want(const struct bytes rgb, const struct bytes alpha, size_t i, uint8_t px[4])
{
    memcpy(px, rgb.p + 3 * i, 3);
    px[3] = alpha.p[i];
}

static void compare(const json_t *c, uint32_t channels, enum codec_alpha on)
{
    const char *name = json_string_value(json_object_get(c, "name"));
    const struct codec_limits limits = {.max_pixels = 1 << 20, .alpha = on};
    const struct bytes file = unhex(json_object_get(c, "file"));
    const struct bytes rgb = unhex(json_object_get(c, "rgb"));
    const struct bytes alpha = unhex(json_object_get(c, "alpha"));
    struct imrec_image_info info;
    struct imrec_error err;
    struct image made = {0};
    struct codec *codec;
    ck_assert_int_eq(codec_new(&codec, NULL), IMREC_OK);
    ck_assert_msg(codec_begin(codec, file, &limits, &info, &err) == IMREC_OK, "%s: %s", name,
                  err.message);
    ck_assert_uint_eq(info.width,
                      (uint32_t)json_integer_value(json_array_get(json_object_get(c, "size"), 0)));
    ck_assert_uint_eq(info.height,
                      (uint32_t)json_integer_value(json_array_get(json_object_get(c, "size"), 1)));
    const struct imrec_rect all = {0, 0, info.width, info.height};
    ck_assert_msg(codec_decode_image(codec, all, channels, &made, NULL, &err) == IMREC_OK, "%s: %s",
                  name, err.message);
    for (size_t i = 0; i < (size_t)info.width * info.height; i++) {
        uint8_t px[4];
        want(rgb, alpha, i, px);
        for (uint32_t k = 0; k < 3 && on == CODEC_ALPHA_WHITE; k++)
            px[k] = (uint8_t)((px[k] * px[3] + 255 * (255 - px[3]) + 127) / 255);
        ck_assert_msg(memcmp(made.view.pixels + i * channels, px, channels) == 0,
                      "%s: pixel (%zu, %zu) in %u channels", name, i % info.width, i / info.width,
                      channels);
    }
    image_free(&made);
    codec_free(codec);
    free((void *)(uintptr_t)file.p);
    free((void *)(uintptr_t)rgb.p);
    free((void *)(uintptr_t)alpha.p);
}

static void compare_all(uint32_t channels, enum codec_alpha on)
{
    size_t i;
    const json_t *c;
    json_array_foreach(g_cases, i,
                       c) if (is_built_in(json_string_value(json_object_get(c, "name"))))
        compare(c, channels, on);
}

START_TEST(colours_are_those_of_pillows_convert_rgb)
{
    compare_all(3, CODEC_ALPHA_DROP);
}
END_TEST

START_TEST(colours_and_alpha_are_those_of_pillows_convert_rgba)
{
    compare_all(4, CODEC_ALPHA_DROP);
}
END_TEST

START_TEST(the_packer_blends_them_on_white)
{
    compare_all(3, CODEC_ALPHA_WHITE);
}
END_TEST

static const char *kind_of(const char *name, struct imrec_image_info *info)
{
    size_t i;
    const json_t *c;
    json_array_foreach(g_cases, i, c)
    {
        if (strcmp(json_string_value(json_object_get(c, "name")), name) != 0)
            continue;
        const struct bytes file = unhex(json_object_get(c, "file"));
        ck_assert_int_eq(imrec_image_info(file.p, file.n, info, NULL), IMREC_OK);
        free((void *)(uintptr_t)file.p);
        return info->kind;
    }
    return "no such case";
}

START_TEST(a_file_of_several_frames_is_called_an_animation)
{
    struct imrec_image_info info;
    if (built_with("gif")) {
        ck_assert_str_eq(kind_of("plain.gif", &info), "");
        ck_assert_str_eq(kind_of("extensions.gif", &info), "");
        ck_assert_str_eq(kind_of("disposal_2.gif", &info), "animation");
    }
    if (built_with("webp")) {
        ck_assert_str_eq(kind_of("still_alpha.webp", &info), "");
        ck_assert_str_eq(kind_of("animated_lossy.webp", &info), "animation");
        ck_assert_str_eq(kind_of("animated_exif.webp", &info), "animation");
        ck_assert_uint_eq(info.orientation, 6);
    }
}
END_TEST

/* Every prefix of a file: the same pixels, or an error; with truncation accepted never a crash. */
static void cut_everywhere(const json_t *c)
{
    const struct bytes file = unhex(json_object_get(c, "file"));
    const struct bytes rgb = unhex(json_object_get(c, "rgb"));
    struct codec *codec;
    struct image made = {0};
    struct imrec_image_info info;
    ck_assert_int_eq(codec_new(&codec, NULL), IMREC_OK);
    for (size_t n = 0; n < file.n; n++)
        for (int accept = 0; accept < 2; accept++) {
            const struct codec_limits limits = {.max_pixels = 1 << 20, .accept_truncated = accept};
            if (codec_begin(codec, (struct bytes){file.p, n}, &limits, &info, NULL) != IMREC_OK)
                continue;
            const struct imrec_rect all = {0, 0, info.width, info.height};
            if (codec_decode_image(codec, all, 3, &made, NULL, NULL) == IMREC_OK && !accept)
                ck_assert_mem_eq(made.view.pixels, rgb.p, rgb.n);
        }
    image_free(&made);
    codec_free(codec);
    free((void *)(uintptr_t)file.p);
    free((void *)(uintptr_t)rgb.p);
}

START_TEST(a_file_that_is_cut_is_whole_or_refused)
{
    size_t i;
    const json_t *c;
    json_array_foreach(g_cases, i,
                       c) if (is_built_in(json_string_value(json_object_get(c, "name"))))
        cut_everywhere(c);
}
END_TEST

int main(void)
{
    g_cases = json_load_file(IMREC_SOURCE_DIR "/tests/codec/first_frames.json", 0, NULL);
    if (g_cases == NULL)
        return EXIT_FAILURE;
    Suite *s = suite_create("first frames");
    TCase *c = tcase_create("all");
    tcase_add_test(c, colours_are_those_of_pillows_convert_rgb);
    tcase_add_test(c, colours_and_alpha_are_those_of_pillows_convert_rgba);
    tcase_add_test(c, the_packer_blends_them_on_white);
    tcase_add_test(c, a_file_of_several_frames_is_called_an_animation);
    tcase_add_test(c, a_file_that_is_cut_is_whole_or_refused);
    suite_add_tcase(s, c);
    return suite_run(s);
}
