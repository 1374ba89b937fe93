/* tests/minibatch/test_cntk_configs.c - whole CNTK configurations: which reader is taken, what is
 * passed over, what around it counts, and what key=value changes afterwards. */
#include "base/alloc.h"
#include "imrec/minibatch.h"
#include "tests/support/starving.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

/* Of the shape of CNTK's own examples: braces and brackets, a network in BrainScript, two actions.
 */
static const char whole[] =
    "# RootDir=... on the command line says where the data are\n"
    "command = TrainIt:TestIt\n"
    "\n"
    "precision = \"double\" ; traceLevel = 1 ; deviceId = $Device$\n"
    "rootDir = \"..\" ; dataDir = \"$rootDir$/Data\"\n"
    "modelPath = \"$dataDir$/Models/it.dnn\"\n"
    "#stderr = \"$outputDir$/log\"\n"
    "\n"
    "TrainIt = {\n"
    "    action = \"train\"\n"
    "    BrainScriptNetworkBuilder = {\n"
    "        shape = 28:28:1     # it's three-dimensional (width, height, channels\n"
    "        scale{f} = x => Constant(f) .* x\n"
    "        model = Sequential (\n"
    "            scale {1/256} :\n"
    "            Convolution {16, (5:5), pad = true} : ReLU\n"
    "        )\n"
    "        f (x) = { W = Parameter {(3:3)} ; b = Parameter {3} // ]\n"
    "                  z = W * x + b }.z /* } */\n"
    "        text = 'with ] and }' ; long =\n"
    "            Plus (1, 2)\n"
    "        y = if a == 3 then [ 1 ] else [ 2 ]\n"
    "        outputNodes = (ol)\n"
    "    }\n"
    "    SGD = { epochSize = 60000 ; minibatchSize = 64\n"
    "            learningRatesPerSample = 0.001*5:0.0005\n"
    "            ParallelTrain = [ DataParallelSGD = [ gradientBits = 1 ] ] }\n"
    "    reader = {\n"
    "        readerType = \"CNTKTextFormatReader\"\n"
    "        file = \"$DataDir$/train.txt\"     # of \"features\"\n"
    "        randomize = \"none\" ; miniBatchMode = \"partial\"\n"
    "        input = {\n"
    "            features = { dim = $Dim$, format = \"dense\" }\n"
    "            labels =   { dim = 10 ; format = \"Sparse\" ; precision = float }\n"
    "        }\n"
    "    }\n"
    "    cvReader = [ readerType = \"CNTKTextFormatReader\" ; file = \"cv.txt\"\n"
    "                 input = [ labels = [ dim = 10 ; format = \"sparse\" ] ] ]\n"
    "}\n"
    "\n"
    "TestIt = [\n"
    "    action = test\n"
    "    minibatchSize = 1024\n"
    "    traceLevel = 3\n"
    "    SimpleNetworkBuilder = [ layerSizes = 784:200:10 ; layerTypes = \"Sigmoid\" ]\n"
    "    reader = {\n"
    "        randomize = auto\n"
    "        deserializers = (\n"
    "            { type = \"CNTKTextFormatDeserializer\" ; module = \"CNTKTextFormatReader\"\n"
    "              file = $DataDir$/a.txt ; input = { x = { dim = 1 ; format = \"dense\" } } } :\n"
    "            { type = \"CNTKBinaryFormatDeserializer\" ; file = \"$DataDir$/b.cbf\" }\n"
    "        )\n"
    "    }\n"
    "]\n";

static struct imrec_minibatch_config *config_with(const char *const *before)
{
    struct imrec_minibatch_config *c;
    ck_assert_int_eq(imrec_minibatch_config_new(&c, NULL), IMREC_OK);
    for (; *before != NULL; before++)
        ck_assert_int_eq(strncmp(*before, "action=", 7) == 0
                             ? imrec_minibatch_config_set(c, *before, NULL)
                             : imrec_minibatch_config_define(c, *before, NULL),
                         IMREC_OK);
    return c;
}
#define WITH(...) config_with((const char *const[]){__VA_ARGS__, NULL})

static void parse(struct imrec_minibatch_config *c, const char *text)
{
    struct imrec_error err;
    ck_assert_msg(imrec_minibatch_config_parse(c, "w", text, strlen(text), &err) == IMREC_OK, "%s",
                  err.message);
}

