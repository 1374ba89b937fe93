/* tests/minibatch/test_minibatch_config.c - options of a minibatch source out of text. */
#include "base/alloc.h"
#include "imrec/minibatch.h"
#include "tests/support/starving.h"
#include "tests/support/suite.h"

#include <string.h>

static struct imrec_minibatch_config *config_of(const char *text)
{
    struct imrec_minibatch_config *c;
    struct imrec_error err;
    ck_assert_int_eq(imrec_minibatch_config_new(&c, NULL), IMREC_OK);
    ck_assert_msg(imrec_minibatch_config_parse(c, "f", text, strlen(text), &err) == IMREC_OK, "%s",
                  err.message);
    return c;
}

TEST(a_section_describes_one_file)
{
    struct imrec_minibatch_config *c = config_of(
        "precision = \"double\"\nreader = [\n readerType = \"CNTKTextFormatReader\"\n"
        " file = \"d:\\set\\a.txt\" # a comment\n randomize = false; maxErrors = 7\n"
        " randomizationWindow = 30\n chunkSizeInBytes = 1024\n keepDataInMemory = true\n"
        " input = [\n  long_name = [ alias = \"a\" ; dim = 3 ; format = \"dense\" ]\n"
        "  words = [ dim = 1000000\n format = \"sparse\"\n definesMBSize = true ]\n ]\n]\n");
    const struct imrec_minibatch_options *o = imrec_minibatch_config_options(c);
    ck_assert_int_eq(o->precision, IMREC_PRECISION_DOUBLE);
    ck_assert(!o->randomize);
    ck_assert_int_eq(o->randomization_window, 30);
    ck_assert_str_eq(o->minibatch_size_in_samples, "256");
    ck_assert_uint_eq(o->deserializers, 1);
    const struct imrec_deserializer *d = o->deserializer;
    ck_assert_str_eq(d->type, "CNTKTextFormatReader");
    ck_assert_str_eq(d->file, "d:\\set\\a.txt");
    ck_assert_int_eq(d->max_errors, 7);
    ck_assert_int_eq(d->trace_level, 1);
    ck_assert_int_eq(d->chunk_size_in_bytes, 1024);
    ck_assert(d->keep_data_in_memory && !d->skip_sequence_ids && !d->cache_index);
    ck_assert_uint_eq(d->streams, 2);
    ck_assert_str_eq(d->stream[0].name, "long_name");
    ck_assert_str_eq(d->stream[0].alias, "a");
    ck_assert_uint_eq(d->stream[0].dim, 3);
    ck_assert(d->stream[0].storage == IMREC_DENSE && !d->stream[0].defines_mb_size);
    ck_assert_ptr_null(d->stream[1].alias);
    ck_assert(d->stream[1].storage == IMREC_SPARSE && d->stream[1].storage_given);
    ck_assert(d->stream[1].defines_mb_size);
    imrec_minibatch_config_free(c);
}

TEST(a_composite_describes_several_whose_own_words_win)
{
    struct imrec_minibatch_config *c = config_of(
        "reader = { verbosity = 0 ; deserializers = (\n"
        "  { type = \"CNTKTextFormatDeserializer\" ; module = \"CNTKTextFormatReader\"\n"
        "    file = \"a\" ; traceLevel = 2\n input = { x = {dim = 1; format = \"dense\"} } }\n"
        "  { type = \"CNTKBinaryFormatDeserializer\" ; file = \"b\" ; input = {} } )\n"
        "  randomizationSeed = 5 }\n");
    const struct imrec_minibatch_options *o = imrec_minibatch_config_options(c);
    ck_assert_int_eq(o->randomization_seed, 5);
    ck_assert_uint_eq(o->deserializers, 2);
    ck_assert_int_eq(o->deserializer[0].trace_level, 2);
    ck_assert_int_eq(o->deserializer[1].trace_level, 0);
    ck_assert_str_eq(o->deserializer[1].file, "b");
    ck_assert_uint_eq(o->deserializer[0].streams, 1);
    ck_assert_uint_eq(o->deserializer[1].streams, 0);
    imrec_minibatch_config_free(c);
}

