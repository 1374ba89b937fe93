/* im2rec/item/pack_options.c */
#include "im2rec/item/pack_options.h"

#include "base/error.h"
#include "base/sized.h"
#include "im2rec/item/augmenting.h"
#include "im2rec/item/quality_target.h"
#include "im2rec/item/skip_limit.h"
#include "im2rec/shard/shard_kinds.h"
#include "imrec/version.h"
#include "storage/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_QUALITY 95
#define CBF_PIXELS_SIDE 16384 /* times 3 channels, below 2^31 values a sample */

#define PARAM_STRUCT struct imrec_pack_options
const struct param pack_params[] = {IMREC_PACK_PARAMS(PARAM_ROW){0}};

void imrec_pack_options_init_sized(struct imrec_pack_options *o, size_t size)
{
    struct imrec_pack_options defaults = {0};
    param_defaults(pack_params, &defaults);
    sized_init(o, size, &defaults, sizeof(defaults));
}

enum imrec_status
imrec_pack_options_set(struct imrec_pack_options *o, const char *key_value, struct imrec_error *err)
{
    const char *equals = strchr(key_value, '=');
    if (equals == NULL)
        return IMREC_REFUSE(err, "'%.64s' is not of the form key=value", key_value);
    const size_t n = (size_t)(equals - key_value);
    const struct param *p = param_find(pack_params, key_value, n);
    if (p != NULL && p->offset >= o->struct_size)
        return IMREC_REFUSE(err, "%s came later than this program's header", p->name);
    return param_set(pack_params, o, key_value, n, equals + 1, err);
}

/* ---- combinations ----------------------------------------------------------------------- */

static enum imrec_status refuse(struct imrec_error *err, const char *why)
{
    return IMREC_REFUSE(err, "%s", why);
}

static bool alters_images(const struct imrec_pack_options *o)
{
    return o->resize != 0 || o->center_crop || o->color != 1 || o->encoding != IMREC_ENCODE_JPEG ||
           o->inter_method >= 0;
}

bool pack_options_encodes_jpeg(const struct imrec_pack_options *o)
{
    return !o->pass_through && !o->pixels && o->encoding == IMREC_ENCODE_JPEG;
}

bool pack_options_rewrites(const struct imrec_pack_options *o)
{
    return o->pass_through && (o->tile == IMREC_TILE_YES || o->baseline);
}

bool pack_options_writes_jpeg(const struct imrec_pack_options *o)
{
    return pack_options_encodes_jpeg(o) || pack_options_rewrites(o);
}

struct codec_jpeg_how pack_options_jpeg(const struct imrec_pack_options *o)
{
    const int most = o->quality_target[0] != '\0' ? 100 : (int)o->quality;
    return (struct codec_jpeg_how){.quality = most,
                                   .tile = o->tile != IMREC_TILE_NO,
                                   .full_chroma = o->subsampling == IMREC_SUBSAMPLING_444};
}

static bool has_tiles(const struct imrec_pack_options *o)
{
    return o->tile == IMREC_TILE_YES ||
           (o->tile == IMREC_TILE_AUTO && pack_options_encodes_jpeg(o));
}

static enum imrec_status check_fields(const struct imrec_pack_options *o, struct imrec_error *err)
{
    if (o->fields[0] != '\0' && o->list)
        return refuse(err, "fields are packed with images: list cannot go with them");
    if (o->columns[0] != '\0' && o->list)
        return refuse(err, "columns are packed with images: list cannot go with them");
    if (o->columns[0] != '\0' && o->annotations[0] != '\0')
        return refuse(err, "columns are those of a list: annotations have none");
    return IMREC_OK;
}

static enum imrec_status check_target(const struct imrec_pack_options *o, struct imrec_error *err)
{
    struct quality_goal goal; /* here it is only looked at */
    if (o->quality_target[0] == '\0')
        return IMREC_OK;
    if (!pack_options_encodes_jpeg(o))
        return refuse(err, "quality_target is about JPEGs that are encoded: pass_through, pixels "
                           "and encoding=png cannot go with it");
    if (o->quality != DEFAULT_QUALITY)
        return refuse(err, "quality_target chooses the quality of each image: quality cannot go "
                           "with it");
    return quality_goal_parse(o->quality_target, &goal, err);
}

