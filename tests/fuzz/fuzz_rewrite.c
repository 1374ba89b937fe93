/* tests/fuzz/fuzz_rewrite.c - arbitrary bytes as a JPEG that is written again: without loss, as
 * tiles, with tables of others, too, as sequential, as it is plain; and out of its pixels, by the
 * encoder's variants, whose bytes are equal. What is written has no defects, the same pixels in the
 * lossless ways, and both decoders read it alike. Nothing holds more memory than it said, and where
 * memory runs out that is what is said. */
#include "base/alloc.h"
#include "codec/jpeg/encode/jpeg_encoder.h"
#include "codec/jpeg/recode/symbol_words.h"
#include "codec/jpeg_encode.h"
#include "tests/support/twin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct codec_limits limits = {.max_pixels = 256 * 256, .max_scans = 20};

typedef enum imrec_status rewrite_fn(struct codec *, bool *, struct bytes *, struct imrec_error *);

/* Whole, by libjpeg-turbo. False: it cannot be decoded, or has defects. */
static bool decode(struct codec *c, struct bytes jpeg, struct image *out)
{
    struct imrec_image_info info;
    uint32_t warnings = 0;
    if (codec_begin(c, jpeg, &limits, &info, NULL) != IMREC_OK)
        return false;
    const struct imrec_rect all = {0, 0, info.width, info.height};
    return codec_decode_image(c, all, 3, out, &warnings, NULL) == IMREC_OK && warnings == 0;
}

static struct imrec_rect whole(const struct image *image)
{
    return (struct imrec_rect){0, 0, image->view.width, image->view.height};
}

/* What is written is one scan that both decode alike. */
static void check_written(struct twin *t, struct bytes jpeg, const struct image *pixels)
{
    struct image image = {0};
    twin_must(decode(t->libjpeg, jpeg, &image), "what was written has defects");
    twin_must(pixels == NULL || memcmp(image.view.pixels, pixels->view.pixels,
                                       image.view.stride * image.view.height) == 0,
              "pixels of what was written");
    (void)twin_compare(t, jpeg, &limits, TWIN_REGION, whole(&image), 3);
    (void)twin_compare(t, jpeg, &limits, TWIN_CHECK, whole(&image), 3);
    image_free(&image);
}

/* What is written adds to `counts`, where there are any. */
static void rewrite(struct twin *t, struct bytes jpeg, rewrite_fn *write,
                    const struct jpeg_tables *tables, const struct image *pixels,
                    struct jpeg_counts *counts)
{
    struct codec *c;
    struct imrec_image_info info;
    struct bytes out;
    bool done = false;
    twin_must(codec_new(&c, NULL) == IMREC_OK, "in memory");
    codec_share_tables(c, tables);
    if (codec_begin(c, jpeg, &limits, &info, NULL) == IMREC_OK) {
        twin_must(write(c, &done, &out, NULL) == IMREC_OK, "a rewrite has no way to fail");
        twin_must(!done || pixels != NULL, "what has defects is not written again");
        twin_must_hold(codec_memory(c), codec_tile_jpeg_claim(c));
        if (done)
            check_written(t, out, pixels);
        if (done && counts != NULL)
            twin_must(codec_count_symbols(c, out, counts, NULL) == IMREC_OK, "symbols");
    }
    codec_free(c);
}

/* One request for memory fails, as the bytes choose it. */
static void rewrite_starved(struct bytes jpeg, rewrite_fn *write)
{
    const uint32_t choice = jpeg.p[jpeg.n / 2] ^ jpeg.p[jpeg.n / 3];
    struct imrec_image_info info;
    struct imrec_error err;
    struct codec *c;
    struct bytes out;
    bool done;
    twin_must(codec_new(&c, NULL) == IMREC_OK, "in memory");
    imrec_alloc_fail_after(choice % 16);
    enum imrec_status st = codec_begin(c, jpeg, &limits, &info, &err);
    if (st == IMREC_OK) {
        st = write(c, &done, &out, &err);
        twin_must(st == IMREC_OK || st == IMREC_ERR_NO_MEMORY, "memory that runs out");
    }
    twin_must(st != IMREC_ERR_NO_MEMORY || imrec_alloc_has_failed(), "there was memory");
    imrec_alloc_fail_after(-1);
    codec_free(c);
}

