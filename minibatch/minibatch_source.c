/* minibatch/minibatch_source.c - the public face of minibatch sources. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "minibatch/corpus/corpus_streams.h"
#include "minibatch/source_state.h"
#include "parallel/workers.h"

#include <inttypes.h>
#include <string.h>

static enum imrec_status no_memory(struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory for a minibatch source");
}

/* The number of the stream that has a name; s->joint.streams: none. */
static uint32_t stream_called(const struct imrec_minibatch_source *s, const char *name)
{
    uint32_t i = 0;
    while (i < s->joint.streams && strcmp(s->joint.stream[i].info->name, name) != 0)
        i++;
    return i;
}

/* ---- opening ----------------------------------------------------------------------------- */

static enum imrec_status find_labels(struct imrec_minibatch_source *s, struct imrec_error *err)
{
    const char *name = s->options.o.label_stream;
    const uint32_t i = stream_called(s, name);
    const bool found = i < s->joint.streams;
    s->label_stream = found && !s->joint.stream[i].info->defines_mb_size ? i : UINT32_MAX;
    if (found || name[0] == '\0')
        return IMREC_OK;
    return IMREC_REFUSE(err, "label_stream '%.60s' is not a stream; the first one is '%.60s'", name,
                        s->joint.stream[0].info->name);
}

/* The window, in what its reader's page counts it. */
static void take_window(const struct imrec_minibatch_source *s, struct timeline_options *t)
{
    const struct imrec_minibatch_options *o = &s->options.o;
    const struct corpus *lead = s->joint.corpus[0];
    const bool samples = o->sample_based_randomization_window || !lead->text;
    const uint64_t all = ((uint64_t)4 << 30) / (uint64_t)lead->o.chunk_size_in_bytes;
    uint64_t window = o->randomization_window > 0 ? (uint64_t)o->randomization_window : 1;
    if (o->randomization_window < 0) /* 4 GiB of text; of what counts samples everything */
        window = samples ? 0 : (all > 0 ? all : 1);
    t->window_samples = samples ? window : 0;
    t->window_chunks = samples ? 0 : window;
}

static enum imrec_status make_plan(struct imrec_minibatch_source *s, struct imrec_error *err)
{
    const struct imrec_minibatch_options *o = &s->options.o;
    struct timeline_options t = {
        .randomize = o->randomize,
        .seed = (uint64_t)o->randomization_seed,
        .chunk = s->joint.chunk,
        .chunks = s->joint.chunks,
        .length = joint_length,
        .soon = joint_length_soon,
        .context = &s->joint,
    };
    const struct minibatch_plan_options plan = {
        .truncation = (uint32_t)o->truncation_length,
        .epoch_size = s->options.epoch_size,
        .max_sweeps = (uint64_t)o->max_sweeps,
        .max_samples = (uint64_t)o->max_samples,
        .ranks = (uint32_t)o->num_ranks,
        .rank = (uint32_t)o->rank,
        .mode = o->rank_mode,
        .randomized = o->randomize,
        .labels = s->label_stream == UINT32_MAX ? NULL : minibatch_labels,
        .context = s,
    };
    take_window(s, &t);
    s->window_chunks = t.window_chunks;
    s->window_samples = t.window_samples;
    IMREC_TRY(minibatch_check_memory(s, &t, err));
    IMREC_TRY(timeline_new(&t, &s->line, err));
    s->plan = (struct minibatch_plan){.o = plan, .line = s->line};
    s->truncated = (struct truncated_plan){.o = plan, .line = s->line};
    return IMREC_OK;
}

/* Those that are ready, and one that every thread is filling while another is in use. */
static uint32_t most_cells(const struct imrec_minibatch_source *s)
{
    return (uint32_t)s->options.o.prefetch + s->threads;
}

static enum imrec_status make_cells(struct imrec_minibatch_source *s, struct imrec_error *err)
{
    IMREC_TRY(ring_init(&s->ring, most_cells(s), err));
    s->cell = imrec_zalloc(s->ring.depth, sizeof(*s->cell));
    for (uint32_t i = 0; i < s->ring.depth && s->cell != NULL; i++) {
        s->cell[i].packed = imrec_zalloc(s->joint.streams, sizeof(*s->cell[i].packed));
        s->cell[i].stream = imrec_zalloc(s->joint.streams, sizeof(*s->cell[i].stream));
        if (s->cell[i].packed == NULL || s->cell[i].stream == NULL)
            return no_memory(err);
        for (uint32_t k = 0; k < s->joint.streams; k++)
            s->cell[i].stream[k].name = s->joint.stream[k].info->name;
    }
    return s->cell == NULL ? no_memory(err) : IMREC_OK;
}

