/* im2rec/archive.c - the images of archives for a caller, in the order in which they are packed. */
#include "imrec/archive.h"

#include "base/alloc.h"
#include "base/error.h"
#include "formats/recordio/recordio.h"
#include "im2rec/item/pack_options.h"
#include "im2rec/item/read_file.h"
#include "im2rec/list/archive_names.h"
#include "im2rec/list/job.h"

#include <inttypes.h>
#include <string.h>

struct imrec_archive {
    struct imrec_pack_options o;
    struct imrec_pack_task task;
    struct job job;
    struct file_root root;
    struct pack_item item;
    struct file_bytes file;
    char name[IMAGE_PATH_MAX];
};

static enum imrec_status open_job(struct imrec_archive *a, struct imrec_error *err)
{
    const struct job_options jo = {.task = &a->task, .pack = &a->o};
    if (!archives_are(a->task.root))
        return IMREC_REFUSE(err, "%.300s is no tar archive: its name ends in .tar, .tar.gz or .tgz",
                            a->task.root);
    IMREC_TRY(job_open(&jo, &a->job, err));
    for (size_t i = 0; i < a->job.scan.folder_count; i++)
        if (archive_is_examples(a->job.scan.folders[i].path))
            return IMREC_REFUSE(err, "%.300s has TFRecords, which is no tar archive",
                                a->job.scan.folders[i].path);
    job_warn(&a->job, &jo);
    file_root_init(&a->root, job_root(&a->job, &a->task), true, NULL);
    a->root.packed = a->job.packed;
    return IMREC_OK;
}

enum imrec_status imrec_archive_open(const char *spec, const struct imrec_pack_options *options,
                                     struct imrec_archive **out, uint64_t *skipped,
                                     struct imrec_error *err)
{
    struct imrec_pack_options usual;
    imrec_pack_options_init(&usual);
    struct imrec_archive *a = *out = imrec_zalloc(1, sizeof(*a));
    if (a == NULL)
        return IMREC_NO_MEMORY(err, "no memory to read %.200s", spec);
    a->task.root = spec;
    enum imrec_status st = pack_options_check(options != NULL ? options : &usual, &a->o, err);
    if (st == IMREC_OK)
        st = open_job(a, err);
    if (st != IMREC_OK) {
        imrec_archive_close(a);
        *out = NULL;
        return st;
    }
    a->task.root = NULL; /* the caller's texts are needed no more */
    if (skipped != NULL)
        *skipped = a->job.scan.skip_count;
    return IMREC_OK;
}

/* What reading has made of the item, as an error. */
static enum imrec_status not_read(const struct imrec_archive *a, struct imrec_error *err)
{
    const struct pack_item *p = &a->item;
    return imrec_fail(err, p->failed != IMREC_OK ? p->failed : IMREC_ERR_IO, "%.200s: %.300s",
                      a->name, p->why);
}

enum imrec_status imrec_archive_next(struct imrec_archive *a, struct imrec_archive_sample *out,
                                     struct imrec_error *err)
{
    struct pack_item *p = &a->item;
    struct image_file file;
    IMREC_TRY(job_next(&a->job, p, err));
    memcpy(a->name, p->path.p, p->path.n); /* a path has less than IMAGE_PATH_MAX bytes */
    a->name[p->path.n] = '\0';
    if (p->place.bytes > RECORDIO_PART_MAX_BYTES)
        return imrec_fail(err, IMREC_ERR_LIMIT,
                          "%.300s: %" PRIu64 " bytes are more than a record holds (2^29 - 1)",
                          a->name, p->place.bytes);
    if (!file_open(p, &a->root, &file) || !file_read(p, &a->root, &file, 0, &a->file))
        return not_read(a, err);
    *out = (struct imrec_archive_sample){
        .name = a->name, .image = a->file.p, .image_bytes = a->file.n, .id = p->id};
    memcpy(&out->label, p->labels.p, sizeof(out->label));
    return IMREC_OK;
}

void imrec_archive_close(struct imrec_archive *a)
{
    if (a == NULL)
        return;
    job_close(&a->job);
    pack_item_free(&a->item);
    IMREC_FREE(a->file.p, a);
}
