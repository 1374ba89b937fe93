/* Partitions of the original's files hold the records that the original's partitions hold. */
#include "imrec/records.h"
#include "iter/load/loader.h"
#include "tests/support/loading.h"
#include "tests/support/suite.h"
#include "tests/support/vectors.h"

static struct imrec_error err;

/* "a.rec;b.rec" in the vectors' folder. */
static void full_spec(const char *names, char *out, size_t room)
{
    char copy[512];
    size_t used = 0;
    snprintf(copy, sizeof(copy), "%s", names);
    for (char *name = strtok(copy, ";"); name != NULL; name = strtok(NULL, ";"))
        used += (size_t)snprintf(out + used, room - used, "%s%s/%s", used != 0 ? ";" : "",
                                 shared_path("vectors/mxnet/split"), name);
}

static void check_record(const json_t *set, const json_t *ids, size_t i, struct bytes got)
{
    const json_t *record = json_array_get(json_object_get(set, "records"),
                                          (size_t)json_integer_value(json_array_get(ids, i)));
    char want[32], have[32];
    snprintf(want, sizeof(want), "%s", vectors_text(record, "fnv1a64"));
    snprintf(have, sizeof(have), "%016llx", (unsigned long long)vectors_fnv1a64(got));
    ck_assert_uint_eq(vectors_u64(record, "size"), got.n);
    ck_assert_str_eq(have, want);
}

static void check_part(const json_t *set, const json_t *ids, const char *rec, const char *idx,
                       uint64_t parts, uint64_t part)
{
    const struct container_options o = {.path_imgrec = rec,
                                        .path_imgidx = idx,
                                        .num_parts = parts,
                                        .part_index = part,
                                        .cell_bytes = 64};
    struct loading ld;
    size_t n = 0;
    memset(&ld, 0, sizeof(ld));
    ck_assert_msg(container_open(&o, &ld.container, &err) == IMREC_OK, "%s", err.message);
    loading_begin(&ld, 5, 2, 1);
    ld.in_order = true;
    ck_assert_int_eq(loader_start(&ld.o, 0, 0, &ld.loader, &err), IMREC_OK);
    for (uint64_t i = 0; i < ld.o.windows; i++) {
        struct window *w = loading_take(&ld);
        for (uint64_t k = 0; k < w->count; k++)
            check_record(set, ids, n++, w->records[k].bytes);
        loader_release(ld.loader, w);
    }
    ck_assert_uint_eq(n, json_array_size(ids));
    loading_stop(&ld);
}

static void
check_reader(const json_t *set, const json_t *ids, const char *rec, uint64_t parts, uint64_t part)
{
    struct imrec_reader *r;
    struct imrec_record record;
    size_t n = 0;
    ck_assert_int_eq(imrec_reader_open(rec, part, parts, &r, &err), IMREC_OK);
    while (imrec_reader_next(r, &record, &err) == IMREC_OK)
        check_record(set, ids, n++, (struct bytes){record.data, record.size});
    ck_assert_uint_eq(n, json_array_size(ids));
    imrec_reader_close(r);
}

CASE(.begin = shared_is_here)

TEST(every_part_holds_exactly_the_original_s_records)
{
    json_t *root = vectors_json("split.json"), *set, *container;
    const char *name, *count;
    size_t sets = 0;
    json_object_foreach(root, name, set)
    {
        char rec[2048] = "", idx[2048] = "";
        if (strncmp(vectors_text(set, "type"), "text", 4) == 0)
            continue;
        const bool indexed = json_is_string(json_object_get(set, "idx"));
        full_spec(vectors_text(set, "uri"), rec, sizeof(rec));
        if (indexed)
            full_spec(vectors_text(set, "idx"), idx, sizeof(idx));
        json_object_foreach(json_object_get(set, "nsplit"), count, container)
        {
            const uint64_t parts = strtoull(count, NULL, 10);
            for (uint64_t p = 0; p < parts; p++) {
                const json_t *ids = json_array_get(json_object_get(container, "ids_per_part"), p);
                check_part(set, ids, rec, idx, parts, p);
                if (!indexed)
                    check_reader(set, ids, rec, parts, p);
            }
        }
        sets++;
    }
    ck_assert_uint_eq(sets, 5);
    json_decref(root);
}
