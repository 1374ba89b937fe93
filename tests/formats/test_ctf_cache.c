/* tests/formats/test_ctf_cache.c - an index as bytes and back, and bytes that lie. */
#include "formats/crc32c.h"
#include "formats/ctf/ctf_cache.h"
#include "tests/support/ctf_text.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdio.h>

enum { LINES = 60, CHUNK_BYTES = 64 };

static struct ctf_text text;
static struct ctf_index_options options;
static struct ctf_cache_facts facts;
static uint8_t *file; /* a whole cache */
static size_t file_bytes;
static char lines[LINES * 24];

/* Sequences of 1 to 3 lines. */
static void setup(void)
{
    const struct stream_info stream = {"a", "a", STREAM_DENSE, STREAM_FLOAT, 1, false};
    const struct ctf_parse_options po = {.name = "t.ctf", .stream = &stream, .streams = 1};
    size_t n = 0;
    for (unsigned i = 0; i < LINES; i++)
        n += (size_t)snprintf(lines + n, sizeof(lines) - n, "%u |a %u\n", 7 * (i * i / 90), i);
    ck_assert_int_eq(ctf_text_open(&text, lines, n, &po, CHUNK_BYTES, 1, NULL), IMREC_OK);
    options = (struct ctf_index_options){.name = "t.ctf",
                                         .size = n,
                                         .main_alias = NULL,
                                         .skip_sequence_ids = false,
                                         .chunk_bytes = CHUNK_BYTES};
    facts = (struct ctf_cache_facts){&options, 1234567890123456789u, 0xdeadbeef};
    const size_t head = ctf_cache_head_bytes(&options);
    const size_t table = (size_t)text.index.chunks * CTF_CACHE_CHUNK_BYTES;
    file_bytes = head + table + (size_t)text.index.sequences * CTF_CACHE_SEQUENCE_BYTES;
    file = malloc(file_bytes);
    ctf_cache_write_table(&text.index, file + head);
    ctf_cache_write_head(&text.index, &facts, crc32c(0, file + head, table), file);
    ctf_cache_write_sequences(text.index.sequence, (size_t)text.index.sequences,
                              file + head + table);
}

