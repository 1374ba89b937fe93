/* imrec/dataset.h - a data set as a whole: its card, verifying, repairing, indexing. */
#ifndef IMREC_DATASET_H
#define IMREC_DATASET_H

#include "imrec/error.h"

#endif
