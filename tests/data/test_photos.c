/* tests/data/test_photos.c - the generator's images are the same on every machine, and are JPEGs
 * that libjpeg decodes to what was rendered. */
#include "base/alloc.h"
#include "data/photo.h"
#include "data/scenes.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

static uint64_t fnv(const uint8_t *p, size_t n) /* FNV-1a 64 */
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

/* One small image of every scene: hash of its pixels, hash of its file. */
static const uint64_t golden[SCENES][2] = {
    {0x63e7530e409106f0, 0x032aaf68bfba99b1}, {0x2a9197c8d7720a86, 0x1b6c3e247fce1cfd},
    {0x3dd700b4d252a77a, 0xa041ada39fccb8e9}, {0xab8d98f8e6312f04, 0x6daea7d341dbd9ac},
    {0x01df3b17f64bd1f0, 0x488a1b107e309810}, {0x35daee5c4c4b522a, 0x4940ee9d3f7f4bb9},
    {0x48cca7a1624bff9b, 0x98aaeadd233a16c4}, {0xc6c0e1131464a590, 0xd9a694d293a586ea},
    {0x7dd75a7dcda71d78, 0xcb562a454bc55c96}, {0xb85d54fed26308c6, 0x459aaada6cbeba9f},
};

START_TEST(an_image_has_the_same_pixels_and_bytes_everywhere)
{
    const struct photo p = photo_plan(0, _i, true);
    size_t n;
    uint8_t *rgb = photo_render(&p);
    uint8_t *file = photo_encode(&p, rgb, &n);
    const uint64_t pixels = fnv(rgb, 3 * (size_t)p.width * (size_t)p.height), bytes = fnv(file, n);
    if (pixels != golden[_i][0] || bytes != golden[_i][1])
        ck_abort_msg("image %d is {0x%016llx, 0x%016llx}", _i, (unsigned long long)pixels,
                     (unsigned long long)bytes);
    imrec_free(rgb);
    imrec_free(file);
}
END_TEST

/* Decodes with libjpeg, whose warnings count as failures; pixels are as stored. */
static uint8_t *decode(const uint8_t *file, size_t n, int *width, int *height)
{
    struct jpeg_decompress_struct d;
    struct jpeg_error_mgr e;
    d.err = jpeg_std_error(&e);
    jpeg_create_decompress(&d);
    jpeg_mem_src(&d, file, (unsigned long)n);
    ck_assert_int_eq(jpeg_read_header(&d, TRUE), JPEG_HEADER_OK);
    d.out_color_space = JCS_RGB;
    jpeg_start_decompress(&d);
    *width = (int)d.output_width;
    *height = (int)d.output_height;
    uint8_t *rgb = malloc(3 * (size_t)*width * (size_t)*height);
    while (d.output_scanline < d.output_height) {
        JSAMPROW row = rgb + 3 * (size_t)*width * d.output_scanline;
        jpeg_read_scanlines(&d, &row, 1);
    }
    jpeg_finish_decompress(&d);
    ck_assert_int_eq(e.num_warnings, 0);
    jpeg_destroy_decompress(&d);
    return rgb;
}

static double mean_square_difference(const uint8_t *a, const uint8_t *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (a[i] - b[i]) * (double)(a[i] - b[i]);
    return sum / (double)n;
}

static void check_layout(struct photo *p, const uint8_t *rgb, struct jpeg_how how, double limit)
{
    int width, height;
    size_t n;
    p->jpeg = how;
    uint8_t *file = photo_encode(p, rgb, &n);
    uint8_t *back = decode(file, n, &width, &height);
    const bool turned = how.orientation >= 5;
    ck_assert_int_eq(width, turned ? p->height : p->width);
    ck_assert_int_eq(height, turned ? p->width : p->height);
    if (how.orientation < 2)
        ck_assert_double_lt(mean_square_difference(rgb, back, 3 * (size_t)width * (size_t)height),
                            limit);
    imrec_free(file);
    free(back);
}