/* The error of parsing, or of a key set afterwards. */
static const char *why_not(struct imrec_minibatch_config *c, const char *text, const char *key)
{
    static struct imrec_error err;
    err.message[0] = '\0';
    enum imrec_status st = imrec_minibatch_config_parse(c, "w", text, strlen(text), &err);
    if (st == IMREC_OK && key != NULL)
        st = imrec_minibatch_config_set(c, key, &err);
    ck_assert_int_ne(st, IMREC_OK);
    imrec_minibatch_config_free(c);
    return err.message;
}

/* ---- which reader ------------------------------------------------------------------------ */

TEST(a_reader_is_taken_out_of_a_whole_configuration)
{
    struct imrec_minibatch_config *c = WITH("action=train", "Dim=784");
    parse(c, whole);
    const struct imrec_minibatch_options *o = imrec_minibatch_config_options(c);
    ck_assert_uint_eq(o->deserializers, 1);
    ck_assert_str_eq(o->deserializer->file, "../Data/train.txt");
    ck_assert_str_eq(o->deserializer->type, "CNTKTextFormatReader");
    ck_assert_int_eq(o->precision, IMREC_PRECISION_DOUBLE); /* from around it */
    ck_assert(!o->randomize);
    ck_assert_str_eq(o->minibatch_size_in_samples, "256"); /* SGD's is not a reader's */
    ck_assert_uint_eq(o->deserializer->streams, 2);
    ck_assert_uint_eq(o->deserializer->stream[0].dim, 784);
    ck_assert(!o->deserializer->stream[0].precision_given);
    ck_assert_int_eq(o->deserializer->stream[1].storage, IMREC_SPARSE);
    ck_assert(o->deserializer->stream[1].precision_given &&
              o->deserializer->stream[1].precision == IMREC_PRECISION_FLOAT);
    imrec_minibatch_config_free(c);
}

TEST(a_composite_reader_takes_what_its_action_says)
{
    struct imrec_minibatch_config *c = WITH("action=TestIt", "RootDir=/sets");
    parse(c, whole);
    const struct imrec_minibatch_options *o = imrec_minibatch_config_options(c);
    ck_assert_uint_eq(o->deserializers, 2);
    ck_assert_str_eq(o->deserializer[0].file, "/sets/Data/a.txt");
    ck_assert_str_eq(o->deserializer[1].file, "/sets/Data/b.cbf");
    ck_assert_int_eq(o->deserializer[0].trace_level, 2); /* CNTK has more levels */
    ck_assert_str_eq(o->minibatch_size_in_samples, "1024");
    ck_assert(o->randomize);
    imrec_minibatch_config_free(c);
}

static const struct {
    const char *action, *file; /* NULL: refused */
} choices[] = {
    {"train", "../Data/train.txt"},
    {"TrainIt", "../Data/train.txt"},
    {"TRAINIT.reader", "../Data/train.txt"},
    {"TrainIt.cvReader", "cv.txt"},
    {"test", "../Data/a.txt"},
    {"eval", NULL},
    {"cvReader", NULL},
};

LOOP_TEST(a_reader_is_chosen_by_its_section_or_its_action, 0, COUNT(choices))
{
    char action[64];
    struct imrec_error err;
    snprintf(action, sizeof(action), "action=%s", choices[_i].action);
    struct imrec_minibatch_config *c = WITH(action, "Dim=1");
    const enum imrec_status st = imrec_minibatch_config_parse(c, "w", whole, strlen(whole), &err);
    if (choices[_i].file == NULL) {
        ck_assert_int_eq(st, IMREC_ERR_ARGUMENT);
        ck_assert_ptr_nonnull(strstr(err.message, "is not the name of one reader; there are "
                                                  "TrainIt (line 28), TrainIt.cvReader (line 37), "
                                                  "TestIt (line 46)"));
    } else {
        ck_assert_msg(st == IMREC_OK, "%s", err.message);
        ck_assert_str_eq(imrec_minibatch_config_options(c)->deserializer->file, choices[_i].file);
    }
    imrec_minibatch_config_free(c);
}

TEST(several_readers_have_to_be_chosen_from)
{
    ck_assert_str_eq(why_not(WITH(NULL), whole, NULL),
                     "w: 3 readers are described: TrainIt (line 28), TrainIt.cvReader (line 37), "
                     "TestIt (line 46); choose one by action=TrainIt");
    ck_assert_str_eq(why_not(WITH(NULL), "command = a\na = [ SGD = [ x = 1 ] ]", NULL),
                     "w: no section of it describes a reader: reader = [ ... ]");
    ck_assert_str_eq(
        why_not(WITH(NULL), "a = [ reader = [ file = x ]\n reader = [ file = y ] ]", NULL),
        "w: 2 readers are described: a (line 1), a (line 2); choose one by action=a");
    ck_assert_ptr_nonnull(strstr(why_not(WITH(NULL), "reader = [ file = x ]", "action=train"),
                                 "action=train chooses a reader of a configuration"));
}

