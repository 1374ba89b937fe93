/* tests/iter/test_iter_sounds.c - tones packed and read: the frequency is found again whatever
 * is cropped, moved and made louder, and no batch depends on threads. */
#include "base/alloc.h"
#include "imrec/packer.h"
#include "tests/support/iter_pair.h"
#include "tests/support/suite.h"
#include "tests/support/wavs.h"

#include <string.h>

enum { SOUNDS = 24, RATE = 8000, SAMPLES = 2000 };

static struct packing p;
static const char *rec;

static struct tone tone_of(uint32_t i)
{
    return (struct tone){i % 3 == 2 ? 2 : 1, RATE, 1500 + 100 * i, 200 + 50.0 * i, 0.25, 0};
}

/* Sound i is in class i % 2; ids go by class and then by name. */
static uint32_t sound_of(uint64_t id)
{
    return (uint32_t)(id < SOUNDS / 2 ? 2 * id : 2 * (id - SOUNDS / 2) + 1);
}

static void setup(void)
{
    struct buf wav = BUF_INIT(1 << 24);
    char name[64];
    memset(&p, 0, sizeof(p));
    p.dir = tmpdir_make();
    make_folder(&p.dir, "source");
    make_folder(&p.dir, "source/a");
    make_folder(&p.dir, "source/b");
    for (uint32_t i = 0; i < SOUNDS; i++) {
        const struct tone t = tone_of(i);
        wav_make(&wav, &t);
        snprintf(name, sizeof(name), "source/%c/%02u.WAV", 'a' + (int)(i % 2), i);
        tmp_write(&p.dir, name, wav.p, wav.n);
    }
    buf_free(&wav);
    snprintf(p.source, sizeof(p.source), "%s/source", p.dir.path);
    imrec_pack_options_init(&p.o);
    p.o.shuffle = false;
    rec = kept_path(&p, "sounds.rec");
    ck_assert_msg(packing_run(&p, rec) == IMREC_OK, "%s", p.err.message);
}

static void teardown(void)
{
    packing_remove(&p);
}

#define AUDIO "audio=1 data_shape=1,1,2000 "

static struct imrec_batch next_batch(struct imrec_iter *it)
{
    struct imrec_batch b;
    struct imrec_error err = {0};
    ck_assert_msg(imrec_iter_next(it, &b, &err) == IMREC_OK, "%s", err.message);
    return b;
}

START_TEST(frequencies_are_found_again) /* _i: 0: the centre, 1: everything random */
{
    struct imrec_iter *it = pair_open(
        rec, _i ? AUDIO "batch_size=24 rand_crop=1 max_random_shift=200 max_random_gain=6 scale=2 "
                        "shuffle=1 record_draws=1 sample_rate=8000 subtract_mean=1"
                : AUDIO "batch_size=24 record_draws=1");
    const struct imrec_batch b = next_batch(it);
    for (uint32_t i = 0; i < SOUNDS; i++) {
        const float *v = (const float *)b.data + (size_t)i * SAMPLES;
        const uint32_t n = sound_of(b.ids[i]);
        const struct tone t = tone_of(n);
        const struct imrec_draw *d = &b.draws[i];
        const double loud = 32767 * t.amplitude * (double)d->sound_gain * (_i ? 2 : 1);
        const int64_t begin = d->sound_begin < 0 ? -d->sound_begin : 0; /* silence before it */
        const int64_t left = (int64_t)t.samples - d->sound_begin;       /* and behind */
        const size_t end = (size_t)(left < SAMPLES ? left : SAMPLES);
        const double own = tone_share(v + begin, end - (size_t)begin, t.hertz, RATE);
        const double other = tone_share(v + begin, end - (size_t)begin, t.hertz + 250, RATE);
        if (t.channels == 1)
            ck_assert_msg(fabs(own / loud - 1) < 0.05, "%u: %g instead of %g", n, own, loud);
        else /* half of one tone, and half of the other one */
            ck_assert_msg(fabs(2 * own / loud - 1) < 0.2, "%u: %g instead of %g", n, own, loud);
        ck_assert(other < 0.1 * loud);
        ck_assert(b.labels[i] == (float)(n % 2));
        for (int64_t k = 0; k < begin; k++)
            ck_assert(fabsf(v[k]) < 1e-3f);
        for (size_t k = end; k < SAMPLES; k++)
            ck_assert(fabsf(v[k]) < 1e-3f);
    }
    imrec_iter_close(it);
}
END_TEST

