/* tests/dataset/test_same_records.c - imrec_dataset_same() names every difference between two
 * records, wherever it is, and none between equal pixels of other bytes. */
#include "codec/codec.h"
#include "tests/support/images.h"
#include "tests/support/small_set.h"
#include "tests/support/suite.h"

enum { WIDTH = 23, HEIGHT = 17, RECORDS = 9, ID2_AT = 24 /* of a shard's first record */ };
#define SET   "mem://set.rec"
#define OTHER "mem://other.rec"

struct record {
    struct bytes image;
    const char *mask;        /* NULL: none; its bytes are compared, not decoded */
    const char *name, *text; /* of a field; NULL: none */
};

static struct codec *g_codec;

static void setup(void)
{
    ck_assert_int_eq(codec_new(&g_codec, NULL), IMREC_OK);
}

static void teardown(void)
{
    codec_free(g_codec);
}

/* A PNG of which the byte `changed` is another; SIZE_MAX: none is. */
static struct bytes png(uint32_t width, uint32_t height, uint32_t channels, size_t changed)
{
    uint8_t *pixels = image_pixels(width, height, channels);
    const struct imrec_image image = {pixels, (size_t)width * channels, width, height, channels};
    struct bytes out;
    if (changed != SIZE_MAX)
        pixels[changed] ^= 1;
    ck_assert_int_eq(codec_encode_png(g_codec, &image, 6, &out, NULL), IMREC_OK);
    uint8_t *copy = malloc(out.n);
    memcpy(copy, out.p, out.n);
    free(pixels);
    return (struct bytes){copy, out.n};
}

static struct bytes plain(size_t changed)
{
    return png(WIDTH, HEIGHT, 3, changed);
}

/* Records with the ids 0, 1, ..., of which number `odd` is *special. */
static void
write_set(const char *uri, const struct record *usual, uint32_t odd, const struct record *special)
{
    static const float label = 3;
    struct imrec_error err;
    struct imrec_writer *w;
    must(imrec_writer_open(uri, NULL, true, &w, &err), &err);
    for (uint32_t i = 0; i < RECORDS; i++) {
        const struct record *r = i == odd ? special : usual;
        const struct imrec_field field = {r->name, r->name == NULL ? 0 : strlen(r->name), r->text,
                                          r->text == NULL ? 0 : strlen(r->text), IMREC_FIELD_BYTES};
        must(r->name != NULL ? imrec_writer_append_fields(w, i, &label, 1, i, r->image.p,
                                                          r->image.n, &field, 1, &err)
             : r->mask != NULL
                 ? imrec_writer_append_masked(w, i, &label, 1, i, r->image.p, r->image.n, r->mask,
                                              strlen(r->mask), &err)
                 : imrec_writer_append_image(w, i, &label, 1, i, r->image.p, r->image.n, &err),
             &err);
    }
    must(imrec_writer_commit(w, &err), &err);
}

static enum imrec_status same(struct imrec_same_result *r, struct imrec_error *err)
{
    struct imrec_same_options o;
    imrec_same_options_init(&o);
    o.threads = 2;
    return imrec_dataset_same(SET, OTHER, &o, r, err);
}

/* The record with id 6 is *a in one set and *b in the other, and the message names it. */
static void must_differ(const struct record *a, const struct record *b, const char *what)
{
    struct imrec_same_result r;
    struct imrec_error err;
    write_set(SET, a, RECORDS, NULL);
    write_set(OTHER, a, 6, b);
    ck_assert_int_eq(same(&r, &err), IMREC_ERR_DATA);
    ck_assert_uint_eq(r.records, 6);
    ck_assert_msg(strncmp(err.message, "record 6 (id 6, ", 16) == 0 &&
                      strstr(err.message, what) != NULL,
                  "\"%s\" and not \"%s\"", err.message, what);
}

static void images_must_differ(struct bytes a, struct bytes b, const char *what)
{
    must_differ(&(struct record){.image = a}, &(struct record){.image = b}, what);
    bytes_free(a);
    bytes_free(b);
}

CASE(.timeout = 30, .setup = setup, .teardown = teardown)