TEST(the_only_reader_needs_no_choice)
{
    struct imrec_minibatch_config *c = WITH(NULL);
    parse(c, "command=Simple\nprecision=float\nSimple=[\n action=train\n SGD=[\n  epochSize=0\n ]\n"
             " reader=[\n  readerType=CNTKTextFormatReader\n  file=a.txt\n  input = [\n   x = [\n"
             "    dim = 2 # two of them\n    format = \"dense\"\n   ]\n  ]\n ]\n]\n");
    ck_assert_str_eq(imrec_minibatch_config_options(c)->deserializer->file, "a.txt");
    imrec_minibatch_config_free(c);
}

/* ---- values ------------------------------------------------------------------------------ */

static const struct {
    const char *text, *file; /* of the reader, or NULL and `says` */
    const char *says;
} values[] = {
    {"A = 1 ; B = x$A$y ; reader = [ file = \"$B$$B$\" ]", "x1yx1y", NULL},
    {"a = outer\nreader = [ a = inner ; file = $A$ ]", NULL, "unknown key 'a'"},
    {"run = [ a = inner ; reader = [ file = $A$ ] ]\na = outer", "inner", NULL},
    {"reader = [ file = \"5$ and $6\" ]", "5$ and $6", NULL},
    {"reader = [ file = \"$No$/x\" ]", NULL,
     "w: line 1: $No$ is not defined; say what it is by No=VALUE"},
    {"x = [ a = $a$ ; reader = [ file = $a$ ] ]", NULL,
     "w: line 1: $a$ refers to itself, or to more than 1000 others"},
    {"x = [ a = [ b = 1 ] ; reader = [ file = $a$ ] ]", NULL, "$a$ is not defined"},
};

LOOP_TEST(names_between_dollars_are_replaced, 0, COUNT(values))
{
    if (values[_i].says != NULL) {
        const char *why = why_not(WITH(NULL), values[_i].text, NULL);
        ck_assert_msg(strstr(why, values[_i].says) != NULL, "%s", why);
        return;
    }
    struct imrec_minibatch_config *c = WITH(NULL);
    static char outer[200]; /* what defines nothing that a reader has is CNTK's own */
    snprintf(outer, sizeof(outer), "command = x\n%s", values[_i].text);
    parse(c, outer);
    ck_assert_str_eq(imrec_minibatch_config_options(c)->deserializer->file, values[_i].file);
    imrec_minibatch_config_free(c);
}

