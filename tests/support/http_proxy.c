/* tests/support/http_proxy.c - starts the program, and talks to its /_proxy/. */
#include "tests/support/http_proxy.h"

#include "tests/support/http_wire.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OPTIONS = 64 };

static void need(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "http_proxy: %s\n", what);
    abort();
}

static void make_pipe(int ends[2]) /* which no other program inherits */
{
    need(pipe(ends) == 0, "no pipe");
    for (int i = 0; i < 2; i++)
        need(fcntl(ends[i], F_SETFD, FD_CLOEXEC) == 0, "no pipe");
}

static void run(const char **argv, const int in[2], const int out[2])
{
    if (dup2(in[0], STDIN_FILENO) < 0 || dup2(out[1], STDOUT_FILENO) < 0)
        _exit(99);
    execv(argv[0], (char **)(void *)argv);
    perror(argv[0]);
    _exit(99);
}

static struct proxy *start(const char **argv)
{
    struct proxy *p = calloc(1, sizeof(*p));
    int in[2], out[2];
    need(p != NULL, "out of memory");
    make_pipe(in);
    make_pipe(out);
    p->pid = fork();
    need(p->pid >= 0, "no process");
    if (p->pid == 0)
        run(argv, in, out);
    close(in[0]);
    close(out[1]);
    p->input = in[1];
    for (size_t n = 0; n < sizeof(p->url) - 1 && read(out[0], p->url + n, 1) == 1; n++)
        if (p->url[n] == '\n')
            p->url[n] = '\0', n = sizeof(p->url);
    close(out[0]);
    const char *colon = strrchr(p->url, ':');
    p->port = colon != NULL ? atoi(colon + 1) : 0;
    need(p->port > 0, "it did not start");
    return p;
}

struct proxy *proxy_start(const char *folder, ...)
{
    const char *program = getenv("IMREC_HTTP_PROXY"), *argv[OPTIONS + 1];
    int n = 0;
    va_list options;
    argv[n++] = program != NULL ? program : HTTP_PROXY_PROGRAM;
    argv[n++] = "--until-eof";
    if (folder != NULL) {
        argv[n++] = "--folder";
        argv[n++] = folder;
    }
    va_start(options, folder);
    do
        need(n <= OPTIONS, "too many options");
    while ((argv[n++] = va_arg(options, const char *)) != NULL);
    va_end(options);
    return start(argv);
}

static char *ask(struct proxy *p, const char *method, const char *target, const char *body)
{
    struct raw_answer a = raw_ask(p->port, method, target, "Connection: close\r\n", body);
    need(a.status == 200, a.n != 0 ? a.body : "no answer");
    free(a.head);
    return a.body;
}

void proxy_rules(struct proxy *p, const char *rules)
{
    free(ask(p, "POST", "/_proxy/rules", rules));
}

void proxy_reset(struct proxy *p)
{
    free(ask(p, "POST", "/_proxy/reset", ""));
}

double proxy_stat(struct proxy *p, const char *key)
{
    char quoted[64];
    char *stats = ask(p, "GET", "/_proxy/stats", NULL);
    snprintf(quoted, sizeof(quoted), "\"%s\":", key);
    const char *at = strstr(stats, quoted);
    const double value = at != NULL ? strtod(at + strlen(quoted), NULL) : 0;
    free(stats);
    return value;
}

long proxy_hits(struct proxy *p, int rule)
{
    static const char key[] = "{\"hits\":";
    char *stats = ask(p, "GET", "/_proxy/stats", NULL);
    const char *at = strstr(stats, key);
    for (int i = 0; i < rule && at != NULL; i++)
        at = strstr(at + 1, key);
    need(at != NULL, "it has fewer rules");
    const long hits = strtol(at + strlen(key), NULL, 10);
    free(stats);
    return hits;
}

char *proxy_log(struct proxy *p)
{
    return ask(p, "GET", "/_proxy/log", NULL);
}

void proxy_stop(struct proxy *p)
{
    int status = -1;
    close(p->input);
    need(waitpid(p->pid, &status, 0) == p->pid && status == 0, "it did not end well");
    free(p);
}
