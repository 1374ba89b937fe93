/* tests/container/test_webdataset.c - tar archives of WebDataset: samples by key, classes, names of
 * any length, damage, partitions. */
#include "container/archive/tar_samples.h"
#include "container/container.h"
#include "formats/set/image_list.h"
#include "imrec/records.h"
#include "storage/mem.h"
#include "storage/source.h"
#include "tests/support/record_reads.h"
#include "tests/support/suite.h"
#include "tests/support/tars.h"
#include "tests/support/tmpdir.h"

#define URI "mem://a.tar"

static struct buf g_tar;

static void begin(void)
{
    g_tar = BUF_INIT((size_t)1 << 26);
}

static void end(void)
{
    buf_free(&g_tar);
    mem_clear();
}

static struct imrec_reader *open_tar(uint64_t part, uint64_t parts)
{
    struct imrec_reader *r;
    struct imrec_error err = {0};
    ck_assert_int_eq(mem_put("a.tar", g_tar.p, g_tar.n, NULL), IMREC_OK);
    ck_assert_msg(imrec_reader_open(URI, part, parts, &r, &err) == IMREC_OK, "%s", err.message);
    return r;
}

CASE(.setup = begin, .teardown = end)

TEST(files_of_one_key_are_a_sample)
{
    tar_put(&g_tar, "./train/", '5', "", 0);
    tar_text(&g_tar, "train/1.a.jpg", "no dot of the key: its extension is a.jpg");
    tar_text(&g_tar, "train/1.cls", "7\n");
    tar_text(&g_tar, "train/1.json", "{}");
    tar_text(&g_tar, "train/README", "a file without an extension is none of a sample");
    tar_text(&g_tar, "train/2.cls", " 16777216 ");
    tar_text(&g_tar, "train/2.PNG", "png");
    tar_end(&g_tar);
    struct imrec_reader *r = open_tar(0, 1);
    expect(r, 0, "no dot of the key: its extension is a.jpg", 7);
    expect(r, 1, "png", 16777216);
    expect_end(r);
}

TEST(a_file_ends_a_sample_and_what_is_no_file_does_not)
{
    tar_text(&g_tar, "1.jpg", "one");
    tar_put(&g_tar, "folder.d/", '5', "", 0);
    tar_put(&g_tar, "link", '2', "", 0);
    tar_put(&g_tar, "fifo", '6', "", 0);
    tar_text(&g_tar, "1.cls", "1");
    tar_text(&g_tar, "2.cls", "2");
    tar_text(&g_tar, "2.jpg", "two");
    tar_text(&g_tar, "README", "none of a sample");
    tar_text(&g_tar, "2.cls", "2");
    tar_text(&g_tar, "3.cls", "3");
    tar_text(&g_tar, "3.jpg", "three");
    tar_put(&g_tar, "4.jpg", '2', "", 0); /* a link that is called like a file of the next one */
    tar_text(&g_tar, "3.txt", "3");
    tar_end(&g_tar);
    struct imrec_reader *r = open_tar(0, 1);
    expect(r, 0, "one", 1);
    expect(r, 1, "two", 2);
    expect_lost(r, "has no image");
    expect(r, 3, "three", 3);
    expect_lost(r, "4.jpg is a link");
    expect_lost(r, "has no image");
    expect_end(r);
}

/* Contents of up to as many bytes as the caller says, and no more than a name may have. */
TEST(small_files_of_a_sample_are_kept)
{
    static char large[TAR_NAME_MAX + 2];
    static const struct {
        size_t keep, bytes;
        bool kept;
    } rows[] = {{0, 1, false},
                {4, 3, true},
                {4, 4, true},
                {4, 5, false},
                {SIZE_MAX, TAR_NAME_MAX, true},
                {SIZE_MAX, TAR_NAME_MAX + 1, false}};
    memset(large, 'x', TAR_NAME_MAX + 1);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct tar_samples s;
        struct source *source;
        g_tar.n = 0;
        tar_text(&g_tar, "1.jpg", "one");
        tar_put(&g_tar, "1.cls", '0', large, rows[i].bytes);
        tar_put(&g_tar, "1.txt", '2', "", 0);
        tar_end(&g_tar);
        ck_assert_int_eq(mem_put("a.tar", g_tar.p, g_tar.n, NULL), IMREC_OK);
        ck_assert_int_eq(source_open(URI, &source, NULL), IMREC_OK);
        ck_assert_int_eq(tar_samples_begin(&s, source, g_tar.n, false, NULL), IMREC_OK);
        s.keep = rows[i].keep;
        ck_assert_int_eq(tar_samples_next(&s, NULL), IMREC_OK);
        ck_assert_uint_eq(s.count, 3);
        ck_assert_str_eq(tar_part_name(&s, &s.parts[1]), "1.cls");
        ck_assert_str_eq(tar_part_extension(&s, &s.parts[2]), "txt");
        const uint8_t *kept = tar_part_kept(&s, &s.parts[1]);
        ck_assert((kept != NULL) == rows[i].kept);
        if (kept != NULL)
            ck_assert_mem_eq(kept, large, rows[i].bytes);
        ck_assert_ptr_null(tar_part_kept(&s, &s.parts[2])); /* a link */
        tar_samples_end(&s);
        source_close(source);
    }
}

