/* tests/support/shards.h - shards made in code: random records, awkward ones among them. */
#ifndef IMREC_TESTS_SHARDS_H
#define IMREC_TESTS_SHARDS_H

#include "base/buf.h"
#include "formats/recordio/recordio.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* As ck_assert(), which writes to a file each time: for what is asked a million times. */
#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            ck_abort_msg("%s", #condition);                                                        \
    } while (0)

struct made_record {
    uint64_t begin, end; /* bytes of the shard */
    uint8_t *bytes;      /* the record itself */
    size_t n;
};

struct made_shard {
    struct buf file;
    struct made_record *records;
    size_t count;
};

struct dice { /* splitmix64 */
    uint64_t state;
};

static inline uint64_t dice_bits(struct dice *d)
{
    uint64_t z = d->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline uint64_t dice_below(struct dice *d, uint64_t n)
{
    return dice_bits(d) % n;
}

static inline void made_add(struct made_shard *s, const uint8_t *bytes, size_t n)
{
    struct made_record r = {.begin = s->file.n, .bytes = malloc(n + 1), .n = n};
    memcpy(r.bytes, bytes, n);
    if (recordio_frame((struct bytes){bytes, n}, &s->file, NULL) != IMREC_OK)
        abort();
    r.end = s->file.n;
    s->records = realloc(s->records, (s->count + 1) * sizeof(r));
    s->records[s->count++] = r;
}

/* `count` records of up to `most` bytes: some empty, some with magics at aligned places, some
 * a multiple of 4 long, some with bytes that look like a head at unaligned places. */
static inline struct made_shard made_shard(struct dice *d, size_t count, size_t most)
{
    static const uint8_t head[8] = {0x0a, 0x23, 0xd7, 0xce, 4, 0, 0, 0};
    struct made_shard s = {.file = BUF_INIT((size_t)1 << 32)};
    uint8_t *bytes = malloc(most + 16);
    for (size_t i = 0; i < count; i++) {
        const uint64_t kind = dice_below(d, 8);
        const size_t n =
            kind == 0 ? 0 : (size_t)dice_below(d, most + 1) & (kind == 1 ? ~(size_t)3 : ~(size_t)0);
        for (size_t k = 0; k < n; k++)
            bytes[k] = (uint8_t)(dice_bits(d) >> 56);
        for (size_t k = 0; kind >= 5 && n >= 16 && k < 1 + n / 200; k++) {
            const size_t at = (size_t)dice_below(d, n - 8);
            memcpy(bytes + (kind == 5 ? at : at & ~(size_t)3), head, 8);
        }
        made_add(&s, bytes, n);
    }
    free(bytes);
    return s;
}

static inline void made_free(struct made_shard *s)
{
    for (size_t i = 0; i < s->count; i++)
        free(s->records[i].bytes);
    free(s->records);
    buf_free(&s->file);
    *s = (struct made_shard){0};
}
#endif
