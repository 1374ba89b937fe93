/* order=global with mix, class_balanced, sample_weights, subset, repeats and sweep_samples: what a
 * sweep has, that every number of ranks agrees about it, and what is refused. */
#include "tests/support/imageset.h"
#include "tests/support/suite.h"

enum { SAMPLE_BYTES = 12 * 12 * 3 * 4, MOST_SEEN = 4096 };

static const char common[] = "order=global shuffle=1 seed=7 batch_size=12 rand_crop=1 "
                             "rand_mirror=1 verbose=0 data_shape=3,12,12";

/* What an iterator delivers of `sweeps` sweeps. */
struct got {
    uint64_t id[MOST_SEEN], hash[MOST_SEEN];
    float label[MOST_SEEN];
    uint32_t n, of_sweep[16];
};

static void read_sweeps(struct imrec_iter *it, uint32_t sweeps, struct got *g)
{
    struct imrec_batch b;
    struct imrec_error err;
    g->n = 0;
    for (uint32_t i = 0; i < sweeps; i++) {
        const uint32_t before = g->n;
        enum imrec_status st;
        while ((st = imrec_iter_next(it, &b, &err)) == IMREC_OK)
            for (uint32_t k = 0; k < b.slots; k++) {
                if (b.valid[k] != 1)
                    continue;
                ck_assert_uint_lt(g->n, MOST_SEEN);
                g->id[g->n] = b.ids[k];
                g->label[g->n] = b.labels[k];
                g->hash[g->n++] =
                    seen_hash(1, (const uint8_t *)b.data + (size_t)k * SAMPLE_BYTES, SAMPLE_BYTES);
            }
        ck_assert_msg(st == IMREC_END, "%s", err.message);
        g->of_sweep[i] = g->n - before;
    }
}

static struct got seen;

static void nothing_is_left(void)
{
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

CASE(.timeout = 120, .teardown = nothing_is_left)

static uint32_t with_label(const struct got *g, float low, float high)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->n; i++)
        n += g->label[i] >= low && g->label[i] < high;
    return n;
}

static struct image_set set_of(uint32_t records, uint32_t shards, uint32_t classes)
{
    return image_set_make(&(struct image_set_options){
        .records = records, .shards = shards, .labels = 1, .id_keys = true, .classes = classes});
}

/* ---- mixtures ----------------------------------------------------------------------------- */

struct sets {
    struct image_set a, b;
    char mix[700];
};

/* 40 records in two shards, of weight 0.7; 20, of weight 0.3, whose classes begin at 100. */
static struct sets two_sets(void)
{
    struct sets s = {set_of(40, 2, 0), set_of(20, 1, 0), ""};
    snprintf(s.mix, sizeof(s.mix), "mix=%s:0.7,%s:0.3 mix_label_offset=0,100 path_imgidx=auto",
             s.a.dir.path, s.b.dir.path);
    return s;
}

static void free_sets(struct sets *s)
{
    image_set_free(&s->a);
    image_set_free(&s->b);
}

static struct imrec_iter *open_mix(const struct sets *s, const char *more)
{
    struct imrec_iter_options o;
    struct imrec_iter *it;
    struct imrec_error err = {0};
    char words[2048];
    imrec_iter_options_init(&o);
    snprintf(words, sizeof(words), "%s %s %s", common, s->mix, more);
    if (open_words(&o, words, &it, &err) != IMREC_OK)
        ck_abort_msg("%s: %s", words, err.message);
    return it;
}

/* 57 samples: the 39 and 17 that are 0.7 and 0.3 of what 40 records of the first set allow. */
TEST(a_mixture_has_its_weights_until_one_set_ends)
{
    struct sets s = two_sets();
    struct imrec_iter *it = open_mix(&s, "");
    read_sweeps(it, 3, &seen);
    ck_assert_uint_eq(with_label(&seen, 0, 100), 3 * 39);
    ck_assert_uint_eq(with_label(&seen, 100, 200), 3 * 17);
    ck_assert_uint_eq(seen.of_sweep[0], 56);
    for (uint32_t i = 0; i < seen.n; i++)
        ck_assert_uint_eq(set_record_of(seen.id[i]), (uint32_t)seen.label[i] % 100);
    imrec_iter_close(it);
    free_sets(&s);
}