TEST(names_of_any_length_are_read)
{
    char name[400], pax[512];
    memset(name, 'n', 300);
    strcpy(name + 300, ".jpg");
    tar_put(&g_tar, "././@LongLink", 'L', name, strlen(name) + 1);
    tar_text(&g_tar, "nnn", "gnu");
    strcpy(name + 300, ".cls");
    const int n = snprintf(pax, sizeof(pax), "%d path=%s\n", 314, name);
    ck_assert_int_eq(n, 314);
    tar_put(&g_tar, "PaxHeader", 'x', pax, (size_t)n);
    tar_text(&g_tar, "nnn", "3");
    tar_end(&g_tar);
    struct imrec_reader *r = open_tar(0, 1);
    expect(r, 0, "gnu", 3);
    expect_end(r);
}

TEST(what_is_wrong_costs_its_own_sample)
{
    tar_text(&g_tar, "0.jpg", "zero");
    tar_text(&g_tar, "0.cls", "0");
    tar_text(&g_tar, "1.json", "{}");
    tar_text(&g_tar, "2.jpg", "two");
    tar_text(&g_tar, "2.cls", "cat");
    const size_t damaged = g_tar.n;
    tar_text(&g_tar, "3.jpg", "three");
    tar_text(&g_tar, "4.jpg", "four");
    tar_text(&g_tar, "4.cls", "4");
    tar_put(&g_tar, "5.jpg", '0', "five", 4);
    g_tar.n -= 510; /* cut off in its content */
    g_tar.p[damaged + 5] ^= 1;
    struct imrec_reader *r = open_tar(0, 1);
    expect(r, 0, "zero", 0);
    expect_lost(r, "has no image");
    expect_lost(r, ".cls is 'cat'");
    expect_lost(r, "checksum");
    expect(r, 4, "four", 4);
    expect_lost(r, "5.jpg has 4 bytes, the archive ends after 2");
    expect_end(r);
}

/* ---- image= and label= ---------------------------------------------------------------------- */

#define ROOM 4u

/* The records of the archive as a set opened with them is parsed. */
struct opened {
    struct container c;
    struct parse_room room;
    struct buf bytes;
};

static enum imrec_status
open_set(const char *image, const char *label, struct container *c, struct imrec_error *err)
{
    ck_assert_int_eq(mem_put("a.tar", g_tar.p, g_tar.n, NULL), IMREC_OK);
    const struct container_options o = {.path_imgrec = URI,
                                        .num_parts = 1,
                                        .cell_bytes = 4096,
                                        .container = IMREC_CONTAINER_TAR,
                                        .image = image,
                                        .label = label};
    return container_open(&o, c, err);
}

static void
begin_set(struct opened *o, const char *image, const char *label, enum imrec_label_dtype type)
{
    struct imrec_error err = {0};
    o->bytes = BUF_INIT((size_t)1 << 20);
    ck_assert_msg(open_set(image, label, &o->c, &err) == IMREC_OK, "%s", err.message);
    ck_assert_int_eq(parse_room_init(&o->room, ROOM, type, 1 << 20, &err), IMREC_OK);
}

static enum imrec_status
parse_one(struct opened *o, uint64_t unit, struct record *out, struct imrec_error *err)
{
    const struct imrec_error *lost = o->c.kind->lost(&o->c, unit);
    const struct unit_range at = container_unit(&o->c, unit);
    struct record_ref ref = {.offset = at.begin, .unit = unit};
    if (lost != NULL) {
        *err = *lost;
        return lost->status;
    }
    o->bytes.n = 0;
    ck_assert_int_eq(buf_append(&o->bytes, g_tar.p + at.begin, at.end - at.begin, NULL), IMREC_OK);
    ref.bytes = (struct bytes){o->bytes.p, o->bytes.n};
    return o->c.kind->parse(&o->c, &ref, RECORD_PARTS, &o->room, out, err);
}

