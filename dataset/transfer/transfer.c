/* dataset/transfer/transfer.c - imrec_convert_records(): records of any kind, one by one, into a
 * file of another. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "container/kinds.h"
#include "dataset/record_reader.h"
#include "dataset/transfer/feature_list.h"
#include "dataset/transfer/features_of.h"
#include "dataset/transfer/file_name.h"
#include "dataset/transfer/record_example.h"
#include "dataset/transfer/sample_files.h"
#include "dataset/transfer/transfer_out.h"
#include "dataset/transfer/transfer_set.h"

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
    struct transfer_set set;
    struct imrec_checked *in;
    uint64_t index;    /* of the record in hand, lost ones included */
    uint64_t metadata; /* records that are no samples */
    struct imrec_records_result result;
    struct sample_names names;   /* of a tar's sample */
    struct features_of features; /* of an Example */
    struct example_parts again;  /* the Example that a record would become */
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
        if (transfer_is_called(&r->fields[i], FILE_IDS))
            (void)sample_ids_read(ids, &r->id, &r->id2); /* any other text is a file of theirs */
    }
    return sample_names_add(&t->names, &webdataset_kind, r, err);
}

static bool has_no_labels(const struct transfer *t)
{
    return t->o->label != NULL && strcmp(t->o->label, "none") == 0;
}

/* ---- features ----------------------------------------------------------------------------- */

static bool is_of_header(const struct imrec_field *f)
{
    return transfer_is_called(f, EXAMPLE_ID) || transfer_is_called(f, EXAMPLE_ID2) ||
           transfer_is_called(f, EXAMPLE_FORMAT);
}

/* What the header has, and what is made of the image. */
static void leave_out_known(struct imrec_record *r, struct imrec_field *fields)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->field_count; i++)
        if (!is_of_header(&r->fields[i]))
            fields[n++] = r->fields[i];
    r->field_count = n;
}

/* Whether files named and written after a record's fields lose what they are. */
static bool needs_types(const struct imrec_record *r)
{
    for (uint32_t i = 0; i < r->field_count; i++) {
        const struct imrec_field *f = &r->fields[i];
        if (is_of_header(f))
            continue;
        if (f->kind != IMREC_FIELD_BYTES || memchr(f->name, '/', f->name_bytes) != NULL)
            return true;
    }
    return false;
}

/* Whether a file of the output's kind loses what is in no list of features: a RecordIO record
 * always has a label. */
static bool loses(const struct transfer *t, const struct imrec_record *r)
{
    return t->kind == &transfer_record ? r->label_count == 0
                                       : t->kind == &transfer_tar && needs_types(r);
}

static enum imrec_status
is_again(struct transfer *t, const struct imrec_record *r, bool *same, struct imrec_error *err)
{
    struct bytes example;
    uint64_t dropped = 0;
    IMREC_TRY(example_of_record(&t->again, r, &example, &dropped, err));
    *same = example.n == r->size && memcmp(example.p, r->data, r->size) == 0;
    return IMREC_OK;
}

/* An Example becomes the same one again: one that this command has written by itself, any other by
 * a list of its features. */
static enum imrec_status
name_features(struct transfer *t, struct imrec_record *r, struct imrec_error *err)
{
    bool same;
    if (transfer_text_in(r, SAMPLE_FEATURES).p != NULL)
        return imrec_error_at(err, IMREC_ERR_DATA, r->offset,
                              "%.200s: the record at byte %" PRIu64 " has a feature "
                              "'" SAMPLE_FEATURES "', which is the list of features of a record",
                              r->uri, r->offset);
    IMREC_TRY(features_of_record(&t->features, r, err));
    r->fields = t->features.fields;
    r->field_count = t->features.field_count;
    transfer_take_number(r, EXAMPLE_ID, &r->id);
    transfer_take_number(r, EXAMPLE_ID2, &r->id2);
    if (has_no_labels(t))
        r->label_count = 0; /* not the zeros that a reader gets for them */
    IMREC_TRY(is_again(t, r, &same, err));
    if (same && !loses(t, r)) {
        leave_out_known(r, t->features.fields);
        return IMREC_OK;
    }
    t->features.fields[r->field_count++] = sample_text_field(SAMPLE_FEATURES, &t->features.text);
    IMREC_TRY(is_again(t, r, &same, err));
    t->result.rewritten += !same;
    return IMREC_OK;
}

