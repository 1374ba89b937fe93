/* A position's text: read back as written, and refused in one sentence where it is wrong. */
#include "base/alloc.h"
#include "iter/options/iter_options.h"
#include "iter/position.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

static const struct position_order order = {.data = 0x0123456789abcdef,
                                            .seed = INT64_MAX,
                                            .shuffle = 1,
                                            .shuffle_window = 268435456,
                                            .shuffle_chunk = 262144,
                                            .num_parts = 1 << 20,
                                            .part_index = 7};
enum { WINDOWS = 1000 };

static char *written(const struct place *place)
{
    char *text;
    ck_assert_int_eq(position_write(&order, place, &text, NULL), IMREC_OK);
    return text;
}

static const struct place places[] = {
    {{.sweep = 0, .sample = 0}, 0, 0},
    {{.sweep = 3, .sample = 1281167}, 999, 1281000},
    {{.sweep = INT64_MAX, .sample = INT64_MAX}, 0, INT64_MAX},
    {{.sweep = 1, .sample = 77, .repeating = true, .position = 1358, .epoch = 13, .in_epoch = 58},
     5,
     77},
};

LOOP_TEST(what_was_written_is_read, 0, COUNT(places))
{
    const struct place *p = &places[_i];
    struct place back;
    bool own;
    char *text = written(p);
    struct imrec_error err = {0};
    ck_assert_msg(position_read(text, &order, WINDOWS, &back, &own, &err) == IMREC_OK, "%s: %s",
                  text, err.message);
    ck_assert_uint_eq(back.run.sweep, p->run.sweep);
    ck_assert_uint_eq(back.run.sample, p->run.sample);
    ck_assert_int_eq(back.run.repeating, p->run.repeating);
    ck_assert_uint_eq(back.run.position, p->run.position);
    ck_assert_uint_eq(back.run.epoch, p->run.epoch);
    ck_assert_uint_eq(back.run.in_epoch, p->run.in_epoch);
    ck_assert_int_eq(back.run.given, p->run.sample != 0);
    ck_assert_uint_eq(back.window, p->window);
    ck_assert_uint_eq(back.before, p->before);
    imrec_free(text);
}

/* It sets the seed or the chunk, or is in the fingerprint `choice`. */
static bool has_another_name(const char *name)
{
    static const char *const others[] = {"shuffle_chunk_size",
                                         "shuffle_chunk_seed",
                                         "mix",
                                         "class_balanced",
                                         "sample_weights",
                                         "subset",
                                         "repeats",
                                         "sweep_samples"};
    for (int i = 0; i < COUNT(others); i++)
        if (strcmp(name, others[i]) == 0)
            return true;
    return false;
}

TEST(the_text_has_the_parameters_of_the_order)
{
    const struct position_order job = {.job = true};
    char *text = written(&places[0]), *of_job, key[64];
    ck_assert_int_eq(position_write(&job, &places[0], &of_job, NULL), IMREC_OK);
    for (const struct param *p = iter_params; p->name != NULL; p++) {
        snprintf(key, sizeof(key), "\"%s\": ", p->name);
        const bool other = has_another_name(p->name);
        ck_assert_msg((strstr(text, key) != NULL || strstr(of_job, key) != NULL) ==
                          ((p->scope & PARAM_OF_ORDER) != 0 && !other),
                      "%s", p->name);
    }
    IMREC_FREE(text, of_job);
}

TEST(the_text_is_the_specifications)
{
    char *text = written(&places[3]);
    ck_assert_str_eq(text, "{\"version\": 1, \"data\": \"0123456789abcdef\", "
                           "\"seed\": 9223372036854775807, \"shuffle\": 1, \"indexed\": 0, "
                           "\"shuffle_window\": 268435456, \"shuffle_chunk\": 262144, "
                           "\"num_parts\": 1048576, \"part_index\": 7, \"equal_batches\": 0, "
                           "\"sweep\": 1, \"sample\": 77, \"repeating\": true, \"window\": 5, "
                           "\"window_first_sample\": 77, \"position\": 1358, \"epoch\": 13, "
                           "\"epoch_sample\": 58}");
    imrec_free(text);
}

