/* tests/im2rec/test_stale_parts.c - force removes what an interrupted run of the same set left. */
#include "base/alloc.h"
#include "im2rec/set/stale_parts.h"
#include "im2rec/shard/shard_kinds.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

#include <string.h>
#include <unistd.h>

enum { OWN = 4 };

/* Of each format: the other one's are another run's. */
static const char *const gone[2][OWN] = {
    {"a.rec.part", "a-00000-of-00003.rec.part", "a-00002-of-00003.idx.part",
     "a-00011-of-123456.crc.part"},
    {"a.cbf.part", "a.cbf.idx.part", "a-00000-of-00002.cbf.part", "a-00000-of-00002.cbf.idx.part"}};
static const char *const kept[] = {"a.rec",
                                   "a-00000-of-00003.rec",
                                   "a.lst.part",
                                   "a.lock.part",
                                   "a.cbf",
                                   "a.cbf.idx",
                                   "b.cbf.part",
                                   "a.journal.part",
                                   "b.rec.part",
                                   "aa-00000-of-00003.rec.part",
                                   "a-0-of-3.rec.part",
                                   "a-00000-of-00003.rec.partial",
                                   ".rec.part",
                                   "a-00000-of-00003-00000-of-00003.rec.part"};

static void write_all(const struct tmpdir *dir)
{
    for (size_t i = 0; i < 2 * OWN; i++)
        tmp_write(dir, gone[i / OWN][i % OWN], "x", 1);
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        tmp_write(dir, kept[i], "x", 1);
}

static bool exist(const char *rec, const struct shard_kind *kind)
{
    bool found;
    ck_assert_int_eq(stale_parts_exist(rec, kind, &found, NULL), IMREC_OK);
    return found;
}

LOOP_TEST(parts_of_the_set_go_and_everything_else_stays, 0, 2)
{
    struct tmpdir dir = tmpdir_make();
    const bool cbf = _i != 0;
    const struct shard_kind *own = shard_kinds[cbf], *other = shard_kinds[!cbf];
    char uri[2][600];
    snprintf(uri[0], sizeof(uri[0]), "%s", tmp_path(&dir, "a.rec"));
    snprintf(uri[1], sizeof(uri[1]), "file://%s", tmp_path(&dir, "a.rec"));
    for (int u = 0; u < 2; u++) {
        write_all(&dir);
        ck_assert(exist(uri[u], own));
        ck_assert_int_eq(stale_parts_remove(uri[u], own, NULL), IMREC_OK);
        ck_assert(!exist(uri[u], own));
        ck_assert(exist(uri[u], other));
        for (size_t i = 0; i < OWN; i++) {
            ck_assert_msg(tmp_size(tmp_path(&dir, gone[cbf][i])) == -1, "%s", gone[cbf][i]);
            ck_assert_msg(tmp_size(tmp_path(&dir, gone[!cbf][i])) == 1, "%s", gone[!cbf][i]);
        }
        for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
            ck_assert_msg(tmp_size(tmp_path(&dir, kept[i])) == 1, "%s", kept[i]);
    }
    ck_assert_int_eq(stale_parts_remove("mem://a.rec", own, NULL), IMREC_OK);
    ck_assert_int_eq(stale_parts_remove("/no/such/folder/a.rec", own, NULL), IMREC_OK);
    tmpdir_remove(&dir);
}

TEST(a_name_without_folder_means_this_one)
{
    struct tmpdir dir = tmpdir_make();
    tmp_write(&dir, "a-00000-of-00003.rec.part", "x", 1);
    ck_assert_int_eq(chdir(tmp_path(&dir, ".")), 0);
    ck_assert_int_eq(stale_parts_remove("a.rec", shard_kinds[0], NULL), IMREC_OK);
    ck_assert_int_eq(tmp_size(tmp_path(&dir, "a-00000-of-00003.rec.part")), -1);
    ck_assert_int_eq(chdir("/"), 0);
    tmpdir_remove(&dir);
}

TEST(no_memory_is_not_taken_for_no_parts)
{
    struct tmpdir dir = tmpdir_make();
    const char *rec = tmp_path(&dir, "a.rec");
    struct imrec_error err;
    long failed = 0;
    bool found = false, removed_all = false;
    tmp_write(&dir, "a.rec.part", "x", 1);
    for (long n = 0; !removed_all; n++) {
        imrec_alloc_fail_after(n);
        const enum imrec_status seen = stale_parts_exist(rec, shard_kinds[0], &found, &err);
        const enum imrec_status removed =
            seen == IMREC_OK ? stale_parts_remove(rec, shard_kinds[0], &err) : seen;
        imrec_alloc_fail_after(-1);
        ck_assert(seen == IMREC_OK ? found : seen == IMREC_ERR_NO_MEMORY);
        ck_assert(removed == IMREC_OK || removed == IMREC_ERR_NO_MEMORY);
        removed_all = removed == IMREC_OK;
        ck_assert_int_eq(tmp_size(tmp_path(&dir, "a.rec.part")), removed_all ? -1 : 1);
        failed += !removed_all;
    }
    ck_assert_int_gt(failed, 0);
    tmpdir_remove(&dir);
}
