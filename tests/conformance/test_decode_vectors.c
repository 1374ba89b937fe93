/*
 * tests/conformance/test_decode_vectors.c - pixels of whole decoded images against those that
 * the original delivered: every case of pixels.json that a decode alone can check.
 */
#include "codec/codec.h"
#include "formats/recordio/recordio.h"
#include "tests/support/built.h"
#include "tests/support/shared.h"

#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_BYTES = 24, MAX_CASES = 200 };

static json_t *g_cases;
static const char *g_names[MAX_CASES];
static int g_count;

static struct bytes load(const char *path)
{
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "%s", path);
    ck_assert_int_eq(fseek(f, 0, SEEK_END), 0);
    const long n = ftell(f);
    rewind(f);
    uint8_t *p = malloc((size_t)n + 1);
    ck_assert_uint_eq(fread(p, 1, (size_t)n, f), (size_t)n);
    fclose(f);
    return (struct bytes){p, (size_t)n};
}

/* Values of an .npy of bytes or of float32 that hold whole numbers. */
struct values {
    struct bytes file;
    size_t at;
    bool floats;
};

static struct values load_values(const char *name)
{
    char relative[256];
    snprintf(relative, sizeof(relative), "vectors/mxnet/pixels/%s.npy", name);
    struct values v = {.file = load(shared_path(relative))};
    v.at = 10 + v.file.p[8] + 256 * (size_t)v.file.p[9];
    char *head = strndup((const char *)v.file.p + 10, v.at - 10);
    v.floats = strstr(head, "f4") != NULL;
    ck_assert_msg(v.floats || strstr(head, "u1") != NULL, "%s", head);
    free(head);
    return v;
}

static int value(const struct values *v, size_t i)
{
    float f;
    if (!v->floats)
        return v->file.p[v->at + i];
    memcpy(&f, v->file.p + v->at + 4 * i, 4);
    return (int)f;
}

/* Plane-wise values from `first` on against the image; the largest difference. */
static int difference(const struct imrec_image *image, const struct values *v, size_t first)
{
    const size_t plane = (size_t)image->width * image->height;
    int most = 0;
    for (uint32_t y = 0; y < image->height; y++)
        for (uint32_t x = 0; x < image->width; x++)
            for (uint32_t c = 0; c < image->channels; c++) {
                const int got = image->pixels[y * image->stride + (size_t)x * image->channels + c];
                const int want = value(v, first + c * plane + (size_t)y * image->width + x);
                most = abs(got - want) > most ? abs(got - want) : most;
            }
    return most;
}

static size_t check_record(struct imrec_decoder *d, const uint8_t *p, size_t n, uint32_t channels,
                           const struct values *v, size_t first, const char *name)
{
    struct recordio_span span;
    struct buf scratch = BUF_INIT(1 << 24);
    struct bytes record;
    struct imrec_image image;
    struct imrec_error err = {0};
    ck_assert_int_eq(recordio_measure(p, n, 0, &span, &err), IMREC_OK);
    ck_assert_int_eq(recordio_copy(p, &span, &scratch, &record, &err), IMREC_OK);
    const size_t skip = HEADER_BYTES + 4 * (size_t)load_le32(record.p);
    const enum imrec_status st = imrec_decoder_decode(d, record.p + skip, record.n - skip, channels,
                                                      true, 1 << 20, &image, &err);
    if (built_without(st, &err)) {
        printf("%s: not compared: %s\n", name, err.message);
        buf_free(&scratch);
        return span.bytes;
    }
    ck_assert_msg(st == IMREC_OK, "%s: %s", name, err.message);
    const json_t *c = json_object_get(g_cases, name);
    const json_t *shape = json_object_get(c, "shape");
    ck_assert_uint_eq(image.channels, (uint32_t)json_integer_value(json_array_get(shape, 1)));
    ck_assert_uint_eq(image.height, (uint32_t)json_integer_value(json_array_get(shape, 2)));
    ck_assert_uint_eq(image.width, (uint32_t)json_integer_value(json_array_get(shape, 3)));
    const int most = difference(&image, v, first);
    ck_assert_msg(most <= json_integer_value(json_object_get(c, "tolerance")), "%s: by %d", name,
                  most);
    if (most != 0)
        printf("%s: differs by at most %d, as it may\n", name, most);
    buf_free(&scratch);
    return span.bytes;
}

START_TEST(a_decoded_image_equals_the_originals) /* loop test over the cases */
{
    const char *name = g_names[_i];
    const json_t *c = json_object_get(g_cases, name), *args = json_object_get(c, "args");
    const json_t *shape = json_object_get(args, "data_shape");
    char relative[256];
    snprintf(relative, sizeof(relative), "vectors/mxnet/%s",
             json_string_value(json_object_get(args, "path_imgrec")));
    const uint32_t channels = (uint32_t)json_integer_value(json_array_get(shape, 0));
    const struct bytes shard = load(shared_path(relative));
    struct values v = load_values(name);
    struct imrec_decoder *d = NULL;
    ck_assert_int_eq(imrec_decoder_new(&d, NULL), IMREC_OK);
    size_t first = 0, at = 0;
    for (int i = 0; i < 4; i++) {
        at += check_record(d, shard.p + at, shard.n - at, channels, &v, first, name);
        first += (v.file.n - v.at) / 4 / (v.floats ? 4 : 1);
    }
    imrec_decoder_free(d);
    free((void *)(uintptr_t)shard.p);
    free((void *)(uintptr_t)v.file.p);
}
END_TEST

/* A case that a whole decode answers: nothing in its arguments but shape and record file. */
static bool is_decode_only(const char *name, const json_t *args)
{
    static const char *const groups[] = {"jpeg_", "png_", "bmp", "exif"};
    const char *key;
    json_t *v;
    bool mine = false;
    for (size_t i = 0; i < 4; i++)
        mine |= strncmp(name, groups[i], strlen(groups[i])) == 0;
    json_object_foreach((json_t *)(uintptr_t)args, key, v)
    {
        if (strcmp(key, "batch_size") != 0 && strcmp(key, "preprocess_threads") != 0 &&
            strcmp(key, "verbose") != 0 && strcmp(key, "path_imgrec") != 0 &&
            strcmp(key, "data_shape") != 0)
            return false;
    }
    return mine && strstr(name, "_then_") == NULL;
}

int main(void)
{
    shared_or_skip();
    g_cases = json_load_file(shared_path("vectors/mxnet/pixels.json"), 0, NULL);
    if (g_cases == NULL)
        return EXIT_FAILURE;
    const char *name;
    json_t *c;
    json_object_foreach(g_cases, name, c)
    {
        if (is_decode_only(name, json_object_get(c, "args")) && g_count < MAX_CASES)
            g_names[g_count++] = name;
    }
    printf("%d cases\n", g_count);
    Suite *s = suite_create("decode_vectors");
    TCase *tc = tcase_create("vectors");
    tcase_add_loop_test(tc, a_decoded_image_equals_the_originals, 0, g_count);
    suite_add_tcase(s, tc);
    SRunner *sr = srunner_create(s);
    srunner_run_all(sr, CK_ENV);
    const int failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    json_decref(g_cases);
    return failed == 0 && g_count > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
