/* im2rec/list/other_names.c */
#include "im2rec/list/other_names.h"

#include "base/log.h"
#include "base/shown.h"

#include <stdio.h>
#include <strings.h>

void other_names_add(struct other_names *o, const char *prefix, const char *name)
{
    char text[sizeof(o->name[0])], shown[sizeof(o->name[0])];
    (void)snprintf(text, sizeof(text), "%s%.60s", prefix, name);
    shown_copy(shown, sizeof(shown), text);
    for (uint32_t i = 0; i < o->count; i++)
        if (strcasecmp(o->name[i], shown) == 0)
            return;
    if (o->count == OTHER_NAMES_MOST) {
        o->more = true;
        return;
    }
    (void)snprintf(o->name[o->count++], sizeof(shown), "%s", shown);
}

void other_names_join(struct other_names *o, const struct other_names *more)
{
    for (uint32_t i = 0; i < more->count; i++)
        other_names_add(o, "", more->name[i]);
    o->more |= more->more;
}

void other_names_warn(const struct other_names *o)
{
    char all[OTHER_NAMES_MOST * (sizeof(o->name[0]) + 2)];
    size_t n = 0;
    for (uint32_t i = 0; i < o->count; i++)
        n += (size_t)snprintf(all + n, sizeof(all) - n, "%s%s", i != 0 ? ", " : "", o->name[i]);
    if (o->count != 0)
        imrec_log(IMREC_LOG_WARNING, "files of the archives that are not packed: %s%s", all,
                  o->more ? " and others" : "");
}
