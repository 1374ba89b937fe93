/* tools/commands/imrec_reshape.c - merge, split, sample, relabel, tile: sets into sets, pixels as
 * they are. */
#include "tools/commands/command.h"

#include <stdlib.h>
#include <string.h>

/* The options of the four commands, in one struct; each table adds rows of its own to the common
 * ones. */
#define COMMON(X)                                                                                  \
    X(int64_t, shards, "0", 0, 1 << 20, "N", "output",                                             \
      "cut the new set into N shards, OUT-00000-of-0000N.rec")                                     \
    X(int64_t, shard_size, "0", 0, INT64_MAX, "bytes", "output",                                   \
      "begin another shard at this size")                                                          \
    X(bool, renumber, "0", 0, 1, "", "output", "ids 0, 1, 2, ... in the order of the records")     \
    X(bool, classes, "1", 0, 1, "", "output", "keep the class list; --no-classes omits it")        \
    X(bool, force, "0", 0, 1, "", "output", "replace outputs that exist")                          \
    ROW_ON_ERROR(X) IMREC_READER_PARAMS(X) ROWS_SET_LONG(X)
#define SAMPLE(X)                                                                                  \
    X(int64_t, records, "0", 0, INT64_MAX, "N", "sample", "number of records to draw")             \
    X(float, fraction, "-1", -1, 1, "0..1", "sample", "share of the records to draw")              \
    X(int64_t, seed, "0", 0, INT64_MAX, "", "sample", "seed of the draw")                          \
    X(bool, rest, "0", 0, 1, "", "sample", "write the records that the same draw omits")
#define RELABEL(X)                                                                                 \
    X(enum imrec_unlisted, unlisted, "stop", 0, 2, "stop|keep|drop", "labels",                     \
      "a record whose id is not in the list: stop, keep its labels, drop it")                      \
    X(const char *, class_list, "", 0, 65535, "FILE", "labels",                                    \
      "class list of the new labels, instead of the old one")
#define TILE(X)                                                                                    \
    X(int64_t, threads, "0", 0, 1024, "workers", "run",                                            \
      "threads that code images; 0 = every CPU this process may use")                              \
    X(bool, shared_tables, "0", 0, 1, "", "output",                                                \
      "code all JPEGs with the same Huffman tables, made of a sample of the records, which are "   \
      "read once more for it: about 1 % more bytes, which readers decode faster")
struct options {
    COMMON(IMREC_FIELD) SAMPLE(IMREC_FIELD) RELABEL(IMREC_FIELD) TILE(IMREC_FIELD)
};
static const struct param table[] = {COMMON(PARAM_ROW){0}},
                          sample_table[] = {SAMPLE(PARAM_ROW) COMMON(PARAM_ROW){0}},
                          relabel_table[] = {RELABEL(PARAM_ROW) COMMON(PARAM_ROW){0}},
                          tile_table[] = {TILE(PARAM_ROW) COMMON(PARAM_ROW){0}};

static void print_text(const char *out, const struct imrec_reshape_result *r, bool tile)
{
    char read[HUMAN_THINGS], written[HUMAN_BYTES], shards[HUMAN_THINGS], size[HUMAN_BYTES];
    printf("%s of %s, %s, %s: %s\n", human_count(r->written, written),
           human_things(r->read, "record", read), human_things(r->shards, "shard", shards),
           human_size(r->bytes, size), cli_show(out));
    if (tile)
        printf("%s coded in tiles, %s as they were\n", human_count(r->tiled, read),
               human_count(r->written - r->tiled, written));
    if (r->relabelled + r->unlisted + r->unused != 0)
        printf("%" PRIu64 " relabelled, %" PRIu64 " without a line, %s without a record\n",
               r->relabelled, r->unlisted, human_things(r->unused, "line", read));
    if (r->left_out != 0)
        printf("skipped, each a record or a damaged range: %s\n", human_count(r->left_out, read));
    if (r->unchecked != 0)
        printf("%s came without checksums; those of the new set hold from here on\n",
               human_things(r->unchecked, "record", read));
}

/* Members after the array of skipped records. */
static void
print_json(struct json *j, const char *out, const struct imrec_reshape_result *r, bool tile)
{
    json_text(j, "set", out);
    JSON_UINTS(j, {"read", r->read}, {"written", r->written}, {"shards", r->shards},
               {"bytes", r->bytes}, {"relabelled", r->relabelled}, {"unlisted", r->unlisted},
               {"unused", r->unused}, {"unchecked", r->unchecked}, {"metadata", r->metadata});
    if (tile)
        json_uint(j, "tiled", r->tiled);
}

