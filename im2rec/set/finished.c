/* im2rec/set/finished.c */
#include "im2rec/set/finished.h"

#include "base/error.h"
#include "formats/crc32c.h"
#include "formats/set/manifest.h"
#include "formats/set/set_names.h"
#include "im2rec/item/pack_options.h"
#include "storage/sink.h"
#include "storage/source.h"

#include <inttypes.h>
#include <string.h>

#define CLASSES_MAX ((size_t)1 << 30)

struct finished {
    const struct set_files *files;
    const struct manifest *m;
    char name[NAME_BYTES]; /* of the manifest */
};

#define ANEW "; force packs it again"

/* ---- options ---------------------------------------------------------------------------- */

static enum imrec_status check_value(const struct finished *f, const char *name, const char *there,
                                     const char *here, struct imrec_error *err)
{
    if (strcmp(there, here) == 0)
        return IMREC_OK;
    if (here[0] == '\0')
        return IMREC_REFUSE(err,
                            "%s: the set is finished, with %s=%.100s, which this run lacks" ANEW,
                            f->name, name, there);
    return IMREC_REFUSE(err,
                        "%s: the set is finished, with %s=%.100s, and this run has %.100s" ANEW,
                        f->name, name, there, here);
}

static const struct manifest_option *option_of(const struct manifest *m, const char *name)
{
    for (size_t i = 0; i < m->option_count; i++)
        if (strcmp(m->options[i].name, name) == 0)
            return &m->options[i];
    return NULL;
}

/* What the manifest does not name came later than the set, and had its default then; but there were
 * no tiles. */
static enum imrec_status
check_options(const struct finished *f, const struct imrec_pack_options *o, struct imrec_error *err)
{
    char here[PACK_OPTION_BYTES], preset[PACK_OPTION_BYTES];
    struct imrec_pack_options defaults;
    imrec_pack_options_init(&defaults);
    defaults.tile = IMREC_TILE_NO;
    for (size_t i = 0; i < f->m->option_count; i++) {
        const struct manifest_option *there = &f->m->options[i];
        const struct param *p = param_find(pack_params, there->name, strlen(there->name));
        if (strcmp(there->name, SET_TABLES) == 0)
            continue;   /* the run has made none yet: shared_tables says what it wishes */
        here[0] = '\0'; /* of "appended", "command" */
        if (p != NULL)
            pack_option_text(o, p, here, sizeof(here));
        IMREC_TRY(check_value(f, there->name, there->value, here, err));
    }
    for (const struct param *p = pack_params; p->name != NULL; p++) {
        if (!pack_option_shapes(o, p) || option_of(f->m, p->name) != NULL)
            continue;
        pack_option_text(o, p, here, sizeof(here));
        pack_option_text(&defaults, p, preset, sizeof(preset));
        IMREC_TRY(check_value(f, p->name, preset, here, err));
    }
    return IMREC_OK;
}

/* ---- files ------------------------------------------------------------------------------ */

static enum imrec_status
check_file(const struct finished *f, const struct manifest_file *file, struct imrec_error *err)
{
    char path[NAME_BYTES];
    struct source *source;
    if (file->name == NULL)
        return IMREC_OK;
    bool there = set_name_beside(f->files, file->name, path);
    if (there)
        IMREC_TRY(sink_exists(path, &there, err));
    if (!there)
        return IMREC_REFUSE(err, "%s: the set was finished, but %.200s is missing" ANEW, f->name,
                            file->name);
    IMREC_TRY(source_open(path, &source, err));
    const uint64_t bytes = source->size;
    source_close(source);
    if (bytes == file->bytes)
        return IMREC_OK;
    return IMREC_REFUSE(
        err, "%s: the set was finished, but %.200s has %" PRIu64 " bytes, not %" PRIu64 ANEW,
        f->name, file->name, bytes, file->bytes);
}

static enum imrec_status check_files(const struct finished *f, struct imrec_error *err)
{
    IMREC_TRY(check_file(f, &f->m->list, err));
    IMREC_TRY(check_file(f, &f->m->classes, err));
    for (size_t k = 0; k < f->m->shard_count; k++) {
        const struct manifest_shard *s = &f->m->shards[k];
        IMREC_TRY(stop_check(f->files->stop, err));
        IMREC_TRY(check_file(f, &s->rec, err));
        IMREC_TRY(check_file(f, &s->idx, err));
        IMREC_TRY(check_file(f, &s->checksums, err));
    }
    return IMREC_OK;
}

/* ---- what is packed ----------------------------------------------------------------------- */