/* Tables for counts as no image has them: codes that would be far too long. */
static void rewrite_skewed(struct twin *t, struct bytes jpeg, const struct image *pixels)
{
    struct jpeg_counts counts;
    struct jpeg_tables tables;
    for (uint32_t i = 0; i < WORD_SYMBOLS; i++)
        counts.of[i] = UINT64_C(1) << jpeg.p[i % jpeg.n] % 40;
    jpeg_tables_make(&tables, &counts);
    rewrite(t, jpeg, codec_tile_jpeg, &tables, pixels, NULL);
}

/* With tables of what another image has, and with its own, by way of their text. */
static void rewrite_shared(struct twin *t, struct bytes jpeg, const struct image *pixels)
{
    char text[JPEG_TABLES_TEXT];
    struct jpeg_counts counts = {{0}};
    struct jpeg_tables tables, again;
    jpeg_tables_make(&tables, &counts);
    rewrite(t, jpeg, codec_tile_jpeg, &tables, pixels, &counts);
    jpeg_tables_make(&tables, &counts);
    jpeg_tables_text(&tables, text);
    twin_must(jpeg_tables_read(&again, text), "tables of a text");
    rewrite(t, jpeg, codec_tile_jpeg, &again, pixels, NULL);
    text[jpeg.p[jpeg.n / 2] % strlen(text)] = (char)jpeg.p[jpeg.n / 3];
    if (jpeg_tables_read(&again, text))
        rewrite(t, jpeg, codec_tile_jpeg, &again, pixels, NULL);
}

static void encode(const struct image *image, const struct jpeg_encoding *how, enum cpu_level level,
                   struct buf *out)
{
    struct jpeg_encoder *e;
    twin_must(jpeg_encoder_new(&e, NULL) == IMREC_OK, "in memory");
    jpeg_encoder_use(e, level);
    const struct imrec_image *v = &image->view;
    twin_must(jpeg_encode(e, v, how, NULL, out, NULL) == IMREC_OK, "encoding");
    twin_must_hold(jpeg_encoder_memory(e),
                   jpeg_encoder_claim(v->width, v->height, v->channels, how->full_chroma));
    jpeg_encoder_free(e);
}

/* As the bytes themselves choose. */
static void encode_all(struct twin *t, struct bytes jpeg, const struct image *image)
{
    const uint32_t choice = jpeg.p[jpeg.n / 2] + 256u * jpeg.p[jpeg.n / 3];
    const struct jpeg_encoding how = {.quality = (int)(1 + choice % 100),
                                      .tile = choice / 100 % 2 != 0,
                                      .full_chroma = choice / 200 % 2 != 0};
    struct buf made = {0}, truth = {0};
    words_keep(choice % 7 * 64);
    encode(image, &how, cpu_level(), &made);
    words_keep(0);
    encode(image, &how, CPU_SCALAR, &truth);
    twin_must(made.n == truth.n && memcmp(made.p, truth.p, made.n) == 0, "bytes of an encoder");
    check_written(t, (struct bytes){made.p, made.n}, NULL);
    buf_free(&made);
    buf_free(&truth);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static rewrite_fn *const ways[] = {codec_tile_jpeg, codec_baseline_jpeg, codec_plain_jpeg};
    struct twin t;
    struct image image = {0};
    if (size < 4 || data[0] != 0xFF)
        return 0;
    uint8_t *copy = malloc(size); /* its end is guarded by the sanitizer */
    if (copy == NULL)
        abort();
    memcpy(copy, data, size);
    const struct bytes jpeg = {copy, size};
    twin_begin(&t);
    const bool good = decode(t.libjpeg, jpeg, &image);
    words_keep(data[size / 4] % 5 * 64);
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        rewrite(&t, jpeg, ways[i], NULL, good ? &image : NULL, NULL);
        rewrite_starved(jpeg, ways[i]);
    }
    rewrite_shared(&t, jpeg, good ? &image : NULL);
    rewrite_skewed(&t, jpeg, good ? &image : NULL);
    words_keep(0);
    if (good)
        encode_all(&t, jpeg, &image);
    twin_end(&t);
    image_free(&image);
    free(copy);
    return 0;
}
