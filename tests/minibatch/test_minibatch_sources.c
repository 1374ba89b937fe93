/* tests/minibatch/test_minibatch_sources.c - what minibatches are made of: texts, binary files,
 * several of them, joined by id; renamed, truncated; and how well a window mixes. */
#include "imrec/ctf.h"
#include "tests/support/minibatch_sets.h"
#include "tests/support/suite.h"

static struct imrec_error err;

static double value(const struct imrec_minibatch_stream *s, uint64_t i)
{
    return (double)((const float *)s->values)[i];
}

/* ---- texts and binary files -------------------------------------------------------------- */

static struct notes read_as(const char *const *keys, const char *precision, uint64_t size)
{
    struct notes n = {0};
    struct imrec_minibatch_source *s =
        mb_open(mb_keys(keys, MB_KEYS("randomize=false", "max_sweeps=2", precision)));
    mb_follow(s, size, UINT64_MAX, strstr(precision, "double") ? 8 : 4, &n);
    imrec_minibatch_source_close(s);
    return n;
}

CASE(.timeout = 60, .setup = sets_make, .teardown = sets_forget)

LOOP_TEST(a_text_and_its_binary_file_give_equal_minibatches, 0, 5) /* _i: sizes */
{
    struct notes text = read_as(set_kinds[1], "precision=float", 5 + 13 * (uint64_t)_i),
                 binary = read_as(set_kinds[5], "precision=float", 5 + 13 * (uint64_t)_i),
                 wide = read_as(set_kinds[5], "precision=double", 5 + 13 * (uint64_t)_i);
    EXPECT(text.minibatches == binary.minibatches && text.minibatches == wide.minibatches);
    for (uint64_t i = 0; i < text.minibatches; i++) {
        EXPECT(text.minibatch[i].sequences == binary.minibatch[i].sequences);
        EXPECT(text.minibatch[i].position == binary.minibatch[i].position);
        EXPECT(text.minibatch[i].sweep_end == binary.minibatch[i].sweep_end);
        EXPECT(text.minibatch[i].position == wide.minibatch[i].position);
    }
    for (uint64_t i = 0; i < text.sequences; i++) {
        EXPECT(text.sequence[i].hash == binary.sequence[i].hash);
        EXPECT(binary.sequence[i].id == i % SET_LONGS); /* by number */
    }
    notes_free(&text);
    notes_free(&binary);
    notes_free(&wide);
}

LOOP_TEST(doubles_hold_what_floats_round, 0, 2) /* _i: text, binary (which holds floats) */
{
    const char *const *keys = mb_keys(set_kinds[_i ? 5 : 1], MB_KEYS("randomizationSeed=2"));
    struct imrec_minibatch_source *f = mb_open(keys),
                                  *d = mb_open(mb_keys(keys, MB_KEYS("precision=double")));
    struct imrec_minibatch a, b;
    uint64_t finer = 0;
    for (int i = 0; i < 20; i++) {
        EXPECT(imrec_minibatch_next(f, 30, NULL, 0, &a, &err) == IMREC_OK);
        EXPECT(imrec_minibatch_next(d, 30, NULL, 0, &b, &err) == IMREC_OK);
        for (uint32_t k = 0; k < 2; k++) {
            const uint64_t n = k == 0 ? a.stream[k].rows * a.stream[k].width * 2 : a.stream[k].nnz;
            for (uint64_t v = 0; v < n; v++) {
                const double wide = ((const double *)b.stream[k].values)[v];
                EXPECT(value(&a.stream[k], v) == (double)(float)wide);
                finer += wide != (double)(float)wide;
            }
        }
    }
    EXPECT(_i == 0 ? finer > 100 : finer == 0);
    imrec_minibatch_source_close(f);
    imrec_minibatch_source_close(d);
}

/* ---- names ------------------------------------------------------------------------------- */