static void end_set(struct opened *o)
{
    parse_room_free(&o->room);
    buf_free(&o->bytes);
    container_close(&o->c);
}

static void expect_text(struct bytes b, const char *text)
{
    ck_assert_uint_eq(b.n, strlen(text));
    ck_assert_mem_eq(b.p, text, b.n);
}

TEST(image_chooses_by_its_order_and_the_rest_are_fields)
{
    struct opened o;
    struct record r;
    char pax[64];
    tar_text(&g_tar, "d/1.Depth.PNG", "depth");
    tar_text(&g_tar, "d/1.txt", "a caption");
    tar_text(&g_tar, "d/1.jpg", "photo");
    tar_put(&g_tar, "pax", 'x', pax, (size_t)snprintf(pax, sizeof(pax), "19 path=d/1.a.json\n"));
    tar_text(&g_tar, "cut", "{}");
    tar_end(&g_tar);
    static const struct {
        const char *image, *chosen, *field;
    } ways[] = {{"", "depth", "txt"},
                {"jpg,depth.png", "photo", "Depth.PNG"},
                {".depth.png", "depth", "txt"},
                {"webp,jpg", "photo", "Depth.PNG"}};
    for (size_t i = 0; i < COUNT(ways); i++) {
        begin_set(&o, ways[i].image, "none", IMREC_LABEL_FLOAT32);
        ck_assert_int_eq(parse_one(&o, 0, &r, NULL), IMREC_OK);
        expect_text(r.image, ways[i].chosen);
        ck_assert_uint_eq(r.field_count, 3);
        expect_text(r.fields[0].name, ways[i].field);
        expect_text(r.fields[2].name, "a.json");
        expect_text(r.fields[2].value, "{}");
        ck_assert(r.label_count == ROOM && record_label(&r, 0) == 0);
        end_set(&o);
    }
    struct imrec_error err;
    begin_set(&o, "gif,bmp", NULL, IMREC_LABEL_FLOAT32);
    ck_assert_int_eq(parse_one(&o, 0, &r, &err), IMREC_ERR_CORRUPT);
    ck_assert_ptr_nonnull(strstr(err.message, "none of its files ends in .gif or another"));
    end_set(&o);
}

static const struct label_case {
    const char *label, *file, *text;
    enum imrec_label_dtype type;
    uint32_t count; /* 0: refused, with `words` */
    double values[3];
    const char *words;
} label_cases[] = {
    {"", "1.cls", "7\n", IMREC_LABEL_FLOAT32, 1, {7}, NULL},
    {"box", "1.box", " 1.5, -2\n3e1 ", IMREC_LABEL_FLOAT32, 3, {1.5, -2, 30}, NULL},
    {"", "1.cls", "16777217", IMREC_LABEL_FLOAT32, 0, {0}, "that its type has exactly"},
    {"", "1.cls", "16777217", IMREC_LABEL_INT64, 1, {16777217}, NULL},
    {"", "1.cls", "16777217", IMREC_LABEL_FLOAT64, 1, {16777217}, NULL},
    {"", "1.cls", "9007199254740993", IMREC_LABEL_FLOAT64, 0, {0}, "that its type has"},
    {"", "1.cls", "1.5", IMREC_LABEL_INT64, 0, {0}, "whole number of 64 bits"},
    {"", "1.cls", "1e999", IMREC_LABEL_FLOAT32, 0, {0}, "finite"},
    {"", "1.cls", "", IMREC_LABEL_FLOAT32, 0, {0}, "its .cls is ''"},
    {"json:a.1.b", "1.json", "{\"a\":[0,{\"b\":5}]}", IMREC_LABEL_FLOAT32, 1, {5}, NULL},
    {"json:a", "1.json", "{\"a\":[1,0.5,true]}", IMREC_LABEL_FLOAT32, 3, {1, 0.5, 1}, NULL},
    {"json:a", "1.json", "{\"a\":\"x\"}", IMREC_LABEL_FLOAT32, 0, {0}, "is no number"},
    {"json:a.b", "1.json", "{\"a\":1}", IMREC_LABEL_FLOAT32, 0, {0}, "has nothing at a.b"},
    {"json:a", "1.json", "{\"a\":", IMREC_LABEL_FLOAT32, 0, {0}, "its .json"},
    {"json:a",
     "1.json",
     "{\"a\":4611686018427387905}",
     IMREC_LABEL_INT64,
     1,
     {4611686018427387905.0},
     NULL},
};

