/* tests/unit/test_wav.c - WAV files: what is in them, and what cannot be. */
#include "codec/wav.h"
#include "tests/support/suite.h"
#include "tests/support/wavs.h"

#include <stdlib.h>
#include <string.h>

static struct buf file = BUF_INIT(1 << 20);
static const struct tone tone = {2, 8000, 50, 440, 0.5, 0};

static void setup(void)
{
    wav_make(&file, &tone);
}

static void teardown(void)
{
    buf_free(&file);
}

START_TEST(channels_rate_and_samples_are_read)
{
    struct wav w;
    struct imrec_sound_info info;
    ck_assert(wav_is((struct bytes){file.p, file.n}));
    ck_assert_int_eq(wav_parse((struct bytes){file.p, file.n}, &w, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_sound_info(file.p, file.n, &info, NULL), IMREC_OK);
    ck_assert(info.channels == 2 && info.sample_rate == 8000 && info.samples == 50);
    ck_assert_ptr_eq(w.frames, file.p + WAV_HEAD);
    ck_assert_uint_eq(w.info.samples, 50);
}
END_TEST

START_TEST(what_stands_behind_the_data_is_no_matter)
{
    struct wav w;
    wav_put(&file, "LIST\377\377\377\377", 8); /* cut off, even */
    ck_assert_int_eq(wav_parse((struct bytes){file.p, file.n}, &w, NULL), IMREC_OK);
}
END_TEST

START_TEST(the_extensible_head_of_pcm_is_read)
{
    static const uint8_t more[] = {22, 0, 16, 0, 3, 0, 0, 0, 1, 0};
    struct buf b = BUF_INIT(1 << 20);
    struct wav w;
    wav_put(&b, file.p, WAV_FMT + 8 + 16);
    wav_put(&b, more, sizeof(more));
    wav_put(&b, "\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71", 14);
    wav_put(&b, file.p + WAV_DATA, file.n - WAV_DATA);
    b.p[WAV_FMT + 4] = 40;
    store_le32(b.p + WAV_FMT + 8, 0x0002fffe); /* two channels */
    ck_assert_int_eq(wav_parse((struct bytes){b.p, b.n}, &w, NULL), IMREC_OK);
    ck_assert_uint_eq(w.info.samples, 50);
    b.p[WAV_FMT + 8 + 24] = 3; /* floats */
    ck_assert_int_eq(wav_parse((struct bytes){b.p, b.n}, &w, NULL), IMREC_ERR_UNSUPPORTED);
    buf_free(&b);
}
END_TEST

static const struct {
    size_t at;
    uint32_t value;
    size_t bytes;
    enum imrec_status status;
    const char *why;
} bad[] = {
    {0, 0x58464952, 4, IMREC_ERR_UNSUPPORTED, "does not begin with RIFF"}, /* big-endian RIFX */
    {8, 0x50424557, 4, IMREC_ERR_UNSUPPORTED, "does not begin with RIFF"}, /* WEBP */
    {WAV_FMT + 4, 14, 4, IMREC_ERR_CORRUPT, "'fmt ' has 14 bytes, it must have at least 16"},
    {WAV_FMT + 4, UINT32_MAX, 4, IMREC_ERR_CORRUPT, "at byte 12 has 4294967295 bytes"},
    {WAV_FMT, 0x20202020, 4, IMREC_ERR_CORRUPT, "no chunk 'fmt '"},
    {WAV_FMT + 8, 3, 2, IMREC_ERR_UNSUPPORTED, "format 3 and 16 bits"},
    {WAV_FMT + 8, 7, 2, IMREC_ERR_UNSUPPORTED, "format 7 and 16 bits"},
    {WAV_FMT + 8, 0xfffe, 2, IMREC_ERR_UNSUPPORTED, "format 65534"}, /* and no room for a GUID */
    {WAV_FMT + 22, 8, 2, IMREC_ERR_UNSUPPORTED, "format 1 and 8 bits"},
    {WAV_FMT + 22, 24, 2, IMREC_ERR_UNSUPPORTED, "format 1 and 24 bits"},
    {WAV_FMT + 10, 0, 2, IMREC_ERR_CORRUPT, "0 channels in frames of 4 bytes"},
    {WAV_FMT + 10, 65, 2, IMREC_ERR_CORRUPT, "65 channels"},
    {WAV_FMT + 20, 2, 2, IMREC_ERR_CORRUPT, "2 channels in frames of 2 bytes"},
    {WAV_NOTE + 4, 1000, 4, IMREC_ERR_CORRUPT, "at byte 36 has 1000 bytes"},
    {WAV_DATA, 0x20202020, 4, IMREC_ERR_CORRUPT, "no chunk 'data'"},
    {WAV_DATA + 4, 0, 4, IMREC_ERR_CORRUPT, "its data have 0 bytes"},
    {WAV_DATA + 4, 199, 4, IMREC_ERR_CORRUPT, "its data have 199 bytes, which are not frames of 4"},
    {WAV_DATA + 4, 204, 4, IMREC_ERR_CORRUPT, "at byte 48 has 204 bytes, the file ends after 200"},
};

START_TEST(what_is_no_sound_is_refused_in_a_sentence) /* _i: which */
{
    struct wav w;
    struct imrec_error err = {0};
    uint8_t value[4];
    store_le32(value, bad[_i].value);
    memcpy(file.p + bad[_i].at, value, bad[_i].bytes);
    ck_assert_int_eq(wav_parse((struct bytes){file.p, file.n}, &w, &err), bad[_i].status);
    ck_assert_msg(strstr(err.message, bad[_i].why) != NULL, "%s", err.message);
}
END_TEST

START_TEST(a_file_that_is_cut_is_refused_wherever)
{
    struct wav w;
    for (size_t n = 0; n < file.n; n++) {
        uint8_t *part = malloc(n + (n == 0)); /* nothing behind it */
        memcpy(part, file.p, n);
        ck_assert_int_ne(wav_parse((struct bytes){part, n}, &w, NULL), IMREC_OK);
        free(part);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("wav");
    TCase *tc = tcase_create("wav");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, channels_rate_and_samples_are_read);
    tcase_add_test(tc, what_stands_behind_the_data_is_no_matter);
    tcase_add_test(tc, the_extensible_head_of_pcm_is_read);
    tcase_add_loop_test(tc, what_is_no_sound_is_refused_in_a_sentence, 0,
                        sizeof(bad) / sizeof(*bad));
    tcase_add_test(tc, a_file_that_is_cut_is_refused_wherever);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
