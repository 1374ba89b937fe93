/* tools/commands/imrec_batches.c - what the iterator delivers, as NumPy files, for checks from
 * outside. */
#include "cli/show.h"
#include "storage/sink.h"
#include "tools/commands/batches_draw.h"
#include "tools/commands/command.h"
#include "tools/commands/npy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_TOLD = 10 };

#define BATCHES_PARAMS(X)                                                                          \
    X(int64_t, count, NULL, 1, INT64_MAX, "N", "batches",                                          \
      "batches to write, also beyond the end of a sweep")                                          \
    X(const char *, out, NULL, 1, 4000, "FOLDER", "batches",                                       \
      "where the files go; made if it is not there")                                               \
    X(const char *, from, "", 0, 65535, "POSITION.json", "batches",                                \
      "begin at this position, not at the first sweep's begin")                                    \
    ROW_JSON(X)
COMMAND(batches, BATCHES_PARAMS, 1, -1) = {
    PAGE_OF(
        "batches",
        "0 fine, 1 failed, 2 wrong usage, 3 written, but samples failed or were lost to damage"),
    .summary = "write what the iterator delivers as NumPy files, and the position after it",
    .usage = {"--count=N --out=FOLDER [OPTIONS] SHARD [key=value ...]"},
    .text = "Writes data.npy, labels.npy, ids.npy and valid.npy, one row a slot, all batches one\n"
            "after another: data and labels as delivered (dtype, layout, dtype_label), padding\n"
            "and failed slots with valid = 0. The further tensors of multi_crop are data_1.npy,\n"
            "data_2.npy, ...; a file has one shape: data_shape_schedule must not change it on the\n"
            "way. With masks=TYPE there are masks.npy, masks_1.npy, ..., with record_draws=1\n"
            "draws.jsonl, ...: what was drawn, one JSON object a row, null for padding and failed\n"
            "slots. The further images of images= are image_1.npy, image_2.npy, ... in its order,\n"
            "each with as many tensors as data; with images=none there are none, and no data.\n"
            "position.json is the position after the last batch. Unless given:\n"
            "data_shape=3,224,224 batch_size=128.",
    .keys = imrec_iter_keys,
    .examples = "  imrec batches train.rec shuffle=1 batch_size=32 --count 10 --out first\n"
                "  imrec batches train.rec shuffle=1 batch_size=32 --count 10 --out second \\\n"
                "      --from first/position.json\n",
};

/* The files of one of a batch's tensors; what is not asked for stays closed. */
struct tensor {
    struct npy data, masks;
    struct cli_output draws;
};

struct job {
    const struct options *o;
    const struct imrec_iter_options *iter;
    struct tensor *tensor;
    uint32_t tensors;
    struct npy *image; /* those that images= names */
    uint32_t images;
    struct imrec_shape shape; /* of the first */
    struct npy labels, ids, valid;
    uint64_t batches, failed, replaced, sweeps_ended, told;
};

/* ---- files ------------------------------------------------------------------------------ */

static char *path_in(const char *folder, const char *name)
{
    const size_t n = strlen(folder) + strlen(name) + 2;
    char *path = cli_realloc(NULL, n, 1);
    snprintf(path, n, "%s/%s", folder, name);
    return path;
}

static bool open_one(const struct job *j, struct npy *n, const char *name, const char *descr,
                     const uint64_t *shape, int dims)
{
    char *path = path_in(j->o->out, name);
    const bool good = npy_open(n, page.name, path, descr, shape, dims);
    cli_free(path);
    return good;
}

/* "data.npy", "data_1.npy", ... */
static void name_of(char out[32], const char *stem, uint32_t tensor, const char *suffix)
{
    char number[16] = "";
    if (tensor != 0)
        snprintf(number, sizeof(number), "_%" PRIu32, tensor);
    snprintf(out, 32, "%s%s%s", stem, number, suffix);
}

static bool
open_pixels(const struct job *j, struct npy *n, const char *name, const struct imrec_shape *s)
{
    static const char *const types[] = {"<f4", "<f2", "|u1", "|i1",
                                        "<u2"}; /* NumPy has no bfloat16: its bits */
    const uint64_t nchw[] = {s->channels, s->height, s->width};
    const uint64_t nhwc[] = {s->height, s->width, s->channels};
    return open_one(j, n, name, types[j->iter->dtype], j->iter->layout == IMREC_NCHW ? nchw : nhwc,
                    3);
}