static const struct position_order of_job = {.data = 0x0123456789abcdef,
                                             .seed = 5,
                                             .shuffle = 1,
                                             .shuffle_window = 4096,
                                             .shuffle_chunk = 8192,
                                             .job = true,
                                             .chunks = true,
                                             .global_batch_size = 768,
                                             .records = 1281167};

TEST(that_of_a_job_is_the_specifications)
{
    char *text;
    bool own;
    struct place back;
    ck_assert_int_eq(position_write(&of_job, &places[1], &text, NULL), IMREC_OK);
    ck_assert_str_eq(text,
                     "{\"version\": 2, \"order\": \"global\", \"data\": \"0123456789abcdef\", "
                     "\"seed\": 5, \"shuffle\": 1, \"global_batch_size\": 768, "
                     "\"shuffle_window\": 4096, \"shuffle_chunk\": 8192, "
                     "\"locality\": \"chunk\", \"sweep\": 3, \"sample\": 1281167, "
                     "\"position\": 0, \"epoch\": 0, \"epoch_sample\": 0}");
    ck_assert_int_eq(position_read(text, &of_job, 1, &back, &own, NULL), IMREC_OK);
    ck_assert(back.run.sweep == 3 && back.run.sample == 1281167 && back.window == 0 &&
              back.run.given);
    imrec_free(text);
}

/* What an iterator with `this` says of that position. */
TEST(what_differs_for_a_job_is_named)
{
    struct position_order records = of_job, less = of_job, chosen = of_job;
    const struct position_order *const orders[] = {&order, &records, &less, &chosen};
    static const char *const says[] = {"order=local", "locality=record", "a sweep has 5",
                                       "fingerprint none, here 00000000000000ab"};
    char *text;
    bool own;
    struct place back;
    records.chunks = false;
    less.records = 5;
    chosen.choice = 0xab;
    ck_assert_int_eq(position_write(&of_job, &places[1], &text, NULL), IMREC_OK);
    for (int i = 0; i < COUNT(orders); i++) {
        struct imrec_error err;
        ck_assert_int_eq(position_read(text, orders[i], 1, &back, &own, &err), IMREC_ERR_ARGUMENT);
        ck_assert_msg(strstr(err.message, says[i]) != NULL, "%s", err.message);
    }
    imrec_free(text);
}

TEST(a_choice_of_samples_is_in_the_text)
{
    struct position_order chosen = of_job;
    struct place back;
    char *text;
    bool own;
    struct imrec_error err;
    chosen.choice = 0xfedcba9876543210u;
    ck_assert_int_eq(position_write(&chosen, &places[1], &text, NULL), IMREC_OK);
    ck_assert_ptr_nonnull(strstr(text, "\"choice\": \"fedcba9876543210\", \"sweep\""));
    ck_assert_int_eq(position_read(text, &chosen, 1, &back, &own, NULL), IMREC_OK);
    ck_assert_int_eq(position_read(text, &of_job, 1, &back, &own, &err), IMREC_ERR_ARGUMENT);
    ck_assert_msg(strstr(err.message, "another choice") != NULL, "%s", err.message);
    ck_assert(position_hash(&chosen) != position_hash(&of_job));
    imrec_free(text);
}

