/*
 * tools/bench/limit/bench_limit.c - decoding and nothing else: what reading batches is measured
 * against.
 *
 * The images are in memory before the clock starts, and so are the threads; each takes the
 * next image from one counter, decodes it into its own buffer, and forgets it.
 */
#include "tools/bench/limit/bench_limit.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "codec/codec.h"
#include "imrec/codec.h"
#include "imrec/records.h"
#include "parallel/workers.h"
#include "tools/bench/limit/jpeg_plain.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>

#define DEFAULT_MAX_BYTES ((uint64_t)1 << 62)
#define BLOCK_BYTES       ((size_t)64 << 20)
#define MAX_PIXELS        178956970

struct encoded {
    const uint8_t *p;
    size_t n;
    uint8_t *own; /* in no block; or NULL */
};

struct block { /* images are in blocks that never move */
    struct block *before;
    size_t used, capacity;
    uint8_t bytes[];
};

struct bench_limit {
    struct block *last;
    struct encoded *image;
    uint64_t count, room, bytes;
};

static enum imrec_status no_memory(struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory for the images to be decoded");
}

static uint8_t *room_for(struct bench_limit *b, size_t n)
{
    if (b->last == NULL || n > b->last->capacity - b->last->used) {
        const size_t capacity = n < BLOCK_BYTES ? BLOCK_BYTES : n;
        struct block *block = imrec_realloc(NULL, sizeof(*block) + capacity, 1);
        if (block == NULL)
            return NULL;
        *block = (struct block){b->last, 0, capacity};
        b->last = block;
    }
    uint8_t *p = b->last->bytes + b->last->used;
    b->last->used += n;
    return p;
}

static enum imrec_status
add_image(struct bench_limit *b, const struct imrec_record *r, struct imrec_error *err)
{
    if (!IMREC_GROW(b->image, b->room, b->count + 1))
        return no_memory(err);
    uint8_t *to = room_for(b, r->image_size);
    if (to == NULL)
        return no_memory(err);
    if (r->image_size != 0)
        memcpy(to, r->image, r->image_size);
    b->image[b->count++] = (struct encoded){to, r->image_size, NULL};
    b->bytes += r->image_size;
    return IMREC_OK;
}

static enum imrec_status load(struct bench_limit *b, struct imrec_reader *reader,
                              uint64_t max_images, uint64_t max_bytes, struct imrec_error *err)
{
    struct imrec_record r;
    while (b->count < max_images && b->bytes < max_bytes) {
        const enum imrec_status st = imrec_reader_next(reader, &r, err);
        if (st == IMREC_END)
            break;
        if (st == IMREC_OK && r.is_image && r.metadata == IMREC_NO_METADATA)
            IMREC_TRY(add_image(b, &r, err));
        else if (st != IMREC_OK && st != IMREC_ERR_DATA)
            return st;
    }
    return IMREC_OK;
}

enum imrec_status bench_limit_open(const char *uri, const struct imrec_reader_options *o,
                                   uint64_t max_images, uint64_t max_bytes,
                                   struct bench_limit **out, struct imrec_error *err)
{
    struct imrec_reader *reader;
    *out = NULL;
    IMREC_TRY(imrec_reader_open_with(uri, 0, 1, o, &reader, err));
    struct bench_limit *b = imrec_zalloc(1, sizeof(*b));
    enum imrec_status st = b != NULL ? IMREC_OK : no_memory(err);
    if (st == IMREC_OK)
        st = load(b, reader, max_images != 0 ? max_images : UINT64_MAX,
                  max_bytes != 0 ? max_bytes : DEFAULT_MAX_BYTES, err);
    imrec_reader_close(reader);
    if (st == IMREC_OK && b->count == 0)
        st = imrec_fail(err, IMREC_ERR_DATA, "%s: no image in it", uri);
    if (st != IMREC_OK)
        bench_limit_close(b);
    else
        *out = b;
    return st;
}

uint64_t bench_limit_images(const struct bench_limit *b)
{
    return b->count;
}

uint64_t bench_limit_bytes(const struct bench_limit *b)
{
    return b->bytes;
}

/* ---- as libjpeg-turbo is best at them ------------------------------------------------------- */

struct rewriting {
    struct bench_limit *b;
    uint64_t images;
    _Atomic uint64_t next, changed;
    _Atomic bool no_memory;
};

static enum imrec_status rewrite(struct codec *c, struct encoded *e, bool *done)
{
    const struct codec_limits limits = {.max_pixels = MAX_PIXELS};
    struct imrec_image_info info;
    struct bytes out;
    *done = false;
    if (codec_begin(c, (struct bytes){e->p, e->n}, &limits, &info, NULL) != IMREC_OK)
        return IMREC_OK; /* a failure of the measurement */
    IMREC_TRY(codec_plain_jpeg(c, done, &out, NULL));
    if (!*done)
        return IMREC_OK;
    uint8_t *own = imrec_realloc(NULL, out.n, 1);
    if (own == NULL)
        return IMREC_ERR_NO_MEMORY;
    memcpy(own, out.p, out.n);
    imrec_free(e->own);
    *e = (struct encoded){own, out.n, own};
    return IMREC_OK;
}

static void rewrite_some(void *context, uint32_t worker, uint32_t size)
{
    struct rewriting *r = context;
    struct codec *c = NULL;
    uint64_t i, changed = 0;
    bool done;
    (void)worker, (void)size;
    enum imrec_status st = codec_new(&c, NULL);
    while (st == IMREC_OK && (i = atomic_fetch_add(&r->next, 1)) < r->images) {
        st = rewrite(c, &r->b->image[i], &done);
        changed += done;
    }
    if (st != IMREC_OK)
        atomic_store(&r->no_memory, true);
    atomic_fetch_add(&r->changed, changed);
    codec_free(c);
}

