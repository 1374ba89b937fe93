/* tests/fuzz/fuzz_webhdfs.c - arbitrary bytes as what a NameNode answers, or as Hadoop's
 * configuration; the first byte says which. Whatever is taken is within its limits. */
#include "storage/hdfs/hdfs_answer.h"
#include "storage/hdfs/hdfs_conf.h"

#include "base/alloc.h"
#include "tests/fuzz/must.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void as_status(struct bytes text)
{
    struct hdfs_status s;
    struct imrec_error err;
    const enum imrec_status st = hdfs_answer_status(text, "hdfs://a/b", &s, &err);
    must(st == IMREC_OK || st == IMREC_ERR_CORRUPT || st == IMREC_ERR_LIMIT);
    must(st != IMREC_OK || (s.size <= INT64_MAX / 2 && s.modified_ms <= UINT64_MAX / 1000000u));
    must(st == IMREC_OK || err.message[0] != '\0');
}

static void as_page(struct bytes text)
{
    struct hdfs_page p;
    struct hdfs_entry e;
    if (hdfs_answer_page(text, "hdfs://a/b", &p, NULL) != IMREC_OK)
        return;
    must(p.count != 0 || !p.more);
    for (size_t i = 0; i < p.count; i++)
        if (hdfs_page_entry(&p, i, "hdfs://a/b", &e, NULL) == IMREC_OK)
            must(e.name[0] != '\0' && strchr(e.name, '/') == NULL && strcmp(e.name, "..") != 0 &&
                 strcmp(e.name, ".") != 0 && (!e.whole || e.status.size <= INT64_MAX / 2));
    hdfs_page_free(&p);
}

static void as_short_answers(struct bytes text)
{
    struct hdfs_refusal why;
    bool value;
    char *url, said[1024];
    const size_t n = text.n < sizeof(said) - 1 ? text.n : sizeof(said) - 1;
    memcpy(said, text.p, n);
    said[n] = '\0';
    hdfs_answer_refusal(said, &why);
    must(memchr(why.exception, '\0', sizeof(why.exception)) != NULL);
    must(strpbrk(why.message, "\r\n") == NULL);
    (void)!hdfs_answer_bool(text, "hdfs://a/b", &value, NULL);
    if (hdfs_answer_location(text, "hdfs://a/b", &url, NULL) == IMREC_OK)
        must(strlen(url) <= text.n);
    imrec_free(url);
}

static void as_configuration(struct bytes text)
{
    struct hdfs_conf c = {0};
    char value[HDFS_VALUE_BYTES];
    const enum imrec_status st = hdfs_conf_add(&c, "f.xml", text, NULL);
    must(st == IMREC_OK || st == IMREC_ERR_CORRUPT || st == IMREC_ERR_LIMIT);
    for (uint64_t i = 0; i < c.count; i++)
        if (hdfs_conf_get(&c, value, c.property[i].name, NULL, NULL))
            must(strlen(value) < HDFS_VALUE_BYTES);
    hdfs_conf_free(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const readers[])(struct bytes) = {as_status, as_page, as_short_answers,
                                                    as_configuration};
    if (size == 0)
        return 0;
    readers[data[0] % 4]((struct bytes){data + 1, size - 1});
    must(imrec_alloc_live() == 0);
    return 0;
}
