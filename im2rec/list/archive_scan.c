/* im2rec/list/archive_scan.c */
#include "im2rec/list/archive_scan.h"

#include "base/alloc.h"
#include "base/error.h"
#include "container/archive/tar_samples.h"
#include "formats/text.h"
#include "storage/at_once.h"
#include "storage/folder.h"
#include "storage/source.h"
#include "storage/uri_list.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define SUFFIX      ".tar"
#define NO_LABEL    "none" /* as label_ext */
#define LABEL_MOST  64u    /* bytes of a number as text */
#define AT_ONCE     64u
#define GO_ON_EVERY 4096u /* samples */
#define NAMES_BYTES 200

static const char *const usual_labels[] = {"cls", "label", "id", NULL};

/* ---- which archives ----------------------------------------------------------------------- */

bool archives_are(const char *spec)
{
    const char *last = strrchr(spec, ';');
    last = source_path(last != NULL ? last + 1 : spec);
    struct stat st;
    const size_t n = source_name_bytes(last), m = strlen(SUFFIX);
    if (n <= m || strncasecmp(last + n - m, SUFFIX, m) != 0)
        return false;
    return source_is_remote(last) || stat(last, &st) != 0 || !S_ISDIR(st.st_mode);
}

bool archives_without_labels(const struct imrec_pack_options *o)
{
    return strcmp(o->label_ext, NO_LABEL) == 0;
}

static enum imrec_status check_names(struct uri_list *l, struct imrec_error *err)
{
    for (size_t i = 0; i < l->count; i++) {
        const char *path = source_path(l->uri[i]);
        if (path != l->uri[i])
            memmove(l->uri[i], path, strlen(path) + 1);
        if (source_name_bytes(l->uri[i]) != strlen(l->uri[i]))
            return IMREC_REFUSE(err,
                                "%.200s: archives are named without a query, because their names "
                                "become those of the images",
                                l->uri[i]);
        if ((l->uri[i][0] == '/') != (l->uri[0][0] == '/') ||
            source_is_remote(l->uri[i]) != source_is_remote(l->uri[0]))
            return IMREC_REFUSE(err,
                                "%.200s and %.200s: archives are named from one place, all from "
                                "the current folder, all from / or all in a store",
                                l->uri[0], l->uri[i]);
    }
    return IMREC_OK;
}

/* Bytes of the folder that all archives are in, with the '/' at its end; 0: none. */
static size_t folder_bytes(const struct uri_list *l)
{
    size_t n = strlen(l->uri[0]);
    for (size_t i = 0; i < l->count; i++) {
        size_t same = 0;
        while (same < n && l->uri[i][same] == l->uri[0][same])
            same++;
        n = same;
        while (n > 0 && l->uri[0][n - 1] != '/')
            n--;
    }
    const char *host = strstr(l->uri[0], "://"); /* a scheme alone is no folder */
    return host != NULL && n <= (size_t)(host - l->uri[0]) + 3 ? 0 : n;
}

/* ---- a sample ----------------------------------------------------------------------------- */

struct look { /* at one archive */
    const struct archive_options *o;
    const char *label_ext;
    const char *name; /* below the root */
    struct scan found;
    uint64_t samples;
    uint64_t room; /* bytes of a name in the archive */
    bool calls;    /* go_on() */
    uint64_t before;
};

static enum imrec_status no_memory(const struct look *k, struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory for the list of %.200s after %zu images", k->name,
                           k->found.file_count);
}

__attribute__((format(printf, 5, 6))) static enum imrec_status
skip(struct look *k, const char *name, enum reason reason, struct imrec_error *err, const char *fmt,
     ...)
{
    char why[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(why, sizeof(why), fmt, ap);
    va_end(ap);
    return scan_add_skip(&k->found, k->name, name, reason, why) ? IMREC_OK : no_memory(k, err);
}

static bool is_extension(const char *extension, const char *wanted)
{
    return strcasecmp(extension, wanted) == 0;
}

static bool is_image(const struct archive_options *o, const char *extension)
{
    if (o->image_ext[0] != '\0')
        return is_extension(extension, o->image_ext);
    const char *dot = strrchr(extension, '.'), *last = dot != NULL ? dot + 1 : extension;
    for (const char *const *e = o->builtin; *e != NULL; e++)
        if (strcasecmp(last, *e + 1) == 0)
            return true;
    return false;
}

/* ".jpg, .cls" */
static void extensions(const struct tar_samples *s, char out[NAMES_BYTES])
{
    size_t n = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < s->count && n < NAMES_BYTES - 1; i++)
        n += (size_t)snprintf(out + n, NAMES_BYTES - n, "%s.%s", i != 0 ? ", " : "",
                              tar_part_extension(s, &s->parts[i]));
}

struct chosen { /* of a sample's files; NULL: there is none */
    const struct tar_part *image, *label;
    bool twice; /* it has another label */
};

