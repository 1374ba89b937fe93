/* iter/split/cbf_ids.h - ids of images whose files have none. */
#ifndef IMREC_ITER_SPLIT_CBF_IDS_H
#define IMREC_ITER_SPLIT_CBF_IDS_H

#include "iter/split/dataset.h"

/* Takes the ids of the list beside the files, where that has a line for each of their sequences;
 * else all stay what they are. */
void cbf_ids_of_list(struct split *s);
#endif
