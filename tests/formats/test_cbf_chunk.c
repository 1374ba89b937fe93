/* tests/formats/test_cbf_chunk.c - what is dropped of a damaged chunk, and what is told of it. */
#include "base/alloc.h"
#include "formats/cbf/index_check.h"
#include "tests/support/cbf_random.h"
#include "tests/support/suite.h"

#include <stdio.h>

/* Three sequences of one sparse stream (dim 10, one sample of two values each) and one dense one
 * (dim 1, one sample). In the chunk: 12 bytes of lengths, then 3 * 28, then 3 * 8. */
#define SPARSE_AT(k) (12u + 12u + 28u * (k))
#define SPARSE_INDEX 16u /* of the first index in a sequence: N, NNZ, two values before it */
#define SPARSE_COUNT 24u
#define DENSE_AT(k)  (12u + 12u + 84u + 8u * (k))
#define CHUNK_BYTES  (12u + 84u + 24u)

static struct buf small_file(void)
{
    static const struct stream_info info[2] = {
        {.name = "words", .storage = STREAM_SPARSE, .dim = 10}, {.name = "label", .dim = 1}};
    static const uint64_t sparse_at[4] = {0, 28, 56, 84}, dense_at[4] = {0, 8, 16, 24};
    static const uint32_t length[3] = {1, 1, 1};
    struct buf words = BUF_INIT(1000), label = BUF_INIT(1000), out = BUF_INIT(1000);
    for (uint32_t k = 0; k < 3; k++) {
        const uint32_t sequence[7] = {1, 2, 0x3f800000, 0x40000000, k, 9 - k, 2};
        for (int i = 0; i < 7; i++)
            random_u32(&words, sequence[i]);
        random_u32(&label, 1);
        random_u32(&label, 0x3f800000 + k);
    }
    const struct chunk_stream stream[2] = {{words.p, sparse_at}, {label.p, dense_at}};
    const struct sequence_chunk c = {
        .sequences = 3, .streams = 2, .length = length, .samples = 3, .stream = stream};
    struct cbf_writer *w;
    ck_assert_int_eq(cbf_writer_new(info, 2, 0, cbf_to_buf, &out, &w, NULL), IMREC_OK);
    ck_assert_int_eq(cbf_writer_add(w, &c, NULL), IMREC_OK);
    ck_assert_int_eq(cbf_writer_finish(w, NULL), IMREC_OK);
    cbf_writer_free(w);
    buf_free(&words);
    buf_free(&label);
    return out;
}

struct told {
    unsigned faults, lost, stop_at;
    struct cbf_fault last;
    uint64_t offset;
    char message[512];
};

static enum imrec_status note(void *user, const struct cbf_fault *f, struct imrec_error *err)
{
    struct told *t = user;
    t->faults++;
    t->lost += f->lost;
    t->last = *f;
    t->offset = err->offset;
    snprintf(t->message, sizeof(t->message), "%s", err->message);
    return t->faults == t->stop_at ? err->status : IMREC_OK;
}

static enum imrec_status
parse(const struct buf *file, struct told *told, struct cbf_chunk *c, struct imrec_error *err)
{
    struct cbf_header h;
    const struct bytes bytes = {file->p, file->n};
    const struct cbf_reading how = {.on_fault = note, .user = told};
    ck_assert_int_eq(cbf_open(bytes, &h, NULL), IMREC_OK);
    ck_assert_uint_eq(h.chunk[0].bytes, CHUNK_BYTES);
    const enum imrec_status st = cbf_chunk_parse(&h, 0, cbf_chunk_bytes(bytes, &h, 0), 100,
                                                 told != NULL ? &how : NULL, c, err);
    cbf_header_free(&h);
    return st;
}

