/* tests/formats/test_index_blocks.c - .idxb: what is written is read; any other byte is refused. */
#include "base/alloc.h"
#include "formats/crc32c.h"
#include "formats/recordio/index_blocks.h"
#include "tests/support/guard.h"
#include "tests/support/suite.h"

enum { MOST = 2 * INDEX_BLOCKS_ENTRIES + 5, SMALL = 3 };

static uint8_t file[INDEX_BLOCKS_HEAD_BYTES + 3 * INDEX_BLOCKS_BLOCK_BYTES];
static struct index_entry was[MOST], is[INDEX_BLOCKS_ENTRIES];

static size_t make(uint64_t n)
{
    const struct index_blocks h = {
        .count = n, .shard_bytes = 16 * n, .hash_after = 7, .shard_crc = 0x1234, .number = 5};
    size_t bytes = INDEX_BLOCKS_HEAD_BYTES;
    index_blocks_write_head(&h, file);
    for (uint64_t i = 0; i < n; i++)
        was[i] = (struct index_entry){16 * i + 4 * (i % 3), UINT64_MAX - 7 * i};
    for (uint64_t k = 0; k < index_blocks_total(&h); k++)
        bytes += index_blocks_write(k, was + k * INDEX_BLOCKS_ENTRIES, index_blocks_entries(&h, k),
                                    file + index_blocks_begin(k));
    return bytes;
}

/* The bytes lie before a guard page. */
static enum imrec_status read_all(const uint8_t *p, size_t n, struct imrec_error *err)
{
    struct guarded g = guarded_copy(p, n);
    struct index_blocks h;
    const size_t head = n < INDEX_BLOCKS_HEAD_BYTES ? n : INDEX_BLOCKS_HEAD_BYTES;
    enum imrec_status st = index_blocks_read_head("a.idxb", (struct bytes){g.p, head}, n, &h, err);
    for (uint64_t k = 0; st == IMREC_OK && k < index_blocks_total(&h); k++) {
        const size_t in_block = index_blocks_entries(&h, k);
        st = index_blocks_read("a.idxb", &h, k, g.p + index_blocks_begin(k), is, err);
        if (st == IMREC_OK)
            ck_assert_mem_eq(is, was + k * INDEX_BLOCKS_ENTRIES, in_block * sizeof(*is));
    }
    guarded_free(g);
    return st;
}

static const uint64_t counts[] = {0,    1,   SMALL, INDEX_BLOCKS_ENTRIES - 1, INDEX_BLOCKS_ENTRIES,
                                  4097, MOST};

LOOP_TEST(reads_what_was_written, 0, COUNT(counts))
{
    struct imrec_error err;
    ck_assert_msg(read_all(file, make(counts[_i]), &err) == IMREC_OK, "%s", err.message);
}

