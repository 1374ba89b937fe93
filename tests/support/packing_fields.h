/* tests/support/packing_fields.h - packing.h's folder with files next to the images, which become
 * their fields, and a folder of masks. */
#ifndef IMREC_TESTS_PACKING_FIELDS_H
#define IMREC_TESTS_PACKING_FIELDS_H

#include "codec/mask_png.h"
#include "tests/support/packing.h"

#define PACKED_FIELDS "txt,meta.json?,two"

/* The caption of image i of class c: of a length of its own, of the first one nothing. */
static inline void packed_caption(uint32_t c, uint32_t i, char out[300])
{
    const uint32_t n = (c * 8 + i) * 11;
    memset(out, 'a' + (int)i, n);
    out[n] = '\0';
}

static inline void
make_mask(const struct tmpdir *d, const char *name, uint32_t width, uint32_t height, uint32_t seed)
{
    struct codec *c;
    struct mask m = {0};
    struct bytes png;
    if (codec_new(&c, NULL) != IMREC_OK || mask_resize_buffer(&m, width, height, NULL) != IMREC_OK)
        _exit(99);
    m.bits = 8;
    for (uint32_t k = 0; k < width * height; k++)
        m.values[k] = (uint16_t)((k % width * 3 / width + seed) % 7);
    if (codec_encode_mask(c, &m, &png, NULL) != IMREC_OK)
        _exit(99);
    tmp_write(d, name, png.p, png.n);
    mask_free(&m);
    codec_free(c);
}

/* source/CLASS/NN.txt and, an image, NN.two; of even ones NN.meta.json; masks/CLASS/NN.png. */
static inline void packing_add_fields(struct packing *p)
{
    static const char *const classes[MADE_CLASSES] = {"ant", "bee", "cow"};
    char name[64], text[300];
    make_folder(&p->dir, "masks");
    for (uint32_t c = 0; c < MADE_CLASSES; c++) {
        snprintf(name, sizeof(name), "masks/%s", classes[c]);
        make_folder(&p->dir, name);
        for (uint32_t i = 0; i < MADE_EACH; i++) {
            packed_caption(c, i, text);
            snprintf(name, sizeof(name), "source/%s/%02u.txt", classes[c], i);
            tmp_write(&p->dir, name, text, strlen(text));
            snprintf(name, sizeof(name), "source/%s/%02u.meta.json", classes[c], i);
            if (i % 2 == 0)
                tmp_write(&p->dir, name, "{}", 2);
            snprintf(name, sizeof(name), "source/%s/%02u.two", classes[c], i);
            make_image(&p->dir, name, 40 + 7 * i, 90 - 5 * i - c, c * 10 + i);
            snprintf(name, sizeof(name), "masks/%s/%02u.png", classes[c], i);
            make_mask(&p->dir, name, 40 + 7 * i, 90 - 5 * i - c, i);
        }
    }
}
#endif
