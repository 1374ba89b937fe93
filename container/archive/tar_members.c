/* container/archive/tar_members.c */
#include "container/archive/tar_members.h"

#include "container/archive/tar_samples.h"

#include <string.h>

/* What extends the header after it. */
struct extended {
    struct bytes content[2];
    enum tar_type kind[2];
    uint32_t count;
};

static bool take_header(struct bytes left, struct extended *x, struct tar_member *m)
{
    if (tar_header_parse(left.p, &m->h, NULL) != IMREC_OK)
        return false;
    const bool extends = m->h.type == TAR_LONG_NAME || m->h.type == TAR_PAX;
    for (uint32_t i = 0; i < x->count && !extends; i++)
        if (tar_header_extend(&m->h, x->kind[i], x->content[i], NULL) != IMREC_OK)
            return false;
    if (m->h.size > left.n - TAR_BLOCK)
        return false;
    m->content = (struct bytes){left.p + TAR_BLOCK, (size_t)m->h.size};
    if (!extends) {
        x->count = 0;
    } else if (x->count < 2) {
        x->content[x->count] = m->content;
        x->kind[x->count++] = m->h.type;
    }
    return true;
}

static bool has_extension(struct tar_member *m)
{
    const char *extension;
    (void)tar_key_bytes(m->h.name, &extension);
    const size_t n = extension != NULL ? strlen(extension) : 0;
    if (extension == NULL || n > m->h.written.n)
        return false;
    m->extension = (struct bytes){m->h.written.p + m->h.written.n - n, n};
    return true;
}

bool tar_members_next(struct bytes *left, struct tar_member *m)
{
    struct extended x = {.count = 0};
    while (left->n >= TAR_BLOCK) {
        if (!take_header(*left, &x, m))
            return false;
        const uint64_t step = TAR_BLOCK + tar_padded(m->h.size);
        left->p += step < left->n ? step : left->n;
        left->n -= step < left->n ? (size_t)step : left->n;
        if (m->h.type == TAR_FILE && has_extension(m))
            return true;
    }
    return false;
}
