/*
 * storage/aws/aws_account.c - the accounts of this process, and their keys while these last.
 *
 * An account is never given back: who has one may keep it. One thread at a time asks for new keys;
 * the others sign with the old ones while these are good, and wait for it else. The lock is not
 * held meanwhile: a fork waits for nobody, and a child does not wait for a thread that it has not.
 */
#include "storage/aws/aws_account.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/system.h"
#include "storage/aws/aws_credentials.h"
#include "storage/aws/aws_sources.h"
#include "storage/aws/sigv4.h"

#include <string.h>
#include <time.h>

#define ACCOUNTS_MOST 32
#define EARLY_SECONDS 300                   /* before their end new keys are asked for */
#define AGAIN_NS      UINT64_C(30000000000) /* after asking in vain, while the old ones are good */
#define CLOCK_MOST    INT64_C(253402300799) /* of the year 9999 */
#define FAILED_NS     UINT64_C(2000000000)  /* so long a failure is everybody's */

struct aws_account {
    struct aws_settings settings; /* they make it this one */
    char endpoint[AWS_URL_BYTES], region[AWS_REGION_BYTES];
    bool path_style;
    int64_t ahead; /* seconds of the server's clock before ours */

    struct aws_keys keys; /* access_key "": none */
    bool asking;          /* a thread is about to have new ones */
    uint64_t not_before;  /* clock_ns(): nobody asks earlier */
    struct imrec_error failure;
};

static struct {
    struct mutex lock;
    struct cond asked;
    bool ready;
    uint32_t count;
    struct aws_account account[ACCOUNTS_MOST];
} g = {.lock = MUTEX_INIT};

/* ---- forks, the end ---------------------------------------------------------------------- */

static void before_fork(void)
{
    mutex_lock(&g.lock);
}

static void after_fork(void)
{
    mutex_unlock(&g.lock);
}

static void in_child(void)
{
    cond_init(&g.asked);
    for (uint32_t i = 0; i < g.count; i++)
        g.account[i].asking = false;
    mutex_unlock(&g.lock);
}

static void prepare(void)
{
    if (g.ready)
        return;
    cond_init(&g.asked);
    (void)pthread_atfork(before_fork, after_fork, in_child);
    g.ready = true;
}

__attribute__((destructor)) static void forget(void)
{
    for (uint32_t i = 0; i < g.count; i++) {
        system_wipe(&g.account[i].keys, sizeof(g.account[i].keys));
        system_wipe(&g.account[i].settings, sizeof(g.account[i].settings));
    }
}

/* ---- which account ----------------------------------------------------------------------- */

static enum imrec_status
resolve(struct aws_account *a, const struct aws_settings *s, struct imrec_error *err)
{
    struct aws_profile p;
    IMREC_TRY(aws_profile_now(s, NULL, &p, err));
    const bool of_profile = s->endpoint[0] == '\0' && !s->ignore_endpoints;
    memcpy(&a->settings, s, sizeof(*s)); /* its padding too */
    memcpy(a->endpoint, of_profile ? p.endpoint : s->endpoint, sizeof(a->endpoint));
    memcpy(a->region, s->region[0] != '\0' ? s->region : p.region, sizeof(a->region));
    a->path_style = p.addressing == AWS_ADDRESSING_PATH ||
                    (p.addressing == AWS_ADDRESSING_AUTO && a->endpoint[0] != '\0');
    system_wipe(&p, sizeof(p));
    return IMREC_OK;
}

static enum imrec_status
find(const struct aws_settings *s, struct aws_account **out, struct imrec_error *err)
{
    for (uint32_t i = 0; i < g.count; i++)
        if (memcmp(&g.account[i].settings, s, sizeof(*s)) == 0) {
            *out = &g.account[i];
            return IMREC_OK;
        }
    if (g.count == ACCOUNTS_MOST)
        return imrec_fail(err, IMREC_ERR_LIMIT,
                          "this process has used %d different settings of AWS's variables; start "
                          "another one",
                          ACCOUNTS_MOST);
    IMREC_TRY(resolve(&g.account[g.count], s, err));
    *out = &g.account[g.count++];
    return IMREC_OK;
}

