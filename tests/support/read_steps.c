/* tests/support/read_steps.c - read_steps SHARDS OUT [key=value ...]
 *
 * A reader that waits in mid-sweep. Each line of standard input is a number of batches to read, at
 * most to the end of the sweep; their data, labels and ids are appended to OUT. Answers, a line
 * each: "lost: MESSAGE" for what failed, then "read" or "end"; "failed: MESSAGE" is the last. */
#include "imrec/imrec.h"

#include <stdio.h>
#include <stdlib.h>

static void keep(const struct imrec_batch *b, size_t image, FILE *out)
{
    fwrite(b->data, image, b->count, out);
    fwrite(b->labels, sizeof(float) * b->label_width, b->count, out);
    fwrite(b->ids, sizeof(*b->ids), b->count, out);
}

/* At most n batches. */
static enum imrec_status
read_some(struct imrec_iter *it, long n, size_t image, FILE *out, struct imrec_error *err)
{
    struct imrec_batch b;
    enum imrec_status st = IMREC_OK;
    while (n-- > 0 && st == IMREC_OK) {
        st = imrec_iter_next(it, &b, err);
        if (st == IMREC_ERR_DATA) {
            printf("lost: %s\n", err->message);
            st = IMREC_OK;
        }
        if (st == IMREC_OK)
            keep(&b, image, out);
    }
    return st;
}

static int serve(struct imrec_iter *it, size_t image, FILE *out)
{
    char line[32];
    struct imrec_error err;
    while (fgets(line, sizeof(line), stdin) != NULL) {
        const enum imrec_status st = read_some(it, strtol(line, NULL, 10), image, out, &err);
        if (st != IMREC_OK && st != IMREC_END) {
            printf("failed: %s\n", err.message);
            return EXIT_FAILURE;
        }
        if (fflush(out) != 0 || puts(st == IMREC_END ? "end" : "read") == EOF ||
            fflush(stdout) != 0)
            return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    struct imrec_iter_options o;
    struct imrec_iter *it = NULL;
    struct imrec_error err;
    imrec_iter_options_init(&o);
    if (argc < 3)
        return 2;
    o.path_imgrec = argv[1];
    FILE *out = fopen(argv[2], "wb");
    enum imrec_status st = out != NULL ? IMREC_OK : IMREC_ERR_IO;
    for (int i = 3; st == IMREC_OK && i < argc; i++)
        st = imrec_iter_options_set(&o, argv[i], &err);
    o.dtype = IMREC_UINT8;
    if (st == IMREC_OK)
        st = imrec_iter_open(&o, &it, &err);
    if (st != IMREC_OK) {
        printf("failed: %s\n", out != NULL ? err.message : "no output");
        return EXIT_FAILURE;
    }
    const size_t image = (size_t)o.data_shape.channels * o.data_shape.height * o.data_shape.width;
    const int status = serve(it, image, out);
    imrec_iter_close(it);
    return fclose(out) == 0 ? status : EXIT_FAILURE;
}