static enum imrec_status choose(const struct look *k, const struct tar_samples *s,
                                struct chosen *out, struct imrec_error *err)
{
    *out = (struct chosen){NULL};
    for (uint32_t i = 0; i < s->count; i++) {
        const struct tar_part *p = &s->parts[i];
        const char *extension = tar_part_extension(s, p);
        if (is_image(k->o, extension)) {
            if (out->image != NULL)
                return IMREC_REFUSE(err,
                                    "%.200s: sample '%.200s' has several images, .%.60s and "
                                    ".%.60s: choose one of them, image_ext=%.60s",
                                    k->name, s->key, tar_part_extension(s, out->image), extension,
                                    extension);
            out->image = p;
        } else if (k->label_ext != NULL && is_extension(extension, k->label_ext)) {
            out->twice |= out->label != NULL;
            out->label = p;
        }
    }
    return IMREC_OK;
}

/* NULL: *out is the label; else what is wrong with it. */
static const char *read_label(const struct tar_samples *s, const struct tar_part *p, float *out)
{
    const uint8_t *kept = tar_part_kept(s, p);
    struct bytes text = {kept, (size_t)p->bytes};
    static const char blanks[] = {' ', '\t', '\r', '\n', '\f', '\v'};
    if (kept == NULL)
        return p->type == TAR_LINK ? "is a link" : "has too many bytes for a number";
    while (text.n != 0 && memchr(blanks, text.p[0], sizeof(blanks)) != NULL)
        text = (struct bytes){text.p + 1, text.n - 1};
    while (text.n != 0 && memchr(blanks, text.p[text.n - 1], sizeof(blanks)) != NULL)
        text.n--;
    const enum text_float st = text_to_float(text, out);
    if (st == TEXT_FLOAT_TOO_LARGE)
        return "is too large for a label, which has 32 bits";
    if (st != TEXT_FLOAT_OK)
        return "is not a number";
    if (*out - *out != 0)
        return "is not finite";
    return text_keeps_whole(text, (double)*out)
               ? NULL
               : "is a whole number that float32 cannot hold (beyond 2^24 it has not every one)";
}

/* Why the image cannot be packed, whatever it is; NULL: it can. */
static const char *image_fault(const struct look *k, const struct tar_samples *s,
                               const struct tar_part *image, enum reason *reason)
{
    const char *name = tar_part_name(s, image);
    *reason = reason_of_name((struct bytes){(const uint8_t *)name, strlen(name)});
    if (*reason != REASON_NONE)
        return *reason == REASON_UTF8 ? "the name is not UTF-8"
                                      : "the name holds a control character";
    *reason = REASON_UNREADABLE;
    if (strlen(name) > k->room)
        return "the path is longer than 4095 bytes";
    *reason = REASON_LINK;
    return image->type == TAR_LINK ? "is a link in the archive" : NULL;
}

static enum imrec_status
take(struct look *k, const struct tar_samples *s, const struct chosen *c, struct imrec_error *err)
{
    char has[NAMES_BYTES];
    enum reason reason;
    struct scan_place place = {0};
    extensions(s, has);
    if (c->image == NULL)
        return skip(k, s->key, REASON_MISSING, err, "the sample has no image: it has %s", has);
    const char *name = tar_part_name(s, c->image);
    const char *why = image_fault(k, s, c->image, &reason);
    if (why != NULL)
        return skip(k, name, reason, err, "%s", why);
    if (k->label_ext != NULL && c->label == NULL)
        return skip(k, name, REASON_LABEL, err, "its sample has no label .%s: it has %s",
                    k->label_ext, has);
    if (c->twice)
        return skip(k, name, REASON_LABEL, err, "its sample has two labels .%s", k->label_ext);
    if (c->label != NULL && (why = read_label(s, c->label, &place.label)) != NULL)
        return skip(k, name, REASON_LABEL, err, "its label .%s %s", k->label_ext, why);
    place.begin = c->image->content;
    place.bytes = c->image->bytes;
    if (k->samples > UINT32_MAX)
        return imrec_fail(err, IMREC_ERR_LIMIT, "%.200s has more than 2^32 samples", k->name);
    return scan_add_file(&k->found, 0, (uint32_t)k->samples, name, &place) ? IMREC_OK
                                                                           : no_memory(k, err);
}

static enum imrec_status
take_sample(struct look *k, const struct tar_samples *s, struct imrec_error *err)
{
    struct chosen c;
    IMREC_TRY(choose(k, s, &c, err));
    if (s->key[0] == '\0' || (c.image == NULL && c.label == NULL)) { /* a README.md */
        k->found.other_files += s->count;
        return IMREC_OK;
    }
    k->found.other_files += s->count - (c.image != NULL) - (c.label != NULL) - c.twice;
    IMREC_TRY(take(k, s, &c, err));
    k->samples++;
    if (k->samples % GO_ON_EVERY != 0 || !k->calls || k->o->go_on == NULL ||
        k->o->go_on(k->o->user, k->before + k->samples))
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_CANCELLED, "interrupted while looking through %.200s",
                      k->name);
}

/* ---- an archive --------------------------------------------------------------------------- */

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
            IMREC_TRY(skip(k, "", st == IMREC_ERR_UNSUPPORTED ? REASON_UNSUPPORTED : REASON_DAMAGED,
                           err, "byte %" PRIu64 ": %s", why.offset, why.message));
            k->samples++;
        }
    }
}