TEST(what_was_defined_may_be_set_again_and_nothing_else)
{
    static const char text[] = "command = x\nreader = [ file = \"$Data$/x\" ]";
    struct imrec_minibatch_config *c = WITH("DATA=/d", "Dta=/e");
    parse(c, text);
    ck_assert_str_eq(imrec_minibatch_config_options(c)->deserializer->file, "/d/x");
    ck_assert_int_eq(imrec_minibatch_config_set(c, "data=/d", NULL), IMREC_OK);
    ck_assert_int_eq(imrec_minibatch_config_set(c, "Dta=/e", NULL), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(imrec_minibatch_config_define(c, "=3", NULL), IMREC_ERR_ARGUMENT);
    imrec_minibatch_config_free(c);
}

/* ---- what is passed over ----------------------------------------------------------------- */

static char told[4][200];
static int told_count;
static void listen(void *user, enum imrec_log_level level, const char *line)
{
    (void)user, (void)level;
    if (told_count < 4)
        snprintf(told[told_count], sizeof(told[0]), "%s", line);
    told_count++;
}

TEST(what_looks_like_a_readers_key_is_told)
{
    struct imrec_minibatch_config *c = WITH(NULL);
    told_count = 0;
    imrec_set_log(listen, NULL, IMREC_LOG_WARNING);
    parse(c, "command = x\ninclude=common.cntk\nprecison = \"double\"\nmodelPath = m\n"
             "x = [ reader = [ file = a ] ]");
    imrec_set_log(NULL, NULL, IMREC_LOG_WARNING);
    ck_assert_int_eq(told_count, 2);
    ck_assert_str_eq(told[0], "w: line 2: include=common.cntk is not read; what it defines has to "
                              "be said by NAME=VALUE");
    ck_assert_str_eq(told[1], "w: line 3: 'precison' is passed over; did you mean precision?");
    imrec_minibatch_config_free(c);
}

static const struct {
    const char *text, *says;
} strict[] = {
    /* a reader's section alone: everything has to be known */
    {"precison = \"double\"\nreader = [ file = a ]",
     "w: line 1: unknown key 'precison'; did you mean precision?"},
    {"precision \"double\"\nreader = [ file = a ]", "w: line 1, column 11: '=' after the name"},
    {"reader [ file = a ]", "w: line 1, column 8: '=' after the name expected, but '[' found"},
    /* a reader inside of a whole one */
    {"command = x\nx = [ reader = [ file a ] ]", "w: line 2, column 23: '=' after the name"},
    {"command = x\nx = [ reader = [ fil = a ] ]",
     "w: line 2: unknown key 'fil'; did you mean file"},
    {"command = x\nx = [ net = { y = f (1 } ]",
     "w: line 2, column 24: ')' expected, but '}' found"},
    {"command = x\nx = [ net = { y = 'a ]\n", "w: line 2, column 23: the quote that ends a text"},
    {"command = x\nx = [ reader = 5 ]", "w: no section of it describes a reader"},
};

LOOP_TEST(what_a_reader_says_has_to_be_right, 0, COUNT(strict))
{
    const char *why = why_not(WITH(NULL), strict[_i].text, NULL);
    ck_assert_msg(strncmp(why, strict[_i].says, strlen(strict[_i].says)) == 0, "%s", why);
}

/* ---- changes ----------------------------------------------------------------------------- */

TEST(keys_change_what_a_configuration_said)
{
    static const char *const keys[] = {"file=b.ctf",      "input.labels.dim=3",
                                       "precision=float", "input.features.precision=double",
                                       "max_errors=4",    "input.labels.alias=y",
                                       "randomize=TRUE",  "minibatchSize=8"};
    struct imrec_minibatch_config *c = WITH("action=train", "Dim=784");
    struct imrec_error err;
    parse(c, whole);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        ck_assert_msg(imrec_minibatch_config_set(c, keys[i], &err) == IMREC_OK, "%s", err.message);
    const struct imrec_minibatch_options *o = imrec_minibatch_config_options(c);
    ck_assert_uint_eq(o->deserializers, 1); /* replaced, not joined */
    const struct imrec_deserializer *d = o->deserializer;
    ck_assert_str_eq(d->file, "b.ctf");
    ck_assert_int_eq(d->max_errors, 4);
    ck_assert_uint_eq(d->streams, 2);
    ck_assert_uint_eq(d->stream[1].dim, 3);
    ck_assert_str_eq(d->stream[1].alias, "y");
    ck_assert(d->stream[0].precision == IMREC_PRECISION_DOUBLE && d->stream[0].precision_given);
    ck_assert(o->precision == IMREC_PRECISION_FLOAT && o->randomize);
    ck_assert_str_eq(o->minibatch_size_in_samples, "8");
    imrec_minibatch_config_free(c);
}

TEST(keys_of_inputs_find_their_file_among_several)
{
    struct imrec_minibatch_config *c = WITH("action=test");
    struct imrec_error err;
    parse(c, whole);
    ck_assert_int_eq(imrec_minibatch_config_set(c, "input.x.dim=7", &err), IMREC_OK);
    ck_assert_uint_eq(imrec_minibatch_config_options(c)->deserializer[0].stream[0].dim, 7);
    ck_assert_int_eq(imrec_minibatch_config_set(c, "input.z.dim=7", &err), IMREC_ERR_ARGUMENT);
    ck_assert_str_eq(err.message, "none of the 2 files has an input 'z'");
    ck_assert_int_eq(imrec_minibatch_config_set(c, "file=c", &err), IMREC_ERR_ARGUMENT);
    ck_assert_str_eq(err.message, "file= replaces the only file of a source, this one has 2: "
                                  "'../Data/a.txt', '../Data/b.cbf', ...");
    imrec_minibatch_config_free(c);
}

TEST(no_memory_is_an_error_and_leaves_nothing)
{
    STARVING(memory)
    {
        struct imrec_minibatch_config *c;
        memory.st = imrec_minibatch_config_new(&c, NULL);
        if (memory.st == IMREC_OK)
            memory.st = imrec_minibatch_config_define(c, "Dim=3", NULL);
        if (memory.st == IMREC_OK)
            memory.st = imrec_minibatch_config_set(c, "action=train", NULL);
        if (memory.st == IMREC_OK)
            memory.st = imrec_minibatch_config_parse(c, "w", whole, strlen(whole), NULL);
        if (memory.st == IMREC_OK)
            memory.st = imrec_minibatch_config_set(c, "input.new.dim=3", NULL);
        imrec_minibatch_config_free(c);
    }
}
