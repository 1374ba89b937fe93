/* storage/wire/exchange.h - a job as libcurl sees it: options in, answer out. Private to the
 * engine. */
#ifndef IMREC_STORAGE_WIRE_EXCHANGE_H
#define IMREC_STORAGE_WIRE_EXCHANGE_H

#include "storage/wire/wire.h"

#include <curl/curl.h>

struct wire_exchange {
    struct wire_job *job;
    CURL *easy;
    struct curl_slist *headers;
    struct wire_exchange *next;
    char range[48];
    char why[CURL_ERROR_SIZE];
    size_t said; /* bytes of job->said */
    uint64_t sent;
};

/* Sets up `easy` for the job; NULL: no memory. */
struct wire_exchange *exchange_begin(struct wire_job *job, CURL *easy);
/* Fills the job's answer, and gives the exchange back; `easy` stays the caller's. */
void exchange_end(struct wire_exchange *x, CURLcode code);
#endif
