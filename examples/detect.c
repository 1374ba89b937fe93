/* examples/detect.c SHARD - reads one sweep of images with boxes, with SSD's augmentation. */
#include <imrec/imrec.h>
#include <stdio.h>
#include <stdlib.h>

/* Samplers of Liu et al. 2016, 2.2: a crop that shares enough with some box, or any crop. */
static const char *const recipe[] = {
    "preset=ImageDetRecordIter",
    "data_shape=3,300,300",
    "batch_size=32",
    "last_batch=partial",
    "shuffle=1",
    "rand_mirror_prob=0.5",
    "rand_pad_prob=0.5",
    "max_pad_scale=4",
    "rand_crop_prob=0.8",
    "num_crop_sampler=6",
    "min_crop_scales=0.3",
    "min_crop_aspect_ratios=0.5",
    "max_crop_aspect_ratios=2",
    "min_crop_overlaps=0.1,0.3,0.5,0.7,0.9,0",
    "max_random_hue=18",
    "random_hue_prob=0.5",
    "max_random_contrast=0.5",
    "random_contrast_prob=0.5",
};

static void train(const struct imrec_batch *b) /* your training step */
{
    for (uint32_t i = 0; i < b->count; i++) {
        const float *label = b->labels + (size_t)i * b->label_width;
        const struct imrec_detections d = imrec_detections_of(label);
        for (uint32_t k = 0; k < d.count; k++) {
            const float *o = d.objects + (size_t)k * d.object_width;
            printf("%llu: class %g from %.3f, %.3f to %.3f, %.3f\n", (unsigned long long)b->ids[i],
                   (double)o[0], (double)o[1], (double)o[2], (double)o[3], (double)o[4]);
        }
    }
}

int main(int argc, char **argv)
{
    struct imrec_iter_options o;
    struct imrec_iter *it = NULL;
    struct imrec_batch batch;
    struct imrec_error err;
    enum imrec_status st = IMREC_OK;

    imrec_iter_options_init(&o);
    o.path_imgrec = argc > 1 ? argv[1] : "train.rec";
    for (size_t i = 0; st == IMREC_OK && i < sizeof(recipe) / sizeof(recipe[0]); i++)
        st = imrec_iter_options_set(&o, recipe[i], &err);
    if (st == IMREC_OK)
        st = imrec_iter_open(&o, &it, &err);
    while (st == IMREC_OK && (st = imrec_iter_next(it, &batch, &err)) == IMREC_OK)
        train(&batch);
    if (st != IMREC_END)
        fprintf(stderr, "%s\n", err.message);
    imrec_iter_close(it);
    return st == IMREC_END ? EXIT_SUCCESS : EXIT_FAILURE;
}
