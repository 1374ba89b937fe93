/* iter/open.c - an iterator out of its options. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/sized.h"
#include "container/kinds.h"
#include "container/record_table.h"
#include "imrec/minibatch.h" /* IMREC_INFINITELY_REPEAT */
#include "iter/mean.h"
#include "iter/options/iter_options.h"
#include "iter/state.h"
#include "parallel/workers.h"
#include "storage/cache/cache.h"
#include "storage/sink.h"

#include <string.h>

/* A batch larger than this goes around the caches: it would only push out what is in use. */
#define STREAM_BYTES ((size_t)8 << 20)
#define TABLE_MOST   (1u << 20) /* records of an index in memory: 24 MiB */

/* ---- data --------------------------------------------------------------------------------- */

/* Images that are decoded have a number of values, and no shape of their own. */
static enum imrec_status shape_planes(struct imrec_iter *it, struct imrec_error *err)
{
    const struct container *c = &it->container;
    char why[sizeof(err->message)];
    if (c->value_count == 0)
        return IMREC_OK;
    const enum imrec_status st =
        planes_shape(c->value_count, &it->options.data_shape, &it->planes, err);
    it->planes.is_double = c->doubles;
    if (st == IMREC_OK || err == NULL)
        return st;
    memcpy(why, err->message, sizeof(why));
    imrec_fail(err, st, "%.200s: %.300s", it->container.shards[0].uri, why);
    imrec_error_file(err, it->container.shards[0].uri);
    return st;
}

static enum list_labels list_type(enum imrec_label_dtype type)
{
    return type == IMREC_LABEL_INT64     ? LIST_LABELS_INT64
           : type == IMREC_LABEL_FLOAT64 ? LIST_LABELS_FLOAT64
                                         : LIST_LABELS_FLOAT32;
}

static enum shard_look shards_look(const struct imrec_iter_options *o)
{
    return o->allow_missing ? SHARDS_ALLOW_MISSING : SHARDS_COMPLETE;
}

/* What a caller would not expect of the order. */
static void warn_of_index(const struct imrec_iter *it)
{
    const struct container *s = &it->container;
    if (!it->options.verbose)
        return;
    if (s->index_missing != NULL)
        imrec_log(IMREC_LOG_WARNING,
                  "%.200s is missing, so no index is used (path_imgidx=auto), though other shards "
                  "have theirs: the order is that without one",
                  s->index_missing);
    if (s->index_doubt.status != IMREC_OK)
        imrec_log(IMREC_LOG_WARNING, "path_imgidx: %s: what it does not list is not read",
                  s->index_doubt.message);
}

static enum imrec_status open_cache(struct imrec_iter *it, struct imrec_error *err)
{
    const struct imrec_iter_options *o = &it->options;
    IMREC_TRY(cache_open(o->cache, (uint64_t)o->cache_size, &it->cache, err));
    cache_serve(it->cache, &it->scope);
    return IMREC_OK;
}

/* order=global: this rank's share of the job's sequence. */
static enum imrec_status
share_order(struct imrec_iter *it, struct record_stream_options *so, struct imrec_error *err)
{
    const struct imrec_iter_options *o = &it->options;
    const uint64_t rows = it->views.rows, own = (uint64_t)o->batch_size / rows;
    const struct container *c = &it->container;
    if (!it->indexed)
        return imrec_fail(err, IMREC_ERR_UNSUPPORTED,
                          "%.200s%s: order=global needs records that are known singly: make an "
                          "index (imrec index), and read with %s",
                          c->index_missing != NULL ? c->index_missing : c->shards[0].uri,
                          c->index_missing != NULL ? " is missing" : "",
                          c->kind->walk != NULL ? "list_shards=auto" : "path_imgidx=auto");
    it->global.share = (struct share){
        .records = c->unit_count, /* of a sweep, where nothing is chosen */
        .batch = (uint64_t)o->global_batch_size / rows,
        .begin = (uint64_t)o->part_index * own,
        .count = own,
        .runs_on = o->last_batch == IMREC_LAST_WRAP || o->epoch_size > 0,
    };
    IMREC_TRY(iter_open_sampling(it, &it->global.sampling, err));
    if (it->global.sampling.distinct != 0)
        it->global.share.records = it->global.sampling.distinct * it->global.sampling.repeats;
    so->chunk_bytes = o->locality == IMREC_LOCALITY_CHUNK ? (uint64_t)o->shuffle_chunk : 0;
    return record_stream_share(&it->stream, so, &it->container, &it->global, err);
}

