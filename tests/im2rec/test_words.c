/* What packer, iterator and verify say of an image depends on that image alone: not on those before
 * it, nor on the number of threads. */
#include "imrec/imrec.h"
#include "tests/support/damaged.h"
#include "tests/support/opening.h"
#include "tests/support/packing.h"
#include "tests/support/suite.h"

enum { ORDERS = 3, WORDS = 400 };

static char g_alone[MOST_DAMAGED][WORDS], g_together[MOST_DAMAGED][WORDS];
static uint32_t g_order[MOST_DAMAGED];

static void compare(const char *who)
{
    for (uint32_t i = 0; i < g_damaged->n; i++)
        ck_assert_msg(strcmp(g_alone[i], g_together[i]) == 0, "%s, %s: '%s', but alone '%s'", who,
                      g_damaged->name[i], g_together[i], g_alone[i]);
}

static uint32_t count_words(void)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < g_damaged->n; i++)
        n += g_alone[i][0] != '\0';
    return n;
}

/* ---- the packer --------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int resize;
    bool crop, pass, accept;
    enum imrec_encoding encoding;
} ways[] = {
    {.name = "as they are"},
    {.name = "resized", .resize = 16, .crop = true},
    {.name = "accepted", .accept = true, .encoding = IMREC_ENCODE_PNG},
    {.name = "passed through", .pass = true},
};

/* A line of the report: of which file, and what it says. */
static void take_line(char *line, char all[][WORDS])
{
    unsigned i;
    const char *said = strstr(line, "\"result\"");
    ck_assert(sscanf(line, "{\"path\":\"%u.img\"", &i) == 1 && i < g_damaged->n && said != NULL);
    snprintf(all[i], WORDS, "%s", said);
}

/* Packs the images in this order; what the report says of each comes to `all`. */
static void
pack(struct packing *p, int way, const uint32_t *order, uint32_t n, int threads, char all[][WORDS])
{
    char *list = malloc((size_t)n * 64 + 1), *at = list;
    for (uint32_t i = 0; i < n; i++)
        at += sprintf(at, "%u\t0\t%u.img\n", order[i], order[i]);
    const struct imrec_pack_task task = {
        .list = tmp_write(&p->dir, "order.lst", list, (size_t)(at - list)),
        .root = p->source,
        .out = "mem://words.rec"};
    imrec_pack_options_init(&p->o);
    p->o.threads = threads;
    p->o.force = true;
    p->o.report = kept_path(p, "report");
    p->kept_count--;
    p->o.max_pixels = 1 << 20;
    p->o.resize = ways[way].resize;
    p->o.center_crop = ways[way].crop;
    p->o.pass_through = ways[way].pass;
    p->o.check = IMREC_CHECK_DECODE;
    p->o.accept_truncated = ways[way].accept;
    p->o.encoding = ways[way].encoding;
    const enum imrec_status st = imrec_pack(&task, &p->o, &p->result, &p->err);
    ck_assert_msg(st == IMREC_OK || p->result.packed == 0, "%s", p->err.message);
    const struct bytes report = read_whole(p->o.report);
    char *rest = (char *)(uintptr_t)report.p;
    for (char *line; (line = strtok_r(rest, "\n", &rest)) != NULL;)
        take_line(line, all);
    free((void *)(uintptr_t)report.p);
    free(list);
}

CASE(.begin = damaged_begin, .end = damaged_end, .timeout = 100)

LOOP_TEST(the_packer_says_the_same_of_an_image_alone_and_among_others, 0, COUNT(ways)) /* _i: way */
{
    static const int threads[ORDERS] = {1, 2, 5};
    struct packing p;
    memset(&p, 0, sizeof(p));
    p.dir = tmpdir_make();
    snprintf(p.source, sizeof(p.source), "%s", p.dir.path);
    for (uint32_t i = 0; i < g_damaged->n; i++) {
        char name[32];
        snprintf(name, sizeof(name), "%u.img", i);
        tmp_write(&p.dir, name, g_damaged->image[i].p, g_damaged->image[i].n);
    }
    memset(g_alone, 0, sizeof(g_alone));
    for (uint32_t i = 0; i < g_damaged->n; i++)
        pack(&p, _i, &i, 1, 1, g_alone);
    ck_assert_uint_gt(count_words(), 50);
    for (uint32_t seed = 0; seed < ORDERS; seed++)
        for (int t = 0; t < ORDERS; t++) {
            damaged_order(g_damaged, seed, g_order);
            memset(g_together, 0, sizeof(g_together));
            pack(&p, _i, g_order, g_damaged->n, threads[t], g_together);
            compare(ways[_i].name);
        }
    packing_remove(&p);
}