TEST(every_flipped_bit_is_refused_with_a_place_in_the_file)
{
    const size_t n = make(SMALL);
    for (size_t bit = 0; bit < 8 * n; bit++) {
        struct imrec_error err = {0};
        file[bit / 8] ^= (uint8_t)(1u << bit % 8);
        ck_assert_msg(read_all(file, n, &err) == IMREC_ERR_CORRUPT, "bit %zu", bit);
        ck_assert_uint_le(err.offset, n);
        ck_assert_ptr_nonnull(strstr(err.message, "a.idxb: "));
        file[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

TEST(every_cut_and_a_byte_too_many_are_refused)
{
    const size_t n = make(SMALL);
    struct imrec_error err;
    for (size_t cut = 0; cut < n; cut++)
        ck_assert_int_eq(read_all(file, cut, &err), IMREC_ERR_CORRUPT);
    file[n] = 0;
    ck_assert_int_eq(read_all(file, n + 1, &err), IMREC_ERR_CORRUPT);
}

/* Headers whose checksum is right and whose fields are not. */
static const struct {
    uint32_t at, value;
    enum imrec_status status;
    const char *word;
} lies[] = {
    {8, 2, IMREC_ERR_UNSUPPORTED, "version 2"},
    {16, 1, IMREC_ERR_UNSUPPORTED, "entries of a block 1"},
    {20, 5, IMREC_ERR_UNSUPPORTED, "flags 0x5"},
    {20, 8, IMREC_ERR_UNSUPPORTED, "flags 0x8"},
    {20, 0x80000003, IMREC_ERR_UNSUPPORTED, "flags 0x80000003"},
    {24, 2, IMREC_ERR_CORRUPT, "an index of 2 entries has 100"},
    {28, 0x80000000, IMREC_ERR_CORRUPT, "records at most"},
    {32, 16, IMREC_ERR_CORRUPT, "a shard of 16 bytes has 2"},
    {36, 0x80000000, IMREC_ERR_CORRUPT, "a shard of"},
};

LOOP_TEST(a_header_that_lies_is_refused_by_its_field, 0, COUNT(lies))
{
    struct imrec_error err = {0};
    const size_t n = make(SMALL);
    store_le32(file + lies[_i].at, lies[_i].value);
    store_le32(file + 60, crc32c(0, file, 60));
    ck_assert_int_eq(read_all(file, n, &err), lies[_i].status);
    ck_assert_msg(strstr(err.message, lies[_i].word) != NULL, "%s", err.message);
}

static const struct {
    uint64_t offset; /* of the second of three entries; the others have 0 and 40 */
    const char *word;
} entries[] = {{18, "not a multiple of 4"},
               {0, "follows 0; they must ascend"},
               {44, "no record can begin at 44"},
               {48, "no record can begin at 48"}};

LOOP_TEST(an_entry_that_cannot_be_is_refused_by_its_offset, 0, COUNT(entries))
{
    const struct index_blocks h = {.count = SMALL, .shard_bytes = 48};
    struct index_entry e[SMALL] = {{0, 1}, {entries[_i].offset, 2}, {40, 3}};
    struct imrec_error err = {0};
    index_blocks_write(0, e, SMALL, file);
    ck_assert_int_eq(index_blocks_read("a.idxb", &h, 0, file, is, &err), IMREC_ERR_CORRUPT);
    ck_assert_msg(strstr(err.message, entries[_i].word) != NULL, "%s", err.message);
    ck_assert_uint_eq(err.offset, INDEX_BLOCKS_HEAD_BYTES + INDEX_BLOCKS_ENTRY_BYTES);
}

TEST(no_block_is_taken_for_another_one)
{
    struct imrec_error err = {0};
    const size_t n = make(MOST);
    memcpy(file + index_blocks_begin(0), file + index_blocks_begin(1), INDEX_BLOCKS_BLOCK_BYTES);
    ck_assert_int_eq(read_all(file, n, &err), IMREC_ERR_CORRUPT);
    ck_assert_ptr_nonnull(strstr(err.message, "checksum of block 0"));
}

TEST(an_index_of_all_records_begins_with_the_first_byte)
{
    const struct index_blocks h = {
        .count = 2, .shard_bytes = 48, .flags = INDEX_BLOCKS_COMPLETE | INDEX_BLOCKS_PLAIN};
    struct index_entry e[2] = {{4, 1}, {24, 2}};
    struct imrec_error err = {0};
    index_blocks_write(0, e, 2, file);
    ck_assert_int_eq(index_blocks_read("a.idxb", &h, 0, file, is, &err), IMREC_ERR_CORRUPT);
    ck_assert_ptr_nonnull(strstr(err.message, "its first one is at 4"));
    e[0].offset = 0;
    index_blocks_write(0, e, 2, file);
    ck_assert_int_eq(index_blocks_read("a.idxb", &h, 0, file, is, &err), IMREC_OK);
}

TEST(a_record_of_key_0_and_a_headers_length_may_be_metadata)
{
    const struct index_entry e[] = {{0, 1}, {40, 0}, {120, 2}, {160, 0}};
    ck_assert_uint_eq(index_blocks_plain(e, 0, 0), INDEX_BLOCKS_PLAIN);
    ck_assert_uint_eq(index_blocks_plain(e, 3, 160), INDEX_BLOCKS_PLAIN); /* key 0 has 80 bytes */
    ck_assert_uint_eq(index_blocks_plain(e, 4, 199), INDEX_BLOCKS_PLAIN);
    ck_assert_uint_eq(index_blocks_plain(e, 4, 200), 0); /* the last one ends with the shard */
    ck_assert_uint_eq(index_blocks_plain(e + 1, 1, 80), 0);
}
