/* storage/wire/authorities.h - which file of a machine lists the authorities whose certificates are
 * trusted. */
#ifndef IMREC_STORAGE_WIRE_AUTHORITIES_H
#define IMREC_STORAGE_WIRE_AUTHORITIES_H

/* The first of `known`, which ends with NULL, that can be read; NULL if `own_file` or `own_folder`,
 * where libcurl looks by itself, can be read, or if none can. */
const char *authorities_of(const char *own_file, const char *own_folder, const char *const *known);
/* The file for libcurl; NULL: where it looks by itself. A libcurl that was built for other
 * machines, as that of a wheel, looks nowhere. */
const char *authorities(void);
#endif
