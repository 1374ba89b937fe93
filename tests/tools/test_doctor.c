/* tests/tools/test_doctor.c - what the kernel's files say of a machine, of made files. */
#include "tools/doctor/doctor_cache.h"
#include "tools/doctor/doctor_machine.h"
#include "tools/doctor/doctor_speed.h"

#include "tests/support/suite.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

static char g_root[64];

static void remove_root(void)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -rf '%s'", g_root);
    ck_assert_int_eq(system(command), 0);
}

static void make_root(void)
{
    strcpy(g_root, "/tmp/imrec-doctor-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(g_root));
}

CASE(.setup = make_root, .teardown = remove_root)

/* Writes a file below the root, with its folders. */
static void put(const char *path, const char *text)
{
    char name[512];
    const int n = snprintf(name, sizeof(name), "%s%s", g_root, path);
    for (char *slash = name + strlen(g_root) + 1; slash < name + n; slash++)
        if (*slash == '/') {
            *slash = '\0';
            (void)mkdir(name, 0700);
            *slash = '/';
        }
    FILE *f = fopen(name, "w");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_ge(fputs(text, f), 0);
    ck_assert_int_eq(fclose(f), 0);
}

TEST(a_machine_that_says_nothing_is_all_zero)
{
    struct machine m;
    machine_read(g_root, &m);
    ck_assert_str_eq(m.model, "");
    ck_assert_ptr_null(m.features[0]);
    ck_assert(m.memory_bytes == 0 && m.memory_limit_bytes == 0 && m.l3_bytes == 0);
    ck_assert(m.cpu_quota == 0 && m.task_limit == 0);
}

TEST(processor_caches_and_memory_are_read)
{
    static const char *const levels[] = {"1", "1", "2", "3"},
                             *const types[] = {"Data", "Instruction", "Unified", "Unified"},
                             *const sizes[] = {"48K", "32K", "2048K", "105M"};
    struct machine m;
    put("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nflags\t\t: avx2 bmi1x "
                         "xbmi2 f16c\nbugs\t: fma\n\nmodel name\t: Other\n");
    put("/proc/meminfo", "MemTotal:       16000 kB\nMemFree: 1 kB\nMemAvailable:    8000 kB\n");
    put("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    for (int i = 0; i < 4; i++) {
        char path[128];
        snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/level", i);
        put(path, levels[i]);
        snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/type", i);
        put(path, types[i]);
        snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
        put(path, sizes[i]);
    }
    machine_read(g_root, &m);
    ck_assert_str_eq(m.model, "Some CPU @ 2 GHz");
    ck_assert_str_eq(m.features[0], "avx2");
    ck_assert_str_eq(m.features[1], "f16c");
    ck_assert_ptr_null(m.features[2]);
    ck_assert_uint_eq(m.l1d_bytes, 48 << 10);
    ck_assert_uint_eq(m.l2_bytes, 2048 << 10);
    ck_assert_uint_eq(m.l3_bytes, 105 << 20);
    ck_assert_uint_eq(m.memory_bytes, 16000 << 10);
    ck_assert_uint_eq(m.available_bytes, 8000 << 10);
    ck_assert_str_eq(m.huge_pages, "madvise");
}

TEST(features_of_arm_are_found_under_their_own_name)
{
    struct machine m;
    put("/proc/cpuinfo", "processor\t: 0\nFeatures\t: fp asimd crc32x sha1 crc32\n");
    machine_read(g_root, &m);
    ck_assert_str_eq(m.features[0], "asimd");
    ck_assert_str_eq(m.features[1], "crc32");
    ck_assert_ptr_null(m.features[2]);
}

TEST(the_tightest_limit_of_the_groups_above_holds)
{
    struct machine m;
    put("/proc/self/cgroup", "0::/a/b\n");
    put("/sys/fs/cgroup/a/b/memory.max", "max\n");
    put("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    put("/sys/fs/cgroup/a/memory.max", "3000\n");
    put("/sys/fs/cgroup/a/memory.current", "1000\n");
    put("/sys/fs/cgroup/a/cpu.max", "150000 100000\n");
    put("/sys/fs/cgroup/memory.max", "9000\n");
    put("/sys/fs/cgroup/memory.current", "8000\n");
    put("/sys/fs/cgroup/pids.max", "77\n");
    machine_read(g_root, &m);
    ck_assert_uint_eq(m.memory_limit_bytes, 3000);
    ck_assert_uint_eq(m.memory_used_bytes, 1000);
    ck_assert_double_eq(m.cpu_quota, 1.5);
    ck_assert_uint_eq(m.task_limit, 77);
}

/* Version 1: hierarchies of their own, and a container that sees its group as the top. */
TEST(groups_of_version_1_are_read)
{
    struct machine m;
    put("/proc/self/cgroup", "5:cpu,cpuacct:/docker/12\n4:memory:/docker/12\n3:pids:/\n0::/\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "5000\n");
    put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "10\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    put("/sys/fs/cgroup/pids/pids.max", "max\n");
    machine_read(g_root, &m);
    ck_assert_uint_eq(m.memory_limit_bytes, 5000);
    ck_assert_uint_eq(m.memory_used_bytes, 10);
    ck_assert_double_eq(m.cpu_quota, 0.5);
    ck_assert_uint_eq(m.task_limit, 0);
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    machine_read(g_root, &m);
    ck_assert_uint_eq(m.memory_limit_bytes, 0);
    ck_assert_double_eq(m.cpu_quota, 0);
}

/* ---- files ---------------------------------------------------------------------------------- */

static const char *make_file(size_t bytes)
{
    static char path[128];
    snprintf(path, sizeof(path), "%s/file", g_root);
    const int fd = open(path, O_CREAT | O_WRONLY, 0600);
    ck_assert_int_ge(fd, 0);
    for (size_t at = 0; at < bytes; at += 4096) {
        static char block[4096] = {1};
        ck_assert_int_eq(write(fd, block, bytes - at < 4096 ? bytes - at : 4096),
                         (long)(bytes - at < 4096 ? bytes - at : 4096));
    }
    ck_assert_int_eq(fsync(fd), 0);
    ck_assert_int_eq(close(fd), 0);
    return path;
}

TEST(pages_in_the_cache_are_counted)
{
    struct imrec_error err;
    struct cached c = {0};
    const char *path = make_file((4 << 20) + 100);
    ck_assert_int_eq(cached_add(path, UINT64_MAX, &c, &err), IMREC_OK);
    ck_assert_uint_eq(c.bytes, (4 << 20) + 100);
    ck_assert_uint_eq(c.looked_at, c.bytes);
    ck_assert_uint_eq(c.in_cache, c.bytes);
    ck_assert_int_eq(cached_add(path, 0, &c, &err), IMREC_OK); /* the time is over */
    ck_assert_uint_eq(c.bytes, 2 * c.looked_at);
    ck_assert_int_eq(cached_add("/no/such", UINT64_MAX, &c, &err), IMREC_ERR_IO);
}

TEST(pages_that_were_dropped_are_not_counted)
{
    struct imrec_error err;
    struct cached c = {0};
    struct statfs is;
    const char *path = make_file(4 << 20);
    const int fd = open(path, O_RDONLY);
    ck_assert_int_eq(posix_fadvise(fd, 0, 1 << 20, POSIX_FADV_DONTNEED), 0);
    ck_assert_int_eq(close(fd), 0);
    ck_assert_int_eq(cached_add(path, UINT64_MAX, &c, &err), IMREC_OK);
    ck_assert_int_eq(statfs(path, &is), 0);
    if ((uint32_t)is.f_type == 0x01021994) /* tmpfs: memory is all that it has */
        ck_assert_uint_eq(c.in_cache, 4 << 20);
    else
        ck_assert_uint_eq(c.in_cache, 3 << 20);
}

TEST(pieces_of_all_files_are_read_and_no_byte_twice)
{
    struct imrec_error err;
    struct speed s;
    const char *path = make_file((3 << 20) + 100);
    const struct speed_file files[] = {{path, (3 << 20) + 100}, {path, 0}, {path, 50}};
    ck_assert_int_eq(speed_measure(files, 3, &s, &err), IMREC_OK);
    ck_assert_uint_eq(s.reads, 4);
    ck_assert_uint_eq(s.bytes, (3 << 20) + 100);
    ck_assert(s.seconds > 0 && s.median_ms <= s.worst_ms);
    ck_assert_int_eq(speed_measure(files + 1, 1, &s, &err), IMREC_OK);
    ck_assert_uint_eq(s.reads, 0);
    const struct speed_file longer = {path, 64 << 20};
    ck_assert_int_eq(speed_measure(&longer, 1, &s, &err), IMREC_ERR_IO);
}

TEST(at_most_64_pieces_are_read)
{
    struct imrec_error err;
    struct speed s;
    const char *path = make_file(70 << 20);
    const struct speed_file file = {path, 70 << 20};
    ck_assert_int_eq(speed_measure(&file, 1, &s, &err), IMREC_OK);
    ck_assert_uint_le(s.reads, SPEED_READS);
    ck_assert_uint_eq(s.bytes, s.reads * SPEED_BYTES);
}
