/* container/image_files.c - the kinds whose images are files of their own: folders and lists. */
#include "container/image_files.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "container/folder/file_run.h"
#include "container/folder/folder_scan.h"
#include "container/folder/listed_files.h"
#include "container/record_table.h"
#include "formats/image_names.h"
#include "formats/recordio/image_record.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct image_shard {
    struct scan scan;
    struct listed_files lines;  /* of a list: what its lines say */
    const struct file_run *run; /* the shard's source */
};

struct image_files { /* container.state */
    struct image_shard *shard;
    uint32_t count;
};

static const struct image_shard *shard_of(const struct container *c, uint32_t shard)
{
    const struct image_files *s = c->state;
    return &s->shard[shard];
}

/* ---- opening ------------------------------------------------------------------------------ */

enum imrec_status
image_files_begin(struct container *c, const struct shard_list *l, struct imrec_error *err)
{
    struct image_files *s = imrec_zalloc(1, sizeof(*s));
    if (s == NULL)
        return IMREC_NO_MEMORY(err, "no memory for folders of images");
    c->kind = l->form == SHARDS_FOLDERS ? &folder_kind : &list_kind;
    c->state = s;
    s->shard = imrec_zalloc(l->names.count, sizeof(*s->shard));
    if (s->shard == NULL)
        return IMREC_NO_MEMORY(err, "no memory for %zu folders of images", l->names.count);
    s->count = (uint32_t)l->names.count;
    return IMREC_OK;
}

bool image_files_are(const struct container *c)
{
    return c->kind == &folder_kind || c->kind == &list_kind;
}

/* What im2rec leaves out, and says in its report. */
static void warn_of_skips(const char *uri, const struct scan *s)
{
    if (s->skip_count != 0)
        imrec_log(IMREC_LOG_WARNING, "%.300s: %zu %s skipped, the first is %.200s: %s", uri,
                  s->skip_count, s->skip_count == 1 ? "name is" : "names are", s->skips[0].path,
                  s->skips[0].why);
}

static enum imrec_status scan_images(const char *folder, enum imrec_class_from from, bool said,
                                     struct scan *out, struct imrec_error *err)
{
    const struct scan_options o = {.root = source_path(folder),
                                   .class_from = from,
                                   .exts = "",
                                   .builtin = image_extensions(),
                                   .said = said};
    return scan_folder(&o, out, err);
}

/* As im2rec: the folders in it are classes; of one without folders as --class-from=flat. */
static enum imrec_status
scan_classes(const char *folder, bool said, struct scan *out, struct imrec_error *err)
{
    IMREC_TRY(scan_images(folder, IMREC_CLASS_TOP, said, out, err));
    if (out->classes.count != 0)
        return IMREC_OK;
    scan_free(out);
    return scan_images(folder, IMREC_CLASS_FLAT, said, out, err);
}

static enum imrec_status
open_run(struct container *c, uint32_t shard, const char *root, bool said, struct imrec_error *err)
{
    struct image_shard *s = &((struct image_files *)c->state)->shard[shard];
    struct shard *h = &c->shards[shard];
    const struct file_run_options o = {source_path(root), &s->scan, said};
    warn_of_skips(h->uri, &s->scan);
    if (s->scan.file_count == 0)
        return imrec_fail(err, IMREC_ERR_CORRUPT, "%.300s %s", h->uri,
                          c->kind == &list_kind ? "names no file" : "holds no image");
    IMREC_TRY(file_run_open(&o, &h->source, err));
    s->run = file_run_of(h->source);
    return IMREC_OK;
}

static enum imrec_status open_folder(struct container *c, uint32_t shard, struct imrec_error *err)
{
    struct image_shard *s = &((struct image_files *)c->state)->shard[shard];
    const char *uri = c->shards[shard].uri;
    const bool said = source_is_remote(uri);
    IMREC_TRY(scan_classes(uri, said, &s->scan, err));
    return open_run(c, shard, uri, said, err);
}

