/* tools/commands/imrec_ls.c - the records of shards, one a line. */
#include "tools/commands/command.h"
#include "tools/commands/command_fields.h"

#define LS_PARAMS(X)                                                                               \
    X(int64_t, from, "0", 0, INT64_MAX, "N", "records", "begin with record N, counted from 0")     \
    X(int64_t, limit, "-1", -1, INT64_MAX, "N", "records", "list at most N; -1 = all")             \
    X(bool, fields, "0", 0, 1, "", "output", "one more column: the record's named fields")         \
    IMREC_READER_PARAMS(X) ROWS_SET(X)
COMMAND(ls, LS_PARAMS, 1, -1) = {
    PAGE_OF("ls", IMREC_EXITS),
    .summary = "list records: place, id, labels, bytes, size and kind of image",
    .usage = {"[OPTIONS] SHARD..."},
    .text = "One line a record, fields separated by tabs: number of the shard, offset of the\n"
            "record in it, image id, labels (with commas between them), bytes of the image,\n"
            "WIDTHxHEIGHT and format. What a field cannot say is '-'. The format of insightface's\n"
            "metadata is 'header' or 'identity', its labels the range of keys that it names.\n"
            "--fields adds a column: the record's fields, NAME=BYTES, with commas between them.",
    .examples = "  imrec ls --limit 10 train.rec\n",
};

struct listing {
    struct json *json; /* NULL: text */
    bool fields;
    uint64_t listed, damaged;
};

static void print_labels(const struct imrec_record *r)
{
    for (uint32_t i = 0; i < r->label_count; i++)
        printf("%s%.9g", i == 0 ? "" : ",", (double)r->labels[i]);
    putchar('\t');
}

static void print_content(const struct imrec_record *r)
{
    struct imrec_image_info image;
    struct imrec_sound_info sound;
    if (r->metadata != IMREC_NO_METADATA)
        printf("-\t%s", r->metadata == IMREC_HEADER ? "header" : "identity");
    else if (imrec_image_info(r->image, r->image_size, &image, NULL) == IMREC_OK)
        printf("%" PRIu32 "x%" PRIu32 "\t%s%s%s", image.width, image.height, image.format,
               image.kind[0] != '\0' ? " " : "", image.kind);
    else if (imrec_sound_info(r->image, r->image_size, &sound, NULL) == IMREC_OK)
        printf("%" PRIu32 "x%" PRIu64 "\twav %" PRIu32 " Hz", sound.channels, sound.samples,
               sound.sample_rate);
    else
        fputs("-\t-", stdout);
}

static void print_record(const struct imrec_record *r)
{
    printf("%" PRIu32 "\t%" PRIu64 "\t", r->shard, r->offset);
    if (!r->is_image) {
        printf("-\t-\t%zu\t-\t-", r->size);
        return;
    }
    printf("%" PRIu64 "\t", r->id);
    print_labels(r);
    printf("%zu\t", r->image_size);
    print_content(r);
}

static void list_record(struct listing *l, const struct imrec_record *r)
{
    if (l->json != NULL) {
        command_json_record(l->json, r, l->fields ? COMMAND_RECORD_FIELDS : 0);
    } else {
        print_record(r);
        if (l->fields) {
            putchar('\t');
            command_print_fields(r);
        }
        putchar('\n');
    }
    l->listed++;
}

static enum imrec_status list(struct listing *l, struct imrec_reader *reader,
                              const struct options *o, struct imrec_error *err)
{
    struct imrec_record record;
    enum imrec_status st = IMREC_OK;
    const uint64_t most = o->limit >= 0 ? (uint64_t)o->limit : UINT64_MAX;
    for (int64_t n = 0; st == IMREC_OK && l->listed < most;) {
        st = imrec_reader_next(reader, &record, err);
        if (st == IMREC_OK && n++ >= o->from)
            list_record(l, &record);
        if (st != IMREC_ERR_DATA)
            continue;
        l->damaged++;
        (void)cli_fail(page.name, err);
        st = IMREC_OK;
    }
    return st == IMREC_END ? IMREC_OK : st;
}

static int
show(const char *uri, const struct imrec_reader_options *options, const struct options *o)
{
    struct json j;
    struct imrec_error err;
    struct imrec_reader *reader;
    struct listing l = {.json = json_begin_if(o->json, &j, "records"), .fields = o->fields};
    enum imrec_status st = imrec_reader_open_with(uri, 0, 1, options, &reader, &err);
    const bool opened = st == IMREC_OK;
    if (opened)
        st = list(&l, reader, o, &err);
    imrec_reader_close(reader);
    if (o->json) {
        json_end(&j);
        JSON_UINTS(&j, {"listed", l.listed}, {"damaged_ranges", l.damaged});
        json_close(&j);
    }
    if (!opened)
        return command_not_opened(page.name, uri, &err);
    if (st != IMREC_OK)
        return cli_fail(page.name, &err);
    return l.damaged != 0 ? EXIT_FAILED : EXIT_OK;
}

static int run(const struct options *o, int n, char **operand)
{
    const struct imrec_reader_options options = READER_OF_O;
    const char *uri = command_shards(page.name, operand, n, o->allow_missing, &options);
    return uri != NULL ? show(uri, &options, o) : EXIT_FAILED;
}