static enum imrec_status look_at(struct look *k, const char *uri, struct imrec_error *err)
{
    struct source *source;
    struct tar_samples *s = imrec_zalloc(1, sizeof(*s));
    if (s == NULL)
        return no_memory(k, err);
    enum imrec_status st = source_open(uri, &source, err);
    if (st == IMREC_OK && !scan_add_folder(&k->found, k->name, -1, source->size))
        st = no_memory(k, err);
    if (st == IMREC_OK)
        st = tar_samples_begin(s, source, source->size, source_is_far(uri), err);
    s->keep = LABEL_MOST;
    if (st == IMREC_OK)
        st = look_through(k, s, err);
    tar_samples_end(s);
    source_close(source);
    imrec_free(s);
    return st;
}

/* ---- all of them -------------------------------------------------------------------------- */

struct archives {
    const struct archive_options *o;
    const struct uri_list *list;
    size_t below; /* bytes of the root in their names */
    const char *label_ext;
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
join(const struct look *k, uint64_t samples, struct scan *out, struct imrec_error *err)
{
    const uint32_t folder = (uint32_t)out->folder_count;
    const struct scan *s = &k->found;
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
        a->looks[i] = (struct look){.o = a->o,
                                    .label_ext = a->label_ext,
                                    .name = uri + a->below,
                                    .room = path < SCAN_PATH_BYTES ? SCAN_PATH_BYTES - path : 0,
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
    char has[NAMES_BYTES];
    extensions(s, has);
    return IMREC_REFUSE(err,
                        "%.200s: sample '%.200s' has no label .cls: it has %s; name another file "
                        "with label_ext=EXT, or pack without labels, label_ext=none",
                        uri, s->key, has);
}

/* The first of the usual ones that the first sample with an image has. NULL: no sample has one. */
static enum imrec_status
find_label(struct archives *a, const char *uri, struct tar_samples *s, struct imrec_error *err)
{
    const struct look k = {.o = a->o, .name = uri};
    struct chosen c;
    enum imrec_status st;
    while ((st = tar_samples_next(s, err)) != IMREC_END) {
        IMREC_TRY(st == IMREC_ERR_NO_MEMORY ? st : stop_check(a->o->stop, err));
        if (st != IMREC_OK)
            continue; /* it is reported when it is looked at */
        IMREC_TRY(choose(&k, s, &c, err));
        if (c.image == NULL || s->key[0] == '\0')
            continue;
        for (size_t i = 0; usual_labels[i] != NULL; i++)
            for (uint32_t j = 0; j < s->count; j++)
                if (is_extension(tar_part_extension(s, &s->parts[j]), usual_labels[i])) {
                    a->label_ext = usual_labels[i];
                    return IMREC_OK;
                }
        return no_label(uri, s, err);
    }
    return IMREC_OK;
}

static enum imrec_status find_label_in(struct archives *a, const char *uri, struct imrec_error *err)
{
    struct source *source;
    struct tar_samples *s = imrec_zalloc(1, sizeof(*s));
    if (s == NULL)
        return IMREC_NO_MEMORY(err, "no memory to list an archive");
    enum imrec_status st = source_open(uri, &source, err);
    if (st == IMREC_OK)
        st = tar_samples_begin(s, source, source->size, source_is_far(uri), err);
    if (st == IMREC_OK)
        st = find_label(a, uri, s, err);
    tar_samples_end(s);
    source_close(source);
    imrec_free(s);
    return st;
}

static enum imrec_status choose_label(struct archives *a, struct imrec_error *err)
{
    const char *given = a->o->label_ext;
    if (strcmp(given, NO_LABEL) == 0)
        return IMREC_OK;
    a->label_ext = given[0] != '\0' ? given : NULL;
    for (size_t i = 0; a->label_ext == NULL && i < a->list->count; i++)
        IMREC_TRY(find_label_in(a, a->list->uri[i], err));
    a->label_ext = a->label_ext != NULL ? a->label_ext : usual_labels[0];
    return IMREC_OK;
}

static enum imrec_status scan_list(const struct archive_options *o, const struct uri_list *l,
                                   struct scan *out, char **root, struct imrec_error *err)
{
    const size_t below = folder_bytes(l);
    uint64_t samples = 0;
    struct archives *a = imrec_zalloc(1, sizeof(*a));
    *root =
        below != 0
            ? imrec_joined(l->uri[0], below, "")
            : imrec_joined("", 0, l->uri[0][0] == '/' || source_is_remote(l->uri[0]) ? "" : ".");
    enum imrec_status st = a != NULL && *root != NULL
                               ? IMREC_OK
                               : IMREC_NO_MEMORY(err, "no memory for the list of %.200s", o->spec);
    if (st == IMREC_OK) {
        *a = (struct archives){.o = o, .list = l, .below = below};
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
    enum imrec_status st = uri_list_expand(o->spec, SUFFIX, &l, err);
    if (st == IMREC_OK)
        st = check_names(&l, err);
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