LOOP_TEST(label_says_where_the_labels_are, 0, COUNT(label_cases))
{
    const struct label_case *k = &label_cases[_i];
    struct opened o;
    struct record r;
    struct imrec_error err = {0};
    tar_text(&g_tar, "1.jpg", "photo");
    tar_text(&g_tar, k->file, k->text);
    tar_end(&g_tar);
    begin_set(&o, NULL, k->label, k->type);
    const enum imrec_status st = parse_one(&o, 0, &r, &err);
    if (k->count == 0) {
        ck_assert_int_eq(st, IMREC_ERR_CORRUPT);
        ck_assert_msg(strstr(err.message, k->words) != NULL, "%s", err.message);
    } else {
        ck_assert_msg(st == IMREC_OK, "%s", err.message);
        ck_assert_uint_eq(r.label_count, k->count);
        for (uint32_t i = 0; i < k->count; i++) {
            ck_assert(record_label(&r, i) == (float)k->values[i]);
            if (k->type == IMREC_LABEL_INT64)
                ck_assert(r.typed[i].i == (int64_t)k->values[i] || k->values[i] > 0x1p53);
            if (k->type == IMREC_LABEL_FLOAT64)
                ck_assert(r.typed[i].f == k->values[i]);
        }
    }
    end_set(&o);
}

TEST(links_and_sparse_files_are_refused_by_name)
{
    struct opened o;
    struct record r;
    struct imrec_error err;
    char pax[64];
    tar_text(&g_tar, "1.jpg", "one");
    tar_put(&g_tar, "1.txt", '2', "", 0); /* neither image nor label: nobody misses it */
    tar_put(&g_tar, "2.jpg", '1', "", 0);
    tar_text(&g_tar, "2.cls", "2");
    tar_text(&g_tar, "3.jpg", "three");
    tar_put(&g_tar, "3.cls", '2', "", 0);
    tar_put(&g_tar, "pax", 'x', pax,
            (size_t)snprintf(pax, sizeof(pax), "%d GNU.sparse.major=1\n", 22));
    tar_text(&g_tar, "4.jpg", "four");
    tar_put(&g_tar, "5.jpg", 'S', "five", 4);
    tar_text(&g_tar, "6.jpg", "six");
    tar_end(&g_tar);
    static const char *const words[] = {NULL,
                                        "2.jpg is a link",
                                        "3.cls is a link",
                                        "4.jpg is a sparse file",
                                        "5.jpg is a sparse file",
                                        NULL};
    begin_set(&o, NULL, NULL, IMREC_LABEL_FLOAT32);
    ck_assert_uint_eq(o.c.unit_count, COUNT(words));
    for (size_t i = 0; i < COUNT(words); i++) {
        const enum imrec_status st = parse_one(&o, i, &r, &err);
        ck_assert_int_eq(st, words[i] == NULL ? IMREC_OK : IMREC_ERR_UNSUPPORTED);
        ck_assert_msg(words[i] == NULL || strstr(err.message, words[i]) != NULL, "%s", err.message);
    }
    end_set(&o);
}

TEST(what_image_and_label_cannot_be_is_refused)
{
    static const struct {
        const char *image, *label, *words;
    } wrong[] = {{"jpg,,png", "", "image= is a list"},
                 {"a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q", "", "more is too many"},
                 {"", "json:", "one side of the colon is empty"},
                 {"", ":a", "one side of the colon is empty"}};
    struct container c;
    struct imrec_error err;
    tar_text(&g_tar, "1.jpg", "photo");
    for (size_t i = 0; i < COUNT(wrong); i++) {
        ck_assert_int_eq(open_set(wrong[i].image, wrong[i].label, &c, &err), IMREC_ERR_ARGUMENT);
        ck_assert_msg(strstr(err.message, wrong[i].words) != NULL, "%s", err.message);
    }
}

/* ---- container= ----------------------------------------------------------------------------- */

