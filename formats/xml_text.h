/* formats/xml_text.h - the XML that annotations are written in, as events: elements and the text
 * in them. Attributes, comments, processing instructions and a DOCTYPE are skipped; entities of a
 * DTD are unknown, so a file can neither grow nor lead to another file. */
#ifndef IMREC_FORMATS_XML_TEXT_H
#define IMREC_FORMATS_XML_TEXT_H

#include "base/bytes.h"
#include "imrec/error.h"

#define XML_DEPTH_MAX 64u   /* elements inside each other */
#define XML_TEXT_MAX  4096u /* bytes of text in one element, as it is kept */
#define XML_PATH_MAX  1024u /* bytes of "/a/b/c" */

enum xml_event { XML_OPEN, XML_CLOSE };

struct xml {
    const char *name; /* of the file, for messages; borrowed */
    struct bytes all;
    size_t at;
    /* "/annotation/object": where the event is; an element is in it at its OPEN and its CLOSE */
    char path[XML_PATH_MAX];
    size_t length; /* of path */
    uint32_t depth;
    size_t text_bytes;       /* at CLOSE: the element's text after its last child, */
    char text[XML_TEXT_MAX]; /* entities resolved, no blanks around it, a NUL at the end */
    bool closes, closed;     /* <a/>: a CLOSE follows; the last event was one */
    bool ended;              /* the root element is */
};

void xml_begin(struct xml *x, const char *name, struct bytes text);
/* IMREC_END after the root element. IMREC_ERR_CORRUPT names file and byte. */
IMREC_NODISCARD enum imrec_status
xml_next(struct xml *x, enum xml_event *event, struct imrec_error *err);
#endif
