/* tests/minibatch/test_ctf2bin_vectors.c - the texts of the shared vectors through ctf2bin: the
 * bytes that `ours` asks for, from any number of threads, or a refusal that leaves no file. */
#include "imrec/convert.h"
#include "tests/support/packing.h"
#include "tests/support/suite.h"
#include "tests/support/vectors.h"

static struct tmpdir dir;

static const char *cntk_path(const char *name)
{
    char relative[512];
    snprintf(relative, sizeof(relative), "vectors/cntk/%s", name);
    return shared_path(relative);
}

static enum imrec_status
run(const json_t *entry, const char *output, int64_t threads, struct imrec_error *err)
{
    struct imrec_convert_options o;
    char input[4096], header[4096];
    snprintf(input, sizeof(input), "%s", cntk_path(vectors_text(entry, "file")));
    snprintf(header, sizeof(header), "%s", cntk_path(vectors_text(entry, "header")));
    imrec_convert_options_init(&o);
    o.input = input;
    o.header = header;
    o.output = output;
    o.chunk_size = (int64_t)vectors_u64(entry, "chunk_size");
    o.precision = strcmp(vectors_text(entry, "precision"), "double") == 0 ? IMREC_PRECISION_DOUBLE
                                                                          : IMREC_PRECISION_FLOAT;
    o.threads = threads;
    return imrec_ctf_to_cbf(&o, NULL, NULL, NULL, err);
}

static void expect_bytes(const char *name, const char *got, const char *want)
{
    const struct bytes x = read_whole(got), y = read_whole(cntk_path(want));
    ck_assert_msg(x.p != NULL && x.n == y.n && memcmp(x.p, y.p, x.n) == 0, "%s", name);
    free((void *)(uintptr_t)x.p);
    free((void *)(uintptr_t)y.p);
}

static bool make(void)
{
    if (!shared_is_here())
        return false;
    dir = tmpdir_make();
    return true;
}

static void drop(void)
{
    tmpdir_remove(&dir);
}

CASE(.begin = make, .end = drop)

TEST(every_text_does_what_ours_says)
{
    json_t *manifest = vectors_json("../cntk/MANIFEST.json"), *entry;
    size_t i, seen = 0;
    char out[512];
    snprintf(out, sizeof(out), "%s", tmp_path(&dir, "out.cbf"));
    json_array_foreach(json_object_get(manifest, "cbf"), i, entry)
    {
        struct imrec_error err = {0};
        const char *name = vectors_text(entry, "name");
        const json_t *other = json_object_get(entry, "ours_cbf");
        if (strcmp(vectors_text(entry, "kind"), "ctf2bin") != 0)
            continue;
        const enum imrec_status st = run(entry, out, (int64_t)(seen++ % 4), &err);
        if (strcmp(vectors_text(entry, "ours"), "refuse") == 0) {
            ck_assert_msg(st == IMREC_ERR_CORRUPT, "%s: %d", name, (int)st);
            ck_assert_msg(strstr(err.message, "line") != NULL, "%s: %s", name, err.message);
            ck_assert(access(out, F_OK) != 0);
            continue;
        }
        ck_assert_msg(st == IMREC_OK, "%s: %s", name, err.message);
        expect_bytes(name, out,
                     other != NULL ? json_string_value(other) : vectors_text(entry, "cbf"));
        unlink(out);
    }
    ck_assert_uint_ge(seen, 12);
    json_decref(manifest);
}
