/* tests/support/http_proxy/settings.c - options in a table, and their help. */
#include "tests/support/http_proxy/settings.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: http_proxy (--folder DIR | --upstream HOST:PORT) [options]\n"
    "\n"
    "Serves the files of DIR, or forwards to a server, on 127.0.0.1; prints its URL once it "
    "listens.\n"
    "\n"
    "  --folder DIR         GET, HEAD and ranges of its files; links in it are followed\n"
    "  --writable           PUT and DELETE in it, too\n"
    "  --upstream HOST:PORT forward requests and answers as they are\n"
    "  --port N             default 0, a free one\n"
    "  --delay MS           before the first byte of each answer\n"
    "  --connect-delay MS   before a new connection is read\n"
    "  --bandwidth BYTES    a second, of all answers together; connections get equal shares\n"
    "  --rule \"WORDS\"       repeatable; see below\n"
    "  --until-eof          end when standard input ends\n"
    "\n"
    "A rule: [match=SUBSTR] [method=GET] [skip=N] [nth=K] [every=K] [share=0.01] [seed=N] "
    "[times=N]\n"
    "do=ACTION[=VALUE] ...; \"...\" around a value with blanks. Actions:\n"
    "  reset  hang-head  garbage  redirect-loop  redirect=URL  status=CODE [retry-after=S]\n"
    "  ignore-range  wrong-range[=start|total]  no-content-range  changed  corrupt[=BYTE]\n"
    "  header=NAME:VALUE  huge-header[=BYTES]  chunked  close\n"
    "  reset-after=BYTES  short=BYTES  stall=MS (-1: for ever)  slow=BYTES_PER_S  delay=MS\n"
    "\n"
    "Control: GET /_proxy/stats, GET /_proxy/log, POST /_proxy/rules (a rule a line replaces "
    "all),\n"
    "POST /_proxy/reset.\n";

static const struct option options[] = {
    {"folder", required_argument, NULL, 'f'},
    {"upstream", required_argument, NULL, 'u'},
    {"port", required_argument, NULL, 'p'},
    {"delay", required_argument, NULL, 'd'},
    {"connect-delay", required_argument, NULL, 'c'},
    {"bandwidth", required_argument, NULL, 'b'},
    {"rule", required_argument, NULL, 'r'},
    {"writable", no_argument, NULL, 'w'},
    {"until-eof", no_argument, NULL, 'e'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static bool number(const char *text, int64_t *out)
{
    char *end;
    *out = strtoll(text, &end, 10);
    if (end != text && *end == '\0' && *out >= 0)
        return true;
    fprintf(stderr, "http_proxy: '%s' is not a number of 0 or more\n", text);
    return false;
}

static bool rule(struct rules *rules, const char *text)
{
    const char *why = rules_add(rules, text);
    if (why != NULL)
        fprintf(stderr, "http_proxy: rule '%s': %s\n", text, why);
    return why == NULL;
}

static bool take(struct settings *s, struct rules *rules, int option, int64_t *port)
{
    switch (option) {
    case 'f':
        s->folder = optarg;
        return true;
    case 'u':
        s->upstream = optarg;
        return strrchr(optarg, ':') != NULL;
    case 'p':
        return number(optarg, port);
    case 'd':
        return number(optarg, &s->delay_ms);
    case 'c':
        return number(optarg, &s->connect_delay_ms);
    case 'b':
        return number(optarg, &s->bandwidth);
    case 'r':
        return rule(rules, optarg);
    case 'w':
        return s->writable = true;
    case 'e':
        return s->until_eof = true;
    default:
        return false;
    }
}

int settings_read(struct settings *s, struct rules *rules, int argc, char **argv)
{
    int64_t port = 0;
    *s = (struct settings){0};
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == 'h')
            return fputs(usage, stdout) < 0;
        if (!take(s, rules, option, &port)) {
            fprintf(stderr, "http_proxy: --help lists all options\n");
            return 2;
        }
    }
    s->port = (int)port;
    if (optind == argc && (s->folder == NULL) != (s->upstream == NULL) && port < 65536)
        return -1;
    fputs(usage, stderr);
    return 2;
}
