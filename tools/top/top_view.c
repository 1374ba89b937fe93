/* tools/top/top_view.c - the loaders that are watched: a line each, or a member of a JSON array. */
#include "tools/top/top_view.h"

#include "cli/human.h"
#include "cli/memory.h"
#include "cli/show.h"
#include "tools/top/top_fetch.h"

#include <inttypes.h>
#include <string.h>

enum { LINE_BYTES = 512, BAR = 16 };

#define SILENT_NS ((uint64_t)15000000000) /* three times what a file is renewed after */

/* ---- reading -------------------------------------------------------------------------------- */

void top_board_init(struct top_board *b, char *const *sources, size_t n)
{
    *b = (struct top_board){.sources = sources, .source_count = n};
    b->errors = cli_realloc(NULL, n, sizeof(b->errors[0]));
    memset(b->errors, 0, n * sizeof(b->errors[0]));
    b->loaders = cli_realloc(NULL, n, TOP_LOADERS * sizeof(b->loaders[0]));
}

void top_board_free(struct top_board *b)
{
    cli_free(b->errors);
    cli_free(b->loaders);
}

static bool same_loader(const struct top_loader *l, size_t source, const struct top_sample *s)
{
    return l->source == source && strcmp(l->now.rank, s->rank) == 0 &&
           strcmp(l->now.ranks, s->ranks) == 0 && strcmp(l->now.set, s->set) == 0;
}

/* Of a loader that reports nothing more the last rates are old, not true. */
static void notice_silence(struct top_loader *l)
{
    if (top_wall_ns() > l->now.at_ns + SILENT_NS)
        l->rates = (struct top_rates){.limit = TOP_SILENT};
}

/* A file that was not renewed since says nothing new: what is known of it stays. */
static void take_sample(struct top_board *b, size_t source, const struct top_sample *s)
{
    size_t of_source = 0;
    for (size_t i = 0; i < b->count; i++) {
        struct top_loader *l = &b->loaders[i];
        of_source += l->source == source;
        if (!same_loader(l, source, s))
            continue;
        l->here = true;
        if (s->at_ns != l->now.at_ns) {
            top_compare(&l->now, s, &l->rates);
            l->now = *s;
        }
        notice_silence(l);
        return;
    }
    if (of_source == TOP_LOADERS)
        return;
    b->loaders[b->count] = (struct top_loader){.source = source, .here = true, .now = *s};
    notice_silence(&b->loaders[b->count++]);
}

static bool read_source(struct top_board *b, size_t source, struct buf *text)
{
    struct top_sample s[TOP_LOADERS];
    struct imrec_error *err = &b->errors[source];
    uint64_t at_ns = 0;
    memset(err, 0, sizeof(*err));
    if (top_fetch(b->sources[source], text, &at_ns, err) != IMREC_OK)
        return false;
    const size_t n = top_parse((const char *)text->p, at_ns, s, TOP_LOADERS);
    for (size_t i = 0; i < n; i++)
        take_sample(b, source, &s[i]);
    if (n == 0) {
        err->status = IMREC_ERR_CORRUPT;
        snprintf(err->message, sizeof(err->message), "%.200s: has no metrics of a loader",
                 b->sources[source]);
    }
    return n > 0;
}

size_t top_board_read(struct top_board *b)
{
    struct buf text = BUF_INIT(TOP_TEXT_BYTES + 1);
    size_t good = 0;
    for (size_t i = 0; i < b->count; i++)
        b->loaders[i].here = false;
    for (size_t i = 0; i < b->source_count; i++)
        good += read_source(b, i, &text);
    buf_free(&text);
    return good;
}

bool top_board_is_known(const struct top_board *b)
{
    for (size_t i = 0; i < b->count; i++)
        if (b->loaders[i].here && !b->loaders[i].rates.known)
            return false;
    return true;
}

/* ---- text ----------------------------------------------------------------------------------- */

struct page {
    FILE *out;
    bool terminal;
    int columns;
};

static void put_line(const struct page *p, const char *line)
{
    const int most = p->columns > 0 ? p->columns : LINE_BYTES;
    fprintf(p->out, "%.*s%s\n", most, line, p->terminal ? "\033[K" : "");
}

static void bar(const struct top_rates *r, char out[BAR + 1])
{
    const int decode = (int)(r->decode * BAR + 0.5);
    int augment = (int)(r->augment * BAR + 0.5);
    if (decode + augment > BAR)
        augment = BAR - decode;
    memset(out, '.', BAR);
    memset(out, 'D', (size_t)decode);
    memset(out + decode, 'A', (size_t)augment);
    out[BAR] = '\0';
}

