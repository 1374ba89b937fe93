/* tests/im2rec/test_pack_cbf.c - packing into CNTK's binary format keeps the promises of records:
 * the same bytes from any number of workers and after any interruption, and what comes out again is
 * what went in. */
#include "tests/support/cbf_support.h"
#include "tests/support/packing.h"
#include "tests/support/suite.h"

static struct packing p;

static void setup(void)
{
    packing_make(&p, true);
    p.o.format = IMREC_PACK_CBF;
    p.o.cbf_chunk = 6000;
}

static void teardown(void)
{
    packing_remove(&p);
}

static void expect_packed(const char *name)
{
    ck_assert_msg(packing_run(&p, tmp_path(&p.dir, name)) == IMREC_OK, "%s", p.err.message);
}

static void expect_same_cbf(const char *a, const char *b)
{
    expect_same_file(&p, a, b, ".cbf");
    expect_same_file(&p, a, b, ".lst");
    expect_same_file(&p, a, b, ".classes.txt");
    expect_same_manifest(&p, a, b);
}

/* ---- reading -------------------------------------------------------------------------------- */

struct reading {
    struct bytes file;
    struct cbf_header h;
    struct cbf_chunk c;
    uint32_t chunk, at;
};

static void open_cbf(struct reading *r, const char *name)
{
    struct imrec_error err = {0};
    *r = (struct reading){.file = read_whole(tmp_path(&p.dir, name)), .chunk = UINT32_MAX};
    ck_assert_ptr_nonnull(r->file.p);
    ck_assert_msg(cbf_open(r->file, &r->h, &err) == IMREC_OK, "%s", err.message);
}

/* The next sequence: number r->at of r->c.view. */
static bool next_sequence(struct reading *r)
{
    if (r->chunk != UINT32_MAX && ++r->at < r->c.view.sequences)
        return true;
    if (++r->chunk == r->h.chunks)
        return false;
    struct imrec_error err = {0};
    ck_assert_msg(cbf_chunk_parse(&r->h, r->chunk, cbf_chunk_bytes(r->file, &r->h, r->chunk), 0,
                                  NULL, &r->c, &err) == IMREC_OK,
                  "%s", err.message);
    r->at = 0;
    return true;
}

static struct sequence_view stream(const struct reading *r, uint32_t i)
{
    return sequence_view(&r->c.view, i, r->at, &r->h.stream[i]);
}

static uint32_t word(const uint8_t *values, size_t i)
{
    float f;
    memcpy(&f, values + 4 * i, 4);
    return (uint32_t)f;
}

static void close_cbf(struct reading *r)
{
    cbf_chunk_free(&r->c);
    cbf_header_free(&r->h);
    free((void *)(uintptr_t)r->file.p);
}

CASE(.setup = setup, .teardown = teardown)

TEST(images_come_out_as_they_went_in_with_label_and_id)
{
    struct reading r;
    char line[64], name[80];
    p.o.resize = 0;
    p.o.pass_through = true;
    expect_packed("a.cbf");
    ck_assert_uint_eq(p.result.packed, MADE_GOOD);
    ck_assert_uint_eq(p.result.skipped, MADE_BAD);
    ck_assert(!is_there(&p, "a.cbf.idx.part") && !is_there(&p, "a.journal.part"));
    FILE *list = fopen(tmp_path(&p.dir, "a.lst"), "r");
    ck_assert_ptr_nonnull(list);
    open_cbf(&r, "a.cbf");
    ck_assert_uint_eq(r.h.streams, 4);
    ck_assert_uint_gt(r.h.chunks, 3);
    ck_assert_uint_eq(r.h.samples, r.h.sequences);
    while (next_sequence(&r)) {
        unsigned id;
        double label;
        ck_assert_int_eq(fscanf(list, "%u %lf %63s", &id, &label, line), 3);
        snprintf(name, sizeof(name), "source/%s", line);
        const struct bytes want = read_whole(tmp_path(&p.dir, name));
        const struct sequence_view image = stream(&r, 0), bytes = stream(&r, 1),
                                   hot = stream(&r, 2);
        const size_t n = (size_t)word(bytes.values, 0) * 65536 + word(bytes.values, 1);
        ck_assert_uint_eq(n, want.n);
        ck_assert_uint_eq(image.samples, (n + 3) / 4);
        ck_assert_mem_eq(image.values, want.p, n);
        for (size_t i = n; i < 4 * (size_t)image.samples; i++)
            ck_assert_uint_eq(image.values[i], 0);
        ck_assert_uint_eq(hot.nnz, 1);
        ck_assert_uint_eq(load_le32(hot.indices), (uint32_t)label);
        ck_assert_uint_eq(word(stream(&r, 3).values, 3), id);
        ck_assert_uint_eq(r.c.view.length[r.at], 1);
        free((void *)(uintptr_t)want.p);
    }
    ck_assert_uint_eq(r.h.sequences, MADE_GOOD);
    ck_assert_uint_eq(r.h.stream[2].dim, MADE_CLASSES);
    fclose(list);
    close_cbf(&r);
}

