/* tests/fuzz/fuzz_split.c - arbitrary bytes as the file of an input split: reading ends, bytes are
 * there, and of text all parts together, in chunks of any size, have the lines of the whole; a
 * position in the middle continues with what would have come.
 *
 * The first two bytes choose type, parts and chunks, the third where to stop; then the file. */
#include "base/bytes.h"
#include "imrec/input_split.h"
#include "storage/mem.h"
#include "tests/fuzz/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct sum { /* of what was delivered, in its order */
    uint64_t hash, records, errors;
};

static void add(struct sum *s, const struct imrec_split_bytes *b)
{
    const uint8_t *p = b->data;
    s->hash = (s->hash ^ b->offset) * 0x100000001b3u;
    for (size_t i = 0; i < b->size; i++)
        s->hash = (s->hash ^ p[i]) * 0x100000001b3u;
    s->records++;
}

/* Up to `most` records or errors more. False: there are no more. */
static bool take(struct imrec_input_split *s, bool chunks, uint64_t most, struct sum *sum)
{
    struct imrec_split_bytes b;
    for (uint64_t i = 0; i < most; i++) {
        const enum imrec_status st = chunks ? imrec_input_split_next_chunk(s, &b, NULL)
                                            : imrec_input_split_next(s, &b, NULL);
        if (st == IMREC_END)
            return false;
        must(st == IMREC_OK || st == IMREC_ERR_DATA);
        if (st == IMREC_OK)
            add(sum, &b);
        else
            sum->errors++;
    }
    return true;
}

static void resume(const struct imrec_input_split_options *o, uint64_t at, const struct sum *whole)
{
    struct imrec_input_split *s;
    struct sum sum = {0};
    char *place;
    must(imrec_input_split_open("mem://split", o, &s, NULL) == IMREC_OK);
    (void)take(s, false, at, &sum);
    must(imrec_input_split_position(s, &place, NULL) == IMREC_OK);
    imrec_input_split_rewind(s);
    struct sum other = {0};
    (void)take(s, true, UINT64_MAX, &other);
    must(imrec_input_split_restore(s, place, NULL) == IMREC_OK);
    (void)take(s, false, UINT64_MAX, &sum);
    must(sum.hash == whole->hash && sum.records == whole->records && sum.errors == whole->errors);
    imrec_input_split_position_free(place);
    imrec_input_split_close(s);
}

static struct sum parts(struct imrec_input_split_options o, uint64_t num_parts)
{
    struct imrec_input_split *s;
    struct sum sum = {0};
    o.part_index = 0;
    o.num_parts = num_parts;
    must(imrec_input_split_open("mem://split", &o, &s, NULL) == IMREC_OK);
    for (uint64_t i = 0; i < num_parts; i++) {
        must(imrec_input_split_reset_partition(s, i, num_parts, NULL) == IMREC_OK);
        must(!take(s, false, UINT64_MAX, &sum));
    }
    imrec_input_split_close(s);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct imrec_input_split_options o;
    struct imrec_input_split *s;
    if (size < 4)
        return 0;
    imrec_input_split_options_init(&o);
    o.type = (data[0] & 1) != 0 ? IMREC_SPLIT_RECORDIO : IMREC_SPLIT_TEXT;
    o.chunk_bytes = (uint64_t)4 << (data[0] >> 1) % 8;
    o.max_record_bytes = (data[0] & 16) != 0 ? o.chunk_bytes : 1 << 20;
    o.threads = 1;
    o.prefetch = 1;
    must(mem_put("split", data + 3, size - 3, NULL) == IMREC_OK);
    if (imrec_input_split_open("mem://split", &o, &s, NULL) == IMREC_OK) {
        imrec_input_split_close(s);
        const struct sum whole = parts(o, 1), some = parts(o, 1 + data[1] % 7);
        resume(&o, data[2], &whole);
        if (o.type == IMREC_SPLIT_TEXT && whole.errors == 0)
            must(some.hash == whole.hash && some.records == whole.records);
    }
    mem_clear();
    return 0;
}
