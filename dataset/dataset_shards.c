/* dataset/dataset_shards.c - the shards of a set as a text that every function takes. */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "dataset/record_reader.h"
#include "imrec/dataset.h"

#include <string.h>

#define TEXT_MOST ((size_t)1 << 30)

static enum imrec_status
join(const struct uri_list *names, struct buf *text, struct imrec_error *err)
{
    for (size_t i = 0; i < names->count; i++) {
        if (names->count > 1 && strchr(names->uri[i], ';') != NULL)
            return IMREC_REFUSE(err, "%s: a list of shards cannot hold a name with ';'",
                                names->uri[i]);
        IMREC_TRY(buf_append(text, i != 0 ? ";" : "", i != 0, err));
        IMREC_TRY(buf_append(text, names->uri[i], strlen(names->uri[i]), err));
    }
    return buf_append(text, "", 1, err);
}

enum imrec_status
imrec_shards_expand(const char *uri, bool allow_missing, char **list, struct imrec_error *err)
{
    return imrec_shards_expand_with(uri, NULL, allow_missing, list, err);
}

enum imrec_status imrec_shards_expand_with(const char *uri, const struct imrec_reader_options *o,
                                           bool allow_missing, char **list, struct imrec_error *err)
{
    struct shard_list l;
    struct buf text = BUF_INIT(TEXT_MOST);
    const enum shard_look look = allow_missing ? SHARDS_LEAVE_MISSING : SHARDS_COMPLETE;
    *list = NULL;
    IMREC_TRY(reader_shards(uri, o, look, &l, err));
    const enum imrec_status st = join(&l.names, &text, err);
    shard_list_free(&l);
    if (st == IMREC_OK)
        *list = (char *)text.p;
    else
        buf_free(&text);
    return st;
}

void imrec_shards_free(char *list)
{
    imrec_free(list);
}
