/* storage/wire/answer_head.h - the lines of an answer's head: hostile bytes. */
#ifndef IMREC_STORAGE_WIRE_ANSWER_HEAD_H
#define IMREC_STORAGE_WIRE_ANSWER_HEAD_H

#include "storage/wire/wire.h"

/* Takes what a line says into the job. True: an answer begins, and what one before it said, of a
 * redirect, is forgotten. */
bool wire_take_header(struct wire_job *job, const char *line, size_t n);
#endif