TEST(container_says_which_files_are_meant)
{
    struct container c;
    struct imrec_error err;
    struct tmpdir dir = tmpdir_make();
    tar_text(&g_tar, "1.jpg", "photo");
    tar_end(&g_tar);
    (void)tmp_write(&dir, "a.tar", g_tar.p, g_tar.n);
    (void)tmp_write(&dir, "b.rec", g_tar.p, g_tar.n);
    struct container_options o = {.path_imgrec = dir.path, .num_parts = 1, .cell_bytes = 4096};
    ck_assert_int_eq(container_open(&o, &c, &err), IMREC_OK); /* *.rec first, by what it is */
    ck_assert_ptr_nonnull(strstr(c.shards[0].uri, "b.rec"));
    container_close(&c);
    o.container = IMREC_CONTAINER_TAR;
    ck_assert_int_eq(container_open(&o, &c, &err), IMREC_OK);
    ck_assert(c.shard_count == 1 && strstr(c.shards[0].uri, "a.tar") != NULL);
    container_close(&c);
    o.container = IMREC_CONTAINER_REC;
    ck_assert_int_eq(container_open(&o, &c, &err), IMREC_ERR_ARGUMENT);
    ck_assert_msg(
        strstr(err.message, "b.rec must be a RecordIO shard, but begins as a tar archive") != NULL,
        "%s", err.message);
    o.container = IMREC_CONTAINER_CBF;
    ck_assert_int_eq(container_open(&o, &c, &err), IMREC_ERR_ARGUMENT);
    tmpdir_remove(&dir);
}

LOOP_TEST(partitions_count_the_samples_off, 1, 6) /* _i parts */
{
    char name[20], text[20];
    uint64_t seen = 0;
    for (int i = 0; i < 11; i++) {
        (void)snprintf(text, sizeof(text), "image %d", i);
        (void)snprintf(name, sizeof(name), "%d.jpg", i);
        tar_text(&g_tar, name, text);
        (void)snprintf(name, sizeof(name), "%d.cls", i);
        (void)snprintf(text, sizeof(text), "%d", i);
        tar_text(&g_tar, name, text);
    }
    for (int part = 0; part < _i; part++) {
        struct imrec_reader *r = open_tar((uint64_t)part, (uint64_t)_i);
        struct imrec_record x;
        for (; imrec_reader_next(r, &x, NULL) == IMREC_OK; seen++)
            ck_assert(x.id == seen && x.labels[0] == (float)seen);
        imrec_reader_close(r);
    }
    ck_assert_uint_eq(seen, 11);
}

/* The image of samples 1 and 4 of 6 is a link: each partition has one of them. */
TEST(damage_in_each_partition_has_its_own_reason)
{
    char name[20], text[20];
    for (int i = 0; i < 6; i++) {
        (void)snprintf(name, sizeof(name), "key%d.jpg", i);
        (void)snprintf(text, sizeof(text), "image %d", i);
        tar_put(&g_tar, name, i % 3 == 1 ? '2' : '0', text, i % 3 == 1 ? 0 : strlen(text));
        (void)snprintf(name, sizeof(name), "key%d.cls", i);
        (void)snprintf(text, sizeof(text), "%d", i);
        tar_text(&g_tar, name, text);
    }
    for (uint64_t part = 0; part < 2; part++) {
        struct imrec_reader *r = open_tar(part, 2);
        expect(r, 3 * part, part == 0 ? "image 0" : "image 3", 3 * (float)part);
        expect_lost(r, part == 0 ? "key1" : "key4");
        expect(r, 3 * part + 2, part == 0 ? "image 2" : "image 5", 3 * (float)part + 2);
        expect_end(r);
    }
}

TEST(reasons_of_damage_are_counted_as_memory)
{
    struct container c;
    struct imrec_error err = {0};
    tar_text(&g_tar, "0.jpg", "zero");
    ck_assert_int_eq(open_set(NULL, NULL, &c, &err), IMREC_OK);
    ck_assert_uint_eq(container_state_memory(&c), 0);
    container_close(&c);
    tar_put(&g_tar, "1.jpg", '2', "", 0);
    ck_assert_int_eq(open_set(NULL, NULL, &c, &err), IMREC_OK);
    ck_assert_uint_ge(container_state_memory(&c), sizeof(err));
    container_close(&c);
}

TEST(what_an_archive_cannot_have_is_refused)
{
    struct container c;
    struct imrec_error err = {0};
    tar_text(&g_tar, "0.jpg", "zero");
    ck_assert_int_eq(mem_put("a.tar", g_tar.p, g_tar.n, NULL), IMREC_OK);
    struct container_options o = {
        .path_imgrec = URI, .path_imgidx = "a.idx", .num_parts = 1, .cell_bytes = 4096};
    ck_assert_int_eq(container_open(&o, &c, &err), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(err.message, "whose index imrec index writes"));
    o.path_imgidx = NULL;
    o.verify_checksums = true;
    ck_assert_int_eq(container_open(&o, &c, &err), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(err.message, "is a tar archive, and only shards of records"));
}
