/* dataset/transfer/transfer.c - imrec_convert_records(): records of any kind, one by one, into a
 * file of another. */
#include "base/alloc.h"
#include "base/error.h"
#include "container/kinds.h"
#include "dataset/record_reader.h"
#include "dataset/transfer/sample_files.h"
#include "dataset/transfer/transfer_out.h"
#include "formats/recordio/image_record.h"

#include <inttypes.h>
#include <string.h>

void imrec_records_options_init_sized(struct imrec_records_options *o, size_t size)
{
    const struct imrec_records_options all = {.struct_size = size};
    memcpy(o, &all, size < sizeof(all) ? size : sizeof(all));
}

struct transfer {
    const struct imrec_records_options *o;
    const struct transfer_kind *kind;
    void *out;
    struct imrec_checked *in;
    struct imrec_records_result result;
    float *labels; /* of the record in hand, as they are written */
    uint64_t label_room;
    struct sample_names names; /* of a tar's sample */
};

static const struct transfer_kind *const kinds[] = {&transfer_example, &transfer_record,
                                                    &transfer_tar, NULL};

static const struct transfer_kind *kind_of(const char *uri)
{
    const size_t n = strlen(uri);
    for (size_t k = 0; kinds[k] != NULL; k++)
        for (const char *const *s = kinds[k]->suffixes; *s != NULL; s++)
            if (n > strlen(*s) && strcmp(uri + n - strlen(*s), *s) == 0)
                return kinds[k];
    return NULL;
}

/* Whether records of this kind are copied as they are. */
static bool copies(const struct transfer *t)
{
    const char *const from = t->in->walk.kind->suffix;
    for (const char *const *s = t->kind->suffixes; t->kind->copy != NULL && *s != NULL; s++)
        if (from != NULL && strcmp(from, *s) == 0)
            return true;
    return false;
}

/* ---- fields ------------------------------------------------------------------------------- */

/* A tar's sample becomes the same files again, with the ids that one of them may have. */
static enum imrec_status
name_files(struct transfer *t, struct imrec_record *r, struct imrec_error *err)
{
    for (uint32_t i = 0; i < r->field_count; i++) {
        const struct bytes ids = {r->fields[i].bytes, r->fields[i].size};
        if (transfer_is_called(&r->fields[i], SAMPLE_IDS))
            (void)sample_ids_read(ids, &r->id, &r->id2); /* any other text is a file of theirs */
    }
    return sample_names_add(&t->names, &webdataset_kind, r, err);
}

/* ---- a record ----------------------------------------------------------------------------- */

static bool has_no_labels(const struct transfer *t)
{
    return t->o->label != NULL && strcmp(t->o->label, "none") == 0;
}

static enum imrec_status
no_labels(struct transfer *t, struct imrec_record *r, struct imrec_error *err)
{
    static const float zero;
    if (!has_no_labels(t) && t->kind == &transfer_record)
        return imrec_error_at(err, IMREC_ERR_DATA, r->offset,
                              "%.200s: the record at byte %" PRIu64
                              " has no labels, a RecordIO record needs one: label=none writes 0",
                              r->uri, r->offset);
    r->labels = &zero;
    r->label_count = t->kind == &transfer_record;
    return IMREC_OK;
}

/* Labels as they are written into *r, whose own are those that were read. */
static enum imrec_status
take_labels(struct transfer *t, struct imrec_record *r, uint32_t count, struct imrec_error *err)
{
    const double offset = (double)t->o->label_offset;
    if (has_no_labels(t) || count == 0)
        return no_labels(t, r, err);
    if (count != r->label_count)
        return imrec_error_at(err, IMREC_ERR_DATA, r->offset,
                              "%.200s: the record at byte %" PRIu64 " has %" PRIu32
                              " labels, at most %" PRIu32 " are converted",
                              r->uri, r->offset, count, r->label_count);
    if (!IMREC_GROW(t->labels, t->label_room, (uint64_t)count + 1))
        return IMREC_NO_MEMORY(err, "no memory for labels");
    for (uint32_t i = 0; i < count; i++) {
        const double v = offset != 0 ? (double)r->labels[i] + offset : (double)r->labels[i];
        if (offset != 0 && !image_record_holds(v))
            return imrec_error_at(err, IMREC_ERR_DATA, r->offset,
                                  "%.200s: label %.9g and the offset %.17g are no number that a "
                                  "float32 has exactly",
                                  r->uri, (double)r->labels[i], offset);
        t->labels[i] = (float)v;
    }
    r->labels = t->labels;
    return IMREC_OK;
}

