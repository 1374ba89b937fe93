/*
 * dataset/compare/same_records.c - imrec_dataset_same(): two packed sets compared, record by
 * record.
 *
 * Both are read by one worker at a time; images whose bytes differ are decoded by all, and compared
 * row by row as they are stored. The first difference, in the order of the records, ends it.
 */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/sized.h"
#include "codec/codec.h"
#include "dataset/dataset_check.h"
#include "imrec/dataset.h"
#include "imrec/records.h"
#include "parallel/ordered.h"
#include "parallel/workers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SETS = 2, PLACES_A_WORKER = 3, TELL_EVERY = 1024, WHERE_BYTES = 300 };
#define IMAGE_MAX ((size_t)1 << 30)

/* A record of each set. */
struct place {
    struct buf image[SETS]; /* copies; empty where both are equal */
    bool are_equal;
    uint64_t number, id;
    char where[SETS][WHERE_BYTES]; /* "byte N of URI" */
    enum imrec_status st;          /* IMREC_ERR_DATA: they differ, and err says how */
    struct imrec_error err;
    bool decoded;
};

struct worker {
    struct codec *codec;
    struct image pixels[SETS];
};

struct same {
    struct imrec_same_options o;
    struct imrec_same_result *result;
    struct imrec_reader *reader[SETS];
    uint64_t number; /* of the next record */
    struct place *place;
    uint32_t places;
    struct worker *worker;
    uint32_t workers;
};

void imrec_same_options_init_sized(struct imrec_same_options *o, size_t size)
{
    const struct imrec_same_options defaults = {0};
    sized_init(o, size, &defaults, sizeof(defaults));
}

/* ---- differences ----------------------------------------------------------------------------- */

static enum imrec_status differ(struct place *p, const char *what)
{
    return imrec_fail(&p->err, IMREC_ERR_DATA,
                      "record %" PRIu64 " (id %" PRIu64 ", %s, and %s): %s", p->number, p->id,
                      p->where[0], p->where[1], what);
}

static bool same_bytes(const void *a, size_t n, const void *b, size_t m)
{
    return n == m && (n == 0 || memcmp(a, b, n) == 0);
}

static bool same_fields(const struct imrec_record *a, const struct imrec_record *b)
{
    if (a->field_count != b->field_count)
        return false;
    for (uint32_t i = 0; i < a->field_count; i++) {
        const struct imrec_field *f = &a->fields[i], *g = &b->fields[i];
        if (f->kind != g->kind || !same_bytes(f->name, f->name_bytes, g->name, g->name_bytes) ||
            !same_bytes(f->bytes, f->size, g->bytes, g->size))
            return false;
    }
    return true;
}

/* All but the image. */
static enum imrec_status
compare_rest(struct place *p, const struct imrec_record *a, const struct imrec_record *b)
{
    char text[160];
    if (a->id != b->id) {
        snprintf(text, sizeof(text), "the second one's id is %" PRIu64, b->id);
        return differ(p, text);
    }
    if (a->id2 != b->id2)
        return differ(p, "the second number of the id differs");
    if (a->is_image != b->is_image || a->metadata != b->metadata)
        return differ(p, "only one is an image record");
    if (a->label_count != b->label_count) {
        snprintf(text, sizeof(text), "%u labels, and %u", a->label_count, b->label_count);
        return differ(p, text);
    }
    if (!same_bytes(a->labels, a->label_count * sizeof(float), b->labels,
                    b->label_count * sizeof(float)))
        return differ(p, "the labels differ");
    if (!same_bytes(a->mask, a->mask_size, b->mask, b->mask_size))
        return differ(p, "the masks differ");
    return same_fields(a, b) ? IMREC_OK : differ(p, "the fields differ");
}

static enum imrec_status
compare_heads(struct place *p, const struct imrec_image_info *a, const struct imrec_image_info *b)
{
    char text[160];
    snprintf(text, sizeof(text),
             "an image of %u x %u px, %u channels, orientation %u, and one of %u x %u px, %u "
             "channels, orientation %u",
             a->width, a->height, a->channels, a->orientation, b->width, b->height, b->channels,
             b->orientation);
    return a->width == b->width && a->height == b->height && a->channels == b->channels &&
                   a->orientation == b->orientation
               ? IMREC_OK
               : differ(p, text);
}