TEST(a_call_selects_and_renames_streams)
{
    static const struct imrec_stream_map map[] = {{"B", "words"}, {"A", "x"}, {"A", "y"}},
                                         wrong[] = {{"A", "x"}, {"a", "x"}};
    struct imrec_minibatch_source *s = mb_open(set_kinds[1]), *t = mb_open(set_kinds[1]);
    struct imrec_minibatch m, w;
    for (uint32_t i = 0; i < 12; i++) {
        EXPECT(imrec_minibatch_next(t, 20, NULL, 0, &w, &err) == IMREC_OK);
        EXPECT(imrec_minibatch_next(s, 20, wrong, 2, &m, &err) == IMREC_ERR_ARGUMENT);
        EXPECT_SAYING(strstr(err.message, "'a'") != NULL, "%s", err.message); /* nothing moved */
        EXPECT(imrec_minibatch_next(s, 20, map, 1 + i % 3, &m, &err) == IMREC_OK);
        EXPECT(m.streams == 1 + i % 3 && m.position == w.position);
        EXPECT(strcmp(m.stream[0].name, "words") == 0 && m.stream[0].nnz == w.stream[1].nnz);
        EXPECT(m.streams < 2 || strcmp(m.stream[1].name, "x") == 0);
        EXPECT(m.streams < 3 ||
               (strcmp(m.stream[2].name, "y") == 0 && m.stream[2].values == m.stream[1].values));
    }
    imrec_minibatch_source_close(s);
    imrec_minibatch_source_close(t);
}

TEST(binary_streams_are_renamed_by_alias_and_checked)
{
    struct imrec_minibatch_source *s = mb_open(
        mb_keys(set_kinds[5], MB_KEYS("input.features.alias=A", "input.features.format=dense",
                                      "input.features.dim=2", "input.features.definesMBSize=1")));
    const struct imrec_stream *stream;
    EXPECT(imrec_minibatch_streams(s, &stream) == 2);
    EXPECT(strcmp(stream[0].name, "features") == 0 && strcmp(stream[0].alias, "A") == 0);
    EXPECT(stream[0].dim == 2 && stream[0].storage == IMREC_DENSE && stream[0].defines_mb_size);
    EXPECT(strcmp(stream[1].name, "B") == 0 && stream[1].storage == IMREC_SPARSE);
    imrec_minibatch_source_close(s);
    EXPECT(mb_try_open(mb_keys(set_kinds[5], MB_KEYS("input.A.dim=3")), &s, &err) ==
           IMREC_ERR_ARGUMENT);
    EXPECT_SAYING(strstr(err.message, "dim 2") != NULL, "%s", err.message);
    EXPECT(mb_try_open(mb_keys(set_kinds[5], MB_KEYS("input.C.dim=3")), &s, &err) ==
           IMREC_ERR_ARGUMENT);
    EXPECT_SAYING(strstr(err.message, "'C'") != NULL, "%s", err.message);
}

/* ---- several files ----------------------------------------------------------------------- */

LOOP_TEST(files_behind_each_other_are_one_corpus, 0, 2) /* _i: text, binary */
{
    char twice[1300];
    const char *file = _i ? set_cbf + 5 : "mem://one.ctf";
    snprintf(twice, sizeof(twice), "file=%s;%s", file, file);
    const char *const *one = mb_keys(set_kinds[_i ? 5 : 0], MB_KEYS("max_sweeps=2"));
    const char *const *two =
        _i ? MB_KEYS(twice, "max_sweeps=1") : MB_KEYS(twice, SET_A_B, "max_sweeps=1");
    struct notes a = mb_all(mb_keys(one, MB_KEYS("randomize=false")), 7, UINT64_MAX),
                 b = mb_all(mb_keys(two, MB_KEYS("randomize=false")), 7, UINT64_MAX);
    EXPECT(a.sequences == b.sequences && a.minibatches == b.minibatches);
    for (uint64_t i = 0; i < a.sequences; i++)
        EXPECT(a.sequence[i].hash == b.sequence[i].hash);
    notes_free(&a);
    notes_free(&b);
}

