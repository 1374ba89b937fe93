/* tools/commands/imrec_repair.c - intact records of damaged shards into a new one. */
#include "cli/show.h"
#include "tools/commands/command.h"

#define REPAIR_PARAMS(X)                                                                           \
    X(enum imrec_keys, keys, "id", 0, 1, "id|counter", "output",                                   \
      "keys of the new index: image ids, or 0, 1, 2, ...")                                         \
    X(bool, checksums, "1", 0, 1, "", "checks",                                                    \
      "drop records that are not what their checksums say")                                        \
    X(bool, drop_unmatched, "0", 0, 1, "", "checks",                                               \
      "drop records that no checksum is of, also where they decode without a warning")             \
    X(bool, decode, "0", 0, 1, "", "checks", "also drop images that do not decode")                \
    X(bool, force, "0", 0, 1, "", "output", "replace outputs that exist")                          \
    ROWS_SET_LONG(X)
COMMAND(repair, REPAIR_PARAMS, 2, -1) = {
    PAGE_OF("repair",
            "0 nothing was lost, 1 failed, 2 wrong usage, 3 repaired, but something was lost"),
    .summary = "salvage all intact records into a new shard",
    .usage = {"[OPTIONS] SHARD... OUT.rec"},
    .text =
        "Copies every readable record, byte for byte and in order, to OUT.rec, its index and its\n"
        "checksums, also after inserted or missing bytes. Checksums find their records by length\n"
        "and bytes. A record that differs from its checksum is dropped; one without a checksum\n"
        "is kept if its image decodes without a warning, and counted. Losses are listed, one\n"
        "line each. The class list is copied if all shards have the same one. The input is not\n"
        "changed.",
    .examples = "  imrec repair broken.rec whole.rec\n",
};

static void print(struct json *j, const struct imrec_repair_result *r, const char *path)
{
    char kept[HUMAN_THINGS], dropped[HUMAN_BYTES], ranges[HUMAN_THINGS], size[HUMAN_BYTES];
    if (j == NULL) {
        printf("%s kept in %s, %s dropped, %s of %s lost\n", human_things(r->kept, "record", kept),
               cli_show(path), human_count(r->dropped, dropped),
               human_things(r->damaged_ranges, "damaged range", ranges),
               human_size(r->lost_bytes, size));
        if (r->unmatched != 0)
            printf("of those kept, without a checksum, and decoded without a warning: %s\n",
                   human_count(r->unmatched, kept));
        if (r->missing != 0)
            printf("%s of records that are not there\n",
                   human_things(r->missing, "checksum", kept));
        if (r->metadata != 0)
            printf("headers and identities, kept as they are because they name ids: %s\n",
                   human_count(r->metadata, kept));
        return;
    }
    json_end(j); /* of what was lost */
    json_text(j, "shard", cli_uri(path));
    JSON_UINTS(j, {"kept", r->kept}, {"kept_bytes", r->kept_bytes}, {"dropped", r->dropped},
               {"damaged_ranges", r->damaged_ranges}, {"lost_bytes", r->lost_bytes},
               {"unmatched", r->unmatched}, {"missing", r->missing}, {"metadata", r->metadata});
    json_close(j);
}

static int repair(const char *uri, const char *path, const struct options *r)
{
    struct json j;
    struct imrec_error err;
    struct imrec_repair_options o;
    struct imrec_repair_result result = {0};
    struct command_findings out = {.json = json_begin_if(r->json, &j, "lost")};
    imrec_repair_options_init(&o);
    o.keys = r->keys;
    o.ignore_checksums = !r->checksums;
    o.decode = r->decode;
    o.drop_unmatched = r->drop_unmatched;
    o.force = r->force;
    o.finding = command_found;
    o.progress = command_progress_show;
    o.user = &out;
    command_progress_start(&out.progress, r->quiet);
    const enum imrec_status st = imrec_dataset_repair(uri, path, &o, &result, &err);
    command_progress_end(&out.progress);
    if (st == IMREC_OK || r->json)
        print(out.json, &result, path);
    if (st != IMREC_OK)
        return cli_fail(page.name, &err);
    return result.dropped + result.damaged_ranges + result.missing != 0 ? EXIT_PARTIAL : EXIT_OK;
}

static int run(const struct options *o, int n, char **operand)
{
    const char *uri = command_shards(page.name, operand, n - 1, o->allow_missing, NULL);
    return uri != NULL ? repair(uri, operand[n - 1], o) : EXIT_FAILED;
}
