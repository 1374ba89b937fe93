/* What becomes of one image: turned, cropped, resampled, recoloured, checked. */
#include "augment/resize/resample.h"
#include "base/alloc.h"
#include "formats/recordio/image_record.h"
#include "formats/recordio/recordio.h"
#include "imrec/codec.h"
#include "imrec/image.h"
#include "tests/support/built.h"
#include "tests/support/images.h"
#include "tests/support/packing.h"
#include "tests/support/suite.h"

static struct packing p;
static struct bytes record; /* the file OUT.rec */

static const struct jpeg_layout plain = {.colours = COLOURS_YCC, .h = 1, .v = 1, .quality = 98};

static void setup(void)
{
    memset(&p, 0, sizeof(p));
    p.dir = tmpdir_make();
    make_folder(&p.dir, "source");
    snprintf(p.source, sizeof(p.source), "%s/source", p.dir.path);
    imrec_pack_options_init(&p.o);
    p.o.quality = 98;
    p.o.threads = 1;
    record = (struct bytes){NULL, 0};
}

static void teardown(void)
{
    free((void *)(uintptr_t)record.p);
    packing_remove(&p);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

/* Packs these bytes as the only image; the image of the record, if it was packed. */
static struct bytes pack_one(struct bytes file)
{
    static const char list[] = "7\t3.5\tone\n";
    struct recordio_span span;
    struct image_record r;
    const struct imrec_pack_task task = {
        .list = kept_path(&p, "one.lst"), .root = p.source, .out = kept_path(&p, "out")};
    tmp_write(&p.dir, "one.lst", list, sizeof(list) - 1);
    tmp_write(&p.dir, "source/one", file.p, file.n);
    p.o.force = true;
    if (imrec_pack(&task, &p.o, &p.result, &p.err) != IMREC_OK)
        return (struct bytes){NULL, 0};
    free((void *)(uintptr_t)record.p);
    record = read_whole(tmp_path(&p.dir, "out.rec"));
    ck_assert_int_eq(recordio_measure(record.p, record.n, 0, &span, &p.err), IMREC_OK);
    ck_assert_int_eq(
        image_record_parse(recordio_join((uint8_t *)(uintptr_t)record.p, &span), &r, &p.err),
        IMREC_OK);
    ck_assert_uint_eq(r.id, 7);
    ck_assert(r.label == 3.5f);
    return r.image;
}

struct decoded {
    struct imrec_decoder *d;
    struct imrec_image i;
};

static struct decoded decode(struct bytes b, uint32_t channels)
{
    struct decoded x;
    ck_assert_int_eq(imrec_decoder_new(&x.d, &p.err), IMREC_OK);
    ck_assert_msg(imrec_decoder_decode(x.d, b.p, b.n, channels, true, 1 << 28, &x.i, &p.err) ==
                      IMREC_OK,
                  "%s", p.err.message);
    return x;
}

/* Mean difference of two images of equal size; b begins at (x, y). */
static double
difference(const struct imrec_image *a, const struct imrec_image *b, uint32_t x, uint32_t y)
{
    double sum = 0;
    for (uint32_t row = 0; row < a->height; row++)
        for (uint32_t i = 0; i < a->width * a->channels; i++)
            sum += abs((int)a->pixels[row * a->stride + i] -
                       (int)b->pixels[(row + y) * b->stride + x * b->channels + i]);
    return sum / a->height / a->width / a->channels;
}

CASE(.setup = setup, .teardown = teardown)

LOOP_TEST(every_orientation_is_packed_upright, 1, 9) /* _i: 1..8 */
{
    struct bytes jpeg = jpeg_with_orientation(jpeg_make(120, 72, &plain), (uint8_t)_i, _i % 2 == 0);
    p.o.center_crop = _i > 4;
    const struct bytes image = pack_one(jpeg);
    ck_assert_msg(image.p != NULL, "%s", p.err.message);
    struct decoded want = decode(jpeg, 1), got = decode(image, 1);
    const uint32_t width = want.i.width, height = want.i.height;
    ck_assert_uint_eq(width, _i > 4 ? 72 : 120);
    ck_assert_uint_eq(got.i.width, p.o.center_crop ? 72 : width);
    ck_assert_uint_eq(got.i.height, p.o.center_crop ? 72 : height);
    const uint32_t y = (height - got.i.height) / 2;
    ck_assert_uint_eq(y, p.o.center_crop ? 24 : 0);
    ck_assert(difference(&got.i, &want.i, 0, y) < 2);
    imrec_decoder_free(want.d);
    imrec_decoder_free(got.d);
    bytes_free(jpeg);
}

static const struct {
    uint32_t width, height;
    int64_t resize;
    bool crop;
    uint32_t to_width, to_height;
} sizes[] = {
    {800, 600, 37, false, 49, 37},  {600, 800, 37, false, 37, 49}, {799, 601, 74, false, 98, 74},
    {64, 50, 200, false, 256, 200}, {800, 600, 37, true, 37, 37},  {500, 375, 256, false, 341, 256},
    {1, 300, 20, false, 20, 6000},  {9, 9, 9, false, 9, 9},        {31, 30, 0, true, 30, 30},
    {148, 200, 37, false, 37, 50},  {147, 200, 37, false, 37, 50},
};

LOOP_TEST(the_shorter_side_is_what_was_asked_for_however_the_decoder_shrank, 0, COUNT(sizes))
{
    struct bytes jpeg = jpeg_make(sizes[_i].width, sizes[_i].height, &plain);
    p.o.resize = sizes[_i].resize;
    p.o.center_crop = sizes[_i].crop;
    const struct bytes image = pack_one(jpeg);
    struct imrec_image_info info;
    ck_assert_int_eq(imrec_image_info(image.p, image.n, &info, &p.err), IMREC_OK);
    ck_assert_uint_eq(info.width, sizes[_i].to_width);
    ck_assert_uint_eq(info.height, sizes[_i].to_height);
    ck_assert_uint_eq(p.result.width.most, sizes[_i].to_width);
    ck_assert_uint_eq(p.result.height.least, sizes[_i].to_height);
    bytes_free(jpeg);
}

/* What the packer must come to, step by step. */
static struct bytes
step_by_step(struct codec *c, struct bytes jpeg, uint32_t d, uint32_t width, uint32_t height)
{
    const struct codec_limits limits = {.max_pixels = -1};
    struct imrec_image_info info;
    struct resize_scratch *scratch;
    struct image full = {0}, small = {0};
    struct bytes out;
    ck_assert_int_eq(codec_begin(c, jpeg, &limits, &info, &p.err), IMREC_OK);
    ck_assert_int_eq(codec_decode_scaled(c, d, 3, &full, NULL, &p.err), IMREC_OK);
    ck_assert_int_eq(resize_scratch_new(&scratch, &p.err), IMREC_OK);
    ck_assert_int_eq(resample(&full.view, width, height, &small, scratch, &p.err), IMREC_OK);
    ck_assert_int_eq(codec_encode_jpeg(c, &small.view,
                                       (struct codec_jpeg_how){.quality = 98, .tile = true}, &out,
                                       &p.err),
                     IMREC_OK);
    resize_scratch_free(scratch);
    image_free(&full);
    image_free(&small);
    return out;
}

LOOP_TEST(the_decoder_shrinks_as_far_as_twice_the_target_is_left, 0, 7)
{
    static const struct {
        uint32_t shorter, d;
    } cases[] = {{147, 1}, {148, 2}, {295, 2}, {296, 4}, {591, 4}, {592, 8}, {1200, 8}};
    struct bytes jpeg = jpeg_make(cases[_i].shorter * 2, cases[_i].shorter, &plain);
    struct codec *c;
    p.o.resize = 37;
    const struct bytes image = pack_one(jpeg);
    ck_assert_int_eq(codec_new(&c, &p.err), IMREC_OK);
    const struct bytes want = step_by_step(c, jpeg, cases[_i].d, 74, 37);
    ck_assert_uint_eq(image.n, want.n);
    ck_assert(memcmp(image.p, want.p, want.n) == 0);
    codec_free(c);
    bytes_free(jpeg);
}

/* PNG in and out: what is between them is the resize alone. */
LOOP_TEST(a_method_of_opencv_gives_the_pixels_of_imrec_image_resize, 0, 7)
{
    static const int methods[] = {0, 1, 2, 3, 4, 9, 9};
    static const uint32_t heights[] = {20, 20, 20, 20, 20, 20, 90};
    enum { W = 80, H = 41 };
    static uint8_t from[W * H * 3], to[200 * 200 * 3];
    if (!built_with("png"))
        return;
    for (size_t i = 0; i < sizeof(from); i++)
        from[i] = (uint8_t)(i * 2654435761u >> 13);
    const struct imrec_image whole = {from, W * 3, W, H, 3};
    const uint32_t h = heights[_i], w = W * h / H;
    const struct imrec_image small = {to, w * 3, w, h, 3};
    const int method = methods[_i] != 9 ? methods[_i] : h > H ? 2 : 3;
    struct codec *c;
    struct bytes png;
    ck_assert_int_eq(codec_new(&c, &p.err), IMREC_OK);
    ck_assert_int_eq(codec_encode_png(c, &whole, 3, &png, &p.err), IMREC_OK);
    p.o.encoding = IMREC_ENCODE_PNG;
    p.o.resize = h;
    p.o.inter_method = methods[_i];
    const struct bytes image = pack_one(png);
    ck_assert_msg(image.n != 0, "%s", p.err.message);
    struct decoded ours = decode(image, 3);
    ck_assert_int_eq(imrec_image_resize(&whole, &small, method, &p.err), IMREC_OK);
    ck_assert_uint_eq(ours.i.width, w);
    ck_assert_uint_eq(ours.i.height, h);
    ck_assert(difference(&ours.i, &small, 0, 0) == 0);
    imrec_decoder_free(ours.d);
    codec_free(c);
}

TEST(a_random_method_depends_on_seed_and_id_alone)
{
    struct bytes jpeg = jpeg_make(90, 60, &plain);
    char first[1 << 14];
    size_t n = 0, other = 0;
    p.o.resize = 33;
    p.o.inter_method = 10;
    for (int i = 0; i < 12; i++) {
        p.o.seed = i / 2;
        p.kept_count = 0;
        const struct bytes image = pack_one(jpeg);
        ck_assert_uint_lt(image.n, sizeof(first));
        if (i % 2 == 1)
            ck_assert(image.n == n && memcmp(image.p, first, n) == 0);
        other += i > 0 && (image.n != n || memcmp(image.p, first, n) != 0);
        memcpy(first, image.p, n = image.n);
    }
    ck_assert_uint_gt(other, 1);
    bytes_free(jpeg);
}

LOOP_TEST(colour_is_as_asked, 0, 8)
{
    static const struct {
        enum colours colours;
        int64_t color;
        uint32_t channels;
    } cases[] = {
        {COLOURS_YCC, 1, 3},  {COLOURS_YCC, 0, 1},   {COLOURS_YCC, -1, 3},  {COLOURS_GREY, 1, 3},
        {COLOURS_GREY, 0, 1}, {COLOURS_GREY, -1, 1}, {COLOURS_CMYK, -1, 3}, {COLOURS_YCCK, 0, 1},
    };
    struct jpeg_layout layout = plain;
    layout.colours = cases[_i].colours;
    struct bytes jpeg = jpeg_make(40, 30, &layout);
    p.o.color = cases[_i].color;
    const struct bytes image = pack_one(jpeg);
    struct imrec_image_info info;
    ck_assert_int_eq(imrec_image_info(image.p, image.n, &info, &p.err), IMREC_OK);
    ck_assert_uint_eq(info.channels, cases[_i].channels);
    ck_assert_str_eq(info.format, "jpeg");
    bytes_free(jpeg);
}

/* A PNG of one colour, half transparent. */
static struct bytes make_png(struct codec *c)
{
    uint8_t pixels[16 * 16 * 4];
    struct bytes png;
    for (size_t i = 0; i < sizeof(pixels); i++)
        pixels[i] = i % 4 == 3 ? 128 : 0;
    const struct imrec_image image = {pixels, 64, 16, 16, 4};
    ck_assert_int_eq(codec_encode_png(c, &image, 6, &png, &p.err), IMREC_OK);
    return png;
}

static bool is_built_in(const char *format)
{
    for (const char *const *f = codec_formats(); *f != NULL; f++)
        if (strcmp(*f, format) == 0)
            return true;
    return false;
}

TEST(alpha_is_blended_on_white_or_kept)
{
    struct codec *c;
    if (!is_built_in("png"))
        return;
    ck_assert_int_eq(codec_new(&c, &p.err), IMREC_OK);
    const struct bytes png = make_png(c);
    struct bytes image = pack_one(png);
    struct decoded got = decode(image, 0);
    ck_assert_uint_eq(got.i.channels, 3);
    ck_assert_int_le(abs(got.i.pixels[0] - 127), 2);
    imrec_decoder_free(got.d);
    p.o.encoding = IMREC_ENCODE_PNG;
    p.o.color = -1;
    image = pack_one(png);
    got = decode(image, 0);
    ck_assert_uint_eq(got.i.channels, 4);
    ck_assert_uint_eq(got.i.pixels[3], 128);
    ck_assert_uint_eq(got.i.pixels[0], 0);
    imrec_decoder_free(got.d);
    codec_free(c);
}

LOOP_TEST(pass_through_stores_the_file_and_looks_as_closely_as_asked, 0, 9)
{
    static const char *const kinds[] = {"whole", "torn", "text"};
    static const bool packed[3][3] = {
        {true, true, true}, {true, true, false}, {true, false, false}};
    struct bytes jpeg = jpeg_with_orientation(jpeg_make(90, 60, &plain), 6, false);
    const int check = _i / 3, kind = _i % 3;
    const struct bytes file = kind == 0   ? jpeg
                              : kind == 1 ? (struct bytes){jpeg.p, jpeg.n / 2}
                                          : (struct bytes){(const uint8_t *)"no image", 8};
    p.o.pass_through = true;
    p.o.check = (enum imrec_check)check;
    const struct bytes image = pack_one(file);
    ck_assert_msg((image.p != NULL) == packed[check][kind], "%s, check %d", kinds[kind], check);
    if (image.p != NULL) {
        ck_assert_uint_eq(image.n, file.n);
        ck_assert(memcmp(image.p, file.p, file.n) == 0);
    }
    bytes_free(jpeg);
}

TEST(a_torn_image_is_packed_only_where_that_is_accepted)
{
    struct bytes jpeg = jpeg_make(90, 60, &plain);
    const struct bytes torn = {jpeg.p, jpeg.n / 2};
    ck_assert_ptr_null(pack_one(torn).p);
    ck_assert_str_eq(p.result.reasons[0].name, "damaged");
    p.o.accept_truncated = true;
    p.o.report = kept_path(&p, "report");
    ck_assert_ptr_nonnull(pack_one(torn).p);
    ck_assert_uint_eq(p.result.mended, 1);
    const struct bytes report = read_whole(p.o.report);
    ck_assert_ptr_nonnull(strstr((const char *)report.p, "\"result\":\"mended\""));
    free((void *)(uintptr_t)report.p);
    bytes_free(jpeg);
}

TEST(an_image_of_more_pixels_than_allowed_is_skipped)
{
    struct bytes jpeg = jpeg_make(90, 60, &plain);
    p.o.max_pixels = 90 * 60;
    ck_assert_ptr_nonnull(pack_one(jpeg).p);
    p.o.max_pixels--;
    ck_assert_ptr_null(pack_one(jpeg).p);
    ck_assert_str_eq(p.result.reasons[0].name, "too_large");
    bytes_free(jpeg);
}

TEST(a_file_full_of_magics_comes_back_as_it_was)
{
    uint8_t bytes[400];
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(0xced7230au >> 8 * (i % 4));
    p.o.pass_through = true;
    p.o.check = IMREC_CHECK_NONE;
    const struct bytes image = pack_one((struct bytes){bytes, sizeof(bytes)});
    ck_assert_uint_eq(image.n, sizeof(bytes));
    ck_assert(memcmp(image.p, bytes, sizeof(bytes)) == 0);
}
