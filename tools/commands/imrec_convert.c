/* tools/commands/imrec_convert.c - CNTK's binary format into text, and text into binary; records
 * into TFRecord files and RecordIO. */
#include "imrec/convert.h"
#include "imrec/file_kind.h"

#include "tools/commands/command.h"

#include <string.h>
#include <sys/stat.h>

#define CONVERT_PARAMS(X)                                                                          \
    X(const char *, header, "", 0, 65535, "FILE", "files",                                         \
      "to binary: read what the inputs are; to text: write it")                                    \
    X(int64_t, chunk_size, "33554432", 1, INT64_MAX, "bytes", "output", "to binary: of a chunk")   \
    X(enum imrec_precision, precision, "float", 0, 1, "float|double", "output",                    \
      "to binary: of the values, where the header does not say it; NAME=double,...: of one input") \
    X(const char *, precision_of, "", 0, 65535, "NAME=float|double,...", "output",                 \
      "to binary: of the values of single inputs")                                                 \
    X(const char *, action, "", 0, 65535, "NAME", "files",                                         \
      "to binary: of several readers of a configuration (--header) this one's inputs")             \
    X(const char *, defines_mb_size, "", 0, 65535, "NAME", "output",                               \
      "to binary: the input whose samples are the length of a sequence")                           \
    X(int64_t, threads, "0", 0, 1024, "workers", "output",                                         \
      "to binary: threads that convert; 0 = every CPU")                                            \
    X(int64_t, shards, "0", 0, 1 << 20, "N", "records",                                            \
      "of records: cut the output into N shards, OUT-00000-of-0000N.tar")                          \
    X(int64_t, shard_size, "0", 0, INT64_MAX, "bytes", "records",                                  \
      "of records: begin another shard at this size")                                              \
    IMREC_READER_PARAMS(X) ROW_ON_ERROR(X) ROWS_LONG(X)
COMMAND(convert, CONVERT_PARAMS, 2, 2) = {
    PAGE_OF("convert", IMREC_EXITS),
    .summary = "CNTK's binary format into text and back; records, tars, TFRecords into one another",
    .usage = {"[OPTIONS] IN.cbf OUT.ctf", "--header FILE [OPTIONS] IN.ctf OUT.cbf",
              "[OPTIONS] SHARD OUT.tfrecord", "[OPTIONS] SHARD OUT.rec", "[OPTIONS] SHARD OUT.tar"},
    .text =
        "IN's first bytes decide. To text: the number of a sequence becomes its id, numbers read\n"
        "back as the same values. To binary: as ctf2bin, which has more options. OUT is replaced\n"
        "once the new file is complete. A binary file that has a manifest is compared with it\n"
        "first.\n\n"
        "OUT.tfrecord takes the records of any shards that can be opened, images as they are:\n"
        "features image/encoded, image/class/label, image/format, image/id, a mask, and the other\n"
        "files of a tar's sample. Records of TFRecord files are copied byte for byte. OUT.rec\n"
        "takes those of TFRecord files, tars, CBF files, folders and lists, with their fields. "
        "OUT.tar takes\n"
        "those of any: a sample of a tar is copied, and one that was packed from a tar by this "
        "command\n"
        "gets its files back, with their names, bytes and order; an Example its features "
        "likewise.\n"
        "Damage ends the command; with\n"
        "--on-error skip it is skipped, named on standard error and in the JSON object, and the "
        "exit\n"
        "status is 3.\n\n"
        "--shards and --shard-size cut these outputs as im2rec does; a range in OUT names as many\n"
        "shards. All get their names when the last one is complete.",
    .examples = "  imrec convert --header inputs.txt train.cbf train.ctf\n"
                "  imrec convert --header inputs.txt train.ctf again.cbf\n"
                "  imrec convert train.rec train.tfrecord\n"
                "  imrec convert train.rec 'train-{0000..0127}.tar'\n"
                "  imrec convert --shard-size 256M photos/ train.tar\n"
                "  imrec convert --label-offset=-1 'train-*-of-01024' train.rec\n"
                "  imrec convert --path-root photos/ train.lst train.tar\n",
};

static bool show(void *user, const struct imrec_progress *done)
{
    struct command_progress *p = user;
    const struct progress_counts c = {
        .done = done->bytes >> 20, .total = done->total_bytes >> 20, .bytes = done->bytes};
    p->counts = c;
    progress_update(&p->line, &c, cli_now_ms());
    return true;
}

static enum imrec_status to_binary(const struct options *o, char *const *files,
                                   struct command_progress *p, struct imrec_convert_result *r,
                                   struct imrec_error *err)
{
    struct imrec_convert_options c;
    imrec_convert_options_init(&c);
    c.input = files[0];
    c.output = files[1];
    c.header = o->header;
    c.chunk_size = o->chunk_size;
    c.precision = o->precision;
    c.precision_of = o->precision_of;
    c.action = o->action;
    c.defines_mb_size = o->defines_mb_size;
    c.threads = o->threads;
    return imrec_ctf_to_cbf(&c, show, p, r, err);
}

static void print(const struct options *o, const struct imrec_convert_result *r)
{
    struct json j;
    char sequences[HUMAN_THINGS], size[HUMAN_BYTES];
    if (!o->json) {
        printf("%s, %s\n", human_things(r->sequences, "sequence", sequences),
               human_size(r->bytes, size));
        return;
    }
    json_begin(&j, stdout);
    JSON_UINTS(&j, {"sequences", r->sequences}, {"samples", r->samples}, {"chunks", r->chunks},
               {"bytes_read", r->bytes_read}, {"bytes", r->bytes}, {"errors", r->errors});
    json_close(&j);
}

