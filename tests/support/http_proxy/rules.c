/*
 * tests/support/http_proxy/rules.c - rules as text, and the actions that they choose.
 *
 * A rule counts the requests that it matches and acts by that number alone, so that a run can be
 * repeated: share= compares a hash of seed and number. Every rule that acts adds its actions;
 * where two give one value, the later counts.
 */
#include "tests/support/http_proxy/rules.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rule {
    struct rule *next;
    char *shown, *text; /* as given; and cut into words */
    const char *match, *method;
    int64_t skip, nth, every, times;
    uint64_t seed;
    double share;
    struct actions actions;
    int64_t seen, hits;
};

enum kind { FLAG, NUMBER, TEXT, HEADER };
struct key {
    const char *name;
    enum kind kind;
    size_t at;
    int64_t preset; /* of a number without a value; NOT_ASKED: it must have one */
};
#define ACTION(name) offsetof(struct rule, actions.name)
static const struct key actions_by_name[] = {
    {"reset", FLAG, ACTION(reset), 0},
    {"reset-after", NUMBER, ACTION(reset_after), NOT_ASKED},
    {"status", NUMBER, ACTION(status), 503},
    {"retry-after", NUMBER, ACTION(retry_after), NOT_ASKED},
    {"short", NUMBER, ACTION(short_after), NOT_ASKED},
    {"stall", NUMBER, ACTION(stall_ms), STALL_FOR_EVER},
    {"ignore-range", FLAG, ACTION(ignore_range), 0},
    {"wrong-range", TEXT, ACTION(wrong_range), 0},
    {"no-content-range", FLAG, ACTION(no_content_range), 0},
    {"changed", FLAG, ACTION(changed), 0},
    {"corrupt", NUMBER, ACTION(corrupt), CORRUPT_MIDDLE},
    {"redirect", TEXT, ACTION(redirect), 0},
    {"redirect-loop", FLAG, ACTION(redirect_loop), 0},
    {"slow", NUMBER, ACTION(slow), NOT_ASKED},
    {"delay", NUMBER, ACTION(delay_ms), NOT_ASKED},
    {"close", FLAG, ACTION(close), 0},
    {"header", HEADER, ACTION(header), 0},
    {"chunked", FLAG, ACTION(chunked), 0},
    {"hang-head", FLAG, ACTION(hang_head), 0},
    {"garbage", FLAG, ACTION(garbage), 0},
    {"huge-header", NUMBER, ACTION(huge_header), 1 << 20},
};
static const struct key conditions[] = {
    {"match", TEXT, offsetof(struct rule, match), 0},
    {"method", TEXT, offsetof(struct rule, method), 0},
    {"skip", NUMBER, offsetof(struct rule, skip), NOT_ASKED},
    {"nth", NUMBER, offsetof(struct rule, nth), NOT_ASKED},
    {"every", NUMBER, offsetof(struct rule, every), NOT_ASKED},
    {"times", NUMBER, offsetof(struct rule, times), NOT_ASKED},
    {"seed", NUMBER, offsetof(struct rule, seed), NOT_ASKED},
};
#define KEYS(table) (sizeof(table) / sizeof((table)[0]))

static const struct actions nothing = {
    .status = NOT_ASKED,
    .retry_after = NOT_ASKED,
    .corrupt = NOT_ASKED,
    .huge_header = NOT_ASKED,
    .reset_after = NOT_ASKED,
    .short_after = NOT_ASKED,
    .stall_ms = NOT_ASKED,
    .slow = NOT_ASKED,
    .delay_ms = NOT_ASKED,
};

/* ---- text to rule ---------------------------------------------------------------------------- */

