/* tests/fuzz/fuzz_shard.c - arbitrary bytes as a shard: the loader gives memory that is there,
 * grid and partitions tile it, the sequential reader finds the same in one large cell, and an index
 * that leaves some of that out is refused, or what it leaves out is told.
 *
 * The first two bytes choose cells, partitions and what is left out, the others are the shard. */
#include "base/alloc.h"
#include "container/kinds.h"
#include "imrec/records.h"
#include "storage/mem.h"
#include "tests/fuzz/must.h"
#include "tests/fuzz/one_window.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The reader must find records and damage of the window, in this order. */
static void compare(const struct window *w)
{
    struct imrec_reader *r;
    struct imrec_record x;
    uint64_t records = 0, damages = 0, begin, end;
    uint32_t shard;
    enum imrec_status st;
    must(imrec_reader_open("mem://shard", 0, 1, &r, NULL) == IMREC_OK);
    while ((st = imrec_reader_next(r, &x, NULL)) != IMREC_END) {
        if (st == IMREC_OK && x.metadata != IMREC_NO_METADATA)
            continue; /* windows hold samples */
        if (st == IMREC_OK) {
            must(records < w->count && w->records[records].offset == x.offset);
            must(touch(w->records[records].bytes) == touch((struct bytes){x.data, x.size}));
            records++;
            continue;
        }
        must(st == IMREC_ERR_DATA);
        imrec_reader_damage(r, &shard, &begin, &end);
        if (damages < w->damage_count && damages < 63) /* from the 64th on they run together */
            must(w->damages[damages].begin == begin && w->damages[damages].end == end);
        damages++;
    }
    must(records == w->count && (damages == w->damage_count || damages > 64));
    imrec_reader_close(r);
}

static struct window *take_all(struct container *s, struct loader **l)
{
    struct window *w;
    uint64_t waited = 0;
    const struct loader_options lo = {.container = s,
                                      .arenas = 2,
                                      .threads = 1,
                                      .windows = 1,
                                      .arena_bytes = 4096,
                                      .context = s,
                                      .extent = all_units,
                                      .unit_at = in_order};
    must(loader_start(&lo, 0, 0, l, NULL) == IMREC_OK);
    must(loader_take(*l, &w, &waited, NULL) == IMREC_OK);
    return w;
}

/* ---- an index that leaves records out ---------------------------------------------------------
 */

static bool left_out(uint64_t i, uint8_t pattern)
{
    return (pattern >> i % 8 & 1) != 0;
}

static uint64_t put_index(uint8_t pattern)
{
    static char text[1 << 20]; /* the shard has at most as many bytes as a line for each 8 */
    struct imrec_reader *r;
    struct imrec_record x;
    uint64_t n = 0;
    size_t used = 0;
    enum imrec_status st;
    must(imrec_reader_open("mem://shard", 0, 1, &r, NULL) == IMREC_OK);
    while ((st = imrec_reader_next(r, &x, NULL)) != IMREC_END && used + 64 < sizeof(text))
        if (st == IMREC_OK && !left_out(n++, pattern))
            used += (size_t)sprintf(text + used, "%d\t%d\n", (int)n, (int)x.offset);
    imrec_reader_close(r);
    must(mem_put("shard.idx", text, used, NULL) == IMREC_OK);
    return n;
}

/* Each record of the shard is in the window, or in a range of which the window tells. */
static void nothing_is_lost(const struct window *w, uint64_t records)
{
    struct imrec_reader *r;
    struct imrec_record x;
    enum imrec_status st;
    must(imrec_reader_open("mem://shard", 0, 1, &r, NULL) == IMREC_OK);
    while (records > 0 && (st = imrec_reader_next(r, &x, NULL)) != IMREC_END) {
        bool there = st != IMREC_OK;
        records -= st == IMREC_OK;
        for (uint64_t i = 0; i < w->count && !there; i++)
            there = w->records[i].offset == x.offset;
        for (uint64_t i = 0; i < w->damage_count && !there; i++)
            there = w->damages[i].begin <= x.offset && x.offset < w->damages[i].end;
        must(there);
    }
    imrec_reader_close(r);
}

static void load_indexed(uint8_t pattern)
{
    const struct container_options o = {
        .path_imgrec = "mem://shard", .path_imgidx = "auto", .num_parts = 1, .cell_bytes = 4096};
    struct container s;
    struct loader *l;
    const uint64_t records = put_index(pattern);
    if (container_open(&o, &s, NULL) != IMREC_OK)
        return; /* in so many words */
    const struct window *w = take_all(&s, &l);
    for (uint64_t i = 0; i < w->count; i++)
        (void)touch(w->records[i].bytes);
    nothing_is_lost(w, records);
    loader_stop(l);
    container_close(&s);
}

/* ---- cells -------------------------------------------------------------------------------- */

static uint64_t load(uint64_t cell, uint64_t parts, uint64_t part)
{
    struct container s;
    struct loader *l;
    uint64_t last = 0;
    const struct container_options o = {.path_imgrec = "mem://shard",
                                        .path_imgidx = "",
                                        .num_parts = parts,
                                        .part_index = part,
                                        .cell_bytes = cell};
    if (container_open(&o, &s, NULL) !=
        IMREC_OK) /* no shard: the same for every grid and partition */
        return UINT64_MAX;
    const struct window *w = take_all(&s, &l);
    for (uint64_t i = 0; i < w->count; i++) {
        (void)touch(w->records[i].bytes);
        must(w->records[i].offset < s.total_bytes && !w->records[i].lost);
        must(i == 0 || w->records[i].offset > last);
        last = w->records[i].offset;
    }
    if (cell >= s.total_bytes && parts == 1)
        compare(w);
    const uint64_t count = w->count;
    loader_stop(l);
    container_close(&s);
    return count;
}

/* Other kinds of shards have targets of their own. */
static bool is_of_records(void)
{
    const struct container_options o = {
        .path_imgrec = "mem://shard", .path_imgidx = "", .num_parts = 1, .cell_bytes = 4096};
    struct container s;
    if (container_open(&o, &s, NULL) != IMREC_OK)
        return true; /* for every grid and partition, that is */
    const bool is = s.kind == &recordio_kind;
    container_close(&s);
    return is;
}

static void ask(uint64_t cell, uint64_t parts, uint8_t pattern)
{
    const bool refused = load((uint64_t)1 << 40, 1, 0) == UINT64_MAX;
    for (uint64_t p = 0; p < parts; p++)
        must((load(cell, parts, p) == UINT64_MAX) == refused);
    if (!refused) {
        load_indexed(pattern);
        load_indexed(0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    must(mem_put("shard", data + 2, size - 2, NULL) == IMREC_OK);
    if (is_of_records())
        ask(4 + 4 * (uint64_t)data[0], 1 + data[1] % 5, data[0]);
    mem_clear();
    must(imrec_alloc_live() == 0);
    return 0;
}