struct run {
    struct command_progress progress; /* first: what its callback is given */
    struct command_left left;
};

static void left_out(void *user, const struct imrec_finding *f)
{
    command_left_out(&((struct run *)user)->left, f);
}

static int reshape(const struct cli_page *page, char *const *uris, int count, const char *out,
                   struct imrec_reshape_options *to, const struct options *o)
{
    struct imrec_reshape_result r;
    struct imrec_error err;
    struct run run;
    const struct imrec_reader_options reader = READER_OF_O;
    const char *there =
        o->allow_missing ? command_shards(page->name, uris, count, true, &reader) : NULL;
    if (o->allow_missing && there == NULL)
        return EXIT_FAILED;
    command_progress_start(&run.progress, o->quiet);
    command_left_begin(&run.left, page->name, o->json);
    to->progress = command_progress_show;
    to->finding = left_out;
    to->user = &run;
    to->reader = &reader;
    const enum imrec_status st = imrec_reshape(there != NULL ? &there : (const char *const *)uris,
                                               there != NULL ? 1 : (size_t)count, out,
                                               strchr(page->name, ' ') + 1, to, &r, &err);
    command_progress_end(&run.progress);
    struct json *j = command_left_end(&run.left, st == IMREC_OK);
    if (st == IMREC_OK && j != NULL)
        print_json(j, out, &r, to->tile);
    json_close(j);
    if (st != IMREC_OK) {
        char *all = cli_join(uris, count, ';');
        const int status = command_not_opened(page->name, all, &err);
        cli_free(all);
        return status;
    }
    if (!o->json && !o->quiet)
        print_text(out, &r, to->tile);
    return r.unused + r.unlisted + r.left_out != 0 ? EXIT_PARTIAL : EXIT_OK;
}

/* ---- merge and split ---------------------------------------------------------------------- */

#define DAMAGE                                                                                     \
    "Every record is compared with the checksum next to its shard, and takes it along. One\n"      \
    "that differs, and bytes that hold no readable record, end the command; with\n"                \
    "--on-error skip they are skipped, named on standard error and in the JSON object, and\n"      \
    "the exit status is 3.\n"
#define SETS                                                                                       \
    "OUT.rec is a set as im2rec makes them: shards, indexes, checksums, list, class list\n"        \
    "where there is one, manifest. All appear together when they are complete. Records are\n"      \
    "copied as they are; names of images come from the lists next to the sources.\n\n" DAMAGE

#define OUT_USAGE                                                                                  \
    {                                                                                              \
        "[OPTIONS] SHARD... OUT.rec"                                                               \
    }
static const struct cli_page merge_page = {
    .name = "imrec merge",
    .summary = "join shards and sets into one set",
    .usage = OUT_USAGE,
    .text =
        SETS "\nTwo records of one id are an error: --renumber gives new ids. So are class lists\n"
             "that differ: --no-classes joins them all the same.",
    .table = table,
    .examples = "  imrec merge --renumber a.rec b.rec all.rec\n",
    .exits = IMREC_EXITS,
};
static const struct cli_page split_page = {
    .name = "imrec split",
    .summary = "cut a set into shards of equal counts or of a size",
    .usage = OUT_USAGE,
    .text = SETS "\nOne of --shards and --shard-size says how. Order and ids stay as they are.",
    .table = table,
    .examples = "  imrec split --shards 8 train.rec cut.rec\n"
                "  imrec split --shard-size 256M train.rec cut.rec\n",
    .exits = IMREC_EXITS,
};

static struct imrec_reshape_options common_options(const struct options *c)
{
    struct imrec_reshape_options o;
    imrec_reshape_options_init(&o);
    o.shards = c->shards;
    o.shard_size = c->shard_size;
    o.renumber = c->renumber;
    o.classes = c->classes ? NULL : "";
    o.force = c->force;
    o.on_error = c->on_error;
    return o;
}

static int run_common(const struct cli_page *page, const struct options *c, int n, char **operand)
{
    struct imrec_reshape_options o = common_options(c);
    return reshape(page, operand, n - 1, operand[n - 1], &o, c);
}

static int run_merge(const void *options, int n, char **operand)
{
    return run_common(&merge_page, options, n, operand);
}

