/* tools/view/imrec_view.c - a contact sheet: one HTML page that holds its images. */
#include "tools/view/imrec_view.h"
#include "cli/output.h"
#include "cli/show.h"
#include "tools/view/browse_serve.h"
#include "tools/view/html.h"

#include <unistd.h>

#define VIEW_PARAMS(X)                                                                             \
    X(int64_t, count, "48", 1, 100000, "N", "images", "images to show, spread over the shards")    \
    X(bool, first, "0", 0, 1, "", "images", "show the first images of the shards instead")         \
    X(bool, augmented, "0", 0, 1, "", "images",                                                    \
      "what the iterator delivers; key=value are its parameters")                                  \
    X(int64_t, grid, "0", 0, 1000, "N", "images",                                                  \
      "with --augmented: N draws of every augmenter, of one image")                                \
    X(bool, serve, "0", 0, 1, "", "serve", "show the set to a browser, until Ctrl-C")              \
    X(const char *, listen, "127.0.0.1:8080", 1, 250, "HOST:PORT", "serve",                        \
      "address and port (0: a free one), or unix:PATH")                                            \
    X(bool, network, "0", 0, 1, "", "serve",                                                       \
      "allow addresses that other machines reach; there is no password")                           \
    X(const char *, host_name, "", 0, 250, "NAME", "serve",                                        \
      "name of this machine in URLs, besides localhost and addresses")                             \
    X(int64_t, max_records, "100000000", 1, INT64_MAX, "N", "serve",                               \
      "refuse larger sets; 32 bytes of memory are needed a record")                                \
    IMREC_READER_PARAMS(X) ROWS_SET(X)
COMMAND(view, VIEW_PARAMS, 1, -1) = {
    PAGE_OF("view", "0 fine, 1 failed, 2 wrong usage, 3 done, but some images cannot be shown"),
    .summary = "a contact sheet in one HTML file, or the whole set in a browser",
    .usage = {"[OPTIONS] SHARD OUT.html",
              "--augmented [--grid N] [OPTIONS] SHARD OUT.html [key=value ...]",
              "--serve [--listen HOST:PORT] [OPTIONS] SHARD"},
    .text =
        "OUT.html holds the images themselves and needs no other file. With --augmented it\n"
        "shows what ImageRecordIter makes of them (unless given: data_shape=3,224,224\n"
        "batch_size=count), before normalizing. With --grid it documents the augmenters: of the\n"
        "first image of the partition (part_index, num_parts) it shows N draws of each at its\n"
        "usual setting, alone above the given key=value, with what was drawn and its parameters;\n"
        "those of boxes where the record's label holds boxes.\n\n"
        "With --serve a browser shows all records, 60 a page, and finds them by class, id, size\n"
        "and damage: the heads of all records are read once; images are read and made small when\n"
        "they are looked at. /json answers as JSON. Only this machine can ask, unless --network\n"
        "is given.",
    .keys = imrec_iter_keys,
    .examples = "  imrec view train.rec train.html\n"
                "  imrec view --augmented train.rec aug.html shuffle=1 rand_crop=1 rand_mirror=1\n"
                "  imrec view --serve train.rec\n"
                "  imrec view --augmented --grid 6 train.rec augmenters.html resize=256\n",
};

/* One record of each of as many partitions as images are wanted, or, where the shards are
 * too small for that, the first ones. */
static enum imrec_status
show_records(struct sheet *s, const char *uri, bool first, struct imrec_error *err)
{
    const long begin = ftell(s->out);
    struct imrec_reader *all; /* says what is wrong with the set */
    enum imrec_status st = imrec_reader_open_with(uri, 0, 1, &s->reader, &all, err);
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
fill(struct sheet *s, const char *uri, const struct options *o, char *const *pairs, int n)
{
    struct imrec_error err;
    char title[256];
    int status = EXIT_OK;
    snprintf(title, sizeof(title), "%.200s%s", cli_uri(uri),
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
        status = command_not_opened(page.name, uri, &err);
    fputs("</div>\n", s->out);
    html_end(s->out);
    return status;
}

static void print(const struct sheet *s, const char *path, const struct options *o)
{
    struct json j;
    char images[HUMAN_THINGS];
    if (!o->json) {
        const bool all = !o->augmented && s->shown < s->wanted;
        printf("%s: %s%s%s\n", cli_show(path), all ? "all " : "",
               human_things(s->shown, "image", images),
               all || o->augmented ? ""
               : o->first          ? ", the first ones (--count)"
                                   : ", spread over the set (--count)");
        return;
    }
    json_begin(&j, stdout);
    json_text(&j, "file", path);
    JSON_UINTS(&j, {"images", s->shown}, {"failed", s->failed});
    json_close(&j);
}

static int
view(const char *uri, const char *path, const struct options *o, char *const *pairs, int n)
{
    struct imrec_error err;
    struct cli_output output = {0};
    struct sheet s = {
        .name = page.name, .reader = READER_OF_O, .wanted = (uint64_t)o->count, .quality = 92};
    int status = EXIT_OK;
    if (imrec_decoder_new(&s.decoder, &err) != IMREC_OK ||
        imrec_classes_open_with(uri, &s.reader, &s.classes, &err) != IMREC_OK)
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
        print(&s, path, o);
        status = s.failed != 0 ? EXIT_PARTIAL : EXIT_OK;
    }
    imrec_classes_close(s.classes);
    imrec_decoder_free(s.decoder);
    return status;
}

static int serve(const struct options *o, int n, char **operand)
{
    if (o->augmented || o->grid != 0 || n > 1)
        return cli_refuse(stderr, page.name, "--serve takes one SHARD, and shows it as packed");
    const struct imrec_reader_options reader = READER_OF_O;
    const struct browse_serve s = {.name = page.name,
                                   .listen = o->listen,
                                   .host_name = o->host_name,
                                   .network = o->network,
                                   .max_records = (uint64_t)o->max_records,
                                   .as_json = o->json,
                                   .reader = &reader};
    const char *uri = command_shards(page.name, operand, 1, o->allow_missing, &reader);
    return uri != NULL ? browse_serve(&s, uri) : EXIT_FAILED;
}

static int run(const struct options *o, int n, char **operand)
{
    if (o->serve)
        return serve(o, n, operand);
    if (n < 2)
        return command_refuse_count(&page, "missing");
    if (!o->augmented && n > 2)
        return cli_refuse(stderr, page.name, "%s: key=value goes with --augmented", operand[2]);
    if (!o->augmented && o->grid != 0)
        return cli_refuse(stderr, page.name, "--grid goes with --augmented");
    const struct imrec_reader_options reader = READER_OF_O;
    const char *uri = command_shards(page.name, operand, 1, o->allow_missing, &reader);
    return uri != NULL && command_is_local(page.name, operand[1])
               ? view(uri, operand[1], o, operand + 2, n - 2)
               : EXIT_FAILED;
}