static bool open_data(struct job *j, uint32_t tensor, const struct imrec_shape *s)
{
    char name[32];
    name_of(name, "data", tensor, ".npy");
    return open_pixels(j, &j->tensor[tensor].data, name, s);
}

static bool open_masks(struct job *j, uint32_t tensor, const struct imrec_shape *s)
{
    static const char *const types[] = {
        [IMREC_MASK_UINT8] = "|u1", [IMREC_MASK_UINT16] = "<u2", [IMREC_MASK_INT32] = "<i4"};
    const uint64_t shape[] = {s->height, s->width};
    char name[32];
    name_of(name, "masks", tensor, ".npy");
    return open_one(j, &j->tensor[tensor].masks, name, types[j->iter->masks], shape, 2);
}

static bool open_draws(struct job *j, uint32_t tensor)
{
    char name[32];
    name_of(name, "draws", tensor, ".jsonl");
    char *path = path_in(j->o->out, name);
    const bool good = cli_output_open(&j->tensor[tensor].draws, page.name, path);
    cli_free(path);
    return good;
}

static bool open_tensor(struct job *j, uint32_t tensor, const struct imrec_view *v)
{
    return (v->data == NULL || open_data(j, tensor, &v->shape)) && /* images=none */
           (v->masks == NULL || open_masks(j, tensor, &v->shape)) &&
           (v->draws == NULL || open_draws(j, tensor));
}

static bool open_image(struct job *j, uint32_t i, const struct imrec_batch_image *image)
{
    static const char *const types[] = {
        [IMREC_IMAGE_UINT8] = "|u1",
        [IMREC_IMAGE_UINT16] = "<u2",
        [IMREC_IMAGE_INT32] = "<i4",
        [IMREC_IMAGE_FLOAT32] = "<f4",
    };
    const uint64_t shape[] = {image->shape.height, image->shape.width};
    char name[32];
    name_of(name, "image", i + 1, ".npy");
    return image->type == IMREC_IMAGE_PIXELS
               ? open_pixels(j, &j->image[i], name, &image->shape)
               : open_one(j, &j->image[i], name, types[image->type], shape, 2);
}

static bool open_images(struct job *j, const struct imrec_batch *b)
{
    j->image = cli_realloc(NULL, b->image_count + 1, sizeof(*j->image));
    memset(j->image, 0, (b->image_count + 1) * sizeof(*j->image));
    j->images = b->image_count;
    for (uint32_t i = 0; i < j->images; i++)
        if (!open_image(j, i, &b->images[i]))
            return false;
    return true;
}

/* Shapes and a label's width are known from a batch. */
static bool open_all(struct job *j, const struct imrec_batch *b)
{
    static const char *const types[] = {
        [IMREC_LABEL_FLOAT32] = "<f4", [IMREC_LABEL_FLOAT64] = "<f8", [IMREC_LABEL_INT64] = "<i8"};
    const uint64_t width[] = {b->label_width};
    struct imrec_error err;
    if (mkdir(j->o->out, 0777) != 0 && errno != EEXIST) {
        cli_say(page.name, "cannot create %s: %s", j->o->out, strerror(errno));
        return false;
    }
    if (sink_sync_names(j->o->out, &err) != IMREC_OK) {
        (void)cli_fail(page.name, &err);
        return false;
    }
    j->tensor = cli_realloc(NULL, b->view_count, sizeof(*j->tensor));
    memset(j->tensor, 0, b->view_count * sizeof(*j->tensor));
    j->tensors = b->view_count;
    j->shape = b->views[0].shape;
    for (uint32_t t = 0; t < j->tensors; t++)
        if (!open_tensor(j, t, &b->views[t]))
            return false;
    return open_images(j, b) &&
           open_one(j, &j->labels, "labels.npy", types[j->iter->dtype_label], width, 1) &&
           open_one(j, &j->ids, "ids.npy", "<u8", NULL, 0) &&
           open_one(j, &j->valid, "valid.npy", "|u1", NULL, 0);
}

