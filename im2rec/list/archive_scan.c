/* im2rec/list/archive_scan.c */
#include "im2rec/list/archive_scan.h"

#include "base/alloc.h"
#include "base/error.h"
#include "container/archive/tfrecord_walk.h"
#include "im2rec/item/packed_archive.h"
#include "im2rec/list/archive_sample.h"
#include "storage/at_once.h"
#include "storage/packed/gzip_source.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NO_LABEL       "none" /* as label_ext */
#define AT_ONCE        64u
#define AT_ONCE_PACKED 4u    /* each holds GZIP_HELD_BYTES */
#define GO_ON_EVERY    4096u /* samples */

bool archives_without_labels(const struct imrec_pack_options *o)
{
    return strcmp(o->label_ext, NO_LABEL) == 0;
}

/* ---- an archive --------------------------------------------------------------------------- */

struct look { /* at one */
    const struct archive_options *o;
    struct sample_rules rules;
    const char *uri, *name; /* of it, and below the root */
    struct source *packed;  /* that of gzip around it; NULL: it is not packed */
    struct scan found;
    struct other_names others;
    uint64_t samples;
    size_t name_most;   /* bytes of a name in the archive */
    bool calls;         /* go_on() */
    bool after_damage;  /* comes the next sample */
    bool packed_failed; /* what is wrong with the gzip around it was found */
    uint64_t before;
};

static enum imrec_status no_memory(const struct look *k, struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory for the list of %.200s after %zu images", k->name,
                           k->found.file_count);
}

static enum imrec_status
skip(struct look *k, const char *name, enum reason reason, const char *why, struct imrec_error *err)
{
    return scan_add_skip(&k->found, k->name, name, reason, why) ? IMREC_OK : no_memory(k, err);
}

/* Whether the sample lies next to damage, which may have cost it a file. */
static bool may_lack(const struct tar_samples *s, bool after_damage)
{
    const bool before_damage =
        s->pending && s->status != IMREC_OK && (s->status != IMREC_END || !s->walk.ended);
    return after_damage || before_damage;
}

/* Names that no list can have are skipped in any case. */
static bool is_refused(const struct look *k, const struct tar_samples *s, enum reason reason)
{
    return k->o->errors != IMREC_ARCHIVE_SKIP && !may_lack(s, k->after_damage) &&
           (reason == REASON_MISSING || reason == REASON_LABEL || reason == REASON_FIELD ||
            reason == REASON_LINK);
}

static enum imrec_status refuse_sample(const struct look *k, const char *name, enum reason reason,
                                       const char *why, struct imrec_error *err)
{
    const char *right =
        reason == REASON_LABEL
            ? "; label_ext=EXT names another file, label_ext=none packs without labels"
        : reason == REASON_LINK ? ": write the archive with --hard-dereference (or --dereference)"
                                : "";
    const size_t n = strlen(name), most = 100; /* its end says more */
    const enum imrec_status st =
        imrec_fail(err, reason == REASON_LINK ? IMREC_ERR_UNSUPPORTED : IMREC_ERR_ARGUMENT,
                   "%.150s: %s%s: %.150s%s", k->uri, n > most ? "..." : "",
                   n > most ? name + n - most : name, why, right);
    imrec_error_file(err, k->uri);
    return st;
}

static enum imrec_status take(struct look *k, const struct tar_samples *s,
                              const struct sample_files *f, struct imrec_error *err)
{
    char why[SAMPLE_WHY_BYTES];
    char fields[SAMPLE_FIELDS_BYTES];
    struct scan_place place = {0};
    const char *name = f->image != NULL ? tar_part_name(s, f->image) : s->key;
    const enum reason reason = sample_judge(&k->rules, s, f, k->name_most, &place.label, why);
    if (is_refused(k, s, reason))
        return refuse_sample(k, name, reason, why, err);
    if (reason != REASON_NONE)
        return skip(k, name, reason, why, err);
    if (k->samples > UINT32_MAX)
        return imrec_fail(err, IMREC_ERR_LIMIT, "%.200s has more than 2^32 samples", k->name);
    place.begin = f->image->content;
    place.bytes = f->image->bytes;
    if (k->rules.fields->count != 0) {
        sample_field_places(&k->rules, f, fields);
        place.fields = fields;
    }
    return scan_add_file(&k->found, 0, (uint32_t)k->samples, name, &place) ? IMREC_OK
                                                                           : no_memory(k, err);
}

