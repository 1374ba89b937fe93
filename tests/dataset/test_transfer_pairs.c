/* tests/dataset/test_transfer_pairs.c - every kind of source into every kind of file, and from
 * there into every kind again: images, labels, ids and fields are those of the source. */
#include "base/buf.h"
#include "imrec/convert.h"
#include "imrec/records.h"
#include "storage/mem.h"
#include "tests/support/packing.h"
#include "tests/support/suite.h"

#include <inttypes.h>

#define MOST ((size_t)1 << 20)

static struct packing g_set;
static struct imrec_records_result g_result;
static struct imrec_error g_err;

/* ---- sources ------------------------------------------------------------------------------ */

static void write_list(void)
{
    static const char *const classes[] = {"ant", "bee", "cow"};
    char text[MADE_GOOD * 400];
    size_t n = 0;
    for (unsigned i = 0; i < MADE_GOOD; i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%u\t%u.5\t%s/%s/%02u.jpg\n", 1000 - i,
                              i % 3, g_set.source, classes[i % 3], i / 3);
    tmp_write(&g_set.dir, "list.lst", text, n);
}

/* A caption next to each image; folders take no fields, records do. */
static void write_captions(void)
{
    static const char *const classes[] = {"ant", "bee", "cow"};
    char name[64], text[64];
    for (unsigned i = 0; i < MADE_GOOD; i++) {
        (void)snprintf(name, sizeof(name), "source/%s/%02u.txt", classes[i % 3], i / 3);
        const int n = snprintf(text, sizeof(text), "caption %u\n", i);
        tmp_write(&g_set.dir, name, text, (size_t)n);
    }
}

static void pack(const char *name, enum imrec_pack_format format, int64_t shards)
{
    g_set.o.format = format;
    g_set.o.shards = shards;
    g_set.o.fields = format == IMREC_PACK_REC ? "txt" : "";
    ck_assert_msg(packing_run(&g_set, tmp_path(&g_set.dir, name)) == IMREC_OK, "%s",
                  g_set.err.message);
}

static void convert(const char *input, const char *output, int64_t shards)
{
    struct imrec_records_options o;
    imrec_records_options_init(&o);
    o.input = input;
    o.output = output;
    o.shards = shards;
    ck_assert_msg(imrec_convert_records(&o, &g_result, &g_err) == IMREC_OK, "%s -> %s: %s", input,
                  output, g_err.message);
    ck_assert(g_result.records == MADE_GOOD && g_result.fields == 0 && g_result.left_out == 0 &&
              g_result.rewritten == 0);
}

/* Names in the test's folder; what is made of records is made of the shards. */
static const struct source_row {
    const char *name; /* with a range where there are several shards */
    bool fields, is_rec;
} sources[] = {{"source", false, false},    {"list.lst", false, false},
               {"one.rec", true, true},     {"two-0000{0..1}-of-00002.rec", true, true},
               {"one.cbf", false, false},   {"two-0000{0..1}-of-00002.cbf", false, false},
               {"tar.tar", true, false},    {"tar-0000{0..2}-of-00003.tar", true, false},
               {"x.tfrecord", true, false}, {"x-0000{0..2}-of-00003.tfrecord", true, false}};

static void begin(void)
{
    packing_make(&g_set, false);
    g_set.o.resize = 0;
    g_set.o.pass_through = true;
    write_captions();
    write_list();
    pack("one.rec", IMREC_PACK_REC, 0);
    pack("two.rec", IMREC_PACK_REC, 2);
    make_folder(&g_set.dir, "cbf");
    pack("cbf/one.cbf", IMREC_PACK_CBF, 0);
    pack("cbf/two.cbf", IMREC_PACK_CBF, 2);
    convert(tmp_path(&g_set.dir, "one.rec"), tmp_path(&g_set.dir, "tar.tar"), 0);
    convert(tmp_path(&g_set.dir, "one.rec"), tmp_path(&g_set.dir, "tar.tar"), 3);
    convert(tmp_path(&g_set.dir, "one.rec"), tmp_path(&g_set.dir, "x.tfrecord"), 0);
    convert(tmp_path(&g_set.dir, "one.rec"), tmp_path(&g_set.dir, "x.tfrecord"), 3);
}

static void end(void)
{
    mem_clear();
    packing_remove(&g_set);
}

static const char *path_of(const struct source_row *s)
{
    char name[64];
    const size_t n = strlen(s->name);
    const bool cbf = strcmp(s->name + n - 4, ".cbf") == 0;
    (void)snprintf(name, sizeof(name), "%s%.40s", cbf ? "cbf/" : "", s->name);
    return tmp_path(&g_set.dir, name);
}

/* ---- what a set has ----------------------------------------------------------------------- */

static const struct imrec_field *field_of(const struct imrec_record *r, const char *name)
{
    for (uint32_t i = 0; i < r->field_count; i++)
        if (r->fields[i].name_bytes == strlen(name) &&
            memcmp(r->fields[i].name, name, strlen(name)) == 0)
            return &r->fields[i];
    return NULL;
}

