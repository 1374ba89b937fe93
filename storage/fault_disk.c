/*
 * storage/fault_disk.c - the time a disk with one head takes.
 *
 * The disk keeps the time at which it will be idle: a request is queued after it and sleeps
 * until its own end, so that the simulated bandwidth is exact although sleeping is not. Reading
 * ahead is queued in the same way, and no caller waits for it.
 */
#include "storage/fault_disk.h"
#include "base/clock.h"

#include <time.h>

void disk_sleep_until(uint64_t ns)
{
    for (uint64_t now; (now = clock_ns()) < ns;) {
        const uint64_t left = ns - now;
        const struct timespec t = {(time_t)(left / 1000000000u), (long)(left % 1000000000u)};
        (void)nanosleep(&t, NULL);
    }
}

static uint64_t transfer_ns(struct disk_speed s, uint64_t n)
{
    return s.mb_per_s != 0 ? n * 1000u / s.mb_per_s : 0;
}

/* Queues a transfer; returns when it is over. */
static uint64_t
transfer(struct disk *d, struct disk_speed s, uint64_t file, uint64_t offset, uint64_t n)
{
    const uint64_t now = clock_ns(), start = d->idle_at_ns > now ? d->idle_at_ns : now;
    const bool seek = d->file != file || d->offset != offset;
    d->seeks += seek;
    d->file = file;
    d->offset = offset + n;
    d->idle_at_ns = start + (seek ? s.seek_ns : 0) + transfer_ns(s, n);
    return d->idle_at_ns;
}

/* The range read ahead that holds a byte, or NULL. */
static struct disk_ahead *ahead_of(struct disk *d, uint64_t file, uint64_t offset)
{
    for (uint32_t i = 0; i < DISK_AHEAD; i++) {
        struct disk_ahead *a = &d->ahead[i];
        if (a->file == file && a->begin <= offset && offset < a->end)
            return a;
    }
    return NULL;
}

uint64_t disk_read(struct disk *d, struct disk_speed s, uint64_t file, uint64_t offset, size_t *n)
{
    struct disk_ahead *a = ahead_of(d, file, offset);
    if (a == NULL)
        return transfer(d, s, file, offset, *n);
    if (*n > a->end - offset)
        *n = (size_t)(a->end - offset); /* the rest is another request */
    const uint64_t end = offset + *n, ready = a->ready_ns - transfer_ns(s, a->end - end);
    a->begin = end; /* read once, and gone: no memory is simulated */
    return ready;
}

void disk_will_need(struct disk *d, struct disk_speed s, uint64_t file, uint64_t offset, uint64_t n)
{
    const struct disk_ahead *have = ahead_of(d, file, offset);
    const uint64_t begin = have != NULL ? have->end : offset;
    if (begin >= offset + n)
        return;
    const uint64_t ready = transfer(d, s, file, begin, offset + n - begin);
    d->ahead[d->noted++ % DISK_AHEAD] = (struct disk_ahead){file, begin, offset + n, ready};
}