/* mix: which shards are those of each set. */
static enum imrec_status open_mix(struct imrec_iter *it, struct imrec_error *err)
{
    const struct imrec_iter_options *o = &it->options;
    struct shard_list l = {.only = kinds_of(o->container)};
    enum imrec_status st = IMREC_OK;
    if (o->mix[0] == '\0')
        return IMREC_OK;
    IMREC_TRY(mix_sets_parse(&it->mix, o->mix, o->mix_label_offset, err));
    for (uint64_t i = 0; st == IMREC_OK && i < it->mix.count; i++) {
        it->mix.set[i].first_shard = (uint32_t)l.names.count;
        st = shard_list_add(&l, it->mix.set[i].uri, shards_look(o), err);
    }
    shard_list_free(&l);
    return st;
}

static enum imrec_status load_labels(struct imrec_iter *it, struct imrec_error *err)
{
    const struct imrec_iter_options *o = &it->options;
    if (o->path_imglist[0] == '\0')
        return IMREC_OK;
    return label_table_load(&it->labels, o->path_imglist,
                            it->recipe.boxes ? 0 : (uint32_t)o->label_width,
                            list_type(o->dtype_label), err);
}

static void trace_data(const struct imrec_iter *it)
{
    const struct imrec_iter_options *o = &it->options;
    const struct container *c = &it->container;
    if (o->verbose)
        imrec_log(IMREC_LOG_TRACE,
                  "%s: %u shards, %llu bytes, partition %lld of %lld, %llu windows a sweep, %s%s",
                  o->path_imgrec, c->shard_count, (unsigned long long)c->total_bytes,
                  (long long)o->part_index, (long long)o->num_parts,
                  (unsigned long long)it->stream.plan.windows.count,
                  c->index != NULL ? "index " : "no index", c->index != NULL ? c->index : "");
}

/* Whether samples can have what is asked for. */
static enum imrec_status check_parts(const struct imrec_iter *it, struct imrec_error *err)
{
    const struct container *c = &it->container;
    if (it->options.masks != IMREC_MASK_NONE && !c->kind->masks)
        return imrec_fail(err, IMREC_ERR_UNSUPPORTED,
                          "%.200s is a %s, whose images have no masks: records have",
                          c->shards[0].uri, c->kind->name);
    if (it->fields.names.count != 0 && !c->kind->fields)
        return imrec_fail(err, IMREC_ERR_UNSUPPORTED,
                          "fields=%.100s: %.200s is a %s, whose samples have none",
                          it->options.fields, c->shards[0].uri, c->kind->name);
    if (it->further.count != 0 && !c->kind->fields)
        return imrec_fail(err, IMREC_ERR_UNSUPPORTED,
                          "images=%.100s: %.200s is a %s, whose samples have one image: fields of "
                          "records, files of tars and features of TFRecords can be further ones",
                          it->options.images, c->shards[0].uri, c->kind->name);
    return IMREC_OK;
}

/* A job's ranks need to know all records: they list. */
static enum container_listing listing_of(const struct imrec_iter_options *o)
{
    switch (o->list_shards) {
    case IMREC_LIST_SHARDS_ALWAYS:
        return LISTING_ALL;
    case IMREC_LIST_SHARDS_NEVER:
        return LISTING_NONE;
    default:
        return o->order == IMREC_ORDER_GLOBAL ? LISTING_ALL : LISTING_SMALL;
    }
}