/* A list of which no file is there was made for another folder. */
static enum imrec_status
check_root(const struct container *c, uint32_t shard, struct imrec_error *err)
{
    const struct image_shard *s = shard_of(c, shard);
    const char *root = c->options.path_root != NULL ? c->options.path_root : "";
    uint64_t i = 0;
    while (i < s->scan.file_count && file_run_lost(s->run, i) != NULL)
        i++;
    if (i < s->scan.file_count)
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_IO,
                      "%.200s: no file that it names can be read, the first is %.120s: %.100s; "
                      "path_root%s%.100s is %sthe folder that they are in",
                      c->shards[shard].uri, s->scan.files[0]->name,
                      file_run_lost(s->run, 0)->message, root[0] != '\0' ? "=" : "", root,
                      root[0] != '\0' ? "not " : "");
}

static enum imrec_status open_list(struct container *c, uint32_t shard, struct imrec_error *err)
{
    struct image_shard *s = &((struct image_files *)c->state)->shard[shard];
    const char *root = c->options.path_root != NULL ? c->options.path_root : "";
    IMREC_TRY(listed_files_load(c->shards[shard].uri, &s->scan, &s->lines, err));
    IMREC_TRY(open_run(c, shard, root, false, err));
    return check_root(c, shard, err);
}

/* ---- listing ------------------------------------------------------------------------------ */

static enum imrec_status list_shard(struct container *c, uint32_t shard, uint64_t *capacity,
                                    uint64_t *hash, struct imrec_error *err)
{
    const struct image_shard *s = shard_of(c, shard);
    const bool lines = c->kind == &list_kind;
    for (uint64_t i = 0; i < s->scan.file_count; i++) {
        const uint64_t begin = file_run_begin(s->run, i), end = file_run_begin(s->run, i + 1);
        const bool lost = file_run_lost(s->run, i) != NULL;
        IMREC_TRY(
            record_table_add(c, capacity,
                             (struct indexed_record){begin, lines ? s->lines.id[i] : i, shard,
                                                     lost ? RECORD_LOST : (uint32_t)(end - begin)},
                             err));
    }
    *hash = file_run_hash(s->run, *hash);
    if (lines)
        *hash = listed_files_hash(&s->lines, s->scan.file_count, *hash);
    const uint32_t labels = lines ? s->lines.widest : 1;
    c->label_count = labels > c->label_count ? labels : c->label_count;
    return IMREC_OK;
}

static enum imrec_status
list(struct container *c, const struct shard_list *names, struct imrec_error *err)
{
    uint64_t capacity = 0, hash = 0xcbf29ce484222325u;
    (void)names;
    if (index_wish(c->options.path_imgidx) == INDEX_NAMED)
        return IMREC_REFUSE(err, "path_imgidx: %.300s is a %s, which is its own index",
                            c->shards[0].uri, c->kind->name);
    for (uint32_t i = 0; i < c->shard_count; i++)
        IMREC_TRY(list_shard(c, i, &capacity, &hash, err));
    return record_table_end(c, hash, err);
}

/* ---- records ------------------------------------------------------------------------------ */

static const struct imrec_error *lost(const struct container *c, uint64_t unit)
{
    const struct indexed_record *r = &c->records[unit];
    const struct file_run *run = shard_of(c, r->shard)->run;
    return r->bytes == RECORD_LOST ? file_run_lost(run, file_run_find(run, r->offset)) : NULL;
}

static enum imrec_status parse(const struct container *c, const struct record_ref *r,
                               unsigned parts, struct parse_room *room, struct record *out,
                               struct imrec_error *err)
{
    const struct image_shard *s = shard_of(c, r->shard);
    const uint64_t file = file_run_find(s->run, r->offset);
    (void)err;
    *out = (struct record){.id = r->key, .image = r->bytes};
    if ((parts & RECORD_LABELS) == 0)
        return IMREC_OK;
    if (c->kind == &list_kind) {
        out->labels = listed_files_labels(&s->lines, file, &out->label_count);
        return IMREC_OK;
    }
    out->label_count = 1;
    if (room->label_room == 0)
        return IMREC_OK;
    store_le_float((uint8_t *)&room->labels[0],
                   (float)s->scan.folders[s->scan.files[file]->folder].class_index);
    out->labels = (struct bytes){(const uint8_t *)room->labels, sizeof(float)};
    return IMREC_OK;
}

