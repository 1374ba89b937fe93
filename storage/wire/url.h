/* storage/wire/url.h - text that goes into URLs, and URLs as messages may show them. */
#ifndef IMREC_STORAGE_WIRE_URL_H
#define IMREC_STORAGE_WIRE_URL_H

#include "base/buf.h"

/* Appends text, each byte but A-Z a-z 0-9 - . _ ~ as %XX; a '/' stays if `slash`. (RFC 3986 2.3, as
 * S3's signatures want it.) */
IMREC_NODISCARD enum imrec_status
url_append_encoded(struct buf *b, const char *text, size_t n, bool slash, struct imrec_error *err);
/* A URL that a user gave: what no URL may have, blanks, controls and bytes beyond ASCII, as %XX;
 * all else is as it is. Of imrec_realloc(); NULL: no memory. */
char *url_of_user(const char *scheme, const char *rest);
/* The URL without name, password, query and fragment: these may be secrets. Of imrec_realloc();
 * NULL: no memory. */
char *url_shown(const char *url);
#endif
