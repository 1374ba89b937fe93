/* tools/view/browse_serve.c - serves a set to a browser.
 *
 * A page of another site must not read the set: its requests name that site in Host (DNS
 * rebinding), and are refused; what is answered may not be embedded elsewhere, and runs no script.
 */
#include "tools/view/browse_serve.h"

#include "base/http/http_listen.h"
#include "base/http/http_server.h"
#include "tools/view/browse_page.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define BODY_BYTES ((size_t)64 << 20)

static const char headers[] =
    "Content-Security-Policy: default-src 'none'; img-src 'self'; style-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\nCache-Control: no-store\r\n";

struct site {
    struct browse browse;
    const char *host_name;
};

/* ---- who may ask ---------------------------------------------------------------------------- */

/* An address is nobody's name: no server of names can make it point here. */
static bool is_address(const char *host)
{
    unsigned char address[16];
    return inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
}

/* "localhost:8080", "127.0.0.1", "[::1]:8080". */
static bool is_ours(const struct site *s, const char *value)
{
    char host[256];
    const bool bracketed = value[0] == '[';
    const size_t n = strcspn(value + bracketed, bracketed ? "]" : ":");
    const char *rest = value + bracketed + n;
    if (n == 0 || n >= sizeof(host) || (bracketed && *rest++ != ']') ||
        (*rest == ':' && strspn(rest + 1, "0123456789") != strlen(rest + 1)) ||
        (*rest != ':' && *rest != '\0'))
        return false;
    memcpy(host, value + bracketed, n);
    host[n] = '\0';
    return is_address(host) || strcasecmp(host, "localhost") == 0 ||
           (s->host_name[0] != '\0' && strcasecmp(host, s->host_name) == 0);
}

/* ---- what is asked -------------------------------------------------------------------------- */

/* The text that write(context) makes, as the body. */
struct page {
    struct browse *browse;
    const struct browse_query *query;
    uint64_t number;
    enum { PAGE_LIST, PAGE_JSON, PAGE_RECORD, PAGE_STYLE } kind;
};

static enum imrec_status put_page(const struct page *p, struct http_answer *a)
{
    static const char *const types[] = {"text/html; charset=utf-8", "application/json",
                                        "text/html; charset=utf-8", "text/css; charset=utf-8"};
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    if (out == NULL)
        return IMREC_ERR_NO_MEMORY;
    if (p->kind == PAGE_LIST)
        browse_list(p->browse, p->query, out);
    else if (p->kind == PAGE_JSON)
        browse_list_json(p->browse, p->query, out);
    else if (p->kind == PAGE_RECORD)
        browse_record(p->browse, p->number, out);
    else
        browse_style(out);
    const bool good = ferror(out) == 0;
    const enum imrec_status st =
        fclose(out) == 0 && good ? buf_append(&a->body, text, n, NULL) : IMREC_ERR_NO_MEMORY;
    free(text);
    a->status = "200 OK";
    a->type = types[p->kind];
    return st;
}

static enum imrec_status refuse(struct http_answer *a, const char *status, const char *why)
{
    a->status = status;
    return buf_append(&a->body, why, strlen(why), NULL);
}

static enum imrec_status
answer_list(struct browse *b, const struct http_request *q, bool json, struct http_answer *a)
{
    struct browse_query query;
    char why[200];
    if (!browse_query_read(q->query, b->classes, &query, why))
        return refuse(a, "400 Bad Request", why);
    return put_page(&(struct page){b, &query, 0, json ? PAGE_JSON : PAGE_LIST}, a);
}

/* "/thumb/17": the number after `prefix`, of a record that there is. */
static bool
names_record(const struct browse *b, const char *path, const char *prefix, uint64_t *number)
{
    const size_t n = strlen(prefix);
    const char *digits = path + n;
    if (strncmp(path, prefix, n) != 0 || digits[0] == '\0' || strlen(digits) > 18 ||
        strspn(digits, "0123456789") != strlen(digits))
        return false;
    *number = strtoull(digits, NULL, 10);
    return *number < b->index.count;
}

static enum imrec_status
answer_image(struct browse *b, uint64_t number, bool small, struct http_answer *a)
{
    struct imrec_error err;
    a->status = "200 OK";
    if (browse_image(b, number, small, &a->type, &a->body, &err) == IMREC_OK)
        return IMREC_OK;
    a->type = "text/plain; charset=utf-8";
    return refuse(a, "404 Not Found", cli_show(err.message));
}

