/* tests/fuzz/fuzz_baseline.c - arbitrary bytes as a JPEG: with our decoder for plain ones and
 * without it everything is the same. Whole images straight into memory and row by row, regions
 * that the bytes themselves choose, and checks; and the image several times side by side. Of half
 * of them restart intervals and images are decoded at the same time on every processor. It holds no
 * more memory than it said, and goes on without what it can do without. */
#include "base/alloc.h"
#include "codec/jpeg/tiled.h"
#include "codec/jpeg/together.h"
#include "tests/support/twin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_PIXELS (1 << 17)

enum { REGIONS = 2, TOGETHER = 5 };

static uint64_t hash_of(struct bytes b)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < b.n; i++)
        h = (h ^ b.p[i]) * 0x100000001b3u;
    return h;
}

/* A number below `below`. */
static uint32_t draw(uint64_t *state, uint32_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*state >> 33) % below);
}

static struct imrec_rect draw_region(uint64_t *state, const struct imrec_image_info *info)
{
    const uint32_t x = draw(state, info->width), y = draw(state, info->height);
    return (struct imrec_rect){x, y, 1 + draw(state, info->width - x),
                               1 + draw(state, info->height - y)};
}

/* A region of it scaled, by both; of coefficients that no encoder makes the pixels may differ. */
static void
scale_both(struct twin *t, struct bytes jpeg, const struct codec_limits *limits, uint64_t *state)
{
    const uint32_t denominator = 2u << draw(state, 3), channels = draw(state, 2) == 0 ? 1 : 3;
    struct imrec_image_info info;
    struct imrec_error err;
    uint32_t own = 0, libjpeg = 0;
    if (codec_begin(t->own, jpeg, limits, &info, NULL) != IMREC_OK ||
        codec_begin(t->libjpeg, jpeg, limits, &info, NULL) != IMREC_OK)
        return;
    struct imrec_image_info smaller = info;
    smaller.width = (info.width + denominator - 1) / denominator;
    smaller.height = (info.height + denominator - 1) / denominator;
    const struct imrec_rect part = draw_region(state, &smaller);
    const enum imrec_status a =
        codec_decode_scaled_region(t->own, denominator, part, channels, &t->made, &own, &err);
    const enum imrec_status b = codec_decode_scaled_region(t->libjpeg, denominator, part, channels,
                                                           &t->truth, &libjpeg, &err);
    /* what is not looked at is not found */
    twin_must(a == IMREC_OK || a == b, "what is scaled");
    twin_must(a != IMREC_OK || b != IMREC_OK || own <= libjpeg, "what is mended of what is scaled");
}

/* The image, and another region of it each time. */
struct together_run {
    struct twin *twin;
    struct bytes jpeg;
    const struct codec_limits *limits;
    struct imrec_rect region[TOGETHER];
    uint32_t channels;
    uint64_t given;
};

static bool next_together(void *context, bool look, struct codec_wish *out)
{
    struct together_run *r = context;
    struct imrec_image_info info;
    if (r->given == TOGETHER)
        return false;
    *out = (struct codec_wish){.id = r->given++, .channels = r->channels, .denominator = 1};
    if (look && codec_begin(r->twin->own, r->jpeg, r->limits, &info, NULL) == IMREC_OK)
        out->region = r->region[out->id];
    return true;
}

static void done_together(void *context, uint64_t id)
{
    const struct together_run *r = context;
    (void)twin_compare(r->twin, r->jpeg, r->limits, id % 2 == 0 ? TWIN_ROWS : TWIN_REGION,
                       r->region[id], r->channels);
}

static void compare_together(struct twin *t, struct bytes jpeg, const struct codec_limits *limits,
                             const struct imrec_image_info *info, uint64_t *state)
{
    struct together_run run = {
        .twin = t, .jpeg = jpeg, .limits = limits, .channels = draw(state, 4) == 0 ? 1 : 3};
    const struct codec_together source = {next_together, done_together, &run};
    for (int i = 0; i < TOGETHER; i++)
        run.region[i] = draw_region(state, info);
    codec_decode_together(t->own, &source);
}

