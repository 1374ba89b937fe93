/* tools/doctor/doctor_machine.c - reads /proc and /sys. A file that is not there or says something
 * else leaves its fields 0: containers hide some, and other kernels never had them. */
#include "tools/doctor/doctor_machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 8192, PATH_BYTES = 4096 };

/* The first bytes of a file, NUL-terminated; "" where there is none. */
static const char *slurp(const char *root, const char *path, char text[TEXT_BYTES])
{
    char name[PATH_BYTES];
    text[0] = '\0';
    if (snprintf(name, sizeof(name), "%s%s", root, path) >= PATH_BYTES)
        return text;
    FILE *f = fopen(name, "r");
    if (f != NULL) {
        text[fread(text, 1, TEXT_BYTES - 1, f)] = '\0';
        (void)fclose(f);
    }
    return text;
}

static bool read_uint(const char *text, uint64_t *out)
{
    if (text[0] < '0' || text[0] > '9')
        return false;
    *out = strtoull(text, NULL, 10);
    return true;
}

/* ---- processors ----------------------------------------------------------------------------- */

/* What follows the colon of the first line that begins with `name`. */
static const char *field(const char *text, const char *name)
{
    const size_t n = strlen(name);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, n) != 0)
            continue;
        const char *colon = line + n + strspn(line + n, " \t");
        if (*colon == ':')
            return colon + 1 + strspn(colon + 1, " \t");
    }
    return "";
}

static bool has_word(const char *line, const char *word)
{
    const size_t end = strcspn(line, "\n"), n = strlen(word);
    for (const char *at = strstr(line, word); at != NULL && at < line + end;
         at = strstr(at + 1, word))
        if (at[-1] == ' ' && (at[n] == ' ' || at[n] == '\n' || at[n] == '\0'))
            return true;
    return false;
}

static void read_cpuinfo(const char *root, struct machine *m)
{
    static const char *const wanted[MACHINE_FEATURES] = {
        "avx2",         "f16c",        "fma",      "bmi1",     "bmi2",
        "avx512f",      "avx512bw",    "avx512dq", "avx512vl", "avx512vbmi",
        "avx512_vbmi2", "avx512_vnni", "asimd",    "crc32"}; /* Arm's */
    char text[TEXT_BYTES];
    slurp(root, "/proc/cpuinfo", text);
    const char *model = field(text, "model name"), *flags = field(text, "flags");
    if (flags[0] == '\0') /* as it is called on Arm */
        flags = field(text, "Features");
    snprintf(m->model, sizeof(m->model), "%.*s", (int)strcspn(model, "\n"), model);
    size_t n = 0;
    for (size_t i = 0; flags[0] != '\0' && i < MACHINE_FEATURES; i++)
        if (has_word(flags - 1, wanted[i])) /* a blank or a tab is before the first flag */
            m->features[n++] = wanted[i];
    m->features[n] = NULL;
}

/* "48K", "2M" */
static uint64_t cache_bytes(const char *text)
{
    uint64_t n = 0;
    if (!read_uint(text, &n) || n > UINT32_MAX)
        return 0;
    const char unit = text[strspn(text, "0123456789")];
    return n << (unit == 'K' ? 10 : unit == 'M' ? 20 : 0);
}

static void read_caches(const char *root, struct machine *m)
{
    char path[128], level[TEXT_BYTES], type[TEXT_BYTES], size[TEXT_BYTES];
    for (int i = 0; i < 8; i++) {
        static const char form[] = "/sys/devices/system/cpu/cpu0/cache/index%d/%s";
        snprintf(path, sizeof(path), form, i, "level");
        slurp(root, path, level);
        snprintf(path, sizeof(path), form, i, "type");
        slurp(root, path, type);
        snprintf(path, sizeof(path), form, i, "size");
        const uint64_t bytes = cache_bytes(slurp(root, path, size));
        if (strncmp(type, "Instruction", 11) == 0)
            continue;
        if (level[0] == '1')
            m->l1d_bytes = bytes;
        else if (level[0] == '2')
            m->l2_bytes = bytes;
        else if (level[0] == '3')
            m->l3_bytes = bytes;
    }
}

/* ---- memory --------------------------------------------------------------------------------- */

static uint64_t kibibytes(const char *text)
{
    uint64_t n = 0;
    return read_uint(text, &n) && n < UINT64_MAX >> 10 ? n << 10 : 0;
}

