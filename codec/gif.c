/*
 * codec/gif.c - the first frame of a GIF, on its canvas, by giflib.
 *
 * The canvas is the logical screen, widened where the frame leaves it. What the frame does not
 * cover has the transparent index, or index 0; the background colour and the frame's disposal are
 * ignored. An index beyond the palette is black; without any palette an index is a
 * grey. All this is Pillow's first frame. Our own walk over the blocks finds size, transparency,
 * and whether more frames follow: "GIF89a" | u16 width, height | flags, background, aspect |
 * palette | blocks block: '!' kind, sub-blocks, 0 | ',' u16 left, top, width, height, flags,
 * palette, bits of a code, sub-blocks, 0 | ';'
 */
#include "base/error.h"
#include "base/math.h"
#include "codec/colour_rows.h"
#include "codec/format.h"

#include <string.h>

static bool is_gif(struct bytes b)
{
    return b.n >= 6 && (memcmp(b.p, "GIF87a", 6) == 0 || memcmp(b.p, "GIF89a", 6) == 0);
}

#if IMREC_HAVE_GIF
#include <gif_lib.h>

enum { HEAD_BYTES = 13, DESCRIPTOR_BYTES = 10, CONTROL = 0xF9, NO_INDEX = -1, COLOURS = 256 };

struct frame {
    uint32_t left, top, width, height;
    int transparent; /* index, or NO_INDEX */
};

/* The bytes that giflib reads. One empty block follows the end of the data, so that a frame which
 * has all its pixels and lacks only that block is complete. */
struct stream {
    struct bytes left;
    bool ended;
};

static size_t palette_bytes(uint8_t flags)
{
    return flags & 0x80 ? (size_t)3 << ((flags & 7) + 1) : 0;
}

/* The end of the sub-blocks at `at`, or b.n where the data end. */
static size_t skip_sub_blocks(struct bytes b, size_t at)
{
    while (at < b.n && b.p[at] != 0)
        at += 1 + (size_t)b.p[at];
    return at < b.n ? at + 1 : b.n;
}

/* The place of the next frame's descriptor from `at` on; b.n: there is none. A transparent index
 * stays until another one is named. */
static size_t next_frame(struct bytes b, size_t at, int *transparent)
{
    while (at < b.n && b.p[at] == '!') {
        const uint8_t *e = b.p + at;
        if (b.n - at >= 8 && e[1] == CONTROL && e[2] >= 4 && (e[3] & 1))
            *transparent = e[6];
        at = b.n - at < 2 ? b.n : skip_sub_blocks(b, at + 2);
    }
    return at < b.n && b.n - at >= DESCRIPTOR_BYTES && b.p[at] == ',' ? at : b.n;
}

static bool find_frame(struct bytes b, struct frame *f, bool *animated)
{
    int ignored;
    f->transparent = NO_INDEX;
    const size_t at = next_frame(b, HEAD_BYTES + palette_bytes(b.p[10]), &f->transparent);
    if (at == b.n)
        return false;
    const uint8_t *d = b.p + at;
    f->left = load_le16(d + 1);
    f->top = load_le16(d + 3);
    f->width = load_le16(d + 5);
    f->height = load_le16(d + 7);
    const size_t data = at + DESCRIPTOR_BYTES + palette_bytes(d[9]) + 1;
    *animated = data < b.n && next_frame(b, skip_sub_blocks(b, data), &ignored) != b.n;
    return true;
}

static enum imrec_status read_head(struct codec *c, struct imrec_error *err)
{
    struct frame f;
    bool animated;
    if (c->image.n < HEAD_BYTES || !find_frame(c->image, &f, &animated))
        return imrec_error_at(err, IMREC_ERR_CORRUPT, c->image.n, "gif: no frame in %zu bytes",
                              c->image.n);
    c->info.kind = animated ? "animation" : "";
    c->info.width = (uint32_t)max_u64(load_le16(c->image.p + 6), f.left + f.width);
    c->info.height = (uint32_t)max_u64(load_le16(c->image.p + 8), f.top + f.height);
    c->info.channels = f.transparent == NO_INDEX ? 3 : 4;
    return IMREC_OK;
}

static int read_bytes(GifFileType *gif, GifByteType *out, int n)
{
    struct stream *s = gif->UserData;
    const size_t take = n < 0 ? 0 : (size_t)n < s->left.n ? (size_t)n : s->left.n;
    if (n == 1 && take == 0 && !s->ended) {
        s->ended = true;
        *out = 0;
        return 1;
    }
    if (take > 0)
        memcpy(out, s->left.p, take);
    s->ended = s->ended || take < (size_t)n;
    s->left = (struct bytes){s->left.p + take, s->left.n - take};
    return (int)take;
}

