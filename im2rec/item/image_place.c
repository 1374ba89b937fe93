/* im2rec/item/image_place.c */
#include "im2rec/item/image_place.h"

#include "formats/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum imrec_status
image_place_write(const struct image_place *p, struct buf *out, struct imrec_error *err)
{
    char text[96];
    const int n =
        snprintf(text, sizeof(text), "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu32 "%s:", p->begin,
                 p->bytes, p->size, p->archive, p->example ? " e" : "");
    return buf_append(out, text, (size_t)n, err);
}

bool image_place_take(struct bytes *path, struct image_place *out)
{
    const uint8_t *colon = memchr(path->p, ':', path->n);
    struct bytes head = {path->p, colon != NULL ? (size_t)(colon - path->p) : 0};
    uint64_t v[4];
    for (size_t i = 0; i < 4; i++)
        if (!text_to_u64(text_word(&head), &v[i]))
            return false;
    const struct bytes word = text_word(&head);
    const bool example = word.n == 1 && word.p[0] == 'e';
    const struct bytes rest = {colon + 1, path->n - (size_t)(colon + 1 - path->p)};
    if ((word.n != 0 && !example) || text_word(&head).n != 0 || v[3] == 0 || v[3] >= rest.n ||
        rest.p[v[3]] != '/' || v[0] > v[2] || v[1] > v[2] - v[0])
        return false;
    *out = (struct image_place){(uint32_t)v[3], v[0], v[1], v[2], example};
    *path = rest;
    return true;
}
