/* augment/erase.h - the rectangle of random erasing. */
#ifndef IMREC_AUGMENT_ERASE_H
#define IMREC_AUGMENT_ERASE_H

#include "augment/draw/draw.h"
#include "augment/normalize/normalize.h"

/* Erases the draw's rectangle, if there is one, from the job's slot, after normalize_finish().
 * Random values are normal (mean 0, deviation 1), those of bytes uniform. */
void erase_slot(const struct recipe *r, const struct imrec_draw *d, struct sample_key key,
                const struct normalize_job *job);
#endif
