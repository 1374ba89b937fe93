/* minibatch/minibatch_options.c - a source's own copy of its options. */
#include "minibatch/minibatch_options.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/sized.h"
#include "minibatch/config.h"

#include <inttypes.h>
#include <string.h>

static enum imrec_status no_memory(struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory for options");
}

/* ---- copying ----------------------------------------------------------------------------- */

static enum imrec_status
keep(struct minibatch_options *o, const char **text, struct imrec_error *err)
{
    if (*text == NULL)
        return IMREC_OK;
    *text = string_arena_put(&o->texts, *text, strlen(*text) + 1);
    return *text != NULL ? IMREC_OK : no_memory(err);
}

static enum imrec_status keep_texts(struct minibatch_options *o, const struct param *table,
                                    void *values, struct imrec_error *err)
{
    for (; table->name != NULL; table++)
        if (table->type == PARAM_TEXT)
            IMREC_TRY(keep(o, (const char **)((char *)values + table->offset), err));
    return IMREC_OK;
}

static enum imrec_status copy_file(struct minibatch_options *o, struct imrec_deserializer *to,
                                   const struct imrec_deserializer *from, struct imrec_error *err)
{
    imrec_deserializer_init(to);
    IMREC_TRY(sized_copy(to, sizeof(*to), from, "imrec_deserializer_init", err));
    const struct imrec_stream *given = to->stream;
    const uint32_t streams = to->streams;
    to->stream = NULL; /* not ours to free */
    to->streams = 0;
    IMREC_TRY(param_check(deserializer_params, to, err));
    IMREC_TRY(keep_texts(o, deserializer_params, to, err));
    if (streams == 0)
        return IMREC_OK;
    struct imrec_stream *stream = imrec_realloc(NULL, streams, sizeof(*stream));
    if (stream == NULL)
        return no_memory(err);
    memcpy(stream, given, streams * sizeof(*stream));
    to->stream = stream;
    to->streams = streams;
    for (uint32_t i = 0; i < streams; i++) {
        IMREC_TRY(keep(o, &stream[i].name, err));
        IMREC_TRY(keep(o, &stream[i].alias, err));
    }
    return IMREC_OK;
}

static enum imrec_status copy_files(struct minibatch_options *to,
                                    const struct imrec_minibatch_options *from,
                                    struct imrec_error *err)
{
    const uint32_t n = to->o.deserializers;
    to->o.deserializer = NULL;
    to->o.deserializers = 0;
    to->deserializer = imrec_zalloc(n > 0 ? n : 1, sizeof(*to->deserializer));
    if (to->deserializer == NULL)
        return no_memory(err);
    to->o.deserializer = to->deserializer;
    const char *given = (const char *)from->deserializer; /* of the caller's size, each */
    for (uint32_t i = 0; i < n; i++) {
        to->o.deserializers = i + 1;
        IMREC_TRY(copy_file(to, &to->deserializer[i], (const void *)given, err));
        given += ((const struct imrec_deserializer *)(const void *)given)->struct_size;
    }
    return IMREC_OK;
}

/* ---- checking ---------------------------------------------------------------------------- */

static enum imrec_status check(struct minibatch_options *to, struct imrec_error *err)
{
    struct imrec_minibatch_options *o = &to->o;
    if (o->deserializers == 0)
        return IMREC_REFUSE(err, "file is missing");
    if (o->rank >= o->num_ranks)
        return IMREC_REFUSE(err,
                            "rank must be below num_ranks, but %" PRId64 " is not below %" PRId64,
                            o->rank, o->num_ranks);
    if (o->truncated == IMREC_TRUNCATED_YES && o->truncation_length == 0)
        return IMREC_REFUSE(err, "truncated=true needs truncationLength, the samples of a piece");
    if (o->truncated == IMREC_TRUNCATED_NO)
        o->truncation_length = 0;
    if (o->truncation_length > 0 && o->label_stream[0] != '\0')
        return imrec_fail(err, IMREC_ERR_UNSUPPORTED,
                          "with truncationLength all streams have equal lengths, epoch_size "
                          "counts them: label_stream must be empty");
    IMREC_TRY(minibatch_sizes_parse(o->minibatch_size_in_samples, &to->sizes, err));
    to->full_sweep = o->epoch_size == IMREC_FULL_DATA_SWEEP;
    to->epoch_size = o->epoch_size >= IMREC_FULL_DATA_SWEEP ? UINT64_MAX : (uint64_t)o->epoch_size;
    if (to->full_sweep)
        o->max_sweeps = 1;
    return IMREC_OK;
}

enum imrec_status minibatch_options_copy(struct minibatch_options *to,
                                         const struct imrec_minibatch_options *from,
                                         struct imrec_error *err)
{
    *to = (struct minibatch_options){0};
    imrec_minibatch_options_init(&to->o);
    IMREC_TRY(sized_copy(&to->o, sizeof(to->o), from, "imrec_minibatch_options_init", err));
    enum imrec_status st = copy_files(to, from, err);
    if (st == IMREC_OK)
        st = param_check(minibatch_params, &to->o, err);
    if (st == IMREC_OK)
        st = keep_texts(to, minibatch_params, &to->o, err);
    if (st == IMREC_OK)
        st = check(to, err);
    if (st != IMREC_OK)
        minibatch_options_free(to);
    return st;
}

void minibatch_options_free(struct minibatch_options *o)
{
    for (uint32_t i = 0; i < o->o.deserializers; i++)
        imrec_free((void *)o->deserializer[i].stream);
    string_arena_free(&o->texts);
    imrec_free(o->deserializer);
    *o = (struct minibatch_options){0};
}
