/* tests/bench/bench_ctf.c - CNTK's text to values, to an index and to CBF, beside a walk over the
 * same bytes that only finds and converts numbers by strtof(), beside read() and memchr().
 * One thread, in turns, the best of some. Usage: bench_ctf [folder for the texts [number of a
 * text]] */
#include "base/clock.h"
#include "formats/ctf/ctf_parse.h"
#include "imrec/convert.h"
#include "imrec/minibatch.h"
#include "minibatch/corpus/ctf_index_file.h"
#include "tests/bench/ctf_texts.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TURNS = 7, CHUNK_BYTES = 32 << 20, READ_BYTES = 2 << 20 };

static struct imrec_error err;
static float sink_of_numbers; /* so that nothing is left out */
static char path[512], out_path[512];

static void must(bool yes, const char *what)
{
    if (yes)
        return;
    fprintf(stderr, "%s: %s\n", what, err.message);
    exit(1);
}

/* ---- what is measured -------------------------------------------------------------------- */

struct run {
    const struct bench_text *text;
    struct ctf_index index;
    struct ctf_parser *parser;
};

static void walk(struct run *r)
{
    const char *p = (const char *)r->text->p, *const end = p + r->text->n;
    float sum = 0;
    while (p < end) {
        if ((unsigned char)(*p - '0') < 10 || *p == '-') {
            char *next;
            sum += strtof(p, &next);
            p = next;
        } else {
            p++;
        }
    }
    sink_of_numbers += sum;
}

static void parse(struct run *r)
{
    struct sequence_chunk c;
    uint64_t n;
    for (uint64_t i = 0; i < r->index.chunks; i++) {
        const struct ctf_chunk *k = &r->index.chunk[i];
        must(ctf_parse(r->parser, k, r->index.sequence + k->first, r->text->p + k->offset, &c,
                       &err) == IMREC_OK,
             "parse");
        (void)ctf_parser_problems(r->parser, &n);
        must(n == 0, "a problem");
    }
}

static void index_it(struct run *r)
{
    const struct ctf_index_options o = {.name = "bench",
                                        .size = r->text->n,
                                        .main_alias = NULL,
                                        .skip_sequence_ids = false,
                                        .chunk_bytes = CHUNK_BYTES};
    struct ctf_indexer *x;
    ctf_index_free(&r->index);
    must(ctf_indexer_new(&o, &x, &err) == IMREC_OK, "index");
    must(ctf_indexer_feed(x, (struct bytes){r->text->p, r->text->n}, true, &err) == IMREC_OK,
         "index");
    must(ctf_indexer_end(x, &r->index, &err) == IMREC_OK, "index");
    ctf_indexer_free(x);
}

static void find_ends(struct run *r)
{
    const uint8_t *p = r->text->p, *const end = p + r->text->n;
    uint64_t n = 0;
    while ((p = memchr(p, '\n', (size_t)(end - p))) != NULL) {
        n++;
        if (++p == end)
            break;
    }
    sink_of_numbers += (float)n;
}

static void read_it(struct run *r)
{
    static uint8_t buffer[READ_BYTES];
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    uint64_t n = 0;
    for (ssize_t got; (got = read(fd, buffer, sizeof(buffer))) > 0;)
        n += (uint64_t)got;
    must(n == r->text->n, "read");
    close(fd);
}

static void pass_over_file(struct run *r)
{
    const struct ctf_index_options o = {.name = "bench",
                                        .size = r->text->n,
                                        .main_alias = NULL,
                                        .skip_sequence_ids = false,
                                        .chunk_bytes = CHUNK_BYTES};
    struct ctf_index_file *f;
    struct source *s;
    must(source_open(path, &s, &err) == IMREC_OK, path);
    must(ctf_index_file_open(path, s, &o, false, false, &f, &err) == IMREC_OK, path);
    ctf_index_file_close(f);
    source_close(s);
}

static void convert(struct run *r)
{
    struct imrec_convert_options o;
    imrec_convert_options_init(&o);
    o.input = path;
    o.output = out_path;
    o.header = r->text->header_path;
    o.threads = 1;
    must(imrec_ctf_to_cbf(&o, NULL, NULL, NULL, &err) == IMREC_OK, "convert");
}

/* Opening and a sweep, in minibatches of 256. */
static void deliver(struct run *r, bool randomize)
{
    struct imrec_stream stream[2];
    struct imrec_deserializer d;
    struct imrec_minibatch_options o;
    struct imrec_minibatch_source *s;
    struct imrec_minibatch m;
    enum imrec_status st;
    for (uint32_t i = 0; i < r->text->streams; i++) {
        const struct stream_info *info = &r->text->stream[i];
        stream[i] = (struct imrec_stream){.name = info->name,
                                          .alias = info->alias,
                                          .storage = info->storage == STREAM_SPARSE ? IMREC_SPARSE
                                                                                    : IMREC_DENSE,
                                          .dim = info->dim,
                                          .storage_given = true};
    }
    imrec_deserializer_init(&d);
    imrec_minibatch_options_init(&o);
    d.file = path;
    d.stream = stream;
    d.streams = r->text->streams;
    o.deserializer = &d;
    o.deserializers = 1;
    o.max_sweeps = 1;
    o.threads = 1;
    o.randomize = randomize;
    must(imrec_minibatch_source_open(&o, &s, &err) == IMREC_OK, path);
    while ((st = imrec_minibatch_next(s, 0, NULL, 0, &m, &err)) == IMREC_OK)
        sink_of_numbers += (float)m.samples;
    must(st == IMREC_END, path);
    imrec_minibatch_source_close(s);
}

