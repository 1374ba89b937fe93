/*
 * tests/support/http_proxy.h - an HTTP server that goes wrong on request, for a test to start.
 *
 *     struct proxy *p = proxy_start(dir.path, "--delay", "20", NULL);    // serves files of a
 * folder struct proxy *p = proxy_start(NULL, "--upstream", "localhost:9000", NULL);  // before a
 * server
 *     ... read p->url ...
 *     proxy_rules(p, "match=/train.rec every=3 do=status=503 retry-after=1\n"
 *                    "share=0.01 seed=7 do=reset-after=4096\n");
 *     ... read again: ...
 *     ck_assert_int_eq(proxy_hits(p, 0), 4);
 *     ck_assert_int_lt(proxy_stat(p, "in_flight_most"), 9);
 *     proxy_stop(p);
 *
 * Link imrec_http_proxy, which names the program (IMREC_HTTP_PROXY in the environment is another
 * one). It ends with the process that started it. What goes wrong here ends the test.
 *
 * By hand:
 *
 *     build/release/tests/http_proxy --folder sets --port 8080 --bandwidth 100000000 &
 *     curl -r 0-99 http://127.0.0.1:8080/train.rec | xxd
 *     curl --data-binary 'match=.rec nth=2 do=short=100' http://127.0.0.1:8080/_proxy/rules
 *     curl http://127.0.0.1:8080/_proxy/stats            # and /_proxy/log, each request as JSON
 *     curl -X POST http://127.0.0.1:8080/_proxy/reset    # counts of requests and rules begin again
 *
 * Rules. Each is words on one line; all of a rule's conditions must hold. It counts the requests
 * that `match` and `method` fit, from 1 after `skip`, and acts by that number alone.
 *
 *     match=SUBSTR   of the request's target, with its query      method=GET
 *     skip=N  nth=K  every=K  times=N   skips N; only the K-th; each K-th; at most N times in all
 *     share=0.01 seed=N                 that share of them, by a hash of seed and number
 *
 * Actions; those of all rules that act are added, and of two values the later rule's counts.
 *
 *     reset              RST, and no answer            hang-head     no answer, ever
 *     garbage            what is no HTTP               huge-header=BYTES  (1 MiB) one field more
 *     status=CODE        (503) a short text            retry-after=S with it
 *     redirect=URL       302                           redirect-loop 302 to itself
 *     ignore-range       200 and all of it             no-content-range  206 without the field
 *     wrong-range=start  206 that names a range one byte earlier (later where it begins at 0)
 *     wrong-range=total  206 that names one byte more in all
 *     changed            another version: "changed-..." as ETag, other bytes; If-Match with the
 *                        ETag of before is answered by 412
 *     corrupt=BYTE       (the middle one) one bit of the body is flipped
 *     header=NAME:VALUE  adds or replaces; without a value removes
 *     chunked            no Content-Length             close         the connection, afterwards
 *     reset-after=BYTES  RST after that much body, once the client has it; 0: after the head
 *     short=BYTES        closes after that much body; a body that is no longer stays as it is
 *     stall=MS           a pause in the middle of the body; -1: for ever
 *     slow=BYTES_PER_S   delay=MS before the first byte, in addition to --delay
 *
 * "..." around a value allows blanks in it. Limits: several ranges in one request, and dates as
 * conditions, are answered as if they were not there; answers 1xx of an upstream are not forwarded;
 * --bandwidth is that of answers; with --upstream, ignore-range and changed take fields out of the
 * request (Range, conditions), which must not be signed then.
 */
#ifndef IMREC_TESTS_HTTP_PROXY_H
#define IMREC_TESTS_HTTP_PROXY_H

#include <sys/types.h>

struct proxy {
    char url[64]; /* without a '/' at its end */
    int port;
    pid_t pid;
    int input; /* the program ends when it is closed */
};

/* `folder` NULL: it is among the options, or --upstream is. Options end with NULL. */
struct proxy *proxy_start(const char *folder, ...);
void proxy_rules(struct proxy *p, const char *rules); /* one a line; they replace all */
void proxy_reset(struct proxy *p);                    /* counts of requests and rules */
/* A number of /_proxy/stats by its key: requests, body_bytes_out, body_bytes_in, connections,
 * connections_open, in_flight, in_flight_most, cpu_s; GET, PUT ...: requests of a method; 200, 503
 * ...: answers of a status (0: none was sent). 0 where there is no such key. */
double proxy_stat(struct proxy *p, const char *key);
long proxy_hits(struct proxy *p, int rule); /* how often the rule acted; from 0 */
char *proxy_log(struct proxy *p);           /* JSON, the oldest request first; to be freed */
void proxy_stop(struct proxy *p);
#endif