/* The id that the record had as RecordIO: a feature and a file keep it, where readers count. */
static uint64_t id_of(const struct imrec_record *r)
{
    const struct imrec_field *feature = field_of(r, "image/id"), *file = field_of(r, "imrec_id");
    unsigned long long id = r->id;
    char text[32];
    if (feature != NULL)
        return load_le64(feature->bytes);
    if (file == NULL)
        return id;
    ck_assert_uint_lt(file->size, sizeof(text));
    (void)snprintf(text, sizeof(text), "%.*s", (int)file->size, (const char *)file->bytes);
    ck_assert_int_eq(sscanf(text, "%llu 0", &id), 1);
    return id;
}

/* Appends what readers see of all records. */
static void describe(const char *uri, bool fields, struct buf *to)
{
    struct imrec_reader *r;
    struct imrec_record x;
    enum imrec_status st;
    char text[100];
    to->n = 0;
    ck_assert_msg(imrec_reader_open(uri, 0, 1, &r, &g_err) == IMREC_OK, "%s", g_err.message);
    while ((st = imrec_reader_next(r, &x, &g_err)) == IMREC_OK) {
        const struct imrec_field *caption = field_of(&x, "txt");
        ck_assert_uint_eq(x.label_count, 1);
        ck_assert_msg((caption != NULL) == fields, "%s", uri);
        const int n = snprintf(text, sizeof(text), "%" PRIu64 " %.9g %zu ", id_of(&x),
                               (double)x.labels[0], x.image_size);
        ck_assert_int_eq(buf_append(to, text, (size_t)n, NULL), IMREC_OK);
        ck_assert_int_eq(buf_append(to, x.image, x.image_size, NULL), IMREC_OK);
        if (fields)
            ck_assert_int_eq(buf_append(to, caption->bytes, caption->size, NULL), IMREC_OK);
    }
    ck_assert_msg(st == IMREC_END, "%s", g_err.message);
    imrec_reader_close(r);
}

static void expect_described(const char *uri, bool fields, const struct buf *want)
{
    struct buf got = BUF_INIT(MOST);
    describe(uri, fields, &got);
    ck_assert_msg(got.n == want->n && memcmp(got.p, want->p, got.n) == 0, "%s differs", uri);
    buf_free(&got);
}

/* ---- pairs -------------------------------------------------------------------------------- */

static const struct target {
    const char *output, *input; /* of the next step */
    int64_t shards;
    bool is_rec;
} targets[] = {{"mem://%s.rec", "mem://%s.rec", 0, true},
               {"mem://%s.rec", "mem://%s-0000{0..3}-of-00004.rec", 4, true},
               {"mem://%s.tar", "mem://%s.tar", 0, false},
               {"mem://%s.tar", "mem://%s-0000{0..3}-of-00004.tar", 4, false},
               {"mem://%s.tfrecord", "mem://%s.tfrecord", 0, false},
               {"mem://%s.tfrecord", "mem://%s-0000{0..3}-of-00004.tfrecord", 4, false}};

static const char *named(const char *pattern, const char *name)
{
    static char uris[32][100];
    static unsigned turn;
    char *uri = uris[turn++ % 32];
    const char *at = strstr(pattern, "%s");
    (void)snprintf(uri, sizeof(uris[0]), "%.*s%s%s", (int)(at - pattern), pattern, name, at + 2);
    return uri;
}

static void refuse_records(const char *input, const char *output)
{
    struct imrec_records_options o;
    imrec_records_options_init(&o);
    o.input = input;
    o.output = output;
    ck_assert_int_eq(imrec_convert_records(&o, &g_result, &g_err), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(g_err.message, "is a RecordIO shard already: imrec merge"));
}

/* From one file into each kind, and from there once more. */
static void
convert_all(const char *input, bool is_rec, bool fields, const struct buf *want, int steps)
{
    for (int i = 0; i < COUNT(targets) && steps > 0; i++) {
        const struct target *t = &targets[i];
        const char *const name = steps == 2 ? "b" : "c";
        if (is_rec && t->is_rec) {
            refuse_records(input, named(t->output, name));
            continue;
        }
        convert(input, named(t->output, name), t->shards);
        expect_described(named(t->input, name), fields, want);
        convert_all(named(t->input, name), t->is_rec, fields, want, steps - 1);
    }
}

CASE(.setup = begin, .teardown = end, .timeout = 60)

LOOP_TEST(a_source_comes_back_from_every_kind_and_from_what_is_made_of_that, 0, COUNT(sources))
{
    const struct source_row *s = &sources[_i];
    struct buf want = BUF_INIT(MOST);
    char input[600];
    (void)snprintf(input, sizeof(input), "%s", path_of(s));
    describe(input, s->fields, &want);
    ck_assert_uint_gt(want.n, 10000);
    convert_all(input, s->is_rec, s->fields, &want, 2);
    buf_free(&want);
}