static bool same_shape(const struct job *j, const struct imrec_batch *b)
{
    const struct imrec_shape *was = &j->shape, *is = &b->views[0].shape;
    if (was->height == is->height && was->width == is->width)
        return true;
    fprintf(stderr,
            "%s: batch %" PRIu64 ", of sweep %" PRIu64 ", has %" PRIu32 " x %" PRIu32
            " px, those before it %" PRIu32 " x %" PRIu32 ": a file has one shape, so stop with "
            "--count %" PRIu64 " and resume --from its position\n",
            page.name, b->number, b->sweep, is->height, is->width, was->height, was->width,
            j->batches);
    return false;
}

static bool append_tensor(struct tensor *t, const struct imrec_batch *b, const struct imrec_view *v)
{
    for (uint32_t i = 0; v->draws != NULL && i < b->slots; i++)
        batches_draw(t->draws.file, b->valid[i] != 0 ? &v->draws[i] : NULL);
    return (v->data == NULL || npy_append(&t->data, page.name, v->data, b->slots)) &&
           (v->masks == NULL || npy_append(&t->masks, page.name, v->masks, b->slots));
}

static bool append(struct job *j, const struct imrec_batch *b)
{
    if (j->batches == 0 ? !open_all(j, b) : !same_shape(j, b))
        return false;
    j->batches++;
    j->failed += b->failed;
    j->replaced += b->replaced;
    for (uint32_t t = 0; t < j->tensors; t++)
        if (!append_tensor(&j->tensor[t], b, &b->views[t]))
            return false;
    for (uint32_t i = 0; i < j->images; i++)
        if (!npy_append(&j->image[i], page.name, b->images[i].data, b->slots))
            return false;
    const void *labels = b->typed_labels != NULL ? b->typed_labels : b->labels;
    return npy_append(&j->labels, page.name, labels, b->slots) &&
           npy_append(&j->ids, page.name, b->ids, b->slots) &&
           npy_append(&j->valid, page.name, b->valid, b->slots);
}

static bool commit_tensor(struct tensor *t)
{
    return (t->data.row_bytes == 0 || npy_commit(&t->data, page.name)) &&
           (t->masks.row_bytes == 0 || npy_commit(&t->masks, page.name)) &&
           (t->draws.file == NULL || cli_output_commit(&t->draws, page.name));
}

static void abort_tensor(struct tensor *t)
{
    npy_abort(&t->data);
    npy_abort(&t->masks);
    cli_output_abort(&t->draws);
}

static bool commit(struct job *j, const char *position)
{
    struct cli_output out = {0};
    char *path = path_in(j->o->out, "position.json");
    bool good = cli_output_open(&out, page.name, path) &&
                cli_output_remove_first(page.name, path); /* that of an earlier call */
    cli_free(path);
    good = good && fputs(position, out.file) >= 0;
    for (uint32_t t = 0; t < j->tensors; t++)
        good = good && commit_tensor(&j->tensor[t]);
    for (uint32_t i = 0; i < j->images; i++)
        good = good && npy_commit(&j->image[i], page.name);
    good = good && npy_commit(&j->labels, page.name) && npy_commit(&j->ids, page.name) &&
           npy_commit(&j->valid, page.name);
    if (!good) {
        cli_output_abort(&out);
        return false;
    }
    return cli_output_commit(&out, page.name); /* last: it marks the others as complete */
}

/* ---- the run ---------------------------------------------------------------------------- */

static int seek(const struct job *j, struct imrec_iter *it)
{
    struct imrec_error err;
    if (j->o->from[0] == '\0')
        return EXIT_OK;
    char *position = command_read_position(page.name, j->o->from);
    if (position == NULL)
        return EXIT_FAILED;
    const enum imrec_status st = imrec_iter_seek(it, position, &err);
    cli_free(position);
    return st == IMREC_OK ? EXIT_OK : cli_fail(page.name, &err);
}