TEST(files_of_one_corpus_must_agree)
{
    struct imrec_minibatch_source *s;
    char mixed[1300];
    snprintf(mixed, sizeof(mixed), "%s;mem://one.ctf", set_cbf);
    EXPECT(mb_try_open(MB_KEYS(mixed), &s, &err) != IMREC_OK);
    EXPECT_SAYING(strstr(err.message, "one.ctf") != NULL, "%s", err.message);
    snprintf(mixed, sizeof(mixed), "file=mem://one.ctf;%s", set_cbf + 5);
    EXPECT(mb_try_open(MB_KEYS(mixed, SET_A_B), &s, &err) != IMREC_OK);
    EXPECT_SAYING(strstr(err.message, "long.cbf") != NULL, "%s", err.message);
    EXPECT(mb_try_open(MB_KEYS("file=mem://nothing.ctf", SET_A_B), &s, &err) != IMREC_OK);
    EXPECT_SAYING(strstr(err.message, "nothing.ctf") != NULL, "%s", err.message);
    EXPECT(mb_try_open(MB_KEYS("file=mem://one.ctf"), &s, &err) == IMREC_ERR_ARGUMENT);
    EXPECT_SAYING(strstr(err.message, "input") != NULL, "%s", err.message);
}

/* ---- files of other kinds ------------------------------------------------------------------ */

static const char shard[] = "\x0a\x23\xd7\xce\5\0\0\0\n|A 1\n\0\0\0";
static const struct {
    const char *bytes;
    size_t n;
    const char *words;
} others[] = {
    {shard, sizeof(shard) - 1, " is a RecordIO shard, not CNTK%s: ImageRecordIter and imrec"},
    {"\x89PNG\r\n\x1a\n |A 1 2", 15, " is a PNG image, not CNTK%s: im2rec packs images"},
    {"7\t0\n8\t40\n", 9, " is the index of a shard, not CNTK%s"},
    {"<!DOCTYPE html>\n|A 1 2\n", 23, " is an HTML page, not CNTK%s: maybe a download"},
    {"{\"a\": 1}\n", 9, " is JSON text, not CNTK%s"},
};
enum { OTHERS = sizeof(others) / sizeof(others[0]) };

static void expect_called(enum imrec_status st, int i, bool binary)
{
    char words[100];
    snprintf(words, sizeof(words), others[i].words, binary ? "'s binary format" : " text");
    EXPECT(st == IMREC_ERR_ARGUMENT);
    EXPECT_SAYING(strstr(err.message, words) != NULL && strstr(err.message, "other") != NULL,
                  "'%s' is not in: %s", words, err.message);
}

/* Alone, described or not, and as the second file of two. */
LOOP_TEST(a_file_of_another_kind_is_called_what_it_is, 0, OTHERS)
{
    struct imrec_minibatch_source *s;
    char two[700];
    EXPECT(mem_put("other", others[_i].bytes, others[_i].n, NULL) == IMREC_OK);
    expect_called(mb_try_open(MB_KEYS("file=mem://other"), &s, &err), _i, false);
    expect_called(mb_try_open(MB_KEYS("file=mem://other", SET_A_B), &s, &err), _i, false);
    expect_called(mb_try_open(MB_KEYS("file=mem://one.ctf;mem://other", SET_A_B), &s, &err), _i,
                  false);
    expect_called(mb_try_open(MB_KEYS("file=mem://other", "type=binary"), &s, &err), _i, true);
    snprintf(two, sizeof(two), "%s;mem://other", set_cbf);
    expect_called(mb_try_open(MB_KEYS(two), &s, &err), _i, true);
}

