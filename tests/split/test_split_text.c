/* Lines: every part has its own, whatever ends them and however files are cut into chunks. */
#include "tests/support/splitting.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

enum { FILES = 3 };

static struct imrec_error err;

struct text {
    uint8_t p[400];
    size_t n;
};

static bool is_end(uint8_t c)
{
    return c == '\n' || c == '\r';
}

/* The rule in one sentence each, slowly: runs of line ends separate lines; a line belongs to the
 * part of the byte before it. */
static struct takings model(const struct text *files, size_t count, uint64_t part, uint64_t parts)
{
    struct takings out = {0};
    uint64_t total = 0, begin = 0;
    for (size_t f = 0; f < count; f++)
        total += files[f].n;
    const uint64_t step = (total + parts - 1) / parts;
    for (size_t f = 0; f < count; begin += files[f++].n) {
        const uint8_t *p = files[f].p;
        for (size_t at = 0; at < files[f].n;) {
            size_t end = at;
            while (end < files[f].n && !is_end(p[end]))
                end++;
            if ((begin + at - (at != 0)) / step == part)
                split_keep(&out,
                           &(struct imrec_split_bytes){p + at, end - at, NULL, (uint32_t)f, at});
            for (at = end; at < files[f].n && is_end(p[at]);)
                at++;
        }
    }
    return out;
}

static void put(const struct text *files, size_t count, char uri[256])
{
    char name[32];
    uri[0] = '\0';
    for (size_t f = 0; f < count; f++) {
        snprintf(name, sizeof(name), "t%zu", f);
        ck_assert_int_eq(mem_put(name, files[f].p, files[f].n, &err), IMREC_OK);
        snprintf(uri + strlen(uri), 32, "%smem://t%zu", f == 0 ? "" : ";", f);
    }
}

/* The chunks of a part are all of its bytes: those of its lines, and the ends after them. */
static void
check_chunks(const struct takings *chunks, const struct takings *lines, const struct text *files)
{
    size_t k = 0;
    for (size_t i = 0; i < chunks->count; i++) {
        const struct taken *c = &chunks->t[i];
        ck_assert_int_eq(memcmp(c->p, files[c->file].p + c->offset, c->n), 0);
        for (size_t at = 0; at < c->n; k++) {
            ck_assert_uint_lt(k, lines->count);
            ck_assert_uint_eq(lines->t[k].file, c->file);
            ck_assert_uint_eq(lines->t[k].offset, c->offset + at);
            for (at += lines->t[k].n; at < c->n && is_end(c->p[at]);)
                at++;
            ck_assert(c->offset + at == files[c->file].n || is_end(c->p[at - 1]));
        }
    }
    ck_assert_uint_eq(k, lines->count);
}

static void check(const struct text *files, size_t count)
{
    static const uint64_t sizes[] = {4, 8, 20, 64, 1 << 20};
    char uri[256];
    put(files, count, uri);
    for (uint64_t parts = 1; parts<12; parts += parts> 7 ? 3 : 1)
        for (uint64_t part = 0; part < parts; part++) {
            struct takings want = model(files, count, part, parts);
            for (int i = 0; i < COUNT(sizes); i++) {
                struct imrec_input_split_options o =
                    splitting(IMREC_SPLIT_TEXT, part, parts, sizes[i]);
                o.threads = 1 + (uint32_t)i % 3;
                struct takings got = split_read(uri, &o, false), raw = split_read(uri, &o, true);
                takings_equal(&got, &want);
                check_chunks(&raw, &want, files);
                takings_free(&got);
                takings_free(&raw);
            }
            takings_free(&want);
        }
    mem_clear();
}

static void teardown(void)
{
    mem_clear();
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

CASE(.timeout = 120, .teardown = teardown)

#define TEXT(s)                                                                                    \
    {                                                                                              \
        s, sizeof(s) - 1                                                                           \
    }
static const struct text known[][FILES] = {
    {TEXT("one\ntwo\nthree\n"), TEXT(""), TEXT("four\nfive")},
    {TEXT("one\r\ntwo\r\n\r\nthree\r\n"), TEXT("\n\n\nfour\n"), TEXT("\r\n")},
    {TEXT("a\rb\r\rc"), TEXT("\n"), TEXT("x")},
    {TEXT(""), TEXT(""), TEXT("no end at all, and longer than any of the small chunks are")},
    {TEXT("\xef\xbb\xbfmark\n\0nul\0\n\xff\xfe\n"), TEXT("   \n\t\n"), TEXT("\n\r\n\r")},
};

LOOP_TEST(parts_of_known_texts_have_their_lines, 0, COUNT(known))
{
    check(known[_i], FILES);
}

LOOP_TEST(parts_of_any_text_have_their_lines, 0, 10)
{
    static const char bytes[] = "abc\n\n\r\nxyz \r0123456789";
    uint64_t dice = 77 + (uint64_t)_i;
    struct text files[FILES] = {0};
    for (int f = 0; f < FILES; f++) {
        const uint32_t kinds = 5 + split_dice(&dice) % (sizeof(bytes) - 6);
        files[f].n = split_dice(&dice) % 90;
        for (size_t k = 0; k < files[f].n; k++)
            files[f].p[k] = (uint8_t)bytes[split_dice(&dice) % kinds];
    }
    check(files, FILES);
}

TEST(a_line_ends_with_a_nul_that_is_not_counted)
{
    struct imrec_split_bytes b;
    struct imrec_input_split_options o = splitting(IMREC_SPLIT_TEXT, 0, 1, 1 << 20);
    ck_assert_int_eq(mem_put("t", "12\r\n34", 6, &err), IMREC_OK);
    struct imrec_input_split *s = split_open("mem://t", &o);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(imrec_input_split_next(s, &b, &err), IMREC_OK);
        ck_assert_uint_eq(b.size, 2);
        ck_assert_int_eq(strlen(b.data), 2);
        ck_assert_str_eq(b.uri, "mem://t");
    }
    ck_assert_int_eq(imrec_input_split_next(s, &b, &err), IMREC_END);
    ck_assert_int_eq(imrec_input_split_next(s, &b, &err), IMREC_END);
    ck_assert_uint_eq(imrec_input_split_total_bytes(s), 6);
    imrec_input_split_close(s);
}