/* 72.1 and 30.9. */
TEST(a_sample_that_rounding_leaves_over_goes_where_most_was_lost)
{
    struct sets s = two_sets();
    struct imrec_iter *it = open_mix(&s, "sweep_samples=103");
    read_sweeps(it, 1, &seen);
    ck_assert_uint_eq(with_label(&seen, 0, 100), 72);
    ck_assert_uint_eq(with_label(&seen, 100, 200), 31);
    imrec_iter_close(it);
    free_sets(&s);
}

/* 200 samples: 140 of 40 records, 60 of 20; each of them 3 or 4 times, augmented differently. */
TEST(a_mixture_by_samples_begins_its_sets_again)
{
    struct sets s = two_sets();
    struct imrec_iter *it = open_mix(&s, "sweep_samples=200 rand_crop=1");
    uint32_t times[120] = {0}, equal = 0;
    read_sweeps(it, 1, &seen);
    ck_assert_uint_eq(with_label(&seen, 0, 100), 140);
    ck_assert_uint_eq(with_label(&seen, 100, 200), 60);
    for (uint32_t i = 0; i < seen.n; i++) {
        times[(uint32_t)seen.label[i]]++;
        for (uint32_t k = 0; k < i; k++)
            equal += seen.label[k] == seen.label[i] && seen.hash[k] == seen.hash[i];
    }
    for (uint32_t i = 0; i < 120; i++)
        if (i < 40 || i >= 100)
            ck_assert(times[i] == 3 || times[i] == 4);
    ck_assert_uint_lt(equal, 60); /* of 330 pairs: crops of few places */
    imrec_iter_close(it);
    free_sets(&s);
}

/* ---- choices of one set ------------------------------------------------------------------- */

static struct imrec_iter *open_one(const struct image_set *s, const char *more)
{
    char words[3000];
    snprintf(words, sizeof(words), "%s %s", common, more);
    return set_open(s, true, words);
}

/* Appends lines of a file to `words`: "KEY=PATH". */
static void
add_file(const struct image_set *s, const char *key, const char *text, char *words, size_t room)
{
    const size_t n = strlen(words);
    const char *path = tmp_write(&s->dir, key, text, strlen(text));
    ck_assert_int_lt(snprintf(words + n, room - n, " %s=%s", key, path), (int)(room - n));
}

TEST(a_subset_has_the_records_of_its_ids)
{
    struct image_set s = set_of(50, 2, 0);
    char words[600] = "";
    add_file(&s, "subset", "1014\n1000\tx\t1.png\n\n 1343 \n1021 5", words, sizeof(words));
    for (int shuffle = 0; shuffle < 2; shuffle++) {
        char more[700];
        snprintf(more, sizeof(more), "%s shuffle=%d", words, shuffle);
        struct imrec_iter *it = open_one(&s, more);
        const uint64_t want[] = {1000, 1014, 1021, 1343};
        read_sweeps(it, 2, &seen);
        ck_assert_uint_eq(seen.n, 8);
        for (uint32_t i = 0; i < 8; i++) {
            uint32_t met = 0;
            for (uint32_t k = i / 4 * 4; k < i / 4 * 4 + 4; k++)
                met += seen.id[k] == want[i % 4];
            ck_assert_uint_eq(met, 1);
            ck_assert(shuffle || seen.id[i] == want[i % 4]);
        }
        imrec_iter_close(it);
    }
    image_set_free(&s);
}

