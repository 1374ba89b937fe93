/* tools/commands/imrec_export.c - shards back to a folder of images and a list of them. */
#include "tools/commands/command.h"
#include "tools/commands/export_fields.h"
#include "tools/commands/export_files.h"
#include "tools/commands/export_names.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT_PARAMS(X) ROW_ON_ERROR(X) IMREC_READER_PARAMS(X) ROWS_SET_LONG(X)
COMMAND(export, EXPORT_PARAMS, 2, 2) = {
    PAGE_OF("export", IMREC_EXITS),
    .summary = "write all images back to files, in a folder of their class",
    .usage = {"[OPTIONS] SHARD FOLDER"},
    .text =
        "FOLDER must be empty or not exist. An image gets the name that the .lst next to the\n"
        "shard gives it, else CLASS/ID.EXT; its bytes are the packed ones. A list of\n"
        "all, export.lst, is written into FOLDER too: im2rec packs it again (with --masks\n"
        "FOLDER/masks, where records have masks: they are written there). Fields are files next\n"
        "to their image, NAME.FIELD, which im2rec packs again with --fields; a number is text, "
        "and\n"
        "what a file's name cannot have is %XX. Names that a file system cannot hold are\n"
        "shortened.\n\n"
        "Every file gets its name when it is complete, export.lst last of all. The same command\n"
        "resumes an interrupted export; files of others are not touched.\n\n"
        "Every record is compared with the checksum next to its shard. One that differs, and\n"
        "bytes that hold no readable record, end the command; with --on-error skip they are\n"
        "skipped, named on standard error and in the JSON object, and the exit status is 3.",
    .examples = "  imrec export train.rec photos-again/\n",
};

struct job {
    struct export_names names;
    struct export_files files;
    struct export_fields fields; /* of the record in hand */
    const char *folder;
    enum imrec_on_error on_error;
    uint64_t images, masks, field_files, bytes, there, shortened, metadata;
    struct command_progress progress;
    struct command_left left;
    uint64_t left_out;
};

/* ---- an image ---------------------------------------------------------------------------- */

struct named { /* under which an image, and its mask, can be written */
    char image[EXPORT_PATH_BYTES], mask[EXPORT_PATH_BYTES + 16];
    enum export_place image_place, mask_place;
    bool shortened;
};

/* The first name that nothing else has. */
static bool find_name(struct job *j, const struct imrec_record *r, struct named *n)
{
    for (unsigned again = 0; again < EXPORT_TRIES; again++) {
        if (!export_name(&j->names, r, again, n->image, &n->shortened))
            break;
        export_mask_name(n->image, n->mask);
        n->image_place = export_files_look(&j->files, n->image, r->image, r->image_size);
        n->mask_place = r->mask == NULL
                            ? EXPORT_THERE
                            : export_files_look(&j->files, n->mask, r->mask, r->mask_size);
        if (n->image_place != EXPORT_TAKEN && n->mask_place != EXPORT_TAKEN &&
            export_fields_look(&j->fields, &j->names, &j->files, r, n->image))
            return true;
    }
    cli_say(page.name, "no name in %s is free, or short enough, for the image %" PRIu64, j->folder,
            r->id);
    return false;
}

static void list_image(FILE *list, const struct imrec_record *r, const char *name)
{
    fprintf(list, "%" PRIu64, r->id);
    for (uint32_t i = 0; i < r->label_count; i++) {
        char text[64];
        snprintf(text, sizeof(text), "%f", (double)r->labels[i]);
        if (strtof(text, NULL) != r->labels[i]) /* more than six decimals */
            snprintf(text, sizeof(text), "%.9g", (double)r->labels[i]);
        fprintf(list, "\t%s", text);
    }
    fprintf(list, "\t%s\n", name);
}

/* The mask and the fields first: an image that is there has them. */
static bool write_image(struct job *j, const struct imrec_record *r)
{
    struct named n;
    if (!find_name(j, r, &n))
        return false;
    if (r->mask != NULL &&
        !export_files_put(&j->files, n.mask, n.mask_place, r->mask, r->mask_size))
        return false;
    if (!export_fields_put(&j->fields, &j->names, &j->files, r, n.image, &j->field_files,
                           &j->bytes))
        return false;
    if (!export_files_put(&j->files, n.image, n.image_place, r->image, r->image_size))
        return false;
    list_image(j->files.list, r, n.image);
    j->images++;
    j->masks += r->mask != NULL;
    j->bytes += r->image_size + (r->mask != NULL ? r->mask_size : 0);
    j->there += n.image_place == EXPORT_THERE;
    j->shortened += n.shortened;
    return true;
}

/* ---- the run ---------------------------------------------------------------------------- */

static int lose(struct job *j, const struct imrec_finding *f, const struct imrec_error *why)
{
    if (j->on_error == IMREC_ON_ERROR_STOP)
        return cli_say(page.name,
                       "%s; --on-error skip continues without it: %s has the files written before",
                       why->message, j->folder);
    j->left_out++;
    command_left_out(&j->left, f);
    return EXIT_OK;
}