static void read_memory(const char *root, struct machine *m)
{
    char text[TEXT_BYTES];
    slurp(root, "/proc/meminfo", text);
    m->memory_bytes = kibibytes(field(text, "MemTotal"));
    m->available_bytes = kibibytes(field(text, "MemAvailable"));
    const char *chosen =
        strchr(slurp(root, "/sys/kernel/mm/transparent_hugepage/enabled", text), '[');
    if (chosen != NULL)
        snprintf(m->huge_pages, sizeof(m->huge_pages), "%.*s", (int)strcspn(chosen + 1, "]"),
                 chosen + 1);
}

/* ---- control groups ------------------------------------------------------------------------- */

static void lower(uint64_t *limit, uint64_t is)
{
    if (is != 0 && (*limit == 0 || is < *limit))
        *limit = is;
}

static void lower_quota(struct machine *m, double quota, double period)
{
    if (quota > 0 && period > 0 && (m->cpu_quota == 0 || quota / period < m->cpu_quota))
        m->cpu_quota = quota / period;
}

static const char *
group_file(const char *root, const char *group, const char *name, char text[TEXT_BYTES])
{
    char path[PATH_BYTES];
    return snprintf(path, sizeof(path), "/sys/fs/cgroup%s/%s", group, name) < PATH_BYTES
               ? slurp(root, path, text)
               : "";
}

static void read_memory_limit(const char *root, const char *group, const char *limit,
                              const char *used, struct machine *m)
{
    char text[TEXT_BYTES];
    uint64_t n = 0;
    if (!read_uint(group_file(root, group, limit, text), &n) ||
        n >= UINT64_C(1) << 60 || /* "no limit" of version 1 is nearly 2^63 */
        (m->memory_limit_bytes != 0 && n >= m->memory_limit_bytes))
        return;
    m->memory_limit_bytes = n;
    m->memory_used_bytes = 0;
    (void)read_uint(group_file(root, group, used, text), &m->memory_used_bytes);
}

/* One group, of either version: a file that is not there limits nothing. */
static void read_group(const char *root, const char *group, struct machine *m)
{
    char text[TEXT_BYTES];
    uint64_t n = 0, period = 0;
    double quota, of;
    read_memory_limit(root, group, "memory.max", "memory.current", m);
    read_memory_limit(root, group, "memory.limit_in_bytes", "memory.usage_in_bytes", m);
    if (sscanf(group_file(root, group, "cpu.max", text), "%lf %lf", &quota, &of) == 2)
        lower_quota(m, quota, of);
    if (read_uint(group_file(root, group, "cpu.cfs_quota_us", text), &n) &&
        read_uint(group_file(root, group, "cpu.cfs_period_us", text), &period))
        lower_quota(m, (double)n, (double)period);
    if (read_uint(group_file(root, group, "pids.max", text), &n))
        lower(&m->task_limit, n);
}

/* The limits of each group from the process's own to the top of its hierarchy hold. In a container
 * the own one may not be visible under its name: then it is the top. */
static void read_hierarchy(const char *root, const char *mount, const char *own, struct machine *m)
{
    char group[PATH_BYTES];
    const size_t top = strlen(mount);
    if (snprintf(group, sizeof(group), "%s%s", mount, strcmp(own, "/") == 0 ? "" : own) >=
        PATH_BYTES)
        return;
    read_group(root, group, m);
    while (strlen(group) > top) {
        char *slash = strrchr(group, '/');
        *(slash != NULL && slash >= group + top ? slash : group + top) = '\0';
        read_group(root, group, m);
    }
}

/* A line "4:memory:/a/b" of version 1, "0::/a/b" of version 2. */
static void read_groups(const char *root, struct machine *m)
{
    char text[TEXT_BYTES], *rest = text;
    slurp(root, "/proc/self/cgroup", text);
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        char *controllers = strchr(line, ':');
        char *own = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (own == NULL)
            continue;
        *own++ = '\0';
        controllers++;
        if (controllers[0] == '\0')
            read_hierarchy(root, "", own, m);
        else if (strcmp(controllers, "memory") == 0)
            read_hierarchy(root, "/memory", own, m);
        else if (strcmp(controllers, "pids") == 0)
            read_hierarchy(root, "/pids", own, m);
        else if (strcmp(controllers, "cpu") == 0 || strncmp(controllers, "cpu,", 4) == 0)
            read_hierarchy(root, "/cpu", own, m);
    }
}

void machine_read(const char *root, struct machine *m)
{
    *m = (struct machine){0};
    read_cpuinfo(root, m);
    read_caches(root, m);
    read_memory(root, m);
    read_groups(root, m);
}
