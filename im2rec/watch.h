/* im2rec/watch.h - asks the caller of a run whether to continue: at every image, and, while one
 * takes long, from a thread of its own. */
#ifndef IMREC_IM2REC_WATCH_H
#define IMREC_IM2REC_WATCH_H

#include "base/stop.h"
#include "base/threads.h"
#include "imrec/packer.h"

struct watch {
    struct stop stop; /* asked once the caller has said no */
    const struct imrec_pack_task *task;
    struct thread thread;
    struct mutex lock; /* of all below; held while the caller is asked */
    struct cond ended;
    struct imrec_progress last;
    bool told, over; /* since the thread has looked; the run is */
};

/* Without a progress() nobody is asked. Where no thread can be had, only watch_tell() asks. */
void watch_begin(struct watch *w, const struct imrec_pack_task *task);
/* Any thread. False: the run is to end. */
bool watch_tell(struct watch *w, const struct imrec_progress *p);
void watch_end(struct watch *w);
#endif