/* .hidden.jpg has none. */
static bool has_key(const struct tar_samples *s)
{
    const size_t n = strlen(s->key);
    return n != 0 && s->key[n - 1] != '/';
}

/* One more was found. */
static enum imrec_status count_sample(struct look *k, struct imrec_error *err)
{
    k->samples++;
    if (k->samples % GO_ON_EVERY != 0 || !k->calls || k->o->go_on == NULL ||
        k->o->go_on(k->o->user, k->before + k->samples))
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_CANCELLED, "interrupted while looking through %.200s",
                      k->name);
}

static enum imrec_status
take_sample(struct look *k, const struct tar_samples *s, struct imrec_error *err)
{
    struct sample_files f;
    IMREC_TRY(sample_choose(&k->rules, s, k->uri, &k->others, &f, err));
    if (!has_key(s))
        other_names_add(&k->others, "", tar_part_name(s, &s->parts[0]));
    if (!has_key(s) || (f.image == NULL && f.label == NULL)) {
        k->found.other_files += s->count; /* a README.md */
        return IMREC_OK;
    }
    k->found.other_files += f.others;
    IMREC_TRY(take(k, s, &f, err));
    k->after_damage = false;
    return count_sample(k, err);
}

/* ---- what is wrong with it ---------------------------------------------------------------- */

/* The program that unpacks what begins so; NULL: it is no archive that another one has packed. */
static const char *unpacked_by(const uint8_t first[8], const char **format)
{
    static const struct {
        const char *begin, *format, *program;
    } packed[] = {{"\x1f\x8b\x08", "gzip", "gunzip (or call it .tar.gz)"},
                  {"\x28\xb5\x2f\xfd", "zstd", "zstd -d"},
                  {"BZh", "bzip2", "bunzip2"},
                  {"\xfd"
                   "7zXZ",
                   "xz", "unxz"},
                  {"PK\x03\x04", "zip", "unzip"}};
    for (size_t i = 0; i < sizeof(packed) / sizeof(packed[0]); i++) {
        *format = packed[i].format;
        if (memcmp(first, packed[i].begin, strlen(packed[i].begin)) == 0)
            return packed[i].program;
    }
    return NULL;
}

/* Of one that is packed in another way than gzip nothing can be read. The first file of a tar may
 * be called BZhang.jpg. */
static enum imrec_status
check_begin(const struct look *k, struct tar_walk *w, struct imrec_error *err)
{
    uint8_t first[TAR_BLOCK];
    const size_t n = w->size < sizeof(first) ? (size_t)w->size : sizeof(first);
    const char *format;
    if (n < 8 || tar_walk_read(w, 0, first, n, NULL) != IMREC_OK)
        return IMREC_OK;
    const char *program = unpacked_by(first, &format);
    if (program == NULL || tar_is_magic((struct bytes){first, n}))
        return IMREC_OK;
    (void)imrec_error_at(err, IMREC_ERR_UNSUPPORTED, 0,
                         "%.200s is packed by %s: unpack it with %s first", k->uri, format,
                         program);
    imrec_error_file(err, k->uri);
    return IMREC_ERR_UNSUPPORTED;
}

/* It ends the run, or is skipped. */
static enum imrec_status
take_damage(struct look *k, const struct imrec_error *of, struct imrec_error *err)
{
    char why[SAMPLE_WHY_BYTES];
    const bool odd = of->status == IMREC_ERR_UNSUPPORTED;
    snprintf(why, sizeof(why), "byte %" PRIu64 ": %.300s", of->offset, of->message);
    if (k->o->errors == IMREC_ARCHIVE_SKIP || (!odd && k->o->errors == IMREC_ARCHIVE_SKIP_DAMAGE))
        return skip(k, "", odd ? REASON_UNSUPPORTED : REASON_DAMAGED, why, err);
    (void)imrec_error_at(err, of->status, of->offset, "%.150s: %.250s%s", k->uri, why,
                         odd ? ": write the archive with --dereference, --hard-dereference and "
                               "without --sparse"
                             : "");
    imrec_error_file(err, k->uri);
    return of->status;
}

/* What is wrong with the gzip around it; it is reported once. */
static enum imrec_status take_packed(struct look *k, bool *failed, struct imrec_error *err)
{
    struct imrec_error why;
    const enum imrec_status st = k->packed != NULL ? gzip_source_damage(k->packed, &why) : IMREC_OK;
    const bool before = k->packed_failed;
    *failed = k->packed_failed = st != IMREC_OK;
    if (st == IMREC_OK || before)
        return IMREC_OK;
    if (st != IMREC_ERR_CORRUPT) {
        if (err != NULL)
            *err = why;
        return st;
    }
    return take_damage(k, &why, err);
}

