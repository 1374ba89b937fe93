/* dataset/verify_marks.c - where index and checksums say that records begin, met in file order. */
#include "dataset/verify_marks.h"

#include "base/alloc.h"
#include "base/error.h"
#include "dataset/dataset_files.h"
#include "formats/set/checksums.h"

static enum imrec_status load_index(struct marks *m, const char *shard, struct imrec_error *err)
{
    struct shard_index x;
    const enum imrec_status st = shard_index_load(shard, &x, &m->why);
    if (st == IMREC_ERR_NO_MEMORY)
        return imrec_fail(err, st, "%s", m->why.message);
    if (st == IMREC_OK && x.found) {
        m->mark = x.entry;
        m->count = x.count;
        m->found = true;
    }
    return IMREC_OK;
}

static enum imrec_status
take_checksums(struct marks *m, struct checksums *c, struct imrec_error *err)
{
    struct checksum sum;
    m->mark = imrec_realloc(NULL, c->records + 1, sizeof(*m->mark));
    if (m->mark == NULL)
        return IMREC_NO_MEMORY(err, "no memory for %llu checksums", (unsigned long long)c->records);
    while (checksums_next(c, &sum))
        m->mark[m->count++] =
            (struct shard_index_entry){sum.offset, (uint64_t)sum.framed_bytes << 32 | sum.crc};
    m->found = true;
    return IMREC_OK;
}

static enum imrec_status load_checksums(struct marks *m, const char *shard, struct imrec_error *err)
{
    struct checksums c;
    uint8_t *file;
    char *path;
    size_t n;
    enum imrec_status st = dataset_load(shard, SET_CHECKSUMS, &path, &file, &n, &m->why);
    if (st == IMREC_OK && file != NULL)
        st = checksums_open(path, (struct bytes){file, n}, &c, &m->why);
    if (st == IMREC_OK && file != NULL)
        st = take_checksums(m, &c, &m->why);
    IMREC_FREE(file, path);
    return st == IMREC_ERR_NO_MEMORY ? imrec_fail(err, st, "%s", m->why.message) : IMREC_OK;
}

enum imrec_status marks_load(struct marks *m, enum imrec_finding_kind kind, const char *shard,
                             struct imrec_error *err)
{
    marks_free(m);
    m->kind = kind;
    return kind == IMREC_FOUND_INDEX ? load_index(m, shard, err) : load_checksums(m, shard, err);
}

void marks_free(struct marks *m)
{
    imrec_free(m->mark);
    *m = (struct marks){0};
}

const struct shard_index_entry *marks_stray(struct marks *m, uint64_t offset)
{
    return m->next < m->count && m->mark[m->next].offset < offset ? &m->mark[m->next++] : NULL;
}

void marks_skip(struct marks *m, uint64_t end)
{
    while (m->next < m->count && m->mark[m->next].offset < end)
        m->next++;
}

const struct shard_index_entry *marks_meet(struct marks *m, uint64_t offset)
{
    return m->next < m->count && m->mark[m->next].offset == offset ? &m->mark[m->next++] : NULL;
}
