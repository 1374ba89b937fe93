/* Damage, limits and disks that fail: what is lost is named, and everything else is delivered. */
#include "storage/fault.h"
#include "tests/support/splitting.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

static struct imrec_error err;

static void teardown(void)
{
    mem_clear();
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

CASE(.timeout = 120, .teardown = teardown)

/* A file of 10 lines, of which number 4 is 5,000 bytes long. */
static void put_long_line(char *text)
{
    size_t n = 0;
    for (int i = 0; i < 10; i++) {
        n += (size_t)sprintf(text + n, "line %d", i);
        if (i == 4) {
            memset(text + n, 'x', 4994);
            n += 4994;
        }
        text[n++] = '\n';
    }
    ck_assert_int_eq(mem_put("t", text, n, &err), IMREC_OK);
}

LOOP_TEST(a_line_that_is_too_long_is_named_and_the_others_come, 0, 3)
{
    static const uint64_t chunks[] = {16, 1024, 4096};
    char text[8000];
    put_long_line(text);
    for (int way = 0; way < 2; way++) {
        struct imrec_input_split_options o = splitting(IMREC_SPLIT_TEXT, 0, 1, chunks[_i]);
        o.max_record_bytes = 4999;
        struct takings got = split_read("mem://t", &o, false);
        ck_assert_uint_eq(got.count, 9);
        ck_assert_uint_eq(got.errors, 1);
        ck_assert_uint_eq(got.last.offset, 28);
        ck_assert_str_eq(got.last.shard, "mem://t");
        ck_assert_msg(strstr(got.last.message, "line that is too long: max_record_bytes is 4999"),
                      "%s", got.last.message);
        for (size_t i = 0; i < 9; i++)
            ck_assert_int_eq(got.t[i].p[5], "012356789"[i]);
        takings_free(&got);
        o.max_record_bytes = 5000;
        got = split_read("mem://t", &o, false);
        ck_assert_uint_eq(got.count, 10);
        ck_assert_uint_eq(got.t[4].n, 5000);
        takings_free(&got);
    }
}

/* The rest of a file without a line end is neither read nor kept: memory has a bound. */
TEST(a_file_without_line_ends_needs_little_memory)
{
    enum { BYTES = 4 << 20 };
    char *text = malloc(BYTES);
    memset(text, 'x', BYTES);
    ck_assert_int_eq(mem_put("t", text, BYTES, &err), IMREC_OK);
    struct imrec_input_split_options o = splitting(IMREC_SPLIT_TEXT, 0, 1, 4096);
    o.max_record_bytes = 8192;
    imrec_alloc_fail_above(1 << 20);
    struct takings got = split_read("mem://t", &o, false);
    imrec_alloc_fail_above(0);
    ck_assert_uint_eq(got.count, 0);
    ck_assert_uint_eq(got.errors, 1);
    takings_free(&got);
    free(text);
}

LOOP_TEST(a_record_that_is_too_long_is_named_and_the_others_come, 0, 2)
{
    enum { LONG = 3 << 20 };
    struct buf rec = BUF_INIT(SIZE_MAX), idx = BUF_INIT(SIZE_MAX);
    uint8_t *p = calloc(1, LONG);
    char line[64];
    for (int i = 0; i < 6; i++) {
        const int m = snprintf(line, sizeof(line), "%d\t%zu\n", i, rec.n);
        ck_assert_int_eq(buf_append(&idx, line, (size_t)m, &err), IMREC_OK);
        ck_assert_int_eq(recordio_frame((struct bytes){p, i == 2 ? LONG : 10}, &rec, &err),
                         IMREC_OK);
    }
    ck_assert_int_eq(mem_put("r", rec.p, rec.n, &err), IMREC_OK);
    ck_assert_int_eq(mem_put("i", idx.p, idx.n, &err), IMREC_OK);
    struct imrec_input_split_options o = splitting(IMREC_SPLIT_RECORDIO, 0, 1, 64);
    o.type = _i == 1 ? IMREC_SPLIT_INDEXED_RECORDIO : IMREC_SPLIT_RECORDIO;
    o.index_uri = _i == 1 ? "mem://i" : NULL;
    o.max_record_bytes = LONG / 2;
    struct takings got = split_read("mem://r", &o, false);
    ck_assert_uint_eq(got.count, 5);
    ck_assert_uint_eq(got.errors, 1);
    ck_assert_uint_eq(got.last.offset, 40);
    ck_assert_str_eq(got.last.shard, "mem://r");
    const char *words = "mem://r: bytes 40 to 47 hold no readable record: the record needs ";
    ck_assert_msg(_i == 1 || strstr(got.last.message, words) != NULL, "%s", got.last.message);
    takings_free(&got);
    o.max_record_bytes = LONG + 7;
    got = split_read("mem://r", &o, false);
    ck_assert_uint_eq(got.count, 5);
    takings_free(&got);
    o.max_record_bytes = LONG + 8;
    got = split_read("mem://r", &o, false);
    ck_assert_uint_eq(got.count, 6);
    ck_assert_uint_eq(got.errors, 0);
    takings_free(&got);
    buf_free(&rec);
    buf_free(&idx);
    free(p);
}

/* A second part that is long beyond the limit, where records are: these are found. */
TEST(a_length_that_is_a_lie_hides_no_record)
{
    enum { RECORDS = 40000 };
    static const uint32_t lie[] = {RECORDIO_MAGIC, 1u << 29 | 4, 0, RECORDIO_MAGIC,
                                   3u << 29 | 300000};
    struct buf rec = BUF_INIT(SIZE_MAX);
    for (int i = 0; i < RECORDS; i++) {
        for (size_t k = 0; i == 3 && k < sizeof(lie) / sizeof(lie[0]); k++) {
            uint8_t word[4];
            store_le32(word, lie[k]);
            ck_assert_int_eq(buf_append(&rec, word, 4, &err), IMREC_OK);
        }
        ck_assert_int_eq(recordio_frame((struct bytes){(const uint8_t *)"ab", 2}, &rec, &err),
                         IMREC_OK);
    }
    ck_assert_int_eq(mem_put("r", rec.p, rec.n, &err), IMREC_OK);
    struct imrec_input_split_options o = splitting(IMREC_SPLIT_RECORDIO, 0, 1, 1024);
    o.max_record_bytes = 1024;
    struct takings got = split_read("mem://r", &o, false);
    ck_assert_uint_eq(got.count, RECORDS);
    ck_assert_uint_eq(got.errors, 1);
    ck_assert_uint_eq(got.last.offset, 36);
    takings_free(&got);
    buf_free(&rec);
}

/* Damage every 100 bytes, in one chunk or many: the same records and errors, and with "skip" no
 * errors, but their count. */
LOOP_TEST(damaged_records_are_named_or_counted, 0, 2)
{
    struct record_files files = record_files_make(1, 60);
    uint8_t *bad = malloc(files.total);
    struct takings first = {0};
    struct buf rec = BUF_INIT(SIZE_MAX);
    for (size_t i = 0; i < files.records.count; i++)
        ck_assert_int_eq(
            recordio_frame((struct bytes){files.records.t[i].p, files.records.t[i].n}, &rec, &err),
            IMREC_OK);
    for (size_t i = 5; i < files.records.count; i += 10) /* heads of six records */
        rec.p[files.records.t[i].offset + 1] ^= 0x40;
    ck_assert_int_eq(mem_put("r0", rec.p, rec.n, &err), IMREC_OK);
    static const uint64_t chunks[] = {64, 1 << 20};
    for (int k = 0; k < 2; k++) {
        struct imrec_input_split_options o = splitting(IMREC_SPLIT_RECORDIO, 0, 1, chunks[k]);
        o.type = _i == 1 ? IMREC_SPLIT_INDEXED_RECORDIO : IMREC_SPLIT_RECORDIO;
        o.index_uri = _i == 1 ? files.index : NULL;
        struct takings got = split_read(files.uri, &o, false);
        ck_assert_uint_eq(got.count, 54);
        ck_assert_uint_eq(got.errors, 6);
        ck_assert_uint_eq(got.last.offset, files.records.t[55].offset);
        ck_assert_msg(strstr(got.last.message, "mem://r0: bytes ") != NULL, "%s", got.last.message);
        if (k == 1)
            takings_equal(&got, &first);
        takings_free(&first);
        first = got;
        struct takings raw = split_read(files.uri, &o, true);
        ck_assert_uint_eq(raw.errors, 6);
        takings_free(&raw);
        o.on_error = IMREC_ON_ERROR_SKIP;
        struct imrec_input_split *s = split_open(files.uri, &o);
        got = split_all(s, false);
        ck_assert_uint_eq(got.count, 54);
        ck_assert_uint_eq(got.errors, 0);
        ck_assert_uint_eq(imrec_input_split_lost(s), 6);
        imrec_input_split_close(s);
        takings_free(&got);
    }
    takings_free(&first);
    buf_free(&rec);
    free(bad);
    record_files_free(&files);
}

/* Of a thousand damaged ranges in a chunk each is an error, though the reasons of few are kept. */
TEST(much_damage_is_much_reported)
{
    struct buf rec = BUF_INIT(SIZE_MAX);
    for (int i = 0; i < 1000; i++) {
        ck_assert_int_eq(recordio_frame((struct bytes){(const uint8_t *)"ab", 2}, &rec, &err),
                         IMREC_OK);
        ck_assert_int_eq(buf_append(&rec, "damage..", 8, &err), IMREC_OK);
    }
    ck_assert_int_eq(mem_put("r", rec.p, rec.n, &err), IMREC_OK);
    struct imrec_input_split_options o = splitting(IMREC_SPLIT_RECORDIO, 0, 1, 1 << 20);
    struct takings got = split_read("mem://r", &o, false);
    ck_assert_uint_eq(got.count, 1000);
    ck_assert_uint_eq(got.errors, 1000);
    ck_assert_msg(strstr(got.last.message, "earlier damage") != NULL, "%s", got.last.message);
    takings_free(&got);
    buf_free(&rec);
}

/* ---- disks -------------------------------------------------------------------------------- */

enum { PAGE = 4096, LINES = 5000, WIDTH = 20 };

static size_t bytes_of(const struct takings *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->count; i++)
        n += t->t[i].n;
    return n;
}