static enum imrec_status check_encoding(const struct imrec_pack_options *o, struct imrec_error *err)
{
    if (o->pass_through && alters_images(o))
        return refuse(err, "pass_through stores files as they are: resize, center_crop, color, "
                           "encoding and inter_method cannot go with it");
    if (o->subsampling != IMREC_SUBSAMPLING_420 && !pack_options_encodes_jpeg(o))
        return refuse(err, "subsampling is about JPEGs that are encoded: pass_through, pixels and "
                           "encoding=png cannot go with it");
    if (o->shared_tables && !pack_options_writes_jpeg(o))
        return refuse(err, "shared_tables is about JPEGs that are encoded, or with pass_through "
                           "those that tile or baseline writes again: pixels and encoding=png "
                           "cannot go with it");
    IMREC_TRY(check_target(o, err));
    if (o->pass_through || pack_options_encodes_jpeg(o))
        return IMREC_OK;
    if (o->tile == IMREC_TILE_YES)
        return refuse(err, "tile is about JPEGs: pixels and encoding=png cannot go with it");
    if (o->baseline)
        return refuse(err, "baseline is about JPEGs: pixels and encoding=png cannot go with it");
    return IMREC_OK;
}

static enum imrec_status
check_combinations(const struct imrec_pack_options *o, struct imrec_error *err)
{
    const bool cut = o->train_ratio != 1 || o->test_ratio != 0 || o->chunks != 1;
    if (o->annotations[0] != '\0' && (o->list || o->label_width != 0))
        return refuse(err, "annotations say what the labels are: list and label_width cannot go "
                           "with it");
    if (o->drop_empty && o->annotations[0] == '\0')
        return refuse(err, "drop_empty is about images of annotations: it needs annotations");
    if (o->masks[0] != '\0' && o->list)
        return refuse(err, "masks are packed with images: list cannot go with it");
    if (o->label_offset != 0 && strcmp(o->label_ext, "none") == 0)
        return refuse(err, "label_offset is added to labels, and label_ext=none packs none");
    IMREC_TRY(check_fields(o, err));
    if (o->keypoints != 0 && !o->pack_label && o->annotations[0] == '\0')
        return refuse(err, "keypoints are labels of a list: they need pack_label");
    if (o->copies > 1 && o->augment[0] == '\0')
        return refuse(err, "copies of an image would be equal without augment");
    if (o->augment[0] != '\0' && (o->pass_through || o->pixels))
        return refuse(err, "augment changes the encoded pixels: pass_through and pixels cannot go "
                           "with it");
    IMREC_TRY(check_encoding(o, err));
    if (o->inter_method > 4 && o->inter_method != 9 && o->inter_method != 10)
        return refuse(err, "inter_method must be one of 0, 1, 2, 3, 4, 9 and 10, or -1");
    if (o->shards != 0 && o->shard_size != 0)
        return refuse(err, "shards and shard_size say the same twice: give one of them");
    if (!o->list && cut)
        return refuse(err, "train_ratio, test_ratio and chunks cut lists: they need list");
    if ((double)o->train_ratio + (double)o->test_ratio > 1.0000001)
        return refuse(err, "train_ratio and test_ratio must not exceed 1 together");
    if (o->list &&
        (o->part.count != 1 || o->shards != 0 || o->shard_size != 0 || o->max_skipped[0] != '\0'))
        return refuse(err,
                      "list writes lists only: part, shards, shard_size and max_skipped cannot "
                      "go with it");
    if (o->pixels && shard_kinds[o->format]->pixels == NULL)
        return refuse(err, "pixels are stored in CNTK's binary format only: they need format=cbf");
    if (o->pixels && (o->pass_through || o->resize == 0 || !o->center_crop || o->color < 0))
        return refuse(err, "pixels need images of one size: resize, center_crop and color 0 or 1, "
                           "without pass_through");
    if (o->pixels && o->resize > CBF_PIXELS_SIDE)
        return refuse(err, "pixels of images above 16384 x 16384 fit no CNTK file");
    if (o->resume && o->force)
        return refuse(err, "resume continues what force would discard: give one of them");
    return IMREC_OK;
}

