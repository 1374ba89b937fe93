/* storage/cloud/cloud_state.c - the text of NAME.part: "imrec-upload-1 ID numbers\n", tails. */
#include "storage/cloud/cloud_state.h"

#include "base/alloc.h"
#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAGIC       "imrec-upload-1 "
#define STATE_BYTES (2 * CLOUD_PART_BYTES)

char *cloud_part_key(const char *key)
{
    return imrec_joined(key, strlen(key), ".part");
}

static enum imrec_status bad(const struct cloud_place *p, const char *what, struct imrec_error *err)
{
    return imrec_fail(err, IMREC_ERR_CORRUPT,
                      "%s: its .part is no state of an upload (%s); force begins again", p->shown,
                      what);
}

/* The tail of a mark begins at text[*at]; that of the same parts is the begin of the other's. */
static bool take_tail(const struct cloud_state *s, struct cloud_mark *m, uint64_t n, size_t *at)
{
    if (n > s->text.n - *at)
        return false;
    m->tail = (struct bytes){s->text.p + *at, (size_t)n};
    *at += (size_t)n;
    return true;
}

static enum imrec_status
read_text(struct cloud_state *s, const struct cloud_place *p, struct imrec_error *err)
{
    uint64_t tail, tail_before;
    const uint8_t *end = memchr(s->text.p, '\n', s->text.n);
    if (end == NULL)
        return bad(p, "its first line has no end", err);
    size_t at = (size_t)(end - s->text.p) + 1;
    s->text.p[at - 1] = '\0';
    const int n = sscanf(
        (const char *)s->text.p + strlen(MAGIC),
        "%1023s %" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu32 " %" SCNu64 " %" SCNu64, s->id,
        &s->last.parts, &s->last.bytes, &tail, &s->before.parts, &s->before.bytes, &tail_before);
    if (n != 7 || s->last.parts > UPLOAD_PARTS_MOST || s->before.parts > s->last.parts ||
        s->last.bytes > UINT64_MAX / 4 || s->before.bytes > s->last.bytes)
        return bad(p, "its first line", err);
    if (!take_tail(s, &s->last, tail, &at))
        return bad(p, "its end is missing", err);
    if (s->before.parts == s->last.parts)
        s->before.tail =
            (struct bytes){s->last.tail.p, tail_before < tail ? (size_t)tail_before : (size_t)tail};
    else if (!take_tail(s, &s->before, tail_before, &at))
        return bad(p, "its end is missing", err);
    return at == s->text.n ? IMREC_OK : bad(p, "more than its end follows", err);
}

enum imrec_status
cloud_state_read(struct cloud_state *s, const struct cloud_place *p, struct imrec_error *err)
{
    const bool is_state =
        s->text.n >= strlen(MAGIC) && memcmp(s->text.p, MAGIC, strlen(MAGIC)) == 0;
    return is_state ? read_text(s, p, err) : IMREC_OK;
}

enum imrec_status cloud_state_load(struct cloud_state *s, struct cloud_place *p,
                                   const char *part_key, bool *found, struct imrec_error *err)
{
    *s = (struct cloud_state){.text = BUF_INIT(STATE_BYTES)};
    enum imrec_status st = cloud_get(p, part_key, &s->text, found, err);
    if (st == IMREC_OK && *found)
        st = cloud_state_read(s, p, err);
    if (st != IMREC_OK || !*found)
        cloud_state_free(s);
    return st;
}

uint64_t cloud_state_size(const struct cloud_state *s)
{
    return s->id[0] == '\0' ? s->text.n : s->last.bytes + s->last.tail.n;
}

enum imrec_status cloud_state_save(struct cloud_place *p, const char *part_key, const char *id,
                                   const struct cloud_mark *last, const struct cloud_mark *before,
                                   struct imrec_error *err)
{
    struct buf text = BUF_INIT(STATE_BYTES);
    char line[UPLOAD_ID_BYTES + 160];
    const int n = snprintf(
        line, sizeof(line), MAGIC "%s %" PRIu32 " %" PRIu64 " %zu %" PRIu32 " %" PRIu64 " %zu\n",
        id, last->parts, last->bytes, last->tail.n, before->parts, before->bytes, before->tail.n);
    enum imrec_status st = buf_append(&text, line, (size_t)n, err);
    if (st == IMREC_OK)
        st = buf_append(&text, last->tail.p, last->tail.n, err);
    if (st == IMREC_OK && before->parts != last->parts)
        st = buf_append(&text, before->tail.p, before->tail.n, err);
    if (st == IMREC_OK)
        st = cloud_put(p, part_key, (struct bytes){text.p, text.n}, err);
    buf_free(&text);
    return st;
}

void cloud_state_free(struct cloud_state *s)
{
    buf_free(&s->text);
    *s = (struct cloud_state){0};
}
