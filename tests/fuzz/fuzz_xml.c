/* tests/fuzz/fuzz_xml.c - arbitrary text as XML: events in pairs, paths that grow and shrink with
 * them, an end or an error inside the text. */
#include "formats/xml_text.h"
#include "tests/fuzz/must.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct xml x;
    struct imrec_error err;
    enum xml_event event;
    enum imrec_status st;
    uint32_t open = 0;
    xml_begin(&x, "f.xml", (struct bytes){data, size});
    while ((st = xml_next(&x, &event, &err)) == IMREC_OK) {
        open += event == XML_OPEN;
        must(open == x.depth && open <= XML_DEPTH_MAX);
        must(strlen(x.path) == x.length && x.length < XML_PATH_MAX && x.path[0] == '/');
        must(event == XML_OPEN || x.text[x.text_bytes] == '\0');
        open -= event == XML_CLOSE;
    }
    must(st == IMREC_END ? open == 0 : st == IMREC_ERR_CORRUPT && err.offset <= size);
    return 0;
}
