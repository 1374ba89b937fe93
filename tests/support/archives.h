/* tests/support/archives.h - a folder with tar archives, packed or looked through. */
#ifndef IMREC_TESTS_ARCHIVES_H
#define IMREC_TESTS_ARCHIVES_H

#include "im2rec/list/archive_scan.h"
#include "tests/support/packing_faults.h"
#include "tests/support/suite.h"
#include "tests/support/tars.h"

#include "storage/mem.h"

static struct packing p;
static struct buf tar;
static struct scan found;
static char *root;
static enum imrec_archive_errors errors;
static struct other_names others;

static inline void archives_make(void)
{
    packing_make(&p, false);
    p.o.threads = 1;
    tar = BUF_INIT((size_t)1 << 24);
    errors = IMREC_ARCHIVE_SKIP;
    found = (struct scan){0};
    root = NULL;
}

static inline void archives_remove(void)
{
    scan_free(&found);
    imrec_free(root);
    buf_free(&tar);
    mem_clear();
    packing_end(&p);
}

static inline void expect_ok(enum imrec_status st)
{
    ck_assert_msg(st == IMREC_OK, "%d: %s", (int)st, p.err.message);
}

static inline void expect_error(enum imrec_status st, enum imrec_status want, const char *words)
{
    ck_assert_msg(st == want && strstr(p.err.message, words) != NULL, "%d, without '%s': %s",
                  (int)st, words, p.err.message);
}

/* Closes the archive that was begun, as NAME. */
static inline void write_tar(const char *name)
{
    tar_end(&tar);
    tmp_write(&p.dir, name, tar.p, tar.n);
    tar.n = 0;
}

static inline enum imrec_status pack_from(const char *spec, const char *list, const char *name)
{
    char out[512], all[2048], lst[512];
    snprintf(out, sizeof(out), "%s", tmp_path(&p.dir, name));
    snprintf(lst, sizeof(lst), "%s", list != NULL ? tmp_path(&p.dir, list) : "");
    snprintf(all, sizeof(all), "%s", spec);
    const struct imrec_pack_task task = {
        .root = all, .list = list != NULL ? lst : NULL, .out = out};
    return imrec_pack(&task, &p.o, &p.result, &p.err);
}

static inline const char *here(const char *name)
{
    static char text[2048];
    const char *second = strchr(name, ';');
    snprintf(text, sizeof(text), "%s/%s", p.dir.path, name);
    if (second != NULL)
        snprintf(text, sizeof(text), "%s/%.*s;%s/%s", p.dir.path, (int)(second - name), name,
                 p.dir.path, second + 1);
    return text;
}

static inline enum imrec_status look(const char *image_ext, const char *label_ext)
{
    static const char *const builtin[] = {".jpg", ".png", NULL};
    const struct archive_options o = {.spec = here("x.tar"),
                                      .image_ext = image_ext,
                                      .label_ext = label_ext,
                                      .builtin = builtin,
                                      .errors = errors,
                                      .others = &others};
    others = (struct other_names){.count = 0};
    scan_free(&found);
    imrec_free(root);
    return archives_scan(&o, &found, &root, &p.err);
}

static inline void expect_skip(const char *path, const char *reason, const char *why)
{
    for (size_t i = 0; i < found.skip_count; i++)
        if (strcmp(found.skips[i].path, path) == 0 &&
            strcmp(reason_word(found.skips[i].reason), reason) == 0 &&
            strstr(found.skips[i].why, why) != NULL)
            return;
    ck_abort_msg("no skip %s %s: %s", path, reason, why);
}

#endif