LOOP_TEST(what_reads_a_text_calls_it_so_too, 0, OTHERS)
{
    static const char header[] = "A A dense 2\n";
    struct imrec_convert_options o;
    struct imrec_ctf_card card;
    EXPECT(mem_put("other", others[_i].bytes, others[_i].n, NULL) == IMREC_OK);
    imrec_convert_options_init(&o);
    o.input = "mem://other";
    o.header = tmp_write(&set_dir, "header", header, sizeof(header) - 1);
    o.output = tmp_path(&set_dir, "out.cbf");
    expect_called(imrec_ctf_to_cbf(&o, NULL, NULL, NULL, &err), _i, false);
    EXPECT(access(o.output, F_OK) != 0);
    expect_called(imrec_ctf_card("mem://other", false, 0, &card, &err), _i, false);
}

TEST(each_of_the_two_formats_of_cntk_is_called_so_where_the_other_is_wanted)
{
    struct imrec_minibatch_source *s;
    EXPECT(mb_try_open(MB_KEYS(set_cbf, SET_A_B, "type=text"), &s, &err) == IMREC_ERR_ARGUMENT);
    EXPECT_SAYING(strstr(err.message, "long.cbf is CNTK's binary format, not CNTK text: "
                                      "CNTKBinaryReader reads it") != NULL,
                  "%s", err.message);
    EXPECT(mb_try_open(MB_KEYS("file=mem://one.ctf", "type=binary"), &s, &err) ==
           IMREC_ERR_ARGUMENT);
    EXPECT_SAYING(strstr(err.message, "one.ctf is CNTK text, not CNTK's binary format") != NULL,
                  "%s", err.message);
}

/* Of what may be damage its own error is kept: one that can be skipped, or that has a place. */
TEST(damage_is_no_other_kind)
{
    struct imrec_minibatch_source *s;
    static const char text[] = "what is this\n|A 1 2 |B 3:1\n";
    EXPECT(mem_put("other", text, sizeof(text) - 1, NULL) == IMREC_OK);
    EXPECT(mb_try_open(MB_KEYS("file=mem://other", SET_A_B, "maxErrors=1"), &s, &err) == IMREC_OK);
    imrec_minibatch_source_close(s);
    EXPECT(mb_try_open(MB_KEYS("file=mem://other", "type=binary"), &s, &err) == IMREC_ERR_CORRUPT);
    EXPECT_SAYING(strstr(err.message, "byte 0: not a CNTK binary file") != NULL, "%s", err.message);
}

/* ---- joined by id ------------------------------------------------------------------------ */

#define LEFT  "mem://left.ctf"
#define RIGHT "mem://right.ctf"
static const char *const joined[] = {
    "reader = { deserializers = (\n"
    " { type = \"CNTKTextFormatDeserializer\" ; file = \"" LEFT "\" ; chunkSizeInBytes = 40\n"
    "   input = { L = { dim = 1 ; format = \"dense\" } } }\n"
    " { type = \"CNTKTextFormatDeserializer\" ; file = \"" RIGHT "\" ; chunkSizeInBytes = 30\n"
    "   input = { R = { dim = 1 ; format = \"dense\" } } } ) }\n",
    "max_sweeps=1", "minibatchSize=3", NULL};

/* Texts of these ids, each with its id as its value. */
static void make_pair(const unsigned *left, const unsigned *right)
{
    struct buf b = BUF_INIT(1 << 20), c = BUF_INIT(1 << 20);
    for (; *left != 0; left++)
        set_print(&b, "%u |L %u\n", *left, *left);
    for (; *right != 0; right++)
        set_print(&c, "%u |R %u\n", *right, *right);
    set_put("left.ctf", &b);
    set_put("right.ctf", &c);
}
#define IDS(...) ((const unsigned[]){__VA_ARGS__, 0})

static uint64_t join(const char *const *more, uint64_t *dropped)
{
    struct imrec_minibatch_source *s = mb_open(mb_keys(joined, more));
    struct imrec_minibatch_stats stats;
    struct imrec_minibatch m;
    uint64_t sum = 0;
    while (imrec_minibatch_next(s, 0, NULL, 0, &m, &err) == IMREC_OK)
        for (uint64_t q = 0; q < m.sequences; q++) {
            EXPECT(value(&m.stream[0], q) == (double)m.ids[q]);
            EXPECT(value(&m.stream[1], q) == (double)m.ids[q]);
            sum += m.ids[q];
        }
    imrec_minibatch_get_stats(s, &stats);
    *dropped = stats.dropped_sequences;
    imrec_minibatch_source_close(s);
    return sum;
}

