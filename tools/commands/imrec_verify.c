/* tools/commands/imrec_verify.c - is all of it there, whole, and decodable? */
#include "tools/commands/command.h"
#include "tools/commands/imrec_sequences.h"

#define VERIFY_PARAMS(X)                                                                           \
    X(bool, decode, "1", 0, 1, "", "checks", "decode every image")                                 \
    X(int64_t, threads, "0", 0, 1024, "N", "checks", "threads that decode; 0 = every CPU")         \
    X(int64_t, max_pixels, "178956970", 1, INT64_MAX / 16, "px", "checks",                         \
      "an image that claims more is a finding")                                                    \
    X(bool, same_pixels, "0", 0, 1, "", "checks",                                                  \
      "compare two sets: equal records in equal order, but for the bytes of equal pixels")         \
    IMREC_READER_PARAMS(X) ROW_MISSING(X) ROW_CONFIG(X) ROWS_LONG(X)
COMMAND(verify, VERIFY_PARAMS, 0, -1) = {
    PAGE_OF("verify", "0 nothing wrong, 1 failed or damage found, 2 wrong usage"),
    .summary = "check structure, checksums, index and images; list every damaged range",
    .usage = {"[OPTIONS] SHARD...", "--same-pixels [OPTIONS] SET OTHER",
              "[OPTIONS] CNTKFILE [key=value ...]", "--config FILE [OPTIONS] [key=value ...]"},
    .text =
        "Reads all of the shards: every byte belongs to a record, every record matches its\n"
        "checksum and its index entry, every image decodes. Errors are listed, one line\n"
        "each, with the bytes they concern. Checksums, index and manifest are checked if they\n"
        "are next to the shards.\n\n"
        "--same-pixels compares two sets instead, as of imrec tile: the same number of records\n"
        "in the same order, with equal ids, labels, masks, fields and pixels. The first\n"
        "difference is named.\n\n"
        "Of CNTK's text every value is parsed, and errors are listed with line and column; of\n"
        "its binary files every count and index is checked.\n" SEQUENCES_KEYS,
    .examples = "  imrec verify train.rec\n  imrec verify --no-decode --json 'train-*.rec'\n"
                "  imrec verify train.ctf input.x.format=dense input.x.dim=784\n",
};

static void json_result(struct json *j, const struct imrec_verify_result *r)
{
    JSON_UINTS(j, {"records", r->records}, {"images", r->images}, {"bytes", r->bytes},
               {"checksums_compared", r->checksums}, {"index_entries_compared", r->indexed},
               {"images_decoded", r->decoded}, {"images_mended", r->warnings},
               {"metadata", r->metadata});
    json_object(j, "found");
    for (int k = 0; k < IMREC_FOUND_KINDS; k++)
        json_uint(j, imrec_finding_name((enum imrec_finding_kind)k), r->found[k]);
    json_end(j);
}

static void print_result(const struct imrec_verify_result *r, bool decoded)
{
    char n[HUMAN_THINGS], size[HUMAN_BYTES];
    printf("%s, %s", human_things(r->records, "record", n), human_size(r->bytes, size));
    printf(": %s and ", human_things(r->checksums, "checksum", n));
    printf("%s compared, ", human_things(r->indexed, "index entry", n));
    printf("%s%s decoded", human_things(decoded ? r->decoded : r->images, "image", n),
           decoded ? "" : " not");
    if (r->warnings != 0)
        printf(" (%s mended by the decoder)", human_count(r->warnings, n));
    if (r->metadata != 0)
        printf(", %s of headers and identities", human_things(r->metadata, "record", n));
    if (r->findings == 0)
        fputs("; nothing wrong\n", stdout);
    else
        printf("; %s\n", human_things(r->findings, "finding", n));
}