TEST(keys_may_come_one_by_one_and_in_any_order)
{
    static const char *const keys[] = {"input.f.dim=784",
                                       "maxErrors=3",
                                       "file=a.ctf",
                                       "input.f.alias=F",
                                       "input.f.format=sparse",
                                       "minibatchSize=128*2:1024",
                                       "epoch_size=FULL_DATA_SWEEP",
                                       "num_ranks=2",
                                       "skipSequenceIds=true"};
    struct imrec_minibatch_config *c;
    struct imrec_error err;
    ck_assert_int_eq(imrec_minibatch_config_new(&c, NULL), IMREC_OK);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        ck_assert_msg(imrec_minibatch_config_set(c, keys[i], &err) == IMREC_OK, "%s", err.message);
    const struct imrec_minibatch_options *o = imrec_minibatch_config_options(c);
    ck_assert_str_eq(o->minibatch_size_in_samples, "128*2:1024");
    ck_assert_int_eq(o->epoch_size, IMREC_FULL_DATA_SWEEP);
    ck_assert_int_eq(o->num_ranks, 2);
    ck_assert_uint_eq(o->deserializers, 1);
    ck_assert_int_eq(o->deserializer->max_errors, 3);
    ck_assert(o->deserializer->skip_sequence_ids);
    ck_assert_uint_eq(o->deserializer->streams, 1);
    ck_assert_uint_eq(o->deserializer->stream->dim, 784);
    ck_assert_str_eq(o->deserializer->stream->alias, "F");
    ck_assert_int_eq(o->deserializer->stream->storage, IMREC_SPARSE);
    imrec_minibatch_config_free(c);
}

static const struct {
    const char *text, *says;
} bad[] = {
    {"reader = [ file = \"a\"\n maxErors = 3 ]",
     "f: line 2: unknown key 'maxErors'; did you mean max_errors?"},
    {"reader = [ file = \"a\" ; maxErrors = many ]",
     "f: line 1: max_errors must be a number from 0 to 9223372036854775807, not 'many'"},
    {"reader = [\n input = [ A = 3 ] ]", "f: line 2: 'A' must be a section: [ alias dim format ]"},
    {"reader = [ input = [ A = [ dim = 0 ] ] ]",
     "f: line 1: dim must be a number from 1 to 2147483647, not '0'"},
    {"reader = [ input = [ A = [ shape = 0 ] ] ]",
     "f: line 1: unknown key 'shape' of input A; alias, format, dim, definesMBSize and precision "
     "are known"},
    {"reader = [ input = [ A = [ dim = 1 ]\n A = [ dim = 1 ] ] ]",
     "f: line 2: input 'A' is described twice"},
    {"reader = 3", "f: line 1: 'reader' must be a section: [ ... ] or { ... }"},
    {"reader = { deserializers = ( { randomize = true } ) }",
     "f: line 1: 'randomize' is a key of the reader, not of one of its deserializers"},
};

LOOP_TEST(what_is_wrong_is_named_with_its_line, 0, COUNT(bad))
{
    struct imrec_minibatch_config *c;
    struct imrec_error err;
    ck_assert_int_eq(imrec_minibatch_config_new(&c, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_minibatch_config_parse(c, "f", bad[_i].text, strlen(bad[_i].text), &err),
                     IMREC_ERR_ARGUMENT);
    ck_assert_str_eq(err.message, bad[_i].says);
    imrec_minibatch_config_free(c);
}

TEST(no_memory_is_an_error_and_leaves_nothing)
{
    static const char text[] =
        "reader = { deserializers = ( { file = \"a\" ; input = { A = { dim = "
        "1 } } } { file = \"b\" } ) }";
    STARVING(memory)
    {
        struct imrec_minibatch_config *c;
        memory.st = imrec_minibatch_config_new(&c, NULL);
        if (memory.st == IMREC_OK)
            memory.st = imrec_minibatch_config_parse(c, "f", text, strlen(text), NULL);
        if (memory.st == IMREC_OK)
            memory.st = imrec_minibatch_config_set(c, "input.A.alias=x", NULL);
        imrec_minibatch_config_free(c);
    }
}