/* One request for memory fails: that is what it says, or nobody can tell. */
static void compare_starved(struct twin *t, struct bytes jpeg, const struct codec_limits *limits,
                            const struct imrec_image_info *info, uint64_t *state)
{
    struct twin fresh;
    const struct imrec_rect part = draw_region(state, info);
    const enum twin_task task = draw(state, 2) == 0 ? TWIN_ROWS : TWIN_REGION;
    const struct twin_result truth = twin_run(t->libjpeg, jpeg, limits, task, part, 3, &t->truth);
    twin_begin(&fresh);
    imrec_alloc_fail_after(draw(state, 8));
    const struct twin_result starved =
        twin_run(fresh.own, jpeg, limits, task, part, 3, &fresh.made);
    const bool refused = imrec_alloc_has_failed();
    imrec_alloc_fail_after(-1);
    twin_must(starved.st == IMREC_OK || starved.st == truth.st ||
                  (refused && starved.st == IMREC_ERR_NO_MEMORY),
              "memory that runs out");
    if (starved.st == IMREC_OK && truth.st == IMREC_OK && starved.warnings == truth.warnings)
        twin_must(memcmp(fresh.made.view.pixels, t->truth.view.pixels,
                         (size_t)part.width * part.height * 3) == 0,
                  "pixels with less memory");
    imrec_alloc_fail_after(0);
    compare_together(&fresh, jpeg, limits, info, state);
    imrec_alloc_fail_after(-1);
    twin_end(&fresh);
}

static void check_memory(struct twin *t, struct bytes jpeg, const struct codec_limits *limits)
{
    struct imrec_image_info info;
    if (codec_begin(t->own, jpeg, limits, &info, NULL) == IMREC_OK)
        twin_must_hold(codec_memory(t->own), codec_claim(t->own, 1) + codec_together_claim());
}

/* False: whole, it cannot be decoded. */
static bool compare_all(struct twin *t, struct bytes jpeg, const struct codec_limits *limits,
                        const struct imrec_image_info *info)
{
    const struct imrec_rect all = {0, 0, info->width, info->height};
    struct imrec_image_info again;
    uint32_t warnings = 0;
    uint64_t state = hash_of(jpeg);
    (void)twin_compare(t, jpeg, limits, TWIN_REGION, all, 3);
    (void)twin_compare(t, jpeg, limits, TWIN_ROWS, all, draw(&state, 2) == 0 ? 1 : 3);
    for (int i = 0; i < REGIONS; i++) {
        const struct imrec_rect part = draw_region(&state, info);
        (void)twin_compare(t, jpeg, limits, i == 0 ? TWIN_ROWS : TWIN_REGION, part,
                           draw(&state, 4) == 0 ? 1 : 3);
    }
    scale_both(t, jpeg, limits, &state);
    compare_together(t, jpeg, limits, info, &state);
    compare_starved(t, jpeg, limits, info, &state);
    check_memory(t, jpeg, limits);
    (void)twin_compare(t, jpeg, limits, TWIN_CHECK, all, 3);
    return codec_begin(t->own, jpeg, limits, &again, NULL) == IMREC_OK &&
           codec_check(t->own, &warnings, NULL) == IMREC_OK && warnings == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct imrec_image_info info;
    struct twin twin;
    uint8_t *copy = malloc(size != 0 ? size : 1); /* its end is guarded by the sanitizer */
    if (copy == NULL)
        abort();
    memcpy(copy, data, size);
    const struct bytes jpeg = {copy, size};
    tiled_use_always(hash_of(jpeg) % 2 == 0);
    together_use_always(hash_of(jpeg) % 2 == 0);
    twin_begin(&twin);
    bool whole = false; /* then accepting less changes nothing */
    for (int i = 0; i < 2 && !whole; i++) {
        const struct codec_limits limits = {
            .max_pixels = MAX_PIXELS, .max_scans = 20, .accept_truncated = i == 1};
        if (size > 2 && copy[0] == 0xFF &&
            codec_begin(twin.own, jpeg, &limits, &info, NULL) == IMREC_OK)
            whole = compare_all(&twin, jpeg, &limits, &info);
    }
    twin_end(&twin);
    free(copy);
    return 0;
}
