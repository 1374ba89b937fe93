/* split/split_position.c - the place of a reader as JSON text. docs/guide/input_split.md has its
 * members. */
#include "split/split_position.h"

#include "base/error.h"
#include "formats/json_read.h"
#include "formats/json_write.h"
#include "formats/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define VERSION     1
#define MAX_BYTES   ((size_t)1024) /* of a position: the header says so */
#define DATA_DIGITS 17             /* 16 hex digits and the end */

/* What shapes the order: two positions can only be exchanged where all of it is equal. */
struct order {
    const char *name;
    uint64_t value;
};
enum { ORDER = 7 };

static void order_of(const struct split_set *s, struct order out[ORDER])
{
    const bool indexed = split_set_indexed(s), shuffle = s->o.shuffle;
    const struct order all[ORDER] = {
        {"type", s->o.type},
        {"part_index", s->o.part_index},
        {"num_parts", s->o.num_parts},
        {"shuffle", shuffle},
        {"seed", shuffle ? s->o.seed : 0},
        {"chunk_bytes", indexed ? 0 : s->o.chunk_bytes},
        {"chunk_records", indexed ? s->chunk_records : 0},
    };
    memcpy(out, all, sizeof(all));
}

/* Seeds have 64 bits, numbers in JSON may not: all are texts of digits. */
static void put(struct json_writer *w, const char *key, uint64_t v)
{
    char digits[24];
    (void)snprintf(digits, sizeof(digits), "%" PRIu64, v);
    json_write_text(w, key, digits);
}

enum imrec_status split_position_write(const struct split_set *s, const struct split_place *at,
                                       char **text, struct imrec_error *err)
{
    struct buf b = BUF_INIT(MAX_BYTES);
    struct json_writer w = {.out = &b};
    struct order order[ORDER];
    char data[DATA_DIGITS];
    (void)snprintf(data, sizeof(data), "%016" PRIx64, s->data);
    order_of(s, order);
    json_write_object(&w, NULL, JSON_SPACED);
    json_write_u64(&w, "input_split", VERSION);
    json_write_text(&w, "data", data);
    for (size_t i = 0; i < ORDER; i++)
        put(&w, order[i].name, order[i].value);
    put(&w, "pass", at->pass);
    put(&w, "chunk", at->chunk);
    put(&w, "place", at->place);
    json_write_end(&w);
    if (w.status == IMREC_OK)
        w.status = buf_append(&b, "", 1, NULL);
    if (w.status != IMREC_OK) {
        buf_free(&b);
        return imrec_fail(err, w.status, "no memory for a position");
    }
    *text = (char *)b.p;
    return IMREC_OK;
}

/* ---- reading ------------------------------------------------------------------------------ */

static enum imrec_status
take_number(const struct json_value *root, const char *key, uint64_t *out, struct imrec_error *err)
{
    const char *digits = json_read_text(json_read_member(root, key));
    if (digits == NULL ||
        !text_to_u64((struct bytes){(const uint8_t *)digits, strlen(digits)}, out))
        return IMREC_REFUSE(err, "position: \"%s\" must be a whole number from 0 in quotes", key);
    return IMREC_OK;
}

static enum imrec_status
check_order(const struct json_value *root, const struct split_set *s, struct imrec_error *err)
{
    struct order order[ORDER];
    int64_t version;
    char want[DATA_DIGITS];
    if (!json_read_i64(json_read_member(root, "input_split"), &version) || version != VERSION)
        return IMREC_REFUSE(err,
                            "position: \"input_split\" must be %d: it is of another version, "
                            "or of something else",
                            VERSION);
    const char *data = json_read_text(json_read_member(root, "data"));
    (void)snprintf(want, sizeof(want), "%016" PRIx64, s->data);
    if (data == NULL || strcmp(data, want) != 0)
        return IMREC_REFUSE(err,
                            "position: it is of other files (fingerprint %.16s, these have %s)",
                            data != NULL ? data : "missing", want);
    order_of(s, order);
    for (size_t i = 0; i < ORDER; i++) {
        uint64_t v;
        IMREC_TRY(take_number(root, order[i].name, &v, err));
        if (v != order[i].value)
            return IMREC_REFUSE(
                err, "position: it was taken with %s=%" PRIu64 ", this split has %s=%" PRIu64,
                order[i].name, v, order[i].name, order[i].value);
    }
    return IMREC_OK;
}

static enum imrec_status take_place(const struct json_value *root, const struct split_set *s,
                                    struct split_place *at, struct imrec_error *err)
{
    struct split_place p;
    IMREC_TRY(check_order(root, s, err));
    IMREC_TRY(take_number(root, "pass", &p.pass, err));
    IMREC_TRY(take_number(root, "chunk", &p.chunk, err));
    IMREC_TRY(take_number(root, "place", &p.place, err));
    if (p.chunk > s->chunks || (p.chunk == s->chunks && p.place != 0))
        return IMREC_REFUSE(err, "position: \"chunk\" is %" PRIu64 ", a pass has %" PRIu64, p.chunk,
                            s->chunks);
    *at = p;
    return IMREC_OK;
}

enum imrec_status split_position_read(const char *text, const struct split_set *s,
                                      struct split_place *at, struct imrec_error *err)
{
    struct json_value *root;
    const struct json_input in = {.name = "position",
                                  .text = {(const uint8_t *)text, strlen(text)},
                                  .max_bytes = MAX_BYTES,
                                  .given = true};
    IMREC_TRY(json_read(&in, &root, err));
    const enum imrec_status st = take_place(root, s, at, err);
    json_read_free(root);
    return st;
}
