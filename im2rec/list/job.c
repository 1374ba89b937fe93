/* im2rec/list/job.c */
#include "im2rec/list/job.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/math.h"
#include "formats/image_names.h"
#include "im2rec/item/item_fields.h"
#include "im2rec/item/pack_options.h"
#include "im2rec/item/packed_archive.h"
#include "im2rec/list/annotations.h"
#include "im2rec/list/archive_scan.h"
#include "im2rec/list/python_random.h"
#include "storage/source.h"
#include "storage/text_source.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* ---- folders ---------------------------------------------------------------------------- */

void folder_shuffle(struct scan *s, int64_t seed)
{
    struct python_random r;
    python_random_seed(&r, (uint64_t)seed);
    for (uint64_t i = s->file_count; i > 1; i--) { /* random.shuffle(), from the end */
        const uint32_t k = python_random_below(&r, (uint32_t)i);
        struct scan_file *keep = s->files[i - 1];
        s->files[i - 1] = s->files[k];
        s->files[k] = keep;
    }
}

/* Everything that the records are made of, in the order of the scan. */
static uint64_t scan_fingerprint(const struct scan *s, uint64_t print)
{
    char path[IMAGE_PATH_MAX];
    for (size_t i = 0; i < s->file_count; i++) {
        const struct scan_folder *f = &s->folders[s->files[i]->folder];
        scan_path(s, s->files[i], path);
        print = fingerprint(print, path, strlen(path) + 1);
        print = fingerprint(print, &f->class_index, sizeof(f->class_index));
        if (s->places == NULL)
            continue;
        print = fingerprint(print, &f->size, sizeof(f->size));
        print = fingerprint(print, &s->places[i].begin, sizeof(s->places[i].begin));
        print = fingerprint(print, &s->places[i].bytes, sizeof(s->places[i].bytes));
        print = fingerprint(print, &s->places[i].label, sizeof(s->places[i].label));
        if (s->places[i].fields != NULL)
            print = fingerprint(print, s->places[i].fields, strlen(s->places[i].fields) + 1);
    }
    for (size_t i = 0; i < s->skip_count; i++) {
        print = fingerprint(print, s->skips[i].path, strlen(s->skips[i].path) + 1);
        print = fingerprint(print, s->skips[i].why, strlen(s->skips[i].why) + 1);
    }
    for (uint32_t i = 0; i < s->classes.count; i++) {
        const struct bytes name = class_list_name(&s->classes, i);
        print = fingerprint(print, name.p, name.n);
    }
    return print;
}

/* The class list is `found` from here on, which becomes empty. */
static enum imrec_status
replace_given(struct job *j, struct class_list *found, struct imrec_error *err)
{
    class_list_free(&j->given);
    j->given = *found;
    *found = (struct class_list){0};
    j->has_given = true;
    return class_list_seal(&j->given, err);
}

/* This share of what was found. */
static void take_share(const struct imrec_pack_options *p, struct job *j)
{
    const uint64_t n = j->scan.file_count, count = (uint64_t)p->part.count;
    j->next = j->first = share_begin(n, (uint64_t)p->part.index, count);
    j->images = share_begin(n, (uint64_t)p->part.index + 1, count) - j->first;
    j->fingerprint = scan_fingerprint(&j->scan, j->fingerprint);
}

static enum imrec_status
check_no_archives(const struct imrec_pack_options *p, struct imrec_error *err)
{
    return p->image_ext[0] == '\0' && p->label_ext[0] == '\0' && p->label_offset == 0 &&
                   p->archive_errors == IMREC_ARCHIVE_SKIP
               ? IMREC_OK
               : IMREC_REFUSE(err, "image_ext, label_ext, label_offset and archive_errors are for "
                                   "tar archives and TFRecord files");
}

static enum imrec_status
open_folder(const struct job_options *o, struct job *j, struct imrec_error *err)
{
    const struct imrec_pack_options *p = o->pack;
    struct scan_options scan = {
        .root = o->task->root,
        .class_from = p->class_from,
        .exts = p->exts,
        .builtin = image_extensions(),
        .given = j->has_given ? &j->given : NULL,
        .some_classes = o->task->some_classes,
        .new_classes = p->new_classes,
        .go_on = o->go_on,
        .user = o->user,
        .stop = o->stop,
    };
    IMREC_TRY(scan_folder(&scan, &j->scan, err));
    if (p->masks[0] != '\0' && j->scan.file_count == 0) { /* masks seldom go with classes */
        scan_free(&j->scan);
        scan.class_from = IMREC_CLASS_FLAT;
        IMREC_TRY(scan_folder(&scan, &j->scan, err));
    }
    if (p->shuffle)
        folder_shuffle(&j->scan, p->seed);
    take_share(p, j);
    return j->has_given && p->new_classes ? replace_given(j, &j->scan.classes, err) : IMREC_OK;
}

