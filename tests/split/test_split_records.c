/* Records of RecordIO, with an index and without one: every part has its own. */
#include "tests/support/splitting.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

static struct imrec_error err;
static struct record_files files;

static void setup(void)
{
    files = record_files_make(4, 30);
}

static void teardown(void)
{
    record_files_free(&files);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

/* The part of a record: of bytes, or counted off. */
static uint64_t part_of(size_t i, bool indexed, uint64_t parts)
{
    const struct taken *t = &files.records.t[i];
    uint64_t begin = 0;
    for (uint32_t f = 0; f < t->file; f++)
        begin += files.size[f];
    if (indexed)
        return i / ((files.records.count + parts - 1) / parts);
    return (begin + t->offset) / (((files.total + parts - 1) / parts + 3) / 4 * 4);
}

static struct takings model(bool indexed, uint64_t part, uint64_t parts)
{
    struct takings out = {0};
    for (size_t i = 0; i < files.records.count; i++) {
        const struct taken *t = &files.records.t[i];
        if (part_of(i, indexed, parts) == part)
            split_keep(&out, &(struct imrec_split_bytes){t->p, t->n, NULL, t->file, t->offset});
    }
    return out;
}

/* Chunks hold the same records, framed, one after the other. */
static void check_chunks(struct takings *chunks, const struct takings *records)
{
    size_t k = 0;
    for (size_t i = 0; i < chunks->count; i++) {
        struct taken *c = &chunks->t[i];
        ck_assert_uint_eq(c->offset, records->t[k].offset);
        ck_assert_uint_eq(c->file, records->t[k].file);
        for (size_t at = 0; at < c->n; k++) {
            struct recordio_span span;
            ck_assert_uint_lt(k, records->count);
            ck_assert_int_eq(recordio_measure(c->p + at, c->n - at, at, &span, &err), IMREC_OK);
            const struct bytes b = recordio_join(c->p + at, &span);
            ck_assert_uint_eq(b.n, records->t[k].n);
            ck_assert_int_eq(memcmp(b.p, records->t[k].p, b.n), 0);
            at += span.bytes;
        }
    }
    ck_assert_uint_eq(k, records->count);
}

static void
check_part(bool indexed, uint64_t part, uint64_t parts, uint64_t chunk, uint32_t threads)
{
    struct imrec_input_split_options o = splitting(IMREC_SPLIT_RECORDIO, part, parts, chunk);
    if (indexed) {
        o.type = IMREC_SPLIT_INDEXED_RECORDIO;
        o.index_uri = files.index;
        o.chunk_records = chunk / 32;
    }
    o.threads = threads;
    struct takings want = model(indexed, part, parts);
    struct takings got = split_read(files.uri, &o, false), raw = split_read(files.uri, &o, true);
    takings_equal(&got, &want);
    check_chunks(&raw, &want);
    takings_free(&got);
    takings_free(&raw);
    takings_free(&want);
}

CASE(.timeout = 120, .setup = setup, .teardown = teardown)

LOOP_TEST(every_part_has_its_records, 0, 2)
{
    static const uint64_t sizes[] = {32, 100, 4096, 1 << 20};
    for (uint64_t parts = 1; parts<200; parts += parts> 7 ? 61 : 1)
        for (uint64_t part = 0; part < parts; part++)
            check_part(_i == 1, part, parts, sizes[(part + parts) % 4], 1 + part % 3);
}

/* As the design of dmlc-core describes it: 1,000 images in 4 files of 250, read by 10 machines. */
TEST(ten_machines_share_four_files)
{
    struct takings all = {0};
    record_files_free(&files);
    files = record_files_make(4, 250);
    for (uint64_t part = 0; part < 10; part++) {
        const struct imrec_input_split_options o =
            splitting(IMREC_SPLIT_RECORDIO, part, 10, 1 << 20);
        struct imrec_input_split *s = split_open(files.uri, &o);
        const size_t before = all.count;
        split_take(s, false, SIZE_MAX, &all);
        ck_assert_uint_ge(all.count - before, 80);
        ck_assert_uint_le(all.count - before, 120);
        imrec_input_split_close(s);
    }
    takings_equal(&all, &files.records);
    takings_free(&all);
}

/* Records that end where, in another file, the next one of the order begins. */
TEST(neighbours_in_the_order_are_not_taken_for_neighbours_in_a_file)
{
    struct imrec_input_split_options o = splitting(IMREC_SPLIT_INDEXED_RECORDIO, 0, 1, 64);
    o.index_uri = "mem://ia;mem://ib;mem://ic";
    o.shuffle = true;
    for (uint8_t f = 'a'; f <= 'c'; f++) {
        struct buf rec = BUF_INIT(4096), idx = BUF_INIT(4096);
        char line[32], name[3] = {'r', (char)f, 0};
        for (uint8_t i = 0; i < 9; i++) {
            const int n = snprintf(line, sizeof(line), "%d\t%zu\n", i, rec.n);
            ck_assert_int_eq(buf_append(&idx, line, (size_t)n, &err), IMREC_OK);
            ck_assert_int_eq(recordio_frame((struct bytes){(uint8_t[]){f, i}, 2}, &rec, &err),
                             IMREC_OK);
        }
        ck_assert_int_eq(mem_put(name, rec.p, rec.n, &err), IMREC_OK);
        name[0] = 'i';
        ck_assert_int_eq(mem_put(name, idx.p, idx.n, &err), IMREC_OK);
        buf_free(&rec);
        buf_free(&idx);
    }
    for (o.seed = 0; o.seed < 40; o.seed++) {
        struct takings got = split_read("mem://ra;mem://rb;mem://rc", &o, false);
        ck_assert_uint_eq(got.count, 27);
        for (size_t i = 0; i < got.count; i++) {
            ck_assert_uint_eq(got.t[i].p[0], 'a' + got.t[i].file);
            ck_assert_uint_eq(got.t[i].p[1], got.t[i].offset / 12);
        }
        takings_free(&got);
    }
}

/* An index next to each file is found; where one is missing it is named. */
TEST(indexes_next_to_files_are_found)
{
    const struct tmpdir dir = tmpdir_make();
    struct imrec_input_split_options o = splitting(IMREC_SPLIT_INDEXED_RECORDIO, 0, 1, 64);
    struct imrec_input_split *s;
    struct buf rec = BUF_INIT(4096);
    const struct taken *t = files.records.t;
    char index[64];
    size_t at[3];
    for (int i = 0; i < 3; i++) {
        at[i] = rec.n;
        ck_assert_int_eq(recordio_frame((struct bytes){t[i].p, t[i].n}, &rec, &err), IMREC_OK);
    }
    tmp_write(&dir, "a.rec", rec.p, rec.n);
    ck_assert_int_eq(imrec_input_split_open(dir.path, &o, &s, &err), IMREC_ERR_ARGUMENT);
    ck_assert_msg(strstr(err.message, "needs an index") != NULL, "%s", err.message);
    const int n = snprintf(index, sizeof(index), "7\t0\n8\t%zu\n9\t%zu\n", at[1], at[2]);
    tmp_write(&dir, "a.idx", index, (size_t)n);
    struct takings got = split_read(tmp_path(&dir, "a.rec"), &o, false);
    ck_assert_uint_eq(got.count, 3);
    ck_assert_uint_eq(got.t[2].n, t[2].n);
    takings_free(&got);
    buf_free(&rec);
    tmpdir_remove(&dir);
}