enum imrec_status bench_limit_plain(struct bench_limit *b, uint32_t threads, uint64_t images,
                                    uint64_t *changed, struct imrec_error *err)
{
    struct rewriting r = {.b = b, .images = images < b->count ? images : b->count};
    workers_run(workers_count(threads), rewrite_some, &r);
    *changed = atomic_load(&r.changed);
    return atomic_load(&r.no_memory) ? no_memory(err) : IMREC_OK;
}

/* ---- the clocks ------------------------------------------------------------------------- */

double bench_now(void)
{
    return 1e-9 * (double)clock_ns();
}

double bench_cpu_now(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* ---- the limit -------------------------------------------------------------------------- */

struct worker {
    struct jpeg_plain *plain;
    struct imrec_decoder *decoder; /* of other formats; made last: a worker has it or nothing */
};

struct limit {
    const struct bench_limit *b;
    struct worker *worker;
    uint64_t images;
    _Atomic uint64_t next, failed, bytes;
    _Atomic bool no_memory;
};

static bool decode(const struct worker *w, const struct encoded *p)
{
    struct imrec_image image;
    return jpeg_plain_decode(w->plain, (struct bytes){p->p, p->n}, &image, NULL) == IMREC_OK ||
           imrec_decoder_decode(w->decoder, p->p, p->n, 3, false, MAX_PIXELS, &image, NULL) ==
               IMREC_OK;
}

/* Threads and buffers are there before the clock starts. */
static void warm_up(void *context, uint32_t worker, uint32_t size)
{
    struct limit *l = context;
    struct worker *w = &l->worker[worker];
    (void)size;
    if (jpeg_plain_new(&w->plain, NULL) != IMREC_OK ||
        imrec_decoder_new(&w->decoder, NULL) != IMREC_OK)
        atomic_store(&l->no_memory, true);
    else
        (void)decode(w, &l->b->image[0]);
}

/* A thread that was not there to warm up stays away. */
static void decode_some(void *context, uint32_t worker, uint32_t size)
{
    struct limit *l = context;
    const struct worker *w = &l->worker[worker];
    uint64_t failed = 0, bytes = 0, i;
    (void)size;
    while (w->decoder != NULL && (i = atomic_fetch_add(&l->next, 1)) < l->images) {
        const struct encoded *p = &l->b->image[i % l->b->count];
        failed += !decode(w, p);
        bytes += p->n;
    }
    atomic_fetch_add(&l->failed, failed);
    atomic_fetch_add(&l->bytes, bytes);
}

static void measure(struct limit *l, uint32_t workers, struct bench_limit_result *out)
{
    const double wall = bench_now(), cpu = bench_cpu_now();
    workers_run(workers, decode_some, l);
    *out = (struct bench_limit_result){.seconds = bench_now() - wall,
                                       .cpu_seconds = bench_cpu_now() - cpu,
                                       .images = l->images,
                                       .bytes = atomic_load(&l->bytes),
                                       .failed = atomic_load(&l->failed),
                                       .threads = workers};
}

enum imrec_status bench_limit_run(struct bench_limit *b, uint32_t threads, uint64_t images,
                                  struct bench_limit_result *out, struct imrec_error *err)
{
    const uint32_t workers = workers_count(threads);
    struct limit l = {.b = b, .images = images};
    l.worker = imrec_zalloc(workers, sizeof(*l.worker));
    if (l.worker == NULL)
        return no_memory(err);
    workers_run(workers, warm_up, &l);
    const bool warm = !atomic_load(&l.no_memory);
    if (warm)
        measure(&l, workers, out);
    for (uint32_t i = 0; i < workers; i++) {
        jpeg_plain_free(l.worker[i].plain);
        imrec_decoder_free(l.worker[i].decoder);
    }
    imrec_free(l.worker);
    return warm ? IMREC_OK : no_memory(err);
}

/* ---- reading alone ---------------------------------------------------------------------- */

enum imrec_status bench_limit_read(const char *uri, const struct imrec_reader_options *o,
                                   uint64_t max_bytes, struct bench_limit_result *out,
                                   struct imrec_error *err)
{
    struct imrec_reader *reader;
    struct imrec_record r;
    struct bench_limit_result run = {.threads = 1};
    enum imrec_status st;
    IMREC_TRY(imrec_reader_open_with(uri, 0, 1, o, &reader, err));
    const double wall = bench_now(), cpu = bench_cpu_now();
    do {
        st = imrec_reader_next(reader, &r, err);
        if (st == IMREC_OK) {
            run.images += r.is_image;
            run.bytes += r.size;
        }
        if (max_bytes != 0 && run.bytes >= max_bytes)
            st = IMREC_END;
    } while (st == IMREC_OK || st == IMREC_ERR_DATA);
    run.seconds = bench_now() - wall;
    run.cpu_seconds = bench_cpu_now() - cpu;
    imrec_reader_close(reader);
    *out = run;
    return st == IMREC_END ? IMREC_OK : st;
}

void bench_limit_close(struct bench_limit *b)
{
    if (b == NULL)
        return;
    for (struct block *block = b->last, *before; block != NULL; block = before) {
        before = block->before;
        imrec_free(block);
    }
    for (uint64_t i = 0; i < b->count; i++)
        imrec_free(b->image[i].own);
    IMREC_FREE(b->image, b);
}
