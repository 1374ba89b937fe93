/* tests/codec/test_together.c - images decoded side by side: each has the pixels, the warnings and
 * the error that it has alone, whatever is decoded with it. On every processor, which otherwise
 * might decode them one by one. */
#include "base/alloc.h"
#include "codec/jpeg/together.h"
#include "tests/support/images.h"
#include "tests/support/regions.h"
#include "tests/support/twin.h"

#include "tests/support/suite.h"

enum { MOST = 60, ROUNDS = 30, NOT_ASKED = 5 };

static const struct codec_limits limits = {.max_pixels = 1 << 24};
static uint64_t g_state;

/* An image, what is wanted of it, and what it is alone. */
struct picture {
    struct bytes jpeg;
    struct imrec_rect region;
    uint32_t channels, denominator;
    struct twin_result truth;
    struct image pixels;
    bool done;
};

struct session {
    struct codec *codec;
    struct picture picture[MOST];
    uint64_t n, next;
    uint64_t open, most_open; /* given, not done */
    bool starving;            /* an image may say that there is no memory */
};

static struct jpeg_layout any_layout(void)
{
    static const int samplings[][2] = {{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}, {3, 1}};
    const int *s = samplings[pick(&g_state, 10) % 6];
    struct jpeg_layout l = {.colours = COLOURS_YCC, .h = s[0], .v = s[1]};
    if (pick(&g_state, 6) == 0)
        l = (struct jpeg_layout){.colours = COLOURS_GREY, .h = 1, .v = 1};
    l.quality = 10 + (int)pick(&g_state, 91);
    l.optimal = pick(&g_state, 4) == 0;
    l.progressive = pick(&g_state, 8) == 0;
    l.restart_rows = pick(&g_state, 4) == 0 ? 1 + (int)pick(&g_state, 2) : 0;
    return l;
}

static void damage(struct bytes *jpeg)
{
    uint8_t *p = (uint8_t *)jpeg->p + jpeg->n / 2 + pick(&g_state, (uint32_t)(jpeg->n / 2));
    if (pick(&g_state, 3) == 0)
        jpeg->n = (size_t)(p - jpeg->p);
    else
        *p = (uint8_t)pick(&g_state, 256);
}

static enum imrec_status
decode(struct codec *c, const struct picture *p, struct twin_result *out, struct image *pixels)
{
    *out = (struct twin_result){0};
    out->st = codec_begin(c, p->jpeg, &limits, &out->info, &out->err);
    if (out->st == IMREC_OK)
        out->st = codec_decode_scaled_region(c, p->denominator, p->region, p->channels, pixels,
                                             &out->warnings, &out->err);
    return out->st;
}

static void make_picture(struct codec *alone, struct picture *p, const struct jpeg_layout *l)
{
    const uint32_t width = 1 + pick(&g_state, 300), height = 1 + pick(&g_state, 300);
    *p = (struct picture){.jpeg = jpeg_make(width, height, l), .denominator = 1};
    if (pick(&g_state, 6) == 0)
        damage(&p->jpeg);
    if (pick(&g_state, 6) == 0)
        p->denominator = 1u << (1 + pick(&g_state, 3));
    const uint32_t d = p->denominator;
    p->region = any_region(&g_state, (width + d - 1) / d, (height + d - 1) / d, 3);
    p->channels = pick(&g_state, 4) == 0 ? 1 : 3;
    (void)decode(alone, p, &p->truth, &p->pixels);
}

static bool next(void *context, bool look, struct codec_wish *out)
{
    struct session *s = context;
    struct imrec_image_info info;
    if (s->next == s->n)
        return false;
    const struct picture *p = &s->picture[s->next];
    *out = (struct codec_wish){.id = s->next++};
    s->most_open = ++s->open > s->most_open ? s->open : s->most_open;
    if (!look || s->next % NOT_ASKED == 0 ||
        codec_begin(s->codec, p->jpeg, &limits, &info, NULL) != IMREC_OK)
        return true;
    out->region = p->region;
    out->channels = p->channels;
    out->denominator = p->denominator;
    if (s->next % 7 == 0) /* it is not what will be wanted */
        out->region.width = (out->region.width + 1) / 2;
    if (s->next % 8 == 0)
        out->channels = 4 - p->channels;
    if (s->next % 9 == 0) /* the region may be outside then */
        out->denominator = p->denominator < 8 ? 2 * p->denominator : 1;
    return true;
}