static enum imrec_status make_tables(struct imrec_minibatch_source *s, struct imrec_error *err)
{
    const uint64_t n = blocks_count(s->blocks);
    s->list = imrec_zalloc(n, sizeof(*s->list));
    s->stamp = imrec_zalloc(n, sizeof(*s->stamp));
    s->met = imrec_zalloc(n, sizeof(*s->met));
    s->counted = imrec_zalloc(n, sizeof(*s->counted));
    s->errors = imrec_zalloc(s->joint.corpora, sizeof(*s->errors));
    s->last = imrec_zalloc(s->joint.corpora, sizeof(*s->last));
    s->message = imrec_zalloc(SOURCE_DROPPED_KEPT, sizeof(*s->message));
    s->described = imrec_zalloc(s->joint.streams, sizeof(*s->described));
    if (s->list == NULL || s->stamp == NULL || s->met == NULL || s->counted == NULL ||
        s->errors == NULL || s->last == NULL || s->message == NULL || s->described == NULL)
        return no_memory(err);
    for (uint32_t i = 0; i < s->joint.streams; i++)
        s->described[i] = corpus_listed_stream(s->joint.stream[i].info);
    return IMREC_OK;
}

static enum imrec_status open_all(struct imrec_minibatch_source *s,
                                  const struct imrec_minibatch_options *o, struct imrec_error *err)
{
    IMREC_TRY(minibatch_options_copy(&s->options, o, err));
    s->threads = workers_count(s->options.o.threads);
    if (s->options.o.cache[0] != '\0') {
        IMREC_TRY(
            cache_open(s->options.o.cache, (uint64_t)s->options.o.cache_size, &s->cache, err));
        cache_serve(s->cache, &s->scope);
    }
    IMREC_TRY(joint_open(&s->options.o, &s->joint, err));
    IMREC_TRY(find_labels(s, err));
    IMREC_TRY(make_plan(s, err));
    const struct blocks_task fill = {minibatch_fill, s, most_cells(s)};
    IMREC_TRY(blocks_start(s->joint.corpus, s->joint.corpora, s->threads, &fill, &s->blocks, err));
    IMREC_TRY(make_tables(s, err));
    IMREC_TRY(make_cells(s, err));
    s->touches = s->options.o.randomize || minibatch_has_large_blocks(s);
    minibatch_fingerprint(s, s->fingerprint);
    return thread_start(&s->thread, "imrec-batches", minibatch_main, s, err);
}

enum imrec_status imrec_minibatch_source_open(const struct imrec_minibatch_options *options,
                                              struct imrec_minibatch_source **out,
                                              struct imrec_error *err)
{
    struct imrec_minibatch_source *s = *out = imrec_zalloc(1, sizeof(*s));
    if (s == NULL)
        return no_memory(err);
    mutex_init(&s->lock);
    cond_init(&s->change);
    struct store_scope *before = store_scope_enter(&s->scope);
    const enum imrec_status st = open_all(s, options, err);
    (void)store_scope_enter(before);
    if (st == IMREC_OK)
        return IMREC_OK;
    imrec_minibatch_source_close(s);
    *out = NULL;
    return st;
}

/* ---- what was dropped ----------------------------------------------------------------------- */

static void end_telling(struct imrec_minibatch_source *s)
{
    if (s->told != 0)
        imrec_log(IMREC_LOG_WARNING,
                  "%.200s: samples dropped: %" PRIu64 "; not listed above: %" PRIu64,
                  s->joint.corpus[0]->o.file, s->told, s->told - s->listed);
    s->told = s->listed = 0;
}

/* Of a minibatch that is delivered: at most LOG_LISTED lines a sweep, and a count at its end. */
static void tell(struct imrec_minibatch_source *s, const struct minibatch_cell *c, bool over)
{
    for (uint64_t i = s->delivered.messages; i < c->tally.messages; i++) {
        if (!s->loud[i] || s->listed == LOG_LISTED)
            continue;
        imrec_log(IMREC_LOG_WARNING, "%s; dropped", s->message[i]);
        s->listed++;
    }
    s->told += c->tally.loud - s->delivered.loud;
    s->delivered = c->tally;
    if (over)
        end_telling(s);
}

/* ---- the end ------------------------------------------------------------------------------- */

static void free_cell(struct minibatch_cell *c, uint32_t streams)
{
    for (uint32_t i = 0; i < streams && c->packed != NULL; i++)
        packed_stream_free(&c->packed[i]);
    reuse_buffer_free(&c->spots);
    reuse_buffer_free(&c->pieces);
    reuse_buffer_free(&c->views);
    reuse_buffer_free(&c->ids);
    IMREC_FREE(c->packed, c->stream, c->behind.held);
}

