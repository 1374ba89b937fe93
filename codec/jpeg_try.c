/* codec/jpeg_try.c - our own decoder, for JPEG that are plain. */
#include "codec/jpeg_try.h"

#include "base/error.h"
#include "codec/colour_rows.h"
#include "codec/jpeg/baseline.h"

#include <string.h>

static enum imrec_status no_memory(struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory to decode a JPEG");
}

bool jpeg_may_be_plain(const struct jpeg_head *h, uint32_t channels)
{
    return h->frame <= 0xC2 && (channels != 4 || h->components == 4);
}

/* Rows of CMYK on their way to the sink. */
struct inks {
    const struct rows *rows;
    struct conversion how;
    uint8_t *line;
};

static void mix_inks(void *context, uint32_t y, const uint8_t *row)
{
    const struct inks *inks = context;
    colour_row(&inks->how, row, inks->rows->region.width, inks->line);
    inks->rows->sink(inks->rows->context, y, inks->line);
}

/* What is asked of the decoder: it leaves CMYK as it is. */
static enum imrec_status wants_inks(struct codec *c, const struct rows *rows, struct inks *inks,
                                    struct baseline_request *request, struct imrec_error *err)
{
    IMREC_TRY(codec_reserve(&c->line, (size_t)rows->region.width * 4, err));
    inks->line = c->line.p;
    request->channels = 4;
    request->sink = rows->sink != NULL ? mix_inks : NULL;
    request->context = inks;
    request->direct = NULL;
    return IMREC_OK;
}

enum imrec_status
jpeg_try_baseline(struct codec *c, const struct rows *rows, bool *done, struct imrec_error *err)
{
    struct baseline_request request = {
        .region = rows->region,
        .channels = rows->channels,
        .denominator = rows->denominator != 0 ? rows->denominator : 1,
        .sink = rows->sink,
        .context = rows->context,
        .direct = rows->direct != NULL ? rows->direct->pixels : NULL,
        .stride = rows->direct != NULL ? rows->direct->stride : 0,
        .stop = c->stop,
    };
    struct inks inks = {
        .rows = rows,
        .how = {PIXELS_CMYK, GREY_ROUNDED, rows->channels, c->limits.alpha},
    };
    *done = false;
    if (c->decoder == CODEC_JPEG_LIBJPEG || !jpeg_may_be_plain(&c->head, rows->channels))
        return IMREC_OK;
    if (c->head.components == 4)
        IMREC_TRY(wants_inks(c, rows, &inks, &request, err));
    if (c->baseline == NULL && (c->baseline = baseline_new()) == NULL)
        return no_memory(err);
    const enum baseline_result result =
        baseline_decode(c->baseline, c->image, c->info.width, c->info.height, &request);
    if (result == BASELINE_NO_MEMORY)
        return no_memory(err);
    IMREC_TRY(stop_check(c->stop, err)); /* nobody else need try */
    *done = result == BASELINE_DONE;
    c->baseline_count += *done;
    return IMREC_OK;
}

static void copy_row(void *context, uint32_t y, const uint8_t *row)
{
    const struct imrec_image *to = context;
    memcpy(to->pixels + y * to->stride, row, (size_t)to->width * to->channels);
}

enum imrec_status jpeg_try_baseline_whole(struct codec *c, uint32_t denominator,
                                          const struct imrec_image *out, bool *done,
                                          struct imrec_error *err)
{
    struct imrec_image to = *out;
    const struct rows rows = {.region = {0, 0, out->width, out->height},
                              .channels = out->channels,
                              .denominator = denominator,
                              .sink = copy_row,
                              .context = &to,
                              .direct = &to};
    return jpeg_try_baseline(c, &rows, done, err);
}