uint32_t pack_options_channels(const struct imrec_pack_options *o)
{
    return o->color > 0 ? 3 : o->color == 0 ? 1 : 0;
}

/* Each worker reads it for itself: here it is only looked at. */
static enum imrec_status check_augment(const struct imrec_pack_options *o, struct imrec_error *err)
{
    struct augmenting a;
    if (o->augment[0] == '\0')
        return IMREC_OK;
    IMREC_TRY(augmenting_init(&a, o->augment, pack_options_channels(o), err));
    const struct imrec_shape to = a.given;
    const bool blends = a.o.augmix;
    augmenting_free(&a);
    if (blends && (o->masks[0] != '\0' || o->annotations[0] != '\0' || o->keypoints > 0))
        return refuse(err, "augmix blends an image with moved copies of it: masks, boxes and "
                           "keypoints cannot be blended");
    if (image_is_within(to.width, to.height, o->max_pixels))
        return IMREC_OK;
    return IMREC_REFUSE(err,
                        "data_shape of augment is %u x %u px; a side is limited to %d px, a "
                        "image to max_pixels=%" PRId64,
                        to.width, to.height, IMAGE_MOST_SIDE, o->max_pixels);
}

enum imrec_status pack_options_check(const struct imrec_pack_options *given,
                                     struct imrec_pack_options *out, struct imrec_error *err)
{
    struct skip_limit limit; /* here it is only looked at, too */
    imrec_pack_options_init(out);
    if (given != NULL)
        IMREC_TRY(sized_copy(out, sizeof(*out), given, "imrec_pack_options_init", err));
    IMREC_TRY(param_check(pack_params, out, err));
    IMREC_TRY(check_combinations(out, err));
    IMREC_TRY(check_augment(out, err));
    IMREC_TRY(skip_limit_parse(out->max_skipped, &limit, err));
    if (out->annotations[0] != '\0')
        out->pack_label = true;
    if (out->pass_through && out->tile == IMREC_TILE_YES)
        out->baseline = true; /* one scan has the markers */
    if (!source_is_remote(out->masks))
        IMREC_TRY(source_check_local(out->masks, err));
    out->masks = source_path(out->masks);
    out->annotations = source_path(out->annotations);
    if (out->encoding == IMREC_ENCODE_PNG && out->quality > 9)
        out->quality = 3; /* not a PNG compression: MXNet's choice */
    return IMREC_OK;
}

enum imrec_status pack_task_paths(const struct imrec_pack_task *t, struct imrec_pack_task *out,
                                  struct imrec_error *err)
{
    const char *root = t->root != NULL ? t->root : "";
    *out = *t;
    out->root = source_path(root);
    out->out = source_path(t->out);
    out->list = t->list != NULL ? source_path(t->list) : NULL;
    return source_is_remote(root) ? IMREC_OK : source_check_local(root, err);
}

/* ---- fingerprint ------------------------------------------------------------------------ */

uint64_t fingerprint(uint64_t from, const void *p, size_t n)
{
    return fnv1a(from, p, n);
}

static bool is_one_of(const char *name, const char *const *names)
{
    while (names != NULL && *names != NULL && strcmp(name, *names) != 0)
        names++;
    return names != NULL && *names != NULL;
}