/* list_shards= has no meaning where an index, or the file itself, lists records. */
static enum imrec_status check_listing(const struct imrec_iter *it, struct imrec_error *err)
{
    const struct container *c = &it->container;
    if (it->options.list_shards == IMREC_LIST_SHARDS_AUTO || c->kind->walk != NULL)
        return IMREC_OK;
    return IMREC_REFUSE(err,
                        "list_shards= is for tar archives and TFRecord files, but %.200s is a %s: "
                        "leave it out",
                        c->shards[0].uri, c->kind->name);
}

/* Whether more than the image of a record is looked at. */
static bool wants_rest(const struct imrec_iter *it)
{
    return it->options.masks != IMREC_MASK_NONE || it->further.mask || it->further.count != 0 ||
           it->fields.names.count != 0;
}

static enum imrec_status
open_container(struct imrec_iter *it, uint64_t cell_bytes, struct imrec_error *err)
{
    const struct imrec_iter_options *o = &it->options;
    const bool job = o->order == IMREC_ORDER_GLOBAL; /* of which every rank knows all records */
    const struct container_options wanted = {
        .path_imgrec = it->mix.count != 0 ? it->mix.all : o->path_imgrec,
        .path_imgidx = o->path_imgidx,
        .num_parts = job ? 1 : (uint64_t)o->num_parts,
        .part_index = job ? 0 : (uint64_t)o->part_index,
        .cell_bytes = cell_bytes,
        .table_most = TABLE_MOST,
        .keep_in_memory = o->keep_in_memory,
        .drop_behind = o->drop_behind,
        .label_width = it->recipe.boxes ? 0 : (uint32_t)o->label_width,
        .no_labels = o->path_imglist[0] != '\0',
        .rest = wants_rest(it),
        .source = o->source,
        .container = o->container,
        .listing = listing_of(o),
        .even = o->equal_batches,
        .image = o->image,
        .label = o->label,
        .mask = o->mask,
        .path_root = o->path_root,
        .verify_checksums = o->verify_checksums,
        .shards = shards_look(o),
    };
    return it->fetch.fetch != NULL ? fetched_open(&wanted, &it->fetch, &it->container, err)
                                   : container_open(&wanted, &it->container, err);
}

static enum imrec_status open_data(struct imrec_iter *it, struct imrec_error *err)
{
    const struct imrec_iter_options *o = &it->options;
    struct record_stream_options so = {.shuffle = o->shuffle,
                                       .seed = (uint64_t)o->seed,
                                       .shuffle_window = (uint64_t)o->shuffle_window};
    if (o->cache[0] != '\0')
        IMREC_TRY(open_cache(it, err));
    IMREC_TRY(open_mix(it, err));
    IMREC_TRY(open_container(it, record_stream_cell_bytes(&so, (uint64_t)o->shuffle_chunk), err));
    it->indexed = so.indexed = container_is_listed(&it->container);
    IMREC_TRY(check_listing(it, err));
    IMREC_TRY(shape_planes(it, err));
    IMREC_TRY(check_parts(it, err));
    warn_of_index(it);
    it->stream.plan = record_stream_plan(&so, &it->container, (uint64_t)o->shuffle_chunk);
    IMREC_TRY(record_stream_walk(&it->stream, &it->container, &it->shard_order, err));
    IMREC_TRY(load_labels(it, err));
    if (o->order == IMREC_ORDER_GLOBAL)
        IMREC_TRY(share_order(it, &so, err));
    it->stream.context = it;
    it->stream.on_window = iter_on_window;
    if (it->recipe.boxes)
        IMREC_TRY(iter_fit_boxes(it, err));
    trace_data(it);
    return IMREC_OK;
}