/* 45 records of 7 classes, some of which have 7, some 6; then with classes that a list names. */
LOOP_TEST(balanced_classes_have_equally_many_samples, 0, 2)
{
    struct image_set s = set_of(45, 2, _i == 0 ? 7 : 0);
    char words[600] = "class_balanced=1 sweep_samples=70", text[1200] = "";
    const uint32_t classes = _i == 0 ? 7 : 2, rare = 5; /* class 1: 5 of 45 records */
    for (uint32_t i = 0; _i == 1 && i < 45; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%d\t%d\tx\n", (int)set_id(i),
                 i < rare);
    if (_i == 1)
        add_file(&s, "path_imglist", text, words, sizeof(words));
    struct imrec_iter *it = open_one(&s, words);
    read_sweeps(it, 3, &seen);
    ck_assert_uint_eq(seen.n, 210);
    for (uint32_t c = 0; c < classes; c++)
        ck_assert_uint_eq(with_label(&seen, (float)c, (float)c + 1), 210 / classes);
    imrec_iter_close(it);
    image_set_free(&s);
}

TEST(weights_say_how_often_a_record_comes)
{
    struct image_set s = set_of(30, 2, 0);
    char words[600] = "sweep_samples=100", text[1200] = "";
    for (uint32_t i = 0; i < 30; i++) /* 0, 1 or 2, and one of 30 */
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%d %g\n", (int)set_id(29 - i),
                 29 - i == 4 ? 30 : (29 - i) % 3 * 1.0);
    add_file(&s, "sample_weights", text, words, sizeof(words));
    struct imrec_iter *it = open_one(&s, words);
    uint32_t times[30] = {0};
    read_sweeps(it, 1, &seen);
    for (uint32_t i = 0; i < seen.n; i++)
        times[set_record_of(seen.id[i])]++;
    for (uint32_t i = 0; i < 30; i++) { /* the sum is 30 - 1 + 30 = 59 */
        const double want = 100 * (i == 4 ? 30 : i % 3 * 1.0) / 59;
        ck_assert_msg(times[i] > want - 1 && times[i] < want + 1, "%d: %d of %g", (int)i,
                      (int)times[i], want);
    }
    imrec_iter_close(it);
    image_set_free(&s);
}

/* ---- ranks and positions ------------------------------------------------------------------ */

/* Samples of all ranks, in the order of the job. */
static void read_ranks(const struct sets *s, uint32_t world, const char *more, struct got *g)
{
    struct imrec_iter *it[6];
    struct imrec_batch b;
    bool end = false;
    for (uint32_t r = 0; r < world; r++) {
        char words[400];
        snprintf(words, sizeof(words),
                 "global_batch_size=12 batch_size=%u num_parts=%u "
                 "part_index=%u preprocess_threads=%u %s",
                 12 / world, world, r, 1 + r % 3, more);
        it[r] = open_mix(s, words);
    }
    for (g->n = 0; !end;)
        for (uint32_t r = 0; r < world; r++) {
            const enum imrec_status st = imrec_iter_next(it[r], &b, NULL);
            end = st == IMREC_END;
            ck_assert(st == IMREC_OK || end);
            for (uint32_t k = 0; !end && k < b.slots; k++)
                if (b.valid[k] == 1)
                    g->hash[g->n++] =
                        seen_hash(b.ids[k] + (uint64_t)b.labels[k] * 10000,
                                  (const uint8_t *)b.data + (size_t)k * SAMPLE_BYTES, SAMPLE_BYTES);
        }
    for (uint32_t r = 0; r < world; r++)
        imrec_iter_close(it[r]);
}

static const char *const mixes[] = {"", "sweep_samples=100", "sweep_samples=48 repeats=2",
                                    "sweep_samples=30 epoch_size=45 last_batch=repeat"};

LOOP_TEST(every_number_of_ranks_gets_the_same_mixture, 0, COUNT(mixes))
{
    static struct got one, many;
    struct sets s = two_sets();
    read_ranks(&s, 1, mixes[_i], &one);
    for (uint32_t world = 2; world <= 6; world += 2) {
        read_ranks(&s, world, mixes[_i], &many);
        ck_assert_uint_eq(many.n, one.n);
        ck_assert_int_eq(memcmp(many.hash, one.hash, one.n * sizeof(one.hash[0])), 0);
    }
    free_sets(&s);
}

