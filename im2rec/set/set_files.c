/* im2rec/set/set_files.c */
#include "im2rec/set/set_files.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/string_arena.h"
#include "formats/crc32c.h"
#include "formats/set/manifest.h"
#include "formats/set/set_names.h"
#include "formats/text.h"
#include "im2rec/item/pack_options.h"
#include "im2rec/shard/shard_kinds.h"
#include "imrec/version.h"
#include "storage/sink.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define TEXT_MAX    ((size_t)1 << 30)
#define OPTIONS_MAX 64 /* of the packer */

/* ---- names ------------------------------------------------------------------------------ */

static bool ends_with(const char *name, const char *suffix)
{
    const size_t n = strlen(name), k = strlen(suffix);
    return n >= k && strcmp(name + n - k, suffix) == 0;
}

/* The suffix of a name that has it becomes another one. */
static void change_suffix(char name[NAME_BYTES], const char *from, const char *to)
{
    const size_t n = strlen(name) - strlen(from);
    if (ends_with(name, from))
        snprintf(name + n, NAME_BYTES - n, "%s", to);
}

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* The list that is packed is the user's: it is never written over. */
static enum imrec_status
name_list(const struct imrec_pack_task *task, struct set_files *s, struct imrec_error *err)
{
    set_name(s->rec, SET_LIST, s->list);
    if (task->list == NULL || !same_file(task->list, s->list))
        return IMREC_OK;
    if (s->kind->ids_from_list)
        return IMREC_REFUSE(err, "%s would be written over: choose another name for the output",
                            task->list);
    strcpy(s->list + strlen(s->list) - strlen(".lst"), ".packed.lst");
    return IMREC_OK;
}

static enum imrec_status check_name(const char *out, struct imrec_error *err)
{
    const char *base = set_base_name(out);
    if (strlen(out) + 128 > NAME_BYTES)
        return IMREC_REFUSE(err, "the name of the output is longer than %d bytes",
                            NAME_BYTES - 128);
    if (base[0] == '\0' || strcmp(base, ".") == 0 || strcmp(base, "..") == 0 ||
        reason_of_name((struct bytes){(const uint8_t *)base, strlen(base)}) != REASON_NONE)
        return IMREC_REFUSE(err, "the output must be the name of a file, in UTF-8, not '%s'", out);
    return IMREC_OK;
}

enum imrec_status set_lock(const char *out, struct lock **lock, struct imrec_error *err)
{
    char name[NAME_BYTES];
    *lock = NULL;
    IMREC_TRY(check_name(out, err));
    if (ends_with(out, ".lst")) /* of lists only */
        strcpy(name, out);
    else
        set_name(out, SET_LIST, name);
    strcpy(name + strlen(name) - strlen(".lst"), ".lock");
    return lock_take(name, lock, err);
}

enum imrec_status set_files_init(const struct imrec_pack_task *task,
                                 const struct imrec_pack_options *o, struct set_files *out,
                                 struct imrec_error *err)
{
    char classes[NAME_BYTES];
    IMREC_TRY(check_name(task->out, err));
    out->stop = NULL;
    out->marks = NULL;
    out->kind = shard_kinds[o->format];
    if (task->exact_name || shard_name_has_suffix(out->kind, task->out))
        strcpy(out->rec, task->out);
    else
        set_name(task->out, SET_REC, out->rec);
    change_suffix(out->rec, out->kind->files[0], ".rec"); /* OUT.cbf is OUT, and OUT.rec */
    set_name(out->rec, SET_LIST, out->journal);
    strcpy(out->journal + strlen(out->journal) - strlen(".lst"), ".journal");
    IMREC_TRY(name_list(task, out, err));
    set_name(out->rec, SET_CLASSES, classes);
    out->given_classes = o->classes[0] != '\0' && same_file(o->classes, classes);
    out->binary_index = o->binary_index;
    out->numbered = o->shards != 0 || o->shard_size != 0;
    out->count = o->shard_size != 0 ? 0 : o->shards != 0 ? (uint64_t)o->shards : 1;
    return IMREC_OK;
}

void set_final_name(const struct set_files *s, uint64_t k, uint64_t count, char out[NAME_BYTES])
{
    set_shard_name(s->rec, k, count, s->numbered, out);
    change_suffix(out, ".rec", s->kind->files[0]);
}

void set_marked_name(const struct set_files *s, uint64_t k, const char *mark, char out[NAME_BYTES])
{
    const char *suffix = s->kind->files[0];
    set_final_name(s, k, s->count, out);
    size_t n = strlen(out);
    if (ends_with(out, suffix))
        n -= strlen(suffix);
    snprintf(out + n, NAME_BYTES - n, ".%s%s", mark, suffix);
}