static void
must_be(const struct picture *p, const struct twin_result *made, const struct image *pixels)
{
    ck_assert_int_eq(made->st, p->truth.st);
    ck_assert_str_eq(made->err.message, p->truth.err.message);
    ck_assert_uint_eq(made->warnings, p->truth.warnings);
    if (made->st == IMREC_OK)
        ck_assert_mem_eq(pixels->view.pixels, p->pixels.view.pixels,
                         p->region.height * p->pixels.view.stride);
}

static void done(void *context, uint64_t id)
{
    struct session *s = context;
    struct picture *p = &s->picture[id];
    struct image pixels = {0};
    struct twin_result made;
    ck_assert_uint_lt(id, s->next);
    ck_assert(!p->done);
    for (int i = 0; i < 2; i++) { /* it may be asked for more than once */
        if (decode(s->codec, p, &made, &pixels) != IMREC_ERR_NO_MEMORY || !s->starving)
            must_be(p, &made, &pixels);
        if (pixels.view.pixels != NULL) /* the second time it has to make them again */
            memset(pixels.view.pixels, 0x5A, p->region.height * pixels.view.stride);
    }
    if (id % 11 == 0)
        codec_trim(s->codec, 0); /* which must not take what others need */
    image_free(&pixels);
    p->done = true;
    s->open--;
}

static void begin(struct session *s)
{
    *s = (struct session){0};
    together_use_always(true);
    ck_assert_int_eq(codec_new(&s->codec, NULL), IMREC_OK);
}

static void run(struct session *s)
{
    const struct codec_together source = {next, done, s};
    s->next = s->open = 0;
    for (uint64_t i = 0; i < s->n; i++)
        s->picture[i].done = false;
    codec_decode_together(s->codec, &source);
    for (uint64_t i = 0; i < s->n; i++)
        ck_assert(s->picture[i].done);
    ck_assert_uint_eq(s->open, 0);
    ck_assert_uint_le(s->most_open, CODEC_TOGETHER_MOST);
}

static void drop_pictures(struct session *s)
{
    for (uint64_t i = 0; i < s->n; i++) {
        bytes_free(s->picture[i].jpeg);
        image_free(&s->picture[i].pixels);
    }
    s->n = 0;
}

static void end(struct session *s)
{
    drop_pictures(s);
    codec_free(s->codec);
}

CASE(.timeout = 120)

TEST(each_is_as_alone)
{
    struct session s;
    struct codec *alone;
    g_state = 5;
    begin(&s);
    ck_assert_int_eq(codec_new(&alone, NULL), IMREC_OK);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t n = pick(&g_state, MOST + 1); s.n < n; s.n++) {
            const struct jpeg_layout l = any_layout();
            make_picture(alone, &s.picture[s.n], &l);
        }
        run(&s);
        drop_pictures(&s);
    }
    ck_assert_uint_gt(codec_together_count(s.codec), ROUNDS * MOST / 5);
    codec_free(alone);
    end(&s);
}

/* All lanes have one; without vectors there is a single lane. */
TEST(equal_tables_are_decoded_side_by_side)
{
    const struct jpeg_layout l = {.colours = COLOURS_YCC, .h = 2, .v = 2, .quality = 90};
    struct session s;
    begin(&s);
    for (; s.n < MOST; s.n++) {
        struct picture *p = &s.picture[s.n];
        *p = (struct picture){.jpeg = jpeg_make(200, 100 + 2 * (uint32_t)s.n, &l),
                              .region = {10, 20, 180, 70},
                              .channels = 3,
                              .denominator = 1};
        ck_assert_int_eq(decode(s.codec, p, &p->truth, &p->pixels), IMREC_OK);
    }
    run(&s);
    const bool vectors = lane_kernels[cpu_level()].is_faster;
    ck_assert_uint_eq(s.most_open, vectors ? CODEC_TOGETHER_MOST : 1);
    uint64_t others = 0; /* that are not asked for, or for something else */
    for (uint64_t n = 1; n <= MOST; n++)
        others += n % NOT_ASKED == 0 || n % 7 == 0 || n % 8 == 0 || n % 9 == 0;
    ck_assert_uint_eq(codec_together_count(s.codec), 2 * (MOST - others));
    end(&s);
}

/* A grey row of blocks, each brighter by 2047 than the one before: of the standard's tables the
 * code of 11 bits, which are ones, and the end of the block. Beyond 16 bits libjpeg-turbo judges.
 */
