/* iter/options/iter_options.c - the iterator's parameter table at work. */
#include "iter/options/iter_options.h"

#include "base/error.h"
#include "base/image.h"
#include "base/sized.h"
#include "container/record_table.h"
#include "iter/options/presets.h"

#include <string.h>

#define PARAM_STRUCT struct imrec_iter_options
const struct param iter_params[] = {IMREC_ITER_PARAMS(PARAM_ROW){0}};

/* Two sizes of an epoch have names; Python's None is the default, but as the name of a file. */
static const char *written_number(const struct param *p, const char *text)
{
    if (p != NULL && p->type != PARAM_TEXT && p->preset != NULL && strcmp(text, "None") == 0)
        return p->preset;
    if (p != NULL && strcmp(p->name, "round_batch") == 0) /* a flag that may not be given */
        return strcmp(text, "True") == 0 || strcmp(text, "true") == 0     ? "1"
               : strcmp(text, "False") == 0 || strcmp(text, "false") == 0 ? "0"
                                                                          : text;
    if (p == NULL || strcmp(p->name, "epoch_size") != 0)
        return text;
    if (strcmp(text, "INFINITELY_REPEAT") == 0)
        return "9223372036854775807";
    return strcmp(text, "FULL_DATA_SWEEP") == 0 ? "9223372036854775806" : text;
}

void imrec_iter_options_init_sized(struct imrec_iter_options *o, size_t size)
{
    struct imrec_iter_options defaults = {0};
    param_defaults(iter_params, &defaults);
    sized_init(o, size, &defaults, sizeof(*o));
}

/* ---- presets ---------------------------------------------------------------------------- */

/* Whether the field of p is as it was before anything was set. */
static bool is_default(const struct param *p, const struct imrec_iter_options *o)
{
    struct imrec_iter_options same;
    memcpy(&same, o, sizeof(same));
    if (p->preset == NULL) /* data_shape is the only one that presets set */
        return o->data_shape.channels == 0;
    return param_set(iter_params, &same, p->name, strlen(p->name), p->preset, NULL) == IMREC_OK &&
           memcmp(&same, o, sizeof(same)) == 0;
}

/* All their names are too long for a message: the help of the parameter has them. */
static enum imrec_status refuse_preset(const char *name, struct imrec_error *err)
{
    const char *near = preset_nearest(name);
    return IMREC_REFUSE(err,
                        "preset must be a recipe's name, such as imagenet-train-torch, "
                        "imagenet-eval-torch or ImageDetRecordIter, not '%.40s'%s%s%s",
                        name, near != NULL ? "; did you mean " : "", near != NULL ? near : "",
                        near != NULL ? "?" : "");
}

/* Sets what a preset says, or, with `gently`, of that what is still at its default. */
static enum imrec_status
apply_preset(struct imrec_iter_options *o, const char *name, bool gently, struct imrec_error *err)
{
    const char *words = preset_words(name);
    if (words == NULL)
        return refuse_preset(name, err);
    while (*words != '\0') {
        char value[32];
        const size_t key = strcspn(words, "="), n = strcspn(words + key + 1, " ");
        const bool last = words[key + 1 + n] == '\0';
        memcpy(value, words + key + 1, n);
        value[n] = '\0';
        const struct param *p = param_find(iter_params, words, key);
        if (p->offset < o->struct_size && (!gently || is_default(p, o)))
            IMREC_TRY(param_set(iter_params, o, words, key, last ? words + key + 1 : value, err));
        words += key + 1 + n;
        words += strspn(words, " ");
    }
    return IMREC_OK;
}

enum imrec_status
imrec_iter_options_set(struct imrec_iter_options *o, const char *key_value, struct imrec_error *err)
{
    const size_t n = strcspn(key_value, "=");
    const char *value = key_value + n + 1;
    const struct param *p = param_find(iter_params, key_value, n);
    if (key_value[n] == '\0')
        return IMREC_REFUSE(err, "'%.80s' is not of the form key=value", key_value);
    if (p != NULL && p->offset >= o->struct_size)
        return imrec_fail(err, IMREC_ERR_UNSUPPORTED,
                          "%s is newer than the header this caller was built with", p->name);
    if (p != NULL && strcmp(p->name, "preset") == 0 && *value != '\0')
        return apply_preset(o, value, false, err); /* what comes after changes it */
    return param_set(iter_params, o, key_value, n, written_number(p, value), err);
}

/* ---- sounds ----------------------------------------------------------------------------- */