static enum imrec_status
compare_pixels(struct place *p, const struct imrec_image *a, const struct imrec_image *b)
{
    const size_t row = (size_t)a->width * a->channels;
    char text[160];
    for (uint32_t y = 0; y < a->height; y++) {
        const uint8_t *q = a->pixels + y * a->stride, *r = b->pixels + y * b->stride;
        size_t i = 0;
        if (memcmp(q, r, row) == 0)
            continue;
        while (q[i] == r[i])
            i++;
        snprintf(text, sizeof(text), "channel %zu of the pixel in column %zu, row %u is %u, and %u",
                 i % a->channels, i / a->channels, y, q[i], r[i]);
        return differ(p, text);
    }
    return IMREC_OK;
}

static enum imrec_status
decode(struct worker *w, struct place *p, uint32_t set, struct imrec_image_info *info)
{
    const struct codec_limits limits = {.max_pixels = CHECK_MAX_PIXELS};
    const struct bytes image = {p->image[set].p, p->image[set].n};
    struct imrec_error why;
    uint32_t warnings = 0;
    char text[400];
    enum imrec_status st = codec_begin(w->codec, image, &limits, info, &why);
    if (st == IMREC_OK)
        st = codec_decode_image(w->codec, (struct imrec_rect){0, 0, info->width, info->height},
                                codec_channels(info), &w->pixels[set], &warnings, &why);
    if (st == IMREC_OK)
        return IMREC_OK;
    if (st == IMREC_ERR_NO_MEMORY) {
        p->err = why;
        return st;
    }
    snprintf(text, sizeof(text), "their bytes differ, and the %s one's image: %.300s",
             set == 0 ? "first" : "second", why.message);
    return differ(p, text);
}

static enum imrec_status compare_images(struct worker *w, struct place *p)
{
    struct imrec_image_info info[SETS];
    for (uint32_t i = 0; i < SETS; i++)
        IMREC_TRY(decode(w, p, i, &info[i]));
    IMREC_TRY(compare_heads(p, &info[0], &info[1]));
    p->decoded = true;
    return compare_pixels(p, &w->pixels[0].view, &w->pixels[1].view);
}

/* ---- reading --------------------------------------------------------------------------------- */

static enum imrec_status keep_image(struct place *p, uint32_t set, const struct imrec_record *r)
{
    p->image[set].n = 0;
    return buf_append(&p->image[set], r->image, r->image_size, &p->err);
}

static void note(struct place *p, uint32_t set, const struct imrec_record *r)
{
    snprintf(p->where[set], WHERE_BYTES, "byte %" PRIu64 " of %.250s", r->offset, r->uri);
}

static enum imrec_status read_both(struct same *s, struct place *p)
{
    struct imrec_record r[SETS];
    enum imrec_status st[SETS];
    *p = (struct place){.image = {p->image[0], p->image[1]}, .number = s->number++};
    for (uint32_t i = 0; i < SETS; i++) {
        st[i] = imrec_reader_next(s->reader[i], &r[i], &p->err);
        if (st[i] != IMREC_OK && st[i] != IMREC_END)
            return st[i];
    }
    if (st[0] == IMREC_END && st[1] == IMREC_END)
        return IMREC_END;
    if (st[0] != st[1])
        return imrec_fail(&p->err, IMREC_ERR_DATA,
                          "the %s set has %" PRIu64 " records, the other one has more",
                          st[0] == IMREC_END ? "first" : "second", p->number);
    p->id = r[0].id;
    for (uint32_t i = 0; i < SETS; i++)
        note(p, i, &r[i]);
    IMREC_TRY(compare_rest(p, &r[0], &r[1]));
    p->are_equal = same_bytes(r[0].image, r[0].image_size, r[1].image, r[1].image_size);
    for (uint32_t i = 0; i < SETS && !p->are_equal; i++)
        IMREC_TRY(keep_image(p, i, &r[i]));
    return IMREC_OK;
}

