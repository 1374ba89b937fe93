/* storage/wire/flow.h - how many bytes should be under way: what the wire takes in twice the time
 * of an answer's first byte. Private to the engine, which measures it while it reads.
 *
 * Less leaves the wire idle while answers are awaited; more makes what is needed now wait for what
 * is needed later. Both numbers are the best of the last seconds: queues make them only worse. */
#ifndef IMREC_STORAGE_WIRE_FLOW_H
#define IMREC_STORAGE_WIRE_FLOW_H

#include <stdint.h>

#define FLOW_FIRST ((uint64_t)32 << 20) /* until something was measured */
#define FLOW_LEAST ((uint64_t)8 << 20)
#define FLOW_MOST  ((uint64_t)128 << 20)

struct flow {           /* zeroed at first */
    uint64_t delivered; /* bytes of all answers */
    uint64_t since_ns;  /* [0] began */
    struct {
        uint64_t delay_ns, rate; /* to the first byte; bytes a second. 0: not known */
    } best[2];                   /* of now, and of the time before */
};

struct flow_sample {        /* a request that was answered */
    uint64_t bytes, before; /* before: `delivered` when it began */
    uint64_t begun_ns, first_ns, ended_ns;
};

void flow_learn(struct flow *f, const struct flow_sample *s);
uint64_t flow_bytes(const struct flow *f);
#endif
