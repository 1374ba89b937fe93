/* codec/self_check.c - rows of one decoder compared with those of another: of the first only a hash
 * of each is kept, or the image that they are in. */
#include "base/bytes.h"
#include "codec/format.h"

#include <string.h>

static uint64_t hash_of(const uint8_t *p, size_t n)
{
    uint64_t h = n, word = 0;
    for (; n >= sizeof(word); n -= sizeof(word), p += sizeof(word)) {
        memcpy(&word, p, sizeof(word));
        h = (h ^ word) * 0x9E3779B97F4A7C15u;
        h ^= h >> 32;
    }
    word = 0;
    memcpy(&word, p, n);
    return (h ^ word) * 0x9E3779B97F4A7C15u;
}

void self_check_row(void *self_check, uint32_t y, const uint8_t *row)
{
    struct self_check *s = self_check;
    s->hash[y] = hash_of(row, s->bytes);
    s->sink(s->context, y, row);
}

void self_check_compare_row(void *self_check, uint32_t y, const uint8_t *row)
{
    struct self_check *s = self_check;
    const bool same = s->made != NULL
                          ? memcmp(s->made->pixels + y * s->made->stride, row, s->bytes) == 0
                          : s->hash[y] == hash_of(row, s->bytes);
    if (!same && (!s->differs || y < s->row)) {
        s->differs = true;
        s->row = y;
    }
}
