/*
 * examples/softmax.c [CTF | CBF [HELD_OUT [SWEEPS [RATE]]]] - trains a softmax classifier on
 * minibatches.
 *
 * The file has a dense stream `features` and a stream `labels`, sparse or dense, whose largest
 * value marks the class; in a text `features` is called x, `labels` y. Without a file it makes a
 * toy set: points around ten centres. Prints the accuracy on held-out data.
 */
#include <imrec/imrec.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOY_DIM = 20, TOY_CLASSES = 10, BATCH = 64 };

static void fail(const char *what)
{
    fprintf(stderr, "softmax: %s\n", what);
    exit(EXIT_FAILURE);
}

/* ---- a toy set --------------------------------------------------------------------------- */

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0;
}

static double normal(uint64_t *state)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += uniform(state);
    return sum;
}

static void make_toy(const char *path, int samples, uint64_t seed)
{
    uint64_t centres = 1, noise = seed;
    double centre[TOY_CLASSES][TOY_DIM];
    FILE *f = fopen(path, "w");
    if (f == NULL)
        fail("cannot write the toy set");
    for (int c = 0; c < TOY_CLASSES; c++)
        for (int d = 0; d < TOY_DIM; d++)
            centre[c][d] = normal(&centres);
    for (int i = 0; i < samples; i++) {
        const int class = (int)(uniform(&noise) * TOY_CLASSES);
        fprintf(f, "|y %d:1 |x", class);
        for (int d = 0; d < TOY_DIM; d++)
            fprintf(f, " %.4f", centre[class][d] + 0.8 * normal(&noise));
        fprintf(f, "\n");
    }
    if (fclose(f) != 0)
        fail("cannot write the toy set");
}

/* ---- sources ----------------------------------------------------------------------------- */

/* Opens a file for one sweep, or for sweeps without end. */
static struct imrec_minibatch_source *
open_source(const char *path, bool randomize, int64_t sweeps, bool text)
{
    const struct imrec_stream stream[] = {
        {.name = "features", .alias = "x", .storage_given = true, .dim = TOY_DIM},
        {.name = "labels",
         .alias = "y",
         .storage = IMREC_SPARSE,
         .storage_given = true,
         .dim = TOY_CLASSES},
    };
    struct imrec_deserializer file;
    struct imrec_minibatch_options o;
    struct imrec_minibatch_source *s;
    struct imrec_error err;
    imrec_deserializer_init(&file);
    imrec_minibatch_options_init(&o);
    file.file = path;
    file.stream = text ? stream : NULL; /* a binary file describes itself */
    file.streams = text ? 2 : 0;
    o.deserializer = &file;
    o.deserializers = 1;
    o.randomize = randomize;
    o.max_sweeps = sweeps;
    if (imrec_minibatch_source_open(&o, &s, &err) != IMREC_OK)
        fail(err.message);
    return s;
}

/* The next minibatch, with the streams in the order of train() and test(). */
static bool next(struct imrec_minibatch_source *s, struct imrec_minibatch *m)
{
    static const struct imrec_stream_map map[] = {{"features", "features"}, {"labels", "labels"}};
    struct imrec_error err;
    const enum imrec_status st = imrec_minibatch_next(s, BATCH, map, 2, m, &err);
    if (st != IMREC_OK && st != IMREC_END)
        fail(err.message);
    if (st == IMREC_OK &&
        (m->stream[0].samples != m->sequences || m->stream[1].samples != m->sequences))
        fail("every sequence must be one sample with one label");
    return st == IMREC_OK;
}

/* The class of sequence i, whose one sample is sample i. */
static uint32_t class_of(const struct imrec_minibatch_stream *labels, uint64_t i)
{
    const float *v = labels->values;
    if (labels->storage == IMREC_SPARSE)
        return (uint32_t)labels->indices[labels->row_start[i]];
    uint32_t best = 0;
    for (uint32_t c = 1; c < labels->dim; c++)
        if (v[i * labels->dim + c] > v[i * labels->dim + best])
            best = c;
    return best;
}

/* ---- the model --------------------------------------------------------------------------- */

struct model {
    uint32_t dim, classes;
    double scale;   /* of features: pixels are 0 to 255 */
    double *weight; /* [classes][dim + 1]: the last is the bias */
    double *slope;  /* of a minibatch */
    double *score;  /* [classes] */
};

