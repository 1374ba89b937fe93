/* Binary indexes read by ranges: a partition's records are those of the text, and no other blocks
 * are read. */
#include "base/alloc.h"
#include "container/container.h"
#include "container/shards/index_lookup.h"
#include "formats/recordio/index_blocks.h"
#include "imrec/dataset.h"
#include "storage/fault.h"
#include "tests/support/shards.h"
#include "tests/support/starving.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

enum { SHARDS = 4, PARTS_MOST = 8 };
static const uint32_t records[SHARDS] = {40000, INDEX_BLOCKS_ENTRIES, 1, 30000};

static struct tmpdir dir;
static struct imrec_error err;
static uint64_t table_most; /* 0: every record is in the table */

/* Shards a to d of records of 16 to 28 bytes. */
static void write_shard(uint32_t shard, uint32_t count)
{
    struct buf file = BUF_INIT((size_t)1 << 24);
    struct dice dice = {shard};
    static const uint8_t bytes[20] = "abcdefghijklmnopqrs";
    char name[32];
    for (uint32_t i = 0; i < count; i++)
        ck_assert_int_eq(
            recordio_frame((struct bytes){bytes, 5 + dice_below(&dice, 15)}, &file, &err),
            IMREC_OK);
    snprintf(name, sizeof(name), "%c.rec", (char)('a' + shard));
    tmp_write(&dir, name, file.p, file.n);
    buf_free(&file);
}

static void write_indexes(void)
{
    struct imrec_index_place place = {0};
    for (uint32_t i = 0; i < SHARDS; i++) {
        char name[32];
        struct imrec_index_result r;
        snprintf(name, sizeof(name), "%c.rec", (char)('a' + i));
        const char *shard = tmp_path(&dir, name);
        ck_assert_int_eq(imrec_dataset_index(shard, NULL, IMREC_KEYS_COUNTER, false, &r, &err),
                         IMREC_OK);
        ck_assert_int_eq(
            imrec_dataset_index_binary(shard, NULL, IMREC_KEYS_COUNTER, false, &place, &r, &err),
            IMREC_OK);
        ck_assert_uint_eq(r.records, records[i]);
    }
}

static void setup(void)
{
    dir = tmpdir_make();
    table_most = 0;
    for (uint32_t i = 0; i < SHARDS; i++)
        write_shard(i, records[i]);
    write_indexes();
}