void imrec_minibatch_source_close(struct imrec_minibatch_source *s)
{
    if (s == NULL)
        return;
    end_telling(s);
    if (s->blocks != NULL)
        blocks_cancel(s->blocks);
    if (s->ring.depth > 0)
        ring_cancel(&s->ring);
    cond_tell(&s->lock, &s->stop, &s->change, NULL);
    thread_join(&s->thread);
    blocks_stop(s->blocks);
    for (uint32_t i = 0; s->cell != NULL && i < s->ring.depth; i++)
        free_cell(&s->cell[i], s->joint.streams);
    ring_destroy(&s->ring);
    truncated_plan_free(&s->truncated);
    minibatch_plan_free(&s->plan);
    timeline_free(s->line);
    for (uint64_t i = 0; i < s->tally.messages; i++)
        imrec_free(s->message[i]);
    joint_close(&s->joint);
    cache_close(s->cache);
    minibatch_options_free(&s->options);
    mutex_destroy(&s->lock);
    cond_destroy(&s->change);
    IMREC_FREE(s->cell, s->list, s->stamp, s->met, s->counted, s->charge, s->errors, s->message,
               s->last, s->described, s->place.held, s->position, s->mapped, s);
}

/* ---- moving ------------------------------------------------------------------------------ */

/* Waits until the thread is idle; everything that was made ahead is forgotten. */
static void halt(struct imrec_minibatch_source *s)
{
    ring_pause(&s->ring);
    mutex_lock(&s->lock);
    while (s->run || !s->idle)
        cond_wait(&s->change, &s->lock);
    mutex_unlock(&s->lock);
    ring_reset(&s->ring);
    s->holds = s->started = false;
    s->astray = true;
}

/* Has minibatches of `size` samples made from here on. */
static enum imrec_status
ask_for(struct imrec_minibatch_source *s, uint64_t size, struct imrec_error *err)
{
    if (s->started && size == s->asked)
        return IMREC_OK;
    if (size > INT32_MAX)
        return IMREC_REFUSE(err, "a minibatch of %" PRIu64 " samples; ask for at most %d", size,
                            INT32_MAX);
    if (s->started)
        halt(s);
    if (s->astray)
        IMREC_TRY(minibatch_go(s, &s->place, true, err));
    s->astray = false;
    s->asked = size;
    s->started = true;
    cond_tell(&s->lock, &s->run, &s->change, NULL);
    return IMREC_OK;
}

/* The streams that a call wants, by their names there. */
static enum imrec_status
map_streams(struct imrec_minibatch_source *s, const struct minibatch_cell *c,
            const struct imrec_stream_map *map, uint32_t maps, struct imrec_error *err)
{
    if (!IMREC_GROW(s->mapped, s->mapped_room, maps))
        return no_memory(err);
    for (uint32_t i = 0; i < maps; i++) {
        s->mapped[i] = c->stream[stream_called(s, map[i].from)];
        s->mapped[i].name = map[i].to;
    }
    return IMREC_OK;
}

/* Before anything moves: a call that asks for what is not there changes nothing. */
static enum imrec_status check_map(const struct imrec_minibatch_source *s,
                                   const struct imrec_stream_map *map, uint32_t maps,
                                   struct imrec_error *err)
{
    for (uint32_t i = 0; map != NULL && i < maps; i++)
        if (stream_called(s, map[i].from) == s->joint.streams)
            return IMREC_REFUSE(err,
                                "there is no stream '%.60s' to deliver as '%.60s'; the first one "
                                "is '%.60s'",
                                map[i].from, map[i].to, s->described[0].name);
    return IMREC_OK;
}

static enum imrec_status deliver(struct imrec_minibatch_source *s, struct minibatch_cell *c,
                                 const struct imrec_stream_map *map, uint32_t maps,
                                 struct imrec_minibatch *out, struct imrec_error *err)
{
    *out = c->minibatch;
    out->stream = c->stream;
    if (map != NULL) {
        IMREC_TRY(map_streams(s, c, map, maps, err));
        out->stream = s->mapped;
        out->streams = maps;
    }
    IMREC_TRY(minibatch_place_copy(&s->place, &c->behind, err));
    tell(s, c, out->sweep_end);
    s->dropped_sequences += c->dropped;
    return IMREC_OK;
}

/* How the stream ended. */
static enum imrec_status over(const struct imrec_minibatch_source *s, struct imrec_error *err)
{
    if (err != NULL && s->final != IMREC_END)
        *err = s->final_error;
    return s->final;
}

