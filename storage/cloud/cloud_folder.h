/* storage/cloud/cloud_folder.h - folders of the stores s3, gs and az. */
#ifndef IMREC_STORAGE_CLOUD_CLOUD_FOLDER_H
#define IMREC_STORAGE_CLOUD_CLOUD_FOLDER_H

#include "storage/cloud/place.h"
#include "storage/store/store.h"

IMREC_NODISCARD enum imrec_status
cloud_folder_open(enum cloud cloud, const char *name, struct folder **out, struct imrec_error *err);
#endif
