/* tools/view/html.h - pages that need nothing but themselves: no script, no font, no other file. */
#ifndef IMREC_TOOLS_VIEW_HTML_H
#define IMREC_TOOLS_VIEW_HTML_H

#include <stddef.h>
#include <stdio.h>

void html_begin(FILE *out, const char *title); /* head, style, and the title as a heading */
/* The same with the style as a file of its own: where a page's own is forbidden. */
void html_begin_linked(FILE *out, const char *title, const char *style_url);
void html_style(FILE *out);
void html_end(FILE *out);
void html_text(FILE *out, const char *text); /* escaped, as base/shown.h shows it */
void html_data_uri(FILE *out, const char *mime, const void *bytes, size_t n);
#endif