TEST(pixels_count_and_not_bytes)
{
    const struct jpeg_layout l = {.colours = COLOURS_YCC, .h = 2, .v = 2},
                             tiled = {.colours = COLOURS_YCC, .h = 2, .v = 2, .restart_rows = 1};
    const struct record a = {.image = jpeg_make(WIDTH, HEIGHT, &l)},
                        b = {.image = jpeg_make(WIDTH, HEIGHT, &tiled)};
    struct imrec_same_result r;
    struct imrec_error err;
    ck_assert(a.image.n != b.image.n);
    write_set(SET, &a, RECORDS, NULL);
    write_set(OTHER, &a, 4, &b);
    ck_assert_msg(same(&r, &err) == IMREC_OK, "%s", err.message);
    ck_assert_uint_eq(r.records, RECORDS);
    ck_assert_uint_eq(r.equal_bytes, RECORDS - 1);
    ck_assert_uint_eq(r.decoded, 1);
    bytes_free(a.image);
    bytes_free(b.image);
}

static const struct {
    uint32_t x, y, channel;
} places[] = {{0, 0, 0}, {22, 0, 2}, {0, 16, 1}, {22, 16, 2}, {11, 8, 1}};

LOOP_TEST(one_byte_of_one_pixel_is_found_and_named, 0, COUNT(places))
{
    const size_t at = (places[_i].y * WIDTH + places[_i].x) * 3 + places[_i].channel;
    char what[120];
    snprintf(what, sizeof(what), "channel %u of the pixel in column %u, row %u is ",
             places[_i].channel, places[_i].x, places[_i].y);
    images_must_differ(plain(SIZE_MAX), plain(at), what);
}

TEST(sizes_channels_and_orientation_count)
{
    static const struct jpeg_layout l = {.colours = COLOURS_YCC, .h = 2, .v = 2};
    const size_t none = SIZE_MAX;
    images_must_differ(plain(none), png(WIDTH, HEIGHT + 1, 3, none), "23 x 18 px");
    images_must_differ(plain(none), png(WIDTH + 1, HEIGHT, 3, none), "24 x 17 px");
    images_must_differ(plain(none), png(WIDTH, HEIGHT, 1, none), "1 channels");
    images_must_differ(jpeg_make(WIDTH, HEIGHT, &l),
                       jpeg_with_orientation(jpeg_make(WIDTH, HEIGHT, &l), 6, true),
                       "orientation 6");
}

TEST(masks_fields_and_both_parts_of_the_id_count)
{
    const struct bytes image = plain(SIZE_MAX);
    must_differ(&(struct record){.image = image, .mask = "a mask"},
                &(struct record){.image = image, .mask = "a mush"}, "the masks differ");
    must_differ(&(struct record){.image = image, .mask = "a mask"},
                &(struct record){.image = image, .mask = "a mask and more"}, "the masks differ");
    must_differ(&(struct record){.image = image, .name = "txt", .text = "one"},
                &(struct record){.image = image, .name = "txt", .text = "two"},
                "the fields differ");
    must_differ(&(struct record){.image = image, .name = "txt", .text = "one"},
                &(struct record){.image = image, .name = "tex", .text = "one"},
                "the fields differ");
    must_differ(&(struct record){.image = image, .name = "txt", .text = "one"},
                &(struct record){.image = image}, "the fields differ");
    bytes_free(image);
}

TEST(the_second_number_of_an_id_counts)
{
    const struct record a = {.image = plain(SIZE_MAX)};
    struct imrec_same_result r;
    struct imrec_error err;
    uint8_t *p;
    size_t n;
    write_set(SET, &a, RECORDS, NULL);
    must(source_load(SET, SIZE_MAX / 2, &p, &n, &err), &err);
    p[ID2_AT] ^= 1;
    small_file(OTHER, p, n);
    ck_assert_int_eq(same(&r, &err), IMREC_ERR_DATA);
    ck_assert_ptr_nonnull(strstr(err.message, "the second number of the id differs"));
    imrec_free(p);
    bytes_free(a.image);
}

TEST(an_image_that_cannot_be_read_is_named_with_its_set)
{
    const struct bytes whole = plain(SIZE_MAX);
    const struct bytes half = {whole.p, whole.n / 2};
    must_differ(&(struct record){.image = whole}, &(struct record){.image = half},
                "the second one's image: ");
    must_differ(&(struct record){.image = half}, &(struct record){.image = whole},
                "the first one's image: ");
    bytes_free(whole);
}