enum imrec_status aws_account_get(struct aws_account **out, struct imrec_error *err)
{
    struct aws_settings s;
    *out = NULL;
    enum imrec_status st = aws_settings_read(&s, err);
    if (st == IMREC_OK) {
        mutex_lock(&g.lock);
        prepare();
        st = find(&s, out, err);
        mutex_unlock(&g.lock);
    }
    system_wipe(&s, sizeof(s));
    return st;
}

const char *aws_account_endpoint(const struct aws_account *a)
{
    return a->endpoint[0] != '\0' ? a->endpoint : NULL;
}

const char *aws_account_region(const struct aws_account *a)
{
    return a->region[0] != '\0' ? a->region : NULL;
}

bool aws_account_path_style(const struct aws_account *a)
{
    return a->path_style;
}

bool aws_account_anonymous(const struct aws_account *a)
{
    return a->settings.anonymous;
}

/* ---- keys; the lock is held -------------------------------------------------------------- */

static int64_t now_of(const struct aws_account *a)
{
    return (int64_t)time(NULL) + a->ahead;
}

static bool is_good(const struct aws_account *a)
{
    return a->keys.access_key[0] != '\0' && a->keys.ends > now_of(a);
}

static enum imrec_status
find_keys(const struct aws_settings *s, int64_t now, struct aws_keys *out, struct imrec_error *err)
{
    IMREC_TRY(aws_credentials_find(s, out, err));
    return out->ends > now
               ? IMREC_OK
               : imrec_fail(err, IMREC_ERR_IO,
                            "the AWS credentials that were given ended %lld s ago by this "
                            "machine's clock; new ones, or the right time, are needed",
                            (long long)(now - out->ends));
}

/* Asks, without the lock. */
static void ask(struct aws_account *a)
{
    struct aws_keys keys = {0};
    struct imrec_error failure = {0};
    const int64_t now = now_of(a);
    a->asking = true;
    mutex_unlock(&g.lock);
    const enum imrec_status st = find_keys(&a->settings, now, &keys, &failure);
    mutex_lock(&g.lock);
    if (st == IMREC_OK) {
        a->not_before = keys.ends == a->keys.ends ? clock_ns() + AGAIN_NS : 0;
        a->keys = keys;
    } else {
        a->not_before = clock_ns() + (is_good(a) ? AGAIN_NS : FAILED_NS);
    }
    a->failure = failure;
    a->failure.status = st;
    a->asking = false;
    cond_wake_all(&g.asked);
    system_wipe(&keys, sizeof(keys));
}

static enum imrec_status
take_keys(struct aws_account *a, struct aws_keys *out, struct imrec_error *err)
{
    for (bool asked = false;;) {
        const bool good = is_good(a), may_ask = !asked && clock_ns() >= a->not_before;
        if (good && (a->keys.ends - EARLY_SECONDS > now_of(a) || a->asking || !may_ask)) {
            *out = a->keys;
            return IMREC_OK;
        }
        if (a->asking) {
            cond_wait(&g.asked, &g.lock);
        } else if (may_ask || a->failure.status == IMREC_OK) {
            ask(a);
            asked = true;
        } else {
            if (err != NULL)
                *err = a->failure;
            return a->failure.status;
        }
    }
}

enum imrec_status aws_sign(void *user, struct wire_job *job, struct imrec_error *err)
{
    const struct aws_signer *s = user;
    struct aws_account *a = s->account;
    struct aws_keys keys;
    if (a->settings.anonymous)
        return IMREC_OK;
    mutex_lock(&g.lock);
    enum imrec_status st = take_keys(a, &keys, err);
    const int64_t at = now_of(a);
    mutex_unlock(&g.lock);
    if (st == IMREC_OK) {
        const struct sigv4_keys k = {keys.access_key, keys.secret, keys.token};
        job->suspects = "the key, its secret, the region, and the rights of the key";
        st = sigv4_sign(&k, s->region, s->service, at, job, err);
        system_wipe(&keys, sizeof(keys));
    }
    return st;
}

void aws_account_saw_clock(struct aws_account *a, int64_t server_seconds)
{
    mutex_lock(&g.lock);
    if (server_seconds > 0 && server_seconds < CLOCK_MOST)
        a->ahead = server_seconds - (int64_t)time(NULL);
    mutex_unlock(&g.lock);
}

void aws_account_saw_expiry(struct aws_account *a)
{
    mutex_lock(&g.lock);
    a->keys.access_key[0] = '\0';
    a->not_before = 0;
    mutex_unlock(&g.lock);
}