static enum imrec_status answer(void *context, const struct http_request *q, struct http_answer *a)
{
    struct site *s = context;
    struct browse *b = &s->browse;
    uint64_t number;
    memcpy(a->headers, headers, sizeof(headers));
    if (!is_ours(s, q->host))
        return refuse(a, "421 Misdirected Request",
                      "This server answers to addresses and localhost: see --host-name.");
    if (strcmp(q->path, "/") == 0 || strcmp(q->path, "/json") == 0)
        return answer_list(b, q, q->path[1] != '\0', a);
    if (strcmp(q->path, "/style.css") == 0)
        return put_page(&(struct page){b, NULL, 0, PAGE_STYLE}, a);
    if (names_record(b, q->path, "/record/", &number))
        return put_page(&(struct page){b, NULL, number, PAGE_RECORD}, a);
    if (names_record(b, q->path, "/thumb/", &number))
        return answer_image(b, number, true, a);
    if (names_record(b, q->path, "/image/", &number))
        return answer_image(b, number, false, a);
    a->status = "404 Not Found";
    return IMREC_OK;
}

/* ---- life ----------------------------------------------------------------------------------- */

static int g_wake[2] = {-1, -1};

static void end(int signal)
{
    const int error = errno;
    (void)signal;
    if (write(g_wake[1], "", 1) < 0) {
        /* there is a byte in it already */
    }
    errno = error;
}

static bool catch_signals(const char *name)
{
    struct sigaction ends = {.sa_handler = end};
    if (pipe(g_wake) != 0) {
        (void)cli_say(name, "the system refuses a pipe: %s", strerror(errno));
        return false;
    }
    (void)fcntl(g_wake[1], F_SETFL, O_NONBLOCK);
    sigaction(SIGINT, &ends, NULL);
    sigaction(SIGTERM, &ends, NULL);
    return true;
}

static void say(const struct browse_serve *s, const struct http_listener *l, uint64_t records)
{
    struct json j;
    char url[400], count[HUMAN_THINGS];
    snprintf(url, sizeof(url), "%s%s%s", l->path != NULL ? "" : "http://", l->where,
             l->path != NULL ? "" : "/");
    if (s->as_json) {
        json_begin_line(&j, stdout);
        json_text(&j, "url", url);
        json_uint(&j, "records", records);
        json_close(&j);
    } else {
        printf("%s: %s; Ctrl-C ends\n", url, human_things(records, "record", count));
    }
    (void)fflush(stdout);
}

static int serve(const struct browse_serve *s, struct site *site, const struct http_listener *l)
{
    struct imrec_error err;
    struct http_server *server;
    const struct http_service service = {l->fd, g_wake[0], site, answer, BODY_BYTES};
    if (http_server_new(&service, &server, &err) != IMREC_OK)
        return cli_fail(s->name, &err);
    say(s, l, site->browse.index.count);
    http_server_run(server);
    http_server_free(server);
    return EXIT_OK;
}

static enum imrec_status
open_set(const struct browse_serve *s, const char *uri, struct browse *b, struct imrec_error *err)
{
    enum imrec_status st = imrec_decoder_new(&b->decoder, err);
    if (st == IMREC_OK)
        st = imrec_classes_open_with(uri, s->reader, &b->classes, err);
    if (st == IMREC_OK)
        st = imrec_names_open_with(uri, s->reader, &b->names, err);
    if (st == IMREC_OK)
        st = imrec_reader_open_with(uri, 0, 1, s->reader, &b->reader, err);
    return st == IMREC_OK ? browse_index_make(b->reader, s->max_records, &b->index, err) : st;
}

int browse_serve(const struct browse_serve *s, const char *uri)
{
    const struct http_words words = {
        .before = "--listen ",
        .in_use = "another program",
        .or_file = "",
        .only_loopback = s->network
                             ? NULL
                             : "others than this machine would see the set, without a password; "
                               "--network allows that",
    };
    struct site site = {.browse.title = uri, .host_name = s->host_name};
    struct http_listener listener;
    struct imrec_error err;
    int status;
    const enum imrec_status st = http_listen(&words, s->listen, &listener, &err);
    if (st != IMREC_OK)
        return st == IMREC_ERR_ARGUMENT ? cli_refuse(stderr, s->name, "%s", err.message)
                                        : cli_fail(s->name, &err);
    if (open_set(s, uri, &site.browse, &err) != IMREC_OK)
        status = cli_fail(s->name, &err);
    else
        status = catch_signals(s->name) ? serve(s, &site, &listener) : EXIT_FAILED;
    http_listener_close(&listener);
    browse_index_free(&site.browse.index);
    imrec_reader_close(site.browse.reader);
    imrec_names_close(site.browse.names);
    imrec_classes_close(site.browse.classes);
    imrec_decoder_free(site.browse.decoder);
    return status;
}