/* ---- the iterator and verify ---------------------------------------------------------------- */

/* The images in this order, each a record whose id is its number. */
static void write_shard(const uint32_t *order, uint32_t n)
{
    struct imrec_writer *w;
    struct imrec_error err;
    ck_assert_int_eq(imrec_writer_open("mem://words.rec", "mem://words.idx", true, &w, &err),
                     IMREC_OK);
    for (uint32_t i = 0; i < n; i++) {
        const float label = 0;
        const struct bytes b = g_damaged->image[order[i]];
        ck_assert_int_eq(
            imrec_writer_append_image(w, order[i], &label, 1, order[i], b.p, b.n, &err), IMREC_OK);
    }
    ck_assert_int_eq(imrec_writer_commit(w, &err), IMREC_OK);
}

/* What is said behind "id N: ". */
static void take_message(const char *message, char all[][WORDS])
{
    unsigned i;
    const char *id = strstr(message, ", id "), *said = id != NULL ? strstr(id, ": ") : NULL;
    ck_assert_msg(said != NULL && sscanf(id, ", id %u", &i) == 1 && i < g_damaged->n, "%s",
                  message);
    snprintf(all[i], WORDS, "%s", said + 2);
}

static void iterate(const char *how, int threads, char all[][WORDS])
{
    struct imrec_batch batch;
    struct imrec_error err;
    char words[100];
    snprintf(words, sizeof(words),
             "batch_size=1 last_batch=pad max_pixels=1048576 preprocess_threads=%d", threads);
    struct imrec_iter *it = open_over("mem://words.rec", words, how);
    for (enum imrec_status st; (st = imrec_iter_next(it, &batch, &err)) != IMREC_END;)
        if (st != IMREC_OK)
            take_message(err.message, all);
    imrec_iter_close(it);
}

static void note(void *user, const struct imrec_finding *f)
{
    char(*all)[WORDS] = user;
    ck_assert_int_eq(f->kind, IMREC_FOUND_IMAGE);
    snprintf(all[f->id], WORDS, "%s", f->reason);
}

static void verify(const char *ignored, int threads, char all[][WORDS])
{
    struct imrec_verify_options o;
    struct imrec_verify_result result;
    struct imrec_error err;
    (void)ignored;
    imrec_verify_options_init(&o);
    o.threads = threads;
    o.max_pixels = 1 << 20;
    o.finding = note;
    o.user = all;
    ck_assert_msg(imrec_dataset_verify("mem://words.rec", &o, &result, &err) == IMREC_OK, "%s",
                  err.message);
}

static const struct {
    const char *name, *how;
    void (*read)(const char *how, int threads, char all[][WORDS]);
} readers[] = {
    {"straight into slots", "data_shape=3,20,20", iterate},
    {"resized", "data_shape=3,8,8 resize=12", iterate},
    {"in grey, checked", "data_shape=1,8,8 verify_decode=1", iterate},
    {"verify", "", verify},
};

LOOP_TEST(a_reader_says_the_same_of_an_image_alone_and_among_others, 0,
          COUNT(readers)) /* _i: reader */
{
    static const int threads[ORDERS] = {1, 2, 5};
    memset(g_alone, 0, sizeof(g_alone));
    for (uint32_t i = 0; i < g_damaged->n; i++) {
        write_shard(&i, 1);
        readers[_i].read(readers[_i].how, 1, g_alone);
    }
    ck_assert_uint_gt(count_words(), 50);
    for (uint32_t seed = 0; seed < ORDERS; seed++) {
        damaged_order(g_damaged, seed, g_order);
        write_shard(g_order, g_damaged->n);
        for (int t = 0; t < ORDERS; t++) {
            memset(g_together, 0, sizeof(g_together));
            readers[_i].read(readers[_i].how, threads[t], g_together);
            compare(readers[_i].name);
        }
    }
}