LOOP_TEST(sequences_are_joined_by_id_in_any_order, 0, 2) /* _i: the first one's order, randomized */
{
    uint64_t dropped;
    make_pair(IDS(1, 2, 3, 4, 5, 6, 70, 8, 9), IDS(9, 70, 8, 1, 6, 5, 2, 3, 4));
    EXPECT(join(_i ? MB_KEYS("randomizationSeed=4") : MB_KEYS("randomize=false"), &dropped) == 108);
    EXPECT(dropped == 0);
}

TEST(what_a_file_lacks_is_an_error_or_left_out)
{
    struct imrec_minibatch_source *s;
    uint64_t dropped;
    make_pair(IDS(1, 2, 3, 4), IDS(4, 2, 1));
    EXPECT(mb_try_open(joined, &s, &err) == IMREC_ERR_CORRUPT);
    EXPECT_SAYING(strstr(err.message, "id 3 of " LEFT) && strstr(err.message, RIGHT), "%s",
                  err.message);
    EXPECT(join(MB_KEYS("missing_ids=drop"), &dropped) == 7 && dropped == 1);
    make_pair(IDS(1, 2, 4), IDS(4, 6, 2, 5, 1)); /* strangers */
    EXPECT(mb_try_open(joined, &s, &err) == IMREC_ERR_CORRUPT);
    EXPECT_SAYING(strstr(err.message, "of " RIGHT " is not in " LEFT), "%s", err.message);
    EXPECT(join(MB_KEYS("missing_ids=drop"), &dropped) == 7 && dropped == 2);
    make_pair(IDS(1, 2, 4), IDS(10, 20));
    EXPECT(mb_try_open(mb_keys(joined, MB_KEYS("missing_ids=drop")), &s, &err) ==
           IMREC_ERR_CORRUPT);
    EXPECT_SAYING(strstr(err.message, "no sequence id") != NULL, "%s", err.message);
}

TEST(ids_that_join_files_are_unique)
{
    struct imrec_minibatch_source *s;
    make_pair(IDS(1, 2, 3), IDS(1, 2, 3));
    char text[900];
    const char *at = strstr(joined[0], RIGHT);
    snprintf(text, sizeof(text), "%.*s%s;%s", (int)(at - joined[0]), joined[0], RIGHT, at);
    EXPECT(mb_try_open(MB_KEYS(text), &s, &err) == IMREC_ERR_CORRUPT);
    EXPECT_SAYING(strstr(err.message, "twice") != NULL, "%s", err.message);
}

TEST(a_binary_file_joins_by_number)
{
    char text[1500];
    struct buf b = BUF_INIT(1 << 20);
    for (unsigned i = SET_LONGS; i > 0; i--)
        set_print(&b, "%u |N %u\n", i - 1, i - 1);
    set_put("numbers.ctf", &b);
    snprintf(text, sizeof(text),
             "reader = { deserializers = (\n { type = \"CNTKBinaryFormatDeserializer\"; %.4s = "
             "\"%s\" }\n { type = \"CNTKTextFormatDeserializer\"; file = \"mem://numbers.ctf\"\n"
             " input = { N = { dim = 1 ; format = \"dense\" } } } ) }\n",
             set_cbf, set_cbf + 5);
    struct imrec_minibatch_source *s = mb_open(MB_KEYS(text, "max_sweeps=1"));
    struct imrec_minibatch m;
    uint64_t seen = 0;
    while (imrec_minibatch_next(s, 30, NULL, 0, &m, &err) == IMREC_OK)
        for (uint64_t q = 0; q < m.sequences; q++, seen++) {
            EXPECT(m.streams == 3 && value(&m.stream[2], q) == (double)m.ids[q]);
            EXPECT(m.stream[0].length[q] == set_length(3 * m.ids[q] + 5));
        }
    EXPECT(seen == SET_LONGS);
    imrec_minibatch_source_close(s);
}