static void teardown(void)
{
    fault_forget("index");
    tmpdir_remove(&dir);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

/* "DIR/a.rec;DIR/b.rec;..." of the shards that `order` names. */
static void list(const char *before, const char *order, const char *suffix, char out[2048])
{
    out[0] = '\0';
    for (size_t n = 0; *order != '\0'; order++) {
        char name[32];
        snprintf(name, sizeof(name), "%c%s", *order, suffix);
        n += (size_t)snprintf(out + n, 2048 - n, "%s%s%s", n != 0 ? ";" : "", before,
                              tmp_path(&dir, name));
    }
}

static enum imrec_status open_set(const char *order, const char *before, const char *suffix,
                                  uint32_t part, uint32_t parts, struct container *out)
{
    char rec[2048], idx[2048];
    list("", order, ".rec", rec);
    list(before, order, suffix, idx);
    return container_open(
        &(struct container_options){.path_imgrec = rec,
                                    .path_imgidx = suffix[0] != '\0' ? idx : "auto",
                                    .num_parts = parts,
                                    .part_index = part,
                                    .table_most = table_most,
                                    .cell_bytes = 64},
        out, &err);
}

static void must_be_equal(const struct container *a, const struct container *b)
{
    ck_assert_uint_eq(a->record_total, b->record_total);
    ck_assert_uint_eq(a->index_hash, b->index_hash);
    ck_assert_uint_eq(container_fingerprint(a), container_fingerprint(b));
    ck_assert_uint_eq(a->begin, b->begin);
    ck_assert_uint_eq(a->end, b->end);
    ck_assert_uint_eq(a->unit_count, b->unit_count);
    ck_assert_mem_eq(a->records, b->records, (a->unit_count + 1) * sizeof(*a->records));
}

static void must_read_the_same(const char *order, bool ranges)
{
    for (uint32_t parts = 1; parts <= PARTS_MOST; parts++)
        for (uint32_t part = 0; part < parts; part++) {
            struct container text, binary;
            ck_assert_int_eq(open_set(order, "", ".idx", part, parts, &text), IMREC_OK);
            ck_assert_msg(open_set(order, "", "", part, parts, &binary) == IMREC_OK, "%s",
                          err.message);
            ck_assert_int_eq(binary.index_cut, ranges);
            must_be_equal(&text, &binary);
            container_close(&text);
            container_close(&binary);
        }
}

CASE(.timeout = 60, .setup = setup, .teardown = teardown)

TEST(every_partition_has_the_records_and_the_hash_of_the_text)
{
    must_read_the_same("abcd", true);
}

LOOP_TEST(shards_of_another_set_are_read_whole, 0, 4)
{
    static const char *const orders[] = {"bacd", "bcd", "abd", "d"};
    must_read_the_same(orders[_i], false);
}

TEST(the_first_shards_of_a_set_are_one)
{
    must_read_the_same("abc", true);
    must_read_the_same("a", true);
}

TEST(another_first_shard_makes_another_hash)
{
    struct imrec_index_place place = {0};
    struct imrec_index_result r;
    write_shard(0, records[0] - 7); /* every number is right still */
    const char *shard = tmp_path(&dir, "a.rec");
    ck_assert_int_eq(imrec_dataset_index(shard, NULL, IMREC_KEYS_COUNTER, true, &r, &err),
                     IMREC_OK);
    ck_assert_int_eq(
        imrec_dataset_index_binary(shard, NULL, IMREC_KEYS_COUNTER, true, &place, &r, &err),
        IMREC_OK);
    must_read_the_same("a", true);
    must_read_the_same("abcd", false);
}

/* Bytes of all .idxb that a reader of a partition has read. */
static uint64_t bytes_of(uint32_t part, uint32_t parts)
{
    struct container c;
    ck_assert_int_eq(fault_set("index", &(struct fault_script){0}, &err), IMREC_OK);
    ck_assert_msg(open_set("abcd", "fault://script=index:", ".idxb", part, parts, &c) == IMREC_OK,
                  "%s", err.message);
    ck_assert(c.index_cut);
    ck_assert_uint_eq(container_memory(&c), (c.unit_count + 1) * sizeof(*c.records));
    container_close(&c);
    return fault_counts("index").bytes_read;
}

TEST(a_partition_reads_its_part_of_the_indexes)
{
    const uint64_t heads = 2 * SHARDS * INDEX_BLOCKS_HEAD_BYTES, all = bytes_of(0, 1);
    uint64_t sum = 0;
    ck_assert_uint_ge(all, 16 * (40000 + INDEX_BLOCKS_ENTRIES + 1 + 30000));
    for (uint32_t part = 0; part < PARTS_MOST; part++) {
        const uint64_t n = bytes_of(part, PARTS_MOST);
        ck_assert_uint_le(n, all / PARTS_MOST + heads + 3 * INDEX_BLOCKS_BLOCK_BYTES);
        sum += n;
    }
    ck_assert_uint_ge(sum, all);
}

/* Changes a byte of an entry. */
static void damage(const char *name, uint64_t block)
{
    FILE *f = fopen(tmp_path(&dir, name), "r+b");
    ck_assert_ptr_nonnull(f);
    const long at = (long)index_blocks_begin(block) + 8;
    ck_assert_int_eq(fseek(f, at, SEEK_SET), 0);
    const int was = fgetc(f);
    ck_assert_int_eq(fseek(f, at, SEEK_SET), 0);
    ck_assert_int_ne(fputc(was ^ 1, f), EOF);
    fclose(f);
}

TEST(a_damaged_block_is_an_error_only_of_the_partitions_that_need_it)
{
    damage("d.idxb", 6); /* the last records but one block of all */
    uint32_t bad = 0;
    for (uint32_t part = 0; part < PARTS_MOST; part++) {
        struct container c;
        const enum imrec_status st = open_set("abcd", "", "", part, PARTS_MOST, &c);
        bad += st != IMREC_OK;
        if (st == IMREC_OK) {
            container_close(&c);
            continue;
        }
        ck_assert_int_eq(st, IMREC_ERR_CORRUPT);
        ck_assert_uint_eq(part, 7);
        ck_assert_msg(strstr(err.message, "d.idxb: the checksum of block 6 is") != NULL, "%s",
                      err.message);
    }
    ck_assert_uint_eq(bad, 1);
}

TEST(the_border_is_read_from_the_next_block)
{
    struct container c;
    uint64_t first = 0;
    for (uint32_t i = 0; i < SHARDS; i++)
        first += records[i];
    const uint64_t step = (first + 7) / 8; /* partition 0 ends in block 2 of a.idxb */
    ck_assert_int_eq(step / INDEX_BLOCKS_ENTRIES, 2);
    damage("a.idxb", 3);
    ck_assert_int_eq(open_set("abcd", "", "", 0, 8, &c), IMREC_OK);
    ck_assert_uint_eq(c.records[c.unit_count].shard, 0);
    ck_assert_uint_gt(c.records[c.unit_count].offset, c.records[c.unit_count - 1].offset);
    container_close(&c);
    damage("a.idxb", 2);
    ck_assert_int_eq(open_set("abcd", "", "", 0, 8, &c), IMREC_ERR_CORRUPT);
}

/* ---- records that are looked up -------------------------------------------------------------- */

static void must_be_places(const struct container *table, const struct record_place *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct record_place is = {.number = p[i].number};
        ck_assert_int_eq(container_locate(table, &is, 1, &err), IMREC_OK);
        ck_assert_uint_eq(p[i].begin, is.begin);
        ck_assert_uint_eq(p[i].end, is.end);
        ck_assert_uint_eq(p[i].key, is.key);
        ck_assert_uint_eq(p[i].shard, is.shard);
    }
}

