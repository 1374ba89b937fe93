/* examples/read.c SHARD - reads one sweep of batches: shuffled, cropped, mirrored. */
#include <imrec/imrec.h>
#include <stdio.h>
#include <stdlib.h>

static void train(const struct imrec_batch *b) /* your training step */
{
    printf("batch %llu: %u images, the first has id %llu and class %g\n",
           (unsigned long long)b->number, b->count, (unsigned long long)b->ids[0],
           (double)b->labels[0]);
}

int main(int argc, char **argv)
{
    struct imrec_iter_options o;
    struct imrec_iter *it;
    struct imrec_batch batch;
    struct imrec_error err;
    enum imrec_status st;

    /* README: begin */
    imrec_iter_options_init(&o); /* then: shuffled 224 x 224 crops, 128 per batch */
    o.path_imgrec = argc > 1 ? argv[1] : "train.rec";
    o.data_shape = (struct imrec_shape){.channels = 3, .height = 224, .width = 224};
    o.batch_size = 128;
    o.shuffle = o.rand_crop = o.rand_mirror = true;
    st = imrec_iter_open(&o, &it, &err);
    while (st == IMREC_OK && (st = imrec_iter_next(it, &batch, &err)) == IMREC_OK)
        train(&batch);   /* float data[count][3][224][224], labels[count] */
    if (st != IMREC_END) /* not the end of the sweep, but an error */
        fprintf(stderr, "%s\n", err.message);
    imrec_iter_close(it);
    /* README: end */
    return st == IMREC_END ? EXIT_SUCCESS : EXIT_FAILURE;
}