static void show_loader(const struct page *p, const struct top_loader *l)
{
    char line[LINE_BYTES], rank[64], rate[HUMAN_BYTES], failed[HUMAN_BYTES], workers[BAR + 1];
    const struct top_rates *r = &l->rates;
    snprintf(rank, sizeof(rank), "%s/%s", l->now.rank, l->now.ranks);
    human_count((uint64_t)l->now.is[TOP_FAILED], failed);
    bar(r, workers);
    if (!r->known)
        snprintf(line, sizeof(line), "%-8s %9s %7s %6s %5s  %-16s %5.0f %8s %7.0f  %-10s %.40s",
                 cli_show(rank), "-", "-", "-", "-", "-", l->now.is[TOP_WORKERS], failed,
                 l->now.is[TOP_EPOCH], top_limit_name(r->limit), cli_show(l->now.set));
    else
        snprintf(line, sizeof(line),
                 "%-8s %9s %7.1f %5.0f%% %4.0f%%  %-16s %5.0f %8s %7.0f  %-10s %.40s",
                 cli_show(rank), human_count((uint64_t)(r->images_per_s + 0.5), rate),
                 r->read_mb_per_s, 100 * r->loop_waits, 100 * r->io_waits, workers,
                 l->now.is[TOP_WORKERS], failed, l->now.is[TOP_EPOCH], top_limit_name(r->limit),
                 cli_show(l->now.set));
    put_line(p, line);
}

static void show_sum(const struct page *p, const struct top_board *b)
{
    char line[LINE_BYTES], rate[HUMAN_BYTES], failed[HUMAN_BYTES];
    char loaders[HUMAN_THINGS], images[HUMAN_THINGS];
    double per_s = 0, mb = 0, made = 0, bad = 0;
    size_t n = 0;
    for (size_t i = 0; i < b->count; i++) {
        const struct top_loader *l = &b->loaders[i];
        if (!l->here)
            continue;
        n++;
        per_s += l->rates.images_per_s;
        mb += l->rates.read_mb_per_s;
        made += l->now.is[TOP_IMAGES];
        bad += l->now.is[TOP_FAILED];
    }
    snprintf(line, sizeof(line), "%s: %s images/s, %.1f MB/s; %s since opening, %s failed",
             human_things(n, "loader", loaders), human_count((uint64_t)(per_s + 0.5), rate), mb,
             human_things((uint64_t)made, "image", images), human_count((uint64_t)bad, failed));
    put_line(p, line);
}

void top_show(const struct top_board *b, FILE *out, bool terminal, int columns)
{
    const struct page p = {out, terminal, columns};
    char line[LINE_BYTES];
    show_sum(&p, b);
    snprintf(line, sizeof(line), "%-8s %9s %7s %6s %5s  %-16s %5s %8s %7s  %-10s %s", "rank",
             "images/s", "MB/s", "waits", "I/O", "workers' time", "thr", "failed", "epoch", "limit",
             "set");
    put_line(&p, line);
    for (size_t i = 0; i < b->count; i++)
        if (b->loaders[i].here)
            show_loader(&p, &b->loaders[i]);
    for (size_t i = 0; i < b->source_count; i++)
        if (b->errors[i].status != IMREC_OK)
            put_line(&p, cli_show(b->errors[i].message));
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void json_loader(struct json *j, const struct top_board *b, const struct top_loader *l)
{
    const struct top_rates *r = &l->rates;
    json_object(j, NULL);
    json_text(j, "source", b->sources[l->source]);
    json_text(j, "rank", l->now.rank);
    json_text(j, "ranks", l->now.ranks);
    json_text(j, "set", l->now.set);
    JSON_UINTS(
        j, {"images", (uint64_t)l->now.is[TOP_IMAGES]},
        {"batches", (uint64_t)l->now.is[TOP_BATCHES]}, {"failed", (uint64_t)l->now.is[TOP_FAILED]},
        {"replaced", (uint64_t)l->now.is[TOP_REPLACED]},
        {"damaged_ranges", (uint64_t)l->now.is[TOP_DAMAGED]},
        {"store_bytes", (uint64_t)l->now.is[TOP_STORE_BYTES]},
        {"store_retries", (uint64_t)l->now.is[TOP_RETRIES]},
        {"epoch", (uint64_t)l->now.is[TOP_EPOCH]}, {"sample", (uint64_t)l->now.is[TOP_SAMPLE]},
        {"workers", (uint64_t)l->now.is[TOP_WORKERS]},
        {"planned_memory_bytes", (uint64_t)l->now.is[TOP_MEMORY]});
    if (r->known)
        JSON_ROUNDED(j, {"seconds", r->seconds}, {"images_per_s", r->images_per_s},
                     {"read_mb_per_s", r->read_mb_per_s}, {"consumer_wait_share", r->loop_waits},
                     {"io_wait_share", r->io_waits}, {"all_ready_share", r->all_ready},
                     {"decode_share", r->decode}, {"augment_share", r->augment});
    if (r->limit != TOP_UNKNOWN)
        json_text(j, "limit", top_limit_name(r->limit));
    json_end(j);
}

void top_show_json(const struct top_board *b, struct json *j)
{
    json_array(j, "loaders");
    for (size_t i = 0; i < b->count; i++)
        if (b->loaders[i].here)
            json_loader(j, b, &b->loaders[i]);
    json_end(j);
    json_array(j, "errors");
    for (size_t i = 0; i < b->source_count; i++)
        if (b->errors[i].status != IMREC_OK)
            json_text(j, NULL, b->errors[i].message);
    json_end(j);
}
