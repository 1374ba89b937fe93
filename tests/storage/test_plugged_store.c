/* A store that a user registered is a store like imrec's own: packed to, listed, read, refused. */
#include "base/alloc.h"
#include "base/error.h"
#include "imrec/imrec.h"
#include "storage/folder.h"
#include "storage/lock.h"
#include "storage/sink.h"
#include "storage/source.h"
#include "storage/uri_list.h"
#include "tests/support/own_store.h"
#include "tests/support/packing.h"
#include "tests/support/small_set.h"
#include "tests/support/suite.h"

static struct own_store own;
static struct imrec_error err;
static char logged[600];

static void setup(void)
{
    const struct imrec_store calls = own_calls();
    own = (struct own_store){.lock = PTHREAD_MUTEX_INITIALIZER};
    ck_assert_int_eq(imrec_store_register("My-store2", &calls, &own, &err), IMREC_OK);
}

static void teardown(void)
{
    own.failing = NULL;
    ck_assert_int_eq(own.open, 0);
    ck_assert_msg(imrec_store_unregister("my-store2", &err) == IMREC_OK, "%s", err.message);
    own_empty(&own);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static void expect(enum imrec_status got, enum imrec_status status, const char *words)
{
    ck_assert_msg(got == status, "%d: %s", got, err.message);
    ck_assert_msg(strstr(err.message, words) != NULL, "'%s' does not say '%s'", err.message, words);
}

static void put(const char *uri, const char *text)
{
    struct sink *s;
    ck_assert_msg(sink_open(uri, &s, &err) == IMREC_OK, "%s", err.message);
    ck_assert_int_eq(sink_append(s, text, strlen(text), &err), IMREC_OK);
    ck_assert_msg(sink_commit(s, &err) == IMREC_OK, "%s", err.message);
}

static void expect_text(const char *uri, const char *text)
{
    uint8_t *p;
    size_t n;
    ck_assert_msg(source_load(uri, 1000, &p, &n, &err) == IMREC_OK, "%s", err.message);
    ck_assert_str_eq((const char *)p, text);
    imrec_free(p);
}

static bool has(const char *uri)
{
    bool there;
    ck_assert_int_eq(sink_exists(uri, &there, NULL), IMREC_OK);
    return there;
}

CASE(.timeout = 120, .setup = setup, .teardown = teardown)

/* ---- objects --------------------------------------------------------------------------------- */

TEST(an_object_is_written_beside_its_name_and_published)
{
    struct sink *s;
    ck_assert_int_eq(sink_open("my-store2://d/a", &s, &err), IMREC_OK);
    ck_assert_int_eq(sink_append(s, "hello", 5, &err), IMREC_OK);
    ck_assert_int_eq(sink_sync(s, &err), IMREC_OK);
    ck_assert(!has("my-store2://d/a"));
    expect_text("my-store2://d/a.part", "hello");
    sink_leave(s);
    ck_assert_int_eq(sink_resume("MY-STORE2://d/a", 4, &s, &err), IMREC_OK);
    ck_assert_int_eq(sink_append(s, "!", 1, &err), IMREC_OK);
    ck_assert_int_eq(sink_commit(s, &err), IMREC_OK);
    expect_text("my-store2://d/a", "hell!");
    ck_assert(!has("my-store2://d/a.part"));
    expect(sink_resume("my-store2://d/a", 4, &s, &err), IMREC_ERR_IO, "My-store2://d/a.part: ");
    ck_assert_int_eq(sink_open("my-store2://d/a", &s, &err), IMREC_OK);
    sink_abort(s);
    ck_assert(!has("my-store2://d/a.part") && has("my-store2://d/a"));
    ck_assert_int_eq(sink_remove("my-store2://d/a", &err), IMREC_OK);
    ck_assert_int_eq(sink_remove("my-store2://d/a", &err), IMREC_OK);
    ck_assert(!has("my-store2://d/a"));
}

TEST(an_object_becomes_none_of_another_store)
{
    const struct imrec_store calls = own_calls();
    put("my-store2://a", "x");
    ck_assert_int_eq(imrec_store_register("my-store", &calls, &own, &err), IMREC_OK);
    expect(sink_publish_as("my-store2://a", "my-store://a", &err), IMREC_ERR_ARGUMENT,
           "that is another store");
    ck_assert_int_eq(imrec_store_unregister("my-store", &err), IMREC_OK);
}

TEST(a_folder_has_its_entries_once)
{
    struct folder *f;
    struct folder_entries all;
    put("my-store2://d/b", "1");
    put("my-store2://d/a", "2");
    put("my-store2://d/sub/x", "3");
    put("my-store2://d/sub/y", "4");
    put("my-store2://other", "5");
    ck_assert_int_eq(folder_open("my-store2://d/", &f, &err), IMREC_OK);
    ck_assert_int_eq(folder_all(f, &all, &err), IMREC_OK);
    ck_assert_uint_eq(all.count, 3);
    ck_assert_str_eq(all.entry[0].name, "a");
    ck_assert_str_eq(all.entry[2].name, "sub");
    ck_assert_int_eq(all.entry[0].kind, FOLDER_FILE);
    ck_assert_int_eq(all.entry[2].kind, FOLDER_FOLDER);
    folder_entries_free(&all);
    folder_close(f);
    expect(folder_open("my-store2://none", &f, &err), IMREC_ERR_IO, "My-store2://none: no such");
    ck_assert_int_eq(err.sys_errno, ENOENT);
}

static enum imrec_status list_outside(void *user, const char *folder, imrec_store_entry_fn *entry,
                                      void *to, struct imrec_error *e)
{
    (void)folder;
    return entry(to, user, false, e);
}

TEST(a_listed_name_never_leads_out_of_its_folder)
{
    static char names[][8] = {"", ".", "..", "../x", "a/b", "/"};
    struct imrec_store calls = own_calls();
    calls.list = list_outside;
    for (int i = 0; i < COUNT(names); i++) {
        struct folder *f;
        ck_assert_int_eq(imrec_store_register("out", &calls, names[i], &err), IMREC_OK);
        expect(folder_open("out://d", &f, &err), IMREC_ERR_ARGUMENT, "out://d: lists the entry '");
        ck_assert_int_eq(imrec_store_unregister("out", &err), IMREC_OK);
    }
}

/* ---- failures ---------------------------------------------------------------------------------
 */

static enum imrec_status try_open(void)
{
    struct source *s;
    return source_open("my-store2://a", &s, &err);
}

static enum imrec_status try_read(void)
{
    uint8_t *p;
    size_t n;
    return source_load("my-store2://a", 100, &p, &n, &err);
}

static enum imrec_status try_list(void)
{
    struct folder *f;
    return folder_open("my-store2://", &f, &err);
}

static enum imrec_status try_write(void)
{
    struct sink *s;
    IMREC_TRY(sink_open("my-store2://a", &s, &err));
    ck_assert_int_eq(sink_append(s, "new", 3, &err), IMREC_OK);
    return sink_commit(s, &err);
}

static enum imrec_status try_remove(void)
{
    return sink_remove("my-store2://a", &err);
}

static enum imrec_status try_lock(void)
{
    struct lock *l;
    return lock_take("my-store2://a", &l, &err);
}

static const struct {
    const char *call, *message, *unsaid;
    enum imrec_status (*run)(void);
} failures[] = {
    {"open", "My-store2://a: it rains", "My-store2://a: the store's open failed", try_open},
    {"read_at", "My-store2://a: it rains", "My-store2://a: the store's read_at failed", try_read},
    {"list", "My-store2://: it rains", "My-store2://: the store's list failed", try_list},
    {"create", "My-store2://a.part: it rains", "My-store2://a.part: the store's create", try_write},
    {"write", "My-store2://a.part: it rains", "My-store2://a.part: the store's write", try_write},
    {"sync", "My-store2://a.part: it rains", "My-store2://a.part: the store's sync", try_write},
    {"publish", "My-store2://a: it rains", "My-store2://a: the store's publish", try_write},
    {"remove", "My-store2://a: it rains", "My-store2://a: the store's remove", try_remove},
    {"lock", "My-store2://a: it rains", "My-store2://a: the store's lock", try_lock},
};

LOOP_TEST(each_functions_failure_travels, 0, COUNT(failures))
{
    put("my-store2://a", "old");
    own.failing = failures[_i].call;
    own.with = IMREC_ERR_LIMIT;
    own.why = "it rains";
    expect(failures[_i].run(), IMREC_ERR_LIMIT, failures[_i].message);
    ck_assert_int_eq(err.sys_errno, EACCES);
    own.why = "";
    own.with = IMREC_END; /* no failure's name */
    expect(failures[_i].run(), IMREC_ERR_IO, failures[_i].unsaid);
    own.with = (enum imrec_status)99;
    expect(failures[_i].run(), IMREC_ERR_IO, failures[_i].unsaid);
    own.failing = NULL;
    expect_text("my-store2://a", "old");
}

TEST(what_a_store_cannot_is_refused_by_name)
{
    const struct imrec_store all = own_calls();
    const struct imrec_store calls = {
        .struct_size = sizeof(calls), .open = all.open, .read_at = all.read_at, .close = all.close};
    struct uri_list list = {0};
    struct sink *s;
    struct folder *f;
    struct lock *l;
    put("my-store2://a", "old");
    ck_assert_int_eq(imrec_store_register("reader", &calls, &own, &err), IMREC_OK);
    expect_text("reader://a", "old");
    const char *const writing = "reader://a: its store cannot be written to";
    expect(sink_open("reader://a", &s, &err), IMREC_ERR_UNSUPPORTED, writing);
    expect(sink_remove("reader://a", &err), IMREC_ERR_UNSUPPORTED, writing);
    expect(sink_publish("reader://a", &err), IMREC_ERR_UNSUPPORTED, writing);
    expect(lock_take("reader://a", &l, &err), IMREC_ERR_UNSUPPORTED, writing);
    expect(folder_open("reader://a", &f, &err), IMREC_ERR_UNSUPPORTED,
           "reader://a: its store cannot list");
    expect(uri_list_expand("reader://b", ".rec", &list, &err), IMREC_ERR_ARGUMENT,
           "reader://b: there is no such object");
    ck_assert_int_eq(err.sys_errno, ENOENT);
    expect(uri_list_expand("reader://b/", ".rec", &list, &err), IMREC_ERR_UNSUPPORTED,
           "reader://b/: its store cannot list");
    ck_assert_int_eq(imrec_store_unregister("reader", &err), IMREC_OK);
}

/* ---- registering ------------------------------------------------------------------------------
 */

static const struct {
    const char *scheme, *words;
} schemes[] = {
    {"", "1 to 31"},
    {"a.b", "'a.b'"},
    {"a:", "'a:'"},
    {"a/b", "'a/b'"},
    {"abcdefghijklmnopqrstuvwxyz012345", "1 to 31"},
    {"FILE", "imrec's own"},
    {"https", "imrec's own"},
    {"s3", "imrec's own"},
    {"MY-STORE2", "registered for 'MY-STORE2://' already"},
};

LOOP_TEST(a_scheme_that_cannot_be_is_refused, 0, COUNT(schemes))
{
    const struct imrec_store calls = own_calls();
    expect(imrec_store_register(schemes[_i].scheme, &calls, NULL, &err), IMREC_ERR_ARGUMENT,
           schemes[_i].words);
}

TEST(functions_that_belong_together_are_checked)
{
    struct imrec_store calls = own_calls();
    calls.struct_size--;
    expect(imrec_store_register("x", &calls, NULL, &err), IMREC_ERR_ARGUMENT, "struct_size");
    calls = own_calls();
    calls.read_at = NULL;
    expect(imrec_store_register("x", &calls, NULL, &err), IMREC_ERR_ARGUMENT, "read_at");
    calls = own_calls();
    calls.publish = NULL;
    expect(imrec_store_register("x", &calls, NULL, &err), IMREC_ERR_ARGUMENT, "not 4 of these 5");
    calls = own_calls();
    calls.unlock = NULL;
    expect(imrec_store_register("x", &calls, NULL, &err), IMREC_ERR_ARGUMENT, "lock and unlock");
}

TEST(what_is_open_keeps_its_store)
{
    struct source *s;
    struct sink *k;
    struct lock *l;
    put("my-store2://a", "old");
    ck_assert_int_eq(source_open("my-store2://a", &s, &err), IMREC_OK);
    ck_assert_int_eq(sink_open("my-store2://b", &k, &err), IMREC_OK);
    ck_assert_int_eq(lock_take("my-store2://b", &l, &err), IMREC_OK);
    expect(imrec_store_unregister("my-store2", &err), IMREC_ERR_ARGUMENT, "in use by 3 open");
    ck_assert_int_eq(err.sys_errno, EBUSY);
    source_close(s);
    sink_abort(k);
    expect(imrec_store_unregister("my-store2", &err), IMREC_ERR_ARGUMENT, "in use by 1 open");
    lock_drop(l);
    expect(imrec_store_unregister("none", &err), IMREC_ERR_ARGUMENT, "'none://'");
    ck_assert_int_eq(imrec_store_unregister("my-store2", &err), IMREC_OK);
    expect(source_open("my-store2://a", &s, &err), IMREC_ERR_UNSUPPORTED, "no store knows");
    const struct imrec_store calls = own_calls();
    ck_assert_int_eq(imrec_store_register("my-store2", &calls, &own, &err), IMREC_OK);
}

TEST(sixty_four_stores_are_registered_at_a_time)
{
    const struct imrec_store calls = own_calls();
    char scheme[20];
    for (int i = 1; i < 64; i++) {
        snprintf(scheme, sizeof(scheme), "x%d", i);
        ck_assert_int_eq(imrec_store_register(scheme, &calls, &own, &err), IMREC_OK);
    }
    expect(imrec_store_register("x64", &calls, &own, &err), IMREC_ERR_LIMIT, "the 64");
    for (int i = 1; i < 64; i++) {
        snprintf(scheme, sizeof(scheme), "x%d", i);
        ck_assert_int_eq(imrec_store_unregister(scheme, &err), IMREC_OK);
    }
}

static void hear(void *user, enum imrec_log_level level, const char *line)
{
    (void)user;
    (void)level;
    snprintf(logged, sizeof(logged), "%s", line);
}

TEST(a_store_without_locks_says_so_and_locks_out_this_process)
{
    struct imrec_store calls = own_calls();
    struct lock *a, *b, *c;
    calls.lock = NULL;
    calls.unlock = NULL;
    imrec_set_log(hear, NULL, IMREC_LOG_WARNING);
    ck_assert_int_eq(imrec_store_register("free", &calls, &own, &err), IMREC_OK);
    ck_assert_int_eq(lock_take("free://a", &a, &err), IMREC_OK);
    ck_assert_msg(strstr(logged, "free://a: its store has no locks") != NULL, "%s", logged);
    expect(lock_take("free://a", &b, &err), IMREC_ERR_IO, "free://a is held by another call");
    ck_assert_int_eq(err.sys_errno, EBUSY);
    ck_assert_int_eq(lock_take("free://b", &b, &err), IMREC_OK);
    lock_drop(a);
    ck_assert_int_eq(lock_take("free://a", &c, &err), IMREC_OK);
    lock_drop(c);
    lock_drop(b);
    ck_assert_int_eq(imrec_store_unregister("free", &err), IMREC_OK);
    imrec_set_log(NULL, NULL, IMREC_LOG_WARNING);
}

/* ---- threads ----------------------------------------------------------------------------------
 */

static void *read_much(void *arg)
{
    const struct imrec_store calls = own_calls();
    char scheme[20];
    snprintf(scheme, sizeof(scheme), "t%d", *(const int *)arg);
    for (int i = 0; i < 100; i++) {
        struct imrec_error e;
        uint8_t *p;
        size_t n;
        if (imrec_store_register(scheme, &calls, &own, &e) != IMREC_OK ||
            source_load("my-store2://a", 100, &p, &n, &e) != IMREC_OK)
            return arg;
        imrec_free(p);
        if (n != 3 || imrec_store_unregister(scheme, &e) != IMREC_OK)
            return arg;
    }
    return NULL;
}

TEST(threads_register_and_read_at_once)
{
    enum { THREADS = 6 };
    pthread_t thread[THREADS];
    int number[THREADS];
    put("my-store2://a", "old");
    for (int i = 0; i < THREADS; i++) {
        number[i] = i;
        ck_assert_int_eq(pthread_create(&thread[i], NULL, read_much, &number[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(thread[i], &failed);
        ck_assert_ptr_null(failed);
    }
}

/* ---- sets -------------------------------------------------------------------------------------
 */

/* Sums of all pixels and labels of a sweep, batch after batch. */
static double sweep(const char *uri)
{
    struct imrec_iter_options o;
    struct imrec_iter *it;
    struct imrec_batch batch;
    enum imrec_status st;
    double sum = 0, weight = 1;
    imrec_iter_options_init(&o);
    o.path_imgrec = uri;
    o.data_shape = (struct imrec_shape){3, 24, 24};
    o.batch_size = 5;
    o.shuffle = true;
    o.preprocess_threads = 2;
    ck_assert_msg(imrec_iter_open(&o, &it, &err) == IMREC_OK, "%s", err.message);
    while ((st = imrec_iter_next(it, &batch, &err)) == IMREC_OK)
        for (size_t i = 0; i < (size_t)batch.count * 3 * 24 * 24; i++, weight += 1)
            sum += weight * (double)((const float *)batch.data)[i];
    ck_assert_msg(st == IMREC_END, "%s", err.message);
    imrec_iter_close(it);
    return sum;
}

TEST(a_set_is_packed_to_it_listed_verified_and_read_as_from_a_folder)
{
    struct packing p;
    struct imrec_verify_options o;
    struct imrec_verify_result result;
    packing_make(&p, false);
    make_folder(&p.dir, "set");
    p.o.shards = 2;
    ck_assert_msg(packing_run(&p, tmp_path(&p.dir, "set/train.rec")) == IMREC_OK, "%s",
                  p.err.message);
    ck_assert_msg(packing_run(&p, "my-store2://set/train.rec") == IMREC_OK, "%s", p.err.message);
    ck_assert_uint_eq(p.result.packed, MADE_GOOD);
    ck_assert_int_ne((int)packing_run(&p, "my-store2://set/train.rec"), IMREC_OK); /* no --force */
    imrec_verify_options_init(&o);
    ck_assert_msg(imrec_dataset_verify("my-store2://set/", &o, &result, &err) == IMREC_OK, "%s",
                  err.message);
    ck_assert_uint_eq(result.records, MADE_GOOD);
    const double there = sweep("my-store2://set/");
    ck_assert(there != 0 && there == sweep(tmp_path(&p.dir, "set")));
    for (int i = 0; i < OWN_MOST; i++)
        ck_assert_ptr_null(strstr(own.object[i].name, ".part"));
    packing_remove(&p);
}

/* Whatever fails, the commit mark is missing, and a resume mends it. */
LOOP_TEST(a_set_that_failed_is_not_there, 0, 3)
{
    static const char *const calls[] = {"write", "sync", "publish"};
    struct packing p;
    packing_make(&p, false);
    own.failing = calls[_i];
    own.with = IMREC_ERR_IO;
    own.why = "it rains";
    ck_assert_int_eq(packing_run(&p, "my-store2://set/train.rec"), IMREC_ERR_IO);
    ck_assert_msg(strstr(p.err.message, "it rains") != NULL, "%s", p.err.message);
    own.failing = NULL;
    ck_assert(!has("my-store2://set/train.manifest.json"));
    p.o.resume = true;
    ck_assert_msg(packing_run(&p, "my-store2://set/train.rec") == IMREC_OK, "%s", p.err.message);
    ck_assert(has("my-store2://set/train.manifest.json"));
    packing_remove(&p);
}
