/* tools/imrec_view.c - a contact sheet: one HTML page that holds its pictures. */
#include "tools/imrec_view.h"
#include "tools/cli/output.h"
#include "tools/html.h"

#include <string.h>
#include <unistd.h>

#define VIEW_PARAMS(X)                                                                             \
    X(int64_t, count, "48", 1, 100000, "N", "pictures",                                            \
      "how many to show, spread over the shards")                                                  \
    X(bool, first, "0", 0, 1, "", "pictures", "the first ones of the shards instead")              \
    X(bool, augmented, "0", 0, 1, "", "pictures",                                                  \
      "what the iterator delivers; key=value are its parameters")                                  \
    X(int64_t, grid, "0", 0, 1000, "N", "pictures",                                                \
      "with --augmented: N draws of every augmenter, of one picture")                              \
    ROW_MISSING(X)                                                                                 \
    ROW_JSON(X)
struct view_options {
    VIEW_PARAMS(IMREC_FIELD)
};
#define PARAM_STRUCT struct view_options
static const struct param table[] = {VIEW_PARAMS(PARAM_ROW){0}};
static const char *const usage[] = {
    "[OPTIONS] SHARD OUT.html", "--augmented [--grid N] [OPTIONS] SHARD OUT.html [key=value ...]",
    NULL};

static const struct cli_page page = {
    .name = "imrec view",
    .summary = "a contact sheet: pictures, labels and ids in one HTML file",
    .usage = usage,
    .text =
        "OUT.html holds the pictures themselves and needs no other file. With --augmented it\n"
        "shows what ImageRecordIter makes of them (unless given: data_shape=3,224,224\n"
        "batch_size=count), before normalizing. With --grid it documents the augmenters: of the\n"
        "first picture of the partition (part_index, num_parts) it shows N draws of each at its\n"
        "usual setting, alone above the given key=value, with what was drawn and its parameters;\n"
        "those of boxes where the record's label holds boxes.",
    .table = table,
    .keys = imrec_iter_keys,
    .examples = "  imrec view train.rec train.html\n"
                "  imrec view --augmented train.rec aug.html shuffle=1 rand_crop=1 rand_mirror=1\n"
                "  imrec view --augmented --grid 6 train.rec augmenters.html resize=256\n",
    .exits = "0 fine, 1 failed, 2 wrong usage, 3 done, but some pictures cannot be shown",
};

enum { LARGE_BYTES = 200 * 1024, THUMB_PX = 256 };

/* ---- figures ---------------------------------------------------------------------------- */

void sheet_picture(struct sheet *s, const char *mime, const void *bytes, size_t n)
{
    fputs("<figure><img loading=\"lazy\" alt=\"\" src=\"", s->out);
    html_data_uri(s->out, mime, bytes, n);
    fputs("\">", s->out);
    s->shown++;
}

void sheet_no_picture(struct sheet *s, const char *why)
{
    fputs("<figure><div class=\"bad\">", s->out);
    html_text(s->out, why);
    fputs("</div>", s->out);
    s->shown++;
    s->failed++;
}

void sheet_label(struct sheet *s, const float *labels, uint32_t n)
{
    const char *name = n > 0 ? imrec_classes_name(s->classes, labels[0]) : NULL;
    fputs("<figcaption><b>", s->out);
    if (name != NULL)
        html_text(s->out, name);
    for (uint32_t i = 0; i < n && i < 8; i++)
        fprintf(s->out, "%s%.9g", i > 0 || name != NULL ? " " : "label ", (double)labels[i]);
    fputs(n > 8 ? " ...</b>" : "</b>", s->out);
}

void sheet_end_figure(struct sheet *s)
{
    fputs("</figcaption></figure>\n", s->out);
}

/* ---- pictures as packed ----------------------------------------------------------------- */

/* Can a browser show the bytes as they are? Its type, or NULL. */
static const char *mime_of(const struct imrec_picture_info *i)
{
    static const char *const types[][2] = {{"jpeg", "image/jpeg"},
                                           {"png", "image/png"},
                                           {"gif", "image/gif"},
                                           {"webp", "image/webp"},
                                           {"bmp", "image/bmp"}};
    if (i->gzip || i->cmyk || strcmp(i->kind, "arithmetic") == 0)
        return NULL;
    for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++)
        if (strcmp(i->format, types[t][0]) == 0)
            return types[t][1];
    return NULL;
}

