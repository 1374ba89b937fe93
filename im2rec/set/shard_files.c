/* im2rec/set/shard_files.c */
#include "im2rec/set/shard_files.h"

#include "base/error.h"
#include "formats/crc32c.h"
#include "formats/recordio/record_index.h"
#include "formats/set/set_names.h"

#define TEXT_MAX ((size_t)1 << 20)

static enum imrec_status open_one(const char *rec, enum set_file what, uint64_t size, bool resume,
                                  struct sink **out, struct imrec_error *err)
{
    char name[NAME_BYTES];
    if (what != SET_REC) {
        set_name(rec, what, name);
        rec = name;
    }
    return resume ? sink_resume(rec, size, out, err) : sink_open(rec, out, err);
}

bool shard_is_open(const struct shard_files *s)
{
    return s->rec != NULL || s->cbf != NULL;
}

void shard_stop_with(struct shard_files *s, const struct stop *stop)
{
    if (s->cbf != NULL)
        cbf_shard_stop_with(s->cbf, stop);
    if (s->rec == NULL)
        return;
    sink_stop_with(s->rec, stop);
    sink_stop_with(s->idx, stop);
    sink_stop_with(s->crc, stop);
}

bool shard_is_even(const struct shard_files *s)
{
    return s->cbf == NULL || cbf_shard_is_even(s->cbf);
}

uint64_t shard_size(const struct shard_files *s)
{
    return s->cbf != NULL ? cbf_shard_size(s->cbf) : s->sums.shard_bytes;
}

enum imrec_status shard_open(const char *rec, const struct cbf_shape *shape,
                             const struct journal_shard *from, struct shard_files *out,
                             struct imrec_error *err)
{
    const bool resume = from->records != 0;
    if (shape != NULL) {
        *out = (struct shard_files){0};
        return cbf_shard_open(rec, shape, from, &out->cbf, err);
    }
    *out = (struct shard_files){
        .text = BUF_INIT(TEXT_MAX),
        .sums = {from->records, from->rec_bytes, (uint32_t)from->rec_crc, (uint32_t)from->crc_crc},
        .idx_crc = (uint32_t)from->idx_crc,
    };
    IMREC_TRY(open_one(rec, SET_REC, from->rec_bytes, resume, &out->rec, err));
    IMREC_TRY(open_one(rec, SET_INDEX, from->idx_bytes, resume, &out->idx, err));
    IMREC_TRY(open_one(rec, SET_CHECKSUMS, from->crc_bytes, resume, &out->crc, err));
    if (resume)
        return IMREC_OK;
    IMREC_TRY(checksums_begin(&out->sums, &out->text, err));
    return sink_append(out->crc, out->text.p, out->text.n, err);
}

enum imrec_status shard_put(struct shard_files *s, uint64_t key, struct bytes framed, uint32_t crc,
                            struct imrec_error *err)
{
    s->text.n = 0;
    IMREC_TRY(record_index_write(&s->text, key, s->sums.shard_bytes, err));
    IMREC_TRY(sink_append(s->idx, s->text.p, s->text.n, err));
    s->idx_crc = crc32c(s->idx_crc, s->text.p, s->text.n);
    s->text.n = 0;
    IMREC_TRY(checksums_add(&s->sums, framed.n, crc, &s->text, err));
    IMREC_TRY(sink_append(s->crc, s->text.p, s->text.n, err));
    return sink_append(s->rec, framed.p, framed.n, err);
}

enum imrec_status shard_sync(struct shard_files *s, struct imrec_error *err)
{
    if (s->cbf != NULL)
        return cbf_shard_sync(s->cbf, err);
    if (s->rec == NULL)
        return IMREC_OK;
    IMREC_TRY(sink_sync(s->rec, err));
    IMREC_TRY(sink_sync(s->idx, err));
    return sink_sync(s->crc, err);
}

void shard_sums(const struct shard_files *s, struct journal_shard *out)
{
    const uint64_t number = out->number;
    *out = (struct journal_shard){.number = number};
    if (s->cbf != NULL)
        cbf_shard_sums(s->cbf, out);
    if (s->rec == NULL)
        return;
    out->records = s->sums.records;
    out->rec_bytes = s->sums.shard_bytes;
    out->rec_crc = s->sums.shard_crc;
    out->idx_bytes = sink_size(s->idx);
    out->idx_crc = s->idx_crc;
    out->crc_bytes = sink_size(s->crc);
    out->crc_crc = s->sums.file_crc;
}

static enum imrec_status finish_one(struct sink **s, struct imrec_error *err)
{
    struct sink *gone = *s;
    *s = NULL;
    return sink_finish(gone, err);
}

enum imrec_status
shard_finish(struct shard_files *s, struct journal_shard *out, struct imrec_error *err)
{
    struct cbf_shard *cbf = s->cbf;
    s->cbf = NULL;
    if (cbf != NULL)
        return cbf_shard_finish(cbf, out, err);
    s->text.n = 0;
    enum imrec_status st = checksums_finish(&s->sums, &s->text, err);
    if (st == IMREC_OK)
        st = sink_append(s->crc, s->text.p, s->text.n, err);
    shard_sums(s, out);
    if (st == IMREC_OK)
        st = finish_one(&s->rec, err);
    if (st == IMREC_OK)
        st = finish_one(&s->idx, err);
    if (st == IMREC_OK)
        st = finish_one(&s->crc, err);
    shard_leave(s);
    return st;
}

void shard_leave(struct shard_files *s)
{
    cbf_shard_leave(s->cbf);
    sink_leave(s->rec);
    sink_leave(s->idx);
    sink_leave(s->crc);
    buf_free(&s->text);
    s->rec = s->idx = s->crc = NULL;
    s->cbf = NULL;
}