static const struct damage {
    uint32_t at, value; /* a word of the file, and what it becomes */
    bool whole_chunk;
    uint32_t sequence;
    uint64_t offset;
    const char *message;
} damages[] = {
    {SPARSE_AT(1) + SPARSE_INDEX, 10, false, 1, SPARSE_AT(1) + SPARSE_INDEX,
     "stream 'words', sequence 101: index 10, it must be in [0, 10)"},
    {SPARSE_AT(0) + SPARSE_INDEX + 4, (uint32_t)-1, false, 0, SPARSE_AT(0) + SPARSE_INDEX + 4,
     "stream 'words', sequence 100: index -1, it must be in [0, 10)"},
    {SPARSE_AT(2) + SPARSE_COUNT, 3, false, 2, SPARSE_AT(2) + SPARSE_COUNT,
     "stream 'words', sequence 102: sample 0 has 3 values, it must have 0 to 2, what is left of "
     "NNZ 2"},
    {SPARSE_AT(2) + SPARSE_COUNT, 1, false, 2, SPARSE_AT(2) + SPARSE_COUNT,
     "stream 'words', sequence 102: the values of its 1 samples sum to 1, NNZ is 2"},
    {SPARSE_AT(1) + 4, (uint32_t)-2, true, 0, SPARSE_AT(1) + 4,
     "stream 'words', sequence 101: NNZ -2, it must be in [0, 8] to fit chunk 0"},
    {SPARSE_AT(1), 1000, true, 0, SPARSE_AT(1),
     "stream 'words', sequence 101: number of samples 1000, it must be in [0, 18] to fit chunk 0"},
    {DENSE_AT(2), 2, true, 0, DENSE_AT(2),
     "stream 'label', sequence 102: number of samples 2, it must be in [0, 1] to fit chunk 0"},
    {DENSE_AT(2), 0, true, 0, DENSE_AT(2) + 4,
     "the 3 sequences of chunk 0 end here, 4 bytes before the chunk does"},
    {12, 5, true, 0, 12 + CHUNK_BYTES + 16 + 15 + 15 + 12,
     "the entry of chunk 0 says 3 samples, the lengths of its 3 sequences sum to 7"},
};
#define DAMAGES (int)(sizeof(damages) / sizeof(*damages))

START_TEST(damage_is_named_with_its_byte_and_bound) /* loop over damages */
{
    const struct damage *d = &damages[_i];
    struct buf file = small_file();
    struct cbf_chunk c = {0};
    struct imrec_error err = {0};
    store_le32(file.p + d->at, d->value);
    ck_assert_int_eq(parse(&file, NULL, &c, &err), IMREC_ERR_CORRUPT);
    ck_assert_str_eq(err.message, d->message);
    ck_assert_uint_eq(err.offset, d->offset);
    cbf_chunk_free(&c);
    buf_free(&file);
}
END_TEST

START_TEST(damage_costs_one_fault_and_what_is_lost_is_taken_out) /* loop over damages */
{
    const struct damage *d = &damages[_i];
    struct buf file = small_file();
    struct cbf_chunk c = {0};
    struct told told = {0};
    store_le32(file.p + d->at, d->value);
    ck_assert_int_eq(parse(&file, &told, &c, NULL), IMREC_OK);
    ck_assert_uint_eq(told.faults, 1);
    ck_assert(told.last.whole_chunk == d->whole_chunk && told.last.sequence == d->sequence);
    ck_assert_str_eq(told.message, d->message);
    ck_assert_uint_eq(c.lost, d->whole_chunk ? 3 : 1);
    ck_assert_uint_eq(c.view.sequences, 3 - c.lost);
    ck_assert_uint_eq(c.view.samples, c.view.sequences);
    for (uint32_t at = 0, k = 0; at < c.view.sequences; at++, k++) {
        const uint8_t *label = c.view.stream[1].bytes + c.view.stream[1].offset[at];
        const uint8_t *words = c.view.stream[0].bytes + c.view.stream[0].offset[at];
        k += k == d->sequence;
        ck_assert_uint_eq(c.view.key[at], 100 + k);
        ck_assert_uint_eq(load_le32(label + 4), 0x3f800000 + k);
        ck_assert_uint_eq(load_le32(words + SPARSE_INDEX), k);
        ck_assert_uint_eq(c.view.stream[0].offset[at + 1], 28 * (uint64_t)(at + 1));
    }
    cbf_chunk_free(&c);
    buf_free(&file);
}
END_TEST

