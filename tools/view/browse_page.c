/* tools/view/browse_page.c - lists of records, a record, its image. Pages have no script, and need
 * nothing but what this program serves. */
#include "tools/view/browse_page.h"

#include "cli/show.h"
#include "tools/view/html.h"
#include "tools/view/thumb.h"

#include <math.h>
#include <string.h>

enum { CLASSES_LISTED = 2000, SENT_AS_IS = 16 << 20, LARGE_PX = 1600 };

void browse_style(FILE *out)
{
    html_style(out);
    fputs("form{display:flex;flex-wrap:wrap;gap:8px;align-items:end;margin:1rem 0}\n"
          "label{font-size:12px;color:var(--soft)} input{display:block;font:inherit;width:9em}\n"
          "input[type=checkbox]{width:auto} figure.one{max-width:100%;width:max-content}\n"
          "figure.one img{height:auto;max-height:80vh;width:auto;max-width:100%}\n",
          out);
}

/* ---- a list --------------------------------------------------------------------------------- */

static void put_input(FILE *out, const char *name, const char *words, const char *more)
{
    fprintf(out, "<label>%s<input name=\"%s\"%s value=\"", words, name, more);
}

static void put_form(const struct browse *b, const struct browse_query *q, FILE *out)
{
    const uint64_t n = imrec_classes_count(b->classes);
    fputs("<form action=\"/\" method=\"get\">", out);
    put_input(out, "class", "class or label", " list=\"classes\"");
    html_text(out, q->class_text);
    fputs("\"></label><datalist id=\"classes\">", out);
    for (uint64_t i = 0; i < n && i < CLASSES_LISTED; i++) {
        const char *name = imrec_classes_name(b->classes, (float)i);
        if (name == NULL)
            continue;
        fputs("<option value=\"", out);
        html_text(out, name);
        fputs("\">", out);
    }
    fputs("</datalist>", out);
    put_input(out, "id", "id", " inputmode=\"numeric\"");
    if (q->has_id)
        fprintf(out, "%" PRIu64, q->id);
    fputs("\"></label>", out);
    put_input(out, "min", "bytes, at least", " inputmode=\"numeric\"");
    if (q->min_bytes != 0)
        fprintf(out, "%" PRIu64, q->min_bytes);
    fputs("\"></label>", out);
    put_input(out, "max", "bytes, at most", " inputmode=\"numeric\"");
    if (q->max_bytes != UINT64_MAX)
        fprintf(out, "%" PRIu64, q->max_bytes);
    fprintf(out,
            "\"></label><label>damaged<input type=\"checkbox\" name=\"damaged\" value=\"1\"%s>"
            "</label><button>Find</button></form>\n",
            q->damaged ? " checked" : "");
}

static void
put_link(const struct browse_query *q, uint64_t page, const char *rel, const char *words, FILE *out)
{
    fputs("<a href=\"/?", out);
    browse_query_write(q, out);
    fprintf(out, "page=%" PRIu64 "\" rel=\"%s\">%s</a>", page, rel, words);
}

static void put_pages(const struct browse_query *q, uint64_t total, FILE *out)
{
    const uint64_t pages = (total + BROWSE_PAGE - 1) / BROWSE_PAGE;
    char count[HUMAN_THINGS], page[HUMAN_BYTES], last[HUMAN_BYTES];
    fprintf(out, "<nav>%s, page %s of %s ", human_things(total, "record", count),
            human_count(q->page + 1, page), human_count(pages > 0 ? pages : 1, last));
    if (q->page > 0)
        put_link(q, q->page - 1, "prev", "previous", out);
    if (q->page + 1 < pages)
        put_link(q, q->page + 1, "next", "next", out);
    if (q->page + 1 < pages)
        put_link(q, pages - 1, "last", "last", out);
    fputs("</nav>\n", out);
}

static void put_label(const struct browse *b, float label, FILE *out)
{
    const char *name = isnan(label) ? NULL : imrec_classes_name(b->classes, label);
    if (name != NULL)
        html_text(out, name);
    else if (!isnan(label))
        fprintf(out, "label %.9g", (double)label);
}

static void put_figure(const struct browse *b, uint64_t number, FILE *out)
{
    const struct browse_entry *e = &b->index.entries[number];
    char bytes[HUMAN_BYTES];
    fprintf(out, "<figure><a href=\"/record/%" PRIu64 "\">", number);
    if (e->flags != 0)
        fprintf(out, "<span class=\"bad\">%s</span>",
                (e->flags & BROWSE_DAMAGED) != 0 ? "damaged" : "no image record");
    else
        fprintf(out, "<img loading=\"lazy\" alt=\"record %" PRIu64 "\" src=\"/thumb/%" PRIu64 "\">",
                number, number);
    fputs("</a><figcaption><b>", out);
    put_label(b, e->label, out);
    fprintf(out, "</b>id %" PRIu64 "<br>%s bytes</figcaption></figure>\n", e->id,
            human_count(e->bytes, bytes));
}

void browse_list(const struct browse *b, const struct browse_query *q, FILE *out)
{
    uint64_t numbers[BROWSE_PAGE], total;
    const uint32_t n = browse_find(&b->index, q, numbers, &total);
    html_begin_linked(out, b->title, "/style.css");
    put_form(b, q, out);
    put_pages(q, total, out);
    fputs("<div class=\"sheet\">\n", out);
    for (uint32_t i = 0; i < n; i++)
        put_figure(b, numbers[i], out);
    fputs("</div>\n", out);
    put_pages(q, total, out);
    html_end(out);
}

