/* tools/view/html.c - pages that need nothing but themselves. */
#include "tools/view/html.h"

#include "base/shown.h"
#include "cli/show.h"

#include <stdint.h>
#include <string.h>

static const char style[] =
    ":root{color-scheme:light dark;--line:#8884;--soft:#777}\n"
    "body{font:15px/1.45 system-ui,sans-serif;margin:0 auto;max-width:1400px;padding:1rem}\n"
    "h1{font-size:1.3rem;overflow-wrap:anywhere} p,figcaption,small{color:var(--soft)}\n"
    ".sheet{display:grid;grid-template-columns:repeat(auto-fill,minmax(170px,1fr));gap:12px}\n"
    "figure{margin:0;border:1px solid var(--line);border-radius:6px;overflow:hidden}\n"
    "figure img{display:block;width:100%;height:170px;object-fit:contain;background:#8882}\n"
    "figcaption{padding:6px 8px;font-size:12px;overflow-wrap:anywhere}\n"
    "figcaption b{display:block;color:CanvasText}\n"
    ".bad{display:flex;height:170px;align-items:center;padding:8px;font-size:12px}\n"
    "table{border-collapse:collapse;margin:1rem 0} th,td{padding:4px 12px;text-align:right;\n"
    "border-bottom:1px solid var(--line)} th:first-child,td:first-child{text-align:left}\n"
    "h2{font-size:1.1rem;margin:2rem 0 .2rem} nav a{margin-right:.8em;white-space:nowrap}\n"
    ".params th,.params td{text-align:left;vertical-align:top;font-size:13px}\n"
    ".wide{overflow-x:auto} svg{max-width:100%;height:auto} svg "
    "text{fill:CanvasText;font-size:12px}\n";

static void begin(FILE *out, const char *title)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>",
          out);
    html_text(out, title);
    fputs("</title>\n", out);
}

void html_begin(FILE *out, const char *title)
{
    begin(out, title);
    fprintf(out, "<style>\n%s</style>\n</head>\n<body>\n<h1>", style);
    html_text(out, title);
    fputs("</h1>\n", out);
}

void html_begin_linked(FILE *out, const char *title, const char *style_url)
{
    begin(out, title);
    fprintf(out, "<link rel=\"stylesheet\" href=\"%s\">\n</head>\n<body>\n<h1>", style_url);
    html_text(out, title);
    fputs("</h1>\n", out);
}

void html_style(FILE *out)
{
    fputs(style, out);
}

void html_end(FILE *out)
{
    fputs("</body>\n</html>\n", out);
}

void html_text(FILE *out, const char *text)
{
    char shown[SHOWN_BYTES];
    text = cli_uri(text);
    for (size_t n = strlen(text), took; n > 0; text += took, n -= took) {
        took = shown_next(text, n, shown);
        fputs(shown[0] == '&'   ? "&amp;"
              : shown[0] == '<' ? "&lt;"
              : shown[0] == '>' ? "&gt;"
              : shown[0] == '"' ? "&quot;"
                                : shown,
              out);
    }
}

void html_data_uri(FILE *out, const char *mime, const void *bytes, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *p = bytes;
    fprintf(out, "data:%s;base64,", mime);
    for (; n > 0; p += 3, n = n > 3 ? n - 3 : 0) {
        const uint32_t v =
            (uint32_t)p[0] << 16 | (n > 1 ? (uint32_t)p[1] << 8 : 0) | (n > 2 ? (uint32_t)p[2] : 0);
        fputc(digits[v >> 18], out);
        fputc(digits[v >> 12 & 63], out);
        fputc(n > 1 ? digits[v >> 6 & 63] : '=', out);
        fputc(n > 2 ? digits[v & 63] : '=', out);
    }
}
