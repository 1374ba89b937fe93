/* tools/top/top_text.c - Prometheus' text into the numbers of loaders. Nothing in the text is
 * trusted: every label is cut to its room, every number must be finite and not negative. */
#include "tools/top/top_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[TOP_NUMBERS] = {
    [TOP_IMAGES] = "images_total",
    [TOP_BATCHES] = "batches_total",
    [TOP_FAILED] = "failed_samples_total",
    [TOP_REPLACED] = "replaced_samples_total",
    [TOP_DAMAGED] = "damaged_ranges_total",
    [TOP_READ_BYTES] = "read_bytes_total",
    [TOP_STORE_BYTES] = "store_read_bytes_total",
    [TOP_RETRIES] = "store_retries_total",
    [TOP_CONSUMER_WAIT] = "consumer_wait_seconds_total",
    [TOP_WORKER_WAIT] = "worker_wait_seconds_total",
    [TOP_IO_WAIT] = "io_wait_seconds_total",
    [TOP_DECODE] = "decode_seconds_total",
    [TOP_AUGMENT] = "augment_seconds_total",
    [TOP_EPOCH] = "epoch",
    [TOP_SAMPLE] = "sample",
    [TOP_WORKERS] = "workers",
    [TOP_MEMORY] = "planned_memory_bytes",
};

/* The number that name[0..n) is, or TOP_NUMBERS. */
static enum top_number number_of(const char *name, size_t n)
{
    static const char prefix[] = "imrec_";
    const size_t skip = sizeof(prefix) - 1;
    if (n <= skip || memcmp(name, prefix, skip) != 0)
        return TOP_NUMBERS;
    for (int i = 0; i < TOP_NUMBERS; i++)
        if (strlen(names[i]) == n - skip && memcmp(name + skip, names[i], n - skip) == 0)
            return (enum top_number)i;
    return TOP_NUMBERS;
}

/* A label's value from after its quotation mark; returns what follows the closing one, or NULL. */
static const char *take_value(const char *p, char *to, size_t room)
{
    size_t n = 0;
    for (; *p != '"'; p++) {
        if (*p == '\0' || *p == '\n')
            return NULL;
        if (*p == '\\' && p[1] != '\0' && p[1] != '\n')
            p++;
        if (n + 1 < room)
            to[n++] = *p;
    }
    to[n] = '\0';
    return p + 1;
}

/* "{rank="0",...}" into *s; returns what follows, or NULL. */
static const char *take_labels(const char *p, struct top_sample *s)
{
    char other[8];
    if (*p++ != '{')
        return NULL;
    while (*p != '}') {
        const size_t n = strcspn(p, "=\"}\n");
        if (p[n] != '=' || p[n + 1] != '"')
            return NULL;
        const bool is_rank = n == 4 && memcmp(p, "rank", 4) == 0;
        const bool is_ranks = n == 5 && memcmp(p, "ranks", 5) == 0;
        const bool is_set = n == 3 && memcmp(p, "set", 3) == 0;
        char *to = is_rank ? s->rank : is_ranks ? s->ranks : is_set ? s->set : other;
        const size_t room = is_set ? sizeof(s->set) : is_rank || is_ranks ? sizeof(s->rank) : 8;
        p = take_value(p + n + 2, to, room);
        if (p == NULL)
            return NULL;
        p += *p == ',';
    }
    return p + 1;
}

/* The loader of these labels; a new one where there is room. */
static struct top_sample *
loader_of(struct top_sample *out, size_t *n, size_t most, const struct top_sample *labels)
{
    for (size_t i = 0; i < *n; i++)
        if (strcmp(out[i].rank, labels->rank) == 0 && strcmp(out[i].ranks, labels->ranks) == 0 &&
            strcmp(out[i].set, labels->set) == 0)
            return &out[i];
    if (*n == most)
        return NULL;
    out[*n] = *labels;
    return &out[(*n)++];
}

size_t top_parse(const char *text, uint64_t at_ns, struct top_sample *out, size_t most)
{
    size_t n = 0;
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n"), line += *line != 0) {
        const size_t name = strcspn(line, "{ \n");
        const enum top_number is = number_of(line, name);
        struct top_sample labels = {.at_ns = at_ns};
        const char *value = is != TOP_NUMBERS ? take_labels(line + name, &labels) : NULL;
        if (value == NULL || *value != ' ')
            continue;
        const double v = strtod(value, NULL); /* programs stay in the locale "C" */
        struct top_sample *to = loader_of(out, &n, most, &labels);
        if (to != NULL && isfinite(v) && v >= 0)
            to->is[is] = v;
    }
    return n;
}
