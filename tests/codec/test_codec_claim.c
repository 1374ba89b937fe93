/* Decoding holds no more than codec_claim() said, and beginning no more than codec_begin_claim():
 * of small files that take much memory, of which support/make_hostile.py makes one of each kind.
 * All that the libraries ask for is counted too: malloc() and its like are this program's own. */
#include "codec/codec.h"
#include "tests/support/images.h"
#include "tests/support/packing.h"
#include "tests/support/suite.h"

#include <dirent.h>
#include <malloc.h>
#include <stdatomic.h>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define COUNTS 1
#define SEEN   __attribute__((visibility("default"))) /* by the libraries too */

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t count, size_t n);
void *__libc_realloc(void *p, size_t n);
void __libc_free(void *p);

static atomic_llong g_live, g_peak;

static void *counted(void *p)
{
    const long long live =
        atomic_fetch_add(&g_live, p != NULL ? (long long)malloc_usable_size(p) : 0) +
        (p != NULL ? (long long)malloc_usable_size(p) : 0);
    if (live > atomic_load(&g_peak))
        atomic_store(&g_peak, live);
    return p;
}

static void forget(void *p)
{
    if (p != NULL)
        atomic_fetch_sub(&g_live, (long long)malloc_usable_size(p));
}

SEEN void *malloc(size_t n)
{
    return counted(__libc_malloc(n));
}

SEEN void *calloc(size_t count, size_t n)
{
    return counted(__libc_calloc(count, n));
}

SEEN void *realloc(void *p, size_t n)
{
    const size_t before = p != NULL ? malloc_usable_size(p) : 0;
    void *q = __libc_realloc(p, n);
    if (q != NULL || n == 0)
        atomic_fetch_sub(&g_live, (long long)before);
    return q != NULL ? counted(q) : NULL;
}

SEEN void free(void *p)
{
    forget(p);
    __libc_free(p);
}
#else
#define COUNTS 0
static atomic_llong g_live, g_peak;
#endif

enum { SLACK = 128 << 10 }; /* what a decoder makes once, and keeps */

/* The most that was held beside `kept` bytes since then. */
static long long held_since(long long begin)
{
    return atomic_load(&g_peak) - begin;
}

static long long begin_counting(void)
{
    const long long live = atomic_load(&g_live);
    atomic_store(&g_peak, live);
    return live;
}

static void compare(const char *name, const char *what, long long held, uint64_t claimed)
{
    if (getenv("TELL") != NULL)
        printf("%-24s %-12s %12lld of %12llu\n", name, what, held, (unsigned long long)claimed);
    ck_assert_msg(held <= (long long)claimed + SLACK, "%s, %s: holds %lld bytes, claimed %llu",
                  name, what, held, (unsigned long long)claimed);
    /* and what it says is of use: of that order */
    ck_assert_msg(claimed < (16u << 20) || (long long)claimed < 16 * (held + (4 << 20)),
                  "%s, %s: holds %lld bytes, and claimed %llu", name, what, held,
                  (unsigned long long)claimed);
}

static void decode(const char *name, struct bytes file, uint32_t denominator, uint32_t channels)
{
    const struct codec_limits limits = {.max_pixels = 1 << 28, .accept_truncated = true};
    struct imrec_image_info info;
    struct imrec_error err;
    struct image out = {0};
    struct codec *c;
    char what[40];
    ck_assert_int_eq(codec_new(&c, NULL), IMREC_OK);
    long long before = begin_counting();
    const enum imrec_status st = codec_begin(c, file, &limits, &info, &err);
    compare(name, "begin", held_since(before), codec_begin_claim(file));
    if (st == IMREC_OK) {
        const uint64_t claimed = codec_claim(c, denominator);
        before = begin_counting();
        const enum imrec_status made =
            codec_decode_scaled(c, denominator, channels, &out, NULL, &err);
        snprintf(what, sizeof(what), "1/%u to %u", denominator, channels);
        compare(name, what, held_since(before) - (long long)out.capacity, claimed);
        ck_assert_msg(made == IMREC_OK || made == IMREC_ERR_CORRUPT || made == IMREC_ERR_LIMIT,
                      "%s: %s", name, err.message);
    }
    image_free(&out);
    codec_trim(c, 0);
    codec_free(c);
}

static bool can_count(void)
{
    if (COUNTS && access(IMREC_HOSTILE, F_OK) == 0)
        return true;
    puts("needs the folder that make_hostile.py makes, and a libc that lets memory be counted");
    return false;
}

CASE(.begin = can_count, .timeout = 60)

static void tile(const char *name, struct bytes file)
{
    const struct codec_limits limits = {.max_pixels = 1 << 28};
    struct imrec_image_info info;
    struct imrec_error err;
    struct bytes out;
    struct codec *c;
    bool done;
    ck_assert_int_eq(codec_new(&c, NULL), IMREC_OK);
    if (codec_begin(c, file, &limits, &info, &err) == IMREC_OK) {
        const uint64_t claimed = codec_tile_jpeg_claim(c), most = codec_tile_jpeg_most(c);
        const long long before = begin_counting();
        ck_assert_int_eq(codec_tile_jpeg(c, &done, &out, &err), IMREC_OK);
        compare(name, done ? "tiles" : "declined", held_since(before), claimed);
        ck_assert(!done || out.n <= most);
        ck_assert_int_eq(claimed != 0, strcmp(info.format, "jpeg") == 0 &&
                                           strstr(info.kind, "arithmetic") == NULL);
    }
    codec_free(c);
}

