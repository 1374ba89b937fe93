/* tests/fuzz/fuzz_boxes.c - arbitrary floats as a label with boxes: refused, or boxes that stay in
 * the image and their order whatever is drawn. */
#include "augment/draw/det_draw.h"
#include "tests/fuzz/must.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void set_up(struct recipe *r, struct augment_options *o)
{
    static const char *const words[] = {
        "aug_seq=det_aug_default",  "label_width=-1",          "fill_value=127",
        "data_shape=3,30,40",       "rand_crop_prob=0.7",      "num_crop_sampler=2",
        "min_crop_scales=0.1",      "min_crop_overlaps=0,0.2", "min_crop_aspect_ratios=0.5",
        "max_crop_aspect_ratios=2", "rand_pad_prob=0.5",       "max_pad_scale=3",
        "rand_mirror_prob=0.5",     "resize_mode=fit",         "rand_affine_prob=0.5",
        "max_affine_angle=180",     "max_affine_tilt=0.4",     "max_affine_shear=40",
        "max_affine_shift=0.5",     "min_affine_scale=0.1",    "max_affine_scale=10"};
    param_defaults(augment_params, o);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        must(param_set(augment_params, o, words[i], strcspn(words[i], "="),
                       strchr(words[i], '=') + 1, NULL) == IMREC_OK);
    must(recipe_init(r, o, NULL) == IMREC_OK);
}

static void check(const struct det_label *l, uint32_t most)
{
    must(l->header >= 2 && l->object >= 5 && l->header <= l->n && l->n <= most);
    must((l->n - l->header) % l->object == 0);
    for (uint32_t i = 0; i < det_label_count(l); i++) {
        const struct det_box b = det_label_box(l, i);
        must(b.left >= 0 && b.left < b.right && b.right <= 1);
        must(b.top >= 0 && b.top < b.bottom && b.bottom <= 1);
        must(isfinite(l->values[l->header + (size_t)i * l->object]));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct augment_options o;
    static struct recipe r;
    float v[MOST];
    struct det_label l, again;
    struct imrec_draw d;
    if (o.data_shape.width == 0)
        set_up(&r, &o);
    if (size < 8 || size / 4 - 1 > MOST)
        return 0;
    const uint32_t n = (uint32_t)(size / 4 - 1);
    memcpy(v, data + 4, (size_t)n * 4);
    if (det_label_read(&l, v, n, NULL) != IMREC_OK)
        return 0;
    check(&l, n);
    const uint32_t header = l.header, before = l.n;
    const struct sample_key key = {data[0], data[1], 0, data[2], 0};
    must(det_draw(&r, key, 1 + data[3] % 50, 1 + data[3] / 5, &l, &d, NULL) == IMREC_OK);
    check(&l, before);
    must(l.header == header && d.boxes == det_label_count(&l));
    must(memcmp(v, data + 4, (size_t)header * 4) == 0);
    must((uint64_t)d.x + d.crop_width <= d.width && (uint64_t)d.y + d.crop_height <= d.height);
    must(d.fit_width >= 1 && d.fit_width <= 40 && d.fit_height >= 1 && d.fit_height <= 30);
    must(det_label_read(&again, v, l.n, NULL) == IMREC_OK && again.n == l.n);
    return 0;
}
