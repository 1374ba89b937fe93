/*
 * examples/input_split.c URI [PART PARTS [TYPE]] - part PART of PARTS of the files that URI names,
 * in any store, as records: lines ("text"), or records of RecordIO ("recordio",
 * "indexed_recordio"). Reads five of them, saves the position, and continues there with a second
 * split, as after a restart.
 */
#include <imrec/imrec.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct total {
    unsigned long long records, bytes;
};

static enum imrec_split_type type_of(const char *name)
{
    return strcmp(name, "recordio") == 0           ? IMREC_SPLIT_RECORDIO
           : strcmp(name, "indexed_recordio") == 0 ? IMREC_SPLIT_INDEXED_RECORDIO
                                                   : IMREC_SPLIT_TEXT;
}

/* Up to `most` records. What is damaged is reported, and reading continues after it. */
static enum imrec_status read_some(struct imrec_input_split *split, unsigned long long most,
                                   struct total *total, struct imrec_error *err)
{
    struct imrec_split_bytes record;
    enum imrec_status status = IMREC_OK;
    while (most != 0 && (status == IMREC_OK || status == IMREC_ERR_DATA)) {
        status = imrec_input_split_next(split, &record, err);
        if (status == IMREC_OK) {
            total->records++;
            total->bytes += record.size;
            most--;
        } else if (status == IMREC_ERR_DATA) {
            fprintf(stderr, "input_split: %s\n", err->message);
        }
    }
    return status;
}

static enum imrec_status resume(const char *uri, const struct imrec_input_split_options *o,
                                const char *position, struct total *total, struct imrec_error *err)
{
    struct imrec_input_split *split;
    enum imrec_status status = imrec_input_split_open(uri, o, &split, err);
    if (status == IMREC_OK)
        status = imrec_input_split_restore(split, position, err);
    if (status == IMREC_OK)
        status = read_some(split, ~0ull, total, err);
    imrec_input_split_close(split);
    return status;
}

int main(int argc, char **argv)
{
    struct imrec_input_split_options o;
    struct imrec_input_split *split = NULL;
    struct imrec_error err;
    struct total total = {0, 0};
    char *position = NULL;
    if (argc < 2) {
        fprintf(stderr, "usage: input_split URI [PART PARTS [TYPE]]\n");
        return EXIT_FAILURE;
    }
    imrec_input_split_options_init(&o);
    o.part_index = argc > 3 ? strtoull(argv[2], NULL, 10) : 0;
    o.num_parts = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    o.type = type_of(argc > 4 ? argv[4] : "text");

    enum imrec_status status = imrec_input_split_open(argv[1], &o, &split, &err);
    if (status == IMREC_OK)
        status = read_some(split, 5, &total, &err);
    if (status == IMREC_OK || status == IMREC_END)
        status = imrec_input_split_position(split, &position, &err);
    imrec_input_split_close(split);
    if (status == IMREC_OK)
        status = resume(argv[1], &o, position, &total, &err);
    imrec_input_split_position_free(position);
    if (status != IMREC_END) {
        fprintf(stderr, "input_split: %s\n", err.message);
        return EXIT_FAILURE;
    }
    printf("part %llu of %llu: %llu records, %llu bytes\n", (unsigned long long)o.part_index,
           (unsigned long long)o.num_parts, total.records, total.bytes);
    return EXIT_SUCCESS;
}
