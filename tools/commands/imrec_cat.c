/* tools/commands/imrec_cat.c - one image out of a shard; sequences of CNTK files. */
#include "formats/field_file.h"
#include "tools/commands/command.h"
#include "tools/commands/command_fields.h"
#include "tools/commands/imrec_sequences.h"

#define CAT_PARAMS(X)                                                                              \
    X(int64_t, offset, "-1", -1, INT64_MAX, "BYTE", "record",                                      \
      "take the record at this offset, not one by id")                                             \
    X(int64_t, shard, "0", 0, UINT32_MAX, "N", "record",                                           \
      "with --offset: number of the shard, from 0")                                                \
    X(bool, record, "0", 0, 1, "", "output", "write the whole record, with its header")            \
    X(bool, mask, "0", 0, 1, "", "output", "write the image's mask, a PNG")                        \
    X(const char *, field, "", 0, 65535, "NAME", "output",                                         \
      "write a named field, a caption or a file; numbers as text")                                 \
    IMREC_READER_PARTS(X)                                                                          \
    IMREC_READER_FILES(X)                                                                          \
    X(const char *, mask_name, "", 0, 255, "SUFFIX|FEATURE", "reading",                            \
      "as --mask of the other commands: the file or feature that is the mask")                     \
    ROW_MISSING(X) ROW_CONFIG(X) ROW_JSON(X)
COMMAND(cat, CAT_PARAMS, 0, -1) = {
    PAGE_OF("cat", IMREC_EXITS),
    .summary = "write one image, byte for byte as it was packed, or sequences of CNTK files",
    .usage = {"[OPTIONS] SHARD ID", "[OPTIONS] SHARD --offset=BYTE",
              "[OPTIONS] CNTKFILE [ID] [key=value ...]"},
    .text = "The image is found by its image id (by the index, if one is next to the\n"
            "shard, else by reading all), or by the offset that ls prints. With --json only what\n"
            "is known about it is printed.\n\n"
            "Of CNTK's text and binary files all sequences, or the one with this id, are printed\n"
            "as text, or with --json as one object a line: dense samples as values, sparse ones\n"
            "as [index, value].\n" SEQUENCES_KEYS,
    .examples = "  imrec cat train.rec 4711 > 4711.jpg\n"
                "  imrec cat --field txt train.rec 4711 > 4711.txt\n"
                "  imrec cat --json train.cbf | head -1\n"
                "  imrec cat train.ctf 100 input.x.format=dense input.x.dim=784\n",
};

static int write_field(const struct imrec_record *r, const char *name)
{
    struct imrec_error err;
    struct buf text = BUF_INIT(1 << 30);
    struct bytes content;
    const struct imrec_field *f = command_find_field(r, name);
    if (f == NULL)
        return cli_say(page.name,
                       "%s: the record at offset %" PRIu64
                       " has no field '%.200s'; imrec ls --fields shows those that it has",
                       r->uri, r->offset, name);
    const enum imrec_status st =
        field_content(&text, (enum field_type)(f->kind - IMREC_FIELD_BYTES),
                      (struct bytes){f->bytes, f->size}, &content, &err);
    if (st == IMREC_OK)
        (void)fwrite(content.p, 1, content.n, stdout);
    buf_free(&text);
    return st == IMREC_OK ? EXIT_OK : cli_fail(page.name, &err);
}

static int write_out(const struct options *o, const struct imrec_record *r)
{
    if (o->json) {
        struct json j;
        json_open(&j, stdout);
        command_json_record(&j, r, COMMAND_RECORD_ALL | COMMAND_RECORD_FIELDS);
        json_close(&j);
        return EXIT_OK;
    }
    if (!o->record && r->metadata != IMREC_NO_METADATA)
        return cli_say(page.name,
                       "%s: the record at offset %" PRIu64 " is %s, and no image; --json shows it",
                       r->uri, r->offset, r->metadata == IMREC_HEADER ? "a header" : "an identity");
    if (!o->record && !r->is_image)
        return cli_say(page.name,
                       "%s: the record at offset %" PRIu64 " is not an image; --record writes it",
                       r->uri, r->offset);
    if (o->mask && r->mask == NULL)
        return cli_say(page.name, "%s: the record at offset %" PRIu64 " has no mask", r->uri,
                       r->offset);
    if (cli_is_terminal(stdout))
        return cli_say(page.name, "not to a terminal; send the output to a file");
    if (o->field[0] != '\0')
        return write_field(r, o->field);
    if (o->mask)
        (void)fwrite(r->mask, 1, r->mask_size, stdout);
    else
        (void)fwrite(o->record ? r->data : r->image, 1, o->record ? r->size : r->image_size,
                     stdout);
    return EXIT_OK; /* cli_exit() looks whether it was written */
}

