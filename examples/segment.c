/* examples/segment.c SHARD - reads one sweep of images with masks, augmented together, and counts
 * the pixels of each class that a network would see. */
#include <imrec/imrec.h>
#include <stdio.h>
#include <stdlib.h>

enum { IGNORE = 255 };

static const char *const recipe[] = {
    "data_shape=3,224,224",  "batch_size=16",
    "last_batch=partial",    "shuffle=1",
    "masks=uint8",           "ignore_label=255",
    "random_resized_crop=1", "min_random_area=0.25",
    "rrc_style=torch",       "min_aspect_ratio=0.75",
    "max_aspect_ratio=1.33", "rand_mirror=1",
    "brightness=0.2",        "contrast=0.2",
};

static void train(const struct imrec_batch *b, uint64_t pixels[256]) /* your training step */
{
    const struct imrec_shape *s = &b->views[0].shape;
    const size_t n = (size_t)s->height * s->width;
    const uint8_t *mask = b->masks;
    for (size_t i = 0; i < b->count * n; i++)
        pixels[mask[i]]++;
}

int main(int argc, char **argv)
{
    struct imrec_iter_options o;
    struct imrec_iter *it = NULL;
    struct imrec_batch batch;
    struct imrec_error err;
    enum imrec_status st = IMREC_OK;
    uint64_t pixels[256] = {0};

    imrec_iter_options_init(&o);
    o.path_imgrec = argc > 1 ? argv[1] : "train.rec";
    for (size_t i = 0; st == IMREC_OK && i < sizeof(recipe) / sizeof(recipe[0]); i++)
        st = imrec_iter_options_set(&o, recipe[i], &err);
    if (st == IMREC_OK)
        st = imrec_iter_open(&o, &it, &err);
    while (st == IMREC_OK && (st = imrec_iter_next(it, &batch, &err)) == IMREC_OK)
        train(&batch, pixels);
    if (st != IMREC_END)
        fprintf(stderr, "%s\n", err.message);
    imrec_iter_close(it);
    for (int class = 0; st == IMREC_END && class < 256; class ++)
        if (pixels[class] != 0)
            printf("%s %d: %llu px\n", class == IGNORE ? "ignored" : "class", class,
                   (unsigned long long)pixels[class]);
    return st == IMREC_END ? EXIT_SUCCESS : EXIT_FAILURE;
}
