/* tools/imrec_verify.c - is all of it there, whole, and decodable? */
#include "tools/imrec.h"

#define VERIFY_PARAMS(X)                                                                           \
    X(bool, decode, "1", 0, 1, "", "checks", "decode every picture")                               \
    X(int64_t, threads, "0", 0, 1024, "N", "checks", "threads that decode; 0 = every CPU")         \
    X(int64_t, max_pixels, "178956970", 1, INT64_MAX / 16, "px", "checks",                         \
      "a picture that claims more is a finding")                                                   \
    ROW_JSON(X)                                                                                    \
    ROW_QUIET(X)
struct verify_options {
    VERIFY_PARAMS(IMREC_FIELD)
};
#define PARAM_STRUCT struct verify_options
static const struct param table[] = {VERIFY_PARAMS(PARAM_ROW){0}};
static const char *const usage[] = {"[OPTIONS] SHARD...", NULL};

static const struct cli_page page = {
    .name = "imrec verify",
    .summary = "check structure, checksums, index and pictures; list every damaged range",
    .usage = usage,
    .text =
        "Reads all of the shards: every byte belongs to a record, every record matches its\n"
        "checksum and its index entry, every picture decodes. What is wrong is listed, one line\n"
        "each, with the bytes it concerns. Checksums, index and manifest are looked at where\n"
        "they stand beside the shards.",
    .table = table,
    .examples = "  imrec verify train.rec\n  imrec verify --no-decode --json 'train-*.rec'\n",
    .exits = "0 nothing wrong, 1 failed or damage found, 2 wrong usage",
};

struct output {
    struct command_progress progress;
    struct json *json;
};

static void found(void *user, const struct imrec_finding *f)
{
    struct output *out = user;
    command_finding(stdout, out->json, f);
}

static void show_progress(void *user, const struct imrec_progress *p)
{
    command_progress_show(&((struct output *)user)->progress, p);
}

static void json_result(struct json *j, const struct imrec_verify_result *r)
{
    json_end(j); /* of the findings */
    json_uint(j, "records", r->records);
    json_uint(j, "images", r->images);
    json_uint(j, "bytes", r->bytes);
    json_uint(j, "checksums_compared", r->checksums);
    json_uint(j, "index_entries_compared", r->indexed);
    json_uint(j, "pictures_decoded", r->decoded);
    json_uint(j, "pictures_mended", r->warnings);
    json_object(j, "found");
    for (int k = 0; k < IMREC_FOUND_KINDS; k++)
        json_uint(j, imrec_finding_name((enum imrec_finding_kind)k), r->found[k]);
    json_end(j);
    json_uint(j, "findings", r->findings);
    json_bool(j, "fine", r->findings == 0);
    json_close(j);
}

static void print_result(const struct imrec_verify_result *r, bool decoded)
{
    char n[HUMAN_BYTES], size[HUMAN_BYTES];
    printf("%s records, %s", human_count(r->records, n), human_size(r->bytes, size));
    printf(": %s checksums and ", human_count(r->checksums, n));
    printf("%s index entries compared, ", human_count(r->indexed, n));
    if (decoded)
        printf("%s pictures decoded", human_count(r->decoded, n));
    else
        printf("%s pictures not decoded", human_count(r->images, n));
    if (r->warnings != 0)
        printf(" (%s mended by the decoder)", human_count(r->warnings, n));
    if (r->findings == 0)
        fputs("; nothing wrong\n", stdout);
    else
        printf("; %s findings\n", human_count(r->findings, n));
}

static int verify(const char *uri, const struct verify_options *v)
{
    struct json j;
    struct imrec_error err;
    struct imrec_verify_options o;
    struct imrec_verify_result result = {0};
    struct output out = {.json = v->json ? &j : NULL};
    imrec_verify_options_init(&o);
    o.structure_only = !v->decode;
    o.threads = v->threads;
    o.max_pixels = v->max_pixels;
    o.finding = found;
    o.progress = show_progress;
    o.user = &out;
    if (v->json) {
        json_open(&j, stdout);
        json_object(&j, NULL);
        json_array(&j, "list");
    }
    command_progress_start(&out.progress, v->quiet);
    const enum imrec_status st = imrec_dataset_verify(uri, &o, &result, &err);
    command_progress_end(&out.progress);
    if (v->json)
        json_result(&j, &result);
    if (st != IMREC_OK)
        return cli_fail(page.name, &err);
    if (!v->json)
        print_result(&result, v->decode);
    return result.findings != 0 ? EXIT_FAILED : EXIT_OK;
}

static int run(int argc, char **argv)
{
    struct verify_options o;
    int status;
    const int first = command_begin(&page, &o, argc, argv, 1, -1, &status);
    if (first < 0)
        return status;
    char *uri = cli_join(argv + first, argc - first, ';');
    status = cbf_is(uri) ? cbf_verify(page.name, uri, o.json) : verify(uri, &o);
    cli_free(uri);
    return status;
}

const struct command command_verify = {&page, run};
