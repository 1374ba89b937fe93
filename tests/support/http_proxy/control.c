/* tests/support/http_proxy/control.c - /_proxy/: counters and the log out, rules in. */
#include "tests/support/http_proxy/connection.h"

#include <string.h>

enum { RULES_MAX = 1 << 20 };

static void begin(struct connection *c)
{
    (void)c;
}

static size_t body(struct connection *c, const char *p, size_t n)
{
    if (fifo_size(&c->kept) < RULES_MAX)
        fifo_add(&c->kept, p, n);
    return n;
}

static void show_stats(struct connection *c)
{
    struct fifo json = {0};
    stats_report(&c->server->stats, &json);
    fifo_print(&json, ",\"rules\":");
    rules_report(&c->server->rules, &json);
    fifo_print(&json, "}\n");
    answer_json(&c->answer, &json);
    fifo_free(&json);
}

static void show_log(struct connection *c)
{
    struct fifo json = {0};
    stats_log(&c->server->stats, &json);
    answer_json(&c->answer, &json);
    fifo_free(&json);
}

static void take_rules(struct connection *c)
{
    fifo_add(&c->kept, "", 1);
    const char *why = rules_replace(&c->server->rules, fifo_front(&c->kept));
    if (why != NULL)
        answer_text(&c->answer, 400, "%s; the rules are as before\n", why);
    else
        answer_text(&c->answer, 200, "the rules are replaced\n");
}

static void reset(struct connection *c)
{
    stats_reset(&c->server->stats);
    rules_reset(&c->server->rules);
    answer_text(&c->answer, 200, "counts begin again\n");
}

static void end(struct connection *c)
{
    static const struct {
        const char *method, *path;
        void (*answer)(struct connection *);
    } doors[] = {
        {"GET", "/_proxy/stats", show_stats},
        {"GET", "/_proxy/log", show_log},
        {"POST", "/_proxy/rules", take_rules},
        {"POST", "/_proxy/reset", reset},
    };
    size_t i = 0, n = sizeof(doors) / sizeof(doors[0]);
    while (i < n && (strcmp(doors[i].method, c->request.start[0]) != 0 ||
                     strcmp(doors[i].path, c->request.start[1]) != 0))
        i++;
    if (i < n)
        doors[i].answer(c);
    else
        answer_text(&c->answer, 404, "GET stats, GET log, POST rules, POST reset\n");
    connection_answer(c);
}

const struct handler control_handler = {begin, body, end};
