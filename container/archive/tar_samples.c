/* container/archive/tar_samples.c */
#include "container/archive/tar_samples.h"

#include "base/alloc.h"
#include "base/error.h"

#include <string.h>

#define NAMES_MOST ((size_t)TAR_PARTS_MOST * 2 * TAR_NAME_MAX)
#define NOT_KEPT   SIZE_MAX

size_t tar_key_bytes(const char *name, const char **extension)
{
    const char *slash = strrchr(name, '/'), *base = slash != NULL ? slash + 1 : name;
    const char *dot = strchr(base, '.');
    *extension = dot != NULL ? dot + 1 : NULL;
    return dot != NULL ? (size_t)(dot - name) : strlen(name);
}

const char *tar_part_name(const struct tar_samples *s, const struct tar_part *p)
{
    return (const char *)s->names.p + p->name;
}

const char *tar_part_extension(const struct tar_samples *s, const struct tar_part *p)
{
    return tar_part_name(s, p) + strlen(s->key) + 1;
}

const uint8_t *tar_part_kept(const struct tar_samples *s, const struct tar_part *p)
{
    return p->kept != NOT_KEPT ? s->names.p + p->kept : NULL;
}

enum imrec_status tar_samples_begin(struct tar_samples *s, struct source *source, uint64_t size,
                                    bool far, struct imrec_error *err)
{
    memset(s, 0, sizeof(*s));
    s->names = BUF_INIT(NAMES_MOST);
    return tar_walk_begin(&s->walk, source, size, far, err);
}

void tar_samples_end(struct tar_samples *s)
{
    tar_walk_end(&s->walk);
    imrec_free(s->parts);
    s->parts = NULL;
    buf_free(&s->names);
}

/* It is called like a file of a sample, and has no bytes here that could be one. */
static bool is_odd(const struct tar_header *h)
{
    const char *extension;
    (void)tar_key_bytes(h->name, &extension);
    return h->type == TAR_SPARSE || (h->type == TAR_ODD && extension != NULL);
}

/* Reads on, unless what was read is still pending. */
static void look(struct tar_samples *s)
{
    if (s->pending)
        return;
    s->pending = true;
    s->status = tar_walk_next(&s->walk, &s->next, &s->why);
    if (s->status == IMREC_OK && is_odd(&s->walk.h))
        s->status = imrec_error_at(&s->why, IMREC_ERR_UNSUPPORTED, s->next.begin, "%.100s is %s",
                                   s->walk.h.name, tar_odd_kind(&s->walk.h));
}

static enum imrec_status keep(struct tar_samples *s, struct tar_part *p, struct imrec_error *err)
{
    uint8_t content[TAR_NAME_MAX];
    if (p->type != TAR_FILE || p->bytes > s->keep || p->bytes > sizeof(content))
        return IMREC_OK;
    IMREC_TRY(tar_walk_read(&s->walk, p->content, content, (size_t)p->bytes, err));
    p->kept = s->names.n;
    return buf_append(&s->names, content, (size_t)p->bytes, err);
}

static enum imrec_status add_part(struct tar_samples *s, struct imrec_error *err)
{
    const struct tar_header *h = &s->walk.h;
    struct tar_part p = {.content = s->next.content,
                         .bytes = h->type == TAR_FILE ? h->size : 0,
                         .name = s->names.n,
                         .kept = NOT_KEPT,
                         .type = h->type};
    if (s->count == TAR_PARTS_MOST)
        return imrec_error_at(err, IMREC_ERR_LIMIT, s->next.begin,
                              "a sample of more than %u files: %.100s", TAR_PARTS_MOST, h->name);
    if (!IMREC_GROW(s->parts, s->room, s->count + 1u))
        return IMREC_NO_MEMORY(err, "no memory for the files of a sample");
    IMREC_TRY(buf_append(&s->names, h->name, strlen(h->name) + 1, err));
    IMREC_TRY(keep(s, &p, err));
    s->parts[s->count++] = p;
    if (h->type != TAR_FILE)
        return IMREC_OK;
    if (s->begin == s->end)
        s->begin = s->next.begin;
    s->end = s->next.end;
    return IMREC_OK;
}

/* Whether the file that is pending is one of the sample in hand; it begins one where there is none.
 */
static bool joins(struct tar_samples *s, bool *ends)
{
    const struct tar_header *h = &s->walk.h;
    const char *extension;
    const size_t n = tar_key_bytes(h->name, &extension);
    *ends = h->type == TAR_FILE;
    if ((h->type != TAR_FILE && h->type != TAR_LINK) || extension == NULL)
        return false;
    *ends = true;
    if (s->count != 0)
        return strlen(s->key) == n && memcmp(s->key, h->name, n) == 0;
    memcpy(s->key, h->name, n);
    s->key[n] = '\0';
    return true;
}

uint64_t tar_samples_at(const struct tar_samples *s)
{
    if (!s->pending)
        return s->walk.at;
    if (s->status == IMREC_END)
        return s->walk.size;
    if (s->status == IMREC_ERR_NO_MEMORY) /* which the next call returns */
        return 0;
    return s->status == IMREC_OK ? s->next.begin : s->why.offset;
}

enum imrec_status tar_samples_next(struct tar_samples *s, struct imrec_error *err)
{
    bool ends;
    s->count = 0;
    s->names.n = 0;
    s->begin = s->end = 0;
    for (;;) {
        look(s);
        if (s->status != IMREC_OK) {
            if (s->count != 0 && s->status != IMREC_ERR_NO_MEMORY)
                return IMREC_OK;
            s->pending = s->status == IMREC_END;
            if (s->status != IMREC_END && err != NULL)
                *err = s->why;
            return s->status;
        }
        const bool is_part = joins(s, &ends);
        if (!is_part && s->count != 0 && ends)
            return IMREC_OK;
        s->pending = false;
        if (is_part)
            IMREC_TRY(add_part(s, err));
    }
}