/* Decodes, shrinks to a thumbnail and encodes again. */
static enum imrec_status make_thumb(struct sheet *s, const struct imrec_record *r,
                                    const void **bytes, size_t *n, struct imrec_error *err)
{
    struct imrec_image image;
    enum imrec_status st = imrec_decoder_decode(s->decoder, r->image, r->image_size, 3, true,
                                                INT64_C(178956970), &image, err);
    if (st != IMREC_OK)
        return st;
    const uint32_t side = image.width < image.height ? image.width : image.height;
    if (side <= THUMB_PX)
        return imrec_decoder_encode_jpeg(s->decoder, &image, 90, bytes, n, err);
    struct imrec_image thumb = {.width = (uint32_t)((uint64_t)image.width * THUMB_PX / side),
                                .height = (uint32_t)((uint64_t)image.height * THUMB_PX / side),
                                .channels = 3};
    thumb.stride = (size_t)thumb.width * 3;
    thumb.pixels = cli_realloc(NULL, thumb.height, thumb.stride);
    st = imrec_image_resize(&image, &thumb, 3, err);
    if (st == IMREC_OK)
        st = imrec_decoder_encode_jpeg(s->decoder, &thumb, 88, bytes, n, err);
    cli_free(thumb.pixels);
    return st;
}

static void show_record(struct sheet *s, const struct imrec_record *r)
{
    struct imrec_picture_info info;
    struct imrec_error err;
    const void *bytes;
    size_t n;
    const bool known =
        r->is_image && imrec_picture_info(r->image, r->image_size, &info, NULL) == IMREC_OK;
    if (known && mime_of(&info) != NULL && r->image_size <= LARGE_BYTES)
        sheet_picture(s, mime_of(&info), r->image, r->image_size);
    else if (!r->is_image)
        sheet_no_picture(s, "no image record");
    else if (make_thumb(s, r, &bytes, &n, &err) == IMREC_OK)
        sheet_picture(s, "image/jpeg", bytes, n);
    else
        sheet_no_picture(s, err.message);
    sheet_label(s, r->labels, r->is_image && !s->unlabelled ? r->label_count : 0);
    fprintf(s->out, "id %" PRIu64 ", at %" PRIu64 "<br>", r->is_image ? r->id : 0, r->offset);
    if (known)
        fprintf(s->out, "%" PRIu32 "x%" PRIu32 " %s %s, %zu bytes", info.width, info.height,
                info.format, info.kind, r->image_size);
    sheet_end_figure(s);
}

/* The first `most` records of a partition. */
enum imrec_status sheet_partition(struct sheet *s, const char *uri, uint64_t part, uint64_t parts,
                                  uint64_t most, struct imrec_error *err)
{
    struct imrec_reader *reader;
    struct imrec_record r;
    enum imrec_status st = imrec_reader_open_files(uri, part, parts, &reader, err);
    for (uint64_t n = 0; st == IMREC_OK && n < most;) {
        st = imrec_reader_next(reader, &r, err);
        if (st == IMREC_OK && r.metadata == IMREC_NO_METADATA) {
            show_record(s, &r);
            n++;
        } else if (st == IMREC_ERR_DATA) {
            (void)cli_fail(page.name, err);
            s->failed++;
            st = IMREC_OK;
        }
    }
    imrec_reader_close(reader);
    return st == IMREC_END ? IMREC_OK : st;
}

/* One record of each of as many partitions as pictures are wanted, or, where the shards are
 * too small for that, the first ones. */
