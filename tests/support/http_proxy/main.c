/*
 * tests/support/http_proxy/main.c - a scripted HTTP/1.1 server and reverse proxy, for tests.
 *
 * One thread and one epoll; settings.c has the options, tests/support/http_proxy.h how tests use it
 * and how to use it by hand.
 */
#include "tests/support/http_proxy/server.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>

static struct server server;
static struct watch signals;

static void on_signal(struct watch *w, uint32_t events)
{
    (void)w, (void)events;
    server.loop.ended = true;
}

static bool watch_signals(void)
{
    sigset_t ending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGINT);
    sigprocmask(SIG_BLOCK, &ending, NULL);
    signal(SIGPIPE, SIG_IGN);
    signals = (struct watch){.fd = signalfd(-1, &ending, SFD_CLOEXEC), .ready = on_signal};
    return signals.fd >= 0 && loop_watch(&server.loop, &signals, EPOLLIN);
}

int main(int argc, char **argv)
{
    const int status = settings_read(&server.set, &server.rules, argc, argv);
    if (status >= 0) {
        rules_free(&server.rules);
        return status;
    }
    const bool open = server_open(&server) && watch_signals();
    if (open) {
        printf("http://127.0.0.1:%d\n", server_port(&server));
        fflush(stdout);
        loop_run(&server.loop);
    }
    loop_close(&server.loop, &signals);
    server_close(&server);
    return open ? EXIT_SUCCESS : EXIT_FAILURE;
}
