/* imrec/traffic.h - what a reader moved: from stores over the network, and from its cache. */
#ifndef IMREC_TRAFFIC_H
#define IMREC_TRAFFIC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Counts of one reader since it was opened: of its shards, indexes, lists and manifests in stores
 * (web servers, buckets, HDFS, plugged ones). Files of this machine count nothing. */
struct imrec_traffic {
    size_t struct_size;   /* of the caller, as the call has set it */
    uint64_t store_bytes; /* of objects, received; those of failed requests, too */
    uint64_t cache_bytes; /* from cache=DIR */
    uint64_t requests;    /* answered or failed; those for listings, sizes and versions, too */
    uint64_t retries;     /* requests that were sent again after a failure */
    uint64_t hedges;      /* requests that were sent twice because the first was slow */
    uint64_t wait_ns;     /* threads waited for stores; sum over all of them */
    uint64_t cache_hits, cache_misses; /* looks for a block in cache=DIR: it was there, or not */
};

#ifdef __cplusplus
}
#endif
#endif
