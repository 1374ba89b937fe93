/*
 * make_marked LIST.lst ROOT OUT.rec - images with all that may go with one: the boxes that the
 * list gives (docs/guide/detection.md), of each an ellipse in a mask and a keypoint at its top.
 *
 * The list's objects are class, xmin, ymin, xmax, ymax; the records' objects add the keypoint.
 */
#include "base/alloc.h"
#include "codec/mask_png.h"
#include "formats/set/image_list.h"
#include "imrec/imrec.h"
#include "storage/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 2, OBJECT = 5, MARKED = OBJECT + 3, MOST = 64, PATH_ROOM = 4096 };
#define FILE_MOST ((size_t)1 << 26)

static struct imrec_error err;

static void must(enum imrec_status st)
{
    if (st == IMREC_OK)
        return;
    fprintf(stderr, "make_marked: %s\n", err.message);
    exit(1);
}

static void fill_ellipse(struct mask *m, const float *o)
{
    const float cx = (o[1] + o[3]) / 2, cy = (o[2] + o[4]) / 2;
    const float rx = (o[3] - o[1]) / 2, ry = (o[4] - o[2]) / 2;
    for (uint32_t y = 0; y < m->height; y++)
        for (uint32_t x = 0; x < m->width; x++) {
            const float dx = (((float)x + 0.5f) / (float)m->width - cx) / rx;
            const float dy = (((float)y + 0.5f) / (float)m->height - cy) / ry;
            if (dx * dx + dy * dy <= 1)
                m->values[(size_t)y * m->width + x] = (uint16_t)(o[0] + 1);
        }
}

static void
draw_mask(struct mask *m, const void *image, size_t n, const float *objects, uint32_t count)
{
    struct imrec_image_info info;
    must(imrec_image_info(image, n, &info, &err));
    must(mask_resize_buffer(m, info.width, info.height, &err));
    m->bits = 8;
    memset(m->values, 0, (size_t)info.width * info.height * sizeof(*m->values));
    for (uint32_t i = 0; i < count; i++)
        fill_ellipse(m, objects + (size_t)i * OBJECT);
}

/* Returns how many values there are. */
static uint32_t label_of(const float *objects, uint32_t count, float *out)
{
    float *to = out + HEAD;
    out[0] = HEAD;
    out[1] = MARKED;
    for (uint32_t i = 0; i < count; i++, to += MARKED) {
        const float *o = objects + (size_t)i * OBJECT;
        memcpy(to, o, OBJECT * sizeof(*to));
        to[OBJECT] = (o[1] + o[3]) / 2;
        to[OBJECT + 1] = o[2] + (o[4] - o[2]) / 6;
        to[OBJECT + 2] = 2;
    }
    return HEAD + count * MARKED;
}

static void
put(struct imrec_writer *w, struct codec *c, const struct image_list_entry *e, const char *root)
{
    char path[PATH_ROOM];
    float label[HEAD + MOST * MARKED];
    struct mask m = {0};
    struct bytes png = {NULL, 0};
    uint8_t *image;
    size_t n;
    const uint32_t count = (e->label_count - HEAD) / OBJECT;
    if (e->label_count < HEAD || count > MOST)
        exit(2);
    snprintf(path, sizeof(path), "%s/%.*s", root, (int)e->path.n, (const char *)e->path.p);
    must(source_load(path, FILE_MOST, &image, &n, &err));
    draw_mask(&m, image, n, e->labels + HEAD, count);
    const uint32_t values = label_of(e->labels + HEAD, count, label);
    if (codec_encode_mask(c, &m, &png, &err) == IMREC_OK) /* else PNG is not built in */
        must(imrec_writer_append_masked(w, e->id, label, values, e->id, image, n, png.p, png.n,
                                        &err));
    else
        must(imrec_writer_append_image(w, e->id, label, values, e->id, image, n, &err));
    mask_free(&m);
    imrec_free(image);
}

int main(int argc, char **argv)
{
    struct imrec_writer *w;
    struct codec *c;
    struct image_list list;
    struct image_list_entry e;
    uint8_t *text;
    size_t n;
    enum imrec_status st;
    if (argc != 4) {
        fputs("Usage: make_marked LIST.lst ROOT OUT.rec\n", stderr);
        return 2;
    }
    must(source_load(argv[1], FILE_MOST, &text, &n, &err));
    must(codec_new(&c, &err));
    must(imrec_writer_open(argv[3], NULL, true, &w, &err));
    image_list_begin(&list, argv[1], 0, (struct bytes){text, n}, 0, 0);
    while ((st = image_list_next(&list, &e, &err)) == IMREC_OK)
        put(w, c, &e, argv[2]);
    must(st == IMREC_END ? IMREC_OK : st);
    image_list_end(&list);
    must(imrec_writer_commit(w, &err));
    codec_free(c);
    imrec_free(text);
    return 0;
}
