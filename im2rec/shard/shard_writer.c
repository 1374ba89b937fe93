/* im2rec/shard/shard_writer.c - what every kind of shard does when it is written. */
#include "im2rec/shard/shard_writer.h"

#include "base/alloc.h"
#include "base/error.h"
#include "formats/set/set_names.h"
#include "storage/sink.h"

#include <stdio.h>

/* ---- opening ---------------------------------------------------------------------------- */

static enum imrec_status open_one(struct shard_writer *w, const char *name, int i, uint64_t size,
                                  bool resume, struct imrec_error *err)
{
    char beside[NAME_BYTES + 16];
    if (i != 0 && w->kind->side_files)
        set_name(name, (enum set_file)i, beside);
    else
        snprintf(beside, sizeof(beside), "%s%s", name, i != 0 ? w->kind->scratch : "");
    if (i != 0 && w->kind->scratch != NULL) /* its resume reads it */
        return resume ? sink_resume_log(beside, size, &w->sinks[i], err)
                      : sink_open_log(beside, &w->sinks[i], err);
    return resume ? sink_resume(beside, size, &w->sinks[i], err)
                  : sink_open(beside, &w->sinks[i], err);
}

enum imrec_status shard_open_sinks(struct shard_writer *w, const char *name,
                                   const struct written_shard *from, struct imrec_error *err)
{
    const uint64_t size[SHARD_SINKS] = {from->rec_bytes, from->idx_bytes, from->crc_bytes};
    const int n = w->kind->side_files ? 3 : w->kind->scratch != NULL ? 2 : 1;
    for (int i = 0; i < n; i++)
        IMREC_TRY(open_one(w, name, i, size[i], from->records != 0, err));
    return IMREC_OK;
}

enum imrec_status shard_writer_open(struct shard_writer *w, const struct shard_kind *kind,
                                    const char *name, const struct shard_shape *shape,
                                    const struct written_shard *from, struct imrec_error *err)
{
    *w = (struct shard_writer){
        .kind = kind,
        .state = imrec_zalloc(1, kind->state_bytes),
        .crc = {(uint32_t)from->rec_crc, (uint32_t)from->idx_crc, (uint32_t)from->crc_crc},
        .records = from->records};
    if (w->state == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a shard");
    const enum imrec_status st = kind->open(w, name, shape, from, err);
    if (st != IMREC_OK)
        shard_writer_leave(w);
    return st;
}

/* ---- while it is open ------------------------------------------------------------------- */

bool shard_writer_is_open(const struct shard_writer *w)
{
    return w->state != NULL;
}

void shard_writer_stop_with(struct shard_writer *w, const struct stop *stop)
{
    for (int i = 0; i < SHARD_SINKS && w->sinks[i] != NULL; i++)
        sink_stop_with(w->sinks[i], stop);
}

enum imrec_status
shard_writer_put(struct shard_writer *w, const struct shard_record *r, struct imrec_error *err)
{
    w->records++;
    return w->kind->put(w, r, err);
}

enum imrec_status shard_writer_sync(struct shard_writer *w, struct imrec_error *err)
{
    for (int i = 0; i < SHARD_SINKS && w->sinks[i] != NULL; i++)
        IMREC_TRY(sink_sync(w->sinks[i], err));
    return IMREC_OK;
}

bool shard_writer_is_even(const struct shard_writer *w)
{
    return w->state == NULL || w->kind->is_even == NULL || w->kind->is_even(w);
}

uint64_t shard_writer_size(const struct shard_writer *w)
{
    return w->kind->size != NULL ? w->kind->size(w) : sink_size(w->sinks[0]);
}

void shard_writer_sums(const struct shard_writer *w, struct written_shard *out)
{
    const uint64_t number = out->number;
    uint64_t bytes[SHARD_SINKS] = {0};
    for (int i = 0; i < SHARD_SINKS && w->sinks[i] != NULL; i++)
        bytes[i] = sink_size(w->sinks[i]);
    *out = (struct written_shard){number,   w->records, bytes[0], w->crc[0],
                                  bytes[1], w->crc[1],  bytes[2], w->crc[2]};
}

/* ---- the end ---------------------------------------------------------------------------- */

/* Scratch files stay: a run can be resumed until the journal has the end. */
static enum imrec_status finish_sinks(struct shard_writer *w, struct imrec_error *err)
{
    const int n = w->kind->scratch != NULL ? 1 : SHARD_SINKS;
    for (int i = 0; i < n && w->sinks[i] != NULL; i++) {
        struct sink *gone = w->sinks[i];
        w->sinks[i] = NULL;
        IMREC_TRY(sink_finish(gone, err));
    }
    return IMREC_OK;
}

enum imrec_status
shard_writer_finish(struct shard_writer *w, struct written_shard *out, struct imrec_error *err)
{
    enum imrec_status st = w->kind->finish(w, err);
    if (st == IMREC_OK) {
        shard_writer_sums(w, out);
        if (w->kind->scratch != NULL)
            out->idx_bytes = out->idx_crc = 0;
        st = finish_sinks(w, err);
    }
    shard_writer_leave(w);
    return st;
}

void shard_writer_leave(struct shard_writer *w)
{
    for (int i = 0; i < SHARD_SINKS; i++)
        sink_leave(w->sinks[i]);
    if (w->state != NULL)
        w->kind->close(w);
    imrec_free(w->state);
    *w = (struct shard_writer){0};
}