static enum imrec_status gif_error(int e, struct imrec_error *err)
{
    const char *text = GifErrorString(e);
    return imrec_fail(err, e == D_GIF_ERR_NOT_ENOUGH_MEM ? IMREC_ERR_NO_MEMORY : IMREC_ERR_CORRUPT,
                      "gif: %s", text != NULL ? text : "broken data");
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

/* The colours of all indices: R, G, B, A. */
static void read_colours(const GifFileType *gif, int transparent, uint8_t colours[COLOURS][4])
{
    const ColorMapObject *map = gif->Image.ColorMap != NULL ? gif->Image.ColorMap : gif->SColorMap;
    for (int i = 0; i < COLOURS; i++) {
        const uint8_t grey = map == NULL ? (uint8_t)i : 0;
        const GifColorType none = {grey, grey, grey};
        const GifColorType k = map != NULL && i < map->ColorCount ? map->Colors[i] : none;
        const uint8_t px[4] = {k.Red, k.Green, k.Blue, i == transparent ? 0 : 255};
        memcpy(colours[i], px, sizeof(px));
    }
}

/* The frame's indices onto the canvas; 0 or giflib's error, in row *rows of them. */
static int read_lines(const struct codec *c, GifFileType *gif, const struct imrec_image *canvas,
                      uint32_t *rows)
{
    static const uint8_t first[] = {0, 4, 2, 1, 0}, step[] = {8, 8, 4, 2, 1};
    const GifImageDesc *f = &gif->Image;
    uint8_t *corner = canvas->pixels + (size_t)f->Top * canvas->stride + (size_t)f->Left;
    const int begin = f->Interlace ? 0 : 4, end = f->Interlace ? 4 : 5;
    *rows = 0;
    for (int pass = begin; pass < end; pass++)
        for (int y = first[pass]; y < f->Height && !stop_asked(c->stop); y += step[pass], ++*rows)
            if (DGifGetLine(gif, corner + (size_t)y * canvas->stride, f->Width) != GIF_OK)
                return gif->Error;
    return 0;
}

/* Whether giflib has found the frame that our walk has, which is inside the canvas. */
static bool is_found(const GifFileType *gif, const struct frame *f)
{
    const GifImageDesc *d = &gif->Image;
    return d->Left == (int)f->left && d->Top == (int)f->top && d->Width == (int)f->width &&
           d->Height == (int)f->height && d->Width > 0 && d->Height > 0;
}

static void give_rows(struct codec *c, struct rows *r, uint8_t colours[COLOURS][4])
{
    const struct conversion how = {PIXELS_RGBA, GREY_ROUNDED, r->channels, c->limits.alpha};
    const struct imrec_image *v = &c->whole.view;
    for (uint32_t y = r->region.y; r->sink != NULL && y < r->region.y + r->region.height; y++) {
        const uint8_t *indices = v->pixels + y * v->stride;
        for (size_t x = 0; x < v->width; x++)
            memcpy(c->scratch.p + 4 * x, colours[indices[x]], 4);
        rows_give(r, &how, c->scratch.p, y);
    }
}

/* Reads the frame; counts what is put up with. */
static enum imrec_status take_lines(const struct codec *c, GifFileType *gif,
                                    const struct stream *in, struct rows *r,
                                    const struct imrec_image *canvas, struct imrec_error *err)
{
    uint32_t rows;
    const int e = read_lines(c, gif, canvas, &rows);
    IMREC_TRY(stop_check(c->stop, err));
    if (e == 0) {
        r->warnings += in->ended;
        return IMREC_OK;
    }
    if (e != D_GIF_ERR_NOT_ENOUGH_MEM && in->ended)
        return codec_truncated(c, r, rows, err);
    if (e == D_GIF_ERR_EOF_TOO_SOON && c->limits.accept_truncated) {
        r->warnings++;
        return IMREC_OK;
    }
    return gif_error(e, err);
}

static enum imrec_status read_frame(struct codec *c, GifFileType *gif, const struct stream *in,
                                    struct rows *r, struct imrec_error *err)
{
    struct frame f;
    uint8_t colours[COLOURS][4];
    bool ignored;
    int e = to_frame(gif);
    if (e == 0 && (!find_frame(c->image, &f, &ignored) || !is_found(gif, &f)))
        e = D_GIF_ERR_IMAGE_DEFECT;
    if (e != 0)
        return gif_error(e, err);
    IMREC_TRY(codec_reserve(&c->scratch, (size_t)c->info.width * 4, err));
    IMREC_TRY(codec_reserve_whole(c, 1, err));
    const struct imrec_image *canvas = &c->whole.view;
    memset(canvas->pixels, f.transparent == NO_INDEX ? 0 : f.transparent,
           canvas->stride * canvas->height);
    IMREC_TRY(take_lines(c, gif, in, r, canvas, err));
    read_colours(gif, f.transparent, colours);
    give_rows(c, r, colours);
    return IMREC_OK;
}

static enum imrec_status decode(struct codec *c, struct rows *r, struct imrec_error *err)
{
    struct stream in = {.left = c->image};
    int e = 0;
    GifFileType *gif = DGifOpen(&in, read_bytes, &e);
    if (gif == NULL)
        return gif_error(e, err);
    const enum imrec_status st = read_frame(c, gif, &in, r, err);
    (void)DGifCloseFile(gif, &e);
    return st;
}

/* Indices, a row of colours, giflib's tables. */
static uint64_t claim(const struct codec *c, uint32_t denominator)
{
    enum { TABLES = 256 << 10 };
    (void)denominator;
    return TABLES + (uint64_t)c->info.width * (c->info.height + 4);
}

const struct format codec_gif = {"gif", "giflib", is_gif, read_head, decode, claim};
#else
const struct format codec_gif = {"gif", "giflib", is_gif, NULL, NULL, NULL};
#endif
