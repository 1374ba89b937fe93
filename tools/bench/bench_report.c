/* tools/bench/bench_report.c - a benchmark as one HTML page: a chart, a table, what was measured.
 */
#include "cli/output.h"
#include "tools/bench/bench_table.h"
#include "tools/view/html.h"

enum { CHART_WIDTH = 760, CHART_HEIGHT = 320, LEFT = 70, BOTTOM = 40, TOP = 20 };

static double greatest_rate(const struct bench_table *t)
{
    double most = 1;
    for (int i = 0; i < t->team_count; i++) {
        const double a = bench_median(&t->team[i].limit_rate), b = bench_median(&t->team[i].rate);
        most = a > most ? a : most;
        most = b > most ? b : most;
    }
    return most;
}

/* 1, 2 or 5 times a power of ten: about four lines up to `most`. */
static double step_of(double most)
{
    static const double steps[] = {1, 2, 5};
    double unit = 1;
    for (;; unit *= 10)
        for (int i = 0; i < 3; i++)
            if (steps[i] * unit >= most / 5)
                return steps[i] * unit;
}

static void bar(FILE *out, double x, double width, double rate, double most, const char *colour,
                const char *what)
{
    const double room = CHART_HEIGHT - BOTTOM - TOP, h = room * rate / (most * 1.08);
    const double y = CHART_HEIGHT - BOTTOM - h;
    fprintf(out,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" rx=\"2\">"
            "<title>%s: %.0f images/s</title></rect>\n",
            x, y, width, h, colour, what, rate);
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%.0f</text>\n", x + width / 2,
            y - 4, rate);
}

static void chart(FILE *out, const struct bench_table *t)
{
    const double most = greatest_rate(t), step = step_of(most);
    const double room = CHART_HEIGHT - BOTTOM - TOP;
    const double group = (CHART_WIDTH - LEFT - 10) / (double)t->team_count;
    fprintf(out,
            "<div class=\"wide\"><svg viewBox=\"0 0 %d %d\" width=\"%d\" role=\"img\" "
            "aria-label=\"images a second by threads\">\n",
            CHART_WIDTH, CHART_HEIGHT, CHART_WIDTH);
    for (double v = 0; v <= most * 1.08; v += step) {
        const double y = CHART_HEIGHT - BOTTOM - room * v / (most * 1.08);
        fprintf(out, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#8886\"/>\n", LEFT,
                CHART_WIDTH, y, y);
        fprintf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.0f</text>\n", LEFT - 6, y + 4,
                v);
    }
    for (int i = 0; i < t->team_count; i++) {
        const struct bench_team *m = &t->team[i];
        char threads[HUMAN_THINGS];
        const double x = LEFT + group * i, width = group * 0.32 < 90 ? group * 0.32 : 90;
        bar(out, x + group / 2 - width - 2, width, bench_median(&m->limit_rate), most, "#9aa5b1",
            "limit");
        bar(out, x + group / 2 + 2, width, bench_median(&m->rate), most, "#2f7ed8", "iterator");
        fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s, ratio %.2f</text>\n",
                x + group / 2, CHART_HEIGHT - BOTTOM + 18,
                human_things(m->threads, "thread", threads), bench_ratio(m));
    }
    fputs("</svg></div>\n<p>Grey: plain libjpeg-turbo decode of the same images on the same "
          "CPUs. Blue: the iterator.</p>\n",
          out);
}

static void table(FILE *out, const struct bench_table *t)
{
    char rss[HUMAN_BYTES];
    fputs("<div class=\"wide\"><table>\n<tr><th>threads<th>limit, images/s<th>iterator, images/s"
          "<th>ratio<th>MB/s<th>limit, CPU us an image<th>iterator, CPU us an image<th>memory"
          "<th>first batch, ms<th>a batch, ms</tr>\n",
          out);
    for (int i = 0; i < t->team_count; i++) {
        const struct bench_team *m = &t->team[i];
        fprintf(out,
                "<tr><td>%" PRIu32 "<td>%.0f &#177;%.0f%%<td>%.0f &#177;%.0f%%<td>%.3f<td>%.1f"
                "<td>%.0f<td>%.0f<td>%s<td>%.0f<td>%.1f</tr>\n",
                m->threads, bench_median(&m->limit_rate), 50 * bench_spread(&m->limit_rate),
                bench_median(&m->rate), 50 * bench_spread(&m->rate), bench_ratio(m), bench_mb(m),
                bench_median(&m->limit_cpu_us), bench_median(&m->cpu_us),
                human_size((uint64_t)bench_median(&m->rss), rss),
                1e3 * bench_median(&m->first_batch), 1e3 * bench_median(&m->batch));
    }
    fputs("</table></div>\n", out);
}

static void stages(FILE *out, const struct bench_table *t)
{
    fputs("<h1>Share of the workers' time</h1>\n<div class=\"wide\"><table>\n<tr><th>threads", out);
    for (int s = 0; s < STAGES; s++)
        fprintf(out, "<th>%s", bench_stage_names[s]);
    fputs("<th>advice</tr>\n", out);
    for (int i = 0; i < t->team_count; i++) {
        fprintf(out, "<tr><td>%" PRIu32, t->team[i].threads);
        for (int s = 0; s < STAGES; s++)
            fprintf(out, "<td>%.1f%%", 100 * bench_median(&t->team[i].share[s]));
        fputs("<td>", out);
        html_text(out, t->team[i].advice);
        fputs("</tr>\n", out);
    }
    fputs("</table></div>\n", out);
}

bool bench_report(const struct bench_table *t, const char *name, const char *path)
{
    struct cli_output o;
    if (!cli_output_open(&o, name, path))
        return false;
    html_begin(o.file, "imrec bench");
    fputs("<p>", o.file);
    html_text(o.file, t->uri);
    for (int i = 0; i < t->pair_count; i++) {
        fputc(' ', o.file);
        html_text(o.file, t->pairs[i]);
    }
    fprintf(o.file, "<br>imrec %s, medians of %d interleaved runs, &#177; half their range</p>\n",
            IMREC_VERSION_STRING, t->repeats);
    chart(o.file, t);
    table(o.file, t);
    stages(o.file, t);
    fprintf(o.file, "<p>Reading records alone, one thread: %.0f images/s, %.0f MB/s.</p>\n",
            bench_median(&t->read_rate), bench_median(&t->read_mb));
    html_end(o.file);
    return cli_output_commit(&o, name);
}
