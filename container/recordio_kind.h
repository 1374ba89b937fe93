/* container/recordio_kind.h - shards of RecordIO, the records of MXNet: cells, or an index. */
#ifndef IMREC_CONTAINER_RECORDIO_KIND_H
#define IMREC_CONTAINER_RECORDIO_KIND_H

#include "container/container.h"

extern const struct container_kind recordio_kind;
#endif