static int write_images(struct job *j, struct imrec_checked *reader)
{
    struct imrec_error err;
    struct imrec_record r;
    int status = EXIT_OK;
    while (status == EXIT_OK) {
        const enum imrec_status st = imrec_checked_next(reader, &r, &err);
        if (st == IMREC_END)
            return EXIT_OK;
        if (st == IMREC_OK && r.metadata != IMREC_NO_METADATA)
            j->metadata++; /* names keys, has no image */
        else if (st == IMREC_OK)
            status = write_image(j, &r) ? EXIT_OK : EXIT_FAILED;
        else if (st == IMREC_ERR_DATA)
            status = lose(j, imrec_checked_found(reader), &err);
        else
            return cli_fail(page.name, &err);
        j->progress.counts = (struct progress_counts){
            .done = j->images + j->left_out, .skipped = j->left_out, .bytes = j->bytes};
        progress_update(&j->progress.line, &j->progress.counts, cli_now_ms());
    }
    return status;
}

/* How long names may be where the images go. */
static void measure_names(struct job *j)
{
    const long most = pathconf(j->folder, _PC_NAME_MAX);
    const size_t before = strlen(j->folder) + strlen("/masks/");
    j->names.part_most = most >= 64 && most < EXPORT_PART_BYTES ? (size_t)most : EXPORT_PART_BYTES;
    j->names.path_most = before < EXPORT_PATH_BYTES - 8 ? EXPORT_PATH_BYTES - 8 - before : 0;
}

static int export_to(struct job *j, struct imrec_checked *reader, const char *uri)
{
    if (!export_files_open(&j->files, page.name, j->folder, uri))
        return EXIT_FAILED;
    measure_names(j);
    const int status = write_images(j, reader);
    if (status != EXIT_OK)
        return status;
    return export_files_commit(&j->files) ? EXIT_OK : EXIT_FAILED;
}

static void print(const struct job *j, uint64_t unchecked)
{
    char images[HUMAN_THINGS], size[HUMAN_BYTES];
    printf("%s, %s, in %s; %" PRIu64 " skipped\n", human_things(j->images, "image", images),
           human_size(j->bytes, size), cli_show(j->folder), j->left_out);
    if (j->there != 0)
        printf("%s of them were there, of an earlier call\n", human_count(j->there, images));
    if (j->shortened != 0)
        printf("%s too long; export.lst has the shorter ones\n",
               human_things(j->shortened, "name", images));
    if (unchecked != 0)
        printf("%s of them came without checksums\n", human_count(unchecked, images));
    if (j->metadata != 0)
        printf("%s of headers and identities, which are no images, not exported\n",
               human_things(j->metadata, "record", images));
    if (j->field_files != 0)
        printf("%s in files next to the images\n", human_things(j->field_files, "field", images));
}

static void print_json(struct json *json, const struct job *j, uint64_t unchecked)
{
    json_text(json, "folder", j->folder);
    JSON_UINTS(json, {"images", j->images}, {"masks", j->masks}, {"fields", j->field_files},
               {"bytes", j->bytes}, {"skipped", j->left_out}, {"there", j->there},
               {"shortened", j->shortened}, {"unchecked", unchecked}, {"metadata", j->metadata});
}

/* What came of it. */
static int finish(struct job *j, const struct options *o, int status, uint64_t unchecked)
{
    struct json *json = command_left_end(&j->left, status == EXIT_OK);
    if (status == EXIT_OK && json != NULL)
        print_json(json, j, unchecked);
    json_close(json);
    if (status == EXIT_OK && !o->json)
        print(j, unchecked);
    return status == EXIT_OK && j->left_out != 0 ? EXIT_PARTIAL : status;
}

static int run(const struct options *o, int n, char **operand)
{
    struct imrec_error err;
    struct imrec_checked *reader = NULL;
    const struct imrec_reader_options how = READER_OF_O;
    struct job j = {.files = {.marker = -1}, .fields = EXPORT_FIELDS_INIT};
    int status;
    (void)n;
    j.folder = operand[1];
    j.on_error = o->on_error;
    const char *uri = command_shards(page.name, operand, 1, o->allow_missing, &how);
    if (uri == NULL || !command_is_local(page.name, j.folder))
        return EXIT_FAILED;
    command_left_begin(&j.left, page.name, o->json);
    if (imrec_checked_open_with(uri, &how, NULL, NULL, &reader, &err) != IMREC_OK ||
        imrec_classes_open_with(uri, &how, &j.names.classes, &err) != IMREC_OK ||
        imrec_names_open_with(uri, &how, &j.names.names, &err) != IMREC_OK) {
        status = command_not_opened(page.name, uri, &err);
    } else {
        command_progress_start(&j.progress, o->quiet);
        status = export_to(&j, reader, operand[0]);
        command_progress_end(&j.progress);
        status = finish(&j, o, status, imrec_checked_unchecked(reader));
    }
    export_fields_free(&j.fields);
    export_files_close(&j.files);
    imrec_names_close(j.names.names);
    imrec_classes_close(j.names.classes);
    imrec_checked_close(reader);
    return status;
}