static enum imrec_status put(struct transfer *t, struct imrec_record *r, struct imrec_error *err)
{
    const struct container_kind *from = t->in->walk.kind;
    const struct record *all = &t->in->walk.reader->table.last; /* of others empty */
    if (r->metadata != IMREC_NO_METADATA)                       /* names keys, has no image */
        return IMREC_OK;
    if (copies(t)) {
        IMREC_TRY(t->kind->copy(t->out, r, err));
    } else {
        IMREC_TRY(take_labels(t, r, from->own_index ? all->label_count : r->label_count, err));
        if (from == &webdataset_kind)
            IMREC_TRY(name_files(t, r, err));
        IMREC_TRY(t->kind->put(t->out, r, &t->result.fields, err));
    }
    t->result.records++;
    return IMREC_OK;
}

static enum imrec_status put_all(struct transfer *t, struct imrec_error *err)
{
    for (;;) {
        struct imrec_record r;
        const enum imrec_status st = imrec_checked_next(t->in, &r, err);
        if (st == IMREC_END)
            return IMREC_OK;
        if (st == IMREC_OK) {
            IMREC_TRY(put(t, &r, err));
            continue;
        }
        if (st != IMREC_ERR_DATA || t->o->on_error == IMREC_ON_ERROR_STOP)
            return st;
        t->result.left_out++;
        if (t->o->finding != NULL)
            t->o->finding(t->o->user, imrec_checked_found(t->in));
    }
}

/* ---- the call ----------------------------------------------------------------------------- */

static enum imrec_status check(const struct transfer *t, struct imrec_error *err)
{
    const struct container_kind *from = t->in->walk.kind;
    if (from->side_files && t->kind == &transfer_record)
        return IMREC_REFUSE(err,
                            "%.200s is a %s already: imrec merge and imrec split copy records "
                            "of that",
                            t->o->input, from->name);
    if (copies(t) && t->o->label_offset != 0)
        return IMREC_REFUSE(err, "label_offset: records of a %s are copied as they are",
                            from->name);
    return IMREC_OK;
}

static enum imrec_status run(struct transfer *t, struct imrec_error *err)
{
    const struct container_options set = {
        .path_imgrec = t->o->input, .num_parts = 1, .image = t->o->image, .label = t->o->label};
    IMREC_TRY(checked_open_as(&set, t->o->progress, t->o->user, &t->in, err));
    IMREC_TRY(check(t, err));
    IMREC_TRY(t->kind->open(t->o->output, &t->out, err));
    IMREC_TRY(put_all(t, err));
    t->result.bytes = t->kind->size(t->out);
    t->result.unchecked = imrec_checked_unchecked(t->in);
    void *out = t->out;
    t->out = NULL;
    return t->kind->commit(out, err);
}

enum imrec_status imrec_convert_records(const struct imrec_records_options *options,
                                        struct imrec_records_result *out, struct imrec_error *err)
{
    struct imrec_records_options o = {.struct_size = 0};
    *out = (struct imrec_records_result){0};
    if (options == NULL || options->struct_size < offsetof(struct imrec_records_options, image) ||
        options->input == NULL || options->output == NULL)
        return IMREC_REFUSE(err, "input and output must be given, in options that "
                                 "imrec_records_options_init() has filled");
    memcpy(&o, options, options->struct_size < sizeof(o) ? options->struct_size : sizeof(o));
    struct transfer t = {.o = &o, .kind = kind_of(o.output), .names = SAMPLE_NAMES_INIT};
    if (t.kind == NULL)
        return IMREC_REFUSE(
            err, "%.300s: records are written into .tar, .tfrecord, .tfrecords or .rec files",
            o.output);
    const enum imrec_status st = run(&t, err);
    t.kind->abort(t.out);
    imrec_checked_close(t.in);
    sample_names_free(&t.names);
    imrec_free(t.labels);
    *out = t.result;
    return st;
}
