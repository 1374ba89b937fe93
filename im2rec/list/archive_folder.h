/* im2rec/list/archive_folder.h - a folder that holds archives where others hold folders of
 * images. */
#ifndef IMREC_IM2REC_LIST_ARCHIVE_FOLDER_H
#define IMREC_IM2REC_LIST_ARCHIVE_FOLDER_H

#include "imrec/packer.h"

/* *spec: the archives that are in the folder which `task` packs, "a/x.tar;a/y.tar", by their bytes,
 * of imrec_realloc(); NULL: it packs something else. IMREC_ERR_ARGUMENT: the folder holds archives
 * and a folder of images, tar archives and TFRecord files, or shards of two sets of one name;
 * IMREC_ERR_IO: not all shards that their names promise. */
IMREC_NODISCARD enum imrec_status archives_in_folder(const struct imrec_pack_task *task,
                                                     const struct imrec_pack_options *o,
                                                     char **spec, struct imrec_error *err);
#endif