static void put_lines(const struct tmpdir *dir)
{
    char *text = malloc(LINES * WIDTH + 1);
    for (size_t i = 0; i < LINES; i++)
        sprintf(text + i * WIDTH, "line %014zu\n", i);
    tmp_write(dir, "t", text, LINES * WIDTH);
    free(text);
}

/* A page that cannot be read costs the lines that have bytes in it, wherever chunks are cut. */
TEST(a_page_that_cannot_be_read_costs_its_lines)
{
    static const uint64_t chunks[] = {64, 4096, 10000, 1 << 20};
    const struct tmpdir dir = tmpdir_make();
    char uri[1200];
    put_lines(&dir);
    const struct fault_script script = {.bad_begin = 5 * PAGE, .bad_end = 6 * PAGE};
    ck_assert_int_eq(fault_set("bad", &script, &err), IMREC_OK);
    snprintf(uri, sizeof(uri), "fault://script=bad:%s;%s", tmp_path(&dir, "t"),
             tmp_path(&dir, "t")); /* the second time nothing is wrong with it */
    for (int i = 0; i < COUNT(chunks); i++) {
        struct imrec_input_split_options o = splitting(IMREC_SPLIT_TEXT, 0, 1, chunks[i]);
        struct takings got = split_read(uri, &o, false), raw = split_read(uri, &o, true);
        const size_t first = 5 * PAGE / WIDTH, last = (6 * PAGE - 1) / WIDTH;
        ck_assert_uint_eq(got.count, 2 * LINES - (last - first + 1));
        ck_assert_uint_eq(bytes_of(&raw), got.count * WIDTH);
        ck_assert_uint_eq(got.errors, 1);
        ck_assert_uint_eq(raw.errors, 1);
        ck_assert_uint_eq(got.last.offset, first * WIDTH);
        ck_assert_msg(strstr(got.last.message, "line that cannot be read") != NULL, "%s",
                      got.last.message);
        ck_assert_uint_eq(got.t[first].offset, (last + 1) * WIDTH);
        takings_free(&got);
        takings_free(&raw);
    }
    fault_forget("bad");
    tmpdir_remove(&dir);
}

/* Short and interrupted reads change nothing; a disk that dies gives errors, and an end. */
TEST(a_weak_disk_gives_the_same_and_a_dead_one_ends)
{
    const struct tmpdir dir = tmpdir_make();
    char uri[600];
    put_lines(&dir);
    const struct fault_script weak = {.short_bytes = 7, .interrupt = 3};
    const struct fault_script dead = {.read_dead = 1};
    struct imrec_input_split_options o = splitting(IMREC_SPLIT_TEXT, 1, 3, 4096);
    struct takings want = split_read(tmp_path(&dir, "t"), &o, false);
    ck_assert_int_eq(fault_set("disk", &weak, &err), IMREC_OK);
    snprintf(uri, sizeof(uri), "fault://script=disk:%s", tmp_path(&dir, "t"));
    struct takings got = split_read(uri, &o, false);
    takings_equal(&got, &want);
    takings_free(&got);
    ck_assert_int_eq(fault_set("disk", &dead, &err), IMREC_OK);
    got = split_read(uri, &o, false);
    ck_assert_uint_eq(got.count, 0);
    takings_free(&got);
    takings_free(&want);
    fault_forget("disk");
    tmpdir_remove(&dir);
}
