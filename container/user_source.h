/* container/user_source.h - files of a user's own format: its callbacks list their records and
 * parse each; order and loader treat them as indexed ones. */
#ifndef IMREC_CONTAINER_USER_SOURCE_H
#define IMREC_CONTAINER_USER_SOURCE_H

#include "container/container.h"

/* What source=`word` means: sets the kind and its state. */
IMREC_NODISCARD enum imrec_status
user_source_find(const char *word, struct container *c, struct imrec_error *err);
/* Of its files, in a folder; NULL: any. */
const char *user_source_suffix(const struct container *c);
#endif