static enum imrec_status
show_records(struct sheet *s, const char *uri, bool first, struct imrec_error *err)
{
    const long begin = ftell(s->out);
    struct imrec_reader *all;
    enum imrec_status st = imrec_reader_open(uri, 0, 1, &all, err); /* what is wrong with the set */
    if (st == IMREC_OK)
        imrec_reader_close(all);
    for (uint64_t i = 0; i < s->wanted && !first && st == IMREC_OK; i++)
        st = sheet_partition(s, uri, i, s->wanted, 1, err);
    if (st != IMREC_OK || (!first && s->shown == s->wanted))
        return st;
    if (fseek(s->out, begin, SEEK_SET) != 0 || ftruncate(fileno(s->out), begin) != 0)
        return IMREC_OK;
    s->shown = s->failed = 0;
    return sheet_partition(s, uri, 0, 1, s->wanted, err);
}

/* ---- the sheet -------------------------------------------------------------------------- */

static int
fill(struct sheet *s, const char *uri, const struct view_options *o, char *const *pairs, int n)
{
    struct imrec_error err;
    char title[256];
    int status = EXIT_OK;
    snprintf(title, sizeof(title), "%.200s%s", uri,
             o->grid != 0   ? ", augmented"
             : o->augmented ? ", as delivered"
                            : "");
    html_begin(s->out, title);
    if (o->augmented) {
        fputs("<p>", s->out);
        for (int i = 0; i < n; i++) {
            html_text(s->out, pairs[i]);
            fputc(' ', s->out);
        }
        fputs("</p>\n", s->out);
    }
    if (o->grid != 0) {
        status = sheet_grid(s, page.name, uri, (uint64_t)o->grid, pairs, n);
        html_end(s->out);
        return status;
    }
    fputs("<div class=\"sheet\">\n", s->out);
    if (o->augmented)
        status = sheet_augmented(s, page.name, uri, pairs, n);
    else if (show_records(s, uri, o->first, &err) != IMREC_OK)
        status = cli_fail(page.name, &err);
    fputs("</div>\n", s->out);
    html_end(s->out);
    return status;
}

static void print(const struct sheet *s, const char *path, bool as_json)
{
    struct json j;
    if (!as_json) {
        printf("%s: %" PRIu64 " pictures\n", cli_show(path), s->shown);
        return;
    }
    json_open(&j, stdout);
    json_object(&j, NULL);
    json_text(&j, "file", path);
    json_uint(&j, "pictures", s->shown);
    json_uint(&j, "failed", s->failed);
    json_close(&j);
}

static int
view(const char *uri, const char *path, const struct view_options *o, char *const *pairs, int n)
{
    struct imrec_error err;
    struct cli_output output = {0};
    struct sheet s = {.wanted = (uint64_t)o->count, .quality = 92};
    int status = EXIT_OK;
    if (imrec_decoder_new(&s.decoder, &err) != IMREC_OK ||
        imrec_classes_open(uri, &s.classes, &err) != IMREC_OK)
        status = cli_fail(page.name, &err);
    else if (!cli_output_open(&output, page.name, path))
        status = EXIT_FAILED;
    s.out = output.file;
    if (status == EXIT_OK)
        status = fill(&s, uri, o, pairs, n);
    if (status == EXIT_OK && !cli_output_commit(&output, page.name))
        status = EXIT_FAILED;
    cli_output_abort(&output);
    if (status == EXIT_OK) {
        print(&s, path, o->json);
        status = s.failed != 0 ? EXIT_PARTIAL : EXIT_OK;
    }
    imrec_classes_close(s.classes);
    imrec_decoder_free(s.decoder);
    return status;
}

static int run(int argc, char **argv)
{
    struct view_options o;
    int status;
    const int first = command_begin(&page, &o, argc, argv, 2, -1, &status);
    if (first < 0)
        return status;
    if (!o.augmented && argc - first > 2)
        return cli_refuse(stderr, page.name, "%s: key=value goes with --augmented",
                          argv[first + 2]);
    if (!o.augmented && o.grid != 0)
        return cli_refuse(stderr, page.name, "--grid goes with --augmented");
    char *uri = command_shards(page.name, argv + first, 1, o.allow_missing);
    if (uri == NULL)
        return EXIT_FAILED;
    status = view(uri, argv[first + 1], &o, argv + first + 2, argc - first - 2);
    cli_free(uri);
    return status;
}

const struct command command_view = {&page, run};
