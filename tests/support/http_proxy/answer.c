/* tests/support/http_proxy/answer.c - heads and small bodies. */
#include "tests/support/http_proxy/answer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct {
    int status;
    const char *reason;
} reasons[] = {
    {200, "OK"},
    {201, "Created"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {412, "Precondition Failed"},
    {416, "Range Not Satisfiable"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
};

static const char *reason_of(int status)
{
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return "Scripted";
}

void answer_init(struct answer *a)
{
    *a = (struct answer){.fd = -1, .corrupt = UINT64_MAX, .stop_at = UINT64_MAX};
}

void answer_free(struct answer *a)
{
    if (a->fd >= 0)
        close(a->fd);
    head_free(&a->head);
    fifo_free(&a->memory);
    fifo_free(&a->out);
    answer_init(a);
}

void answer_start(struct answer *a, int status)
{
    char text[64];
    const time_t now = time(NULL);
    struct tm tm;
    head_free(&a->head);
    snprintf(text, sizeof(text), "%d", status);
    head_start(&a->head, "HTTP/1.1", text, reason_of(status));
    strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&now, &tm));
    head_add(&a->head, "Date", text);
    head_add(&a->head, "Server", "http_proxy");
}

static void set_length(struct answer *a)
{
    char text[32];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)a->length);
    head_set(&a->head, "Content-Length", text);
}

void answer_text(struct answer *a, int status, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    answer_start(a, status);
    a->source = SOURCE_MEMORY;
    a->length = n < (int)sizeof(text) ? (uint64_t)n : sizeof(text) - 1;
    fifo_add(&a->memory, text, (size_t)a->length);
    if (status == 204 || status == 304)
        return;
    head_add(&a->head, "Content-Type", "text/plain");
    set_length(a);
}

void answer_json(struct answer *a, const struct fifo *json)
{
    answer_start(a, 200);
    a->source = SOURCE_MEMORY;
    a->length = fifo_size(json);
    fifo_add(&a->memory, fifo_front(json), fifo_size(json));
    head_add(&a->head, "Content-Type", "application/json");
    set_length(a);
}

void answer_file(struct answer *a, int fd, uint64_t offset, uint64_t length)
{
    a->source = SOURCE_FILE;
    a->fd = fd;
    a->offset = offset;
    a->length = length;
    set_length(a);
}

bool answer_is_spoilt(const struct answer *a)
{
    return a->changed || a->corrupt != UINT64_MAX;
}

void answer_spoil(const struct answer *a, char *p, size_t n)
{
    for (size_t i = 0; a->changed && i < n; i++)
        p[i] = (char)(p[i] ^ 0x5a);
    if (a->corrupt != UINT64_MAX && a->corrupt >= a->at && a->corrupt - a->at < n)
        p[a->corrupt - a->at] = (char)(p[a->corrupt - a->at] ^ 0x01);
}

void answer_chunk_head(struct answer *a, size_t n)
{
    if (a->chunked)
        fifo_print(&a->out, "%zx\r\n", n);
}

void answer_chunk_end(struct answer *a)
{
    if (a->chunked)
        fifo_add(&a->out, "\r\n", 2);
}

void answer_last_chunk(struct answer *a)
{
    if (a->chunked)
        fifo_add(&a->out, "0\r\n\r\n", 5);
}
