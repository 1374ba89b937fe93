/* tests/formats/test_set_names.c - the names of a set, from a shard's. */
#include "formats/set/set_names.h"
#include "tests/support/suite.h"

#include <string.h>

static const struct {
    const char *rec;
    enum set_file what;
    const char *name;
} names[] = {
    {"a/OUT.rec", SET_REC, "a/OUT.rec"},
    {"a/OUT.rec", SET_INDEX, "a/OUT.idx"},
    {"a/OUT.rec", SET_CHECKSUMS, "a/OUT.crc"},
    {"a/OUT.rec", SET_LIST, "a/OUT.lst"},
    {"a/OUT.rec", SET_CLASSES, "a/OUT.classes.txt"},
    {"mem://OUT.rec", SET_MANIFEST, "mem://OUT.manifest.json"},
    {"OUT-00003-of-00010.rec", SET_INDEX, "OUT-00003-of-00010.idx"},
    {"OUT-00003-of-00010.rec", SET_LIST, "OUT.lst"},
    {"b-00000-of-1048576.rec", SET_MANIFEST, "b.manifest.json"},
    {"OUT-003-of-00010.rec", SET_LIST, "OUT-003-of-00010.lst"},
    {"OUT-00003-of-010.rec", SET_LIST, "OUT-00003-of-010.lst"},
    {"00003-of-00010.rec", SET_LIST, "00003-of-00010.lst"},
    {"OUT_00003-of-00010.rec", SET_LIST, "OUT_00003-of-00010.lst"},
    {"OUT-00009-of-00019.rec", SET_LIST, "OUT.lst"},
    {"OUT-00003_of-00010.rec", SET_LIST, "OUT-00003_of-00010.lst"},
    {"00010.rec", SET_LIST, "00010.lst"},
    {"-of-00010", SET_LIST, "-of-00010.lst"},
    {"train", SET_LIST, "train.lst"},
    {"a", SET_LIST, "a.lst"},
    {"out", SET_LIST, "out.lst"},
    {".rec", SET_INDEX, ".idx"},
    {"https://h/a.rec?sig=b/c.rec", SET_INDEX, "https://h/a.idx?sig=b/c.rec"},
    {"http://h/a-00000-of-00002.rec?x", SET_MANIFEST, "http://h/a.manifest.json?x"},
};

LOOP_TEST(a_shard_names_the_files_beside_it, 0, COUNT(names))
{
    char out[SET_NAME_ROOM(64)];
    set_name(names[_i].rec, names[_i].what, out);
    ck_assert_str_eq(out, names[_i].name);
}

TEST(shards_are_numbered_when_there_are_several)
{
    char out[SET_NAME_ROOM(64)];
    set_shard_name("d/OUT.rec", 3, 10, false, out);
    ck_assert_str_eq(out, "d/OUT-00003-of-00010.rec");
    set_shard_name("d/OUT.rec", 0, 1, true, out);
    ck_assert_str_eq(out, "d/OUT-00000-of-00001.rec");
    set_shard_name("d/OUT.rec", 0, 1, false, out);
    ck_assert_str_eq(out, "d/OUT.rec");
    set_shard_name("d/OUT.rec", UINT64_MAX, UINT64_MAX, true, out);
    ck_assert_str_eq(out, "d/OUT-18446744073709551615-of-18446744073709551615.rec");
}

TEST(a_base_name_is_what_follows_the_last_slash)
{
    ck_assert_str_eq(set_base_name("a/b/c.rec"), "c.rec");
    ck_assert_str_eq(set_base_name("c.rec"), "c.rec");
}

static const struct {
    const char *name;
    struct set_number is;
} numbers[] = {
    {"a/OUT-00003-of-00010.rec", {5, 11, 3, 10}},
    {"a/OUT-00003-of-00010.cbf", {5, 11, 3, 10}},
    {"OUT-100000-of-100001.rec", {3, 10, 100000, 100001}},
    {"OUT-00000-of-00001", {3, 9, 0, 1}},
    {"OUT-00003-of-00010.tar", {3, 9, 3, 10}},
    {"OUT-00003-of-00010.tar.gz", {3, 9, 3, 10}},
    {"OUT-00003-of-00010.tgz", {3, 9, 3, 10}},
    {"OUT-00003-of-00010.tfrecord", {3, 9, 3, 10}},
    {"OUT-00003-of-00010.tfrecords", {3, 9, 3, 10}},
    {"a.tfrecord-00003-of-00010", {10, 16, 3, 10}},
    {"https://h/OUT-00003-of-00010.tar?a-00001-of-00002", {13, 19, 3, 10}},
    {"OUT-000003.tar", {10, 10, 0, 0}},
    {"OUT-00010-of-00010.rec", {18, 18, 0, 0}},
    {"OUT.rec", {3, 3, 0, 0}},
    {"OUT-00003-of-00010.idx", {22, 22, 0, 0}},
    {"OUT-00000-of-99999999999999999999.rec", {33, 33, 0, 0}},
};

LOOP_TEST(a_name_says_which_shard_of_how_many_it_is, 0, COUNT(numbers))
{
    const struct set_number n = set_number_of(numbers[_i].name), *is = &numbers[_i].is;
    ck_assert_msg(n.stem == is->stem && n.rest == is->rest && n.number == is->number &&
                      n.count == is->count,
                  "%s: %zu %zu %llu %llu", numbers[_i].name, n.stem, n.rest,
                  (unsigned long long)n.number, (unsigned long long)n.count);
}