enum imrec_status imrec_minibatch_next(struct imrec_minibatch_source *s, uint64_t size,
                                       const struct imrec_stream_map *map, uint32_t maps,
                                       struct imrec_minibatch *out, struct imrec_error *err)
{
    uint64_t n = 0;
    *out = (struct imrec_minibatch){0};
    if (s->final != IMREC_OK)
        return over(s, err);
    IMREC_TRY(check_map(s, map, maps, err));
    if (s->holds)
        ring_recycle(&s->ring);
    s->holds = false;
    IMREC_TRY(ask_for(s, size, err));
    IMREC_TRY(ring_take(&s->ring, &n));
    s->holds = true;
    struct minibatch_cell *c = &s->cell[n % s->ring.depth];
    if (c->status != IMREC_OK) {
        s->final = c->status;
        s->final_error = c->error;
        tell(s, c, true);
        return over(s, err);
    }
    const enum imrec_status st = deliver(s, c, map, maps, out, err);
    if (st != IMREC_OK) /* the next call makes this minibatch again */
        halt(s);
    return st;
}

enum imrec_status imrec_minibatch_position(struct imrec_minibatch_source *s, const char **json,
                                           struct imrec_error *err)
{
    char *text;
    IMREC_TRY(minibatch_position_write(s, &s->place, &text, err));
    imrec_free(s->position);
    s->position = text;
    *json = text;
    return IMREC_OK;
}

/* A place known by its nominal time becomes that of the first sequence at or after it. The
 * thread must be idle. */
static enum imrec_status
find_place(struct imrec_minibatch_source *s, struct minibatch_place *p, struct imrec_error *err)
{
    const bool counts_labels = s->label_stream != UINT32_MAX;
    struct timeline_item item;
    if (!p->nominal)
        return IMREC_OK;
    if (counts_labels && s->options.epoch_size != UINT64_MAX)
        return imrec_fail(err, IMREC_ERR_UNSUPPORTED,
                          "position: minibatchSourcePosition does not say how many samples of "
                          "label_stream '%.60s' were before it, which epoch_size counts",
                          s->options.o.label_stream);
    IMREC_TRY(timeline_seek(s->line, p->mark.position, err));
    IMREC_TRY(timeline_peek(s->line, &item, err));
    p->mark = (struct minibatch_mark){
        .sweep = item.sweep, .number = item.number, .position = item.position};
    if (counts_labels || minibatch_truncates(s))
        return IMREC_OK;
    p->mark.labels = item.position;
    p->mark.epoch = item.position / s->options.epoch_size;
    p->mark.epoch_labels = p->mark.epoch * s->options.epoch_size;
    return IMREC_OK;
}

enum imrec_status
imrec_minibatch_seek(struct imrec_minibatch_source *s, const char *json, struct imrec_error *err)
{
    struct minibatch_place place;
    enum imrec_status st = minibatch_position_read(s, json, &place, err);
    if (st == IMREC_OK) {
        if (s->started)
            halt(s);
        s->astray = true; /* until both have moved */
        st = find_place(s, &place, err);
        if (st == IMREC_OK)
            st = minibatch_go(s, &place, false, err);
        if (st == IMREC_OK)
            st = minibatch_place_copy(&s->place, &place, err);
        s->astray = st != IMREC_OK;
        s->final = st == IMREC_OK ? IMREC_OK : s->final;
    }
    imrec_free(place.held);
    return st;
}

/* ---- questions --------------------------------------------------------------------------- */

uint32_t
imrec_minibatch_streams(const struct imrec_minibatch_source *s, const struct imrec_stream **out)
{
    *out = s->described;
    return s->joint.streams;
}

void imrec_minibatch_get_stats(struct imrec_minibatch_source *s, struct imrec_minibatch_stats *out)
{
    *out = (struct imrec_minibatch_stats){
        .sequences = timeline_sweep_sequences(s->line),
        .samples = timeline_sweep_samples(s->line),
        .chunks = s->joint.chunks,
        .errors = s->delivered.errors,
        .dropped_sequences = s->dropped_sequences + s->joint.dropped,
    };
    blocks_look(s->blocks, &out->bytes_read, &out->memory_bytes);
    out->memory_bytes += joint_memory(&s->joint);
}

void imrec_minibatch_get_traffic_sized(struct imrec_minibatch_source *s, struct imrec_traffic *out,
                                       size_t size)
{
    traffic_read(&s->scope.traffic, out, size);
}

const char *imrec_minibatch_dropped(struct imrec_minibatch_source *s, uint64_t i)
{
    return i < s->delivered.messages ? s->message[i] : NULL;
}
