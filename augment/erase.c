#include "augment/normalize.h"

#include <string.h>

void normalize_erase(const struct normalize_job *job, struct imrec_rect hole)
{
    const size_t value = dtype_size(job->how.dtype), w = job->width, h = job->height;
    uint8_t *slot = job->out;
    if (job->how.layout == IMREC_NHWC)
        for (uint32_t y = 0; y < hole.height; y++)
            memset(slot + ((hole.y + y) * w + hole.x) * job->channels * value, 0,
                   hole.width * job->channels * value);
    else
        for (size_t row = 0; row < (size_t)job->channels * hole.height; row++) {
            const size_t c = row / hole.height, y = hole.y + row % hole.height;
            memset(slot + ((c * h + y) * w + hole.x) * value, 0, hole.width * value);
        }
}
