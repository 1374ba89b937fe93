/* Any bytes as a line of the report, which a journal holds; and as a path in one, which is read
 * back, without secrets of URLs. */
#include "im2rec/item/read_file.h"
#include "im2rec/item/skip_report.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char room[IMAGE_PATH_MAX];
    const struct bytes name = file_public_name((struct bytes){data, size}, room);
    struct imrec_pack_skip s;
    struct buf line = BUF_INIT(1 << 24);
    (void)report_read((struct bytes){data, size}, &s);
    const struct report_line l = {{data, size}, "is empty", REASON_EMPTY, size, 0};
    if (report_write(&line, &l, NULL) == IMREC_OK) {
        if (!report_read((struct bytes){line.p, line.n}, &s) || s.line != size)
            abort();
        if (name.n < sizeof(s.path) && memcmp(s.path, name.p, name.n) != 0)
            abort();
    }
    buf_free(&line);
    return 0;
}
