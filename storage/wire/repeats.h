/* storage/wire/repeats.h - whether a server's words repeat what proves who asks. */
#ifndef IMREC_STORAGE_WIRE_REPEATS_H
#define IMREC_STORAGE_WIRE_REPEATS_H

#include "storage/wire/wire.h"

/* Whether text has a piece of a secret of the request in it: of a header, of the name and password
 * of its URL, of a signature or token of its query. Such words belong in no message. */
bool wire_repeats_secret(const struct wire_job *job, const char *text);
#endif