static void deliver_in_order(struct run *r)
{
    deliver(r, false);
}

static void deliver_shuffled(struct run *r)
{
    deliver(r, true);
}

/* ---- turns ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*run)(struct run *r);
} ways[] = {
    {"strtof walk", walk},
    {"parse", parse},
    {"index", index_it},
    {"memchr", find_ends},
    {"index file", pass_over_file},
    {"read()", read_it},
    {"ctf2bin", convert},
    {"minibatches", deliver_in_order},
    {"shuffled", deliver_shuffled},
};
enum {
    WAYS = sizeof(ways) / sizeof(ways[0]),
    WALK = 0,
    PARSE,
    INDEX,
    MEMCHR,
    PASS,
    READ,
    BIN,
    ORDER,
    SHUFFLED
};

static void measure(const struct bench_text *t)
{
    struct run r = {.text = t};
    double best[WAYS];
    const struct ctf_parse_options o = {
        .name = "bench", .stream = t->stream, .streams = t->streams};
    must(ctf_parser_new(&o, &r.parser, &err) == IMREC_OK, "parser");
    index_it(&r);
    for (int turn = 0; turn < TURNS; turn++)
        for (int i = 0; i < WAYS; i++) {
            const uint64_t begin = clock_ns();
            ways[i].run(&r);
            const double ns = (double)(clock_ns() - begin);
            best[i] = turn == 0 || ns < best[i] ? ns : best[i];
        }
    printf("%-26s %4zu MB", t->name, t->n >> 20);
    for (int i = 0; i < WAYS; i++)
        printf("  %s %.0f", ways[i].name, 1e3 * (double)t->n / best[i]);
    printf(" MB/s\n    of the walk: parse %.2f, minibatches %.2f, shuffled %.2f, ctf2bin %.2f; of "
           "memchr: index %.2f, from the file "
           "%.2f; of read(): parse %.3f, ctf2bin %.3f\n",
           best[WALK] / best[PARSE], best[WALK] / best[ORDER], best[WALK] / best[SHUFFLED],
           best[WALK] / best[BIN], best[MEMCHR] / best[INDEX], best[MEMCHR] / best[PASS],
           best[READ] / best[PARSE], best[READ] / best[BIN]);
    ctf_parser_free(r.parser);
    ctf_index_free(&r.index);
}

/* ---- a cached index ---------------------------------------------------------------------- */

static void measure_cache(void)
{
    const struct ctf_index_options o = {.name = "bench",
                                        .size = 0,
                                        .main_alias = NULL,
                                        .skip_sequence_ids = false,
                                        .chunk_bytes = CHUNK_BYTES};
    struct bench_text t = bench_text_tiny_lines(10000000);
    double best[2] = {1e18, 1e18};
    bench_text_save(&t, path);
    for (int turn = 0; turn < TURNS; turn++)
        for (int cached = 0; cached < 2; cached++) {
            struct ctf_index_file *f;
            struct source *s;
            must(source_open(path, &s, &err) == IMREC_OK, path);
            const uint64_t begin = clock_ns();
            must(ctf_index_file_open(path, s, &o, cached != 0, false, &f, &err) == IMREC_OK, path);
            const double ns = (double)(clock_ns() - begin);
            best[cached] = ns < best[cached] ? ns : best[cached];
            ctf_index_file_close(f);
            source_close(s);
        }
    printf("10,000,000 sequences: a pass over %zu MB %.1f ms, from the cache %.3f ms\n", t.n >> 20,
           best[0] / 1e6, best[1] / 1e6);
    bench_text_free(&t);
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : "/tmp";
    snprintf(path, sizeof(path), "%s/bench-%ld.ctf", folder, (long)getpid());
    snprintf(out_path, sizeof(out_path), "%s/bench-%ld.cbf", folder, (long)getpid());
    const size_t only = argc > 2 ? (size_t)strtoul(argv[2], NULL, 10) : SIZE_MAX;
    for (size_t i = 0; i < bench_text_kinds; i++) {
        if (only != SIZE_MAX && only != i)
            continue;
        struct bench_text t = bench_text_make(i, (size_t)48 << 20);
        bench_text_save(&t, path);
        measure(&t);
        bench_text_free(&t);
    }
    if (only == SIZE_MAX || only == bench_text_kinds)
        measure_cache();
    (void)remove(path);
    (void)remove(out_path);
    strncat(path, ".imrec-index", sizeof(path) - strlen(path) - 1);
    (void)remove(path);
    return sink_of_numbers == 0.5f;
}
