/* storage/cloud/bearer.h - who asks Google's storage.
 *
 * In this order: GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY, an HMAC key pair, by Signature V4 as
 * its XML API takes it; GOOGLE_OAUTH_ACCESS_TOKEN, a bearer token; the token of the machine's
 * service account from the metadata server (GCE_METADATA_HOST, else metadata.google.internal),
 * renewed before it expires; nobody, which public buckets are for. */
#ifndef IMREC_STORAGE_CLOUD_BEARER_H
#define IMREC_STORAGE_CLOUD_BEARER_H

#include "base/bytes.h"
#include "storage/wire/retry.h"

#define BEARER_BYTES 4096

/* `emulator`: no metadata server is asked, there is no account. *sign NULL: nobody. */
IMREC_NODISCARD enum imrec_status
bearer_find(bool emulator, wire_sign_fn **sign, struct imrec_error *err);
/* The token of the metadata server's answer, hostile bytes, and for how many seconds it holds. */
IMREC_NODISCARD enum imrec_status bearer_read(struct bytes answer, char token[BEARER_BYTES],
                                              uint32_t *seconds, struct imrec_error *err);
#endif