/* ---- types ------------------------------------------------------------------------------- */

LOOP_TEST(each_input_has_the_type_that_it_asks_for, 0,
          4) /* _i: text, binary; precision of the rest */
{
    const char *const *keys = set_kinds[_i % 2 == 0 ? 1 : 5];
    const char *rest = _i < 2 ? "precision=float" : "precision=double";
    const char *own = _i < 2 ? "input.A.precision=double" : "input.A.precision=float";
    struct imrec_minibatch_source *mixed =
        mb_open(mb_keys(keys, MB_KEYS("randomize=false", rest, own)));
    struct imrec_minibatch_source *wide =
        mb_open(mb_keys(keys, MB_KEYS("randomize=false", "precision=double")));
    struct imrec_minibatch m, w;
    const struct imrec_stream *listed;
    EXPECT(imrec_minibatch_streams(mixed, &listed) == 2);
    for (uint32_t i = 0; i < 2; i++)
        EXPECT(listed[i].precision ==
               ((i == 0) == (_i < 2) ? IMREC_PRECISION_DOUBLE : IMREC_PRECISION_FLOAT));
    for (int n = 0; n < 9; n++) {
        EXPECT_SAYING(imrec_minibatch_next(mixed, 30, NULL, 0, &m, &err) == IMREC_OK, "%s",
                      err.message);
        EXPECT(imrec_minibatch_next(wide, 30, NULL, 0, &w, &err) == IMREC_OK);
        for (uint32_t i = 0; i < 2; i++) {
            const struct imrec_minibatch_stream *a = &m.stream[i], *b = &w.stream[i];
            const uint64_t values =
                a->storage == IMREC_DENSE ? a->rows * a->width * a->dim : a->nnz;
            EXPECT(a->precision == listed[i].precision && b->precision == IMREC_PRECISION_DOUBLE);
            EXPECT(a->storage == b->storage && a->samples == b->samples && a->nnz == b->nnz);
            for (uint64_t v = 0; v < values; v++) {
                const double want = ((const double *)b->values)[v];
                EXPECT(a->precision == IMREC_PRECISION_DOUBLE
                           ? ((const double *)a->values)[v] == want
                           : ((const float *)a->values)[v] == (float)want);
            }
        }
    }
    imrec_minibatch_source_close(mixed);
    imrec_minibatch_source_close(wide);
}

/* ---- truncation -------------------------------------------------------------------------- */

struct slot { /* what stood last in a row */
    uint64_t id;
    uint32_t next; /* sample of it that comes; 0: it is over */
};

static void check_piece(struct slot *s, const struct imrec_minibatch *m, uint64_t q, bool *seen)
{
    const struct imrec_minibatch_stream *a = &m->stream[0];
    const uint64_t cell = a->row[q] * a->width + a->column[q];
    const uint32_t begin = (uint32_t)value(a, 2 * cell);
    EXPECT(begin == s->next);
    if (begin == 0) {
        EXPECT(!seen[m->ids[q]]);
        seen[m->ids[q]] = true;
        s->id = m->ids[q];
    }
    EXPECT(s->id == m->ids[q]);
    EXPECT(a->mask[cell] == (begin == 0 ? 2 : 1));
    for (uint32_t k = 0; k < a->length[q]; k++)
        EXPECT(value(a, 2 * (cell + k)) == (double)(begin + k));
    s->next = begin + a->length[q];
    EXPECT(s->next <= set_length(s->id));
    s->next = s->next == set_length(s->id) ? 0 : s->next;
}