static struct model new_model(struct imrec_minibatch_source *s)
{
    const struct imrec_stream *stream;
    struct model m = {0};
    const uint32_t n = imrec_minibatch_streams(s, &stream);
    for (uint32_t i = 0; i < n; i++) {
        m.dim = strcmp(stream[i].name, "features") == 0 ? stream[i].dim : m.dim;
        m.classes = strcmp(stream[i].name, "labels") == 0 ? stream[i].dim : m.classes;
    }
    if (m.dim == 0 || m.classes == 0)
        fail("the file has no streams `features` and `labels`");
    const size_t cells = (size_t)m.classes * (m.dim + 1);
    m.weight = calloc(cells, sizeof(double));
    m.slope = calloc(cells, sizeof(double));
    m.score = calloc(m.classes, sizeof(double));
    if (m.weight == NULL || m.slope == NULL || m.score == NULL)
        fail("no memory");
    return m;
}

static void free_model(struct model *m)
{
    free(m->weight);
    free(m->slope);
    free(m->score);
}

/* Probabilities of all classes, in m->score; returns the likeliest. */
static uint32_t classify(struct model *m, const float *x)
{
    uint32_t best = 0;
    double sum = 0;
    for (uint32_t c = 0; c < m->classes; c++) {
        const double *w = m->weight + (size_t)c * (m->dim + 1);
        double score = w[m->dim];
        for (uint32_t d = 0; d < m->dim; d++)
            score += w[d] * m->scale * (double)x[d];
        m->score[c] = score;
        best = score > m->score[best] ? c : best;
    }
    const double most = m->score[best];
    for (uint32_t c = 0; c < m->classes; c++)
        sum += m->score[c] = exp(m->score[c] - most);
    for (uint32_t c = 0; c < m->classes; c++)
        m->score[c] /= sum;
    return best;
}

/* Sets the scale so that the mean magnitude of a minibatch's values is 1. */
static double scale_of(const struct imrec_minibatch *b)
{
    const struct imrec_minibatch_stream *x = &b->stream[0];
    double sum = 0;
    for (uint64_t i = 0; i < b->sequences * x->dim; i++)
        sum += fabs((double)((const float *)x->values)[i]);
    return sum > 0 ? (double)(b->sequences * x->dim) / sum : 1;
}

static void train(struct model *m, const struct imrec_minibatch *b, double rate)
{
    const struct imrec_minibatch_stream *x = &b->stream[0], *y = &b->stream[1];
    const size_t cells = (size_t)m->classes * (m->dim + 1);
    if (m->scale == 0)
        m->scale = scale_of(b);
    memset(m->slope, 0, cells * sizeof(double));
    for (uint64_t i = 0; i < b->sequences; i++) {
        const float *sample = (const float *)x->values + i * x->dim;
        const uint32_t class = class_of(y, i);
        (void)classify(m, sample);
        for (uint32_t c = 0; c < m->classes; c++) {
            const double off = m->score[c] - (c == class);
            double *slope = m->slope + (size_t)c * (m->dim + 1);
            for (uint32_t d = 0; d < m->dim; d++)
                slope[d] += off * m->scale * (double)sample[d];
            slope[m->dim] += off;
        }
    }
    for (size_t i = 0; i < cells; i++)
        m->weight[i] -= rate * m->slope[i] / (double)b->sequences;
}

static double test(struct model *m, struct imrec_minibatch_source *s)
{
    struct imrec_minibatch b;
    uint64_t right = 0, all = 0;
    while (next(s, &b))
        for (uint64_t i = 0; i < b.sequences; i++, all++)
            right += classify(m, (const float *)b.stream[0].values + i * b.stream[0].dim) ==
                     class_of(&b.stream[1], i);
    return (double)right / (double)all;
}

int main(int argc, char **argv)
{
    const char *set = argc > 1 ? argv[1] : "softmax-train.ctf";
    const char *held_out = argc > 2 ? argv[2] : argc > 1 ? set : "softmax-test.ctf";
    const int64_t sweeps = argc > 3 ? atoi(argv[3]) : 10;
    const double rate = argc > 4 ? atof(argv[4]) : 0.1;
    enum imrec_file_kind kind;
    struct imrec_error err;
    struct imrec_minibatch b;
    if (argc == 1) {
        make_toy(set, 5000, 2);
        make_toy(held_out, 1000, 3);
    }
    if (imrec_file_kind(set, &kind, NULL, &err) != IMREC_OK)
        fail(err.message);
    const bool binary = kind == IMREC_FILE_CBF;
    struct imrec_minibatch_source *training = open_source(set, true, sweeps, !binary),
                                  *testing = open_source(held_out, false, 1, !binary);
    struct model m = new_model(training);
    while (next(training, &b))
        train(&m, &b, rate);
    printf("accuracy %.4f\n", test(&m, testing));
    free_model(&m);
    imrec_minibatch_source_close(training);
    imrec_minibatch_source_close(testing);
    return EXIT_SUCCESS;
}