/* As it was given, before anything follows from anything. */
static enum imrec_status check_audio(const struct imrec_iter_options *o, struct imrec_error *err)
{
    for (const struct param *p = iter_params; p->name != NULL; p++) {
        const unsigned refused = o->audio ? PARAM_OF_IMAGES : PARAM_OF_SOUNDS;
        if ((p->scope & refused) == 0 || is_default(p, o))
            continue;
        return IMREC_REFUSE(err,
                            o->audio ? "audio=1 has no %s: it is for images"
                                     : "%s is for sounds: it needs audio=1",
                            p->name);
    }
    if (o->audio && (o->dtype != IMREC_FLOAT32 || o->data_shape.channels > 4))
        return IMREC_REFUSE(err, "audio=1 delivers dtype=float32 and 1 to 4 channels");
    return IMREC_OK;
}

/* ---- what becomes of a sample ------------------------------------------------------------ */

void iter_options_of_sample(const struct imrec_iter_options *o, struct augment_options *out)
{
#define TAKE(ctype, name, preset, lo, hi, unit, group, help, scope)                                \
    AUGMENT_##scope(out->name = o->name;)
    IMREC_ITER_PARAMS(TAKE)
#undef TAKE
}

enum imrec_status
iter_options_augment(struct augment_options *o, const char *key_value, struct imrec_error *err)
{
    const size_t n = strcspn(key_value, "=");
    const struct param *p = param_find(iter_params, key_value, n);
    if (key_value[n] == '\0')
        return IMREC_REFUSE(err, "multi_crop_augment: '%.60s' is not of the form key=value",
                            key_value);
    if (p != NULL && ((p->scope & PARAM_OF_VIEW) == 0 || p->type == PARAM_TEXT)) /* borrowed */
        return IMREC_REFUSE(err, "multi_crop_augment: %s is one for all sizes", p->name);
    return param_set(p != NULL ? augment_params : iter_params, o, key_value, n, key_value + n + 1,
                     err);
}

/* ---- what contradicts ------------------------------------------------------------------- */

static enum imrec_status refuse(struct imrec_error *err, const char *sentence)
{
    return IMREC_REFUSE(err, "%s", sentence);
}

static enum imrec_status take_round_batch(struct imrec_iter_options *o, struct imrec_error *err)
{
    if (o->round_batch < 0)
        return IMREC_OK;
    const enum imrec_last_batch meant = o->round_batch ? IMREC_LAST_REPEAT : IMREC_LAST_PAD;
    if (o->last_batch != IMREC_LAST_PAD && o->last_batch != meant)
        return refuse(err,
                      "round_batch and last_batch contradict each other; give last_batch only");
    o->last_batch = meant;
    return IMREC_OK;
}

/* MXNet's words for the order, and seeds that are not given. */
static void take_seeds(struct imrec_iter_options *o)
{
    if (o->shuffle_chunk_size > 0 && index_wish(o->path_imgidx) != INDEX_NAMED) {
        const int64_t most = (int64_t)1 << 30, chunk = o->shuffle_chunk_size << 20;
        o->shuffle = true;
        o->shuffle_chunk = chunk < most ? chunk : most;
        if (o->shuffle_window < 2 * o->shuffle_chunk)
            o->shuffle_window = 2 * o->shuffle_chunk;
    }
    if (o->seed_aug < 0)
        o->seed_aug = o->seed;
    if (o->shuffle_chunk_seed > 0)
        o->seed = o->shuffle_chunk_seed;
}

/* With boxes one label is what was not said. */
static void take_label_width(struct imrec_iter_options *o)
{
    if (recipe_has_boxes(o->aug_seq, o->boxes) && (o->label_width == 1 || o->label_width == 0))
        o->label_width = -1;
}

/* 0 divides nothing: MXNet's default with boxes. */
static enum imrec_status take_std(struct imrec_iter_options *o, struct imrec_error *err)
{
    static const char names[] = "rgba";
    float *const std[] = {&o->std_r, &o->std_g, &o->std_b, &o->std_a};
    for (int i = 0; i < 4; i++) {
        if (*std[i] == 0 && recipe_has_boxes(o->aug_seq, o->boxes))
            *std[i] = 1;
        if (*std[i] < 1e-6f)
            return IMREC_REFUSE(err, "std_%c must be a number from 1e-06 to 1e+06, not %g",
                                names[i], (double)*std[i]);
    }
    return IMREC_OK;
}

static bool normalizes(const struct imrec_iter_options *o)
{
    return o->mean_r != 0 || o->mean_g != 0 || o->mean_b != 0 || o->mean_a != 0 || o->std_r != 1 ||
           o->std_g != 1 || o->std_b != 1 || o->std_a != 1 || o->scale != 1 ||
           o->mean_img[0] != '\0';
}

