/* tools/doctor/doctor_set.h - the section about a set: its files, what of it is in the page cache,
 * how fast its storage is. */
#ifndef IMREC_TOOLS_DOCTOR_DOCTOR_SET_H
#define IMREC_TOOLS_DOCTOR_DOCTOR_SET_H

#include "tools/doctor/doctor_report.h"

/* `list`: files, ';' between them. available: bytes of memory that the set could fill. Returns an
 * exit status, after one line on stderr where it is not EXIT_OK; the section is complete then, too.
 */
int doctor_set(struct doctor_report *r, const char *name, const char *list, uint64_t available);
#endif
