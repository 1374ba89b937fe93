/* tools/commands/imrec_info.c - the card of a data set. */
#include "cli/show.h"
#include "tools/commands/command.h"
#include "tools/commands/imrec_sequences.h"

#define INFO_PARAMS(X)                                                                             \
    X(int64_t, classes, "20", 0, INT64_MAX, "N", "output", "labels to list; --json lists all")     \
    IMREC_READER_PARAMS(X) ROW_MISSING(X) ROW_CONFIG(X) ROWS_LONG(X)
COMMAND(info, INFO_PARAMS, 0, -1) = {
    PAGE_OF("info", IMREC_EXITS),
    .summary = "the card of a data set: records, classes, sizes, kinds of images",
    .usage = {"[OPTIONS] SHARD...", "[OPTIONS] CNTKFILE [key=value ...]"},
    .text = "Reads the header of every record and image once, and describes the contents of the "
            "shards.\n\n"
            "Of CNTK's text and binary files: sequences, samples, chunks and inputs. Nothing need\n"
            "be said of a text: its inputs are those of the first 16 MiB.",
    .examples = "  imrec info train.rec\n  imrec info --json 'train-*.rec'\n"
                "  imrec info train.ctf\n",
};

static void json_range(struct json *j, const char *key, const struct imrec_range *r)
{
    json_object(j, key);
    JSON_UINTS(j, {"min", r->min}, {"median", r->median}, {"max", r->max});
    json_end(j);
}

static void end_counted(struct json *j, uint64_t records)
{
    json_uint(j, "records", records);
    json_end(j);
}

static void
json_labels(struct json *j, const struct imrec_dataset_card *c, const struct imrec_classes *names)
{
    json_array(j, "labels");
    for (uint64_t i = 0; i < c->label_count; i++) {
        const char *name = imrec_classes_name(names, c->labels[i].label);
        json_object(j, NULL);
        json_float(j, "label", c->labels[i].label);
        if (name != NULL)
            json_text(j, "name", name);
        end_counted(j, c->labels[i].records);
    }
    json_end(j);
}

static void json_kinds(struct json *j, const struct imrec_dataset_card *c)
{
    json_array(j, "kinds");
    for (uint32_t i = 0; i < c->kind_count; i++) {
        json_object(j, NULL);
        json_text(j, "format", c->kinds[i].format);
        json_text(j, "kind", c->kinds[i].kind);
        end_counted(j, c->kinds[i].records);
    }
    json_end(j);
}

static void json_shards(struct json *j, const struct imrec_dataset_card *c)
{
    json_array(j, "shards");
    for (uint64_t i = 0; i < c->shard_count; i++) {
        const struct imrec_shard_card *s = &c->shards[i];
        json_object(j, NULL);
        json_text(j, "uri", cli_uri(s->uri));
        JSON_UINTS(j, {"bytes", s->bytes}, {"records", s->records});
        json_bool(j, "indexed", s->indexed);
        json_bool(j, "checksummed", s->checksummed);
        json_end(j);
    }
    json_end(j);
}

static void
json_card(struct json *j, const struct imrec_dataset_card *c, const struct imrec_classes *names)
{
    json_text(j, "source", c->source);
    JSON_UINTS(j, {"records", c->records}, {"images", c->images}, {"bytes", c->bytes},
               {"damaged_ranges", c->damaged_ranges}, {"unreadable", c->unreadable});
    json_bool(j, "manifest", c->manifest);
    json_range(j, "labels_per_image", &c->labels_per_image);
    json_range(j, "image_bytes", &c->image_bytes);
    json_range(j, "width", &c->width);
    json_range(j, "height", &c->height);
    JSON_UINTS(j, {"grey", c->grey}, {"cmyk", c->cmyk}, {"gzip", c->gzip}, {"rotated", c->rotated},
               {"restarts", c->restarts}, {"masks", c->masks}, {"sounds", c->sounds});
    json_range(j, "channels", &c->channels);
    json_range(j, "sample_rate", &c->sample_rate);
    json_range(j, "milliseconds", &c->milliseconds);
    JSON_UINTS(j, {"metadata", c->metadata}, {"identities", c->identities});
    json_range(j, "images_per_identity", &c->images_per_identity);
    json_kinds(j, c);
    json_bool(j, "labels_cut", c->labels_cut);
    json_labels(j, c, names);
    json_shards(j, c);
}