/* After damage a sample's number is passed over, as it is where archives are read. */
static enum imrec_status take_wrong(struct look *k, struct tar_walk *w,
                                    const struct imrec_error *of, struct imrec_error *err)
{
    bool packed_failed;
    k->samples++;
    k->after_damage = true;
    if (of->offset == 0)
        IMREC_TRY(check_begin(k, w, err));
    IMREC_TRY(take_packed(k, &packed_failed, err));
    return packed_failed ? IMREC_OK : take_damage(k, of, err);
}

static enum imrec_status take_end(struct look *k, const struct tar_walk *w, struct imrec_error *err)
{
    struct imrec_error why;
    bool packed_failed;
    IMREC_TRY(take_packed(k, &packed_failed, err));
    if (packed_failed || w->ended)
        return IMREC_OK;
    (void)imrec_error_at(&why, IMREC_ERR_CORRUPT, w->size,
                         w->size == 0 ? "the file is empty: it is no archive"
                                      : "the archive is cut off here, or without the blocks of "
                                        "zeros that end one");
    return take_damage(k, &why, err);
}

static enum imrec_status
look_through(struct look *k, struct tar_samples *s, struct imrec_error *err)
{
    for (;;) {
        struct imrec_error why;
        IMREC_TRY(stop_check(k->o->stop, err));
        const enum imrec_status st = tar_samples_next(s, &why);
        if (st == IMREC_END)
            return take_end(k, &s->walk, err);
        if (st == IMREC_OK) {
            IMREC_TRY(take_sample(k, s, err));
        } else if (st == IMREC_ERR_NO_MEMORY) {
            return no_memory(k, err);
        } else {
            IMREC_TRY(take_wrong(k, &s->walk, &why, err));
        }
    }
}

/* An archive that is read, and its samples. */
struct reading {
    struct source *source;
    bool packed;
    struct tar_samples *samples;
};

static void reading_end(struct reading *r)
{
    if (r->samples != NULL)
        tar_samples_end(r->samples);
    source_close(r->source);
    imrec_free(r->samples);
}

static enum imrec_status reading_begin(const char *uri, struct reading *r, struct imrec_error *err)
{
    *r = (struct reading){.samples = imrec_zalloc(1, sizeof(*r->samples))};
    if (r->samples == NULL)
        return IMREC_NO_MEMORY(err, "no memory to look through %.200s", uri);
    enum imrec_status st = archive_source_open(uri, &r->source, &r->packed, err);
    if (st == IMREC_OK)
        st = tar_samples_begin(r->samples, r->source, r->packed ? 0 : r->source->size,
                               source_is_far(uri), err);
    r->samples->keep = SAMPLE_LABEL_MOST;
    r->samples->walk.reach = r->packed ? gzip_source_reach : NULL;
    if (st != IMREC_OK)
        reading_end(r);
    return st;
}

/* ---- a TFRecord file ---------------------------------------------------------------------- */

/* Heads alone are read: labels and fields come with the images. */
static enum imrec_status
list_examples(struct look *k, struct tfrecord_walk *w, struct imrec_error *err)
{
    char tabs[FIELD_NAMES_MOST] = ""; /* columns of fields, all of them empty */
    for (uint32_t i = 1; i < k->rules.fields->count; i++)
        tabs[i - 1] = '\t';
    for (;;) {
        struct imrec_error why;
        struct scan_place place = {0};
        char name[24];
        IMREC_TRY(stop_check(k->o->stop, err));
        const enum imrec_status st = tfrecord_walk_next(w, &place.begin, &place.bytes, &why);
        if (st == IMREC_END)
            return IMREC_OK;
        if (st != IMREC_OK && st != IMREC_ERR_CORRUPT) {
            if (err != NULL)
                *err = why;
            return st;
        }
        if (k->samples > UINT32_MAX)
            return imrec_fail(err, IMREC_ERR_LIMIT, "%.200s has more than 2^32 records", k->name);
        (void)snprintf(name, sizeof(name), "%" PRIu64, k->samples);
        place.fields = k->rules.fields->count != 0 ? tabs : NULL;
        why.offset = place.begin;
        if (st != IMREC_OK)
            IMREC_TRY(take_damage(k, &why, err));
        else if (!scan_add_file(&k->found, 0, (uint32_t)k->samples, name, &place))
            return no_memory(k, err);
        IMREC_TRY(count_sample(k, err));
    }
}