TEST(a_chunk_is_what_records_left_of_it)
{
    struct imrec_split_bytes b;
    struct imrec_input_split_options o = splitting(IMREC_SPLIT_TEXT, 0, 1, 1 << 20);
    ck_assert_int_eq(mem_put("t", "one\r\ntwo\nthree\n", 15, &err), IMREC_OK);
    struct imrec_input_split *s = split_open("mem://t", &o);
    ck_assert_int_eq(imrec_input_split_next(s, &b, &err), IMREC_OK);
    ck_assert_int_eq(imrec_input_split_next_chunk(s, &b, &err), IMREC_OK);
    ck_assert_uint_eq(b.offset, 5);
    ck_assert_uint_eq(b.size, 10);
    ck_assert_int_eq(memcmp(b.data, "two\nthree\n", 10), 0);
    ck_assert_int_eq(imrec_input_split_next_chunk(s, &b, &err), IMREC_END);
    imrec_input_split_close(s);
}

/* A folder is all its files by name but hidden ones, a glob its matches. */
TEST(folders_globs_and_lists_are_expanded)
{
    const struct tmpdir dir = tmpdir_make();
    const struct imrec_input_split_options o = splitting(IMREC_SPLIT_TEXT, 0, 1, 64);
    static const char *const want[] = {"1", "2", "3"};
    char spec[1400];
    tmp_write(&dir, "b.csv", "2\n", 2);
    tmp_write(&dir, "a.txt", "1\n", 2);
    tmp_write(&dir, "c.txt", "3", 1);
    tmp_write(&dir, ".hidden", "4\n", 2);
    for (int way = 0; way < 3; way++) {
        if (way == 0)
            snprintf(spec, sizeof(spec), "%s", dir.path);
        else if (way == 1)
            snprintf(spec, sizeof(spec), "file://%s/[a-c].*", dir.path);
        else
            snprintf(spec, sizeof(spec), "%s/a.txt;%s/b*;file://%s/c.txt", dir.path, dir.path,
                     dir.path);
        struct takings got = split_read(spec, &o, false);
        ck_assert_uint_eq(got.count, 3);
        for (size_t i = 0; i < 3; i++)
            ck_assert(got.t[i].p[0] == want[i][0] && got.t[i].file == i);
        takings_free(&got);
    }
    tmpdir_remove(&dir);
}

static const struct {
    struct imrec_input_split_options o;
    const char *uri, *words;
} refused[] = {
    {{.num_parts = 0}, "mem://t", "num_parts is 0; it is 1 to"},
    {{.num_parts = 3, .part_index = 3}, "mem://t", "part_index is 3; it is 0 to 2"},
    {{.num_parts = 1, .chunk_bytes = 6}, "mem://t", "chunk_bytes is 6; it is a multiple of 4"},
    {{.num_parts = 1, .max_record_bytes = 8}, "mem://t", "max_record_bytes is 8; it is 64 to"},
    {{.num_parts = 1, .on_error = IMREC_ON_ERROR_REPLACE}, "mem://t", "on_error is 2"},
    {{.num_parts = 1, .index_uri = "mem://i"}, "mem://t", "index_uri is for type indexed_recordio"},
    {{.num_parts = 1, .threads = 65}, "mem://t", "threads is 65; it is 1 to 64"},
    {{.num_parts = 1, .prefetch = 2000}, "mem://t", "prefetch is 2000; it is 1 to 1024"},
    {{.num_parts = 1, .type = (enum imrec_split_type)3}, "mem://t", "type is 3"},
    {{.num_parts = 1}, "mem://none", "mem://none: there is no such object"},
    {{.num_parts = 1}, "", "uri is empty"},
    {{.num_parts = 1}, "what://x", "what"},
    {{.num_parts = 1, .type = IMREC_SPLIT_RECORDIO}, "mem://t", "mem://t"},
};

LOOP_TEST(what_cannot_be_opened_is_named, 0, COUNT(refused))
{
    struct imrec_input_split_options o = splitting(IMREC_SPLIT_TEXT, 0, 1, 64), *r = &o;
    struct imrec_input_split *s;
    const struct imrec_input_split_options *g = &refused[_i].o;
    ck_assert_int_eq(mem_put("t", "text, and no records\n", 21, &err), IMREC_OK);
    r->num_parts = g->num_parts;
    r->part_index = g->part_index;
    r->on_error = g->on_error;
    r->index_uri = g->index_uri;
    r->type = g->type;
    r->chunk_bytes = g->chunk_bytes != 0 ? g->chunk_bytes : r->chunk_bytes;
    r->max_record_bytes = g->max_record_bytes != 0 ? g->max_record_bytes : r->max_record_bytes;
    r->threads = g->threads != 0 ? g->threads : r->threads;
    r->prefetch = g->prefetch != 0 ? g->prefetch : r->prefetch;
    ck_assert_int_gt(imrec_input_split_open(refused[_i].uri, r, &s, &err), IMREC_END);
    ck_assert_ptr_null(s);
    ck_assert_msg(strstr(err.message, refused[_i].words) != NULL, "%s", err.message);
}
