/* im2rec/list/archive_names.h - which archives are packed, and the folder that they share. */
#ifndef IMREC_IM2REC_LIST_ARCHIVE_NAMES_H
#define IMREC_IM2REC_LIST_ARCHIVE_NAMES_H

#include "storage/uri_list.h"

/* Whether a file is called like one of TFRecords: "a.tfrecord", "train-00000-of-01024". */
bool archive_is_examples(const char *name);
/* Whether a name ends as those of archives do: in ".tar", ".tar.gz" or alike, or as one of
 * TFRecords. */
bool archives_are_called(const char *name);
/* Whether this names archives, not a folder: its last name is called like one, and is no
 * folder. */
bool archives_are(const char *spec);
bool archives_are_examples(const char *spec); /* all of them */
/* Whether one of the names is that of an archive that gzip has packed. */
bool archives_are_packed(const char *spec);
/* "a.tar;b.tar", a glob. All of them are in one store, and named from one place there. */
IMREC_NODISCARD enum imrec_status
archives_list(const char *spec, struct uri_list *out, struct imrec_error *err);
/* The folder that all are in, of imrec_realloc(), and how many bytes of their names it takes with
 * its '/'. NULL: no memory. */
char *archives_folder(const struct uri_list *l, size_t *bytes);
#endif
