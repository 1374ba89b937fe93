/* tests/container/test_user_source.c - records of a user's own format: the room that its callback
 * is given, and what of its answer is believed. */
#include "base/alloc.h"
#include "container/container.h"
#include "imrec/source.h"
#include "storage/mem.h"
#include "tests/support/suite.h"

#include <string.h>

enum { LARGE = 4096, PIXELS = LARGE, LIMIT = 4 * PIXELS };

static struct imrec_error g_err;

/* A record is a letter, which says what parse() does, and 7 bytes. */
static enum imrec_status list_eights(struct imrec_source_file *f, struct imrec_error *err)
{
    for (uint64_t at = 0; at + 8 <= f->size; at += 8) {
        const enum imrec_status st = f->add(f, at, 8, at / 8, err);
        if (st != IMREC_OK)
            return st;
    }
    return IMREC_OK;
}

/* Memory that grows keeps what was written; of it, what grew can be written, too. */
static const uint8_t *grow(const struct imrec_source_call *c)
{
    uint8_t *p = c->room(c, 4);
    memcpy(p, "grow", 4);
    p = c->room(c, LARGE);
    memset(p + 4, 'x', LARGE - 4);
    return c->room(c, 2); /* no less than before */
}

static void put(struct imrec_source_sample *out, const uint8_t *p, size_t n)
{
    out->encoded = p;
    out->encoded_bytes = n;
}

static enum imrec_status
parse(const struct imrec_source_call *c, struct imrec_source_sample *out, struct imrec_error *err)
{
    static const uint8_t own[8] = "its own";
    (void)err;
    switch (c->bytes[0]) {
    case 'e': /* the end of the record */
        put(out, c->bytes + 1, 7);
        break;
    case 'n': /* nothing, at its end */
        put(out, c->bytes + 8, 0);
        break;
    case 'b': /* a byte behind it */
        put(out, c->bytes + 1, 8);
        break;
    case 'o': /* of the callback */
        put(out, own, sizeof(own));
        break;
    case 'g':
        put(out, grow(c), LARGE);
        break;
    case 'l': /* a byte behind the room */
        put(out, grow(c), LARGE + 1);
        break;
    case '0': /* room of no byte is some all the same */
        put(out, c->room(c, 0), 0);
        break;
    default: /* all there is, and one byte more */
        put(out, c->room(c, LIMIT), c->room(c, (size_t)LIMIT + 1) == NULL ? 1 : 0);
    }
    out->label_count = 1;
    c->labels[0] = (float)c->id;
    return IMREC_OK;
}

static const struct {
    const char *record;
    size_t bytes;
    const char *begin; /* NULL: refused */
} rows[] = {
    {"e-inside", 7, "-inside"}, {"nothing.", 0, ""},    {"behind..", 0, NULL},
    {"ourselve", 0, NULL},      {"0.......", 0, ""},    {"grow....", LARGE, "growxx"},
    {"less....", 0, NULL},      {"most....", 1, "g"},   {"grow....", LARGE, "growxx"},
    {"0.......", 0, ""},        {"e-inside", 7, "-in"},
};

static void setup(void)
{
    static const struct imrec_source source = {.index = list_eights, .parse = parse};
    char text[8 * COUNT(rows) + 1] = "";
    for (int i = 0; i < COUNT(rows); i++)
        strcat(text, rows[i].record);
    ck_assert_int_eq(mem_put("a", text, strlen(text), NULL), IMREC_OK);
    ck_assert_int_eq(imrec_source_register("eights", &source, NULL, &g_err), IMREC_OK);
}

static void teardown(void)
{
    mem_clear();
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

CASE(.setup = setup, .teardown = teardown)

/* In one room, as a thread parses one record after the other. */
TEST(an_image_is_in_the_record_or_in_the_room)
{
    struct container c;
    struct parse_room room;
    const struct container_options o = {
        .path_imgrec = "mem://a", .source = "eights", .num_parts = 1, .cell_bytes = 4096};
    ck_assert_msg(container_open(&o, &c, &g_err) == IMREC_OK, "%s", g_err.message);
    ck_assert_uint_eq(c.unit_count, COUNT(rows));
    ck_assert_int_eq(parse_room_init(&room, 1, IMREC_LABEL_FLOAT32, PIXELS, &g_err), IMREC_OK);
    for (int i = 0; i < COUNT(rows); i++) {
        const struct record_ref ref = {.bytes = {(const uint8_t *)rows[i].record, 8},
                                       .offset = 8 * (uint64_t)i,
                                       .key = (uint64_t)i,
                                       .unit = (uint64_t)i};
        struct record x;
        const enum imrec_status st = c.kind->parse(&c, &ref, RECORD_IMAGE, &room, &x, &g_err);
        if (rows[i].begin == NULL) {
            ck_assert_int_eq(st, IMREC_ERR_CORRUPT);
            ck_assert_msg(strstr(g_err.message, "is neither within the record's 8 bytes nor in "
                                                "the room") != NULL,
                          "%s", g_err.message);
            continue;
        }
        ck_assert_msg(st == IMREC_OK, "record %d: %s", i, g_err.message);
        ck_assert_uint_eq(x.image.n, rows[i].bytes);
        ck_assert_mem_eq(x.image.p, rows[i].begin, strlen(rows[i].begin));
        ck_assert(x.label_count == 1 && record_label(&x, 0) == (float)i);
    }
    parse_room_free(&room);
    container_close(&c);
}