static enum imrec_status check_values(const struct imrec_iter_options *o, struct imrec_error *err)
{
    const uint32_t channels = o->data_shape.channels;
    if (!o->audio && channels != 1 && channels != 3 && channels != 4)
        return IMREC_REFUSE(err, "data_shape must have 1, 3 or 4 channels, not %u", channels);
    if (!o->audio && !image_is_within(o->data_shape.width, o->data_shape.height, -1))
        return IMREC_REFUSE(err,
                            "data_shape must not have a side of more than %d px, but has %u x %u",
                            IMAGE_MOST_SIDE, o->data_shape.width, o->data_shape.height);
    if (o->dtype == IMREC_UINT8 && normalizes(o))
        return refuse(err, "dtype=uint8 delivers pixels as they are: mean_*, std_*, scale and "
                           "mean_img need float32, float16 or bfloat16 (mean_* also "
                           "int8)");
    if (o->dtype == IMREC_INT8 &&
        (o->std_r != 1 || o->std_g != 1 || o->std_b != 1 || o->std_a != 1 || o->scale != 1))
        return refuse(err, "dtype=int8 subtracts a mean only: std_* and scale need float32, "
                           "float16 or bfloat16");
    return IMREC_OK;
}

/* order=global: what batch_size and global_batch_size say of each other. */
static enum imrec_status take_global(struct imrec_iter_options *o, struct imrec_error *err)
{
    const int64_t most = (int64_t)1 << 20, ranks = o->num_parts;
    if (ranks < 1 || ranks > most || o->batch_size < 0 || o->batch_size > most)
        return IMREC_OK; /* refused as any value out of its range */
    if (o->global_batch_size == 0)
        o->global_batch_size = o->batch_size * ranks;
    if (o->global_batch_size % ranks != 0)
        return IMREC_REFUSE(err,
                            "global_batch_size must be a multiple of num_parts, but %lld is none "
                            "of %lld",
                            (long long)o->global_batch_size, (long long)ranks);
    if (o->batch_size == 0)
        o->batch_size = o->global_batch_size / ranks;
    if (o->batch_size != o->global_batch_size / ranks)
        return IMREC_REFUSE(err,
                            "batch_size must be global_batch_size / num_parts, %lld, not %lld: "
                            "give one of the two",
                            (long long)(o->global_batch_size / ranks), (long long)o->batch_size);
    if (o->on_error == IMREC_ON_ERROR_REPLACE)
        return refuse(err, "on_error=replace takes another sample of those in memory, which with "
                           "order=global depend on num_parts: use on_error=skip or stop");
    o->equal_batches = false; /* they are equal anyhow */
    return IMREC_OK;
}

static enum imrec_status take_order(struct imrec_iter_options *o, struct imrec_error *err)
{
    if (o->order == IMREC_ORDER_GLOBAL)
        return take_global(o, err);
    if (o->global_batch_size != 0)
        return refuse(err, "global_batch_size needs order=global; without it batch_size is that "
                           "of each partition");
    if (o->locality != IMREC_LOCALITY_RECORD)
        return refuse(err, "locality=chunk needs order=global; without it an order in chunks is "
                           "that of path_imgidx=none");
    return IMREC_OK;
}

/* mix says which sets are read. */
static enum imrec_status take_mix(struct imrec_iter_options *o, struct imrec_error *err)
{
    if (o->mix == NULL || o->mix[0] == '\0')
        return IMREC_OK;
    if (o->path_imgrec != NULL && o->path_imgrec[0] != '\0')
        return refuse(err, "path_imgrec and mix both name the data: give one of them");
    o->path_imgrec = o->mix; /* for messages */
    return IMREC_OK;
}

bool iter_options_no_images(const struct imrec_iter_options *o)
{
    return o->images != NULL && strcmp(o->images, "none") == 0;
}

/* Without images no shape is needed. */
static void take_no_images(struct imrec_iter_options *o)
{
    if (iter_options_no_images(o) && o->data_shape.channels == 0)
        o->data_shape = (struct imrec_shape){1, 1, 1};
}

bool iter_options_choose(const struct imrec_iter_options *o)
{
    return o->mix[0] != '\0' || o->class_balanced || o->sample_weights[0] != '\0' ||
           o->subset[0] != '\0' || o->repeats > 1 || o->sweep_samples != 0;
}

static enum imrec_status check_mix(const struct imrec_iter_options *o, struct imrec_error *err)
{
    if (o->mix[0] != '\0' && o->source[0] != '\0')
        return refuse(err, "source reads path_imgrec: mix is for sets of shards");
    if (o->mix_label_offset[0] != '\0' && o->mix[0] == '\0')
        return refuse(err, "mix_label_offset needs mix");
    return IMREC_OK;
}

