/* iter/metrics/metrics_target.c - what metrics= names: a file, or where the numbers are served. */
#include "iter/metrics/metrics_target.h"

#include "base/error.h"
#include "storage/source.h"

#include <string.h>

static const struct http_words words = {
    .before = "metrics=",
    .in_use = "another iterator or program: each iterator needs its own",
    .or_file = "; a file of such a name is ./",
};

enum imrec_status
metrics_target_open(const char *text, struct metrics_target *out, struct imrec_error *err)
{
    struct http_listener *l = &out->listener;
    *out = (struct metrics_target){.listener.fd = -1};
    if (strncmp(text, "unix:", 5) == 0 || http_names_port(text))
        return http_listen(&words, text, l, err);
    if (strlen(text) >= sizeof(l->where))
        return IMREC_REFUSE(err, "metrics=: at most %zu bytes, not %zu", sizeof(l->where) - 1,
                            strlen(text));
    memcpy(l->where, text, strlen(text) + 1);
    out->file = l->where;
    return !source_is_remote(text) ? IMREC_OK
                                   : IMREC_REFUSE(err,
                                                  "metrics=%.200s must be a file of this machine, "
                                                  "unix:PATH or HOST:PORT",
                                                  text);
}

void metrics_target_close(struct metrics_target *t)
{
    http_listener_close(&t->listener);
}