/* ---- a record ----------------------------------------------------------------------------- */

static enum imrec_status
no_labels(const struct transfer *t, struct imrec_record *r, struct imrec_error *err)
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

/* Labels as they are written into *r, whose own are those that were read; it has `count`. */
static enum imrec_status take_labels(const struct transfer *t, struct imrec_record *r,
                                     uint32_t count, struct imrec_error *err)
{
    if (has_no_labels(t) || count == 0)
        return no_labels(t, r, err);
    if (count != r->label_count)
        return imrec_error_at(err, IMREC_ERR_DATA, r->offset,
                              "%.200s: the record at byte %" PRIu64 " has %" PRIu32
                              " labels, at most %" PRIu32 " are converted",
                              r->uri, r->offset, count, r->label_count);
    return IMREC_OK;
}

static enum imrec_status put(struct transfer *t, struct imrec_record *r, struct imrec_error *err)
{
    const struct container_kind *from = t->in->walk.kind;
    const struct record *all = &t->in->walk.reader->table.last; /* of others empty */
    if (r->metadata != IMREC_NO_METADATA) {                     /* names keys, has no image */
        t->metadata++;
        return IMREC_OK;
    }
    if (copies(t)) {
        IMREC_TRY(t->kind->copy(t->set.out, r, err));
    } else {
        if (from == &tfrecord_kind)
            IMREC_TRY(name_features(t, r, err));
        IMREC_TRY(take_labels(t, r, from->own_index ? all->label_count : r->label_count, err));
        if (from == &webdataset_kind)
            IMREC_TRY(name_files(t, r, err));
        IMREC_TRY(t->kind->make(t->set.out, r, &t->result.fields, err));
    }
    t->result.records++;
    return transfer_set_write(&t->set, t->index++, err);
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
        t->index += t->in->lost;
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

static enum imrec_status begin(struct transfer *t, struct imrec_error *err)
{
    uint64_t total = 0;
    IMREC_TRY(transfer_set_init(&t->set, t->kind, t->o, err));
    if (transfer_set_needs_total(&t->set))
        IMREC_TRY(imrec_reader_count(t->in->walk.reader, &total, err));
    return transfer_set_begin(&t->set, total, err);
}

static enum imrec_status run(struct transfer *t, struct imrec_error *err)
{
    struct container_options set = {.path_imgrec = t->o->input, .num_parts = 1};
    struct imrec_reader_options reader;
    imrec_reader_options_init(&reader);
    reader.image = t->o->image;
    reader.label = t->o->label;
    reader.label_offset = t->o->label_offset;
    reader.path_root = t->o->path_root;
    reader.container = t->o->container;
    reader.mask = t->o->mask;
    IMREC_TRY(reader_options_take(&reader, &set, err));
    IMREC_TRY(checked_open_as(&set, t->o->progress, t->o->user, &t->in, err));
    IMREC_TRY(check(t, err));
    IMREC_TRY(begin(t, err));
    IMREC_TRY(put_all(t, err));
    t->result.unchecked = imrec_checked_unchecked(t->in);
    if (t->metadata != 0)
        imrec_log(IMREC_LOG_WARNING,
                  "%s: %" PRIu64 " records that name ranges of keys have no image, and are not in "
                  "%s: identities are in the labels",
                  t->o->input, t->metadata, t->o->output);
    const enum imrec_status st = transfer_set_commit(&t->set, err);
    t->result.bytes = t->set.bytes;
    t->result.shards = t->set.number;
    return st;
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
    features_of_init(&t.features, o.image, o.label);
    if (t.kind == NULL)
        return IMREC_REFUSE(
            err, "%.300s: records are written into .tar, .tfrecord, .tfrecords or .rec files",
            o.output);
    enum imrec_status st = example_parts_init(&t.again, err);
    if (st == IMREC_OK)
        st = run(&t, err);
    transfer_set_end(&t.set);
    imrec_checked_close(t.in);
    sample_names_free(&t.names);
    features_of_free(&t.features);
    example_parts_free(&t.again);
    *out = t.result;
    return st;
}