START_TEST(what_is_drawn_is_random_and_within_its_bounds)
{
    struct imrec_iter *it =
        pair_open(rec, AUDIO "batch_size=24 max_random_shift=100 max_random_gain=12 rand_crop=1 "
                             "record_draws=1");
    double loudest = 0, softest = 100;
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (int sweep = 0; sweep < 20; sweep++) {
        const struct imrec_batch b = next_batch(it);
        for (uint32_t i = 0; i < SOUNDS; i++) {
            const struct tone t = tone_of(sound_of(b.ids[i]));
            const int64_t room = (int64_t)t.samples - SAMPLES, at = b.draws[i].sound_begin;
            ck_assert_int_ge(at, (room < 0 ? room : 0) - 100);
            ck_assert_int_le(at, (room > 0 ? room : 0) + 100);
            loudest = fmax(loudest, (double)b.draws[i].sound_gain);
            softest = fmin(softest, (double)b.draws[i].sound_gain);
            first = at - (room < 0 ? room : 0) < first ? at - (room < 0 ? room : 0) : first;
            last = at - (room > 0 ? room : 0) > last ? at - (room > 0 ? room : 0) : last;
        }
        struct imrec_batch none;
        ck_assert_int_eq(imrec_iter_next(it, &none, NULL), IMREC_END);
    }
    ck_assert(loudest <= 3.9811 && loudest > 3.7); /* 12 dB */
    ck_assert(softest >= 0.25118 && softest < 0.27);
    ck_assert(first < -70 && last > 70);
    imrec_iter_close(it);
}
END_TEST

static const struct {
    const char *words, *threads;
    size_t sample_bytes;
} ways[] = {
    {AUDIO "", "preprocess_threads=1", SAMPLES * 4},
    {AUDIO "rand_crop=1 max_random_gain=3 shuffle=1 seed=4",
     "preprocess_threads=5 prefetch_buffer=1", SAMPLES * 4},
    {AUDIO "max_random_shift=9 subtract_mean=1 shuffle=1 shuffle_window=65536 shuffle_chunk=8192",
     "preprocess_threads=4", SAMPLES * 4},
    {AUDIO "mixup=0.4 num_classes=2 rand_crop=1", "preprocess_threads=4", SAMPLES * 4},
    {AUDIO "num_views=2 batch_size=6 rand_crop=1 shuffle=1", "preprocess_threads=3", SAMPLES * 4},
    {"audio=1 data_shape=2,3,100 layout=NHWC mean_g=5 num_parts=3 part_index=1", "", 600 * 4},
    {"audio=1 data_shape=2,1,3000 last_batch=wrap std_r=100", "preprocess_threads=3", 6000 * 4},
};
enum { WAYS = sizeof(ways) / sizeof(*ways) };

START_TEST(threads_change_nothing) /* _i: way */
{
    char words[400];
    snprintf(words, sizeof(words), "%s %s", ways[_i].words, ways[_i].threads);
    iterators_must_agree(pair_open(rec, words), pair_open(rec, ways[_i].words),
                         ways[_i].sample_bytes, 12, words);
}
END_TEST