/* ---- archives --------------------------------------------------------------------------- */

static enum imrec_status
check_archives(const struct imrec_pack_options *p, const char *spec, struct imrec_error *err)
{
    const char *wrong = p->list                            ? "list"
                        : p->masks[0] != '\0'              ? "masks"
                        : p->class_from != IMREC_CLASS_TOP ? "class_from"
                        : p->exts[0] != '\0'               ? "exts"
                        : p->new_classes                   ? "new_classes"
                                                           : NULL;
    return wrong == NULL
               ? IMREC_OK
               : IMREC_REFUSE(err, "%s is for folders: %.200s is an archive", wrong, spec);
}

static enum imrec_status hold_packed(struct job *j, struct imrec_error *err)
{
    for (size_t i = 0; i < j->scan.folder_count && j->packed == NULL; i++)
        if (archive_is_packed(j->scan.folders[i].path))
            IMREC_TRY(packed_archives_new(&j->packed, err));
    return IMREC_OK;
}

/* They keep their order, as lists do. */
static enum imrec_status open_archives(const struct job_options *o,
                                       const struct field_names *fields, struct job *j,
                                       struct imrec_error *err)
{
    const struct imrec_pack_options *p = o->pack;
    const struct archive_options all = {.spec = o->task->root,
                                        .image_ext = p->image_ext,
                                        .label_ext = p->label_ext,
                                        .label_offset = p->label_offset,
                                        .builtin = image_extensions(),
                                        .fields = fields,
                                        .errors = p->archive_errors,
                                        .others = &j->others,
                                        .go_on = o->go_on,
                                        .user = o->user,
                                        .stop = o->stop};
    IMREC_TRY(check_archives(p, o->task->root, err));
    IMREC_TRY(archives_scan(&all, &j->scan, &j->archives, err));
    IMREC_TRY(hold_packed(j, err));
    j->unlabelled = archives_without_labels(p);
    j->fields = fields->count;
    take_share(p, j);
    return IMREC_OK;
}

/* The place of image i of the scan, and the label next to it. */
static float place_image(const struct job *j, uint64_t i, struct pack_item *p)
{
    const struct scan_folder *f = &j->scan.folders[j->scan.files[i]->folder];
    const struct scan_place *at = &j->scan.places[i];
    p->place = (struct image_place){(uint32_t)strlen(f->path), at->begin, at->bytes, f->size,
                                    archive_is_examples(f->path)};
    return at->label;
}

/* ---- all of these ----------------------------------------------------------------------- */

static enum imrec_status next_of_scan(struct job *j, struct pack_item *p, struct imrec_error *err)
{
    char path[IMAGE_PATH_MAX];
    if (j->next == j->first + j->images)
        return IMREC_END;
    const uint64_t i = j->next++;
    const struct scan_file *f = j->scan.files[i];
    p->outcome.class_index = j->scan.folders[f->folder].class_index;
    const float label = j->archives != NULL ? place_image(j, i, p) : (float)p->outcome.class_index;
    scan_path(&j->scan, f, path);
    p->id = f->id;
    p->label_count = 1;
    const char *fields = j->fields != 0 ? j->scan.places[i].fields : "";
    IMREC_TRY(buf_append(&p->labels, &label, sizeof(label), err));
    IMREC_TRY(buf_append(&p->text, fields, strlen(fields), err));
    IMREC_TRY(buf_append(&p->text, path, strlen(path), err));
    p->columns = (struct bytes){p->text.p, strlen(fields)};
    p->path = (struct bytes){p->text.p + p->columns.n, strlen(path)};
    return IMREC_OK;
}

/* With a class list the label of a line that has one must be the number of a class. */
static void check_label(const struct job *j, struct pack_item *p)
{
    if (p->outcome.reason != REASON_NONE || !j->has_given)
        return;
    p->class_count = j->given.count;
    if (!p->place.example) /* whose label is read with its image */
        (void)pack_item_check_class(p);
}

static enum imrec_status next_image(struct job *j, struct pack_item *p, struct imrec_error *err)
{
    pack_item_begin(p);
    IMREC_TRY(j->list != NULL ? list_next(j->list, p, err) : next_of_scan(j, p, err));
    if (j->scanned)
        p->line = 0;
    if (j->places && p->outcome.reason == REASON_NONE && !image_place_take(&p->path, &p->place))
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "a line of the plan's list names no place in an archive");
    p->outcome.unlabelled = j->unlabelled;
    if (!j->unlabelled && (j->list != NULL || j->archives != NULL))
        check_label(j, p);
    return IMREC_OK;
}