/* Every record, `step` numbers on from each other, at most `most` of them at once. */
static void must_look_up(const struct container *table, const struct index_lookup *l, uint64_t step,
                         size_t most)
{
    static struct record_place p[20000];
    for (uint64_t first = 0; first < step; first++)
        for (uint64_t number = first; number < table->unit_count;) {
            size_t n = 0;
            for (; n < most && number < table->unit_count; number += step)
                p[n++] = (struct record_place){.number = number};
            ck_assert_msg(index_lookup_find(l, p, n, &err) == IMREC_OK, "%s", err.message);
            must_be_places(table, p, n);
        }
}

/* One by one through blocks that nobody has read, in windows, and once more. */
TEST(what_is_looked_up_is_what_the_table_has)
{
    for (uint32_t part = 0; part < 3; part += 2) {
        struct container table, c;
        table_most = 0;
        ck_assert_int_eq(open_set("abcd", "", "", part, 3, &table), IMREC_OK);
        table_most = 1;
        ck_assert_msg(open_set("abcd", "", "", part, 3, &c) == IMREC_OK, "%s", err.message);
        ck_assert(c.records == NULL && c.lookup != NULL && c.index_cut);
        ck_assert_uint_eq(container_fingerprint(&table), container_fingerprint(&c));
        ck_assert_uint_eq(table.begin, c.begin);
        ck_assert_uint_eq(table.end, c.end);
        ck_assert_uint_eq(table.unit_count, c.unit_count);
        must_look_up(&table, c.lookup, 1501, 5);
        must_look_up(&table, c.lookup, 1, 20000);
        must_look_up(&table, c.lookup, 150, 17);
        must_look_up(&table, c.lookup, 1, 1);
        container_close(&c);
        container_close(&table);
    }
}

