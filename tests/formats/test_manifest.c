/* tests/formats/test_manifest.c - the manifest's text, and every field that can lie. */
#include "base/alloc.h"
#include "formats/set/manifest.h"
#include "tests/support/starving.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

static const char text[] =
    "{\n"
    "  \"format\": \"imrec-manifest\",\n"
    "  \"version\": 1,\n"
    "  \"packer\": \"imrec 0.1.0\",\n"
    "  \"records\": 5,\n"
    "  \"bytes\": 1200,\n"
    "  \"skipped\": 1,\n"
    "  \"class_count\": 2,\n"
    "  \"label_width\": 1,\n"
    "  \"list\": {\"name\": \"o.lst\", \"bytes\": 90, \"crc32c\": \"00000abc\"},\n"
    "  \"classes\": null,\n"
    "  \"options\": [\n"
    "    [\"resize\", \"256\"],\n"
    "    [\"exts\", \"\\\".jpg\\\"\\\\\\u000a\"]\n"
    "  ],\n"
    "  \"shards\": [\n"
    "    {\"rec\": {\"name\": \"o-0.rec\", \"bytes\": 1000, \"crc32c\": \"ffffffff\"}, "
    "\"records\": 4, "
    "\"idx\": {\"name\": \"o-0.idx\", \"bytes\": 30, \"crc32c\": \"00000001\"}, "
    "\"checksums\": {\"name\": \"o-0.crc\", \"bytes\": 72, \"crc32c\": \"00000002\"}},\n"
    "    {\"rec\": {\"name\": \"o-1.rec\", \"bytes\": 200, \"crc32c\": \"0000000f\"}, \"records\": "
    "1, "
    "\"idx\": null, \"checksums\": null}\n"
    "  ]\n"
    "}\n";

static struct bytes bytes_of(const char *s)
{
    return (struct bytes){(const uint8_t *)s, strlen(s)};
}