void set_work_name(const struct set_files *s, uint64_t k, char out[NAME_BYTES])
{
    if (s->marks != NULL)
        set_marked_name(s, k, s->marks[k], out);
    else
        set_final_name(s, k, s->count, out);
}

struct shard_shape set_shape_of(const struct imrec_pack_options *o, const struct job *j)
{
    const bool boxes = o->annotations[0] != '\0'; /* a label is more than a class */
    const struct class_list *classes = boxes ? NULL : job_classes(j);
    return (struct shard_shape){.options = o,
                                .classes = classes != NULL ? (uint32_t)classes->count : 0,
                                .label_count = !o->pack_label ? 1 : j->widest};
}

/* ---- class list and manifest ------------------------------------------------------------ */

static enum imrec_status write_text(const char *name, const struct buf *text, bool commit,
                                    const struct stop *stop, struct imrec_error *err)
{
    struct sink *to;
    IMREC_TRY(sink_open(name, &to, err));
    sink_stop_with(to, stop);
    const enum imrec_status st = sink_append(to, text->p, text->n, err);
    if (st != IMREC_OK) {
        sink_leave(to);
        return st;
    }
    return commit ? sink_commit(to, err) : sink_finish(to, err);
}

static enum imrec_status classes_to(const char *name, const struct job *j, bool commit,
                                    struct manifest_file *out, struct imrec_error *err)
{
    struct buf text = BUF_INIT(TEXT_MAX);
    const struct class_list *classes = job_classes(j);
    if (classes == NULL)
        return IMREC_OK;
    enum imrec_status st = class_list_write(classes, &text, err);
    if (st == IMREC_OK)
        st = write_text(name, &text, commit, NULL, err);
    *out = (struct manifest_file){set_base_name(name), text.n, crc32c(0, text.p, text.n)};
    buf_free(&text);
    return st;
}

enum imrec_status
set_write_classes(const char *name, const struct job *j, bool commit, struct imrec_error *err)
{
    struct manifest_file ignored;
    return classes_to(name, j, commit, &ignored, err);
}

/* The base name of a file of the set, kept. NULL: no memory. */
static const char *keep_base(struct string_arena *a, const char *path)
{
    const char *base = set_base_name(path);
    return string_arena_put(a, base, strlen(base) + 1);
}

static bool fill_shard(struct string_arena *a, const struct shard_kind *kind, const char *rec,
                       const struct written_shard *from, struct manifest_shard *to)
{
    char idx[NAME_BYTES], crc[NAME_BYTES];
    *to = (struct manifest_shard){
        .rec = {keep_base(a, rec), from->rec_bytes, (uint32_t)from->rec_crc},
        .records = from->records};
    if (!kind->side_files) /* it is its own index, its checksum that of the file */
        return to->rec.name != NULL;
    set_name(rec, SET_INDEX, idx);
    set_name(rec, SET_CHECKSUMS, crc);
    to->idx = (struct manifest_file){keep_base(a, idx), from->idx_bytes, (uint32_t)from->idx_crc};
    to->checksums =
        (struct manifest_file){keep_base(a, crc), from->crc_bytes, (uint32_t)from->crc_crc};
    return to->rec.name != NULL && to->idx.name != NULL && to->checksums.name != NULL;
}

static bool fill_options(struct string_arena *a, const struct imrec_pack_options *o,
                         const struct set_totals *t, struct manifest *m)
{
    char text[PACK_OPTION_BYTES];
    for (const struct param *p = pack_params; p->name != NULL; p++) {
        if (!pack_option_shapes(o, p) || m->option_count == OPTIONS_MAX)
            continue;
        pack_option_text(o, p, text, sizeof(text));
        const char *value = string_arena_put(a, text, strlen(text) + 1);
        if (value == NULL)
            return false;
        m->options[m->option_count++] = (struct manifest_option){p->name, value};
    }
    if (t->unlabelled != 0 && m->option_count < OPTIONS_MAX)
        m->options[m->option_count++] = (struct manifest_option){"labels", "none"};
    if (t->tables != NULL && m->option_count < OPTIONS_MAX)
        m->options[m->option_count++] = (struct manifest_option){SET_TABLES, t->tables};
    return true;
}

static bool fill_manifest(struct string_arena *a, const struct set_files *s, const struct job *j,
                          const struct imrec_pack_options *o, const struct set_totals *t,
                          struct manifest *m)
{
    char name[NAME_BYTES];
    const struct class_list *classes = job_classes(j);
    m->packer = "imrec " IMREC_VERSION_STRING;
    m->records = t->records;
    m->skipped = t->skipped;
    m->class_count = classes != NULL ? classes->count : 0;
    m->label_width = (uint32_t)t->label_width;
    m->list = (struct manifest_file){keep_base(a, s->list), t->list_bytes, t->list_crc};
    m->shard_count = (size_t)t->shard_count;
    for (uint64_t k = 0; k < t->shard_count; k++) {
        set_final_name(s, k, t->shard_count, name);
        if (!fill_shard(a, s->kind, name, &t->shards[k], &m->shards[k]))
            return false;
        m->bytes += m->shards[k].rec.bytes;
    }
    if (t->options == NULL)
        return m->list.name != NULL && fill_options(a, o, t, m);
    m->option_count = t->option_count;
    memcpy(m->options, t->options, t->option_count * sizeof(*t->options));
    return m->list.name != NULL;
}

