/* storage/aws/aws_answer.c - keys out of the JSON that containers and instances are given. */
#include "storage/aws/aws_answer.h"

#include "base/error.h"
#include "formats/json_read.h"

#include <string.h>
#include <time.h>

/* ---- times ------------------------------------------------------------------------------- */

/* n digits at *at, which moves past them and `after`; -1: they are not there. */
static int take_number(const char **at, int n, char after)
{
    int v = 0;
    for (int i = 0; i < n; i++, (*at)++) {
        if (**at < '0' || **at > '9')
            return -1;
        v = 10 * v + (**at - '0');
    }
    if (after != '\0' && *(*at)++ != after)
        return -1;
    return v;
}

bool aws_answer_time(const char *text, int64_t *out)
{
    static const int days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    static const struct {
        int digits;
        char after;
    } parts[] = {{4, '-'}, {2, '-'}, {2, 'T'}, {2, ':'}, {2, ':'}, {2, '\0'}};
    int v[6];
    for (int i = 0; i < 6; i++) {
        v[i] = take_number(&text, parts[i].digits, parts[i].after);
        if (v[i] < 0)
            return false;
    }
    if (*text == '.')
        for (text++; *text >= '0' && *text <= '9';)
            text++;
    if (strcmp(text, "Z") != 0 && strcmp(text, "+00:00") != 0)
        return false;
    if (v[0] < 1970 || v[1] < 1 || v[1] > 12 || v[2] < 1 || v[2] > days[v[1] - 1] || v[3] > 23 ||
        v[4] > 59 || v[5] > 60)
        return false;
    struct tm t = {.tm_year = v[0] - 1900,
                   .tm_mon = v[1] - 1,
                   .tm_mday = v[2],
                   .tm_hour = v[3],
                   .tm_min = v[4],
                   .tm_sec = v[5]};
    *out = (int64_t)timegm(&t);
    return true;
}

/* ---- keys -------------------------------------------------------------------------------- */

static enum imrec_status take(const struct json_value *answer, const char *name, bool needed,
                              char *to, size_t room, const char *who, struct imrec_error *err)
{
    const struct json_value *v = json_read_member(answer, name);
    const enum json_kind kind = json_read_kind(v);
    to[0] = '\0';
    if ((kind == JSON_KIND_NONE || kind == JSON_KIND_NULL) && !needed)
        return IMREC_OK;
    const char *text = json_read_text(v);
    if (text == NULL || (needed && text[0] == '\0'))
        return imrec_fail(err, IMREC_ERR_CORRUPT, "%s: the answer has no text %s", who, name);
    return aws_key_copy(to, room, text, strlen(text), who, name, err);
}

static enum imrec_status take_keys(const struct json_value *answer, const char *who,
                                   struct aws_keys *out, struct imrec_error *err)
{
    char ends[64];
    const char *code = json_read_text(json_read_member(answer, "Code"));
    if (code != NULL && strcmp(code, "Success") != 0)
        return imrec_fail(err, IMREC_ERR_IO, "%s: the answer's Code is not Success", who);
    IMREC_TRY(
        take(answer, "AccessKeyId", true, out->access_key, sizeof(out->access_key), who, err));
    IMREC_TRY(take(answer, "SecretAccessKey", true, out->secret, sizeof(out->secret), who, err));
    IMREC_TRY(take(answer, "Token", false, out->token, sizeof(out->token), who, err));
    IMREC_TRY(take(answer, "Expiration", false, ends, sizeof(ends), who, err));
    out->ends = AWS_FOR_EVER;
    if (ends[0] != '\0' && !aws_answer_time(ends, &out->ends))
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "%s: the answer's Expiration is no time like 2026-01-02T03:04:05Z", who);
    return IMREC_OK;
}

enum imrec_status
aws_answer_keys(const char *who, struct bytes json, struct aws_keys *out, struct imrec_error *err)
{
    const struct json_input in = {.name = who, .text = json, .max_bytes = AWS_ANSWER_MOST};
    struct json_value *answer;
    enum imrec_status st = json_read(&in, &answer, NULL); /* its words would quote the text */
    if (st == IMREC_ERR_NO_MEMORY)
        return IMREC_NO_MEMORY(err, "%s: no memory for its JSON", who);
    if (st != IMREC_OK)
        return imrec_fail(err, st, "%s: the answer is no JSON object of up to %zu bytes", who,
                          AWS_ANSWER_MOST);
    st = take_keys(answer, who, out, err);
    json_read_free(answer);
    return st;
}