START_TEST(the_callback_decides_which_fault_is_the_last)
{
    for (unsigned stop = 1; stop <= 3; stop++) {
        struct buf file = small_file();
        struct cbf_chunk c = {0};
        struct told told = {.stop_at = stop};
        struct imrec_error err = {0};
        for (uint32_t k = 0; k < 3; k++)
            store_le32(file.p + SPARSE_AT(k) + SPARSE_INDEX, 77);
        ck_assert_int_eq(parse(&file, &told, &c, &err), IMREC_ERR_CORRUPT);
        ck_assert_uint_eq(told.faults, stop);
        ck_assert_uint_eq(err.offset, SPARSE_AT(stop - 1) + SPARSE_INDEX);
        cbf_chunk_free(&c);
        buf_free(&file);
    }
}
END_TEST

START_TEST(a_chunk_may_lose_all_its_sequences)
{
    struct buf file = small_file();
    struct cbf_chunk c = {0};
    struct told told = {0};
    for (uint32_t k = 0; k < 3; k++)
        store_le32(file.p + SPARSE_AT(k) + SPARSE_INDEX, 77);
    ck_assert_int_eq(parse(&file, &told, &c, NULL), IMREC_OK);
    ck_assert_uint_eq(told.lost, 3);
    ck_assert_uint_eq(c.view.sequences + c.view.samples, 0);
    ck_assert_uint_eq(c.view.stream[0].offset[0], 0);
    cbf_chunk_free(&c);
    buf_free(&file);
}
END_TEST

START_TEST(memory_is_used_again_and_its_lack_is_an_error)
{
    struct buf file = small_file();
    struct cbf_chunk c = {0};
    const long before = imrec_alloc_live();
    long failed = 0;
    for (;; failed++) {
        struct cbf_header h;
        const struct bytes bytes = {file.p, file.n};
        imrec_alloc_fail_after(failed);
        enum imrec_status st = cbf_open(bytes, &h, NULL);
        if (st == IMREC_OK)
            st = cbf_chunk_parse(&h, 0, cbf_chunk_bytes(bytes, &h, 0), 0, NULL, &c, NULL);
        imrec_alloc_fail_after(-1);
        cbf_header_free(&h);
        if (st == IMREC_OK)
            break;
        ck_assert_int_eq(st, IMREC_ERR_NO_MEMORY);
        cbf_chunk_free(&c);
    }
    ck_assert_int_ge(failed, 6);
    imrec_alloc_fail_after(4); /* the header's own; a second chunk asks for nothing */
    ck_assert_int_eq(parse(&file, NULL, &c, NULL), IMREC_OK);
    imrec_alloc_fail_after(-1);
    cbf_chunk_free(&c);
    ck_assert_int_eq(imrec_alloc_live(), before);
    buf_free(&file);
}
END_TEST

START_TEST(every_variant_finds_the_largest_index_and_the_sum)
{
    uint8_t room[4 * 300 + 1];
    struct random_corpus r = {.state = 5};
    for (size_t v = 1; v < index_variant_count; v++) {
        if (!cpu_has(index_variants[v].level))
            continue;
        for (size_t n = 0; n < 300; n++) {
            for (size_t i = 0; i < n; i++)
                store_le32(room + 1 + 4 * i, random_below(&r, UINT32_MAX) << random_below(&r, 9));
            const uint8_t *p = room + 1; /* not aligned */
            ck_assert_uint_eq(index_variants[v].largest(p, n), index_variants[0].largest(p, n));
            ck_assert_uint_eq(index_variants[v].sum(p, n), index_variants[0].sum(p, n));
            ck_assert_uint_eq(index_largest(p, n), index_variants[0].largest(p, n));
            ck_assert_uint_eq(index_sum(p, n), index_variants[0].sum(p, n));
        }
    }
}
END_TEST

/* ---- a chunk that is read while it is walked ---------------------------------------------- */

#define LONG_SEQUENCES 9000u /* of 140 bytes: several steps */