/* ---- a run ----------------------------------------------------------------------------------- */

static enum ordered_step feed(void *context, const struct ordered_task *t, uint32_t worker)
{
    struct same *s = context;
    struct place *p = &s->place[t->place];
    (void)worker;
    p->st = read_both(s, p);
    return p->st == IMREC_END ? ORDERED_STOP : ORDERED_LAST;
}

static void work(void *context, const struct ordered_task *t, uint32_t worker)
{
    struct same *s = context;
    struct place *p = &s->place[t->place];
    if (p->st == IMREC_OK && !p->are_equal)
        p->st = compare_images(&s->worker[worker], p);
}

static enum imrec_status drain(void *context, uint32_t place, struct imrec_error *err)
{
    struct same *s = context;
    const struct place *p = &s->place[place];
    if (p->st != IMREC_OK) {
        if (err != NULL)
            *err = p->err;
        return p->st;
    }
    s->result->records++;
    s->result->equal_bytes += p->are_equal;
    s->result->decoded += p->decoded;
    const struct imrec_progress progress = {.done = s->result->records};
    if (s->o.progress == NULL || s->result->records % TELL_EVERY != 0 ||
        s->o.progress(s->o.user, &progress))
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_CANCELLED, "ended by its caller after %" PRIu64 " records",
                      s->result->records);
}

static enum imrec_status
begin(struct same *s, const char *const uris[SETS], struct imrec_error *err)
{
    s->workers = workers_count(s->o.threads);
    s->places = PLACES_A_WORKER * s->workers;
    s->place = imrec_zalloc(s->places, sizeof(*s->place));
    s->worker = imrec_zalloc(s->workers, sizeof(*s->worker));
    if (s->place == NULL || s->worker == NULL)
        return IMREC_NO_MEMORY(err, "no memory for %u threads", s->workers);
    for (uint32_t i = 0; i < s->places; i++)
        s->place[i].image[0] = s->place[i].image[1] = BUF_INIT(IMAGE_MAX);
    for (uint32_t i = 0; i < s->workers; i++)
        IMREC_TRY(codec_new(&s->worker[i].codec, err));
    for (uint32_t i = 0; i < SETS; i++)
        IMREC_TRY(imrec_reader_open_with(uris[i], 0, 1, s->o.reader, &s->reader[i], err));
    return IMREC_OK;
}

static void end(struct same *s)
{
    for (uint32_t i = 0; i < SETS; i++)
        imrec_reader_close(s->reader[i]);
    for (uint32_t i = 0; s->worker != NULL && i < s->workers; i++) {
        codec_free(s->worker[i].codec);
        image_free(&s->worker[i].pixels[0]);
        image_free(&s->worker[i].pixels[1]);
    }
    for (uint32_t i = 0; s->place != NULL && i < s->places; i++) {
        buf_free(&s->place[i].image[0]);
        buf_free(&s->place[i].image[1]);
    }
    IMREC_FREE(s->worker, s->place);
}

enum imrec_status imrec_dataset_same(const char *a, const char *b,
                                     const struct imrec_same_options *o,
                                     struct imrec_same_result *out, struct imrec_error *err)
{
    struct same s = {.result = out};
    const char *const uris[SETS] = {a, b};
    *out = (struct imrec_same_result){0};
    imrec_same_options_init(&s.o);
    IMREC_TRY(sized_copy(&s.o, sizeof(s.o), o, "imrec_same_options_init", err));
    enum imrec_status st = begin(&s, uris, err);
    if (st == IMREC_OK)
        st = ordered_run(&(struct ordered_options){.context = &s,
                                                   .feed = feed,
                                                   .work = work,
                                                   .drain = drain,
                                                   .tasks = 1,
                                                   .places = s.places,
                                                   .workers = s.workers,
                                                   .name = "threads"},
                         err);
    end(&s);
    return st;
}
