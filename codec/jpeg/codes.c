/* codec/jpeg/codes.c - the look-ups of a sequential image's Huffman tables. */
#include "codec/jpeg/codes.h"

#include <string.h>

static bool is_made(bool has, const struct huffman_spec *made, const struct huffman_spec *spec)
{
    return has && memcmp(made, spec, sizeof(*spec)) == 0;
}

bool codes_make(struct codes *c, const struct frame *f, uint32_t dc, uint32_t ac)
{
    if (!is_made(c->has_dc[dc], &c->made_dc[dc], &f->dc[dc])) {
        c->has_dc[dc] = huffman_make_dc(&c->dc[dc], &f->dc[dc]);
        c->made_dc[dc] = f->dc[dc];
    }
    if (!is_made(c->has_ac[ac], &c->made_ac[ac], &f->ac[ac])) {
        c->has_ac[ac] = huffman_make_ac(&c->ac[ac], &f->ac[ac]);
        c->made_ac[ac] = f->ac[ac];
    }
    return c->has_dc[dc] && c->has_ac[ac];
}