TEST(a_position_of_another_choice_is_refused_by_name)
{
    static const char *const others[] = {"sweep_samples=100", "repeats=2", "mix_label_offset=0,7"};
    struct sets s = two_sets();
    struct imrec_iter *it = open_mix(&s, "");
    struct imrec_batch b;
    struct imrec_error err;
    const char *json;
    char at[1000];
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_OK);
    ck_assert_int_eq(imrec_iter_position(it, &json, &err), IMREC_OK);
    snprintf(at, sizeof(at), "%s", json);
    const uint64_t print = imrec_iter_fingerprint(it);
    imrec_iter_close(it);
    for (int i = 0; i < COUNT(others); i++) {
        it = open_mix(&s, others[i]);
        const enum imrec_status st = imrec_iter_seek(it, at, &err);
        ck_assert_int_eq(st, i < 2 ? IMREC_ERR_ARGUMENT : IMREC_OK);
        ck_assert_msg(i == 2 || strstr(err.message, "another choice") != NULL, "%s", err.message);
        ck_assert((imrec_iter_fingerprint(it) == print) == (i == 2));
        imrec_iter_close(it);
    }
    free_sets(&s);
}

/* ---- what is refused ---------------------------------------------------------------------- */

static const struct {
    const char *words, *key, *text, *says;
} refused[] = {
    {"order=local subset=x", NULL, NULL, "need order=global"},
    {"locality=chunk sweep_samples=9", NULL, NULL, "locality=record"},
    {"class_balanced=1 shuffle=0", NULL, NULL, "need shuffle=1"},
    {"class_balanced=1 sample_weights=x", NULL, NULL, "give one of them"},
    {"class_balanced=1 sweep_samples=3", NULL, NULL, "must be larger"},
    {"repeats=5", NULL, NULL, "multiple of repeats"},
    {"mix=a.rec:1", NULL, NULL, "both name the data"},
    {"mix_label_offset=1", NULL, NULL, "needs mix"},
    {"subset=/does/not/exist", NULL, NULL, "/does/not/exist"},
    {"", "subset", "1000\n1001\n", "line 2: no record has the id 1001"},
    {"", "subset", "1000\n\n1000\n1007\n", "id 1000 is in lines 1 and 3"},
    {"", "subset", "\n\n", "has no id"},
    {"", "subset", "1000\nx\n", "line 2 is 'x'"},
    {"", "sample_weights", "1000 1\n", "no line for id 1007"},
    {"", "sample_weights", "1000 -1\n", "at least 0"},
    {"", "sample_weights", "1000\n", "an id and a weight"},
    {"", "sample_weights", "1000 nan\n", "at least 0"},
    {"sweep_samples=4294967296 sample_weights=x", NULL, NULL, "less than 2^32"},
    {"class_balanced=1", "path_imglist", "1000\t1\tx\n", "no line for id 1007"},
};

LOOP_TEST(what_cannot_be_chosen_is_refused_by_name, 0, COUNT(refused))
{
    struct image_set s = set_of(20, 1, 0);
    char words[1024];
    struct imrec_iter *it;
    struct imrec_error err = {0};
    snprintf(words, sizeof(words), "%s %s", common, refused[_i].words);
    if (refused[_i].key != NULL)
        add_file(&s, refused[_i].key, refused[_i].text, words, sizeof(words));
    ck_assert_int_ne(set_try_open(&s, true, words, &it, &err), IMREC_OK);
    ck_assert_msg(strstr(err.message, refused[_i].says) != NULL, "%s", err.message);
    image_set_free(&s);
}

TEST(a_line_that_is_wrong_is_named_with_its_file)
{
    struct image_set s = set_of(20, 1, 0);
    char words[1024];
    struct imrec_iter *it;
    struct imrec_error err = {0};
    snprintf(words, sizeof(words), "%s", common);
    add_file(&s, "subset", "1000\nx\n", words, sizeof(words));
    ck_assert_int_eq(set_try_open(&s, true, words, &it, &err), IMREC_ERR_CORRUPT);
    ck_assert_str_eq(err.shard, tmp_path(&s.dir, "subset"));
    ck_assert_uint_eq(err.offset, 5);
    image_set_free(&s);
}