/* Records and images. *findings is added to. */
static int
verify(const char *uri, const struct options *o, struct json *j, bool told, uint64_t *findings)
{
    struct imrec_error err;
    struct imrec_verify_options v;
    struct imrec_verify_result result = {0};
    struct command_findings out = {.json = j, .damage_is_told = told};
    const struct imrec_reader_options reader = READER_OF_O;
    imrec_verify_options_init(&v);
    v.structure_only = !o->decode;
    v.threads = o->threads;
    v.max_pixels = o->max_pixels;
    v.finding = command_found;
    v.progress = command_progress_show;
    v.user = &out;
    v.allow_missing = o->allow_missing;
    v.reader = &reader;
    command_progress_start(&out.progress, o->quiet);
    const enum imrec_status st = imrec_dataset_verify(uri, &v, &result, &err);
    command_progress_end(&out.progress);
    if (j != NULL) {
        json_end(j); /* of the findings */
        json_result(j, &result);
    }
    if (st != IMREC_OK)
        return command_not_opened(page.name, uri, &err);
    if (j == NULL)
        print_result(&result, o->decode);
    *findings += result.findings;
    return EXIT_OK;
}

static int verify_binary(char *const *files, int n, const char *uri, const struct options *v,
                         struct json *j, uint64_t *findings)
{
    struct cbf_sum sum;
    int status = cbf_check(page.name, files, n, j, &sum);
    const bool images = status == EXIT_OK && cbf_has_images(uri);
    *findings = sum.findings;
    if (images)
        status = verify(uri, v, j, sum.findings != 0, findings);
    else
        json_end(j); /* of the findings */
    if (j != NULL)
        JSON_UINTS(j, {"sequences", sum.sequences}, {"chunks", sum.chunks}, {"lost", sum.lost});
    return status;
}

/* Two sets. */
static int compare(const struct options *o, int n, char **operand)
{
    struct imrec_error err;
    struct imrec_same_options s;
    struct imrec_same_result r;
    struct command_progress progress;
    struct json json;
    char text[HUMAN_THINGS];
    const struct imrec_reader_options reader = READER_OF_O;
    if (n != 2)
        return cli_refuse(stderr, page.name, "--same-pixels compares two sets, not %d", n);
    imrec_same_options_init(&s);
    s.threads = o->threads;
    s.progress = command_progress_show;
    s.user = &progress;
    s.reader = &reader;
    command_progress_start(&progress, o->quiet);
    const enum imrec_status st = imrec_dataset_same(operand[0], operand[1], &s, &r, &err);
    command_progress_end(&progress);
    struct json *j =
        json_begin_if(o->json && (st == IMREC_OK || st == IMREC_ERR_DATA), &json, NULL);
    if (j != NULL) {
        JSON_UINTS(j, {"records", r.records}, {"equal_bytes", r.equal_bytes},
                   {"images_decoded", r.decoded});
        json_bool(j, "same", st == IMREC_OK);
        json_close(j);
    }
    if (st != IMREC_OK)
        return cli_fail(page.name, &err);
    if (!o->json) {
        printf("%s %s the same: ", human_things(r.records, "record", text),
               r.records == 1 ? "is" : "are");
        printf("%s of equal bytes, ", human_things(r.equal_bytes, "image", text));
        printf("%s of equal pixels\n", human_count(r.decoded, text));
    }
    return EXIT_OK;
}

static int run(const struct options *o, int n, char **operand)
{
    if (o->same_pixels)
        return compare(o, n, operand);

    struct json json;
    uint64_t findings = 0;
    const struct sequences_request r = sequences_request(&page, o->config, o->json, n, operand);
    if (n == 0 && o->config[0] == '\0')
        return command_refuse_count(&page, "missing");
    if (!sequences_are_binary(&r) && sequences_are_asked(&r))
        return sequences_verify(&r);
    const char *uri = command_shards(page.name, operand, n, false, NULL);
    struct json *j = json_begin_if(o->json, &json, "list");
    const int status = cbf_are(operand, n) ? verify_binary(operand, n, uri, o, j, &findings)
                                           : verify(uri, o, j, false, &findings);
    if (j != NULL) {
        json_uint(j, "findings", status == EXIT_OK ? findings : findings + 1);
        json_bool(j, "fine", status == EXIT_OK && findings == 0);
        json_close(j);
    }
    return status == EXIT_OK && findings != 0 ? EXIT_FAILED : status;
}
