/* container/webdataset.h - tar archives as WebDataset writes them: files of one key are a sample.
 */
#ifndef IMREC_CONTAINER_WEBDATASET_H
#define IMREC_CONTAINER_WEBDATASET_H

#include "container/container.h"

extern const struct container_kind webdataset_kind;
#endif
