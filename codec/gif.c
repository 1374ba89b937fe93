/*
 * codec/gif.c - the first frame of a GIF, on its canvas, by giflib.
 *
 * What the frame does not cover, and its transparent pixels, have alpha 0; under the former lies
 * white. Our own walk over the blocks finds size and transparency:
 *     "GIF89a" | u16 width, height | flags, background, aspect | palette | blocks
 *     block: '!' kind, sub-blocks, 0 | ',' u16 left, top, width, height, flags, ... | ';'
 */
#include "base/error.h"
#include "codec/colour.h"
#include "codec/format.h"

#include <string.h>

static bool is_gif(struct bytes b)
{
    return b.n >= 6 && (memcmp(b.p, "GIF87a", 6) == 0 || memcmp(b.p, "GIF89a", 6) == 0);
}

#if IMREC_HAVE_GIF
#include <gif_lib.h>

enum { HEAD_BYTES = 13, CONTROL = 0xF9, NO_INDEX = -1 };

struct frame {
    uint32_t left, top, width, height;
    int transparent; /* index, or NO_INDEX */
};

static uint32_t le16(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static size_t palette_bytes(uint8_t flags)
{
    return flags & 0x80 ? (size_t)3 << ((flags & 7) + 1) : 0;
}

/* Behind the sub-blocks at `at`, or b.n where the data end. */
static size_t skip_sub_blocks(struct bytes b, size_t at)
{
    while (at < b.n && b.p[at] != 0)
        at += 1 + (size_t)b.p[at];
    return at < b.n ? at + 1 : b.n;
}

static bool find_frame(struct bytes b, struct frame *f)
{
    size_t at = HEAD_BYTES + palette_bytes(b.p[10]);
    f->transparent = NO_INDEX;
    while (at < b.n && b.p[at] == '!') {
        const uint8_t *e = b.p + at;
        if (b.n - at >= 8 && e[1] == CONTROL && e[2] >= 4)
            f->transparent = e[3] & 1 ? e[6] : NO_INDEX;
        at = b.n - at < 2 ? b.n : skip_sub_blocks(b, at + 2);
    }
    if (at >= b.n || b.n - at < 10 || b.p[at] != ',')
        return false;
    f->left = le16(b.p + at + 1);
    f->top = le16(b.p + at + 3);
    f->width = le16(b.p + at + 5);
    f->height = le16(b.p + at + 7);
    return true;
}

static enum imrec_status read_head(struct codec *c, struct imrec_error *err)
{
    struct frame f;
    if (c->image.n < HEAD_BYTES || !find_frame(c->image, &f))
        return imrec_error_at(err, IMREC_ERR_CORRUPT, c->image.n, "gif: no frame in %zu bytes",
                              c->image.n);
    c->info.width = le16(c->image.p + 6);
    c->info.height = le16(c->image.p + 8);
    if (c->info.width == 0 || c->info.height == 0) { /* such files exist: the frame is all */
        c->info.width = f.left + f.width;
        c->info.height = f.top + f.height;
    }
    const bool covered =
        f.left == 0 && f.top == 0 && f.width >= c->info.width && f.height >= c->info.height;
    c->info.channels = covered && f.transparent == NO_INDEX ? 3 : 4;
    return IMREC_OK;
}

static int read_bytes(GifFileType *gif, GifByteType *out, int n)
{
    struct bytes *left = gif->UserData;
    const size_t take = n < 0 ? 0 : (size_t)n < left->n ? (size_t)n : left->n;
    if (take > 0)
        memcpy(out, left->p, take);
    left->p += take;
    left->n -= take;
    return (int)take;
}

static enum imrec_status gif_error(int e, struct imrec_error *err)
{
    const char *text = GifErrorString(e);
    return imrec_error_at(err,
                          e == D_GIF_ERR_NOT_ENOUGH_MEM ? IMREC_ERR_NO_MEMORY : IMREC_ERR_CORRUPT,
                          IMREC_NO_OFFSET, "gif: %s", text != NULL ? text : "broken data");
}

static bool is_end_of_data(int e)
{
    return e == D_GIF_ERR_READ_FAILED || e == D_GIF_ERR_EOF_TOO_SOON;
}

/* Moves to the first frame; 0 or giflib's error. */
static int to_frame(GifFileType *gif)
{
    GifRecordType type;
    while (DGifGetRecordType(gif, &type) == GIF_OK) {
        int code;
        GifByteType *block;
        if (type == IMAGE_DESC_RECORD_TYPE)
            return DGifGetImageDesc(gif) == GIF_OK ? 0 : gif->Error;
        if (type == TERMINATE_RECORD_TYPE)
            return D_GIF_ERR_NO_IMAG_DSCR;
        if (type != EXTENSION_RECORD_TYPE || DGifGetExtension(gif, &code, &block) != GIF_OK)
            return gif->Error;
        while (block != NULL)
            if (DGifGetExtensionNext(gif, &block) != GIF_OK)
                return gif->Error;
    }
    return gif->Error;
}

/* One line of indices onto the canvas. */
static void paint(const struct imrec_image *v, const GifFileType *gif, int transparent, uint32_t y,
                  const uint8_t *line)
{
    const ColorMapObject *map = gif->Image.ColorMap != NULL ? gif->Image.ColorMap : gif->SColorMap;
    const uint32_t left = (uint32_t)gif->Image.Left, top = (uint32_t)gif->Image.Top;
    if (top + y >= v->height)
        return;
    uint8_t *row = v->pixels + (top + y) * v->stride;
    for (uint32_t x = 0; x < (uint32_t)gif->Image.Width && left + x < v->width; x++) {
        const int i = line[x];
        const GifColorType black = {0, 0, 0};
        const GifColorType k = i < map->ColorCount ? map->Colors[i] : black;
        const uint8_t px[4] = {k.Red, k.Green, k.Blue, i == transparent ? 0 : 255};
        memcpy(row + 4 * (size_t)(left + x), px, 4);
    }
}

static int read_lines(struct codec *c, GifFileType *gif, int transparent)
{
    static const uint8_t first[] = {0, 4, 2, 1, 0}, step[] = {8, 8, 4, 2, 1};
    const int height = gif->Image.Height, width = gif->Image.Width;
    const int begin = gif->Image.Interlace ? 0 : 4, end = gif->Image.Interlace ? 4 : 5;
    for (int pass = begin; pass < end; pass++)
        for (int y = first[pass]; y < height && !stop_asked(c->stop); y += step[pass]) {
            if (DGifGetLine(gif, c->scratch.p, width) != GIF_OK)
                return gif->Error;
            paint(&c->whole.view, gif, transparent, (uint32_t)y, c->scratch.p);
        }
    return 0;
}

static enum imrec_status
read_frame(struct codec *c, GifFileType *gif, struct rows *r, struct imrec_error *err)
{
    struct frame f;
    const struct conversion how = {PIXELS_RGBA, GREY_ROUNDED, r->channels, c->limits.alpha};
    int e = to_frame(gif);
    if (e == 0 && gif->Image.ColorMap == NULL && gif->SColorMap == NULL)
        e = D_GIF_ERR_NO_COLOR_MAP;
    if (e == 0 && (gif->Image.Width <= 0 || !find_frame(c->image, &f)))
        e = D_GIF_ERR_IMAGE_DEFECT;
    if (e != 0)
        return gif_error(e, err);
    IMREC_TRY(codec_reserve(&c->scratch, (size_t)gif->Image.Width, err));
    IMREC_TRY(codec_reserve_whole(c, 4, err));
    const struct imrec_image *v = &c->whole.view;
    memset(v->pixels, 255, v->stride * v->height);
    if (c->info.channels == 4)
        for (size_t i = 3; i < v->stride * v->height; i += 4)
            v->pixels[i] = 0;
    e = read_lines(c, gif, f.transparent);
    IMREC_TRY(stop_check(c->stop, err));
    if (is_end_of_data(e))
        IMREC_TRY(codec_truncated(c, r, 0, err));
    else if (e != 0)
        return gif_error(e, err);
    rows_give_all(r, &how, v);
    return IMREC_OK;
}

static enum imrec_status decode(struct codec *c, struct rows *r, struct imrec_error *err)
{
    struct bytes left = c->image;
    int e = 0;
    GifFileType *gif = DGifOpen(&left, read_bytes, &e);
    if (gif == NULL)
        return gif_error(e, err);
    const enum imrec_status st = read_frame(c, gif, r, err);
    (void)DGifCloseFile(gif, &e);
    return st;
}

const struct format codec_gif = {"gif", "giflib", is_gif, read_head, decode};
#else
const struct format codec_gif = {"gif", "giflib", is_gif, NULL, NULL};
#endif