static enum imrec_status look_at_examples(struct look *k, struct imrec_error *err)
{
    struct source *source;
    struct tfrecord_walk w;
    IMREC_TRY(source_open(k->uri, &source, err));
    enum imrec_status st =
        scan_add_folder(&k->found, k->name, -1, source->size) ? IMREC_OK : no_memory(k, err);
    if (st == IMREC_OK)
        st = tfrecord_walk_begin(&w, source, source->size, source_is_far(k->uri), err);
    if (st == IMREC_OK) {
        st = list_examples(k, &w, err);
        tfrecord_walk_end(&w);
    }
    source_close(source);
    return st;
}

static enum imrec_status look_at(struct look *k, const char *uri, struct imrec_error *err)
{
    struct reading r;
    if (archive_is_examples(k->name))
        return look_at_examples(k, err);
    IMREC_TRY(reading_begin(uri, &r, err));
    k->packed = r.packed ? r.source : NULL;
    const enum imrec_status st = scan_add_folder(&k->found, k->name, -1, 0)
                                     ? look_through(k, r.samples, err)
                                     : no_memory(k, err);
    if (st == IMREC_OK)
        k->found.folders[0].size = r.samples->walk.size;
    k->packed = NULL;
    reading_end(&r);
    return st;
}

/* ---- all of them -------------------------------------------------------------------------- */

struct archives {
    const struct archive_options *o;
    const struct uri_list *list;
    struct sample_rules rules;
    size_t below; /* bytes of the root in their names */
    bool packed;  /* one of them is called like one that gzip has packed */
    size_t first; /* of those that are looked at */
    struct look looks[AT_ONCE];
};

static enum imrec_status look_at_one(void *context, uint32_t i, struct imrec_error *err)
{
    struct archives *a = context;
    return look_at(&a->looks[i], a->list->uri[a->first + i], err);
}

/* Appends what was found in an archive, whose samples come after `samples` others. */
static enum imrec_status
join(struct look *k, uint64_t samples, struct scan *out, struct imrec_error *err)
{
    const uint32_t folder = (uint32_t)out->folder_count;
    const struct scan *s = &k->found;
    if (folder == 0) { /* there may be no other one: it is not copied */
        *out = k->found;
        k->found = (struct scan){0};
        return IMREC_OK;
    }
    if (samples + k->samples > UINT32_MAX || folder == UINT32_MAX)
        return imrec_fail(err, IMREC_ERR_LIMIT, "%.200s: more than 2^32 samples", k->name);
    bool kept = scan_add_folder(out, k->name, -1, s->folders[0].size);
    for (size_t i = 0; kept && i < s->file_count; i++)
        kept = scan_add_file(out, folder, (uint32_t)samples + s->files[i]->id, s->files[i]->name,
                             &s->places[i]);
    for (size_t i = 0; kept && i < s->skip_count; i++)
        kept = scan_add_skip(out, s->skips[i].path, "", s->skips[i].reason, s->skips[i].why);
    out->other_files += s->other_files;
    return kept ? IMREC_OK : no_memory(k, err);
}

/* Up to AT_ONCE archives, at once if they are far. */
static enum imrec_status
look_at_some(struct archives *a, uint64_t *samples, struct scan *out, struct imrec_error *err)
{
    const bool far = source_is_far(a->list->uri[0]);
    const size_t left = a->list->count - a->first;
    const size_t most = !far ? 1 : a->packed ? AT_ONCE_PACKED : AT_ONCE;
    const uint32_t n = (uint32_t)(left < most ? left : most);
    for (uint32_t i = 0; i < n; i++) {
        const char *uri = a->list->uri[a->first + i];
        const size_t path = strlen(uri) + 2;
        a->looks[i] =
            (struct look){.o = a->o,
                          .rules = a->rules,
                          .uri = uri,
                          .name = uri + a->below,
                          .name_most = path < SCAN_PATH_BYTES ? SCAN_PATH_BYTES - path : 0,
                          .calls = !far,
                          .before = *samples};
    }
    enum imrec_status st = at_once(n, far, look_at_one, a, err);
    for (uint32_t i = 0; i < n; i++) {
        if (st == IMREC_OK)
            st = join(&a->looks[i], *samples, out, err);
        if (a->o->others != NULL)
            other_names_join(a->o->others, &a->looks[i].others);
        *samples += a->looks[i].samples;
        scan_free(&a->looks[i].found);
    }
    a->first += n;
    if (st == IMREC_OK && a->o->go_on != NULL && !a->o->go_on(a->o->user, *samples))
        st = imrec_fail(err, IMREC_ERR_CANCELLED, "interrupted while looking through %.200s",
                        a->o->spec);
    return st;
}

