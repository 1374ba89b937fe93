#include "im2rec/command/classic.h"
#include "im2rec/item/pack_options.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static struct imrec_error err;
static struct imrec_pack_options o;
static char suffix[32];

/* Reads blank-separated pairs. */
static enum imrec_status read_all(const char *pairs)
{
    char copy[512];
    struct classic c = CLASSIC_INIT;
    static char kept[16][64];
    int n = 0;
    imrec_pack_options_init(&o);
    snprintf(copy, sizeof(copy), "%s", pairs);
    for (char *p = strtok(copy, " "); p != NULL; p = strtok(NULL, " ")) {
        snprintf(kept[n], sizeof(kept[n]), "%s", p);
        const enum imrec_status st = classic_set(&c, &o, kept[n++], &err);
        if (st != IMREC_OK)
            return st;
    }
    return classic_end(&c, &o, suffix, &err);
}

START_TEST(the_original_s_words_mean_what_they_meant)
{
    ck_assert_int_eq(read_all("color=-1 resize=256 label_width=3 pack_label=1 nsplit=4 part=3 "
                              "center_crop=1 quality=80 encoding=.png inter_method=2 unchanged=0"),
                     IMREC_OK);
    ck_assert_int_eq(o.color, -1);
    ck_assert_int_eq(o.resize, 256);
    ck_assert_int_eq(o.label_width, 3);
    ck_assert(o.pack_label);
    ck_assert_int_eq(o.part.index, 3);
    ck_assert_int_eq(o.part.count, 4);
    ck_assert_str_eq(suffix, ".part003");
    ck_assert(o.center_crop);
    ck_assert_int_eq(o.quality, 80);
    ck_assert_int_eq(o.encoding, IMREC_ENCODE_PNG);
    ck_assert(!o.pass_through);
}
END_TEST

START_TEST(words_that_switch_off_do_so)
{
    ck_assert_int_eq(read_all("resize=-1 unchanged=1 nsplit=1 part=0"), IMREC_OK);
    ck_assert_int_eq(o.resize, 0);
    ck_assert(o.pass_through);
    ck_assert_int_eq(o.part.count, 1);
    ck_assert_str_eq(suffix, "");
}
END_TEST

START_TEST(our_own_words_go_the_same_way)
{
    ck_assert_int_eq(read_all("part=1/4 encoding=jpg threads=3 shard_size=2M"), IMREC_OK);
    ck_assert_int_eq(o.part.index, 1);
    ck_assert_int_eq(o.part.count, 4);
    ck_assert_int_eq(o.threads, 3);
    ck_assert_int_eq(o.shard_size, 2 << 20);
    ck_assert_str_eq(suffix, "");
}
END_TEST

static const struct {
    const char *pairs, *says;
} wrong[] = {
    {"resise=3", "did you mean resize"},
    {"nsplit=2 part=2", "part must be less than nsplit=2"},
    {"part=1", "part must be less than nsplit=1"},
    {"nsplit=0", "nsplit must be"},
    {"inter_method=11", "inter_method must be"},
    {"encoding=.bmp", "encoding must be one of jpg|png"},
    {"quality=0", "quality must be"},
    {"part=1/4 nsplit=4", "give one of them"},
    {"unchanged=2", "unchanged must be 0 or 1"},
};

START_TEST(a_wrong_word_is_refused_with_what_would_be_right)
{
    ck_assert_int_eq(read_all(wrong[_i].pairs), IMREC_ERR_ARGUMENT);
    ck_assert_msg(strstr(err.message, wrong[_i].says) != NULL, "%s", err.message);
}
END_TEST

static const struct {
    const char *pairs, *says;
} clash[] = {
    {"pass_through=1 resize=3", "pass_through"},
    {"shards=2 shard_size=4", "give one of them"},
    {"chunks=2", "they need list"},
    {"list=1 train_ratio=0.8 test_ratio=0.3", "must not exceed 1"},
    {"list=1 shards=3", "writes lists only"},
    {"resume=1 force=1", "give one of them"},
};

START_TEST(options_that_contradict_each_other_are_refused)
{
    struct imrec_pack_options checked;
    ck_assert_int_eq(read_all(clash[_i].pairs), IMREC_OK);
    ck_assert_int_eq(pack_options_check(&o, &checked, &err), IMREC_ERR_ARGUMENT);
    ck_assert_msg(strstr(err.message, clash[_i].says) != NULL, "%s", err.message);
}
END_TEST

START_TEST(a_caller_with_an_older_header_gets_defaults_for_what_it_does_not_know)
{
    struct imrec_pack_options old, checked;
    const size_t size = offsetof(struct imrec_pack_options, on_error);
    memset(&old, 0xee, sizeof(old));
    imrec_pack_options_init_sized(&old, size);
    old.resize = 99;
    ck_assert_int_eq(pack_options_check(&old, &checked, &err), IMREC_OK);
    ck_assert_int_eq(checked.resize, 99);
    ck_assert_int_eq(checked.on_error, IMREC_ON_ERROR_SKIP);
    ck_assert_int_eq(imrec_pack_options_set(&old, "report=x", &err), IMREC_ERR_ARGUMENT);
}
END_TEST

START_TEST(what_shapes_bytes_shapes_the_fingerprint)
{
    struct imrec_pack_options a, b;
    imrec_pack_options_init(&a);
    const uint64_t print = pack_options_fingerprint(&a, FINGERPRINT_START);
    b = a;
    b.threads = 7;
    b.memory = 1 << 30;
    ck_assert(pack_options_fingerprint(&b, FINGERPRINT_START) == print);
    b.quality = 94;
    ck_assert(pack_options_fingerprint(&b, FINGERPRINT_START) != print);
    b = a;
    b.shard_size = 1;
    ck_assert(pack_options_fingerprint(&b, FINGERPRINT_START) != print);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("classic");
    TCase *t = tcase_create("all");
    tcase_add_test(t, the_original_s_words_mean_what_they_meant);
    tcase_add_test(t, words_that_switch_off_do_so);
    tcase_add_test(t, our_own_words_go_the_same_way);
    tcase_add_loop_test(t, a_wrong_word_is_refused_with_what_would_be_right, 0,
                        sizeof(wrong) / sizeof(wrong[0]));
    tcase_add_loop_test(t, options_that_contradict_each_other_are_refused, 0,
                        sizeof(clash) / sizeof(clash[0]));
    tcase_add_test(t, a_caller_with_an_older_header_gets_defaults_for_what_it_does_not_know);
    tcase_add_test(t, what_shapes_bytes_shapes_the_fingerprint);
    suite_add_tcase(s, t);
    return suite_run(s);
}