static bool first_label(const struct container *c, uint64_t unit, float *label)
{
    const struct indexed_record *r = &c->records[unit];
    const struct image_shard *s = shard_of(c, r->shard);
    const uint64_t file = file_run_find(s->run, r->offset);
    uint32_t count = 1;
    if (c->kind == &folder_kind)
        *label = (float)s->scan.folders[s->scan.files[file]->folder].class_index;
    else
        *label = load_le_float(listed_files_labels(&s->lines, file, &count).p);
    return count != 0;
}

void image_files_name(const struct container *c, const struct record_ref *r,
                      char out[IMAGE_NAME_BYTES])
{
    const struct image_shard *s = shard_of(c, r->shard);
    scan_path(&s->scan, s->scan.files[file_run_find(s->run, r->offset)], out);
}

/* The end of a name that is longer: it is what differs. */
static uint64_t describe(const struct container *c, const struct record_ref *r,
                         const struct imrec_error *why, char text[96])
{
    char name[IMAGE_NAME_BYTES];
    (void)why;
    image_files_name(c, r, name);
    const size_t n = strlen(name);
    if (n < 96) {
        memcpy(text, name, n + 1);
        return r->offset;
    }
    const char *from = name + n - 92;
    while (((uint8_t)*from & 0xc0) == 0x80) /* not within a character */
        from++;
    memcpy(text, "...", 3);
    memcpy(text + 3, from, strlen(from) + 1);
    return r->offset;
}

static const char *refuse_boxes(const struct container *c)
{
    return c->kind == &list_kind ? NULL : "have classes";
}

static uint64_t memory(const struct container *c)
{
    const struct image_files *s = c->state;
    uint64_t bytes = s->count * sizeof(*s->shard);
    for (uint32_t i = 0; i < s->count; i++)
        bytes += scan_memory(&s->shard[i].scan) + file_run_memory(s->shard[i].run) +
                 listed_files_memory(&s->shard[i].lines);
    return bytes;
}

static void close_files(struct container *c)
{
    struct image_files *s = c->state;
    for (uint32_t i = 0; i < s->count; i++) {
        scan_free(&s->shard[i].scan);
        listed_files_free(&s->shard[i].lines);
    }
    IMREC_FREE(s->shard, s);
}

const struct container_kind folder_kind = {
    .name = "folder of images",
    .record = "image",
    .align = 1,
    .own_index = true,
    .rooms = true,
    .apart = true,
    .open_shard = open_folder,
    .list = list,
    .extent = record_table_extent,
    .lost = lost,
    .open = record_table_open,
    .parse = parse,
    .describe = describe,
    .first_label = first_label,
    .refuse_boxes = refuse_boxes,
    .memory = memory,
    .close = close_files,
};

const struct container_kind list_kind = {
    .name = "list of images",
    .record = "image",
    .align = 1,
    .own_index = true,
    .rooms = true,
    .apart = true,
    .open_shard = open_list,
    .list = list,
    .extent = record_table_extent,
    .lost = lost,
    .open = record_table_open,
    .parse = parse,
    .describe = describe,
    .first_label = first_label,
    .refuse_boxes = refuse_boxes,
    .memory = memory,
    .close = close_files,
};

/* ---- names alone -------------------------------------------------------------------------- */

enum imrec_status
image_folder_classes(const char *folder, struct class_list *out, struct imrec_error *err)
{
    const struct scan_options o = {.root = source_path(folder),
                                   .exts = "",
                                   .builtin = image_extensions(),
                                   .classes_only = true};
    struct scan s;
    IMREC_TRY(scan_folder(&o, &s, err));
    *out = s.classes;
    s.classes = (struct class_list){0};
    scan_free(&s);
    return IMREC_OK;
}

enum imrec_status
image_folder_names(const char *folder, image_name_fn *each, void *user, struct imrec_error *err)
{
    char name[IMAGE_NAME_BYTES];
    struct scan s;
    enum imrec_status st = scan_classes(folder, false, &s, err);
    for (size_t i = 0; st == IMREC_OK && i < s.file_count; i++) {
        scan_path(&s, s.files[i], name);
        st = each(user, i, name, err);
    }
    scan_free(&s);
    return st;
}