/* Each replaces `from` in a good text. */
static const struct {
    const char *from, *to, *says;
} wrong[] = {
    {"\"version\": 1", "\"version\": 2", "order=global"},
    {"\"version\": 1", "\"version\": 3", "version 3"},
    {"\"version\": 1", "\"version\": \"1\"", "version"},
    {"\"version\": 1, ", "", "version"},
    {"0123456789abcdef", "0123456789abcdee", "other data"},
    {"\"0123456789abcdef\"", "5", "data"},
    {"\"seed\": 9223372036854775807", "\"seed\": 1", "seed=1"},
    {"\"seed\": 9223372036854775807", "\"seed\": 9223372036854775808", "position"},
    {"\"shuffle\": 1", "\"shuffle\": 0", "shuffle=0"},
    {"\"shuffle\": 1", "\"shuffle\": true", "shuffle"},
    {"\"indexed\": 0", "\"indexed\": 1", "indexed=1"},
    {"\"shuffle_window\": 268435456", "\"shuffle_window\": 1", "shuffle_window=1"},
    {"\"shuffle_chunk\": 262144", "\"shuffle_chunk\": 1", "shuffle_chunk=1"},
    {"\"num_parts\": 1048576", "\"num_parts\": 1", "num_parts=1"},
    {"\"part_index\": 7", "\"part_index\": 6", "part_index=6"},
    {"\"equal_batches\": 0", "\"equal_batches\": 1", "equal_batches=1"},
    {"\"sweep\": 1", "\"sweep\": -1", "sweep"},
    {"\"sweep\": 1", "\"sweep\": 1.5", "sweep"},
    {"\"sample\": 77", "\"sample\": 76", "window_first_sample"},
    {"\"sample\": 77", "\"sample\": null", "sample"},
    {"\"repeating\": true", "\"repeating\": 1", "repeating"},
    {"\"window\": 5", "\"window\": 1000", "window"},
    {"\"position\": 1358", "\"position\": -1", "position"},
    {", \"epoch\": 13", "", "epoch"},
    {"\"epoch_sample\": 58", "\"epoch_sample\": 0.5", "epoch_sample"},
    {"\"window\": 5", "\"window\": 5, \"window\": 6", "position"},
    {"}", "", "position"},
    {"}", "}}", "position"},
    {"{", "[", "position"},
};

LOOP_TEST(what_is_wrong_is_named, 0, COUNT(wrong))
{
    char *text = written(&places[3]), changed[1024];
    const char *at = strstr(text, wrong[_i].from);
    struct place place = {.window = 42};
    bool own;
    struct imrec_error err = {0};
    ck_assert_ptr_nonnull(at);
    snprintf(changed, sizeof(changed), "%.*s%s%s", (int)(at - text), text, wrong[_i].to,
             at + strlen(wrong[_i].from));
    const enum imrec_status st = position_read(changed, &order, WINDOWS, &place, &own, &err);
    ck_assert_msg(st == IMREC_ERR_ARGUMENT || st == IMREC_ERR_UNSUPPORTED, "%s: %d", changed, st);
    ck_assert_msg(strstr(err.message, wrong[_i].says) != NULL, "%s: %s", changed, err.message);
    imrec_free(text);
}

TEST(any_cut_is_refused)
{
    char *text = written(&places[1]);
    struct place place;
    bool own;
    for (size_t n = strlen(text); n-- > 0;) {
        text[n] = '\0';
        ck_assert_int_eq(position_read(text, &order, WINDOWS, &place, &own, NULL),
                         IMREC_ERR_ARGUMENT);
    }
    imrec_free(text);
}

/* Brackets; and a good one that ends in blanks. */
LOOP_TEST(a_text_without_end_is_refused_before_it_is_parsed, 0, 2)
{
    const size_t n = POSITION_MAX_BYTES + 10;
    char *text = malloc(n + 1), *good = written(&places[1]);
    struct place place;
    bool own;
    struct imrec_error err = {0};
    memset(text, _i == 0 ? '[' : ' ', n);
    if (_i == 1)
        memcpy(text, good, strlen(good));
    text[n] = '\0';
    ck_assert_int_eq(position_read(text, &order, WINDOWS, &place, &own, &err), IMREC_ERR_ARGUMENT);
    ck_assert_str_ne(err.message, "");
    ck_assert_int_eq(position_read("", &order, WINDOWS, &place, &own, &err), IMREC_ERR_ARGUMENT);
    imrec_free(good);
    free(text);
}
