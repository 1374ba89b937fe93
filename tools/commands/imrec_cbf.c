/* tools/commands/imrec_cbf.c - info and verify for files of CNTK's binary format. */
#include "imrec/cbf.h"

#include "cli/show.h"
#include "tools/commands/command.h"

bool cbf_are(char *const *files, int n)
{
    bool yes = n > 0;
    for (int i = 0; yes && i < n; i++)
        yes = command_file_is(files[i], IMREC_FILE_CBF);
    return yes;
}

/* Streams may be called as those of images are: a few of the first sequences tell. */
bool cbf_has_images(const char *uri)
{
    struct imrec_reader *r;
    struct imrec_record record;
    bool yes = false;
    if (imrec_reader_open(uri, 0, 1, &r, NULL) != IMREC_OK)
        return false;
    for (int i = 0; !yes && i < 64; i++)
        yes = imrec_reader_next(r, &record, NULL) == IMREC_OK && record.is_image;
    imrec_reader_close(r);
    return yes;
}

static const char *precision_word(const struct imrec_cbf_stream *s)
{
    return s->precision == IMREC_PRECISION_DOUBLE ? "double" : "float";
}

static void print_json(struct json *j, const struct imrec_cbf_card *c)
{
    json_text(j, "format", "cbf");
    JSON_UINTS(j, {"bytes", c->bytes}, {"chunks", c->chunks}, {"sequences", c->sequences},
               {"samples", c->samples}, {"largest_chunk", c->largest_chunk});
    json_array(j, "streams");
    for (uint32_t i = 0; i < c->streams; i++) {
        json_object(j, NULL);
        json_text(j, "name", c->stream[i].name);
        json_text(j, "storage", c->stream[i].sparse ? "sparse" : "dense");
        json_text(j, "element", precision_word(&c->stream[i]));
        json_uint(j, "dim", c->stream[i].dim);
        json_end(j);
    }
    json_end(j);
}

static void print_text(const struct imrec_cbf_card *c)
{
    char n[HUMAN_BYTES], size[HUMAN_BYTES];
    printf("sequences  %s, %s", human_count(c->sequences, n), human_size(c->bytes, size));
    printf(", chunks: %s, the largest %s\n", human_count(c->chunks, n),
           human_size(c->largest_chunk, size));
    printf("samples    %s\n", human_count(c->samples, n));
    for (uint32_t i = 0; i < c->streams; i++)
        printf("stream     %s: %s, %s, dim %" PRIu32 "\n", cli_show(c->stream[i].name),
               c->stream[i].sparse ? "sparse" : "dense", precision_word(&c->stream[i]),
               c->stream[i].dim);
}

int cbf_show(const char *name, const char *file, bool title, struct json *j)
{
    struct imrec_error err;
    struct imrec_cbf_card c;
    if (imrec_cbf_card(file, false, NULL, NULL, &c, &err) != IMREC_OK)
        return cli_fail(name, &err);
    if (title && j != NULL)
        json_text(j, "file", cli_uri(file));
    else if (title)
        printf("%s\n", cli_show(file));
    if (j != NULL)
        print_json(j, &c);
    else
        print_text(&c);
    imrec_cbf_card_free(&c);
    return EXIT_OK;
}

int cbf_info(const char *name, char *const *files, int n, struct json *j)
{
    if (n == 1)
        return cbf_show(name, files[0], false, j);
    int status = EXIT_OK;
    if (j != NULL)
        json_text(j, "format", "cbf");
    json_array(j, "files");
    for (int i = 0; status == EXIT_OK && i < n; i++) {
        json_object(j, NULL);
        status = cbf_show(name, files[i], true, j);
        json_end(j);
    }
    json_end(j);
    return status;
}

struct found {
    struct json *json;
    const char *file; /* NULL: there is one only */
};

static void found(void *user, const struct imrec_finding *what)
{
    const struct found *f = user;
    struct json *j = f->json;
    char lost[HUMAN_THINGS];
    if (j == NULL) {
        printf("%s%sbyte %" PRIu64 ": %s; %s lost\n", f->file != NULL ? cli_show(f->file) : "",
               f->file != NULL ? ": " : "", what->begin, cli_show(what->reason),
               human_things(what->lost, "sequence", lost));
        return;
    }
    json_object(j, NULL);
    if (f->file != NULL)
        json_text(j, "file", cli_uri(f->file));
    JSON_UINTS(j, {"offset", what->begin}, {"lost", what->lost});
    json_text(j, "message", cli_uri(what->reason));
    json_end(j);
}

static void print_sum(const struct cbf_sum *sum)
{
    char n[HUMAN_THINGS];
    printf("%s, ", human_things(sum->sequences, "sequence", n));
    printf("%s; every count and index checked; ", human_things(sum->chunks, "chunk", n));
    if (sum->findings == 0)
        fputs("nothing wrong\n", stdout);
    else
        printf("%s\n", human_things(sum->findings, "finding", n));
}

int cbf_check(const char *name, char *const *files, int n, struct json *j, struct cbf_sum *sum)
{
    *sum = (struct cbf_sum){0};
    for (int i = 0; i < n; i++) {
        struct imrec_error err;
        struct imrec_cbf_card c;
        struct found to = {j, n > 1 ? files[i] : NULL};
        if (imrec_cbf_card(files[i], true, found, &to, &c, &err) != IMREC_OK) {
            const struct imrec_finding end = {
                .begin = err.offset != IMREC_NO_OFFSET ? err.offset : 0, .reason = err.message};
            if (j != NULL)
                found(&to, &end);
            return cli_fail(name, &err);
        }
        sum->sequences += c.sequences;
        sum->chunks += c.chunks;
        sum->findings += c.findings;
        sum->lost += c.lost;
        imrec_cbf_card_free(&c);
    }
    if (j == NULL)
        print_sum(sum);
    return EXIT_OK;
}