TEST(no_decode_holds_more_than_it_claimed)
{
    struct dirent *e;
    char path[600];
    uint32_t files = 0;
    DIR *folder = opendir(IMREC_HOSTILE);
    ck_assert_msg(folder != NULL, "%s", IMREC_HOSTILE);
    while ((e = readdir(folder)) != NULL) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "%s/%s", IMREC_HOSTILE, e->d_name);
        const struct bytes file = read_whole(path);
        ck_assert_msg(file.p != NULL, "%s", path);
        decode(e->d_name, file, 1, 3);
        decode(e->d_name, file, 1, 1);
        decode(e->d_name, file, 1, 4);
        decode(e->d_name, file, 4, 3);
        tile(e->d_name, file);
        free((void *)(uintptr_t)file.p);
        files++;
    }
    closedir(folder);
    ck_assert_uint_gt(files, 25);
}

TEST(no_jpeg_that_is_written_again_takes_more_than_was_claimed)
{
    static const struct jpeg_layout layouts[] = {
        {.colours = COLOURS_YCC, .h = 2, .v = 2, .quality = 100, .optimal = true},
        {.colours = COLOURS_YCC, .h = 1, .v = 1, .progressive = true},
        {.colours = COLOURS_YCCK, .h = 2, .v = 2, .quality = 98},
        {.colours = COLOURS_YCC, .h = 4, .v = 1, .quality = 5, .progressive = true},
        {.colours = COLOURS_GREY, .h = 1, .v = 1, .quality = 1, .progressive = true},
        {.colours = COLOURS_YCC, .h = 2, .v = 2, .arithmetic = true},
    };
    static const uint32_t sizes[][2] = {{1603, 1201}, {1, 1}, {7, 20011}, {20011, 7}};
    char name[64];
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
        for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
            const struct bytes jpeg = jpeg_make(sizes[k][0], sizes[k][1], &layouts[i]);
            snprintf(name, sizeof(name), "layout %zu %ux%u", i, sizes[k][0], sizes[k][1]);
            tile(name, jpeg);
            bytes_free(jpeg);
        }
    const struct bytes jpeg = jpeg_of_short_codes(8000);
    tile("short codes", jpeg);
    bytes_free(jpeg);
}

static void
encode(uint32_t width, uint32_t height, uint32_t channels, int quality, bool full_chroma)
{
    const struct codec_jpeg_how how = {.quality = quality, .full_chroma = full_chroma};
    struct imrec_image image = {NULL, (size_t)width * channels, width, height, channels};
    uint64_t state = 1;
    struct bytes out;
    struct codec *c;
    char name[64];
    image.pixels = malloc(image.stride * height);
    ck_assert_ptr_nonnull(image.pixels);
    for (size_t i = 0; i < image.stride * height; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        image.pixels[i] = state >> 63 ? 255 : 0;
    }
    snprintf(name, sizeof(name), "noise %ux%ux%u q%d", width, height, channels, quality);
    ck_assert_int_eq(codec_new(&c, NULL), IMREC_OK);
    long long before = begin_counting();
    if (quality > 9)
        ck_assert_int_eq(codec_encode_jpeg(c, &image, how, &out, NULL), IMREC_OK);
    else
        ck_assert_int_eq(codec_encode_png(c, &image, quality, &out, NULL), IMREC_OK);
    /* Buffers that double have room that is never touched. */
    const long long held = held_since(before);
    const uint64_t claimed = quality > 9 ? codec_encode_jpeg_claim(width, height, channels, how)
                                         : codec_encode_png_claim(width, height, channels);
    if (getenv("TELL") != NULL)
        printf("%-30s result %zu asks for %lld of %llu\n", name, out.n, held,
               (unsigned long long)claimed);
    ck_assert_msg(3 * (uint64_t)out.n * (quality > 9) <= claimed && out.n <= claimed,
                  "%s: %zu bytes", name, out.n);
    ck_assert_msg(held <= 2 * (long long)claimed, "%s: asks for %lld bytes, claimed %llu", name,
                  held, (unsigned long long)claimed);
    free(image.pixels);
    codec_free(c);
}

TEST(encoding_the_worst_noise_takes_what_was_claimed)
{
    static const int qualities[] = {100, 98, 95, 90, 75, 50, 1, 9};
    for (size_t i = 0; i < sizeof(qualities) / sizeof(qualities[0]); i++) {
        encode(1203, 901, 3, qualities[i], false);
        encode(1203, 901, 3, qualities[i], true);
        encode(1203, 901, 1, qualities[i], false);
    }
    encode(20011, 7, 3, 95, false);
    encode(1, 1, 3, 95, true);
}