START_TEST(a_position_goes_on_where_it_was_taken) /* _i: batches before it */
{
    const char *words = AUDIO "rand_crop=1 max_random_gain=3 shuffle=1 batch_size=5";
    struct imrec_iter *a = pair_open(rec, words), *b = pair_open(rec, words);
    const char *json;
    for (int i = 0; i < _i; i++)
        next_batch(a);
    ck_assert_int_eq(imrec_iter_position(a, &json, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_iter_seek(b, json, NULL), IMREC_OK);
    for (int i = 0; i < 8; i++) {
        struct imrec_batch x, y;
        const enum imrec_status st = imrec_iter_next(a, &x, NULL);
        ck_assert_int_eq(imrec_iter_next(b, &y, NULL), st);
        ck_assert(st == IMREC_END || memcmp(x.data, y.data, 5 * SAMPLES * sizeof(float)) == 0);
    }
    imrec_iter_close(a);
    imrec_iter_close(b);
}
END_TEST

START_TEST(nothing_is_allocated_in_the_steady_state)
{
    struct imrec_iter *it = pair_open(
        rec, AUDIO "rand_crop=1 subtract_mean=1 last_batch=wrap shuffle=1 record_draws=1");
    for (int i = 0; i < 300; i++)
        next_batch(it);
    imrec_alloc_fail_after(0);
    for (int i = 0; i < 100; i++)
        next_batch(it);
    imrec_alloc_fail_after(-1);
    imrec_iter_close(it);
}
END_TEST

static const struct {
    const char *words, *why;
} refused[] = {
    {AUDIO "rand_mirror=1", "audio=1 has no rand_mirror: it is for images"},
    {AUDIO "resize=3", "audio=1 has no resize"},
    {AUDIO "aug_seq=hue", "audio=1 has no aug_seq"},
    {AUDIO "mean_img=x", "audio=1 has no mean_img"},
    {AUDIO "masks=uint8", "audio=1 has no masks"},
    {AUDIO "cutmix=1", "audio=1 has no cutmix"},
    {AUDIO "preset=ImageDetRecordIter", "audio=1 has no "},
    {AUDIO "dtype=uint8", "dtype=float32"},
    {"audio=1 data_shape=5,1,9", "1 to 4 channels"},
    {"subtract_mean=1", "subtract_mean is for sounds: it needs audio=1"},
    {"sample_rate=8000", "sample_rate is for sounds"},
    {"data_shape=2,9,9", "data_shape must have 1, 3 or 4 channels"},
};

START_TEST(what_has_no_meaning_for_sounds_is_refused) /* _i: which */
{
    struct imrec_iter *it;
    struct imrec_error err = {0};
    ck_assert_int_eq(pair_try_open(rec, refused[_i].words, &it, &err), IMREC_ERR_ARGUMENT);
    ck_assert_msg(strstr(err.message, refused[_i].why) != NULL, "%s", err.message);
}
END_TEST

static const struct {
    const char *words, *why;
} failing[] = {
    {AUDIO "sample_rate=16000", "the sound has 8000 samples a second, sample_rate is 16000"},
    {"audio=1 data_shape=3,1,9 batch_size=9", "the sound has 2 channels, data_shape 3"},
    {"data_shape=3,9,9", "record at byte 0, id 0"}, /* a sound is no image */
};

START_TEST(sounds_that_do_not_fit_fail_alone) /* _i: which */
{
    struct imrec_batch b;
    struct imrec_error err = {0};
    struct imrec_iter *it = pair_open(rec, failing[_i].words);
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_ERR_DATA);
    ck_assert_msg(strstr(err.message, failing[_i].why) != NULL, "%s", err.message);
    imrec_iter_close(it);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("sounds");
    TCase *tc = tcase_create("sounds");
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, frequencies_are_found_again, 0, 2);
    tcase_add_test(tc, what_is_drawn_is_random_and_within_its_bounds);
    tcase_add_loop_test(tc, threads_change_nothing, 0, WAYS);
    tcase_add_loop_test(tc, a_position_goes_on_where_it_was_taken, 0, 5);
    tcase_add_test(tc, nothing_is_allocated_in_the_steady_state);
    tcase_add_loop_test(tc, what_has_no_meaning_for_sounds_is_refused, 0,
                        sizeof(refused) / sizeof(*refused));
    tcase_add_loop_test(tc, sounds_that_do_not_fit_fail_alone, 0,
                        sizeof(failing) / sizeof(*failing));
    suite_add_tcase(s, tc);
    return suite_run(s);
}