START_TEST(libjpeg_reads_back_what_was_rendered_in_every_layout)
{
    struct photo p = photo_plan(1, _i, true);
    p.jpeg.grey = false;
    uint8_t *rgb = photo_render(&p);
    for (int progressive = 0; progressive < 2; progressive++) {
        for (int across = 1; across <= 2; across++)
            for (int down = 1; down <= 2; down++)
                check_layout(&p, rgb,
                             (struct jpeg_how){.quality = 96,
                                               .across = across,
                                               .down = down,
                                               .progressive = progressive == 1,
                                               .restart_interval = progressive ? 0 : 3 * down},
                             across * down == 1 ? 14 : 300);
    }
    check_layout(&p, rgb, (struct jpeg_how){.quality = 100, .across = 1, .down = 1}, 1.5);
    imrec_free(rgb);
}
END_TEST

START_TEST(a_grey_image_has_one_component)
{
    struct photo p = photo_plan(2, _i, true);
    p.jpeg.grey = true;
    uint8_t *rgb = photo_render(&p);
    for (int progressive = 0; progressive < 2; progressive++)
        check_layout(
            &p, rgb,
            (struct jpeg_how){.quality = 96, .grey = true, .progressive = progressive == 1}, 6);
    imrec_free(rgb);
}
END_TEST

START_TEST(a_turned_image_is_stored_so_that_its_orientation_rights_it)
{
    static uint8_t rgb[3 * 16 * 24];
    struct photo p = {.width = 16, .height = 24};
    for (size_t i = 0; i < sizeof(rgb); i++) /* four flat quarters: 40, 90, 150, 220 */
        rgb[i] = (const uint8_t[]){40, 90, 150, 220}[(i / 3 / 16 / 12) * 2 + i / 3 % 16 / 8];
    /* quarters as stored, row by row, for orientations 1 to 8 (EXIF 2.3) */
    static const uint8_t stored[9][4] = {{0},
                                         {40, 90, 150, 220},
                                         {90, 40, 220, 150},
                                         {220, 150, 90, 40},
                                         {150, 220, 40, 90},
                                         {40, 150, 90, 220},
                                         {90, 220, 40, 150},
                                         {220, 90, 150, 40},
                                         {150, 40, 220, 90}};
    p.jpeg = (struct jpeg_how){.quality = 95, .across = 1, .down = 1, .orientation = _i};
    size_t n;
    int w, h;
    uint8_t *file = photo_encode(&p, rgb, &n), *back = decode(file, n, &w, &h);
    for (int q = 0; q < 4; q++) {
        const int x = w / 4 + q % 2 * w / 2, y = h / 4 + q / 2 * h / 2;
        ck_assert_int_le(abs(back[3 * (y * w + x)] - stored[_i][q]), 12);
    }
    imrec_free(file);
    free(back);
}
END_TEST

START_TEST(a_plan_depends_on_seed_and_number_alone)
{
    const struct photo a = photo_plan(3, 17, false), b = photo_plan(3, 17, false),
                       other = photo_plan(4, 17, false);
    ck_assert_uint_eq(a.seed, b.seed);
    ck_assert_int_eq(a.width, b.width);
    ck_assert_uint_ne(a.seed, other.seed);
    ck_assert_int_eq(a.scene, 17 % SCENES);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("photos");
    TCase *t = tcase_create("images");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, an_image_has_the_same_pixels_and_bytes_everywhere, 0, SCENES);
    tcase_add_loop_test(t, libjpeg_reads_back_what_was_rendered_in_every_layout, 0, SCENES);
    tcase_add_loop_test(t, a_grey_image_has_one_component, 0, 3);
    tcase_add_loop_test(t, a_turned_image_is_stored_so_that_its_orientation_rights_it, 1, 9);
    tcase_add_test(t, a_plan_depends_on_seed_and_number_alone);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    const int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
