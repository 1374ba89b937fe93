/* tests/fuzz/fuzz_cbf_images.c - arbitrary bytes as a CBF file of images: the loader gives
 * memory that is there, with fields and mask, every sequence its slot and each lost one a reason,
 * partitions tile them, and the sequential reader finds the same.
 *
 * The first byte chooses partitions and labels, the others are the file. */
#include "base/alloc.h"
#include "container/cbf.h"
#include "formats/cbf/cbf_header.h"
#include "imrec/records.h"
#include "storage/mem.h"
#include "tests/fuzz/must.h"
#include "tests/fuzz/one_window.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at(const struct container *s, const struct window *w, const struct record_ref *r)
{
    must(r->shard == 0 && r->offset < s->total_bytes);
    if (r->lost) {
        const struct imrec_error *why = s->kind->lost(s, r->unit);
        why = why != NULL ? why : loader_lost_reason(w, r);
        must(why != NULL && why->message[0] != '\0');
        return;
    }
    must(s->kind->lost(s, r->unit) == NULL);
    (void)(touch(r->bytes) + touch(r->rest));
    struct record record;
    struct parse_room room = {0};
    struct imrec_error err = {0};
    const enum imrec_status st = s->kind->parse(s, r, RECORD_PARTS, &room, &record, &err);
    must(st == IMREC_OK || (st == IMREC_ERR_CORRUPT && r->rest.n != 0 && err.message[0] != '\0'));
    (void)touch(record.labels);
    if (st == IMREC_OK)
        (void)touch(record.mask);
    for (uint32_t i = 0; st == IMREC_OK && i < record.field_count; i++)
        (void)(touch(record.fields[i].name) + touch(record.fields[i].value));
    parse_room_free(&room);
}

/* Returns how many sequences the partition has; *all: the file, or UINT64_MAX: the partition is
 * refused, as one may be whose labels are too many to be kept. */
static uint64_t load(const struct container_options *o, uint64_t *all)
{
    struct container s;
    struct window *w;
    struct loader *l;
    struct imrec_error err = {0};
    uint64_t waited = 0;
    *all = UINT64_MAX;
    if (container_open(o, &s, &err) != IMREC_OK) {
        must(err.message[0] != '\0');
        return 0;
    }
    must(s.kind == &cbf_kind);
    const struct loader_options lo = {.container = &s,
                                      .arenas = 2,
                                      .threads = 1,
                                      .windows = 1,
                                      .arena_bytes = 4096,
                                      .context = &s,
                                      .extent = all_units,
                                      .unit_at = in_order};
    must(loader_start(&lo, 0, 0, &l, NULL) == IMREC_OK);
    must(loader_take(l, &w, &waited, NULL) == IMREC_OK);
    must(w->count == s.unit_count && w->damage_count == 0);
    for (uint64_t i = 0; i < w->count; i++) {
        must(w->records[i].unit == i);
        look_at(&s, w, &w->records[i]);
    }
    const uint64_t count = w->count;
    *all = s.record_total;
    loader_stop(l);
    container_close(&s);
    return count;
}

static void read_all(uint64_t all)
{
    struct imrec_reader *r;
    struct imrec_record x;
    struct imrec_error err = {0};
    enum imrec_status st;
    uint64_t n = 0;
    if (imrec_reader_open("mem://file", 0, 1, &r, &err) != IMREC_OK)
        return; /* labels that are too many to be kept all */
    for (; (st = imrec_reader_next(r, &x, &err)) != IMREC_END; n++) {
        must(st == IMREC_OK || (st == IMREC_ERR_DATA && err.message[0] != '\0'));
        if (st == IMREC_OK)
            (void)(touch((struct bytes){x.data, x.size}) +
                   touch((struct bytes){x.mask, x.mask_size}) +
                   touch((struct bytes){(const uint8_t *)x.labels, x.label_count * sizeof(float)}));
    }
    must(all == UINT64_MAX || n == all);
    imrec_reader_close(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 13 || !cbf_is_magic((struct bytes){data + 1, size - 1}))
        return 0;
    const uint64_t parts = 1 + data[0] % 5;
    struct container_options o = {.path_imgrec = "mem://file",
                                  .num_parts = parts,
                                  .cell_bytes = 4096,
                                  .rest = true,
                                  .label_width = data[0] / 5 % 4,
                                  .no_labels = data[0] > 200};
    uint64_t sum = 0, all = 0;
    must(mem_put("file", data + 1, size - 1, NULL) == IMREC_OK);
    for (o.part_index = 0; o.part_index < parts; o.part_index++) {
        uint64_t one;
        sum += load(&o, &one);
        all = all != UINT64_MAX ? one : all;
    }
    must(all == UINT64_MAX || sum == all);
    read_all(all);
    mem_clear();
    must(imrec_alloc_live() == 0);
    return 0;
}
