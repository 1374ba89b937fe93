/* tests/fuzz/fuzz_cloud.c - arbitrary bytes as what a store of buckets answers, or keeps in a .part
 * of ours; the first byte says which. Whatever is taken is within its limits. */
#include "storage/cloud/bearer.h"
#include "storage/cloud/cloud_state.h"
#include "storage/cloud/listing.h"

#include "base/alloc.h"
#include "tests/fuzz/must.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct cloud_place place = {.shown = (char[]){"s3://bucket/a"}};

static void is_told(enum imrec_status st, const struct imrec_error *err, const char *begin)
{
    must(st == IMREC_OK || strncmp(err->message, begin, strlen(begin)) == 0);
    must(st == IMREC_OK || st == IMREC_ERR_IO || st == IMREC_ERR_CORRUPT || st == IMREC_ERR_LIMIT);
}

static enum imrec_status count(void *user, const struct listed_object *e, struct imrec_error *err)
{
    uint64_t *bytes = user;
    (void)err;
    must(e->key[e->bytes] == '\0');
    *bytes += e->bytes;
    return IMREC_OK;
}

/* Twice, as if the next page had the same text: a list that goes round is an error. */
static void as_listing(struct bytes text, enum cloud cloud)
{
    struct listing l = {0};
    struct imrec_error err;
    uint64_t bytes = 0;
    place.cloud = cloud;
    enum imrec_status st = listing_read(&l, &place, text, count, &bytes, &err);
    is_told(st, &err, "s3://bucket/a: ");
    must(bytes <= text.n);
    if (st == IMREC_OK && !l.ended) {
        st = listing_read(&l, &place, text, count, &bytes, &err);
        must(st == IMREC_ERR_IO || l.ended);
    }
    listing_free(&l);
}

static void as_listing_of_s3(struct bytes text)
{
    as_listing(text, CLOUD_S3);
}

static void as_listing_of_az(struct bytes text)
{
    as_listing(text, CLOUD_AZ);
}

static void as_upload(struct bytes text)
{
    char query[UPLOAD_QUERY_BYTES];
    struct upload u = {0};
    struct imrec_error err;
    uint32_t next = 0;
    is_told(upload_check_answer(&place, text, &err), &err, "s3://bucket/a: ");
    is_told(upload_note_copied(&u, &place, text, 1, &err), &err, "s3://bucket/a: ");
    must(u.count <= 1);
    is_told(upload_note_listed(&u, &place, text, &next, &err), &err, "s3://bucket/a: ");
    must(u.count <= UPLOAD_PARTS_MOST && next <= UPLOAD_PARTS_MOST);
    for (uint32_t i = 0; i < u.count; i++)
        must(memchr(u.part[i].etag, '\0', sizeof(u.part[i].etag)) != NULL);
    must(upload_query(&u, u.count, query, &err) == IMREC_OK);
    upload_free(&u);
}

static void as_state(struct bytes text)
{
    struct cloud_state s = {.text = BUF_INIT(SIZE_MAX / 4)};
    struct imrec_error err;
    must(buf_append(&s.text, text.p, text.n, NULL) == IMREC_OK);
    const enum imrec_status st = cloud_state_read(&s, &place, &err);
    is_told(st, &err, "s3://bucket/a: ");
    if (st == IMREC_OK && s.id[0] != '\0') {
        must(s.last.parts <= UPLOAD_PARTS_MOST && s.before.parts <= s.last.parts);
        must(s.last.tail.n <= text.n && s.before.tail.n <= text.n);
        must(s.before.bytes <= s.last.bytes);
        must(cloud_state_size(&s) >= s.last.bytes);
    }
    cloud_state_free(&s);
}

static void as_token(struct bytes text)
{
    static char token[BEARER_BYTES];
    struct imrec_error err;
    uint32_t seconds;
    if (bearer_read(text, token, &seconds, &err) != IMREC_OK)
        return;
    must(seconds != 0 && token[0] != '\0' && strlen(token) < sizeof(token));
    for (const char *p = token; *p != '\0'; p++)
        must((unsigned char)*p > ' ' && (unsigned char)*p != 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const readers[])(struct bytes) = {as_listing_of_s3, as_listing_of_az, as_upload,
                                                    as_state, as_token};
    if (size == 0)
        return 0;
    readers[data[0] % 5]((struct bytes){data + 1, size - 1});
    must(imrec_alloc_live() == 0);
    return 0;
}