/* None of them wanted; more than a double holds. */
LOOP_TEST(weights_need_a_sum, 0, 2)
{
    struct image_set s = set_of(20, 1, 0);
    char words[1024], text[1000] = "";
    struct imrec_iter *it;
    struct imrec_error err = {0};
    snprintf(words, sizeof(words), "%s", common);
    for (uint32_t i = 0; i < 20; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%d %s\n", (int)set_id(i),
                 _i == 0 ? "0" : "1e308");
    add_file(&s, "sample_weights", text, words, sizeof(words));
    ck_assert_int_eq(set_try_open(&s, true, words, &it, &err), IMREC_ERR_CORRUPT);
    ck_assert_msg(strstr(err.message, "a finite sum above 0") != NULL, "%s", err.message);
    image_set_free(&s);
}

static const struct {
    const char *mix, *says;
} not_mixed[] = {
    {"mix=a.rec", "a.rec"},
    {"mix=a.rec:0", "number above 0"},
    {"mix=a.rec:1,:2", "':2'"},
    {"mix=a.rec;b.rec:1", "one set"},
    {"mix=a.rec:1,b.rec:x", "b.rec:x"},
    {"mix=a.rec:1 mix_label_offset=1,2", "2 numbers, but mix 1 sets"},
    {"mix=a.rec:1 mix_label_offset=z", "'z' must be a number"},
    {"mix=a.rec:1 source=mine", "source reads path_imgrec"},
    {"mix=a.rec:1 mix_label_offset=1 label_width=2", "label_width must be 1"},
    {"mix=/does/not/exist.rec:1", "/does/not/exist.rec"},
};

LOOP_TEST(what_is_no_mixture_is_refused_by_name, 0, COUNT(not_mixed))
{
    struct imrec_iter_options o;
    struct imrec_iter *it;
    struct imrec_error err = {0};
    char words[1024];
    imrec_iter_options_init(&o);
    snprintf(words, sizeof(words), "%s %s", common, not_mixed[_i].mix);
    ck_assert_int_ne(open_words(&o, words, &it, &err), IMREC_OK);
    ck_assert_msg(strstr(err.message, not_mixed[_i].says) != NULL, "%s", err.message);
}

TEST(a_set_of_little_weight_that_a_sweep_lacks_is_named)
{
    struct sets s = two_sets();
    struct imrec_iter_options o;
    struct imrec_iter *it;
    struct imrec_error err = {0};
    char words[2048];
    imrec_iter_options_init(&o);
    snprintf(words, sizeof(words), "%s mix=%s:1000,%s:1 path_imgidx=auto", common, s.a.dir.path,
             s.b.dir.path);
    ck_assert_int_ne(open_words(&o, words, &it, &err), IMREC_OK);
    ck_assert_msg(strstr(err.message, "no sample in a sweep") != NULL &&
                      strstr(err.message, s.b.dir.path) != NULL,
                  "%s", err.message);
    free_sets(&s);
}

/* Ids are looked up by the keys of the index, here the numbers of the records. */
TEST(an_index_of_other_keys_is_found_out)
{
    struct image_set s =
        image_set_make(&(struct image_set_options){.records = 20, .shards = 1, .labels = 1});
    char words[1024];
    struct imrec_iter *it;
    struct imrec_error err = {0};
    snprintf(words, sizeof(words), "%s", common);
    add_file(&s, "subset", "3\n4\n", words, sizeof(words));
    ck_assert_int_eq(set_try_open(&s, true, words, &it, &err), IMREC_ERR_CORRUPT);
    ck_assert_msg(strstr(err.message, "but its id is 1000") != NULL, "%s", err.message);
    imrec_iter_close(open_one(&s, "class_balanced=1")); /* it looks no id up */
    image_set_free(&s);
}

TEST(no_memory_for_a_choice_is_an_error)
{
    struct image_set s = set_of(20, 1, 5);
    char words[1024];
    snprintf(words, sizeof(words), "%s class_balanced=1", common);
    add_file(&s, "subset", "1000\n1007\n1014\n1021\n1028\n", words, sizeof(words));
    opening_must_fail_cleanly(&s, true, words);
    image_set_free(&s);
}
