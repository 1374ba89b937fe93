/* container/webdataset.c - the kind of WebDataset's tar archives.
 *
 * A record is a sample (archive/tar_samples.h). image=, label= and mask= say which of its files are
 * what (archive/sample_spec.h); all but the image are fields. Records are listed from the headers
 * alone; their ids count them, over all archives. */
#include "container/kinds.h"

#include "base/alloc.h"
#include "base/error.h"
#include "container/archive/sample_spec.h"
#include "container/archive/tar_members.h"
#include "container/archive/tar_samples.h"
#include "container/listed_shards.h"
#include "container/partition.h"
#include "container/record_table.h"
#include "container/room_labels.h"
#include "formats/tar/tar_header.h"

#include <stdio.h>
#include <string.h>

struct archive { /* container.state */
    struct listed_losses losses;
    uint64_t begin; /* number of unit 0 */
    struct sample_spec spec;
};

/* ---- listing ------------------------------------------------------------------------------ */

/* The link that is in place of the image or the labels; NULL: there is none. */
static const struct tar_part *find_link(const struct sample_spec *spec, const struct tar_samples *t)
{
    for (uint32_t i = 0; i < t->count; i++) {
        const struct tar_part *p = &t->parts[i];
        const char *e = tar_part_extension(t, p);
        const struct bytes extension = {(const uint8_t *)e, strlen(e)};
        if (p->type == TAR_LINK && (sample_spec_rank(spec, extension) != SAMPLE_NO_IMAGE ||
                                    sample_spec_is_label(spec, extension)))
            return p;
    }
    return NULL;
}

static bool has_image(const struct sample_spec *spec, const struct tar_samples *t)
{
    for (uint32_t i = 0; i < t->count; i++) {
        const char *e = tar_part_extension(t, &t->parts[i]);
        if (sample_spec_rank(spec, (struct bytes){(const uint8_t *)e, strlen(e)}) !=
            SAMPLE_NO_IMAGE)
            return true;
    }
    return false;
}

static enum imrec_status take_sample(const struct container *c, const struct tar_samples *t,
                                     struct shard_found *f, struct imrec_error *err)
{
    const struct sample_spec *spec = &((const struct archive *)c->state)->spec;
    struct imrec_error why;
    const struct tar_part *link = find_link(spec, t);
    if (link != NULL) {
        (void)imrec_error_at(&why, IMREC_ERR_UNSUPPORTED, link->content - TAR_BLOCK,
                             "%.200s is a link to another file, whose bytes are not here: write "
                             "the archive with --hard-dereference (or --dereference)",
                             tar_part_name(t, link));
        return shard_found_lost(f, &why, err);
    }
    if (t->begin == t->end || (c->options.only_images && !has_image(spec, t)))
        return IMREC_OK;
    return shard_found_add(f, t->begin, t->end - t->begin, "sample", err);
}

static enum imrec_status take_all(const struct container *c, struct tar_samples *t,
                                  struct record_walk *w, struct shard_found *f,
                                  struct imrec_error *err)
{
    while ((w->at = tar_samples_at(t)) < w->end) {
        struct imrec_error why;
        IMREC_TRY(stop_check(&c->stop, err));
        const enum imrec_status st = tar_samples_next(t, &why);
        if (st == IMREC_END)
            return IMREC_OK;
        if (st == IMREC_ERR_NO_MEMORY || st == IMREC_ERR_CANCELLED) {
            *err = why;
            return st;
        }
        IMREC_TRY(st == IMREC_OK ? take_sample(c, t, f, err) : shard_found_lost(f, &why, err));
    }
    return IMREC_OK;
}

static enum imrec_status walk(const struct container *c, struct record_walk *w,
                              struct shard_found *out, struct imrec_error *err)
{
    struct tar_samples *t = imrec_zalloc(1, sizeof(*t)); /* it has a name of 4 KiB */
    if (t == NULL)
        return IMREC_NO_MEMORY(err, "no memory to list an archive");
    enum imrec_status st = tar_samples_begin(t, w->source, w->size, w->far, err);
    t->walk.at = w->at;
    if (st == IMREC_OK)
        st = take_all(c, t, w, out, err);
    tar_samples_end(t);
    imrec_free(t);
    return st;
}

static enum imrec_status
list(struct container *c, const struct shard_list *names, struct imrec_error *err)
{
    (void)names;
    struct archive *a = c->state = imrec_zalloc(1, sizeof(*a));
    if (a == NULL)
        return IMREC_NO_MEMORY(err, "no memory to list an archive");
    c->label_count = 1;
    IMREC_TRY(
        sample_spec_parse(c->options.image, c->options.label, c->options.mask, &a->spec, err));
    IMREC_TRY(listed_shards(c, &a->losses, err));
    a->begin = partition_begin(c, c->options.part_index);
    return IMREC_OK;
}

static void close_archive(struct container *c)
{
    struct archive *a = c->state;
    listed_losses_free(&a->losses);
    imrec_free(a);
}

/* ---- records ------------------------------------------------------------------------------ */

static const struct imrec_error *lost(const struct container *c, uint64_t unit)
{
    const struct archive *a = c->state;
    return c->records[unit].bytes == RECORD_LOST ? listed_losses_find(&a->losses, a->begin + unit)
                                                 : NULL;
}