/* Samples of a sweep with equal_batches, where they are known already. */
static enum imrec_status set_equal(struct imrec_iter *it, struct imrec_error *err)
{
    if (container_is_listed(&it->container))
        return equal_count_get(&it->equal, &it->schedule.equal, err);
    it->schedule.equal = SCHEDULE_UNCOUNTED;
    return IMREC_OK;
}

/* Labels that a source may give a sample. */
static uint32_t label_room(const struct imrec_iter *it)
{
    return it->recipe.boxes ? it->label_width - DET_LABEL_HEAD : (uint32_t)it->options.label_width;
}

/* Of instance masks: numbers for each of n views. */
static enum imrec_status
make_objects(const struct imrec_iter *it, struct worker *w, uint32_t n, struct imrec_error *err)
{
    const uint32_t room = iter_object_room(it);
    IMREC_TRY(object_room_init(&w->objects, room, err));
    if (room == 0)
        return IMREC_OK;
    w->numbers = imrec_realloc(NULL, (uint64_t)n * room, sizeof(*w->numbers));
    if (w->numbers == NULL)
        return IMREC_NO_MEMORY(err, "no memory for the numbers of %u objects", room);
    for (uint32_t i = 0; i < n; i++) {
        w->views[i].numbers = w->numbers + (size_t)i * room;
        w->views[i].targets.objects = &w->objects;
    }
    return IMREC_OK;
}