static struct buf long_file(void)
{
    static const struct stream_info info = {.name = "x", .storage = STREAM_SPARSE, .dim = 1000};
    static uint64_t at[LONG_SEQUENCES + 1];
    static uint32_t length[LONG_SEQUENCES];
    struct buf body = BUF_INIT(1 << 24), out = BUF_INIT(1 << 24);
    for (uint32_t k = 0; k < LONG_SEQUENCES; k++) {
        at[k] = body.n;
        length[k] = 1;
        random_u32(&body, 1);
        random_u32(&body, 16);
        for (uint32_t i = 0; i < 32; i++) /* values, indices */
            random_u32(&body, i < 16 ? k : (k + i) % 1000);
        random_u32(&body, 16);
    }
    at[LONG_SEQUENCES] = body.n;
    const struct chunk_stream stream = {body.p, at};
    const struct sequence_chunk c = {.sequences = LONG_SEQUENCES,
                                     .streams = 1,
                                     .length = length,
                                     .samples = LONG_SEQUENCES,
                                     .stream = &stream};
    struct cbf_writer *w;
    ck_assert_int_eq(cbf_writer_new(&info, 1, 0, cbf_to_buf, &out, &w, NULL), IMREC_OK);
    ck_assert_int_eq(cbf_writer_add(w, &c, NULL), IMREC_OK);
    ck_assert_int_eq(cbf_writer_finish(w, NULL), IMREC_OK);
    cbf_writer_free(w);
    buf_free(&body);
    return out;
}

struct slow_reader {
    struct bytes all;
    uint8_t *to;
    size_t have;
    unsigned calls, fails_at;
};

static enum imrec_status read_on(void *user, size_t upto, struct imrec_error *err)
{
    struct slow_reader *r = user;
    ck_assert_uint_gt(upto, r->have);
    ck_assert_uint_le(upto, r->all.n);
    if (++r->calls == r->fails_at)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, 7, "the disk is gone");
    memcpy(r->to + r->have, r->all.p + r->have, upto - r->have);
    r->have = upto;
    return IMREC_OK;
}

/* fails_at 0: never. What has not been read yet is made of bytes that would be refused. */
static enum imrec_status
parse_slowly(const struct buf *file, unsigned fails_at, unsigned *calls, struct cbf_chunk *c)
{
    struct cbf_header h;
    struct imrec_error err = {0};
    const struct bytes bytes = {file->p, file->n};
    ck_assert_int_eq(cbf_open(bytes, &h, NULL), IMREC_OK);
    struct slow_reader r = {.all = cbf_chunk_bytes(bytes, &h, 0), .fails_at = fails_at};
    const struct cbf_reading how = {.more = read_on, .user = &r};
    r.to = imrec_zalloc(r.all.n, 1);
    memset(r.to, 0xff, r.all.n);
    const enum imrec_status st =
        cbf_chunk_parse(&h, 0, (struct bytes){r.to, r.all.n}, 0, &how, c, &err);
    if (st == IMREC_OK)
        ck_assert_mem_eq(r.to, r.all.p, r.all.n);
    else
        ck_assert_str_eq(err.message, "the disk is gone");
    *calls = r.calls;
    imrec_free(r.to);
    cbf_header_free(&h);
    return st;
}

START_TEST(a_chunk_is_walked_over_while_it_is_read)
{
    struct buf file = long_file();
    struct cbf_chunk c = {0};
    unsigned calls, some;
    ck_assert_int_eq(parse_slowly(&file, 0, &calls, &c), IMREC_OK);
    ck_assert_uint_eq(c.view.sequences, LONG_SEQUENCES);
    ck_assert_uint_gt(calls, 3);
    for (unsigned k = 1; k <= calls; k++)
        ck_assert_int_eq(parse_slowly(&file, k, &some, &c), IMREC_ERR_CORRUPT);
    cbf_chunk_free(&c);
    buf_free(&file);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cbf chunk");
    TCase *tc = tcase_create("chunk");
    tcase_add_loop_test(tc, damage_is_named_with_its_byte_and_bound, 0, DAMAGES);
    tcase_add_loop_test(tc, damage_costs_one_fault_and_what_is_lost_is_taken_out, 0, DAMAGES);
    tcase_add_test(tc, the_callback_decides_which_fault_is_the_last);
    tcase_add_test(tc, a_chunk_may_lose_all_its_sequences);
    tcase_add_test(tc, memory_is_used_again_and_its_lack_is_an_error);
    tcase_add_test(tc, a_chunk_is_walked_over_while_it_is_read);
    tcase_add_test(tc, every_variant_finds_the_largest_index_and_the_sum);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