/* A file that is no image, after those before it. */
static enum imrec_status add_field(struct parse_room *room, uint32_t count,
                                   const struct tar_member *m, struct imrec_error *err)
{
    if (!IMREC_GROW(room->fields, room->field_room, (uint64_t)count + 1))
        return IMREC_NO_MEMORY(err, "no memory for the files of a sample");
    room->fields[count] = (struct record_field){m->extension, m->content, FIELD_BYTES};
    return IMREC_OK;
}

/* What is found of a sample. */
struct finding {
    uint32_t rank; /* of the image */
    struct bytes image_name, label;
    bool has_label;
};

/* The image is no field; which file it is is known at the end. */
static void drop_image(struct record *r, struct record_field *fields, const struct finding *f)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->field_count; i++)
        if (fields[i].name.p != f->image_name.p)
            fields[kept++] = fields[i];
    r->field_count = kept;
    r->fields = fields;
}

struct key {
    size_t n; /* 0: no file was seen */
    char text[TAR_NAME_MAX];
};

/* Whether a file has the key of those before it. An index may be of an archive that was written
 * again since. */
static bool is_of_sample(const struct tar_member *m, struct key *key)
{
    const char *extension;
    const size_t n = tar_key_bytes(m->h.name, &extension);
    if (key->n != 0)
        return key->n == n && memcmp(key->text, m->h.name, n) == 0;
    memcpy(key->text, m->h.name, n);
    key->n = n;
    return true;
}

static enum imrec_status other_sample(struct imrec_error *err)
{
    return imrec_fail(err, IMREC_ERR_CORRUPT,
                      "these are not the files of one sample: the archive has changed since it was "
                      "listed, or since its index was made (imrec index)");
}

static enum imrec_status look_at_files(const struct sample_spec *spec, struct bytes left,
                                       bool fields, struct parse_room *room, struct finding *f,
                                       struct record *out, struct imrec_error *err)
{
    struct tar_member m;
    struct key key = {.n = 0};
    while (tar_members_next(&left, &m)) {
        if (!is_of_sample(&m, &key))
            return other_sample(err);
        const uint32_t rank = sample_spec_rank(spec, m.extension);
        if (rank < f->rank) {
            f->rank = rank;
            f->image_name = m.extension;
            out->image = m.content;
        }
        if (sample_spec_is_label(spec, m.extension)) {
            f->label = m.content;
            f->has_label = true;
        }
        if (sample_spec_is_mask(spec, m.extension))
            out->mask = m.content;
        if (fields)
            IMREC_TRY(add_field(room, out->field_count++, &m, err));
    }
    if (fields)
        drop_image(out, room->fields, f);
    return left.n == 0 ? IMREC_OK : other_sample(err);
}

static enum imrec_status no_image(const struct sample_spec *s, struct imrec_error *err)
{
    return imrec_fail(err, IMREC_ERR_CORRUPT,
                      "the sample has no image: none of its files ends in %s%s%s",
                      s->image_count != 0 ? "." : ".jpg, .png or another suffix of an image",
                      s->image_count != 0 ? s->image[0] : "",
                      s->image_count > 1 ? " or another suffix of image=" : "");
}

static enum imrec_status read_labels(const struct sample_spec *s, const struct finding *f,
                                     struct parse_room *room, struct record *out,
                                     struct imrec_error *err)
{
    char name[300];
    if (s->label == NULL) {
        room_labels_none(room, out);
        return IMREC_OK;
    }
    if (!f->has_label)
        return IMREC_OK; /* it has none: who needs one refuses it */
    (void)snprintf(name, sizeof(name), "its .%s", s->label);
    return s->json != NULL ? room_labels_json(room, f->label, name, s->json, out, err)
                           : room_labels_text(room, f->label, name, out, err);
}

static enum imrec_status parse(const struct container *c, const struct record_ref *r,
                               unsigned parts, struct parse_room *room, struct record *out,
                               struct imrec_error *err)
{
    const struct sample_spec *s = &((const struct archive *)c->state)->spec;
    struct finding f = {.rank = SAMPLE_NO_IMAGE};
    *out = (struct record){.id = r->key};
    IMREC_TRY(look_at_files(s, r->bytes, (parts & RECORD_FIELDS) != 0, room, &f, out, err));
    if ((parts & RECORD_IMAGE) != 0 && f.rank == SAMPLE_NO_IMAGE)
        return no_image(s, err);
    return (parts & RECORD_LABELS) != 0 ? read_labels(s, &f, room, out, err) : IMREC_OK;
}

static const char *refuse_boxes(const struct container *c)
{
    (void)c;
    return "have classes";
}

static uint64_t memory(const struct container *c)
{
    const struct archive *a = c->state;
    return listed_losses_memory(&a->losses);
}

const struct container_kind webdataset_kind = {
    .name = "tar archive",
    .record = "sample",
    .suffix = ".tar",
    .align = TAR_BLOCK,
    .own_index = true,
    .extents = true,
    .least = TAR_BLOCK,
    .masks = true,
    .fields = true,
    .rooms = true,
    .named = true,
    .recognize = tar_is_magic,
    .recognize_empty = tar_is_empty,
    .list = list,
    .walk = walk,
    .count = listed_shards_count,
    .extent = record_table_extent,
    .lost = lost,
    .open = record_table_open,
    .parse = parse,
    .refuse_boxes = refuse_boxes,
    .memory = memory,
    .close = close_archive,
};