/* As of a far store: the blocks of a window side by side. */
TEST(blocks_are_looked_up_side_by_side)
{
    struct container table;
    struct index_lookup *l;
    uint64_t begin = 0;
    ck_assert_int_eq(open_set("abcd", "", "", 0, 1, &table), IMREC_OK);
    ck_assert_int_eq(index_lookup_new(SHARDS, 0, true, &l, &err), IMREC_OK);
    for (uint32_t i = 0; i < SHARDS; i++) {
        char name[32];
        const struct shard *h = &table.shards[i];
        struct source *f;
        struct index_blocks head;
        snprintf(name, sizeof(name), "%c.idxb", (char)('a' + i));
        ck_assert_int_eq(index_open(tmp_path(&dir, name),
                                    &(struct index_shard){h->uri, h->source, h->size, false}, &f,
                                    &head, &err),
                         IMREC_OK);
        ck_assert_int_eq(index_lookup_add(l, tmp_path(&dir, name), f, &head, begin, &err),
                         IMREC_OK);
        begin += head.count;
    }
    must_look_up(&table, l, 301, 500);
    must_look_up(&table, l, 7, 20000);
    index_lookup_free(l);
    container_close(&table);
}

/* Of a window with many of its records. */
TEST(a_damaged_block_is_an_error_of_its_records_alone)
{
    struct container c;
    struct record_place p[100];
    table_most = 1;
    damage("a.idxb", 3);
    ck_assert_int_eq(open_set("abcd", "", "", 0, 1, &c), IMREC_OK);
    for (uint64_t first = 0; first < 30000; first += 1000) {
        for (uint64_t i = 0; i < 100; i++)
            p[i].number = first + i;
        const bool bad = first / INDEX_BLOCKS_ENTRIES == 3;
        ck_assert_int_eq(container_locate(&c, p, 100, &err), bad ? IMREC_ERR_CORRUPT : IMREC_OK);
        ck_assert_msg(!bad || strstr(err.message, "a.idxb: the checksum of block 3 is") != NULL,
                      "%s", err.message);
    }
    container_close(&c);
}

/* Adds to the offset of an entry of a.idxb. */
static void move_entry(uint64_t number, uint64_t by)
{
    uint8_t offset[8];
    FILE *f = fopen(tmp_path(&dir, "a.idxb"), "r+b");
    const long at = (long)(index_blocks_begin(number / INDEX_BLOCKS_ENTRIES) +
                           number % INDEX_BLOCKS_ENTRIES * INDEX_BLOCKS_ENTRY_BYTES);
    ck_assert_int_eq(fseek(f, at, SEEK_SET), 0);
    ck_assert_uint_eq(fread(offset, 1, 8, f), 8);
    store_le64(offset, load_le64(offset) + by);
    ck_assert_int_eq(fseek(f, at, SEEK_SET), 0);
    ck_assert_uint_eq(fwrite(offset, 1, 8, f), 8);
    fclose(f);
}

static enum imrec_status open_record(const struct container *c, uint64_t number)
{
    struct record_place p = {.number = number};
    struct bytes out;
    uint8_t bytes[4096];
    uint64_t used;
    const enum imrec_status st = container_locate(c, &p, 1, &err);
    if (st != IMREC_OK)
        return st;
    const size_t n = p.end - p.begin < sizeof(bytes) ? (size_t)(p.end - p.begin) : sizeof(bytes);
    ck_assert_int_eq(source_read(c->shards[p.shard].source, p.begin, bytes, n, &err), IMREC_OK);
    return c->kind->open(c, &p, bytes, n, &out, &used, &err);
}

