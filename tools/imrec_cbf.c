/* tools/imrec_cbf.c - info and verify for files of CNTK's binary format. */
#include "imrec/cbf.h"

#include "imrec/convert.h"
#include "tools/imrec.h"

bool cbf_is(const char *uri)
{
    bool yes = false;
    return imrec_is_cbf(uri, &yes, NULL) == IMREC_OK && yes;
}

static void print_json(struct json *j, const struct imrec_cbf_card *c)
{
    json_text(j, "format", "cbf");
    json_uint(j, "bytes", c->bytes);
    json_uint(j, "chunks", c->chunks);
    json_uint(j, "sequences", c->sequences);
    json_uint(j, "samples", c->samples);
    json_uint(j, "largest_chunk", c->largest_chunk);
    json_array(j, "streams");
    for (uint32_t i = 0; i < c->streams; i++) {
        json_object(j, NULL);
        json_text(j, "name", c->stream[i].name);
        json_text(j, "storage", c->stream[i].sparse ? "sparse" : "dense");
        json_text(j, "element", c->stream[i].is_double ? "double" : "float");
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
        printf("stream     %s: %s, %s, dim %" PRIu32 "\n", c->stream[i].name,
               c->stream[i].sparse ? "sparse" : "dense",
               c->stream[i].is_double ? "double" : "float", c->stream[i].dim);
}

int cbf_info(const char *name, const char *uri, bool as_json)
{
    struct json j;
    struct imrec_error err;
    struct imrec_cbf_card c;
    if (imrec_cbf_card(uri, false, NULL, NULL, &c, &err) != IMREC_OK)
        return cli_fail(name, &err);
    if (as_json) {
        json_open(&j, stdout);
        json_object(&j, NULL);
        print_json(&j, &c);
        json_close(&j);
    } else {
        print_text(&c);
    }
    imrec_cbf_card_free(&c);
    return EXIT_OK;
}

struct found {
    struct json *json;
};

static void found(void *user, uint64_t offset, uint64_t lost, const char *message)
{
    struct json *j = ((struct found *)user)->json;
    if (j == NULL) {
        printf("byte %" PRIu64 ": %s; %" PRIu64 " sequence%s lost\n", offset, message, lost,
               lost == 1 ? "" : "s");
        return;
    }
    json_object(j, NULL);
    json_uint(j, "offset", offset);
    json_uint(j, "lost", lost);
    json_text(j, "message", message);
    json_end(j);
}

int cbf_verify(const char *name, const char *uri, bool as_json)
{
    struct json j;
    struct imrec_error err;
    struct imrec_cbf_card c;
    struct found to = {as_json ? &j : NULL};
    char n[HUMAN_BYTES];
    if (as_json) {
        json_open(&j, stdout);
        json_object(&j, NULL);
        json_array(&j, "list");
    }
    const enum imrec_status st = imrec_cbf_card(uri, true, found, &to, &c, &err);
    const bool fine = st == IMREC_OK && c.findings == 0;
    if (as_json) {
        json_end(&j);
        if (st == IMREC_OK)
            print_json(&j, &c);
        json_uint(&j, "findings", st == IMREC_OK ? c.findings : 1);
        json_uint(&j, "lost", c.lost);
        json_bool(&j, "fine", fine);
        json_close(&j);
    } else if (st == IMREC_OK) {
        printf("%s sequences", human_count(c.sequences, n));
        printf(", chunks: %s; every count and index checked; ", human_count(c.chunks, n));
        if (fine)
            fputs("nothing wrong\n", stdout);
        else
            printf("findings: %s\n", human_count(c.findings, n));
    }
    imrec_cbf_card_free(&c);
    return st != IMREC_OK ? cli_fail(name, &err) : fine ? EXIT_OK : EXIT_FAILED;
}
