/* container/cbf_ids.h - ids of images whose files have none. */
#ifndef IMREC_CONTAINER_CBF_IDS_H
#define IMREC_CONTAINER_CBF_IDS_H

#include "container/container.h"

/* Takes the ids of the list next to the files, if it has a line for each of their sequences;
 * else all ids are unchanged. */
void cbf_ids_of_list(struct container *s);
#endif