static const struct key *find(const struct key *table, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

static const char *add_header(const char **headers, const char *value)
{
    if (strchr(value, ':') == NULL)
        return "header needs Name:Value";
    for (int i = 0; i < HEADERS; i++)
        if (headers[i] == NULL) {
            headers[i] = value;
            return NULL;
        }
    return "too many headers";
}

static const char *set(struct rule *r, const struct key *k, const char *value)
{
    void *at = (char *)r + k->at;
    char *end = NULL;
    if (k->kind == FLAG) {
        *(bool *)at = true;
    } else if (k->kind == TEXT) {
        *(const char **)at = value != NULL ? value : "";
    } else if (k->kind == HEADER) {
        return add_header(at, value != NULL ? value : "");
    } else {
        const int64_t x = value != NULL ? strtoll(value, &end, 10) : k->preset;
        if (value != NULL ? end == value || *end != '\0' : x == NOT_ASKED)
            return "a number is needed";
        *(int64_t *)at = k->at == ACTION(stall_ms) && x < 0 ? STALL_FOR_EVER : x;
    }
    return NULL;
}

/* The next word of *rest, ended by a 0 and without its quotes; NULL: there is none. */
static char *next_word(char **rest)
{
    char *from = *rest + strspn(*rest, " \t\r"), *to = from, *word = from;
    bool quoted = false;
    if (*from == '\0')
        return NULL;
    for (; *from != '\0' && (quoted || strchr(" \t\r", *from) == NULL); from++) {
        if (*from == '"')
            quoted = !quoted;
        else
            *to++ = *from;
    }
    *rest = *from == '\0' ? from : from + 1;
    *to = '\0';
    return word;
}

/* `*action` is the last that a do= named, for arg=. */
static const char *take_word(struct rule *r, char *word, const struct key **action)
{
    char *value = strchr(word, '=');
    if (value != NULL)
        *value++ = '\0';
    if (strcmp(word, "arg") == 0)
        return *action == NULL ? "arg= without do=" : set(r, *action, value);
    if (strcmp(word, "share") == 0) {
        r->share = value != NULL ? strtod(value, NULL) : 0;
        return NULL;
    }
    const struct key *k = find(conditions, KEYS(conditions), word);
    if (k != NULL)
        return set(r, k, value);
    if (strcmp(word, "do") == 0) {
        word = value != NULL ? value : word;
        if ((value = strchr(word, '=')) != NULL)
            *value++ = '\0';
    }
    *action = find(actions_by_name, KEYS(actions_by_name), word);
    if (*action == NULL)
        return "no such condition or action";
    return set(r, *action, value);
}

/* With do=NAME arg=X the number comes a word later. */
static bool waits_for_arg(const char *why, const char *rest)
{
    rest += strspn(rest, " \t");
    return strcmp(why, "a number is needed") == 0 && strncmp(rest, "arg=", 4) == 0;
}

static const char *parse(struct rule *r)
{
    const struct key *action = NULL;
    char *rest = r->text;
    bool any = false;
    for (char *word; (word = next_word(&rest)) != NULL;) {
        const char *why = take_word(r, word, &action);
        if (why != NULL && !waits_for_arg(why, rest))
            return why;
        any = any || action != NULL;
    }
    return any ? NULL : "a rule needs an action: do=...";
}

static void rule_free(struct rule *r)
{
    free(r->shown);
    free(r->text);
    free(r);
}

const char *rules_add(struct rules *rules, const char *text)
{
    struct rule *r = must(calloc(1, sizeof(*r))), **last = &rules->first;
    *r = (struct rule){.match = "", .method = "", .share = 1, .actions = nothing};
    r->nth = r->every = r->times = NOT_ASKED;
    r->shown = must_copy(text);
    r->text = must_copy(text);
    const char *why = parse(r);
    if (why != NULL) {
        rule_free(r);
        return why;
    }
    while (*last != NULL)
        last = &(*last)->next;
    *last = r;
    return NULL;
}

const char *rules_replace(struct rules *rules, const char *lines)
{
    struct rules fresh = {0};
    const char *why = NULL;
    char *text = must_copy(lines), *rest = text;
    for (char *line; why == NULL && (line = strtok_r(rest, "\r\n", &rest)) != NULL;)
        if (line[strspn(line, " \t")] != '\0')
            why = rules_add(&fresh, line);
    free(text);
    if (why != NULL) {
        rules_free(&fresh);
        return why;
    }
    for (struct rule *r; (r = rules->first) != NULL;) {
        rules->first = r->next;
        r->next = rules->replaced;
        rules->replaced = r;
    }
    rules->first = fresh.first;
    return NULL;
}

/* ---- rule to actions ------------------------------------------------------------------------- */

static double chance(uint64_t seed, int64_t number) /* [0, 1): splitmix64 */
{
    uint64_t z = seed * 0xd1342543de82ef95u + (uint64_t)number * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static bool acts(struct rule *r, const char *method, const char *target)
{
    if ((*r->method != '\0' && strcmp(r->method, method) != 0) || strstr(target, r->match) == NULL)
        return false;
    const int64_t n = ++r->seen - r->skip; /* from 1 */
    return n > 0 && (r->nth == NOT_ASKED || n == r->nth) && (r->every <= 0 || n % r->every == 0) &&
           (r->times == NOT_ASKED || r->hits < r->times) && chance(r->seed, n) < r->share;
}

static void add_actions(struct actions *to, const struct rule *r)
{
    for (size_t i = 0; i < KEYS(actions_by_name); i++) {
        const struct key *k = &actions_by_name[i];
        const size_t at = k->at - offsetof(struct rule, actions);
        const void *from = (const char *)&r->actions + at;
        void *out = (char *)to + at;
        if (k->kind == FLAG && *(const bool *)from)
            *(bool *)out = true;
        else if (k->kind == TEXT && *(const char *const *)from != NULL)
            *(const char **)out = *(const char *const *)from;
        else if (k->kind == NUMBER && *(const int64_t *)from != NOT_ASKED)
            *(int64_t *)out = *(const int64_t *)from;
    }
    for (int i = 0; i < HEADERS && r->actions.header[i] != NULL; i++)
        (void)add_header(to->header, r->actions.header[i]);
}

struct actions rules_pick(struct rules *rules, const char *method, const char *target)
{
    struct actions a = nothing;
    for (struct rule *r = rules->first; r != NULL; r = r->next)
        if (acts(r, method, target)) {
            r->hits++;
            add_actions(&a, r);
        }
    return a;
}

/* ---- report ---------------------------------------------------------------------------------- */

void json_text(struct fifo *json, const char *text)
{
    fifo_add(json, "\"", 1);
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p++) {
        if (*p < ' ' || *p > '~' || *p == '"' || *p == '\\')
            fifo_print(json, "\\u%04x", *p);
        else
            fifo_add(json, p, 1);
    }
    fifo_add(json, "\"", 1);
}

void rules_report(const struct rules *rules, struct fifo *json)
{
    fifo_print(json, "[");
    for (const struct rule *r = rules->first; r != NULL; r = r->next) {
        fifo_print(json, "%s{\"hits\":%lld,\"seen\":%lld,\"rule\":", r != rules->first ? "," : "",
                   (long long)r->hits, (long long)r->seen);
        json_text(json, r->shown);
        fifo_print(json, "}");
    }
    fifo_print(json, "]");
}

void rules_reset(struct rules *rules)
{
    for (struct rule *r = rules->first; r != NULL; r = r->next)
        r->seen = r->hits = 0;
}

void rules_free(struct rules *rules)
{
    struct rule *const lists[] = {rules->first, rules->replaced};
    for (int i = 0; i < 2; i++)
        for (struct rule *r = lists[i], *next; r != NULL; r = next) {
            next = r->next;
            rule_free(r);
        }
    *rules = (struct rules){0};
}