/* Their --mask is a flag here. */
static struct imrec_reader_options reader_of(const struct options *o)
{
    return (struct imrec_reader_options){.struct_size = sizeof(struct imrec_reader_options),
                                         .image = o->image,
                                         .label = o->label,
                                         .label_offset = o->label_offset,
                                         .path_root = o->path_root,
                                         .container = o->container,
                                         .mask = o->mask_name};
}

static int show(const char *uri, const struct options *o, const char *id_text)
{
    struct imrec_error err;
    struct imrec_record record;
    struct imrec_reader *reader = NULL;
    const struct imrec_reader_options options = reader_of(o);
    uint64_t id, offset = (uint64_t)o->offset;
    uint32_t shard = (uint32_t)o->shard;
    int status;
    if (id_text != NULL && (status = command_read_id(page.name, id_text, &id)) != EXIT_OK)
        return status;
    enum imrec_status st = imrec_reader_open_with(uri, 0, 1, &options, &reader, &err);
    if (st != IMREC_OK)
        return command_not_opened(page.name, uri, &err);
    if (id_text != NULL)
        st = imrec_dataset_find_with(uri, &options, id, &shard, &offset, &err);
    if (st == IMREC_OK)
        st = imrec_reader_seek(reader, shard, offset, &err);
    if (st == IMREC_OK)
        st = imrec_reader_next(reader, &record, &err);
    if (st == IMREC_END)
        status = cli_say(page.name, "%s: no record at offset %" PRIu64, uri, offset);
    else if (st != IMREC_OK)
        status = cli_fail(page.name, &err);
    else if (record.offset != offset || record.shard != shard)
        status = cli_say(page.name,
                         "%s: no record begins at offset %" PRIu64 "; the next is at %" PRIu64,
                         record.uri, offset, record.offset);
    else
        status = write_out(o, &record);
    imrec_reader_close(reader);
    return status;
}

/* Of [FILE] [ID] key=value ..., where a configuration can name the file. */
static bool begins_with_file(const struct sequences_request *r)
{
    const char *first = r->operands > 0 ? r->operand[0] : "0";
    if (r->config[0] == '\0' || (r->operands > 1 && !sequences_is_pair(r->operand[1])))
        return true;
    return !sequences_is_pair(first) && first[strspn(first, "0123456789")] != '\0';
}

static int cat_sequences(struct sequences_request r, char **operand)
{
    const int at = begins_with_file(&r);
    if (r.operands > at &&
        !sequences_is_pair(operand[at])) { /* FILE ID, or ID: out of the operands */
        r.id = operand[at];
        for (int i = at; i > 0; i--)
            operand[i] = operand[i - 1];
        r.operand++;
        r.operands--;
    }
    return sequences_cat(&r);
}

static int run(const struct options *o, int n, char **operand)
{
    const struct sequences_request r = sequences_request(&page, o->config, o->json, n, operand);
    if (n == 0 && o->config[0] == '\0')
        return command_refuse_count(&page, "missing");
    if (sequences_are_asked(&r) || (sequences_are_binary(&r) && !cbf_has_images(operand[0])))
        return cat_sequences(r, operand);
    if (n > 2)
        return command_refuse_count(&page, "too many");
    if ((n == 2) == (o->offset >= 0))
        return cli_refuse(stderr, page.name, "give either an ID or --offset");
    if (o->record + o->mask + (o->field[0] != '\0') > 1)
        return cli_refuse(stderr, page.name, "give one of --record, --mask and --field");
    const struct imrec_reader_options reader = reader_of(o);
    const char *uri = command_shards(page.name, operand, 1, o->allow_missing, &reader);
    return uri != NULL ? show(uri, o, n == 2 ? operand[1] : NULL) : EXIT_FAILED;
}