/* What is added to a class. */
static enum imrec_status check_offset(const struct imrec_iter_options *o, struct imrec_error *err)
{
    const char *const name = o->label_offset != 0             ? "label_offset"
                             : o->mix_label_offset[0] != '\0' ? "mix_label_offset"
                                                              : NULL;
    if (name == NULL)
        return IMREC_OK;
    if (o->path_imglist[0] != '\0')
        return IMREC_REFUSE(err,
                            "path_imglist replaces the labels that %s adds to: write the labels "
                            "that you want into it",
                            name);
    if (o->label_width == 1)
        return IMREC_OK;
    return IMREC_REFUSE(err,
                        "%s is added to a label that is a class: label_width must be 1, without "
                        "boxes",
                        name);
}

/* What chooses samples. */
static enum imrec_status check_choice(const struct imrec_iter_options *o, struct imrec_error *err)
{
    const bool mixed = o->mix[0] != '\0', weighted = o->sample_weights[0] != '\0';
    IMREC_TRY(check_mix(o, err));
    IMREC_TRY(check_offset(o, err));
    if (!iter_options_choose(o))
        return IMREC_OK;
    if (o->order != IMREC_ORDER_GLOBAL)
        return refuse(err, "mix, class_balanced, sample_weights, subset, repeats and sweep_samples "
                           "need order=global (with num_parts=1 for one reader)");
    if (o->locality != IMREC_LOCALITY_RECORD)
        return refuse(err, "locality=chunk reads near records together, which mix, class_balanced, "
                           "sample_weights, subset, repeats and sweep_samples do not: use "
                           "locality=record");
    if (mixed + o->class_balanced + weighted > 1)
        return refuse(err, "mix, class_balanced and sample_weights each say how often a record "
                           "comes: give one of them");
    if (!o->shuffle && (mixed || o->class_balanced || weighted))
        return refuse(err, "mix, class_balanced and sample_weights need shuffle=1: in file order "
                           "one set or class would follow the other");
    return IMREC_OK;
}

/* A group that two ranks share could not be mixed. */
static enum imrec_status check_groups(const struct imrec_iter_options *o, struct imrec_error *err)
{
    const bool job = o->order == IMREC_ORDER_GLOBAL;
    const int64_t group = o->mix_group != 0 ? o->mix_group
                          : job             ? o->global_batch_size
                                            : o->batch_size;
    if ((o->mixup <= 0 && o->cutmix <= 0) || o->batch_size % group == 0)
        return IMREC_OK;
    return IMREC_REFUSE(err,
                        "mixup and cutmix choose partners among mix_group=%lld slots, but the %lld "
                        "slots of a %s are no multiple of %lld",
                        (long long)o->mix_group, (long long)o->batch_size,
                        job ? "rank (global_batch_size / num_parts)" : "batch", (long long)group);
}

static enum imrec_status check_data(const struct imrec_iter_options *o, struct imrec_error *err)
{
    if (o->part_index >= o->num_parts)
        return IMREC_REFUSE(err, "part_index must be below num_parts, but %lld is not below %lld",
                            (long long)o->part_index, (long long)o->num_parts);
    if (o->shuffle_chunk > o->shuffle_window / 2)
        return IMREC_REFUSE(err,
                            "shuffle_chunk of %lld bytes must be at most half of shuffle_window "
                            "(%lld bytes)",
                            (long long)o->shuffle_chunk, (long long)o->shuffle_window);
    return IMREC_OK;
}

enum imrec_status iter_options_copy(struct imrec_iter_options *to,
                                    const struct imrec_iter_options *from, struct imrec_error *err)
{
    imrec_iter_options_init(to);
    IMREC_TRY(sized_copy(to, sizeof(*to), from, "imrec_iter_options_init", err));
    if (to->preset != NULL && to->preset[0] != '\0')
        IMREC_TRY(apply_preset(to, to->preset, true, err));
    to->preset = "";
    IMREC_TRY(take_order(to, err));
    IMREC_TRY(take_mix(to, err));
    take_no_images(to);
    IMREC_TRY(param_check(iter_params, to, err));
    IMREC_TRY(check_audio(to, err));
    IMREC_TRY(take_round_batch(to, err));
    take_seeds(to);
    take_label_width(to);
    IMREC_TRY(take_std(to, err));
    IMREC_TRY(check_values(to, err));
    IMREC_TRY(check_groups(to, err));
    IMREC_TRY(check_choice(to, err));
    return check_data(to, err);
}