/* Whatever it is: no other record is taken for this one. */
TEST(a_wrong_entry_costs_its_record_and_the_one_before)
{
    static const uint64_t by[] = {4, (uint64_t)-4, 3, 16, 1 << 16, 1 << 20, (uint64_t)1 << 40};
    struct container c;
    table_most = 1;
    ck_assert_int_eq(open_set("abcd", "", "", 0, 1, &c), IMREC_OK);
    for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++) {
        move_entry(5000, by[i]);
        for (uint64_t number = 4998; number < 5003; number++) {
            const bool bad = number == 4999 || number == 5000;
            ck_assert_int_eq(open_record(&c, number), bad ? IMREC_ERR_CORRUPT : IMREC_OK);
            ck_assert_msg(!bad || strstr(err.message, "a.idxb") != NULL, "%s", err.message);
            ck_assert(number != 5000 || by[i] != 3 || strstr(err.message, "multiple of 4") != NULL);
        }
        move_entry(5000, -by[i]);
    }
    container_close(&c);
}

TEST(an_index_that_is_cut_short_is_an_error_and_not_the_end_of_the_process)
{
    struct container c;
    struct record_place p = {.number = 39000};
    table_most = 1;
    ck_assert_int_eq(open_set("abcd", "", "", 0, 1, &c), IMREC_OK);
    ck_assert_int_eq(truncate(tmp_path(&dir, "a.idxb"), 100), 0);
    ck_assert_int_eq(container_locate(&c, &p, 1, &err), IMREC_ERR_IO);
    ck_assert_msg(strstr(err.message, "a.idxb") != NULL, "%s", err.message);
    container_close(&c);
}

static uint64_t bytes_to_find(const struct container *c, uint64_t number, size_t n)
{
    struct record_place p[100];
    const uint64_t before = fault_counts("index").bytes_read;
    for (size_t i = 0; i < n; i++)
        p[i].number = number + i;
    ck_assert_int_eq(container_locate(c, p, n, &err), IMREC_OK);
    return fault_counts("index").bytes_read - before;
}

TEST(a_record_takes_32_bytes_and_many_of_a_block_the_block)
{
    struct container c;
    table_most = 1;
    ck_assert_int_eq(fault_set("index", &(struct fault_script){0}, &err), IMREC_OK);
    ck_assert_int_eq(open_set("abcd", "fault://script=index:", ".idxb", 0, 1, &c), IMREC_OK);
    ck_assert_uint_le(fault_counts("index").bytes_read, 2 * SHARDS * INDEX_BLOCKS_HEAD_BYTES + 48);
    ck_assert_uint_eq(bytes_to_find(&c, 5000, 1), 32);
    ck_assert_uint_eq(bytes_to_find(&c, INDEX_BLOCKS_ENTRIES - 1, 1), 36);
    ck_assert_uint_eq(bytes_to_find(&c, 6000, 100), INDEX_BLOCKS_BLOCK_BYTES);
    container_close(&c);
}

/* As many bytes for each file more; nothing is held of their entries. */
TEST(what_looks_up_is_counted_as_memory)
{
    uint64_t bytes[SHARDS + 1] = {0};
    table_most = 1;
    for (uint32_t n = 1; n <= SHARDS; n++) {
        struct container c;
        char shards[SHARDS + 1] = "abcd";
        shards[n] = '\0';
        ck_assert_int_eq(open_set(shards, "", "", 0, 1, &c), IMREC_OK);
        bytes[n] = container_memory(&c);
        container_close(&c);
    }
    const uint64_t one = bytes[2] - bytes[1];
    ck_assert_uint_ge(one, sizeof(struct index_blocks));
    ck_assert_uint_le(one, 4096);
    ck_assert_uint_gt(bytes[1], one);
    for (uint32_t n = 2; n <= SHARDS; n++)
        ck_assert_uint_eq(bytes[n] - bytes[n - 1], one);
}

TEST(looking_up_without_memory_is_an_error)
{
    table_most = 1;
    STARVING_SOME(memory) /* some lists can be done without */
    {
        struct container c;
        struct record_place p[20];
        for (uint64_t i = 0; i < 20; i++)
            p[i].number = i;
        memory.st = open_set("abcd", "", "", 0, 1, &c);
        if (memory.st == IMREC_OK) {
            memory.st = container_locate(&c, p, 20, &err);
            container_close(&c);
        }
    }
}
