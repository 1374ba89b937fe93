/* tests/support/huge_set.h - sets of any number of records whose bytes are computed when they are
 * read: shards and binary indexes of the store huge://.
 *
 *     huge_begin(records, shards, index_blocks_flags);    path_imgrec = huge_uris()
 *
 * Record i has the id and key i, the label i % 1000 and always the same image. Of record i with i %
 * 1000 == 17 the magic is damaged. */
#ifndef IMREC_TESTS_HUGE_SET_H
#define IMREC_TESTS_HUGE_SET_H

#include "base/buf.h"
#include "codec/codec.h"
#include "formats/crc32c.h"
#include "formats/recordio/image_record.h"
#include "formats/recordio/index_blocks.h"
#include "formats/recordio/recordio.h"
#include "imrec/store.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    HUGE_SHARDS = 16,
    HUGE_ID_AT = 16
}; /* of a framed record: the id, after head, flag, label */

static struct {
    struct buf record; /* framed */
    uint64_t records;
    uint32_t shards;
    uint8_t head[HUGE_SHARDS][INDEX_BLOCKS_HEAD_BYTES];
    char uris[HUGE_SHARDS * 24];
    bool registered;
} huge;

static inline uint64_t huge_first(uint32_t shard)
{
    return huge.records / huge.shards * shard; /* the last shard has the rest, too */
}

static inline uint64_t huge_count(uint32_t shard)
{
    return (shard + 1 == huge.shards ? huge.records : huge_first(shard + 1)) - huge_first(shard);
}

/* p[0..n) of what repeats every `size` bytes from `offset` on, piece by piece. */
static inline void huge_pieces(uint64_t offset, uint8_t *p, size_t n, size_t size, uint32_t shard,
                               void (*piece)(uint32_t shard, uint64_t i, uint8_t *whole))
{
    uint8_t whole[4096];
    while (n > 0) {
        const size_t from = (size_t)(offset % size), left = size - from, take = n < left ? n : left;
        piece(shard, offset / size, whole);
        memcpy(p, whole + from, take);
        offset += take;
        p += take;
        n -= take;
    }
}

static inline void huge_record(uint32_t shard, uint64_t i, uint8_t *whole)
{
    const uint64_t id = huge_first(shard) + i;
    memcpy(whole, huge.record.p, huge.record.n);
    store_le_float(whole + HUGE_ID_AT - 4, (float)(id % 1000));
    store_le64(whole + HUGE_ID_AT, id);
    whole[0] ^= id % 1000 == 17;
}

static inline void huge_entry(uint32_t shard, uint64_t i, uint8_t *whole)
{
    store_le64(whole, i * huge.record.n);
    store_le64(whole + 8, huge_first(shard) + i);
}

static inline struct index_blocks huge_blocks(uint32_t shard)
{
    return (struct index_blocks){.count = huge_count(shard)};
}

/* The checksum is computed where it is asked for. */
static inline void huge_index(uint32_t shard, uint64_t offset, uint8_t *to, size_t n)
{
    uint8_t all[INDEX_BLOCKS_BLOCK_BYTES], seed[8];
    const struct index_blocks h = huge_blocks(shard);
    for (; n > 0 && offset < INDEX_BLOCKS_HEAD_BYTES; n--)
        *to++ = huge.head[shard][offset++];
    while (n > 0) {
        const uint64_t at = offset - INDEX_BLOCKS_HEAD_BYTES, k = at / INDEX_BLOCKS_BLOCK_BYTES;
        const size_t from = (size_t)(at % INDEX_BLOCKS_BLOCK_BYTES),
                     entries = index_blocks_entries(&h, k) * INDEX_BLOCKS_ENTRY_BYTES,
                     take = n < entries + 4 - from ? n : entries + 4 - from;
        const uint64_t first = k * INDEX_BLOCKS_ENTRIES * INDEX_BLOCKS_ENTRY_BYTES;
        if (from + take <= entries) {
            huge_pieces(first + from, to, take, INDEX_BLOCKS_ENTRY_BYTES, shard, huge_entry);
        } else {
            huge_pieces(first, all, entries, INDEX_BLOCKS_ENTRY_BYTES, shard, huge_entry);
            store_le64(seed, k);
            store_le32(all + entries, crc32c(crc32c(0, seed, sizeof(seed)), all, entries));
            memcpy(to, all + from, take);
        }
        offset += take;
        to += take;
        n -= take;
    }
}

