/* im2rec/list/archive_scan.c */
#include "im2rec/list/archive_scan.h"

#include "base/alloc.h"
#include "base/error.h"
#include "im2rec/list/archive_sample.h"
#include "storage/at_once.h"
#include "storage/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NO_LABEL    "none" /* as label_ext */
#define AT_ONCE     64u
#define GO_ON_EVERY 4096u /* samples */

bool archives_without_labels(const struct imrec_pack_options *o)
{
    return strcmp(o->label_ext, NO_LABEL) == 0;
}

/* ---- an archive --------------------------------------------------------------------------- */

struct look { /* at one */
    const struct archive_options *o;
    struct sample_rules rules;
    const char *name; /* below the root */
    struct scan found;
    uint64_t samples;
    size_t name_most; /* bytes of a name in the archive */
    bool calls;       /* go_on() */
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

static enum imrec_status take(struct look *k, const struct tar_samples *s,
                              const struct sample_files *f, struct imrec_error *err)
{
    char why[SAMPLE_WHY_BYTES];
    char fields[SAMPLE_FIELDS_BYTES];
    struct scan_place place = {0};
    const char *name = f->image != NULL ? tar_part_name(s, f->image) : s->key;
    const enum reason reason = sample_judge(&k->rules, s, f, k->name_most, &place.label, why);
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

static enum imrec_status
take_sample(struct look *k, const struct tar_samples *s, struct imrec_error *err)
{
    struct sample_files f;
    IMREC_TRY(sample_choose(&k->rules, s, k->name, &f, err));
    if (!has_key(s) || (f.image == NULL && f.label == NULL)) {
        k->found.other_files += s->count; /* a README.md */
        return IMREC_OK;
    }
    k->found.other_files += f.others;
    IMREC_TRY(take(k, s, &f, err));
    k->samples++;
    if (k->samples % GO_ON_EVERY != 0 || !k->calls || k->o->go_on == NULL ||
        k->o->go_on(k->o->user, k->before + k->samples))
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_CANCELLED, "interrupted while looking through %.200s",
                      k->name);
}

static enum imrec_status
take_damage(struct look *k, const struct imrec_error *of, struct imrec_error *err)
{
    char why[SAMPLE_WHY_BYTES];
    snprintf(why, sizeof(why), "byte %" PRIu64 ": %.300s", of->offset, of->message);
    k->samples++;
    return skip(k, "", of->status == IMREC_ERR_UNSUPPORTED ? REASON_UNSUPPORTED : REASON_DAMAGED,
                why, err);
}

static enum imrec_status
look_through(struct look *k, struct tar_samples *s, struct imrec_error *err)
{
    for (;;) {
        struct imrec_error why;
        IMREC_TRY(stop_check(k->o->stop, err));
        const enum imrec_status st = tar_samples_next(s, &why);
        if (st == IMREC_END)
            return IMREC_OK;
        if (st == IMREC_OK) {
            IMREC_TRY(take_sample(k, s, err));
        } else if (st == IMREC_ERR_NO_MEMORY) {
            return no_memory(k, err);
        } else {
            IMREC_TRY(take_damage(k, &why, err));
        }
    }
}

/* An archive that is read, and its samples. */
struct reading {
    struct source *source;
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
    enum imrec_status st = source_open(uri, &r->source, err);
    if (st == IMREC_OK)
        st = tar_samples_begin(r->samples, r->source, r->source->size, source_is_far(uri), err);
    r->samples->keep = SAMPLE_LABEL_MOST;
    if (st != IMREC_OK)
        reading_end(r);
    return st;
}

static enum imrec_status look_at(struct look *k, const char *uri, struct imrec_error *err)
{
    struct reading r;
    IMREC_TRY(reading_begin(uri, &r, err));
    const enum imrec_status st = scan_add_folder(&k->found, k->name, -1, r.source->size)
                                     ? look_through(k, r.samples, err)
                                     : no_memory(k, err);
    reading_end(&r);
    return st;
}

/* ---- all of them -------------------------------------------------------------------------- */

struct archives {
    const struct archive_options *o;
    const struct uri_list *list;
    struct sample_rules rules;
    size_t below; /* bytes of the root in their names */
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
    const size_t left = a->list->count - a->first, most = far ? AT_ONCE : 1;
    const uint32_t n = (uint32_t)(left < most ? left : most);
    for (uint32_t i = 0; i < n; i++) {
        const char *uri = a->list->uri[a->first + i];
        const size_t path = strlen(uri) + 2;
        a->looks[i] =
            (struct look){.o = a->o,
                          .rules = a->rules,
                          .name = uri + a->below,
                          .name_most = path < SCAN_PATH_BYTES ? SCAN_PATH_BYTES - path : 0,
                          .calls = !far,
                          .before = *samples};
    }
    enum imrec_status st = at_once(n, far, look_at_one, a, err);
    for (uint32_t i = 0; i < n; i++) {
        if (st == IMREC_OK)
            st = join(&a->looks[i], *samples, out, err);
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
    return IMREC_REFUSE(err,
                        "%.200s: sample '%.200s' has no label .cls: it has %s; name another file "
                        "with label_ext=EXT, or pack without labels, label_ext=none",
                        uri, s->key, has);
}

/* That of the first sample with an image. */
static enum imrec_status
find_label(struct archives *a, const char *uri, struct tar_samples *s, struct imrec_error *err)
{
    struct sample_files f;
    enum imrec_status st;
    while ((st = tar_samples_next(s, err)) != IMREC_END) {
        IMREC_TRY(st == IMREC_ERR_NO_MEMORY ? st : stop_check(a->o->stop, err));
        if (st != IMREC_OK)
            continue; /* it is reported when it is looked at */
        IMREC_TRY(sample_choose(&a->rules, s, uri, &f, err));
        if (f.image == NULL || !has_key(s))
            continue;
        a->rules.label_ext = sample_usual_label(s);
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
                                         .fields = o->fields != NULL ? o->fields : &no_fields},
                               .below = below};
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