TEST(pixels_are_planes_of_floats_of_one_size)
{
    struct reading r;
    p.o.center_crop = p.o.pixels = true;
    expect_packed("a");
    open_cbf(&r, "a.cbf");
    ck_assert_uint_eq(r.h.stream[0].dim, 3 * 32 * 32);
    while (next_sequence(&r)) {
        const struct sequence_view v = stream(&r, 0);
        ck_assert_uint_eq(v.samples, 1);
        for (size_t i = 0; i < 3 * 32 * 32; i++) {
            float f;
            memcpy(&f, v.values + 4 * i, 4);
            ck_assert(f >= 0 && f <= 255 && f == (float)(int)f);
        }
    }
    ck_assert_uint_eq(r.h.sequences, MADE_GOOD);
    close_cbf(&r);
}

TEST(labels_of_a_list_are_dense_and_as_many_as_it_has)
{
    static const char text[] = "7\t1.5\t-2\tant/00.jpg\n65536\t3\t4\tbee/01.jpg\n";
    struct reading r;
    const struct imrec_pack_task task = {.list =
                                             tmp_write(&p.dir, "two.lst", text, sizeof(text) - 1),
                                         .root = p.source,
                                         .out = kept_path(&p, "a")};
    p.o.pack_label = true;
    ck_assert_msg(imrec_pack(&task, &p.o, &p.result, &p.err) == IMREC_OK, "%s", p.err.message);
    open_cbf(&r, "a.cbf");
    ck_assert(next_sequence(&r));
    ck_assert_uint_eq(r.h.stream[2].storage, STREAM_DENSE);
    ck_assert_uint_eq(r.h.stream[2].dim, 2);
    const float want[2] = {1.5F, -2};
    ck_assert_mem_eq(stream(&r, 2).values, want, sizeof(want));
    ck_assert(next_sequence(&r));
    ck_assert_uint_eq(word(stream(&r, 3).values, 2), 1); /* id 65536: the third of four words */
    close_cbf(&r);
}

LOOP_TEST(any_number_of_workers_packs_the_same_bytes, 0, 2)
{
    p.o.center_crop = p.o.pixels = _i != 0;
    p.o.threads = 1;
    expect_packed("a");
    p.o.threads = 5;
    expect_packed("b.cbf");
    expect_same_cbf("a", "b");
}

/* 30 files of a million bytes each: marks are made every 8 MiB. */
static void make_large(void)
{
    enum { LARGE = 1000003 };
    char name[64];
    uint8_t *bytes = malloc(LARGE);
    for (uint32_t i = 0; i < 30; i++) {
        for (size_t k = 0; k < LARGE; k++)
            bytes[k] = (uint8_t)(k * 2654435761u >> 13 ^ i);
        snprintf(name, sizeof(name), "source/cow/large%02u.jpg", i);
        tmp_write(&p.dir, name, bytes, LARGE - i);
    }
    free(bytes);
    p.o.resize = 0;
    p.o.pass_through = true;
    p.o.check = IMREC_CHECK_NONE;
    p.o.cbf_chunk = 1500000;
}

LOOP_TEST(a_run_that_was_told_to_stop_ends_the_same_when_it_is_resumed, 0, 3) /* _i: steps */
{
    uint64_t stop = (uint64_t)_i * 7 + 9;
    const struct imrec_pack_task task = {
        .root = p.source, .out = kept_path(&p, "b"), .progress = stop_at_done, .user = &stop};
    make_large();
    if (_i == 1)
        p.o.shards = 3;
    expect_packed("a");
    p.o.resume = true;
    for (;; stop += (uint64_t)_i * 3 + 5) {
        const enum imrec_status st = imrec_pack(&task, &p.o, &p.result, &p.err);
        if (st == IMREC_OK)
            break;
        ck_assert_msg(st == IMREC_ERR_CANCELLED, "%s", p.err.message);
        ck_assert(!is_there(&p, "b.cbf") && !is_there(&p, "b.manifest.json"));
    }
    if (_i != 1) {
        expect_same_cbf("a", "b");
        ck_assert(!is_there(&p, "b.cbf.idx.part"));
    } else {
        expect_same_file(&p, "a", "b", "-00000-of-00003.cbf");
        expect_same_file(&p, "a", "b", "-00001-of-00003.cbf");
        expect_same_file(&p, "a", "b", "-00002-of-00003.cbf");
    }
}

TEST(shards_end_at_their_size_and_each_is_whole)
{
    char name[64];
    uint64_t records = 0;
    p.o.shard_size = 9000;
    expect_packed("a");
    ck_assert_uint_gt(p.result.shards, 2);
    for (uint64_t k = 0; k < p.result.shards; k++) {
        struct reading r;
        snprintf(name, sizeof(name), "a-%05u-of-%05u.cbf", (unsigned)k, (unsigned)p.result.shards);
        open_cbf(&r, name);
        ck_assert_uint_le(r.file.n, 9000);
        while (next_sequence(&r))
            records++;
        close_cbf(&r);
    }
    ck_assert_uint_eq(records, MADE_GOOD);
}

TEST(what_cannot_be_is_refused)
{
    p.o.pixels = true; /* without center_crop */
    ck_assert_int_eq(packing_run(&p, tmp_path(&p.dir, "a")), IMREC_ERR_ARGUMENT);
    p.o.center_crop = true;
    p.o.format = IMREC_PACK_REC;
    ck_assert_int_eq(packing_run(&p, tmp_path(&p.dir, "a")), IMREC_ERR_ARGUMENT);
    p.o.format = IMREC_PACK_CBF;
    p.o.shards = 100; /* more than images */
    ck_assert_int_eq(packing_run(&p, tmp_path(&p.dir, "a")), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(p.err.message, "fewer shards"));
}