static void print_range(const char *name, const struct imrec_range *r, const char *unit)
{
    printf("%-10s %" PRIu64 " to %" PRIu64 "%s, median %" PRIu64 "\n", name, r->min, r->max, unit,
           r->median);
}

static void print_kinds(const struct imrec_dataset_card *c)
{
    char n[HUMAN_THINGS];
    fputs("kinds      ", stdout);
    for (uint32_t i = 0; i < c->kind_count; i++)
        printf("%s%s%s%s %s", i == 0 ? "" : ", ", c->kinds[i].format,
               c->kinds[i].kind[0] != '\0' ? " " : "", c->kinds[i].kind,
               human_count(c->kinds[i].records, n));
    putchar('\n');
    if (c->grey + c->cmyk + c->gzip + c->rotated != 0)
        printf("of these   %" PRIu64 " grey, %" PRIu64 " CMYK, %" PRIu64 " in gzip, %" PRIu64
               " not upright\n",
               c->grey, c->cmyk, c->gzip, c->rotated);
    if (c->restarts != 0)
        printf("restarts   %s with restart markers\n", human_things(c->restarts, "JPEG", n));
    if (c->masks != 0)
        printf("masks      %s\n", human_count(c->masks, n));
}

static void
print_labels(const struct imrec_dataset_card *c, const struct imrec_classes *names, int64_t most)
{
    char n[HUMAN_THINGS];
    if (c->labels_cut) {
        printf("labels     more than %u different ones\n", IMREC_CARD_LABELS);
        return;
    }
    printf("labels     %s", human_things(c->label_count, "different one", n));
    if (c->labels_per_image.max > 1)
        printf(", %" PRIu64 " to %" PRIu64 " an image (the first is counted)",
               c->labels_per_image.min, c->labels_per_image.max);
    putchar('\n');
    for (uint64_t i = 0; i < c->label_count && i < (uint64_t)most; i++) {
        const char *name = imrec_classes_name(names, c->labels[i].label);
        printf("  %8s of %.9g%s%s\n", human_count(c->labels[i].records, n),
               (double)c->labels[i].label, name != NULL ? " " : "",
               name != NULL ? cli_show(name) : "");
    }
    if (c->label_count > (uint64_t)most)
        printf("  and %s\n", human_things(c->label_count - (uint64_t)most, "more label", n));
}

static void print_shards(const struct imrec_dataset_card *c)
{
    char records[HUMAN_THINGS], bytes[HUMAN_BYTES];
    for (uint64_t i = 0; i < c->shard_count && c->shard_count > 1; i++)
        printf("  %s: %s, %s\n", cli_show(c->shards[i].uri),
               human_things(c->shards[i].records, "record", records),
               human_size(c->shards[i].bytes, bytes));
    uint64_t indexed = 0, checksummed = 0;
    for (uint64_t i = 0; i < c->shard_count; i++) {
        indexed += c->shards[i].indexed;
        checksummed += c->shards[i].checksummed;
    }
    printf("source     %s\n", c->source);
    printf("files      %" PRIu64 " of %" PRIu64 " with an index, %" PRIu64 " with checksums, %s\n",
           indexed, c->shard_count, checksummed, c->manifest ? "a manifest" : "no manifest");
}

