/* storage/cloud/cloud_store.h - the stores of buckets: s3 and gs, and az, which is only read. */
#ifndef IMREC_STORAGE_CLOUD_CLOUD_STORE_H
#define IMREC_STORAGE_CLOUD_CLOUD_STORE_H

#include "storage/store/store.h"

extern const struct store s3_store, gs_store, az_store;
#endif