static void teardown(void)
{
    free(file);
    ctf_text_close(&text);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

struct read_back {
    struct ctf_cache place;
    struct ctf_chunk chunk[LINES];
    uint32_t crc[LINES];
    struct ctf_sequence sequence[LINES];
};

/* Why the file cannot be used, NULL: it can. */
static const char *read_all(struct read_back *r)
{
    const char *why = ctf_cache_read_head(file, &facts, file_bytes, &r->place);
    if (why == NULL)
        why = ctf_cache_read_table(&r->place, file + r->place.table_at, options.size, r->chunk,
                                   r->crc);
    for (uint64_t i = 0; why == NULL && i < r->place.chunks; i++)
        why = ctf_cache_read_chunk(&r->chunk[i], r->crc[i],
                                   file + r->place.sequences_at +
                                       r->chunk[i].first * CTF_CACHE_SEQUENCE_BYTES,
                                   r->sequence + r->chunk[i].first);
    return why;
}

START_TEST(an_index_comes_back_as_it_was)
{
    struct read_back r;
    const char *why = read_all(&r);
    ck_assert_msg(why == NULL, "%s", why);
    ck_assert_uint_gt(text.index.chunks, 3);
    ck_assert_uint_eq(r.place.chunks, text.index.chunks);
    ck_assert_uint_eq(r.place.samples, text.index.samples);
    ck_assert_uint_eq(r.place.sequences, text.index.sequences);
    for (uint64_t i = 0; i < r.place.sequences; i++) {
        const struct ctf_sequence *a = &r.sequence[i], *b = &text.index.sequence[i];
        ck_assert(a->key == b->key && a->offset == b->offset && a->bytes == b->bytes);
        ck_assert_uint_eq(a->length, b->length);
    }
    for (uint64_t i = 0; i < r.place.chunks; i++) {
        const struct ctf_chunk *a = &r.chunk[i], *b = &text.index.chunk[i];
        ck_assert(a->first == b->first && a->offset == b->offset && a->bytes == b->bytes);
        ck_assert(a->sequences == b->sequences && a->samples == b->samples && a->line == b->line);
    }
}
END_TEST

START_TEST(the_bytes_are_as_documented)
{
    ck_assert(memcmp(file,
                     "\x89"
                     "CTF-IDX\1\0\0\0\x60\0\0\0",
                     16) == 0);
    ck_assert_uint_eq(load_le64(file + 16), options.size);
    ck_assert_uint_eq(load_le64(file + 24), facts.modified);
    ck_assert_uint_eq(load_le32(file + 32), 0xdeadbeef);
    ck_assert_uint_eq(load_le32(file + 36), 0);
    ck_assert_uint_eq(load_le64(file + 40), CHUNK_BYTES);
    ck_assert_uint_eq(load_le64(file + 56), text.index.sequences);
    ck_assert_uint_eq(load_le32(file + 88), crc32c(0, file, 88));
}
END_TEST

START_TEST(every_changed_byte_is_noticed)
{
    struct read_back r;
    for (size_t i = 0; i < file_bytes; i++) {
        const size_t head = ctf_cache_head_bytes(&options);
        if (i >= head - 4 && i < head)
            continue; /* padding behind the checksum */
        file[i] ^= 1 + (uint8_t)(i % 255);
        ck_assert_msg(read_all(&r) != NULL, "byte %zu", i);
        file[i] ^= 1 + (uint8_t)(i % 255);
    }
    ck_assert_ptr_null(read_all(&r));
}
END_TEST

START_TEST(another_length_of_the_file_is_noticed)
{
    struct read_back r;
    ck_assert_ptr_nonnull(ctf_cache_read_head(file, &facts, file_bytes - 1, &r.place));
    ck_assert_ptr_nonnull(ctf_cache_read_head(file, &facts, file_bytes + 1, &r.place));
    ck_assert_ptr_nonnull(ctf_cache_read_head(file, &facts, 0, &r.place));
}
END_TEST

START_TEST(a_cache_is_good_only_for_what_it_was_made_of)
{
    struct read_back r;
    options.size++;
    ck_assert_str_eq(read_all(&r), "the text had another size");
    options.size--;
    facts.modified++;
    ck_assert_str_eq(read_all(&r), "the text was changed at another time");
    facts.modified--;
    facts.sample++;
    ck_assert_str_eq(read_all(&r), "the text had other content");
    facts.sample--;
    options.chunk_bytes++;
    ck_assert_str_eq(read_all(&r), "it was made with other options");
    options.chunk_bytes--;
    options.skip_sequence_ids = true;
    ck_assert_str_eq(read_all(&r), "it was made with other options");
    options.skip_sequence_ids = false;
    ck_assert_ptr_null(read_all(&r));
}
END_TEST

START_TEST(the_stream_that_defines_the_size_is_part_of_it)
{
    uint8_t head[128];
    struct ctf_cache c;
    options.main_alias = "features";
    const size_t n = ctf_cache_head_bytes(&options);
    ck_assert_uint_eq(n, 88 + 8 + 8);
    ctf_cache_write_head(&text.index, &facts, 0, head);
    const uint64_t all = n + text.index.chunks * CTF_CACHE_CHUNK_BYTES +
                         text.index.sequences * CTF_CACHE_SEQUENCE_BYTES;
    ck_assert_ptr_null(ctf_cache_read_head(head, &facts, all, &c));
    options.main_alias = "featureS";
    ck_assert_str_eq(ctf_cache_read_head(head, &facts, all, &c), "it was made with other options");
    options.main_alias = "feature";
    ck_assert_str_eq(ctf_cache_read_head(head, &facts, all, &c), "it was made with other options");
    options.main_alias = ""; /* no alias, but not none */
    ck_assert_str_eq(ctf_cache_read_head(head, &facts, all, &c), "it was made with other options");
}
END_TEST

START_TEST(the_inputs_that_count_are_part_of_it)
{
    static const char *const other = "it was made with other options";
    struct stream_info known[] = {{.alias = "x"}, {.alias = "yz"}};
    uint8_t head[128];
    struct ctf_cache c;
    options.main_alias = "m";
    options.known = known;
    options.known_streams = 2;
    ck_assert_uint_eq(ctf_cache_head_bytes(&options), 88 + 8 + 8); /* "m\nx\nyz" */
    ctf_cache_write_head(&text.index, &facts, 0, head);
    const uint64_t all = 104 + text.index.chunks * CTF_CACHE_CHUNK_BYTES +
                         text.index.sequences * CTF_CACHE_SEQUENCE_BYTES;
    ck_assert_ptr_null(ctf_cache_read_head(head, &facts, all, &c));
    known[1].alias = "ya";
    ck_assert_str_eq(ctf_cache_read_head(head, &facts, all, &c), other);
    known[0].alias = "x\ny"; /* no such name can be, but a longer list */
    known[1].alias = "";
    ck_assert_str_eq(ctf_cache_read_head(head, &facts, all, &c), other);
    options.known = NULL;
    ck_assert_str_eq(ctf_cache_read_head(head, &facts, all, &c), other);
}
END_TEST

/* A head with a right checksum and a table of 48 * n bytes for one chunk. */
static const char *lie_about(size_t at, uint64_t value)
{
    struct ctf_cache c;
    struct ctf_chunk chunk[LINES];
    uint32_t crc[LINES];
    const size_t head = ctf_cache_head_bytes(&options);
    const size_t table = (size_t)text.index.chunks * CTF_CACHE_CHUNK_BYTES;
    const uint64_t was = load_le64(file + at);
    store_le64(file + at, value);
    store_le32(file + 80, crc32c(0, file + head, table));
    store_le32(file + head - 8, crc32c(0, file, head - 8));
    const char *why = ctf_cache_read_head(file, &facts, file_bytes, &c);
    if (why == NULL)
        why = ctf_cache_read_table(&c, file + head, options.size, chunk, crc);
    store_le64(file + at, was);
    return why;
}

START_TEST(counts_that_lie_under_right_checksums_are_refused)
{
    const size_t head = ctf_cache_head_bytes(&options), second = head + CTF_CACHE_CHUNK_BYTES;
    const uint64_t n = text.index.sequences;
    ck_assert_ptr_null(lie_about(56, n));
    ck_assert_ptr_nonnull(lie_about(56, n + 1));
    ck_assert_ptr_nonnull(lie_about(56, UINT64_MAX / 24 + 2)); /* overflow */
    ck_assert_ptr_nonnull(lie_about(56, 0));
    ck_assert_ptr_nonnull(lie_about(64, text.index.samples + 1));
    ck_assert_ptr_nonnull(lie_about(72, 0));
    ck_assert_ptr_nonnull(lie_about(72, UINT64_MAX / 48 + 2));
    ck_assert_ptr_nonnull(lie_about(72, text.index.chunks + 1));
    for (size_t field = 0; field < 48; field += 8) {
        ck_assert_ptr_nonnull(lie_about(second + field, UINT64_MAX));
        ck_assert_msg(lie_about(second + field, load_le64(file + second + field) - 1) != NULL ||
                          field == 40,
                      "%zu", field);
    }
    ck_assert_ptr_nonnull(lie_about(second + 40, text.index.chunk[0].line));
}
END_TEST

START_TEST(sequences_that_lie_under_a_right_checksum_are_refused)
{
    const struct ctf_chunk *c = &text.index.chunk[1];
    uint8_t bytes[LINES * CTF_CACHE_SEQUENCE_BYTES];
    struct ctf_sequence out[LINES];
    const size_t n = c->sequences * CTF_CACHE_SEQUENCE_BYTES;
    ck_assert_uint_ge(c->sequences, 2);
    for (size_t field = 0; field < n; field += 4) {
        ctf_cache_write_sequences(text.index.sequence + c->first, c->sequences, bytes);
        ck_assert_ptr_null(ctf_cache_read_chunk(c, crc32c(0, bytes, n), bytes, out));
        store_le32(bytes + field, load_le32(bytes + field) + 1);
        const bool key = field % 24 < 8;
        ck_assert((ctf_cache_read_chunk(c, crc32c(0, bytes, n), bytes, out) == NULL) == key);
    }
}
END_TEST

START_TEST(sequences_are_read_where_they_stand)
{
    const struct ctf_chunk *c = &text.index.chunk[1];
    struct ctf_sequence s[LINES];
    const size_t n = c->sequences * CTF_CACHE_SEQUENCE_BYTES;
    ctf_cache_write_sequences(text.index.sequence + c->first, c->sequences, (uint8_t *)s);
    const uint32_t crc = crc32c(0, s, n);
    ck_assert_ptr_null(ctf_cache_read_chunk(c, crc, (const uint8_t *)s, s));
    ck_assert(memcmp(s, text.index.sequence + c->first, n) == 0);
}
END_TEST

START_TEST(samples_cover_small_texts_and_both_ends_of_large_ones)
{
    static const uint64_t sizes[] = {
        0, 1, 65535, 65536, 65537, 524287, 524288, 524289, (uint64_t)1 << 40, UINT64_MAX};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        uint64_t end = 0;
        for (uint32_t k = 0; k < CTF_CACHE_SAMPLES; k++) {
            size_t n;
            const uint64_t at = ctf_cache_sample(sizes[i], k, &n);
            ck_assert(at <= sizes[i] && n <= sizes[i] - at && n <= 65536);
            ck_assert(sizes[i] > 524288 || at == end); /* without a hole */
            ck_assert(k > 0 || at == 0);
            end = at + n;
        }
        ck_assert_uint_eq(end, sizes[i]);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ctf_cache");
    TCase *t = tcase_create("cache");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, an_index_comes_back_as_it_was);
    tcase_add_test(t, the_bytes_are_as_documented);
    tcase_add_test(t, every_changed_byte_is_noticed);
    tcase_add_test(t, another_length_of_the_file_is_noticed);
    tcase_add_test(t, a_cache_is_good_only_for_what_it_was_made_of);
    tcase_add_test(t, the_stream_that_defines_the_size_is_part_of_it);
    tcase_add_test(t, the_inputs_that_count_are_part_of_it);
    tcase_add_test(t, counts_that_lie_under_right_checksums_are_refused);
    tcase_add_test(t, sequences_that_lie_under_a_right_checksum_are_refused);
    tcase_add_test(t, sequences_are_read_where_they_stand);
    tcase_add_test(t, samples_cover_small_texts_and_both_ends_of_large_ones);
    suite_add_tcase(s, t);
    return suite_run(s);
}
