/* tools/doctor/doctor_report.h - facts in sections, each with a line of advice: as text, or as one
 * JSON object. */
#ifndef IMREC_TOOLS_DOCTOR_DOCTOR_REPORT_H
#define IMREC_TOOLS_DOCTOR_DOCTOR_REPORT_H

#include "cli/json.h"

struct doctor_report {
    struct json json;
    bool as_json;
    int sections;
};

void doctor_begin(struct doctor_report *r, bool as_json);
/* `key` is the section's name in JSON, `title` its heading. */
void doctor_section(struct doctor_report *r, const char *key, const char *title);
/* A fact: `key` in JSON, where `label` NULL keeps it out of the text. */
void doctor_text(struct doctor_report *r, const char *key, const char *label, const char *value);
void doctor_count(struct doctor_report *r, const char *key, const char *label, uint64_t n);
void doctor_bytes(struct doctor_report *r, const char *key, const char *label, uint64_t bytes);
void doctor_real(struct doctor_report *r, const char *key, const char *label, double v,
                 const char *unit);
/* A list of texts, NULL at the end. */
void doctor_list(struct doctor_report *r, const char *key, const char *label,
                 const char *const *list);
/* Ends the section. */
__attribute__((format(printf, 2, 3))) void
doctor_advise(struct doctor_report *r, const char *fmt, ...);
void doctor_end(struct doctor_report *r);

#define DOCTOR_NOTHING "nothing to change"
#endif