/* ---- which label -------------------------------------------------------------------------- */

static enum imrec_status
no_label(const char *uri, const struct tar_samples *s, struct imrec_error *err)
{
    char has[200];
    sample_extensions(s, has, sizeof(has));
    (void)IMREC_REFUSE(err,
                       "%.200s: sample '%.200s' has no label .cls: it has %s; name another file "
                       "with label_ext=EXT, or pack without labels, label_ext=none",
                       uri, s->key, has);
    imrec_error_file(err, uri);
    return IMREC_ERR_ARGUMENT;
}

/* That of the first sample with an image. */
static enum imrec_status
find_label(struct archives *a, const char *uri, struct tar_samples *s, struct imrec_error *err)
{
    struct sample_files f;
    enum imrec_status st;
    bool after_damage = false;
    while ((st = tar_samples_next(s, err)) != IMREC_END) {
        IMREC_TRY(st == IMREC_ERR_NO_MEMORY ? st : stop_check(a->o->stop, err));
        const bool lacks = st != IMREC_OK || may_lack(s, after_damage);
        after_damage = st != IMREC_OK;
        if (st != IMREC_OK)
            continue; /* it is reported when it is looked at */
        IMREC_TRY(sample_choose(&a->rules, s, uri, NULL, &f, err));
        if (f.image == NULL || !has_key(s))
            continue;
        a->rules.label_ext = sample_usual_label(s);
        if (a->rules.label_ext == NULL && lacks)
            continue;
        return a->rules.label_ext != NULL ? IMREC_OK : no_label(uri, s, err);
    }
    return IMREC_OK;
}

static enum imrec_status find_label_in(struct archives *a, const char *uri, struct imrec_error *err)
{
    struct reading r;
    IMREC_TRY(reading_begin(uri, &r, err));
    const enum imrec_status st = find_label(a, uri, r.samples, err);
    reading_end(&r);
    return st;
}

static enum imrec_status choose_label(struct archives *a, struct imrec_error *err)
{
    const char *given = a->o->label_ext, **label_ext = &a->rules.label_ext;
    if (strcmp(given, NO_LABEL) == 0)
        return IMREC_OK;
    *label_ext = given[0] != '\0' ? given : NULL;
    for (size_t i = 0; *label_ext == NULL && i < a->list->count; i++)
        if (!archive_is_examples(a->list->uri[i]))
            IMREC_TRY(find_label_in(a, a->list->uri[i], err));
    *label_ext = *label_ext != NULL ? *label_ext : "cls"; /* no sample has an image */
    return IMREC_OK;
}

static const struct field_names no_fields;

static enum imrec_status scan_list(const struct archive_options *o, const struct uri_list *l,
                                   struct scan *out, char **root, struct imrec_error *err)
{
    uint64_t samples = 0;
    size_t below;
    struct archives *a = imrec_zalloc(1, sizeof(*a));
    *root = archives_folder(l, &below);
    enum imrec_status st = a != NULL && *root != NULL
                               ? IMREC_OK
                               : IMREC_NO_MEMORY(err, "no memory for the list of %.200s", o->spec);
    if (st == IMREC_OK) {
        *a = (struct archives){.o = o,
                               .list = l,
                               .rules = {.image_ext = o->image_ext,
                                         .builtin = o->builtin,
                                         .label_offset = o->label_offset,
                                         .fields = o->fields != NULL ? o->fields : &no_fields},
                               .below = below};
        for (size_t i = 0; i < l->count; i++)
            a->packed |= archive_is_packed(l->uri[i]);
        st = choose_label(a, err);
    }
    while (st == IMREC_OK && a->first < l->count)
        st = look_at_some(a, &samples, out, err);
    imrec_free(a);
    return st;
}

enum imrec_status archives_scan(const struct archive_options *o, struct scan *out, char **root,
                                struct imrec_error *err)
{
    struct uri_list l = {0};
    *out = (struct scan){0};
    *root = NULL;
    enum imrec_status st = archives_list(o->spec, &l, err);
    if (st == IMREC_OK)
        st = scan_list(o, &l, out, root, err);
    uri_list_free(&l);
    if (st != IMREC_OK) {
        scan_free(out);
        imrec_free(*root);
        *root = NULL;
    }
    return st;
}
