/* storage/cloud/answer.c - what stores answer in XML, by expat. */
#include "storage/cloud/answer.h"

#include "base/buf.h"
#include "base/error.h"

#include <expat.h>
#include <string.h>

#define DEPTH_MOST      16
#define ITEM_MOST_BYTES ((size_t)64 << 10) /* a key has at most 1,024, encoded 3,072 */

struct reader {
    XML_Parser parser;
    answer_item_fn *found;
    void *user;
    struct imrec_error *err;
    enum imrec_status st;
    int depth, wanted;
    bool leaf;        /* the open element has held no other one */
    struct buf texts; /* names and values of the item, a NUL after each */
    size_t text;      /* where the open element's begins */
    uint32_t count;
    size_t name[ANSWER_FIELDS], value[ANSWER_FIELDS]; /* of texts: it moves */
    const char *too_much;
};

const char *answer_value(const struct answer_item *item, const char *field)
{
    for (uint32_t i = 0; i < item->count; i++)
        if (strcmp(item->field[i], field) == 0)
            return item->value[i];
    return "";
}

static void stop(struct reader *r, enum imrec_status st)
{
    r->st = st;
    XML_StopParser(r->parser, XML_FALSE);
}

static void refuse(struct reader *r, const char *what)
{
    r->too_much = what;
    stop(r, IMREC_ERR_LIMIT);
}

static bool put(struct reader *r, const char *p, size_t n)
{
    const enum imrec_status st = buf_append(&r->texts, p, n, NULL);
    if (st == IMREC_ERR_LIMIT)
        refuse(r, "an element with more text than any name has");
    else if (st != IMREC_OK)
        stop(r, st);
    return st == IMREC_OK;
}

static void on_start(void *user, const char *name, const char **attributes)
{
    struct reader *r = user;
    (void)attributes;
    (void)name;
    if (++r->depth > DEPTH_MOST) {
        refuse(r, "elements in one another deeper than any listing has");
        return;
    }
    if (r->depth <= r->wanted) {
        r->count = 0;
        r->texts.n = 0;
    }
    r->text = r->texts.n;
    r->leaf = true;
}

static void on_text(void *user, const char *p, int n)
{
    struct reader *r = user;
    if (n > 0 && r->leaf)
        (void)put(r, p, (size_t)n);
}

static void keep_field(struct reader *r, const char *name)
{
    if (r->count == ANSWER_FIELDS) {
        refuse(r, "more fields than any entry has");
        return;
    }
    if (!put(r, "", 1))
        return;
    r->value[r->count] = r->text;
    r->name[r->count] = r->texts.n;
    if (put(r, name, strlen(name) + 1))
        r->count++;
}

static void give(struct reader *r, const char *name)
{
    struct answer_item item = {.name = name, .count = r->count};
    for (uint32_t i = 0; i < r->count; i++) {
        item.field[i] = (const char *)r->texts.p + r->name[i];
        item.value[i] = (const char *)r->texts.p + r->value[i];
    }
    const enum imrec_status st = r->found(r->user, &item, r->err);
    if (st != IMREC_OK)
        stop(r, st);
    r->count = 0;
    r->texts.n = 0;
}

static void on_end(void *user, const char *name)
{
    struct reader *r = user;
    const bool leaf = r->leaf;
    if (leaf)
        keep_field(r, name);
    r->leaf = false;
    if (r->st == IMREC_OK && (r->depth == r->wanted || (leaf && r->depth < r->wanted)))
        give(r, name);
    r->depth--;
    r->text = r->texts.n;
}

static void on_doctype(void *user, const char *name, const char *system, const char *public, int in)
{
    (void)name;
    (void)system;
    (void)public;
    (void)in;
    refuse(user, "a document type, which no store sends");
}

static enum imrec_status
parse(struct reader *r, const char *shown, struct bytes text, struct imrec_error *err)
{
    XML_SetUserData(r->parser, r);
    XML_SetElementHandler(r->parser, on_start, on_end);
    XML_SetCharacterDataHandler(r->parser, on_text);
    XML_SetStartDoctypeDeclHandler(r->parser, on_doctype);
    const bool good = text.n <= INT32_MAX &&
                      XML_Parse(r->parser, (const char *)text.p, (int)text.n, 1) == XML_STATUS_OK;
    if (r->too_much != NULL)
        return imrec_fail(err, r->st, "%s: the server's answer has %s", shown, r->too_much);
    if (r->st == IMREC_ERR_NO_MEMORY)
        return IMREC_NO_MEMORY(err, "%s: no memory for the server's answer", shown);
    if (r->st != IMREC_OK || good)
        return r->st;
    return imrec_fail(err, IMREC_ERR_CORRUPT,
                      "%s: the server's answer is no XML at line %lu: %s; a list of what is there "
                      "would be right",
                      shown, (unsigned long)XML_GetCurrentLineNumber(r->parser),
                      XML_ErrorString(XML_GetErrorCode(r->parser)));
}

enum imrec_status answer_items(const char *shown, struct bytes text, int depth,
                               answer_item_fn *found, void *user, struct imrec_error *err)
{
    struct reader r = {.parser = XML_ParserCreate(NULL),
                       .found = found,
                       .user = user,
                       .err = err,
                       .wanted = depth,
                       .texts = BUF_INIT(ITEM_MOST_BYTES)};
    if (r.parser == NULL)
        return IMREC_NO_MEMORY(err, "%s: no memory for the server's answer", shown);
    const enum imrec_status st = parse(&r, shown, text, err);
    buf_free(&r.texts);
    XML_ParserFree(r.parser);
    return st;
}
