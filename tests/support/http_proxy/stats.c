/* tests/support/http_proxy/stats.c - counters, the ring of the last requests, and both as JSON. */
#include "tests/support/http_proxy/stats.h"

#include "tests/support/http_proxy/loop.h"
#include "tests/support/http_proxy/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static double cpu_s(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

static void entry_free(struct entry *e)
{
    free(e->method);
    free(e->path);
    free(e->range);
    *e = (struct entry){0};
}

void stats_init(struct stats *s)
{
    *s = (struct stats){.log = must(calloc(LOGGED, sizeof(*s->log))), .began_ns = clock_ns()};
}

static void count_method(struct stats *s, const char *name)
{
    int i = 0;
    while (i < METHODS - 1 && s->method[i].name[0] != '\0' && strcmp(s->method[i].name, name) != 0)
        i++;
    if (s->method[i].name[0] == '\0')
        snprintf(s->method[i].name, sizeof(s->method[i].name), "%s",
                 i == METHODS - 1 ? "other" : name);
    s->method[i].count++;
}

void stats_begin(struct stats *s, const struct entry *e)
{
    s->requests++;
    s->in_flight++;
    if (s->in_flight > s->in_flight_most)
        s->in_flight_most = s->in_flight;
    count_method(s, e->method);
}

void stats_end(struct stats *s, struct entry *e)
{
    struct entry *at = &s->log[s->logged++ % LOGGED];
    s->in_flight--;
    s->status[e->status >= 0 && e->status < STATUSES ? e->status : 0]++;
    e->took_ns = clock_ns() - e->began_ns;
    entry_free(at);
    *at = *e;
    *e = (struct entry){0};
}

void stats_reset(struct stats *s)
{
    const int64_t open = s->open, in_flight = s->in_flight;
    stats_free(s);
    stats_init(s);
    s->open = open;
    s->in_flight = s->in_flight_most = in_flight;
    s->cpu_before = cpu_s();
}

void stats_report(const struct stats *s, struct fifo *json)
{
    const char *comma = "";
    fifo_print(json, "{\"requests\":%llu,\"methods\":{", (unsigned long long)s->requests);
    for (int i = 0; i < METHODS; i++)
        if (s->method[i].count != 0) {
            fifo_print(json, "%s", comma);
            json_text(json, s->method[i].name);
            fifo_print(json, ":%llu", (unsigned long long)s->method[i].count);
            comma = ",";
        }
    comma = "";
    fifo_print(json, "},\"statuses\":{");
    for (int i = 0; i < STATUSES; i++)
        if (s->status[i] != 0) {
            fifo_print(json, "%s\"%d\":%llu", comma, i, (unsigned long long)s->status[i]);
            comma = ",";
        }
    fifo_print(json, "},\"body_bytes_out\":%llu,\"body_bytes_in\":%llu",
               (unsigned long long)s->body_out, (unsigned long long)s->body_in);
    fifo_print(json, ",\"connections\":%llu,\"connections_open\":%lld",
               (unsigned long long)s->connections, (long long)s->open);
    fifo_print(json, ",\"in_flight\":%lld,\"in_flight_most\":%lld", (long long)s->in_flight,
               (long long)s->in_flight_most);
    fifo_print(json, ",\"cpu_s\":%.6f,\"elapsed_s\":%.6f", cpu_s() - s->cpu_before,
               (double)(clock_ns() - s->began_ns) * 1e-9);
}

static void log_one(const struct stats *s, const struct entry *e, struct fifo *json)
{
    fifo_print(json, "{\"method\":");
    json_text(json, e->method);
    fifo_print(json, ",\"path\":");
    json_text(json, e->path);
    fifo_print(json, ",\"range\":");
    if (e->range != NULL)
        json_text(json, e->range);
    else
        fifo_print(json, "null");
    fifo_print(json, ",\"authorization\":%s,\"status\":%d", e->authorization ? "true" : "false",
               e->status);
    fifo_print(json, ",\"body_out\":%llu,\"body_in\":%llu,\"connection\":%llu",
               (unsigned long long)e->body_out, (unsigned long long)e->body_in,
               (unsigned long long)e->connection);
    fifo_print(json, ",\"at_ms\":%.3f,\"took_ms\":%.3f}",
               (double)(e->began_ns - s->began_ns) * 1e-6, (double)e->took_ns * 1e-6);
}

void stats_log(const struct stats *s, struct fifo *json)
{
    const uint64_t first = s->logged > LOGGED ? s->logged - LOGGED : 0;
    fifo_print(json, "[");
    for (uint64_t i = first; i < s->logged; i++) {
        fifo_print(json, i != first ? ",\n" : "\n");
        log_one(s, &s->log[i % LOGGED], json);
    }
    fifo_print(json, "\n]\n");
}

void stats_free(struct stats *s)
{
    for (int i = 0; i < LOGGED; i++)
        entry_free(&s->log[i]);
    free(s->log);
    *s = (struct stats){0};
}
