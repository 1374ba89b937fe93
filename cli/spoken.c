/* cli/spoken.c */
#include "cli/spoken.h"

#include <ctype.h>
#include <string.h>

enum { NAME_BYTES = 64 };

static const struct param *g_table;

void cli_spoken_by(const struct param *table)
{
    g_table = table;
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* What is next to a word that is part of a path, of a flag, or of what somebody wrote. */
static bool is_other(char c)
{
    return c != '\0' && strchr("-/\\.'\"$:", c) != NULL;
}

/* Words that no sentence has but as the name of a flag; others without a '_' are English, too. */
static bool is_flag_alone(const char *name)
{
    static const char *const alone[] = {"force", "resume", "renumber"};
    for (size_t i = 0; i < sizeof(alone) / sizeof(alone[0]); i++)
        if (strcmp(name, alone[i]) == 0)
            return true;
    return strchr(name, '_') != NULL;
}

/* A sentence that begins with a name and what is wrong with its value: base/param.c. */
static bool is_refused(const char *after)
{
    static const char *const words[] = {" must be ", " is required"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strncmp(after, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

/* "ignoreUnknownInputs", as CNTK spells it, is ignore_unknown_inputs. */
static const struct param *find(const char *word, size_t n, bool first)
{
    char name[2 * NAME_BYTES];
    size_t k = 0;
    for (size_t i = 0; i < n && n < NAME_BYTES; i++) {
        if (i > 0 && isupper((unsigned char)word[i]))
            name[k++] = '_';
        name[k++] = (char)tolower((unsigned char)word[i]);
    }
    name[k] = '\0';
    const struct param *p = k != 0 ? param_find(g_table, name, k) : NULL;
    return p != NULL && (word[n] == '=' || is_flag_alone(name) || (first && is_refused(word + n)))
               ? p
               : NULL;
}

/* Bytes of "=1" or "=true", which a flag does not need. */
static size_t yes(const struct param *p, const char *value)
{
    static const char *const words[] = {"=1", "=true"};
    for (size_t i = 0; p->type == PARAM_FLAG && i < 2; i++) {
        const size_t n = strlen(words[i]);
        if (strncmp(value, words[i], n) == 0 && !is_name(value[n]))
            return n;
    }
    return 0;
}

struct spoken {
    char *out;
    size_t n, used;
};

static void put(struct spoken *s, char c)
{
    if (s->used + 1 < s->n)
        s->out[s->used++] = c;
}

const char *cli_spoken(const char *sentence, char *out, size_t n)
{
    struct spoken s = {out, n, 0};
    char before = '\0';
    for (const char *c = sentence; *c != '\0';) {
        size_t k = 0;
        while (is_name(c[k]))
            k++;
        const struct param *p =
            k != 0 && g_table != NULL && !is_other(before) && !(is_other(c[k]) && is_name(c[k + 1]))
                ? find(c, k, c == sentence)
                : NULL;
        for (const char *dash = p != NULL ? "--" : ""; *dash != '\0'; dash++)
            put(&s, *dash);
        for (const char *name = p != NULL ? p->name : ""; *name != '\0'; name++)
            put(&s, *name == '_' ? '-' : *name);
        for (size_t i = 0; p == NULL && i < k + (k == 0); i++)
            put(&s, c[i]);
        c += k + (k == 0);
        before = c[-1];
        if (p != NULL)
            c += yes(p, c);
    }
    out[s.used] = '\0';
    return out;
}