/* ---- the store ------------------------------------------------------------------------------ */

struct huge_object {
    uint32_t shard;
    bool index;
};

static inline enum imrec_status huge_open(void *user, const char *name, void **object,
                                          uint64_t *size, uint64_t *modified,
                                          struct imrec_error *err)
{
    char suffix[8];
    struct huge_object o;
    (void)user;
    (void)modified;
    if (sscanf(name, "%u.%7s", &o.shard, suffix) != 2 || o.shard >= huge.shards ||
        (strcmp(suffix, "rec") != 0 && strcmp(suffix, "idxb") != 0)) {
        err->sys_errno = ENOENT;
        return IMREC_ERR_IO;
    }
    o.index = suffix[0] == 'i';
    const struct index_blocks h = huge_blocks(o.shard);
    *size = o.index ? INDEX_BLOCKS_HEAD_BYTES + 16 * h.count + 4 * index_blocks_total(&h)
                    : h.count * huge.record.n;
    *object = malloc(sizeof(o));
    *(struct huge_object *)*object = o;
    return IMREC_OK;
}

static inline enum imrec_status
huge_read(void *user, void *object, uint64_t offset, void *to, size_t n, struct imrec_error *err)
{
    const struct huge_object *o = object;
    (void)user;
    (void)err;
    if (o->index)
        huge_index(o->shard, offset, to, n);
    else
        huge_pieces(offset, to, n, huge.record.n, o->shard, huge_record);
    return IMREC_OK;
}

static inline void huge_close(void *user, void *object)
{
    (void)user;
    free(object);
}

/* ---- the set -------------------------------------------------------------------------------- */

static inline void huge_image(void)
{
    uint8_t pixels[12 * 12 * 3];
    struct imrec_image image = {pixels, 36, 12, 12, 3};
    struct buf record = BUF_INIT(1 << 16);
    struct codec *c;
    struct bytes jpeg;
    const float label = 0;
    for (size_t i = 0; i < sizeof(pixels); i++)
        pixels[i] = (uint8_t)(i * 7);
    ck_assert_int_eq(codec_new(&c, NULL), IMREC_OK);
    ck_assert_int_eq(
        codec_encode_jpeg(c, &image, (struct codec_jpeg_how){.quality = 90}, &jpeg, NULL),
        IMREC_OK);
    ck_assert_int_eq(image_record_head(&record, &label, 1, false, 0, 0, NULL), IMREC_OK);
    ck_assert_int_eq(buf_append(&record, jpeg.p, jpeg.n, NULL), IMREC_OK);
    huge.record = BUF_INIT(4096);
    ck_assert_int_eq(recordio_frame((struct bytes){record.p, record.n}, &huge.record, NULL),
                     IMREC_OK);
    codec_free(c);
    buf_free(&record);
}

static inline void huge_begin(uint64_t records, uint32_t shards, uint32_t flags)
{
    static const struct imrec_store store = {
        .struct_size = sizeof(store), .open = huge_open, .read_at = huge_read, .close = huge_close};
    uint64_t hash = INDEX_BLOCKS_HASH_BEGIN;
    huge_image();
    huge.records = records;
    huge.shards = shards;
    huge.uris[0] = '\0';
    for (uint32_t s = 0; s < shards; s++) {
        struct index_blocks h = {.count = huge_count(s),
                                 .shard_bytes = huge_count(s) * huge.record.n,
                                 .hash_before = hash,
                                 .number = s,
                                 .flags = flags};
        uint8_t first[INDEX_BLOCKS_SHARD_HEAD];
        huge_pieces(0, first, sizeof(first), huge.record.n, s, huge_record);
        h.shard_crc = crc32c(0, first, sizeof(first));
        for (uint64_t i = 0; i < h.count; i++)
            hash = index_blocks_hash(hash, s,
                                     (struct index_entry){i * huge.record.n, huge_first(s) + i});
        h.hash_after = hash;
        index_blocks_write_head(&h, huge.head[s]);
        sprintf(huge.uris + strlen(huge.uris), "%shuge://%u.rec", s != 0 ? ";" : "", s);
    }
    ck_assert_int_eq(imrec_store_register("huge", &store, NULL, NULL), IMREC_OK);
}

static inline void huge_end(void)
{
    ck_assert_int_eq(imrec_store_unregister("huge", NULL), IMREC_OK);
    buf_free(&huge.record);
}
#endif
