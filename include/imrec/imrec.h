/* imrec/imrec.h - includes all of libimrec: image record files in, training batches out. */
#ifndef IMREC_IMREC_H
#define IMREC_IMREC_H

#include "imrec/augment.h"
#include "imrec/augmenter.h"
#include "imrec/cbf.h"
#include "imrec/codec.h"
#include "imrec/convert.h"
#include "imrec/ctf.h"
#include "imrec/dataset.h"
#include "imrec/detection.h"
#include "imrec/error.h"
#include "imrec/file_kind.h"
#include "imrec/image.h"
#include "imrec/input_split.h"
#include "imrec/iter_params.h"
#include "imrec/iterator.h"
#include "imrec/minibatch.h"
#include "imrec/pack_items.h"
#include "imrec/packer.h"
#include "imrec/prefetch.h"
#include "imrec/records.h"
#include "imrec/report.h"
#include "imrec/reshape.h"
#include "imrec/segmentation.h"
#include "imrec/sequences.h"
#include "imrec/sound.h"
#include "imrec/source.h"
#include "imrec/store.h"
#include "imrec/types.h"
#include "imrec/version.h"

#endif
