/* tests/fuzz/fuzz_credentials.c - arbitrary bytes as a credentials file, and behind the first 0xff
 * as a config file; also as the JSON of a role's keys: keys, regions and endpoints that are taken
 * can be put into headers and URLs, and each error names the file. */
#include "storage/aws/aws_answer.h"
#include "storage/aws/aws_profile.h"
#include "tests/fuzz/must.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text, size_t room)
{
    must(strnlen(text, room) < room);
    for (; *text != '\0'; text++)
        must(*text > ' ' && *text <= '~');
}

static void check_keys(const struct aws_keys *k)
{
    check_text(k->access_key, sizeof(k->access_key));
    check_text(k->secret, sizeof(k->secret));
    check_text(k->token, sizeof(k->token));
    must((k->access_key[0] != '\0') == (k->secret[0] != '\0'));
}

static void check_profile(const struct aws_files *files, const char *name)
{
    struct aws_profile p;
    struct imrec_error err = {0};
    const enum imrec_status st = aws_profile_read(files, name, &p, &err);
    if (st != IMREC_OK) {
        must(st == IMREC_ERR_CORRUPT || st == IMREC_ERR_ARGUMENT || st == IMREC_ERR_LIMIT);
        must(strncmp(err.message, "f.credentials", 13) == 0 ||
             strncmp(err.message, "f.config", 8) == 0);
        return;
    }
    check_keys(&p.keys);
    check_text(p.region, sizeof(p.region));
    check_text(p.endpoint, sizeof(p.endpoint));
    must(strpbrk(p.region, "/.:@?#%") == NULL && strpbrk(p.endpoint, "?#@") == NULL);
    must(p.endpoint[0] == '\0' || strstr(p.endpoint, "://") != NULL);
    must(p.elsewhere == NULL || (p.elsewhere_line > 0 && p.elsewhere_file != NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct aws_files files = {.credentials = {"f.credentials", {data, size}},
                              .config = {"f.config", {NULL, 0}}};
    struct aws_keys keys = {0};
    const uint8_t *end = size != 0 ? memchr(data, 0xff, size) : NULL;
    if (end != NULL) {
        files.credentials.text.n = (size_t)(end - data);
        files.config.text = (struct bytes){end + 1, (size_t)(data + size - end - 1)};
    }
    check_profile(&files, "default");
    check_profile(&files, "work");
    if (aws_answer_keys("f.json", (struct bytes){data, size}, &keys, NULL) == IMREC_OK)
        check_keys(&keys);
    return 0;
}