enum imrec_status set_write_totals(const struct set_files *s, const struct job *j,
                                   const struct imrec_pack_options *o, const struct set_totals *t,
                                   struct imrec_error *err)
{
    char classes[NAME_BYTES], name[NAME_BYTES];
    struct manifest m = {0};
    struct buf text = BUF_INIT(TEXT_MAX);
    struct string_arena a = {0};
    set_name(s->rec, SET_CLASSES, classes);
    set_name(s->rec, SET_MANIFEST, name);
    m.shards = imrec_zalloc((size_t)t->shard_count, sizeof(*m.shards));
    m.options = imrec_zalloc(OPTIONS_MAX + t->option_count, sizeof(*m.options));
    enum imrec_status st = IMREC_OK;
    if (m.shards == NULL || m.options == NULL || !fill_manifest(&a, s, j, o, t, &m))
        st = IMREC_NO_MEMORY(err, "no memory for %s", name);
    if (st == IMREC_OK)
        st = classes_to(classes, j, false, &m.classes, err);
    if (st == IMREC_OK)
        st = manifest_write(&m, &text, err);
    if (st == IMREC_OK)
        st = write_text(name, &text, false, s->stop, err);
    buf_free(&text);
    string_arena_free(&a);
    IMREC_FREE(m.options, m.shards);
    return st;
}

/* ---- making it real --------------------------------------------------------------------- */

enum imrec_status set_part_exists(const char *name, bool *there, struct imrec_error *err)
{
    char part[NAME_BYTES + 8];
    snprintf(part, sizeof(part), "%s.part", name);
    return sink_exists(part, there, err);
}

static enum imrec_status publish(const struct set_files *s, const char *work, const char *final,
                                 bool new, struct imrec_error *err)
{
    bool there;
    IMREC_TRY(stop_check(s->stop, err));
    IMREC_TRY(set_part_exists(work, &there, err)); /* an interrupted commit came so far */
    if (!there)
        return IMREC_OK;
    return new ? sink_publish_new(work, final, err) : sink_publish_as(work, final, err);
}

static enum imrec_status publish_beside(const struct set_files *s, const char *work,
                                        const char *final, enum set_file what,
                                        struct imrec_error *err)
{
    char a[NAME_BYTES], b[NAME_BYTES];
    set_name(work, what, a);
    set_name(final, what, b);
    /* A run that replaces a set has removed its manifest before. */
    return publish(s, a, b, s->fresh || what == SET_MANIFEST, err);
}

/* What a resumed run would have needed of the shard. */
static enum imrec_status
remove_scratch(const struct shard_kind *kind, const char *work, struct imrec_error *err)
{
    char name[NAME_BYTES + 32];
    if (kind->scratch == NULL)
        return IMREC_OK;
    snprintf(name, sizeof(name), "%s%s.part", work, kind->scratch);
    return sink_remove(name, err);
}

/* That of the shard which had this name before; it is found before the new text. */
static enum imrec_status
remove_binary_index(const struct set_files *s, const char *final, struct imrec_error *err)
{
    char name[NAME_BYTES];
    if (!s->kind->side_files)
        return IMREC_OK;
    set_name(final, SET_BINARY_INDEX, name);
    return sink_remove(name, err);
}

enum imrec_status set_publish(const struct set_files *s, uint64_t shards, struct imrec_error *err)
{
    char work[NAME_BYTES], final[NAME_BYTES];
    for (uint64_t k = 0; k < shards; k++) {
        set_work_name(s, k, work);
        set_final_name(s, k, shards, final);
        IMREC_TRY(remove_binary_index(s, final, err));
        IMREC_TRY(publish(s, work, final, s->fresh, err));
        IMREC_TRY(remove_scratch(s->kind, work, err));
        if (!s->kind->side_files)
            continue;
        IMREC_TRY(publish_beside(s, work, final, SET_INDEX, err));
        IMREC_TRY(publish_beside(s, work, final, SET_CHECKSUMS, err));
    }
    IMREC_TRY(set_index_publish(s, shards, err));
    IMREC_TRY(publish(s, s->list, s->list, s->fresh, err));
    for (int what = SET_CLASSES; what <= SET_MANIFEST; what++)
        IMREC_TRY(publish_beside(s, s->rec, s->rec, (enum set_file)what, err));
    return IMREC_OK;
}