LOOP_TEST(pieces_follow_each_other_in_their_slots, 0, SET_ORDERS) /* _i: orders */
{
    const char *const *keys =
        mb_keys(mb_keys(set_kinds[7], set_orders[_i]), MB_KEYS("max_sweeps=1"));
    struct imrec_minibatch_source *s = mb_open(keys);
    struct imrec_minibatch m;
    struct slot slot[5] = {{0, 0}};
    bool seen[3 * SET_LONGS + 5] = {false};
    uint64_t samples = 0;
    enum imrec_status st;
    while ((st = imrec_minibatch_next(s, 22, NULL, 0, &m, &err)) == IMREC_OK) {
        uint64_t next[5] = {0};
        for (uint64_t q = 0; q < m.sequences; q++) {
            EXPECT(m.stream[0].width == 4 && m.stream[0].row[q] < 5);
            EXPECT(m.stream[0].column[q] == next[m.stream[0].row[q]]); /* no gap before the end */
            next[m.stream[0].row[q]] += m.stream[0].length[q];
            check_piece(&slot[m.stream[0].row[q]], &m, q, seen);
        }
        samples += m.samples;
        for (uint64_t r = 0; r < 5 && samples + 40 < set_long_samples(); r++)
            EXPECT(next[r] == 4); /* full, while there are data */
        EXPECT(m.stream[1].samples == m.stream[0].samples);
    }
    EXPECT(st == IMREC_END && samples == set_long_samples());
    imrec_minibatch_source_close(s);
}

TEST(truncated_streams_of_unequal_lengths_are_an_error)
{
    struct imrec_minibatch_source *s =
        mb_open(mb_keys(set_kinds[2], MB_KEYS("truncationLength=4")));
    struct imrec_minibatch m;
    enum imrec_status st = IMREC_OK;
    for (int i = 0; i < 100 && st == IMREC_OK; i++)
        st = imrec_minibatch_next(s, 20, NULL, 0, &m, &err);
    EXPECT(st == IMREC_ERR_CORRUPT);
    EXPECT_SAYING(strstr(err.message, "'A'") && strstr(err.message, "'B'"), "%s", err.message);
    imrec_minibatch_source_close(s);
}

/* ---- mixing ------------------------------------------------------------------------------ */

enum { MANY = 6300, A_CHUNK = 300 };

LOOP_TEST(a_hundred_samples_are_never_all_of_one_chunk, 2, 9) /* _i: windows of 2, 3, ... chunks */
{
    char window[64];
    struct buf b = BUF_INIT(1 << 20);
    for (unsigned i = 0; i < MANY; i++)
        set_print(&b, "|A %05u 0\n", i); /* 11 bytes */
    set_put("many.ctf", &b);
    for (int by_samples = 0; by_samples < 2; by_samples++) {
        snprintf(window, sizeof(window), "randomizationWindow=%d", by_samples ? _i * A_CHUNK : _i);
        struct imrec_minibatch_source *s = mb_open(MB_KEYS(
            "file=mem://many.ctf", "input.A.format=dense", "input.A.dim=2", "chunkSizeInBytes=3300",
            "max_sweeps=2", window, by_samples ? "sampleBasedRandomizationWindow=1" : "threads=2"));
        struct notes n = {0};
        uint64_t run = 0, longest = 0, before = UINT64_MAX;
        mb_follow(s, 500, UINT64_MAX, 4, &n);
        EXPECT(n.sequences == 2 * MANY);
        for (uint64_t i = 0; i < n.sequences; i++) {
            run = n.sequence[i].id / A_CHUNK == before ? run + 1 : 1;
            before = n.sequence[i].id / A_CHUNK;
            longest = run > longest ? run : longest;
        }
        if (_i == 2) /* of 21 chunks one is left over: it cannot be mixed with two others */
            longest -= longest == A_CHUNK ? A_CHUNK : 0;
        EXPECT_SAYING(longest < 100, "%s: %llu samples of one chunk", window,
                      (unsigned long long)longest);
        imrec_minibatch_source_close(s);
        notes_free(&n);
    }
}