/* ---- records ------------------------------------------------------------------------------ */

static bool ends_with(const char *name, const char *suffix)
{
    const size_t n = strlen(name), m = strlen(suffix);
    return n > m && strcmp(name + n - m, suffix) == 0;
}

struct records_run {
    struct command_progress progress; /* first: what its callback is given */
    struct command_left left;
};

static void left_out(void *user, const struct imrec_finding *f)
{
    command_left_out(&((struct records_run *)user)->left, f);
}

static void print_records(const char *out, const struct imrec_records_result *r)
{
    char n[HUMAN_THINGS], size[HUMAN_BYTES];
    printf("%s, ", human_things(r->records, "record", n));
    if (r->shards != 1)
        printf("%s, ", human_things(r->shards, "shard", n));
    printf("%s: %s\n", human_size(r->bytes, size), cli_show(out));
    if (r->fields != 0)
        printf("not in it: %s\n", human_things(r->fields, "other field", n));
    if (r->rewritten != 0)
        printf("Examples that come back from it in other bytes, as they had more than features, "
               "or numbers that were not packed: %s\n",
               human_count(r->rewritten, n));
    if (r->left_out != 0)
        printf("skipped, each a record or a damaged range: %s\n", human_count(r->left_out, n));
    if (r->unchecked != 0)
        printf("%s came without checksums\n", human_things(r->unchecked, "record", n));
}

static int run_records(const struct options *o, char *const *files)
{
    struct records_run run;
    struct imrec_records_options c;
    struct imrec_records_result r;
    struct imrec_error err;
    imrec_records_options_init(&c);
    c.input = files[0];
    c.output = files[1];
    c.image = o->image;
    c.label = o->label;
    c.label_offset = o->label_offset;
    c.path_root = o->path_root;
    c.container = o->container;
    c.mask = o->mask;
    c.shards = o->shards;
    c.shard_size = o->shard_size;
    c.on_error = o->on_error;
    c.finding = left_out;
    c.progress = command_progress_show;
    c.user = &run;
    command_progress_start(&run.progress, o->quiet);
    command_left_begin(&run.left, page.name, o->json);
    const enum imrec_status st = imrec_convert_records(&c, &r, &err);
    command_progress_end(&run.progress);
    struct json *j = command_left_end(&run.left, st == IMREC_OK);
    if (st == IMREC_OK && j != NULL)
        JSON_UINTS(j, {"records", r.records}, {"bytes", r.bytes}, {"fields", r.fields},
                   {"unchecked", r.unchecked}, {"rewritten", r.rewritten}, {"shards", r.shards});
    json_close(j);
    if (st != IMREC_OK)
        return command_not_opened(page.name, files[0], &err);
    if (!o->json && !o->quiet)
        print_records(files[1], &r);
    return r.left_out != 0 ? EXIT_PARTIAL : EXIT_OK;
}

/* ---- the command -------------------------------------------------------------------------- */

static bool is_folder(const char *name)
{
    struct stat s;
    const size_t n = strlen(name);
    return (n != 0 && name[n - 1] == '/') || (stat(name, &s) == 0 && S_ISDIR(s.st_mode));
}

static int refuse_output(const char *name)
{
    return cli_refuse(stderr, page.name,
                      "%s: records are written into .tar, .tfrecord, .tfrecords or .rec files; "
                      "im2rec --format cbf packs images into .cbf",
                      name);
}

static int run(const struct options *o, int n, char **operand)
{
    struct command_progress p = {.counts = {0}};
    struct imrec_convert_result r;
    struct imrec_error err;
    enum imrec_file_kind kind;
    (void)n;
    static const char *const suffixes[] = {".tfrecord", ".tfrecords", ".rec", ".tar"};
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++)
        if (ends_with(operand[1], suffixes[i]))
            return run_records(o, operand);
    if (is_folder(operand[1]))
        return cli_refuse(stderr, page.name,
                          "%s is a folder, and one file is written: imrec export writes the images "
                          "of a set into a folder",
                          operand[1]);
    if (is_folder(operand[0]))
        return refuse_output(operand[1]);
    if (imrec_file_kind(operand[0], &kind, NULL, &err) != IMREC_OK)
        return cli_fail(page.name, &err);
    if (kind == IMREC_FILE_RECORDIO || kind == IMREC_FILE_WEBDATASET || kind == IMREC_FILE_TFRECORD)
        return refuse_output(operand[1]);
    const bool binary = kind == IMREC_FILE_CBF;
    if (!binary && o->header[0] == '\0')
        return cli_refuse(stderr, page.name,
                          "%s is not a CNTK binary file, and text needs --header", operand[0]);
    if (binary && imrec_dataset_compare(operand[0], &err) != IMREC_OK)
        return cli_fail(page.name, &err);
    command_progress_start(&p, o->quiet);
    p.line.noun = "MiB";
    const enum imrec_status st =
        binary ? imrec_cbf_to_ctf(operand[0], operand[1], o->header[0] != '\0' ? o->header : NULL,
                                  show, &p, &r, &err)
               : to_binary(o, operand, &p, &r, &err);
    command_progress_end(&p);
    if (st != IMREC_OK)
        return cli_fail(page.name, &err);
    if (o->json || !o->quiet)
        print(o, &r);
    return r.errors != 0 ? EXIT_PARTIAL : EXIT_OK;
}
