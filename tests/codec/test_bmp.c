/* tests/codec/test_bmp.c - bitmaps of every depth and direction, by hand. */
#include "codec/codec.h"
#include "tests/support/guard.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* 2 x 2 px: top row red, green; bottom row blue, white. */
static const uint8_t wanted[12] = {255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255};
static const uint8_t palette[16] = {0, 0, 255, 0, 0, 255, 0, 0, 255, 0, 0, 0, 255, 255, 255, 0};

static const struct {
    uint8_t bits, compression;
    bool top_down;
    uint8_t n, rows[16]; /* stored order */
} kinds[] = {
    {24, 0, false, 16, {255, 0, 0, 255, 255, 255, 0, 0, 0, 0, 255, 0, 255, 0, 0, 0}},
    {24, 0, true, 16, {0, 0, 255, 0, 255, 0, 0, 0, 255, 0, 0, 255, 255, 255, 0, 0}},
    {32, 0, true, 16, {0, 0, 255, 0, 0, 255, 0, 0, 255, 0, 0, 0, 255, 255, 255, 0}},
    {16, 0, true, 8, {0x00, 0x7C, 0xE0, 0x03, 0x1F, 0x00, 0xFF, 0x7F}},
    {8, 0, false, 8, {2, 3, 0, 0, 0, 1, 0, 0}},
    {4, 0, false, 8, {0x23, 0, 0, 0, 0x01, 0, 0, 0}},
    {8, 1, false, 12, {1, 2, 1, 3, 0, 0, 1, 0, 1, 1, 0, 1}},
    {4, 2, false, 8, {2, 0x23, 0, 0, 2, 0x01, 0, 1}},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]), HEAD = 54 };

static size_t make(int kind, uint8_t *p)
{
    const size_t colours = kinds[kind].bits <= 8 ? sizeof(palette) : 0;
    memset(p, 0, 128);
    memcpy(p, "BM", 2);
    store_le32(p + 10, (uint32_t)(HEAD + colours));
    store_le32(p + 14, 40);
    store_le32(p + 18, 2);
    store_le32(p + 22, kinds[kind].top_down ? 0u - 2u : 2);
    p[26] = 1;
    p[28] = kinds[kind].bits;
    p[30] = kinds[kind].compression;
    p[46] = colours != 0 ? 4 : 0;
    memcpy(p + HEAD, palette, colours);
    memcpy(p + HEAD + colours, kinds[kind].rows, kinds[kind].n);
    return HEAD + colours + kinds[kind].n;
}

static enum imrec_status decode(struct bytes b, struct imrec_image *out, struct imrec_decoder *d)
{
    return imrec_decoder_decode(d, b.p, b.n, 3, true, 1 << 16, out, NULL);
}

START_TEST(every_kind_gives_the_same_four_pixels) /* loop over kinds */
{
    uint8_t p[128];
    const size_t n = make(_i, p);
    struct guarded g = guarded_copy(p, n);
    struct imrec_decoder *d = NULL;
    struct imrec_image out;
    ck_assert_int_eq(imrec_decoder_new(&d, NULL), IMREC_OK);
    ck_assert_int_eq(decode((struct bytes){g.p, n}, &out, d), IMREC_OK);
    ck_assert_mem_eq(out.pixels, wanted, sizeof(wanted));
    imrec_decoder_free(d);
    guarded_free(g);
}
END_TEST

START_TEST(no_byte_of_the_header_leads_outside) /* loop over kinds */
{
    uint8_t p[128];
    const size_t n = make(_i, p);
    struct imrec_decoder *d = NULL;
    struct imrec_image out;
    ck_assert_int_eq(imrec_decoder_new(&d, NULL), IMREC_OK);
    for (size_t at = 2; at < n; at++)
        for (int v = 0; v < 256; v += v < 4 || v > 250 ? 1 : 13) {
            struct guarded g = guarded_copy(p, n);
            g.p[at] = (uint8_t)v;
            (void)!decode((struct bytes){g.p, n}, &out, d);
            (void)!decode((struct bytes){g.p + 0, at}, &out, d);
            guarded_free(g);
        }
    imrec_decoder_free(d);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("bmp");
    TCase *tc = tcase_create("bmp");
    tcase_set_timeout(tc, 30);
    tcase_add_loop_test(tc, every_kind_gives_the_same_four_pixels, 0, KINDS);
    tcase_add_loop_test(tc, no_byte_of_the_header_leads_outside, 0, KINDS);
    suite_add_tcase(s, tc);
    SRunner *sr = srunner_create(s);
    srunner_run_all(sr, CK_ENV);
    const int failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
