/* tests/fuzz/fuzz_repair.c - arbitrary bytes as a shard and as its checksums: reading with checks
 * ends and gives only what agrees with them, and what repair writes is a whole shard.
 *
 * The first byte: 1 puts the checksums' own checksum right, 2 their first bytes. The next two are
 * their length; they and the shard follow. */
#include "base/alloc.h"
#include "formats/cbf/cbf_header.h"
#include "formats/crc32c.h"
#include "formats/set/checksums.h"
#include "imrec/imrec.h"
#include "storage/mem.h"
#include "tests/fuzz/must.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_checksums(const uint8_t *data, size_t n, uint8_t how)
{
    uint8_t *file = malloc(n + 1);
    must(file != NULL);
    if (n != 0)
        memcpy(file, data, n);
    if ((how & 2) != 0 && n >= CHECKSUMS_HEADER_BYTES)
        memcpy(file, "IMRECCRC\1\0\0\0\0\0\0\0", CHECKSUMS_HEADER_BYTES);
    if ((how & 1) != 0 && n >= 4)
        store_le32(file + n - 4, crc32c(0, file, n - 4));
    must(mem_put("x.crc", file, n, NULL) == IMREC_OK);
    free(file);
}

static uint64_t read_checked(void)
{
    struct imrec_checked *c;
    struct imrec_record r;
    struct imrec_error err;
    enum imrec_status st;
    uint64_t records = 0, last = 0;
    if (imrec_checked_open("mem://x.rec", NULL, NULL, &c, &err) != IMREC_OK)
        return 0;
    while ((st = imrec_checked_next(c, &r, &err)) == IMREC_OK || st == IMREC_ERR_DATA) {
        if (st == IMREC_OK) {
            must(r.is_image && (records == 0 || r.offset > last));
            last = r.offset;
            records++;
        } else {
            const struct imrec_finding *f = imrec_checked_found(c);
            must(f->begin < f->end && f->reason[0] != '\0');
        }
    }
    must(st == IMREC_END || st == IMREC_ERR_CORRUPT || st == IMREC_ERR_UNSUPPORTED);
    imrec_checked_close(c);
    return records;
}

static void check_mended(const struct imrec_repair_result *repaired)
{
    struct imrec_verify_options o;
    struct imrec_verify_result r;
    imrec_verify_options_init(&o);
    o.threads = 1;
    o.structure_only = true;
    if (repaired->kept == 0)
        return; /* a shard without a record */
    must(imrec_dataset_verify("mem://y.rec", &o, &r, NULL) == IMREC_OK);
    must(r.records == repaired->kept && r.checksums == repaired->kept);
    must(r.found[IMREC_FOUND_DAMAGE] + r.found[IMREC_FOUND_CHECKSUM] + r.found[IMREC_FOUND_INDEX] ==
         0);
}

static void repair(bool drop_unmatched, uint64_t least)
{
    struct imrec_repair_options o;
    struct imrec_repair_result r;
    imrec_repair_options_init(&o);
    o.force = true;
    o.drop_unmatched = drop_unmatched;
    if (imrec_dataset_repair("mem://x.rec", "mem://y.rec", &o, &r, NULL) != IMREC_OK)
        return;
    must(r.unmatched <= r.kept && (!drop_unmatched || r.unmatched == 0));
    must(r.kept >= least);
    check_mended(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    const size_t sums = data[1] | (size_t)data[2] << 8, left = size - 3;
    const size_t n = sums < left ? sums : left;
    const uint8_t *shard = data + 3 + n;
    if (cbf_is_magic((struct bytes){shard, left - n})) /* fuzz_cbf_images */
        return 0;
    put_checksums(data + 3, n, data[0]);
    must(mem_put("x.rec", shard, left - n, NULL) == IMREC_OK);
    const uint64_t intact = read_checked();
    repair(false, intact);
    repair(true, intact);
    mem_clear();
    must(imrec_alloc_live() == 0);
    return 0;
}
