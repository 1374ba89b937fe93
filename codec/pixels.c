/* codec/pixels.c - an image that comes as pixels: it is begun as encoded ones are, and its rows go
 * the same way, through the same conversions. */
#include "base/error.h"
#include "codec/colour_rows.h"
#include "codec/format.h"

static enum imrec_status head(struct codec *c, struct imrec_error *err)
{
    static const char *const kinds[5] = {[1] = "grey", [3] = "rgb", [4] = "rgba"};
    const struct imrec_image *i = &c->pixels;
    if (i->channels > 4 || kinds[i->channels] == NULL)
        return IMREC_REFUSE(err, "pixels of %u channels; 1, 3 and 4 can be taken", i->channels);
    c->info.kind = kinds[i->channels];
    c->info.width = i->width;
    c->info.height = i->height;
    c->info.channels = i->channels;
    return IMREC_OK;
}

static enum imrec_status decode(struct codec *c, struct rows *r, struct imrec_error *err)
{
    static const enum pixels from[5] = {[1] = PIXELS_GREY, [3] = PIXELS_RGB, [4] = PIXELS_RGBA};
    const struct conversion how = {from[c->pixels.channels], GREY_ROUNDED, r->channels,
                                   c->limits.alpha};
    (void)err;
    rows_give_all(r, &how, &c->pixels);
    return IMREC_OK;
}

const struct format codec_pixels = {"pixels", NULL, NULL, head, decode, NULL};