static enum imrec_status
make_worker(struct imrec_iter *it, struct worker *w, bool stream, struct imrec_error *err)
{
    const uint32_t n = view_kinds_count(&it->views);
    w->views = imrec_zalloc(n, sizeof(*w->views));
    if (w->views == NULL)
        return IMREC_NO_MEMORY(err, "no memory for the %u images of a sample", n);
    w->held = it->together ? imrec_zalloc(CODEC_TOGETHER_MOST, sizeof(*w->held)) : NULL;
    if (it->together && w->held == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a worker's samples");
    IMREC_TRY(make_objects(it, w, n, err));
    if (!it->options.audio && !it->further.none) /* which need nothing of the kind */
        IMREC_TRY(
            sampler_init(&w->sampler, &it->views, &it->headroom, it->mean_image, stream, err));
    IMREC_TRY(further_sampler_init(&w->further, &it->further, &it->headroom, stream, err));
    IMREC_TRY(mosaic_sampler_init(&w->mosaic, &it->tiles, &it->headroom, DET_LABEL_HEAD,
                                  label_room(it), &w->objects, err));
    IMREC_TRY(paste_sampler_init(&w->paste, &it->moves, &it->headroom, DET_LABEL_HEAD,
                                 label_room(it), &w->objects, err));
    return !it->container.kind->rooms
               ? IMREC_OK
               : parse_room_init(&w->room, label_room(it), it->options.dtype_label,
                                 it->options.max_pixels, err);
}

static enum imrec_status make_workers(struct imrec_iter *it, struct imrec_error *err)
{
    it->workers = imrec_zalloc(it->worker_count, sizeof(*it->workers));
    if (it->workers == NULL)
        return IMREC_NO_MEMORY(err, "no memory for %u workers", it->worker_count);
    const bool stream = it->slots.data_bytes > STREAM_BYTES;
    for (uint32_t i = 0; i < it->worker_count; i++)
        IMREC_TRY(make_worker(it, &it->workers[i], stream, err));
    return IMREC_OK;
}

/* All slots of a batch are filled. */
static void complete(void *context, uint32_t cell)
{
    struct imrec_iter *it = context;
    struct cell_state *c = &it->slots.cells[cell];
    struct imrec_error err;
    if (recipe_mixes(&it->recipe))
        iter_mix(it, cell);
    const enum imrec_status st = batch_fields_join(&it->fields, cell, &err);
    if (st == IMREC_OK || c->fatal != IMREC_OK)
        return;
    c->fatal = st;
    c->fatal_error = err;
}

static enum imrec_status start(struct imrec_iter *it, struct imrec_error *err)
{
    const struct imrec_iter_options *o = &it->options;
    const struct place begin = {{0}, 0, 0};
    struct schedule *s = &it->schedule;
    const struct ordered_options ordered = {
        .context = it,
        .feed = iter_feed,
        .work = iter_work,
        .work_on = it->together ? iter_work_together : NULL,
        .is_fed = iter_is_fed,
        .complete = recipe_mixes(&it->recipe) || it->fields.names.count != 0 ? complete : NULL,
        .tasks = (uint32_t)o->batch_size / it->views.rows, /* samples */
        .places = (uint32_t)o->prefetch_buffer + 1,
        .workers = it->worker_count,
        .name = "preprocess_threads",
    };
    s->batch_size =
        it->stream.plan.global != NULL ? (uint32_t)it->global.share.batch : ordered.tasks;
    s->last_batch = o->last_batch;
    s->max_samples = (uint64_t)o->max_samples;
    s->max_sweeps = o->epoch_size == IMREC_FULL_DATA_SWEEP ? 1 : 0;
    if (o->epoch_size != IMREC_FULL_DATA_SWEEP)
        s->epoch_size =
            o->epoch_size == IMREC_INFINITELY_REPEAT ? UINT64_MAX : (uint64_t)o->epoch_size;
    iter_begin_at(it, &begin);
    return ordered_start(&ordered, &it->ordered, err);
}

/* Half of class 3 and half of class 7 are not class 5. */
static enum imrec_status check_mixing(const struct imrec_iter_options *o, struct imrec_error *err)
{
    if ((o->mixup <= 0 && o->cutmix <= 0) || o->num_classes > 0 || o->label_width != 1)
        return IMREC_OK;
    return IMREC_REFUSE(err,
                        "mixup and cutmix blend labels, but the numbers of two classes have no "
                        "blend: set num_classes to the number of classes, so that each label "
                        "becomes that many shares (label_width above 1: labels are shares)");
}

/* What computes with labels does so in float32. */
static enum imrec_status check_label_type(const struct imrec_iter *it, struct imrec_error *err)
{
    const struct imrec_iter_options *o = &it->options;
    const char *what = it->recipe.boxes                  ? "boxes"
                       : o->keypoints != 0               ? "keypoints"
                       : o->num_classes != 0             ? "num_classes"
                       : o->mixup > 0                    ? "mixup"
                       : o->cutmix > 0                   ? "cutmix"
                       : it->recipe.augmenter_count != 0 ? "an augmenter of your own in aug_seq"
                                                         : NULL;
    if (what == NULL || o->dtype_label == IMREC_LABEL_FLOAT32)
        return IMREC_OK;
    return IMREC_REFUSE(err, "dtype_label must be float32 with %s, which computes with labels",
                        what);
}

static enum imrec_status take_label_width(struct imrec_iter *it, struct imrec_error *err)
{
    const struct imrec_iter_options *o = &it->options;
    it->label_width = it->recipe.boxes     ? DET_LABEL_HEAD /* until the labels are known */
                      : o->num_classes > 0 ? (uint32_t)o->num_classes
                                           : (uint32_t)o->label_width;
    if (!it->recipe.boxes && o->label_width < 1)
        return IMREC_REFUSE(err,
                            "label_width must be at least 1, not %lld: only labels of boxes "
                            "(aug_seq=det_aug_default, boxes=1) may have any number of values",
                            (long long)o->label_width);
    IMREC_TRY(check_mixing(o, err));
    return check_label_type(it, err);
}

/* ---- opening ------------------------------------------------------------------------------ */

static enum imrec_status
open_over(const struct imrec_iter_options *options, const struct imrec_fetch *fetch,
          const struct imrec_memory *memory, struct imrec_iter **out, struct imrec_error *err);

/* Made where it is missing, by an iterator of its own; then read. */
static enum imrec_status
take_mean(const struct imrec_iter_options *o, struct imrec_iter *it, struct imrec_error *err)
{
    struct imrec_iter_options plain;
    struct imrec_iter *maker;
    bool there;
    IMREC_TRY(sink_exists(o->mean_img, &there, err));
    if (!there) {
        if (o->verbose)
            imrec_log(IMREC_LOG_TRACE, "%s is missing: it is computed over the whole data set",
                      o->mean_img);
        iter_mean_options(o, &it->recipe, label_room(it), &plain);
        if (it->mix.count != 0)
            plain.path_imgrec = it->mix.all;
        struct imrec_fetch fetch = it->fetch;
        fetch.cancel = NULL; /* it is asked once, when all ends */
        IMREC_TRY(open_over(&plain, &fetch, NULL, &maker, err));
        const enum imrec_status st = iter_mean_make(o, maker, err);
        imrec_iter_close(maker);
        IMREC_TRY(st);
    }
    return iter_mean_load(o, &it->mean_image, &it->mean_image_bytes, err);
}

/* images=: what there is besides the records' own images, or that there is not even that. */
static enum imrec_status plan_further(struct imrec_iter *it, struct imrec_error *err)
{
    IMREC_TRY(further_images_init(&it->further, &it->options, &it->views, err));
    it->views.further = it->further.count != 0 ? &it->further : NULL;
    for (uint32_t i = 0; it->further.none && i < it->views.kind_count; i++)
        it->views.kinds[i].bytes = 0;
    return IMREC_OK;
}

/* They were borrowed, and are read. */
static void forget_texts(struct imrec_iter *it)
{
    param_forget_texts(iter_params, &it->options);
    param_forget_texts(augment_params, &it->augment);
    for (uint32_t i = 0; i < it->views.kind_count; i++)
        param_forget_texts(augment_params, &it->views.kinds[i].o);
    for (uint32_t i = 0; i < it->tiles.kind_count; i++)
        param_forget_texts(augment_params, &it->tiles.kinds[i].o);
    for (uint32_t i = 0; i < it->moves.kind_count; i++)
        param_forget_texts(augment_params, &it->moves.kinds[i].o);
    for (uint32_t i = 0; i < it->further.kinds.kind_count; i++)
        param_forget_texts(augment_params, &it->further.kinds.kinds[i].o);
}

static enum imrec_status build(struct imrec_iter *it, struct imrec_error *err)
{
    struct imrec_iter_options *o = &it->options;
    it->worker_count = workers_count(o->preprocess_threads);
    iter_options_of_sample(o, &it->augment);
    IMREC_TRY(recipe_init(&it->recipe, &it->augment, err));
    IMREC_TRY(view_kinds_init(&it->views, o, err));
    IMREC_TRY(plan_further(it, err));
    IMREC_TRY(tile_kinds_init(&it->tiles, &it->views, o, &it->further, err));
    IMREC_TRY(move_kinds_init(&it->moves, &it->views, o, &it->further, err));
    IMREC_TRY(take_label_width(it, err));
    if (slots_memory(o, &it->views, it->label_width) == UINT64_MAX)
        return imrec_fail(err, IMREC_ERR_LIMIT,
                          "data_shape and batch_size ask for a batch of over 1 TiB");
    IMREC_TRY(batch_fields_init(&it->fields, o, err));
    IMREC_TRY(iter_metrics_open(it, err));
    IMREC_TRY(open_data(it, err));
    IMREC_TRY(iter_plan_memory(it, err));
    if (o->mean_img[0] != '\0')
        IMREC_TRY(take_mean(o, it, err));
    if (o->equal_batches)
        IMREC_TRY(set_equal(it, err));
    forget_texts(it);
    IMREC_TRY(record_stream_start(&it->stream, &it->container,
                                  err)); /* it reads while the rest is made */
    IMREC_TRY(slots_init(&it->slots, o, &it->views, it->label_width, &it->memory, err));
    IMREC_TRY(make_workers(it, err));
    IMREC_TRY(start(it, err));
    return iter_metrics_start(it, err);
}

/* *fetch is one that was checked, or has no function: then the options name shards. */
static enum imrec_status
open_over(const struct imrec_iter_options *options, const struct imrec_fetch *fetch,
          const struct imrec_memory *memory, struct imrec_iter **out, struct imrec_error *err)
{
    struct imrec_iter_options o;
    struct imrec_memory m;
    *out = NULL;
    IMREC_TRY(batch_memory_copy(&m, memory, err));
    IMREC_TRY(iter_options_copy(&o, options, err));
    struct imrec_iter *it = imrec_zalloc(1, sizeof(*it));
    if (it == NULL)
        return IMREC_NO_MEMORY(err, "no memory for an iterator");
    it->options = o;
    it->fetch = *fetch;
    it->memory = m;
    headroom_init(&it->headroom);
    equal_count_init(&it->equal, &it->container, &it->scope);
    struct store_scope *before = store_scope_enter(&it->scope);
    const enum imrec_status st = build(it, err);
    (void)store_scope_enter(before);
    if (st != IMREC_OK) {
        imrec_iter_close(it);
        return st;
    }
    *out = it;
    return IMREC_OK;
}

enum imrec_status imrec_iter_open(const struct imrec_iter_options *options, struct imrec_iter **out,
                                  struct imrec_error *err)
{
    const struct imrec_fetch none = {0};
    return open_over(options, &none, NULL, out, err);
}

/* ---- records that are fetched ------------------------------------------------------------- */

static bool is_given(const char *text)
{
    return text != NULL && text[0] != '\0';
}

/* What is about files. */
static enum imrec_status check_fetching(const struct imrec_iter_options *o, struct imrec_error *err)
{
    const char *what = is_given(o->path_imgrec)                    ? "path_imgrec"
                       : index_wish(o->path_imgidx) == INDEX_NAMED ? "path_imgidx"
                       : is_given(o->source)                       ? "source"
                       : is_given(o->mix)                          ? "mix"
                       : is_given(o->image)                        ? "image"
                       : is_given(o->label)                        ? "label"
                       : is_given(o->mask)                         ? "mask"
                       : is_given(o->path_root)                    ? "path_root"
                       : o->keep_in_memory                         ? "keep_in_memory"
                       : o->verify_checksums                       ? "verify_checksums"
                                                                   : NULL;
    if (what == NULL)
        return IMREC_OK;
    return IMREC_REFUSE(err, "%s is about files of records, and these records are fetched", what);
}

static enum imrec_status
open_fetched(const struct imrec_iter_options *options, const struct imrec_fetch *fetch,
             const struct imrec_memory *memory, struct imrec_iter **out, struct imrec_error *err)
{
    struct imrec_iter_options o;
    struct imrec_fetch f;
    *out = NULL;
    imrec_iter_options_init(&o);
    IMREC_TRY(sized_copy(&o, sizeof(o), options, "imrec_iter_options_init", err));
    IMREC_TRY(check_fetching(&o, err));
    IMREC_TRY(fetched_copy(&f, fetch, err));
    o.path_imgrec = f.name; /* for messages */
    return open_over(&o, &f, memory, out, err);
}

enum imrec_status imrec_iter_open_fetch(const struct imrec_iter_options *options,
                                        const struct imrec_fetch *fetch, struct imrec_iter **out,
                                        struct imrec_error *err)
{
    return open_fetched(options, fetch, NULL, out, err);
}

enum imrec_status imrec_iter_open_memory(const struct imrec_iter_options *options,
                                         const struct imrec_fetch *fetch,
                                         const struct imrec_memory *memory, struct imrec_iter **out,
                                         struct imrec_error *err)
{
    const struct imrec_fetch none = {0};
    *out = NULL;
    if (memory == NULL)
        return IMREC_REFUSE(err, "memory is NULL: it must be a struct imrec_memory");
    return fetch != NULL ? open_fetched(options, fetch, memory, out, err)
                         : open_over(options, &none, memory, out, err);
}
