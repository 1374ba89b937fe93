/*
 * dataset/bench_limit.c - decoding and nothing else: what reading batches is measured against.
 *
 * The images are in memory before the clock starts, and so are the threads; each takes the
 * next image from one counter, decodes it into its own buffer, and forgets it.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "imrec/bench.h"
#include "imrec/codec.h"
#include "imrec/records.h"
#include "parallel/workers.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define DEFAULT_MAX_BYTES ((uint64_t)1 << 62)
#define BLOCK_BYTES       ((size_t)64 << 20)
#define MAX_PIXELS        178956970

struct image {
    const uint8_t *p;
    size_t n;
};

struct block { /* images are in blocks that never move */
    struct block *before;
    size_t used, capacity;
    uint8_t bytes[];
};

struct imrec_bench {
    struct block *last;
    struct image *image;
    uint64_t count, room, bytes;
};

static enum imrec_status no_memory(struct imrec_error *err)
{
    return imrec_error_at(err, IMREC_ERR_NO_MEMORY, IMREC_NO_OFFSET,
                          "no memory for the images to be decoded");
}

static uint8_t *room_for(struct imrec_bench *b, size_t n)
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
add_image(struct imrec_bench *b, const struct imrec_record *r, struct imrec_error *err)
{
    if (b->count == b->room) {
        const uint64_t more = b->room == 0 ? 4096 : 2 * b->room;
        void *p = imrec_realloc(b->image, more, sizeof(*b->image));
        if (p == NULL)
            return no_memory(err);
        b->image = p;
        b->room = more;
    }
    uint8_t *to = room_for(b, r->image_size);
    if (to == NULL)
        return no_memory(err);
    if (r->image_size != 0)
        memcpy(to, r->image, r->image_size);
    b->image[b->count++] = (struct image){to, r->image_size};
    b->bytes += r->image_size;
    return IMREC_OK;
}

static enum imrec_status load(struct imrec_bench *b, struct imrec_reader *reader,
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

enum imrec_status imrec_bench_open(const char *uri, uint64_t max_images, uint64_t max_bytes,
                                   struct imrec_bench **out, struct imrec_error *err)
{
    struct imrec_reader *reader;
    *out = NULL;
    IMREC_TRY(imrec_reader_open(uri, 0, 1, &reader, err));
    struct imrec_bench *b = imrec_zalloc(1, sizeof(*b));
    enum imrec_status st = b != NULL ? IMREC_OK : no_memory(err);
    if (st == IMREC_OK)
        st = load(b, reader, max_images != 0 ? max_images : UINT64_MAX,
                  max_bytes != 0 ? max_bytes : DEFAULT_MAX_BYTES, err);
    imrec_reader_close(reader);
    if (st == IMREC_OK && b->count == 0)
        st = imrec_error_at(err, IMREC_ERR_DATA, IMREC_NO_OFFSET, "%s: no image in it", uri);
    if (st != IMREC_OK)
        imrec_bench_close(b);
    else
        *out = b;
    return st;
}

uint64_t imrec_bench_images(const struct imrec_bench *b)
{
    return b->count;
}

uint64_t imrec_bench_bytes(const struct imrec_bench *b)
{
    return b->bytes;
}

/* ---- the clocks ------------------------------------------------------------------------- */

static double wall_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double cpu_seconds(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* ---- the limit -------------------------------------------------------------------------- */

struct limit {
    const struct imrec_bench *b;
    struct imrec_decoder **decoder; /* of each worker */
    uint64_t images;
    _Atomic uint64_t next, failed, bytes;
    _Atomic bool no_memory;
};

static bool decode(struct imrec_decoder *d, const struct image *p)
{
    struct imrec_image image;
    return imrec_decoder_decode_plain(d, p->p, p->n, &image, NULL) == IMREC_OK ||
           imrec_decoder_decode(d, p->p, p->n, 3, false, MAX_PIXELS, &image, NULL) == IMREC_OK;
}

/* Threads and buffers are there before the clock starts. */
static void warm_up(void *context, uint32_t worker, uint32_t size)
{
    struct limit *l = context;
    (void)size;
    if (imrec_decoder_new(&l->decoder[worker], NULL) != IMREC_OK)
        atomic_store(&l->no_memory, true);
    else
        (void)decode(l->decoder[worker], &l->b->image[0]);
}

/* A thread that was not there to warm up stays away. */
static void decode_some(void *context, uint32_t worker, uint32_t size)
{
    struct limit *l = context;
    uint64_t failed = 0, bytes = 0, i;
    (void)size;
    while (l->decoder[worker] != NULL && (i = atomic_fetch_add(&l->next, 1)) < l->images) {
        const struct image *p = &l->b->image[i % l->b->count];
        failed += !decode(l->decoder[worker], p);
        bytes += p->n;
    }
    atomic_fetch_add(&l->failed, failed);
    atomic_fetch_add(&l->bytes, bytes);
}

static void measure(struct limit *l, uint32_t workers, struct imrec_bench_run *out)
{
    const double wall = wall_seconds(), cpu = cpu_seconds();
    workers_run(workers, decode_some, l);
    *out = (struct imrec_bench_run){.seconds = wall_seconds() - wall,
                                    .cpu_seconds = cpu_seconds() - cpu,
                                    .images = l->images,
                                    .bytes = atomic_load(&l->bytes),
                                    .failed = atomic_load(&l->failed),
                                    .threads = workers};
}

enum imrec_status imrec_bench_limit(struct imrec_bench *b, uint32_t threads, uint64_t images,
                                    struct imrec_bench_run *out, struct imrec_error *err)
{
    const uint32_t workers = workers_count(threads);
    struct limit l = {.b = b, .images = images};
    l.decoder = imrec_zalloc(workers, sizeof(struct imrec_decoder *));
    if (l.decoder == NULL)
        return no_memory(err);
    workers_run(workers, warm_up, &l);
    const bool warm = !atomic_load(&l.no_memory);
    if (warm)
        measure(&l, workers, out);
    for (uint32_t i = 0; i < workers; i++)
        imrec_decoder_free(l.decoder[i]);
    imrec_free(l.decoder);
    return warm ? IMREC_OK : no_memory(err);
}

/* ---- reading alone ---------------------------------------------------------------------- */

enum imrec_status imrec_bench_read(const char *uri, uint64_t max_bytes, struct imrec_bench_run *out,
                                   struct imrec_error *err)
{
    struct imrec_reader *reader;
    struct imrec_record r;
    struct imrec_bench_run run = {.threads = 1};
    enum imrec_status st;
    IMREC_TRY(imrec_reader_open(uri, 0, 1, &reader, err));
    const double wall = wall_seconds(), cpu = cpu_seconds();
    do {
        st = imrec_reader_next(reader, &r, err);
        if (st == IMREC_OK) {
            run.images += r.is_image;
            run.bytes += r.size;
        }
        if (max_bytes != 0 && run.bytes >= max_bytes)
            st = IMREC_END;
    } while (st == IMREC_OK || st == IMREC_ERR_DATA);
    run.seconds = wall_seconds() - wall;
    run.cpu_seconds = cpu_seconds() - cpu;
    imrec_reader_close(reader);
    *out = run;
    return st == IMREC_END ? IMREC_OK : st;
}

void imrec_bench_close(struct imrec_bench *b)
{
    if (b == NULL)
        return;
    for (struct block *block = b->last, *before; block != NULL; block = before) {
        before = block->before;
        imrec_free(block);
    }
    imrec_free(b->image);
    imrec_free(b);
}
