/* Parts of dmlc-core's files have the records that dmlc-core's InputSplit gives them. */
#include "tests/support/splitting.h"
#include "tests/support/suite.h"
#include "tests/support/vectors.h"

/* "a.rec;b.rec" in the vectors' folder. */
static void full_spec(const char *names, char *out, size_t room)
{
    char copy[512];
    size_t used = 0;
    out[0] = '\0';
    snprintf(copy, sizeof(copy), "%s", names);
    for (char *name = strtok(copy, ";"); name != NULL; name = strtok(NULL, ";"))
        used += (size_t)snprintf(out + used, room - used, "%s%s/%s", used != 0 ? ";" : "",
                                 shared_path("vectors/mxnet/split"), name);
}

static void check_part(const json_t *set, const json_t *ids, const char *uri,
                       const struct imrec_input_split_options *o)
{
    struct takings got = split_read(uri, o, false);
    ck_assert_uint_eq(got.errors, 0);
    ck_assert_uint_eq(got.count, json_array_size(ids));
    for (size_t i = 0; i < got.count; i++) {
        const json_t *want = json_array_get(json_object_get(set, "records"),
                                            (size_t)json_integer_value(json_array_get(ids, i)));
        char hash[32];
        snprintf(hash, sizeof(hash), "%016llx",
                 (unsigned long long)vectors_fnv1a64((struct bytes){got.t[i].p, got.t[i].n}));
        ck_assert_uint_eq(vectors_u64(want, "size"), got.t[i].n);
        ck_assert_str_eq(hash, vectors_text(want, "fnv1a64"));
    }
    takings_free(&got);
}

static void check_set(const json_t *set, enum imrec_split_type type)
{
    char uri[2048], index[2048];
    const char *count;
    json_t *parts_of;
    full_spec(vectors_text(set, "uri"), uri, sizeof(uri));
    if (type == IMREC_SPLIT_INDEXED_RECORDIO)
        full_spec(vectors_text(set, "idx"), index, sizeof(index));
    json_object_foreach(json_object_get(set, "nsplit"), count, parts_of)
    {
        const uint64_t parts = strtoull(count, NULL, 10);
        for (uint64_t p = 0; p < parts; p++) {
            struct imrec_input_split_options o = splitting(type, p, parts, p % 2 ? 64 : 1 << 20);
            o.max_record_bytes = 1 << 20;
            o.index_uri = type == IMREC_SPLIT_INDEXED_RECORDIO ? index : NULL;
            check_part(set, json_array_get(json_object_get(parts_of, "ids_per_part"), p), uri, &o);
        }
    }
}

CASE(.begin = shared_is_here)

TEST(every_part_has_exactly_the_records_of_dmlc_s_input_split)
{
    static const char *const types[] = {"text", "recordio", "indexed_recordio"};
    json_t *root = vectors_json("split.json"), *set;
    const char *name;
    size_t sets = 0;
    json_object_foreach(root, name, set)
    {
        for (int t = 0; t < COUNT(types); t++)
            if (strcmp(vectors_text(set, "type"), types[t]) == 0) {
                check_set(set, (enum imrec_split_type)t);
                sets++;
            }
    }
    ck_assert_uint_eq(sets, json_object_size(root));
    json_decref(root);
}
