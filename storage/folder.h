/* storage/folder.h - what a folder holds.
 *
 *     struct folder *f;
 *     struct folder_entry e;
 *     IMREC_TRY(folder_open(uri, &f, err));
 *     while ((st = folder_next(f, &e, err)) == IMREC_OK)
 *         use(e.name, folder_look(f, &e, NULL));
 *     folder_close(f);
 *
 * Names are bytes as the store has them: UTF-8 or not, hidden ones too, "." and ".." never. */
#ifndef IMREC_STORAGE_FOLDER_H
#define IMREC_STORAGE_FOLDER_H

#include "storage/store/listed.h"

/* On failure *out is NULL; sys_errno is the system's reason. A folder that the thread has listed
 * (storage/store/listed.h) is not listed again: its list lives longer than *out. */
IMREC_NODISCARD enum imrec_status
folder_open(const char *uri, struct folder **out, struct imrec_error *err);
/* Of a path of this machine, whatever it looks like: no scheme is looked for. */
IMREC_NODISCARD enum imrec_status
folder_open_path(const char *path, struct folder **out, struct imrec_error *err);
/* The next entry, in the store's order; IMREC_END after the last. */
IMREC_NODISCARD enum imrec_status
folder_next(struct folder *f, struct folder_entry *out, struct imrec_error *err);
/* The kind of an entry of this folder, links followed. *code (may be NULL) is the errno of
 * FOLDER_LOST.
 */
enum folder_kind folder_look(struct folder *f, const struct folder_entry *e, int *code);
void folder_close(struct folder *f); /* NULL is allowed */

/* All entries that folder_next() has not given yet, in the order of their names' bytes; on failure
 * *out is zeroed. */
IMREC_NODISCARD enum imrec_status
folder_all(struct folder *f, struct folder_entries *out, struct imrec_error *err);
/* All of a folder, of which the list is kept where the thread has entered one that does
 * (storage/store/listed.h) and the store says what its files are: then it is listed once. *out are
 * these, or *own, which the caller frees in any case. */
IMREC_NODISCARD enum imrec_status folder_list(const char *uri, struct folder_entries *own,
                                              const struct folder_entries **out,
                                              struct imrec_error *err);
#endif
