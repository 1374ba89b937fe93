/* storage/schemes.h - the stores there are, by the scheme of a URI. Private to storage/. */
#ifndef IMREC_STORAGE_SCHEMES_H
#define IMREC_STORAGE_SCHEMES_H

#include "storage/cloud/cloud_store.h"
#include "storage/files/file_store.h"
#include "storage/hdfs/webhdfs_store.h"

extern const struct store mem_store, fault_store;
extern const struct store http_store, https_store; /* where there is libcurl */

extern const struct store plugged_store; /* of every registered scheme; its names are URIs */

/* The store of a URI, and the name in it. IMREC_ERR_UNSUPPORTED for an unknown scheme. */
IMREC_NODISCARD enum imrec_status
store_of(const char *uri, const struct store **out, const char **name, struct imrec_error *err);
/* "URI: http:// is for reading alone ...": IMREC_ERR_UNSUPPORTED, of what the store cannot do. */
enum imrec_status
store_cannot(const char *uri, const struct store *store, const char *what, struct imrec_error *err);
#endif
