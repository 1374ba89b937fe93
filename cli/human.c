/* cli/human.c - numbers for people. */
#include "cli/human.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const char *human_count(uint64_t n, char out[HUMAN_BYTES])
{
    char plain[24];
    const int length = snprintf(plain, sizeof(plain), "%" PRIu64, n);
    char *to = out;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *to++ = ',';
        *to++ = plain[i];
    }
    *to = '\0';
    return out;
}

static bool ends_in(const char *word, const char *end)
{
    const size_t n = strlen(word), m = strlen(end);
    return n >= m && strcmp(word + n - m, end) == 0;
}

const char *human_things(uint64_t n, const char *noun, char out[HUMAN_THINGS])
{
    char count[HUMAN_BYTES];
    const int whole = (int)strlen(noun);
    const bool y = ends_in(noun, "y") && !ends_in(noun, "ey"),
               hiss = ends_in(noun, "x") || ends_in(noun, "ch");
    const char *end = n == 1 ? "" : y ? "ies" : hiss ? "es" : "s";
    snprintf(out, HUMAN_THINGS, "%s %.*s%s", human_count(n, count), whole - (n != 1 && y), noun,
             end);
    return out;
}

const char *human_size(uint64_t bytes, char out[HUMAN_BYTES])
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double v = (double)bytes / 1024;
    size_t unit = 0;
    if (bytes < 1024) {
        snprintf(out, HUMAN_BYTES, "%" PRIu64 " B", bytes);
        return out;
    }
    for (; v >= 1023.5; v /= 1024)
        unit++;
    snprintf(out, HUMAN_BYTES, "%.*f %s", v < 9.95 ? 1 : 0, v, units[unit]);
    return out;
}

const char *human_seconds(double s, char out[HUMAN_BYTES])
{
    if (!(s >= 0))
        s = 0;
    if (s > 1e9)
        s = 1e9;
    const unsigned long whole = (unsigned long)(s + 0.5);
    if (s < 9.95)
        snprintf(out, HUMAN_BYTES, "%.1f s", s);
    else if (whole < 60)
        snprintf(out, HUMAN_BYTES, "%lu s", whole);
    else if (whole < 3600)
        snprintf(out, HUMAN_BYTES, "%lu:%02lu", whole / 60, whole % 60);
    else
        snprintf(out, HUMAN_BYTES, "%lu:%02lu:%02lu", whole / 3600, whole / 60 % 60, whole % 60);
    return out;
}