static enum imrec_status
same_classes(const struct finished *f, const struct job *j, bool *same, struct imrec_error *err)
{
    struct buf text = BUF_INIT(CLASSES_MAX);
    const struct class_list *classes = job_classes(j);
    *same = (classes == NULL) == (f->m->classes.name == NULL);
    if (classes == NULL || !*same)
        return IMREC_OK;
    const enum imrec_status st = class_list_write(classes, &text, err);
    *same = text.n == f->m->classes.bytes && crc32c(0, text.p, text.n) == f->m->classes.crc32c;
    buf_free(&text);
    return st;
}

/* Labels that are packed may have moved with their image. */
static bool same_image(const struct pack_item *a, const struct pack_item *b, bool labels)
{
    return a->id == b->id && a->path.n == b->path.n &&
           memcmp(a->path.p, b->path.p, a->path.n) == 0 &&
           (!labels ||
            (a->labels.n == b->labels.n && memcmp(a->labels.p, b->labels.p, a->labels.n) == 0));
}

/* How many of the job's images are not in the list of what was packed; *more: that has others. */
static enum imrec_status count_missing(struct job *all, struct job *packed, bool labels,
                                       const struct stop *stop, uint64_t *missing, bool *more,
                                       struct imrec_error *err)
{
    struct pack_item p = {0}, q = {0};
    enum imrec_status st, next = job_next(packed, &q, err);
    *missing = 0;
    while ((st = stop_check(stop, err)) == IMREC_OK && (st = job_next(all, &p, err)) == IMREC_OK) {
        if (next == IMREC_OK && same_image(&p, &q, labels))
            next = job_next(packed, &q, err);
        else
            ++*missing;
        if (next != IMREC_OK && next != IMREC_END)
            break;
    }
    *more = next == IMREC_OK;
    pack_item_free(&p);
    pack_item_free(&q);
    if (st != IMREC_OK && st != IMREC_END)
        return st;
    return next == IMREC_OK || next == IMREC_END ? IMREC_OK : next;
}

static enum imrec_status check_list(const struct finished *f, const struct imrec_pack_options *o,
                                    struct job *j, struct imrec_error *err)
{
    const struct imrec_pack_task task = {.list = f->files->list, .root = ""};
    struct imrec_pack_options plain;
    struct job packed;
    uint64_t missing = 0;
    bool more = true, classes;
    imrec_pack_options_init(&plain);
    IMREC_TRY(same_classes(f, j, &classes, err));
    IMREC_TRY(job_open(&(struct job_options){.task = &task, .pack = &plain, .stop = f->files->stop},
                       &packed, err));
    const enum imrec_status st =
        count_missing(j, &packed, !o->pack_label, f->files->stop, &missing, &more, err);
    job_close(&packed);
    IMREC_TRY(st);
    if (classes && !more && missing + job_found(j, o) - j->total == f->m->skipped)
        return IMREC_OK;
    return IMREC_REFUSE(err,
                        "%s: the set is finished, of another list, or of a folder that has changed "
                        "since" ANEW,
                        f->name);
}

/* ---- both ------------------------------------------------------------------------------- */

static enum imrec_status check(const struct set_files *files, const struct manifest *m,
                               const struct imrec_pack_options *o, struct job *j,
                               struct imrec_error *err)
{
    struct finished f = {.files = files, .m = m};
    set_name(files->rec, SET_MANIFEST, f.name);
    IMREC_TRY(check_options(&f, o, err));
    IMREC_TRY(check_files(&f, err));
    return check_list(&f, o, j, err);
}

enum imrec_status
finished_find(const struct imrec_pack_task *task, const struct imrec_pack_options *o, struct job *j,
              const struct stop *stop, struct imrec_pack_result *out, struct imrec_error *err)
{
    struct set_files files;
    struct manifest m;
    bool unfinished;
    IMREC_TRY(set_files_init(task, o, &files, err));
    files.stop = stop;
    IMREC_TRY(set_check_format(&files, err));
    IMREC_TRY(set_is_unfinished(&files, &unfinished, err));
    if (unfinished)
        return IMREC_END;
    IMREC_TRY(set_load_manifest(&files, &m, err));
    const enum imrec_status st = m.shard_count != 0 ? check(&files, &m, o, j, err) : IMREC_END;
    if (st == IMREC_OK) {
        out->was_complete = true;
        out->packed = m.records;
        out->skipped = m.skipped;
        out->resumed = j->total;
        out->shards = m.shard_count;
        out->bytes = m.bytes;
        out->classes = m.class_count;
    }
    manifest_free(&m);
    return st;
}