static int run_split(const void *options, int n, char **operand)
{
    const struct options *c = options;
    if (c->shards == 0 && c->shard_size == 0)
        return cli_refuse(stderr, split_page.name, "--shards or --shard-size is needed");
    return run_common(&split_page, c, n, operand);
}

/* ---- sample --------------------------------------------------------------------------------- */

static const struct cli_page sample_page = {
    .name = "imrec sample",
    .summary = "a random part of the records as a set, or the rest",
    .usage = OUT_USAGE,
    .text = SETS
    "\nExactly --records, or --fraction of all, are drawn; which ones depends on --seed and\n"
    "on their place alone. They keep their order. --rest takes the others, so that two\n"
    "calls part a set in two.",
    .table = sample_table,
    .examples = "  imrec sample --fraction 0.1 --seed 7 all.rec val.rec\n"
                "  imrec sample --fraction 0.1 --seed 7 --rest all.rec train.rec\n",
    .exits = IMREC_EXITS,
};

static int run_sample(const void *options, int n, char **operand)
{
    const struct options *s = options;
    struct imrec_reshape_options o = common_options(s);
    char fraction[32];
    if ((s->records == 0) == (s->fraction < 0))
        return cli_refuse(stderr, sample_page.name, "one of --records and --fraction is needed");
    o.sample = (uint64_t)s->records;
    snprintf(fraction, sizeof(fraction), "%.7g", (double)s->fraction); /* 0.1, as it was written */
    o.fraction = s->fraction < 0 ? -1 : strtod(fraction, NULL);
    o.seed = s->seed;
    o.rest = s->rest;
    return reshape(&sample_page, operand, n - 1, operand[n - 1], &o, s);
}

/* ---- relabel -------------------------------------------------------------------------------- */

static const struct cli_page relabel_page = {
    .name = "imrec relabel",
    .summary = "new labels out of a list, images as they are",
    .usage = {"[OPTIONS] SHARD... LIST.lst OUT.rec"},
    .text = SETS
    "\nA record gets the labels of the line that has its id, all of them, in any number. Exit\n"
    "status 3: records without a line were kept or dropped, or lines have no record.",
    .table = relabel_table,
    .examples = "  imrec relabel train.rec new.lst relabelled.rec\n",
    .exits = IMREC_EXITS,
};

static int run_relabel(const void *options, int n, char **operand)
{
    const struct options *l = options;
    struct imrec_reshape_options o = common_options(l);
    o.labels = operand[n - 2];
    o.unlisted = l->unlisted;
    if (l->class_list[0] != '\0')
        o.classes = l->class_list;
    return reshape(&relabel_page, operand, n - 2, operand[n - 1], &o, l);
}

/* ---- tile ----------------------------------------------------------------------------------- */

static const struct cli_page tile_page = {
    .name = "imrec tile",
    .summary = "JPEGs with restart markers, which are faster to crop, without loss",
    .usage = OUT_USAGE,
    .text =
        "Every JPEG gets a restart marker at the end of each row of blocks, in one sequential\n"
        "scan with optimal tables. Coefficients stay, and so do the pixels of every decoder,\n"
        "labels, ids, fields, masks, EXIF and other markers; imrec verify --same-pixels proves\n"
        "it. A reader then decodes no rows but those that a crop needs. im2rec writes such\n"
        "JPEGs by itself. What is no JPEG, is arithmetic, or has defects is copied as it is.\n\n"
        "OUT.rec is a set as im2rec makes them; a set of several shards stays one, unless\n"
        "--shards or --shard-size say otherwise. All appear together when they are complete.\n"
        "\n" DAMAGE,
    .table = tile_table,
    .examples = "  imrec tile train.rec tiled.rec\n",
    .exits = IMREC_EXITS,
};

static int run_tile(const void *options, int n, char **operand)
{
    const struct options *c = options;
    struct imrec_reshape_options o = common_options(c);
    o.tile = true;
    o.threads = c->threads;
    o.shared_tables = c->shared_tables;
    return reshape(&tile_page, operand, n - 1, operand[n - 1], &o, c);
}

const struct command command_merge = {&merge_page, sizeof(struct options), 2, -1, run_merge},
                     command_split = {&split_page, sizeof(struct options), 2, -1, run_split},
                     command_sample = {&sample_page, sizeof(struct options), 2, -1, run_sample},
                     command_relabel = {&relabel_page, sizeof(struct options), 3, -1, run_relabel},
                     command_tile = {&tile_page, sizeof(struct options), 2, -1, run_tile};
