/* tests/support/sources.c - a shared library of sources, and of what is none. `again` reads .rec
 * files as a stranger would: by the format's document alone. */
#include "imrec/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t le64(const uint8_t *p)
{
    return le32(p) | (uint64_t)le32(p + 4) << 32;
}

static enum imrec_status bad(struct imrec_error *err, const char *why)
{
    snprintf(err->message, sizeof(err->message), "%s", why);
    return IMREC_ERR_CORRUPT;
}

static enum imrec_status list(struct imrec_source_file *f, struct imrec_error *err)
{
    uint8_t head[8 + 24];
    char *state = malloc(sizeof("listed"));
    if (state == NULL)
        return IMREC_ERR_NO_MEMORY;
    f->state = strcpy(state, "listed");
    for (uint64_t at = 0, bytes; at < f->size; at += (bytes + 3) / 4 * 4) {
        enum imrec_status st = f->read(f, at, head, sizeof(head), err);
        if (st != IMREC_OK)
            return st;
        if (le32(head) != 0xced7230a || le32(head + 4) >> 29 != 0)
            return bad(err, "records of one part are all it reads");
        bytes = 8 + le32(head + 4);
        if ((st = f->add(f, at, bytes, le64(head + 16), err)) != IMREC_OK)
            return st;
    }
    return IMREC_OK;
}

static enum imrec_status
parse(const struct imrec_source_call *c, struct imrec_source_sample *out, struct imrec_error *err)
{
    if (c->state == NULL || strcmp(c->state, "listed") != 0)
        return bad(err, "the state of its file is gone");
    const uint32_t flag = le32(c->bytes + 8);
    const uint8_t *labels = flag == 0 ? c->bytes + 12 : c->bytes + 32;
    out->label_count = flag == 0 ? 1 : flag;
    for (uint32_t i = 0; i < out->label_count && i < c->label_room; i++)
        memcpy(&c->labels[i], labels + 4 * (size_t)i, 4);
    out->encoded = c->bytes + 32 + 4 * (size_t)flag;
    out->encoded_bytes = c->n - 32 - 4 * (size_t)flag;
    return IMREC_OK;
}

static void close_state(void *state, void *user)
{
    (void)user;
    free(state);
}

IMREC_SOURCE(again, ".rec", list, parse, close_state);
extern IMREC_API const struct imrec_source older, emptied;
extern IMREC_API const char words[64];
const struct imrec_source older = {
    IMREC_SOURCE_MAGIC, IMREC_SOURCE_ABI + 1, NULL, list, parse, NULL};
const struct imrec_source emptied = {IMREC_SOURCE_MAGIC, IMREC_SOURCE_ABI, NULL, list, NULL, NULL};
const char words[64] = "no source";