/* Of insightface's files. */
static void print_identities(const struct imrec_dataset_card *c)
{
    char n[HUMAN_BYTES], metadata[HUMAN_THINGS];
    if (c->metadata == 0)
        return;
    printf("identities %s, images of one: %" PRIu64 " to %" PRIu64 ", median %" PRIu64
           " (%s without an image)\n",
           human_count(c->identities, n), c->images_per_identity.min, c->images_per_identity.max,
           c->images_per_identity.median, human_things(c->metadata, "record", metadata));
}

static void
print_text(const struct imrec_dataset_card *c, const struct imrec_classes *names, int64_t most)
{
    char n[HUMAN_THINGS], size[HUMAN_BYTES];
    printf("records    %s, %s", human_count(c->records, n), human_size(c->bytes, size));
    printf(" in %s\n", human_things(c->shard_count, "shard", n));
    print_shards(c);
    print_identities(c);
    printf("damage     %s of bytes\n", human_things(c->damaged_ranges, "unreadable range", n));
    printf("images     %s", human_count(c->images, n));
    if (c->unreadable != 0)
        printf(", of which %" PRIu64 " cannot be read by this build", c->unreadable);
    putchar('\n');
    if (c->images == 0)
        return;
    print_kinds(c);
    print_range("size", &c->image_bytes, " bytes");
    if (c->sounds < c->images) {
        print_range("width", &c->width, " px");
        print_range("height", &c->height, " px");
    }
    if (c->sounds > 0) {
        printf("sounds     %s\n", human_count(c->sounds, n));
        print_range("channels", &c->channels, "");
        print_range("rate", &c->sample_rate, " Hz");
        print_range("length", &c->milliseconds, " ms");
    }
    print_labels(c, names, most);
}

/* The card: members of the JSON object that is open, or text. */
static int show(const char *uri, const struct options *o, struct json *j)
{
    struct imrec_error err;
    struct imrec_dataset_card card = {0};
    struct imrec_classes *names = NULL;
    struct command_progress progress;
    const struct imrec_reader_options reader = READER_OF_O;
    int status = EXIT_OK;
    command_progress_start(&progress, o->quiet);
    enum imrec_status st =
        imrec_dataset_card_with(uri, &reader, command_progress_show, &progress, &card, &err);
    command_progress_end(&progress);
    if (st == IMREC_OK)
        st = imrec_classes_open_with(uri, &reader, &names, &err);
    if (st != IMREC_OK)
        status = command_not_opened(page.name, uri, &err);
    else if (j != NULL)
        json_card(j, &card, names);
    else
        print_text(&card, names, o->classes);
    if (status == EXIT_OK && card.damaged_ranges != 0)
        status = EXIT_FAILED;
    else if (status == EXIT_OK && card.unreadable != 0)
        status = EXIT_PARTIAL;
    imrec_classes_close(names);
    imrec_dataset_card_free(&card);
    return status;
}

static int
show_binary(char *const *files, int n, const char *uri, const struct options *o, struct json *j)
{
    int status = cbf_info(page.name, files, n, j);
    if (status != EXIT_OK || !cbf_has_images(uri))
        return status;
    json_object(j, "image_set");
    status = show(uri, o, j);
    json_end(j);
    return status;
}

static int run(const struct options *o, int n, char **operand)
{
    struct json json;
    const struct sequences_request r = sequences_request(&page, o->config, o->json, n, operand);
    if (n == 0 && o->config[0] == '\0')
        return command_refuse_count(&page, "missing");
    if (!sequences_are_binary(&r) && sequences_are_asked(&r))
        return sequences_info(&r);
    const struct imrec_reader_options reader = READER_OF_O;
    const char *uri = command_shards(page.name, operand, n, o->allow_missing, &reader);
    if (uri == NULL)
        return EXIT_FAILED;
    struct json *j = json_begin_if(o->json, &json, NULL);
    const int status = cbf_are(operand, n) ? show_binary(operand, n, uri, o, j) : show(uri, o, j);
    json_close(j);
    return status;
}