static enum imrec_status
copy_parcel(const struct pack_item *from, struct pack_item *to, struct imrec_error *err)
{
    pack_item_begin(to);
    to->line = from->line;
    to->id = from->id;
    to->label_count = from->label_count;
    to->class_count = from->class_count;
    to->outcome = from->outcome;
    to->failed = from->failed;
    memcpy(to->why, from->why, sizeof(to->why));
    IMREC_TRY(buf_append(&to->labels, from->labels.p, from->labels.n, err));
    IMREC_TRY(buf_append(&to->text, from->text.p, from->text.n, err));
    to->path = (struct bytes){to->text.p + (from->text.n - from->path.n), from->path.n};
    to->columns = (struct bytes){to->text.p, from->columns.n};
    to->place = from->place;
    return IMREC_OK;
}

/* Each image comes as often as there are copies of it, one after the other. */
enum imrec_status job_next(struct job *j, struct pack_item *p, struct imrec_error *err)
{
    if (j->copies == 1)
        return next_image(j, p, err);
    if (j->copy == 0)
        IMREC_TRY(next_image(j, &j->last, err));
    IMREC_TRY(copy_parcel(&j->last, p, err));
    p->copy = j->copy;
    j->copy = (j->copy + 1) % j->copies;
    if (p->outcome.reason == REASON_NONE && p->id > (UINT64_MAX - p->copy) / j->copies)
        pack_item_skip(p, REASON_LINE, "the id is too large for %" PRIu64 " copies", j->copies);
    p->id = p->id * j->copies + p->copy;
    return IMREC_OK;
}

void job_rewind(struct job *j)
{
    j->next = j->first;
    j->copy = 0;
    if (j->list != NULL)
        list_rewind(j->list);
}

#define CLASS_FILE_MAX ((size_t)1 << 30)

enum imrec_status job_load_classes(const char *path, struct job *j, struct imrec_error *err)
{
    uint8_t *text;
    size_t n;
    IMREC_TRY(source_load(path, CLASS_FILE_MAX, &text, &n, err));
    j->fingerprint = fingerprint(j->fingerprint, text, n);
    const enum imrec_status st = class_list_read(path, (struct bytes){text, n}, &j->given, err);
    imrec_free(text);
    j->has_given = st == IMREC_OK;
    return st;
}

/* ---- annotations ------------------------------------------------------------------------ */

#define LIST_TEXT_MAX ((size_t)1 << 36)

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

void job_warn(const struct job *j, const struct job_options *o)
{
    const char *name = o->pack->annotations;
    other_names_warn(&j->others);
    if (j->without_area != 0)
        imrec_log(IMREC_LOG_WARNING,
                  "%s: objects without an area inside their image: %" PRIu64 ", skipped", name,
                  j->without_area);
    if (j->without_object != 0 && o->pack->drop_empty)
        imrec_log(IMREC_LOG_WARNING, "%s: images without an object: %" PRIu64 ", skipped", name,
                  j->without_object);
    else if (j->without_object != 0) /* MXNet 1.9.1: Check failed: label_width >= 7 (2 vs. 7) */
        imrec_log(IMREC_LOG_WARNING,
                  "%s: images without an object: %" PRIu64 ", packed without a box (MXNet's "
                  "ImageDetRecordIter stops at such a label; drop_empty leaves them out)",
                  name, j->without_object);
}

enum imrec_status job_nothing(const struct job *j, const struct imrec_pack_task *task,
                              const struct imrec_pack_options *pack, struct imrec_error *err)
{
    const char *list = pack->annotations[0] != '\0' ? pack->annotations : task->list;
    const char *what = list != NULL ? list : task->root;
    char others[64] = "";
    if (pack->part.count != 1)
        return imrec_fail(err, IMREC_ERR_DATA,
                          "share %" PRId64 " of %" PRId64 " of %s holds no images",
                          pack->part.index, pack->part.count, what);
    if (list != NULL)
        return imrec_fail(err, IMREC_ERR_DATA, "%s names no images", what);
    if (j->scan.ignored_folders != 0)
        return imrec_fail(err, IMREC_ERR_DATA,
                          "%s holds no images itself, and class_from=flat ignores the folders in "
                          "it: leave it out, or give one of these",
                          what);
    if (j->scan.other_files != 0)
        snprintf(others, sizeof(others), "; other files in it: %" PRIu64, j->scan.other_files);
    return imrec_fail(err, IMREC_ERR_DATA, "%s holds no images%s", what, others);
}

