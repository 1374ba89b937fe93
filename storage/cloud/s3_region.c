/* storage/cloud/s3_region.c - the region of a bucket at AWS, asked once. */
#include "storage/cloud/s3_region.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/threads.h"
#include "storage/wire/retry.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define BUCKETS 64 /* more than that are asked each time */

static struct mutex g_lock = MUTEX_INIT;
static struct {
    char bucket[224], region[32];
} g_known[BUCKETS];
static size_t g_count;

static bool find(const char *bucket, char *out, size_t room)
{
    bool found = false;
    mutex_lock(&g_lock);
    for (size_t i = 0; i < g_count && !found; i++)
        if (strcmp(g_known[i].bucket, bucket) == 0) {
            (void)snprintf(out, room, "%s", g_known[i].region);
            found = true;
        }
    mutex_unlock(&g_lock);
    return found;
}

static void keep(const char *bucket, const char *region)
{
    mutex_lock(&g_lock);
    if (g_count < BUCKETS) {
        (void)snprintf(g_known[g_count].bucket, sizeof(g_known[0].bucket), "%s", bucket);
        (void)snprintf(g_known[g_count++].region, sizeof(g_known[0].region), "%s", region);
    }
    mutex_unlock(&g_lock);
}

/* It becomes a part of a host's name. */
static bool is_region(const char *text)
{
    return text[0] != '\0' && text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0';
}

static enum imrec_status ask(const char *bucket, struct wire_job *job, struct imrec_error *err)
{
    char url[300], shown[240];
    (void)snprintf(url, sizeof(url), "https://s3.us-east-1.amazonaws.com/%s", bucket);
    (void)snprintf(shown, sizeof(shown), "s3://%s", bucket);
    *job = (struct wire_job){.method = "HEAD", .url = url};
    const enum imrec_status st = wire_ask(job, shown, NULL, NULL, err);
    job->url = NULL;
    if (st != IMREC_OK || job->status != 404)
        return st;
    IMREC_REFUSE(err, "%s: AWS has no bucket of this name", shown);
    imrec_error_errno(err, ENOENT);
    return IMREC_ERR_ARGUMENT;
}

enum imrec_status
s3_region_of(const char *bucket, const char *known, char *out, size_t room, struct imrec_error *err)
{
    if (find(bucket, out, room))
        return IMREC_OK;
    struct wire_job *job = imrec_zalloc(1, sizeof(*job));
    if (job == NULL)
        return IMREC_NO_MEMORY(err, "no memory to ask for a bucket's region");
    const enum imrec_status st = ask(bucket, job, err);
    const bool said = st == IMREC_OK && is_region(job->region);
    (void)snprintf(out, room, "%s", said ? job->region : known != NULL ? known : "us-east-1");
    imrec_free(job);
    IMREC_TRY(st);
    if (!said && known == NULL)
        imrec_log(IMREC_LOG_WARNING,
                  "s3://%s: its region is not said by AWS nor by AWS_REGION; us-east-1 is taken",
                  bucket);
    keep(bucket, out);
    return IMREC_OK;
}
