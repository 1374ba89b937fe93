/* container/folder/file_run.h - files as one run of bytes, in their order: a source.
 *
 * A file takes as many bytes of the run as it had when it was listed, and one byte where it has
 * none that can be read: no two begin at one place. It is opened when its bytes are asked for, and
 * closed after that: the number of files is not limited by that of descriptors. A file that has
 * another size by then is an error of its bytes alone.
 *
 * Memory: 16 bytes a file. */
#ifndef IMREC_CONTAINER_FOLDER_FILE_RUN_H
#define IMREC_CONTAINER_FOLDER_FILE_RUN_H

#include "container/folder/scanned.h"
#include "storage/source.h"

#define FILE_RUN_MOST ((uint64_t)UINT32_MAX - 1) /* bytes of a file that is read */

struct file_run_options {
    const char *root;        /* "" : names are complete; borrowed */
    const struct scan *scan; /* its files, which live longer than the run */
    bool said;               /* they are of scan_add_said() */
};

struct file_run;

/* Asks for the size of each file that no list has said, many at once. *out has the options' texts
 * no more. */
IMREC_NODISCARD enum imrec_status
file_run_open(const struct file_run_options *o, struct source **out, struct imrec_error *err);
/* The run of a source of file_run_open(). */
const struct file_run *file_run_of(const struct source *s);
/* Where file i begins, i <= number of files. */
uint64_t file_run_begin(const struct file_run *r, uint64_t i);
/* The file that has this byte. */
uint64_t file_run_find(const struct file_run *r, uint64_t offset);
/* Why its bytes cannot be read; NULL: they can. Lives as long as the run. */
const struct imrec_error *file_run_lost(const struct file_run *r, uint64_t i);
/* Whether it is lost, and what it is called, go into the hash; so does its size. */
uint64_t file_run_hash(const struct file_run *r, uint64_t hash);
/* Root and name as one URI. IMREC_ERR_LIMIT: that is longer than 4095 bytes. */
IMREC_NODISCARD enum imrec_status file_run_uri(const struct file_run *r, uint64_t i,
                                               char out[SCAN_PATH_BYTES], struct imrec_error *err);
uint64_t file_run_memory(const struct file_run *r);
#endif