static enum imrec_status annotation_list(const char *path, const struct imrec_pack_options *p,
                                         struct job *j, struct buf *text, struct imrec_error *err)
{
    struct annotations b;
    struct class_list found = {0};
    const struct annotations_order how = {p->shuffle, p->seed, j->has_given ? &j->given : NULL,
                                          p->new_classes, p->drop_empty};
    if (is_folder(path) && p->keypoints != 0)
        return IMREC_REFUSE(err, "%s: Pascal VOC's annotations have no keypoints", path);
    IMREC_TRY(is_folder(path) ? annotations_read_voc(path, &b, err)
                              : annotations_read_coco(path, (uint32_t)p->keypoints, &b, err));
    enum imrec_status st = annotations_write(&b, &how, text, &found, err);
    j->without_object = b.without;
    j->without_area = b.empty;
    annotations_free(&b);
    if (st == IMREC_OK && (!j->has_given || p->new_classes))
        st = replace_given(j, &found, err);
    class_list_free(&found);
    return st;
}

/* The list that the annotations amount to. */
static enum imrec_status
open_annotations(const struct job_options *o, struct job *j, struct imrec_error *err)
{
    const struct imrec_pack_options *p = o->pack;
    struct buf text = BUF_INIT(LIST_TEXT_MAX);
    struct source *source;
    const enum imrec_status st = annotation_list(p->annotations, p, j, &text, err);
    if (st != IMREC_OK) {
        buf_free(&text);
        return st;
    }
    for (uint32_t i = 0; i < j->given.count; i++) {
        const struct bytes name = class_list_name(&j->given, i);
        j->fingerprint = fingerprint(j->fingerprint, name.p, name.n);
    }
    IMREC_TRY(text_source_open(&text, &source, err));
    return list_open(p->annotations, source, 0, p->part, o->stop, &j->list, &j->images,
                     &j->fingerprint, err);
}

static enum imrec_status open_job(const struct job_options *o, const struct item_fields *fields,
                                  struct job *out, struct imrec_error *err)
{
    const struct imrec_pack_options *p = o->pack;
    enum imrec_status st = IMREC_OK;
    const uint32_t columns = fields->columns.count;
    const bool archives =
        p->annotations[0] == '\0' && o->task->list == NULL && archives_are(o->task->root);
    *out = (struct job){.fingerprint = pack_options_fingerprint(p, FINGERPRINT_START)};
    if (!archives)
        IMREC_TRY(check_no_archives(p, err));
    if (!archives || !archives_are_examples(o->task->root))
        IMREC_TRY(item_fields_check_files(fields, err));
    if (columns != 0 && o->task->list == NULL)
        return IMREC_REFUSE(err, "columns are those of a list: %.200s is %s", o->task->root,
                            archives ? "an archive" : "a folder");
    if (p->classes[0] != '\0')
        st = job_load_classes(p->classes, out, err);
    if (st == IMREC_OK && p->annotations[0] != '\0')
        st = open_annotations(o, out, err);
    else if (st == IMREC_OK && o->task->list == NULL)
        st = archives ? open_archives(o, &fields->names, out, err) : open_folder(o, out, err);
    else if (st == IMREC_OK)
        st = list_open(o->task->list, NULL, (uint32_t)p->label_width, p->part, o->stop, &out->list,
                       &out->images, &out->fingerprint, err);
    if (st == IMREC_OK && out->list != NULL)
        list_take_columns(out->list, columns);
    if (st == IMREC_OK && out->list != NULL)
        out->widest = list_widest(out->list);
    if (st == IMREC_OK && out->list != NULL && !p->pack_label)
        list_pack_first(out->list);
    out->copies = (uint64_t)p->copies;
    if (st == IMREC_OK && out->images > UINT64_MAX / out->copies)
        st = imrec_fail(err, IMREC_ERR_LIMIT, "too many copies");
    out->total = out->images * out->copies;
    if (st != IMREC_OK)
        job_close(out);
    return st;
}

enum imrec_status job_open(const struct job_options *o, struct job *out, struct imrec_error *err)
{
    struct item_fields fields;
    enum imrec_status st = item_fields_names(&fields, o->pack, err);
    *out = (struct job){0};
    if (st == IMREC_OK)
        st = open_job(o, &fields, out, err);
    item_fields_free(&fields);
    return st;
}

void job_close(struct job *j)
{
    pack_item_free(&j->last);
    scan_free(&j->scan);
    list_close(j->list);
    imrec_free(j->archives);
    packed_archives_free(j->packed);
    class_list_free(&j->given);
    *j = (struct job){0};
}

uint64_t job_found(const struct job *j, const struct imrec_pack_options *o)
{
    return j->total + (o->part.index == 0 ? j->scan.skip_count : 0);
}

const char *job_root(const struct job *j, const struct imrec_pack_task *t)
{
    return j->archives != NULL ? j->archives : t->root;
}

const struct class_list *job_classes(const struct job *j)
{
    const struct class_list *l = j->has_given ? &j->given : &j->scan.classes;
    return l->count != 0 ? l : NULL;
}