void browse_list_json(const struct browse *b, const struct browse_query *q, FILE *out)
{
    uint64_t numbers[BROWSE_PAGE], total;
    const uint32_t n = browse_find(&b->index, q, numbers, &total);
    struct json j;
    json_begin(&j, out);
    JSON_UINTS(&j, {"total", total}, {"page", q->page}, {"page_records", BROWSE_PAGE});
    json_array(&j, "records");
    for (uint32_t i = 0; i < n; i++) {
        const struct browse_entry *e = &b->index.entries[numbers[i]];
        const char *name = isnan(e->label) ? NULL : imrec_classes_name(b->classes, e->label);
        json_object(&j, NULL);
        JSON_UINTS(&j, {"number", numbers[i]}, {"id", e->id}, {"bytes", e->bytes},
                   {"offset", e->offset});
        json_text(&j, "shard",
                  e->shard < b->index.shard_count && b->index.shards[e->shard] != NULL
                      ? b->index.shards[e->shard]
                      : "");
        if (!isnan(e->label))
            json_float(&j, "label", e->label);
        if (name != NULL)
            json_text(&j, "class", name);
        json_bool(&j, "damaged", (e->flags & BROWSE_DAMAGED) != 0);
        json_end(&j);
    }
    json_end(&j);
    json_close(&j);
}

/* ---- a record ------------------------------------------------------------------------------- */

static void put_row(FILE *out, const char *name, const char *value)
{
    fprintf(out, "<tr><th>%s</th><td>", name);
    html_text(out, value);
    fputs("</td></tr>\n", out);
}

static void put_labels(const struct browse *b, const struct imrec_record *r, FILE *out)
{
    fputs("<tr><th>labels</th><td>", out);
    const char *name = r->label_count > 0 ? imrec_classes_name(b->classes, r->labels[0]) : NULL;
    if (name != NULL) {
        html_text(out, name);
        fputs(": ", out);
    }
    for (uint32_t i = 0; i < r->label_count && i < 64; i++)
        fprintf(out, "%s%.9g", i > 0 ? ", " : "", (double)r->labels[i]);
    fputs(r->label_count > 64 ? ", ...</td></tr>\n" : "</td></tr>\n", out);
}

static void put_facts(const struct browse *b, const struct imrec_record *r, FILE *out)
{
    char text[200];
    struct imrec_image_info info;
    const char *path = imrec_names_find(b->names, r->id);
    snprintf(text, sizeof(text), "%" PRIu64, r->id);
    put_row(out, "id", text);
    put_labels(b, r, out);
    if (path != NULL)
        put_row(out, "packed from", path);
    put_row(out, "shard", cli_uri(r->uri));
    snprintf(text, sizeof(text), "%" PRIu64, r->offset);
    put_row(out, "at byte", text);
    snprintf(text, sizeof(text), "%zu bytes of image, %zu of mask", r->image_size, r->mask_size);
    put_row(out, "holds", text);
    if (imrec_image_info(r->image, r->image_size, &info, NULL) == IMREC_OK) {
        snprintf(text, sizeof(text), "%" PRIu32 "x%" PRIu32 " %s %s %s", info.width, info.height,
                 info.format, info.kind, info.sampling);
        put_row(out, "image", text);
    }
}

void browse_record(struct browse *b, uint64_t number, FILE *out)
{
    struct imrec_record r;
    struct imrec_error err;
    char title[64];
    snprintf(title, sizeof(title), "Record %" PRIu64, number);
    html_begin_linked(out, title, "/style.css");
    fputs("<nav><a href=\"/\">all records</a>", out);
    if (number > 0)
        fprintf(out, "<a href=\"/record/%" PRIu64 "\" rel=\"prev\">previous</a>", number - 1);
    if (number + 1 < b->index.count)
        fprintf(out, "<a href=\"/record/%" PRIu64 "\" rel=\"next\">next</a>", number + 1);
    fputs("</nav>\n", out);
    if (imrec_reader_get(b->reader, number, &r, &err) != IMREC_OK) {
        b->index.entries[number].flags |= BROWSE_DAMAGED;
        fputs("<p>", out);
        html_text(out, err.message);
        fputs("</p>\n", out);
    } else {
        fprintf(out,
                "<figure class=\"one\"><img alt=\"record %" PRIu64 "\" src=\"/image/%" PRIu64
                "\"></figure>\n<table class=\"params\">\n",
                number, number);
        put_facts(b, &r, out);
        fputs("</table>\n", out);
    }
    html_end(out);
}

/* ---- an image ------------------------------------------------------------------------------- */

enum imrec_status browse_image(struct browse *b, uint64_t number, bool small, const char **type,
                               struct buf *body, struct imrec_error *err)
{
    struct imrec_record r;
    struct imrec_image_info info;
    const void *bytes;
    size_t n;
    enum imrec_status st = imrec_reader_get(b->reader, number, &r, err);
    if (st == IMREC_OK)
        st = imrec_image_info(r.image, r.image_size, &info, err);
    if (st == IMREC_OK && !small && thumb_mime(&info) != NULL && r.image_size <= SENT_AS_IS) {
        *type = thumb_mime(&info);
        return buf_append(body, r.image, r.image_size, err);
    }
    if (st == IMREC_OK)
        st = thumb_make(b->decoder, &r, small ? THUMB_PX : LARGE_PX, &bytes, &n, err);
    if (st != IMREC_OK) {
        b->index.entries[number].flags |= BROWSE_DAMAGED;
        return st;
    }
    *type = "image/jpeg";
    return buf_append(body, bytes, n, err);
}
