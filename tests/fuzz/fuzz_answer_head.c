/* tests/fuzz/fuzz_answer_head.c - arbitrary bytes as the head of a server's answer, line by line,
 * and behind an empty line its body: an answer that passes for a range of an object is exactly that
 * range of that version, and all that is kept or said is within its room. */
#include "storage/wire/answer_head.h"
#include "storage/wire/object_read.h"
#include "storage/wire/repeats.h"
#include "tests/fuzz/must.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_texts(const struct wire_job *job)
{
    must(memchr(job->etag, '\0', sizeof(job->etag)) != NULL);
    must(memchr(job->modified, '\0', sizeof(job->modified)) != NULL);
    must(memchr(job->encoding, '\0', sizeof(job->encoding)) != NULL);
    must(memchr(job->location, '\0', sizeof(job->location)) != NULL);
    must(memchr(job->region, '\0', sizeof(job->region)) != NULL);
    must(strpbrk(job->etag, "\n") == NULL && strpbrk(job->modified, "\n") == NULL);
    must(job->status >= -99 && job->status <= 999);
}

/* The lines, each in memory of its own length; returns what follows the empty one. */
static size_t take_lines(struct wire_job *job, const uint8_t *data, size_t size)
{
    size_t at = 0;
    while (at < size) {
        const uint8_t *end = memchr(data + at, '\n', size - at);
        const size_t n = end != NULL ? (size_t)(end - data) + 1 - at : size - at;
        char *line = malloc(n);
        must(line != NULL);
        memcpy(line, data + at, n);
        (void)wire_take_header(job, line, n);
        free(line);
        check_texts(job);
        at += n;
        if (n == 1 || (n == 2 && data[at - 2] == '\r'))
            break;
    }
    return at;
}

static void check_range(const struct wire_job *job)
{
    static char shown[] = "https://host/a.rec", etag[] = "\"v1\"";
    const struct wire_object o = {.shown = shown, .size = 1000};
    struct wire_object pinned = {.shown = shown, .size = 1000};
    struct wire_retry retry = {0};
    struct imrec_error err;
    memcpy(pinned.etag, etag, sizeof(etag));
    if (object_check(&o, job, &retry, &err) == IMREC_OK)
        must(job->status == 206 && job->range.begin == 100 && job->range.end == 200 &&
             (job->range.total == 1000 || job->range.total == UINT64_MAX));
    else
        must(strncmp(err.message, shown, strlen(shown)) == 0);
    if (object_check(&pinned, job, &retry, &err) == IMREC_OK)
        must(job->etag[0] == '\0' || strcmp(job->etag, etag) == 0);
}

/* However often it answers this: there is an end, and no wait beyond the minute. */
static void check_retries(const struct wire_job *job)
{
    struct wire_retry retry = {0};
    uint64_t wait_ms, sum = 0;
    for (uint32_t i = 0; wire_retry(&retry, job, &wait_ms); i++) {
        sum += wait_ms;
        must(i < 10 && sum <= 60000);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct wire_job job;
    struct imrec_error err;
    job = (struct wire_job){.method = "GET",
                            .url = "https://host/a.rec?sig=secretsecret",
                            .begin = 100,
                            .end = 200,
                            .got = 100,
                            .outcome = WIRE_ANSWERED};
    const size_t at = take_lines(&job, data, size);
    const size_t n = size - at < sizeof(job.said) - 1 ? size - at : sizeof(job.said) - 1;
    memcpy(job.said, data + at, n);
    job.said[n] = '\0';
    if (n >= 4)
        memcpy(&job.retry_after, job.said, 4);
    check_range(&job);
    check_retries(&job);
    must(strstr(job.said, "secretsecret") == NULL || wire_repeats_secret(&job, job.said));
    (void)wire_error(&job, "https://host/a.rec", 100, NULL, &err);
    must(strpbrk(err.message, "\r\n") == NULL);
    return 0;
}