static int deliver(struct job *j, struct imrec_iter *it)
{
    struct imrec_error err;
    struct imrec_batch b;
    bool ended = false; /* the call before this one ended a sweep */
    while (j->batches < (uint64_t)j->o->count) {
        const enum imrec_status st = imrec_iter_next(it, &b, &err);
        if (st == IMREC_END && !ended) {
            ended = true;
            j->sweeps_ended++;
            continue;
        }
        if (st == IMREC_END && j->batches != 0)
            return EXIT_OK; /* max_samples: nothing comes any more */
        if (st == IMREC_END)
            return cli_say(page.name, "a sweep has no batch");
        if (st != IMREC_OK && st != IMREC_ERR_DATA)
            return cli_fail(page.name, &err);
        if (st == IMREC_ERR_DATA && !j->iter->verbose && j->told++ < MOST_TOLD)
            (void)cli_fail(page.name, &err); /* else the iterator has said it */
        ended = false;
        if (!append(j, &b))
            return EXIT_FAILED;
    }
    return EXIT_OK;
}

static void print(const struct job *j, struct imrec_iter *it, const struct imrec_iter_stats *stats)
{
    struct imrec_traffic traffic;
    struct json json;
    char batches[HUMAN_THINGS], rows[HUMAN_THINGS], n[HUMAN_THINGS];
    imrec_iter_get_traffic(it, &traffic);
    if (!j->o->json) {
        printf("%s: %s, %s, %s", cli_show(j->o->out), human_things(j->batches, "batch", batches),
               human_things(j->valid.rows, "row", rows), human_things(j->failed, "failed slot", n));
        if (j->replaced != 0)
            printf(", %" PRIu64 " replaced", j->replaced);
        if (stats->damaged_ranges != 0) /* their records took no slot */
            printf(", %s", human_things(stats->damaged_ranges, "damaged range", n));
        putchar('\n');
        command_traffic(NULL, &traffic);
        return;
    }
    json_begin(&json, stdout);
    json_text(&json, "folder", j->o->out);
    JSON_UINTS(&json, {"batches", j->batches}, {"rows", j->valid.rows}, {"failed", j->failed},
               {"replaced", j->replaced}, {"damaged_ranges", stats->damaged_ranges},
               {"sweeps_ended", j->sweeps_ended});
    command_traffic(&json, &traffic);
    json_bool(&json, "indexed", stats->indexed);
    if (imrec_iter_index(it) != NULL)
        json_text(&json, "index", cli_uri(imrec_iter_index(it)));
    else
        json_raw(&json, "index", "null");
    json_close(&json);
}

static int run_with(struct job *j, struct imrec_iter *it)
{
    struct imrec_error err;
    const char *position;
    int status = seek(j, it);
    if (status == EXIT_OK)
        status = deliver(j, it);
    if (status == EXIT_OK && imrec_iter_position(it, &position, &err) != IMREC_OK)
        status = cli_fail(page.name, &err);
    if (status == EXIT_OK && !commit(j, position))
        status = EXIT_FAILED;
    for (uint32_t t = 0; t < j->tensors; t++)
        abort_tensor(&j->tensor[t]);
    for (uint32_t i = 0; i < j->images; i++)
        npy_abort(&j->image[i]);
    cli_free(j->tensor);
    cli_free(j->image);
    npy_abort(&j->labels);
    npy_abort(&j->ids);
    npy_abort(&j->valid);
    if (status != EXIT_OK)
        return status;
    struct imrec_iter_stats stats;
    imrec_iter_get_stats(it, &stats);
    print(j, it, &stats);
    return j->failed + j->replaced + stats.damaged_ranges != 0 ? EXIT_PARTIAL : EXIT_OK;
}

static int run(const struct options *o, int n, char **operand)
{
    struct imrec_iter_options iter;
    struct imrec_iter *it;
    struct job j = {.o = o, .iter = &iter};
    if (!command_is_local(page.name, o->out))
        return EXIT_FAILED;
    if (!command_iter_options(page.name, operand[0], 128, NULL, operand + 1, n - 1, &iter))
        return EXIT_USAGE;
    int status = command_iter_open(page.name, &iter, &it);
    if (status != EXIT_OK)
        return status;
    status = run_with(&j, it);
    imrec_iter_close(it);
    return status;
}
