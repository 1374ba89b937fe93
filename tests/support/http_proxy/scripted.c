/*
 * tests/support/http_proxy/scripted.c - what c->act asks for, but what happens on the way.
 *
 * `changed` is another version of the object: its ETag has "changed-" in front. Conditions of the
 * request are translated: those on the changed ETag reach the origin with its own, those on the
 * origin's fail.
 */
#include "tests/support/http_proxy/scripted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char mark[] = "\"changed-";

/* ---- requests -------------------------------------------------------------------------------- */

static bool is_of_changed(const char *tags)
{
    return strstr(tags, mark) != NULL || strcmp(tags, "*") == 0;
}

/* The field without the mark, as the origin knows it. */
static void unmark(struct head *h, const char *name)
{
    const char *value = head_get(h, name), *at = value != NULL ? strstr(value, mark) : NULL;
    char text[512];
    if (at == NULL)
        return;
    snprintf(text, sizeof(text), "%.*s\"%s", (int)(at - value), value, at + sizeof(mark) - 1);
    head_set(h, name, text);
}

/* False: If-Match names the version that is no more. */
static bool meet_changed(struct head *h)
{
    const char *match = head_get(h, "If-Match"), *none = head_get(h, "If-None-Match"),
               *range = head_get(h, "If-Range");
    if (match != NULL && !is_of_changed(match))
        return false;
    if (none != NULL && !is_of_changed(none))
        head_remove(h, "If-None-Match");
    if (range != NULL && !is_of_changed(range))
        head_remove(h, "Range");
    unmark(h, "If-Match");
    unmark(h, "If-None-Match");
    unmark(h, "If-Range");
    return true;
}

static void begin(struct connection *c)
{
    (void)c;
}

static size_t body(struct connection *c, const char *p, size_t n)
{
    (void)c, (void)p;
    return n;
}

static void end(struct connection *c)
{
    static const char garbage[] = "\001\002this is no HTTP\377\r\n\r\n";
    const struct actions *act = &c->act;
    struct answer *a = &c->answer;
    char text[32];
    if (act->hang_head)
        return; /* until the client leaves */
    if (act->garbage) {
        a->raw = c->close_after = true;
        fifo_add(&a->out, garbage, sizeof(garbage) - 1);
    } else if (act->status != NOT_ASKED) {
        answer_text(a, (int)act->status, "scripted answer %d\n", (int)act->status);
        snprintf(text, sizeof(text), "%lld", (long long)act->retry_after);
        if (act->retry_after != NOT_ASKED)
            head_add(&a->head, "Retry-After", text);
    } else {
        answer_text(a, 302, "it is elsewhere\n");
        head_add(&a->head, "Location", act->redirect_loop ? c->request.start[1] : act->redirect);
    }
    connection_answer(c);
}

static const struct handler scripted_handler = {begin, body, end};

const struct handler *scripted_request(struct connection *c)
{
    struct actions *act = &c->act;
    if (act->ignore_range)
        head_remove(&c->request, "Range");
    if (act->changed && !meet_changed(&c->request))
        act->status = 412;
    const bool here = act->hang_head || act->garbage || act->status != NOT_ASKED ||
                      act->redirect != NULL || act->redirect_loop;
    return here ? &scripted_handler : NULL;
}

/* ---- answers --------------------------------------------------------------------------------- */

static void set_wrong_range(struct head *h, bool total)
{
    unsigned long long first, last, size;
    char text[128];
    const char *range = head_get(h, "Content-Range");
    if (range == NULL || sscanf(range, "bytes %llu-%llu/%llu", &first, &last, &size) != 3)
        return;
    const int by = total ? 0 : first == 0 ? 1 : -1;
    snprintf(text, sizeof(text), "bytes %llu-%llu/%llu", first + (unsigned long long)by,
             last + (unsigned long long)by, total ? size + 1 : size);
    head_set(h, "Content-Range", text);
}

static void set_header(struct head *h, const char *line)
{
    const char *colon = strchr(line, ':');
    char *name = must(strndup(line, (size_t)(colon - line)));
    const char *value = colon + 1 + strspn(colon + 1, " ");
    head_remove(h, name);
    if (*value != '\0')
        head_add(h, name, value);
    free(name);
}

static void change_head(const struct actions *act, struct head *h)
{
    const char *tag = head_get(h, "ETag");
    char text[512];
    if (act->changed && tag != NULL && *tag == '"') {
        snprintf(text, sizeof(text), "%s%s", mark, tag + 1);
        head_set(h, "ETag", text);
    }
    if (act->wrong_range != NULL)
        set_wrong_range(h, strcmp(act->wrong_range, "total") == 0);
    if (act->no_content_range)
        head_remove(h, "Content-Range");
    if (act->huge_header > 0) {
        char *huge = must(malloc((size_t)act->huge_header + 1));
        memset(huge, 'h', (size_t)act->huge_header);
        huge[act->huge_header] = '\0';
        head_add(h, "X-Huge", huge);
        free(huge);
    }
    for (int i = 0; i < HEADERS && act->header[i] != NULL; i++)
        set_header(h, act->header[i]);
}

static void set_stop(const struct actions *act, struct answer *a)
{
    const uint64_t length = a->bare ? 0 : a->length;
    if (act->stall_ms != NOT_ASKED) {
        a->stop = STOP_STALL;
        a->stop_at = length == UINT64_MAX ? 1 : length / 2;
    } else if (act->short_after != NOT_ASKED) {
        a->stop = STOP_SHORT;
        a->stop_at = (uint64_t)act->short_after;
    } else if (act->reset_after != NOT_ASKED) {
        a->stop = STOP_RESET;
        a->stop_at = (uint64_t)act->reset_after;
    }
    if (a->stop_at >= length && a->stop_at != 0) { /* there is nothing to break */
        a->stop = STOP_NONE;
        a->stop_at = UINT64_MAX;
    }
}

void scripted_answer(struct connection *c)
{
    const struct actions *act = &c->act;
    struct answer *a = &c->answer;
    c->close_after = c->close_after || act->close;
    if (a->raw)
        return;
    const int status = atoi(a->head.start[1]);
    const bool good = status == 200 || status == 206;
    a->changed = act->changed && good;
    if (act->corrupt != NOT_ASKED && good)
        a->corrupt = act->corrupt >= 0         ? (uint64_t)act->corrupt
                     : a->length != UINT64_MAX ? a->length / 2
                                               : 0;
    change_head(act, &a->head);
    if ((act->chunked || a->length == UINT64_MAX) && status != 204 && status != 304) {
        a->chunked = !a->bare;
        head_remove(&a->head, "Content-Length");
        head_set(&a->head, "Transfer-Encoding", "chunked");
    }
    set_stop(act, a);
}
