/* tools/commands/imrec_index.c - makes the index of a shard. */
#include "cli/show.h"
#include "tools/commands/command.h"

#define INDEX_PARAMS(X)                                                                            \
    X(enum imrec_keys, keys, "id", 0, 1, "id|counter", "output",                                   \
      "image ids as keys, or 0, 1, 2, ...")                                                        \
    X(const char *, out, "", 0, 65535, "FILE", "output",                                           \
      "name of the index (one shard only; default: that of the shard with .idx)")                  \
    X(bool, binary, "0", 0, 1, "", "output",                                                       \
      "write the binary index .idxb, for sets of millions of records")                             \
    X(bool, force, "0", 0, 1, "", "output", "replace an index that exists")                        \
    IMREC_READER_PARTS(X) ROW_JSON(X)
COMMAND(index, INDEX_PARAMS, 1, -1) = {
    PAGE_OF("index", "0 fine, 1 failed, 2 wrong usage, 3 written, but damaged ranges were skipped"),
    .summary = "write the .idx or .idxb of shards, tars and TFRecord files",
    .usage = {"[OPTIONS] SHARD..."},
    .text = "Scans each shard and writes 'key TAB offset' of every record next to it. An index is\n"
            "refused where one exists, unless --force. Damaged ranges are skipped and reported.\n"
            "--binary writes .idxb with the same entries: checksummed blocks, found before .idx.\n"
            "Name all shards of a set, in order: then a partition reads only its part of them.\n"
            "Of tar archives and TFRecord files SHARD.idxb is written (a.tar.idxb): with it their\n"
            "heads are not read any more. A damaged one is refused. --out may be in any folder:\n"
            "path_imgidx=FOLDER finds the indexes of remote shards there. With --image samples\n"
            "without this file or feature are not in the index.",
    .examples = "  imrec index train.rec\n"
                "  imrec index --binary train-*.rec\n"
                "  imrec index train-0000.tar --out indexes/train-0000.tar.idxb\n",
};

static void json_result(struct json *j, const char *shard, const struct imrec_index_result *r)
{
    json_object(j, NULL);
    json_text(j, "shard", cli_uri(shard));
    JSON_UINTS(j, {"records", r->records}, {"repeated_keys", r->repeated},
               {"damaged_ranges", r->damaged_ranges});
    json_end(j);
}

static int index_one(const char *shard, const struct options *o, struct imrec_index_place *place,
                     struct json *j)
{
    struct imrec_error err;
    struct imrec_index_result r = {0};
    char n[HUMAN_THINGS];
    struct imrec_reader_options reader;
    struct imrec_index_options x;
    imrec_reader_options_init(&reader);
    reader.image = o->image;
    reader.label = o->label;
    imrec_index_options_init(&x);
    x.keys = o->keys;
    x.force = o->force;
    x.binary = o->binary;
    x.place = place;
    x.reader = &reader;
    if (imrec_dataset_index_with(shard, o->out[0] != '\0' ? o->out : NULL, &x, &r, &err) !=
        IMREC_OK)
        return cli_fail(page.name, &err);
    if (j != NULL)
        json_result(j, shard, &r);
    else
        printf("%s: %s indexed\n", cli_show(shard), human_things(r.records, "record", n));
    if (r.repeated != 0)
        cli_say(page.name, "warning: %s: %s; --keys=counter gives each record its own", shard,
                human_things(r.repeated, "repeated key", n));
    if (r.damaged_ranges != 0)
        cli_say(page.name, "warning: %s: %s skipped", shard,
                human_things(r.damaged_ranges, "damaged range", n));
    return r.damaged_ranges != 0 ? EXIT_PARTIAL : EXIT_OK;
}

static int run(const struct options *o, int n, char **operand)
{
    struct json json;
    struct imrec_index_place place = {0};
    int worst = EXIT_OK;
    if (o->out[0] != '\0' && n > 1)
        return cli_refuse(stderr, page.name, "--out names one index, there are %d shards", n);
    struct json *j = json_begin_if(o->json, &json, "indexes");
    for (int i = 0; i < n && worst != EXIT_FAILED; i++) {
        const int status = index_one(operand[i], o, &place, j);
        worst = status == EXIT_OK ? worst : status;
    }
    json_close(j);
    return worst;
}
