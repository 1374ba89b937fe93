/* The text of a minibatch source's position: its bytes, and each thing that can be wrong with it.
 */
#include "base/alloc.h"
#include "imrec/minibatch.h"
#include "storage/mem.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

static struct imrec_minibatch_source *source;

static void open_source(const char *truncation)
{
    static const char text[] = "1 |a 1\n1 |a 2\n2 |a 3\n3 |a 4\n3 |a 5\n3 |a 6\n4 |a 7\n5 |a 8\n";
    const char *const keys[] = {"file=mem://small.ctf",  "input.a.format=dense", "input.a.dim=1",
                                "chunkSizeInBytes=20",   "randomizationSeed=3",  truncation,
                                "randomizationWindow=2", "minibatchSize=4",      "threads=1"};
    struct imrec_minibatch_config *c;
    ck_assert_int_eq(mem_put("small.ctf", text, sizeof(text) - 1, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_minibatch_config_new(&c, NULL), IMREC_OK);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        ck_assert_int_eq(imrec_minibatch_config_set(c, keys[i], NULL), IMREC_OK);
    ck_assert_int_eq(imrec_minibatch_source_open(imrec_minibatch_config_options(c), &source, NULL),
                     IMREC_OK);
    imrec_minibatch_config_free(c);
}

static void teardown(void)
{
    imrec_minibatch_source_close(source);
    mem_clear();
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static const char *position(void)
{
    const char *json;
    ck_assert_int_eq(imrec_minibatch_position(source, &json, NULL), IMREC_OK);
    return json;
}

#define HEAD(truncation)                                                                           \
    "{\"version\": 1, \"data\": \"3dfd6b0af38ace65\", \"randomize\": 1, "                          \
    "\"randomization_seed\": 3, \"randomization_window\": 2, "                                     \
    "\"sample_based_randomization_window\": 0, \"truncation_length\": " truncation ", "            \
    "\"missing_ids\": 0, \"rank_mode\": 0, \"num_ranks\": 1, \"rank\": 0, "

static const struct {
    const char *truncation;
    uint64_t minibatches; /* before it */
    const char *text;
} written[] = {
    {"truncationLength=0", 0,
     HEAD("0") "\"position\": 0, \"sweep\": 0, \"sequence\": 0, \"labels\": 0, \"epoch\": 0, "
               "\"epoch_labels\": 0, \"slots\": []}"},
    {"truncationLength=0", 5,
     HEAD("0") "\"position\": 17, \"sweep\": 2, \"sequence\": 1, \"labels\": 17, \"epoch\": 0, "
               "\"epoch_labels\": 0, \"slots\": []}"},
    {"truncationLength=2", 2,
     HEAD("2") "\"position\": 10, \"sweep\": 1, \"sequence\": 2, \"labels\": 0, \"epoch\": 0, "
               "\"epoch_labels\": 0, \"slots\": [[0, 0, 4, 0], [1, 1, 1, 0]]}"},
};

CASE(.teardown = teardown)

LOOP_TEST(the_text_is_the_specifications_and_is_read_back, 0, COUNT(written))
{
    struct imrec_minibatch m;
    open_source(written[_i].truncation);
    for (uint64_t i = 0; i < written[_i].minibatches; i++)
        ck_assert_int_eq(imrec_minibatch_next(source, 0, NULL, 0, &m, NULL), IMREC_OK);
    ck_assert_str_eq(position(), written[_i].text);
    ck_assert_int_eq(imrec_minibatch_seek(source, written[_i].text, NULL), IMREC_OK);
    ck_assert_str_eq(position(), written[_i].text);
}

static const struct {
    const char *from, *to, *says;
} wrong[] = {
    {"\"version\": 1", "\"version\": 2", "position: it has version 2, this library reads 1"},
    {"\"version\": 1", "\"version\": true",
     "position: \"version\" must be a whole number from 0 to 2^62"},
    {"\"3dfd6b0af38ace65\"", "3", "position: \"data\" must be a fingerprint of 16 hex digits"},
    {"3dfd6b0af38ace65", "3dfd6b0af38ace66",
     "position: it is of other data or streams (fingerprint 3dfd6b0af38ace66, these files have "
     "3dfd6b0af38ace65)"},
    {"\"randomize\": 1", "\"randomize\": 1.0", "position: \"randomize\" must be a whole number"},
    {"\"randomization_seed\": 3", "\"randomization_seed\": -4",
     "position: it was taken with randomization_seed=-4, this source has 3"},
    {"\"position\": 10", "\"position\": 4611686018427387905",
     "position: \"position\" must be a whole number from 0 to 2^62"},
    {"\"sweep\": 1, ", "", "position: \"sweep\" must be a whole number from 0 to 2^62"},
    {"\"sequence\": 2", "\"sequence\": 5", "position: \"sequence\" is 5, a sweep has 5"},
    {"\"epoch_labels\": 0", "\"epoch_labels\": 1",
     "position: \"epoch_labels\" must be at most \"labels\""},
    {"[[0, 0, 4, 0], [1, 1, 1, 0]]", "{}", "position: \"slots\" must be an array"},
    {"[1, 1, 1, 0]", "[1, 1, 1]",
     "position: \"slots\" must be rows of slot, sweep, sequence and samples given"},
    {"[1, 1, 1, 0]", "[1, 1, 5, 0]",
     "position: \"slots\" must be rows of slot, sweep, sequence and samples given"},
    {"\"version\": 1, ", "",
     "position: it has neither \"version\", as one of this library, nor "
     "\"minibatchSourcePosition\", as one of CNTK's"},
    {"{\"version\": 1, ", "{\"minibatchSourcePosition\": -1, \"a\": 1, ",
     "position: \"minibatchSourcePosition\" must be a whole number from 0 to 2^62"},
    {"{\"version\": 1, ",
     "{\"a\": {\"minibatchSourcePosition\": 1}, \"minibatchSourcePosition\": 1, ",
     "position: it has \"minibatchSourcePosition\" 2 times; take the dictionary of one source"},
};

LOOP_TEST(what_is_wrong_is_named_and_the_source_stays, 0, COUNT(wrong))
{
    const char *good = written[2].text, *at = strstr(good, wrong[_i].from);
    char changed[1024], before[1024];
    struct imrec_error err = {0};
    open_source("truncationLength=2");
    ck_assert_ptr_nonnull(at);
    snprintf(changed, sizeof(changed), "%.*s%s%s", (int)(at - good), good, wrong[_i].to,
             at + strlen(wrong[_i].from));
    snprintf(before, sizeof(before), "%s", position());
    ck_assert_int_ne(imrec_minibatch_seek(source, changed, &err), IMREC_OK);
    ck_assert_str_eq(err.message, wrong[_i].says);
    ck_assert_str_eq(position(), before);
}

TEST(any_cut_and_any_key_twice_is_refused)
{
    const char *good = written[2].text;
    char changed[2048];
    open_source("truncationLength=2");
    for (size_t n = strlen(good); n-- > 0;) {
        snprintf(changed, sizeof(changed), "%.*s", (int)n, good);
        ck_assert_int_eq(imrec_minibatch_seek(source, changed, NULL), IMREC_ERR_ARGUMENT);
    }
    snprintf(changed, sizeof(changed), "{\"rank\": 0, %s", good + 1);
    ck_assert_int_eq(imrec_minibatch_seek(source, changed, NULL), IMREC_ERR_ARGUMENT);
}