/* What came with another format does not show in sets of the first one. */
bool pack_option_shapes(const struct imrec_pack_options *o, const struct param *p)
{
    static const char *const names[] = {
        "class_from",       "shuffle",  "seed",       "exts",         "label_width",
        "pack_label",       "part",     "resize",     "quality",      "color",
        "center_crop",      "encoding", "check",      "pass_through", "max_pixels",
        "accept_truncated", "shards",   "shard_size", "inter_method", "augment",
        "copies",           NULL,
    };
    static const char *const of_places[] = {"keypoints", "keypoint_pairs", "drawn_on", NULL};
    static const char *const of_masks[] = {"masks", "ignore_label", NULL};
    static const char *const of_fields[] = {"fields", NULL};
    static const char *const of_columns[] = {"columns", NULL};
    static const char *const of_archives[] = {"image_ext", "label_ext", NULL};
    static const char *const of_offset[] = {"label_offset", NULL};
    const bool archives = o->image_ext[0] != '\0' || o->label_ext[0] != '\0';
    const bool places = o->keypoints != 0 || o->drawn_on != IMREC_DRAWN_ON_UPRIGHT;
    if (strcmp(p->name, "tile") == 0) /* sets that do not name it have no tiles */
        return pack_options_encodes_jpeg(o) || has_tiles(o);
    if (strcmp(p->name, "baseline") == 0)
        return pack_options_rewrites(o);
    if (strcmp(p->name, "subsampling") == 0) /* sets that do not name it have 4:2:0 */
        return o->subsampling != IMREC_SUBSAMPLING_420;
    if (strcmp(p->name, "quality_target") == 0)
        return o->quality_target[0] != '\0';
    if (strcmp(p->name, "quality") == 0) /* no image has it then but by chance */
        return o->quality_target[0] == '\0';
    if (strcmp(p->name, "shared_tables") == 0) /* sets that do not name it share none */
        return o->shared_tables;
    if (strcmp(p->name, "drop_empty") == 0) /* sets that do not name it have dropped them */
        return o->annotations[0] != '\0' && !o->drop_empty;
    return is_one_of(p->name, names) || is_one_of(p->name, shard_kinds[o->format]->options) ||
           (places && is_one_of(p->name, of_places)) ||
           (archives && is_one_of(p->name, of_archives)) ||
           (o->label_offset != 0 && is_one_of(p->name, of_offset)) ||
           (o->fields[0] != '\0' && is_one_of(p->name, of_fields)) ||
           (o->columns[0] != '\0' && is_one_of(p->name, of_columns)) ||
           (o->masks[0] != '\0' && is_one_of(p->name, of_masks));
}

static void word_text(const char *words, unsigned n, char *out, size_t room)
{
    for (; n > 0; n--)
        words += strcspn(words, "|") + 1;
    snprintf(out, room, "%.*s", (int)strcspn(words, "|"), words);
}

void pack_option_text(const struct imrec_pack_options *o, const struct param *p, char *out,
                      size_t room)
{
    const void *field = (const char *)o + p->offset;
    const struct imrec_share *share = field;
    const enum imrec_tile tile = has_tiles(o) ? IMREC_TILE_YES : IMREC_TILE_NO;
    if (field == &o->tile)
        field = &tile;
    switch (p->type) {
    case PARAM_INT:
        snprintf(out, room, "%" PRId64, *(const int64_t *)field);
        break;
    case PARAM_FLAG:
        snprintf(out, room, "%d", *(const bool *)field);
        break;
    case PARAM_WORD:
        word_text(p->unit, *(const unsigned *)field, out, room);
        break;
    case PARAM_SHARE:
        snprintf(out, room, "%" PRId64 "/%" PRId64, share->index, share->count);
        break;
    case PARAM_TEXT:
        snprintf(out, room, "%s", *(const char *const *)field);
        break;
    default: /* no other type shapes bytes */
        out[0] = '\0';
    }
}

void pack_option_preset(const struct imrec_pack_options *o, const struct param *p, char *out,
                        size_t room)
{
    struct imrec_pack_options defaults;
    imrec_pack_options_init(&defaults);
    if (p->offset == offsetof(struct imrec_pack_options, tile)) { /* auto: by the others */
        defaults = *o;
        defaults.tile = IMREC_TILE_AUTO;
    }
    pack_option_text(&defaults, p, out, room);
}

uint64_t pack_options_fingerprint(const struct imrec_pack_options *o, uint64_t from)
{
    char text[PACK_OPTION_BYTES];
    from = fingerprint(from, IMREC_VERSION_STRING, sizeof(IMREC_VERSION_STRING));
    for (const struct param *p = pack_params; p->name != NULL; p++)
        if (pack_option_shapes(o, p)) {
            pack_option_text(o, p, text, sizeof(text));
            from = fingerprint(from, text, strlen(text) + 1);
        }
    return from;
}