TEST(what_is_read_is_written_again_byte_for_byte)
{
    struct manifest m;
    struct buf out = BUF_INIT(1 << 16);
    ck_assert_int_eq(manifest_read("m", bytes_of(text), &m, NULL), IMREC_OK);
    ck_assert_uint_eq(m.shard_count, 2);
    ck_assert_uint_eq(m.records, 5);
    ck_assert_uint_eq(m.shards[0].rec.crc32c, 0xffffffffu);
    ck_assert_str_eq(m.shards[0].idx.name, "o-0.idx");
    ck_assert_ptr_null(m.shards[1].idx.name);
    ck_assert_ptr_null(m.classes.name);
    ck_assert_uint_eq(m.list.bytes, 90);
    ck_assert_str_eq(m.options[1].value, "\".jpg\"\\\n");
    ck_assert_int_eq(manifest_write(&m, &out, NULL), IMREC_OK);
    ck_assert_uint_eq(out.n, strlen(text));
    ck_assert_mem_eq(out.p, text, out.n);
    manifest_free(&m);
    buf_free(&out);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

TEST(the_order_of_fields_in_a_file_does_not_matter)
{
    struct manifest m;
    static const char other[] = "{\"version\":1,\"shards\":[{\"checksums\":null,\"idx\":null,"
                                "\"records\":0,\"rec\":{\"crc32c\":"
                                "\"00000000\",\"bytes\":0,\"name\":\"a.rec\"}}],\"options\":[],"
                                "\"classes\":null,\"list\":null,"
                                "\"label_width\":3,\"class_count\":0,\"skipped\":0,\"bytes\":0,"
                                "\"records\":0,\"packer\":\"\","
                                "\"format\":\"imrec-manifest\"}";
    ck_assert_int_eq(manifest_read("m", bytes_of(other), &m, NULL), IMREC_OK);
    ck_assert_uint_eq(m.label_width, 3);
    manifest_free(&m);
}

TEST(only_what_json_forbids_is_escaped)
{
    struct manifest_shard shard = {.rec = {"o.rec", 8, 0}, .records = 1};
    const struct manifest m = {.packer = "\x01\x1f \x7f \xc2\x9b \xe2\x80\xae \xc3\xa9 / \" \\",
                               .shards = &shard,
                               .shard_count = 1,
                               .records = 1,
                               .bytes = 8,
                               .label_width = 1};
    struct buf out = BUF_INIT(1 << 16);
    ck_assert_int_eq(manifest_write(&m, &out, NULL), IMREC_OK);
    ck_assert_int_eq(buf_append(&out, "", 1, NULL), IMREC_OK);
    ck_assert_str_eq((const char *)out.p,
                     "{\n"
                     "  \"format\": \"imrec-manifest\",\n"
                     "  \"version\": 1,\n"
                     "  \"packer\": \"\\u0001\\u001f \x7f \xc2\x9b \xe2\x80\xae \xc3\xa9 / \\\" "
                     "\\\\\",\n"
                     "  \"records\": 1,\n"
                     "  \"bytes\": 8,\n"
                     "  \"skipped\": 0,\n"
                     "  \"class_count\": 0,\n"
                     "  \"label_width\": 1,\n"
                     "  \"list\": null,\n"
                     "  \"classes\": null,\n"
                     "  \"options\": [],\n"
                     "  \"shards\": [\n"
                     "    {\"rec\": {\"name\": \"o.rec\", \"bytes\": 8, \"crc32c\": \"00000000\"}, "
                     "\"records\": 1, \"idx\": null, \"checksums\": null}\n"
                     "  ]\n"
                     "}\n");
    buf_free(&out);
}

static const struct {
    const char *from, *to; /* in the text */
    enum imrec_status status;
    const char *says;
} lies[] = {
    {"imrec-manifest", "manifest", IMREC_ERR_CORRUPT, "not a manifest"},
    {"\"version\": 1", "\"version\": 2", IMREC_ERR_UNSUPPORTED, "version"},
    {"\"version\": 1", "\"version\": \"1\"", IMREC_ERR_UNSUPPORTED, "version"},
    {"\"imrec 0.1.0\"", "7", IMREC_ERR_CORRUPT, "packer of a manifest must be a text"},
    {"\"records\": 5", "\"records\": 6", IMREC_ERR_CORRUPT, "totals"},
    {"\"records\": 5", "\"records\": -5", IMREC_ERR_CORRUPT, "records of a manifest must be"},
    {"\"records\": 5", "\"records\": 5.0", IMREC_ERR_CORRUPT, "records of a manifest must be"},
    {"\"records\": 5", "\"records\": 99999999999999999999", IMREC_ERR_CORRUPT, "not JSON"},
    {"\"bytes\": 1200", "\"bytes\": 1204", IMREC_ERR_CORRUPT, "totals"},
    {"\"skipped\": 1,", "", IMREC_ERR_CORRUPT, "skipped of a manifest must be"},
    {"\"skipped\": 1,", "\"skipped\": 1, \"skipped\": 1,", IMREC_ERR_CORRUPT, "not JSON"},
    {"\"skipped\": 1,", "\"skipped\": 1, \"x\": 1,", IMREC_ERR_CORRUPT, "does not know"},
    {"\"label_width\": 1", "\"label_width\": 0", IMREC_ERR_CORRUPT, "label_width 0"},
    {"\"label_width\": 1", "\"label_width\": 4294967296", IMREC_ERR_CORRUPT, "label_width"},
    {"\"o.lst\"", "\"../o.lst\"", IMREC_ERR_CORRUPT, "list.name of a manifest must be a file name"},
    {"\"o.lst\"", "\"\"", IMREC_ERR_CORRUPT, "list.name"},
    {"\"o.lst\"", "\"..\"", IMREC_ERR_CORRUPT, "list.name"},
    {"\"o.lst\"", "\".\"", IMREC_ERR_CORRUPT, "list.name"},
    {"\"o.lst\"", "\"a\\u0000b\"", IMREC_ERR_CORRUPT, "not JSON"},
    {"\"classes\": null", "\"classes\": 3", IMREC_ERR_CORRUPT, "classes of a manifest must be an"},
    {"00000abc", "00000ABC", IMREC_ERR_CORRUPT, "list.crc32c"},
    {"00000abc", "0000abc", IMREC_ERR_CORRUPT, "list.crc32c"},
    {"00000abc", "000000abc", IMREC_ERR_CORRUPT, "list.crc32c"},
    {"[\"resize\", \"256\"]", "[\"resize\", 256]", IMREC_ERR_CORRUPT, "options"},
    {"[\"resize\", \"256\"]", "[\"resize\"]", IMREC_ERR_CORRUPT, "options"},
    {"[\"resize\", \"256\"]", "[\"resize\", \"2\", \"3\"]", IMREC_ERR_CORRUPT, "options"},
    {"[\"resize\", \"256\"]", "\"resize\"", IMREC_ERR_CORRUPT, "options"},
    {"\"records\": 4", "\"records\": 126", IMREC_ERR_CORRUPT, "bytes cannot hold"},
    {"\"bytes\": 1000", "\"bytes\": 1001", IMREC_ERR_CORRUPT, "bytes cannot hold"},
    {"\"o-0.rec\"", "\"a/o-0.rec\"", IMREC_ERR_CORRUPT, "shards[0].rec.name"},
    {"\"idx\": null", "\"idx\": []", IMREC_ERR_CORRUPT, "shards[1].idx"},
    {"\"checksums\": null", "\"sums\": null", IMREC_ERR_CORRUPT, "shards[1].checksums"},
    {"\"options\": [", "\"options\": {}, \"o\": [", IMREC_ERR_CORRUPT,
     "options of a manifest must be a list"},
    {"]\n}", "]", IMREC_ERR_CORRUPT, "a.json line 20, column 0: not JSON"},
};

LOOP_TEST(every_field_that_lies_is_named, 0, COUNT(lies))
{
    char changed[2 * sizeof(text)];
    const char *at = strstr(text, lies[_i].from);
    struct manifest m;
    struct imrec_error err = {0};
    ck_assert_ptr_nonnull(at);
    snprintf(changed, sizeof(changed), "%.*s%s%s", (int)(at - text), text, lies[_i].to,
             at + strlen(lies[_i].from));
    ck_assert_int_eq(manifest_read("a.json", bytes_of(changed), &m, &err), lies[_i].status);
    ck_assert_msg(strstr(err.message, lies[_i].says) != NULL, "%s", err.message);
    ck_assert_msg(strncmp(err.message, "a.json", 6) == 0, "%s", err.message);
    ck_assert_ptr_null(m.owner);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

LOOP_TEST(a_record_missing_a_rec_file_or_a_name_is_not_written, 0, 4)
{
    struct manifest_shard shard = {.rec = {"o.rec", 8, 0}, .records = 1};
    struct manifest m = {.packer = "p",
                         .shards = &shard,
                         .shard_count = 1,
                         .records = 1,
                         .bytes = 8,
                         .label_width = 1};
    struct buf out = BUF_INIT(1 << 16);
    m.label_width = UINT32_MAX; /* the greatest there is */
    ck_assert_int_eq(buf_append(&out, "before", 6, NULL), IMREC_OK);
    ck_assert_int_eq(manifest_write(&m, &out, NULL), IMREC_OK);
    ck_assert_mem_eq(out.p, "before{", 7);
    out.n = 6;
    if (_i == 0)
        shard.rec.name = NULL;
    else if (_i == 1)
        shard.idx.name = "d/o.idx";
    else if (_i == 2)
        m.records = 2;
    else
        m.packer = "\xff";
    struct imrec_error err = {0};
    ck_assert_int_eq(manifest_write(&m, &out, &err), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(err.status, IMREC_ERR_ARGUMENT);
    ck_assert_uint_eq(out.n, 6);
    buf_free(&out);
}

TEST(survives_failure_of_the_nth_allocation)
{
    STARVING(memory)
    {
        struct manifest m;
        memory.st = manifest_read("m", bytes_of(text), &m, NULL);
        manifest_free(&m);
    }
    ck_assert_int_eq(imrec_alloc_live(), 0);
}
