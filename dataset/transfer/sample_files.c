/* dataset/transfer/sample_files.c - key and files of a tar's sample, as text. */
#include "dataset/transfer/sample_files.h"

#include "base/alloc.h"
#include "base/error.h"
#include "container/archive/tar_members.h"
#include "container/kinds.h"
#include "dataset/transfer/feature_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static enum imrec_status add(struct buf *b, struct bytes text, struct imrec_error *err)
{
    return buf_append(b, text.p, text.n, err);
}

static enum imrec_status
take_key(struct buf *key, const struct tar_member *m, struct imrec_error *err)
{
    const size_t n = strlen(m->h.name) - m->extension.n - 1; /* and the dot */
    key->n = 0;
    return buf_append(key, m->h.name, n, err);
}

/* The number of the image goes to the front when all is known. */
static enum imrec_status put_number(struct buf *files, uint64_t image, struct imrec_error *err)
{
    char text[24];
    const size_t n = files->n;
    const int k = image == UINT64_MAX ? snprintf(text, sizeof(text), "- ")
                                      : snprintf(text, sizeof(text), "%" PRIu64 " ", image);
    IMREC_TRY(buf_append(files, text, (size_t)k, err));
    memmove(files->p + k, files->p, n);
    memcpy(files->p, text, (size_t)k);
    return IMREC_OK;
}

/* The list of an Example's features, which is a field of its own. */
static bool is_list(struct bytes extension)
{
    const size_t n = strlen(SAMPLE_FEATURES);
    return extension.n == n && memcmp(extension.p, SAMPLE_FEATURES, n) == 0;
}

enum imrec_status sample_files_read(const struct imrec_record *r, struct buf *key,
                                    struct buf *files, struct imrec_error *err)
{
    static const struct bytes slash = {(const uint8_t *)"/", 1};
    struct bytes left = {r->data, r->size};
    uint64_t image = UINT64_MAX, n = 0;
    struct tar_member *m = imrec_zalloc(1, sizeof(*m)); /* it has a name of 4 KiB */
    enum imrec_status st = m != NULL ? IMREC_OK : IMREC_NO_MEMORY(err, "no memory for a sample");
    key->n = files->n = 0;
    while (st == IMREC_OK && tar_members_next(&left, m)) {
        if (is_list(m->extension))
            continue;
        if (n == 0)
            st = take_key(key, m, err);
        else
            st = add(files, slash, err);
        if (st == IMREC_OK)
            st = add(files, m->extension, err);
        if (m->content.p == r->image && m->content.n == r->image_size)
            image = n;
        n++;
    }
    imrec_free(m);
    return st == IMREC_OK ? put_number(files, image, err) : st;
}

struct imrec_field sample_text_field(const char *name, const struct buf *text)
{
    return (struct imrec_field){name, strlen(name), text->p, text->n, IMREC_FIELD_BYTES};
}

enum imrec_status sample_names_add(struct sample_names *n, const struct container_kind *kind,
                                   struct imrec_record *r, struct imrec_error *err)
{
    if (kind != &webdataset_kind)
        return IMREC_OK;
    if (!IMREC_GROW(n->fields, n->room, (uint64_t)r->field_count + 2))
        return IMREC_NO_MEMORY(err, "no memory for fields");
    IMREC_TRY(sample_files_read(r, &n->key, &n->files, err));
    for (uint32_t i = 0; i < r->field_count; i++)
        n->fields[i] = r->fields[i];
    n->fields[r->field_count++] = sample_text_field(SAMPLE_KEY, &n->key);
    n->fields[r->field_count++] = sample_text_field(SAMPLE_FILES, &n->files);
    r->fields = n->fields;
    return IMREC_OK;
}

void sample_names_free(struct sample_names *n)
{
    buf_free(&n->key);
    buf_free(&n->files);
    imrec_free(n->fields);
    n->fields = NULL;
}

static bool read_u64(const uint8_t **p, const uint8_t *end, uint64_t *out)
{
    const uint8_t *begin = *p;
    uint64_t v = 0;
    for (; *p < end && **p >= '0' && **p <= '9'; ++*p) {
        const uint64_t digit = (uint64_t)(**p - '0');
        if (v > (UINT64_MAX - digit) / 10)
            return false;
        v = 10 * v + digit;
    }
    *out = v;
    return *p != begin;
}

bool sample_ids_read(struct bytes text, uint64_t *id, uint64_t *id2)
{
    const uint8_t *p = text.p, *const end = text.n != 0 ? text.p + text.n : text.p;
    uint64_t a, b;
    if (!read_u64(&p, end, &a) || p == end || *p++ != ' ' || !read_u64(&p, end, &b) || p != end)
        return false;
    *id = a;
    *id2 = b;
    return true;
}

bool sample_files_begin(struct sample_files *f, struct bytes text)
{
    *f = (struct sample_files){text, 0};
    const uint8_t *end = text.n != 0 ? memchr(text.p, ' ', text.n) : NULL;
    if (end == NULL || end == text.p || end - text.p > 9)
        return false;
    for (const uint8_t *p = text.p; p < end; p++) {
        if (*p < '0' || *p > '9') {
            f->image = UINT64_MAX;
            if (*p != '-' || end - text.p != 1)
                return false;
        } else {
            f->image = 10 * f->image + (uint64_t)(*p - '0');
        }
    }
    f->left = (struct bytes){end + 1, text.n - (size_t)(end + 1 - text.p)};
    return f->left.n != 0;
}

bool sample_files_next(struct sample_files *f, struct bytes *extension)
{
    if (f->left.n == 0)
        return false;
    const uint8_t *slash = memchr(f->left.p, '/', f->left.n);
    const size_t n = slash != NULL ? (size_t)(slash - f->left.p) : f->left.n;
    const size_t step = slash != NULL ? n + 1 : n;
    *extension = (struct bytes){f->left.p, n};
    f->left = (struct bytes){f->left.p + step, f->left.n - step};
    return true;
}