static struct bytes rising(uint32_t blocks)
{
    static const uint8_t block[] = {0xFF, 0x00, 0x7F, 0xFA}, end[] = {0xFF, 0xD9};
    const struct jpeg_layout l = {.colours = COLOURS_GREY, .h = 1, .v = 1, .quality = 50};
    const struct bytes plain = jpeg_make(8 * blocks, 8, &l);
    size_t at = 2;
    while (plain.p[at + 1] != 0xDA)
        at += 2 + 256u * plain.p[at + 2] + plain.p[at + 3];
    at += 2 + plain.p[at + 3];
    uint8_t *p = malloc(at + blocks * sizeof(block) + sizeof(end));
    ck_assert_ptr_nonnull(p);
    memcpy(p, plain.p, at);
    for (uint32_t i = 0; i < blocks; i++, at += sizeof(block))
        memcpy(p + at, block, sizeof(block));
    memcpy(p + at, end, sizeof(end));
    bytes_free(plain);
    return (struct bytes){p, at + sizeof(end)};
}

TEST(a_dc_sum_beyond_16_bits_is_as_alone)
{
    struct session s;
    begin(&s);
    for (; s.n < MOST; s.n++) {
        struct picture *p = &s.picture[s.n];
        const uint32_t blocks = 4 + (uint32_t)s.n; /* 17 are beyond */
        *p = (struct picture){.jpeg = rising(blocks),
                              .region = {3, 1, 8 * blocks - 3, 7},
                              .channels = 3,
                              .denominator = 1};
        ck_assert_int_eq(decode(s.codec, p, &p->truth, &p->pixels), IMREC_OK);
        ck_assert_uint_eq(codec_baseline_count(s.codec), s.n < 13 ? s.n + 1 : 13);
    }
    run(&s);
    ck_assert_uint_gt(codec_together_count(s.codec), 0);
    ck_assert_uint_le(codec_together_count(s.codec), 2 * 13);
    end(&s);
}

TEST(memory_is_within_the_claim_and_given_back)
{
    const struct jpeg_layout l = {.colours = COLOURS_YCC, .h = 1, .v = 1, .quality = 95};
    const long before = imrec_alloc_live();
    struct session s;
    begin(&s);
    const size_t at_first = codec_memory(s.codec);
    for (; s.n < MOST; s.n++) {
        const uint32_t side = 200 + 10 * (uint32_t)s.n;
        struct picture *p = &s.picture[s.n];
        *p = (struct picture){.jpeg = jpeg_make(side, side, &l),
                              .region = {0, 0, side, side},
                              .channels = 3,
                              .denominator = 1};
        ck_assert_int_eq(decode(s.codec, p, &p->truth, &p->pixels), IMREC_OK);
    }
    codec_trim(s.codec, 0);
    const size_t trimmed = codec_memory(s.codec);
    for (uint64_t i = 0; i < s.n; i++)
        s.picture[i].done = false;
    run(&s);
    ck_assert_uint_gt(codec_memory(s.codec), trimmed + (2 << 20)); /* its strips alone: 1 MiB */
    ck_assert_uint_le(codec_memory(s.codec), at_first + 2 * codec_together_claim());
    codec_trim(s.codec, 0);
    ck_assert_uint_le(codec_memory(s.codec), trimmed + (1 << 18));
    end(&s);
    ck_assert_int_eq(imrec_alloc_live(), before);
}

/* An image that there is no memory for says so; the others are as ever. */
LOOP_TEST(no_memory_fails_nothing_else, 0, 120)
{
    const struct jpeg_layout l = {.colours = COLOURS_YCC, .h = 2, .v = 2, .quality = 80};
    const long before = imrec_alloc_live();
    struct session s;
    begin(&s);
    for (; s.n < 20; s.n++) {
        struct picture *p = &s.picture[s.n];
        *p = (struct picture){.jpeg = jpeg_make(64, 64, &l),
                              .region = {3, 5, 50, 40},
                              .channels = 3,
                              .denominator = 1};
        ck_assert_int_eq(decode(s.codec, p, &p->truth, &p->pixels), IMREC_OK);
    }
    s.starving = true;
    imrec_alloc_fail_after(_i);
    run(&s);
    imrec_alloc_fail_after(-1);
    s.starving = false;
    run(&s);
    end(&s);
    ck_assert_int_eq(imrec_alloc_live(), before);
}
