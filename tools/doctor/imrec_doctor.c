/* tools/doctor/imrec_doctor.c - says what this machine, this build and a set's storage give, and
 * what would make them faster. It writes nothing. */
#include "base/cpu.h"
#include "codec/codec.h"
#include "codec/libraries.h"
#include "parallel/workers.h"
#include "storage/source.h"
#include "tools/commands/command.h"
#include "tools/doctor/doctor_machine.h"
#include "tools/doctor/doctor_report.h"
#include "tools/doctor/doctor_set.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

COMMAND(doctor, ROWS_SET, 0, -1) = {
    PAGE_OF("doctor", "0 done, whatever it advises; 1 SHARD cannot be read, 2 wrong usage"),
    .summary = "what this machine and build give to imrec, and what would make it faster",
    .usage = {"[OPTIONS] [SHARD...]"},
    .text = "Shows processors, memory and the limits of the container; which kernels are used;\n"
            "libraries and stores of this build; limits on files, shared memory and threads; each\n"
            "with a line of advice. With SHARD also how much of the set is in the page cache, and\n"
            "how fast its storage is: at most 64 MiB are read, for about 2 seconds, past the page\n"
            "cache where the file system allows it. Nothing is written.",
    .examples = "  imrec doctor\n"
                "  imrec doctor train.rec\n"
                "  imrec doctor --json s3://bucket/train/ | jq .set.read_mb_per_s\n",
};

/* ---- the machine ---------------------------------------------------------------------------- */

static void advise_machine(struct doctor_report *r, const struct machine *m, uint32_t cpus)
{
    char limit[HUMAN_BYTES];
    if (m->cpu_quota > 0 && m->cpu_quota < (double)cpus)
        doctor_advise(r,
                      "the container may use %.3g CPUs of time, but %u are visible: set "
                      "preprocess_threads=%u, or more threads than that wait for their turn",
                      m->cpu_quota, cpus, (unsigned)(m->cpu_quota < 1 ? 1 : m->cpu_quota + 0.5));
    else if (m->memory_limit_bytes != 0 && m->memory_limit_bytes < 4 * GIB)
        doctor_advise(r,
                      "the container has %s of memory: memory_limit= refuses options that need "
                      "more than you give it",
                      human_size(m->memory_limit_bytes, limit));
    else if (strcmp(m->huge_pages, "never") == 0)
        doctor_advise(r, "huge pages are off: with 'madvise' in "
                         "/sys/kernel/mm/transparent_hugepage/enabled batches are touched faster");
    else
        doctor_advise(r, DOCTOR_NOTHING);
}

static void say_machine(struct doctor_report *r, const struct machine *m)
{
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    const uint32_t cpus = workers_count(0);
    doctor_section(r, "machine", "Machine");
    doctor_text(r, "processor", "processor", m->model[0] != '\0' ? m->model : "unknown");
    doctor_count(r, "cpus", "CPUs to use", cpus);
    doctor_count(r, "cpus_online", "CPUs online", online > 0 ? (uint64_t)online : 0);
    if (m->cpu_quota > 0)
        doctor_real(r, "cpu_quota", "CPU quota", m->cpu_quota, "CPUs");
    doctor_bytes(r, "l1d_bytes", "L1 data cache", m->l1d_bytes);
    doctor_bytes(r, "l2_bytes", "L2 cache", m->l2_bytes);
    doctor_bytes(r, "l3_bytes", "L3 cache", m->l3_bytes);
    doctor_bytes(r, "memory_bytes", "memory", m->memory_bytes);
    doctor_bytes(r, "available_bytes", "available", m->available_bytes);
    if (m->memory_limit_bytes != 0)
        doctor_bytes(r, "memory_limit_bytes", "limit of the container", m->memory_limit_bytes);
    doctor_text(r, "huge_pages", "huge pages", m->huge_pages[0] != '\0' ? m->huge_pages : "none");
    advise_machine(r, m, cpus);
}

/* ---- kernels -------------------------------------------------------------------------------- */

static void advise_kernels(struct doctor_report *r, enum cpu_level best)
{
    const char *pinned = getenv("IMREC_CPU");
    const char *used = cpu_level_name(cpu_level());
    if (pinned != NULL && strcmp(pinned, used) != 0)
        doctor_advise(r, "IMREC_CPU=%.40s is not a level of this machine and is ignored: unset it",
                      pinned);
    else if (cpu_level() < best)
        doctor_advise(r, "IMREC_CPU=%.40s keeps the kernels below %s: unset it", pinned,
                      cpu_level_name(best));
    else if (best == CPU_SCALAR)
        doctor_advise(r, "there are vector kernels for x86-64 with AVX2 and for 64-bit Arm: such a "
                         "machine is several times as fast");
    else
        doctor_advise(r, DOCTOR_NOTHING);
}

static void say_kernels(struct doctor_report *r, const struct machine *m)
{
    const char *levels[CPU_LEVELS + 1] = {NULL};
    enum cpu_level best = CPU_SCALAR;
    size_t n = 0;
    for (int l = CPU_SCALAR; l < CPU_LEVELS; l++)
        if (cpu_has((enum cpu_level)l)) {
            best = (enum cpu_level)l;
            levels[n++] = cpu_level_name(best);
        }
    doctor_section(r, "kernels", "Kernels");
    doctor_list(r, "features", "CPU features", m->features);
    doctor_list(r, "levels", "variants", levels);
    doctor_text(r, "level", "used", cpu_level_name(cpu_level()));
    doctor_text(r, "jpeg", "JPEG decoder", "imrec, else libjpeg-turbo");
    advise_kernels(r, best);
}

/* ---- libraries ------------------------------------------------------------------------------ */

static void say_library(struct doctor_report *r, const char *name, const char *version)
{
    if (!r->as_json) {
        doctor_text(r, "", name, version != NULL ? version : "built without");
        return;
    }
    json_object(&r->json, NULL);
    json_text(&r->json, "name", name);
    json_text(&r->json, "version", version != NULL ? version : "");
    json_end(&r->json);
}

static void say_libraries(struct doctor_report *r)
{
    struct codec_library all[CODEC_LIBRARIES];
    const struct codec_library *missing = NULL;
    codec_libraries(all);
    doctor_section(r, "build", "Build");
    doctor_text(r, "version", "imrec", IMREC_VERSION_STRING);
    doctor_list(r, "formats", "image formats", codec_formats());
    doctor_list(r, "stores", "stores", source_schemes());
    if (r->as_json)
        json_array(&r->json, "libraries");
    for (size_t i = 0; i < CODEC_LIBRARIES; i++) {
        say_library(r, all[i].name, all[i].version);
        if (all[i].version == NULL && missing == NULL)
            missing = &all[i];
    }
    say_library(r, "libcurl", source_curl_version());
    if (r->as_json)
        json_end(&r->json);
    if (missing != NULL)
        doctor_advise(r, "%s images cannot be read: install %s and build again", missing->formats,
                      missing->package);
    else if (source_curl_version() == NULL)
        doctor_advise(r, "no store of the network can be read: install libcurl4-openssl-dev, "
                         "libssl-dev and libexpat1-dev, and build again");
    else
        doctor_advise(r, DOCTOR_NOTHING);
}

/* ---- limits --------------------------------------------------------------------------------- */

static uint64_t limit_of(int resource, bool hard)
{
    struct rlimit is;
    if (getrlimit(resource, &is) != 0)
        return 0;
    const rlim_t v = hard ? is.rlim_max : is.rlim_cur;
    return v == RLIM_INFINITY ? UINT64_MAX : (uint64_t)v;
}

static void say_limit(struct doctor_report *r, const char *key, const char *label, uint64_t n)
{
    if (n != UINT64_MAX)
        doctor_count(r, key, label, n);
    else if (!r->as_json)
        doctor_text(r, key, label, "no limit"); /* in JSON: no member */
}

static void say_limits(struct doctor_report *r, const struct machine *m)
{
    struct statvfs shm = {0};
    const uint64_t files = limit_of(RLIMIT_NOFILE, false), tasks = limit_of(RLIMIT_NPROC, false);
    const bool has_shm = statvfs("/dev/shm", &shm) == 0;
    const uint64_t shm_free = (uint64_t)shm.f_bavail * shm.f_frsize;
    uint64_t threads = m->task_limit != 0 ? m->task_limit : UINT64_MAX;
    threads = tasks < threads ? tasks : threads;
    doctor_section(r, "limits", "Limits");
    say_limit(r, "open_files", "open files", files);
    say_limit(r, "open_files_hard", "may be raised to", limit_of(RLIMIT_NOFILE, true));
    say_limit(r, "threads", "threads", threads);
    doctor_bytes(r, "shm_bytes", "/dev/shm", (uint64_t)shm.f_blocks * shm.f_frsize);
    doctor_bytes(r, "shm_free_bytes", "/dev/shm, free", shm_free);
    if (files < 256)
        doctor_advise(r, "few files may be open: 'ulimit -n 4096' keeps shards of large sets open");
    else if (threads < 4 * (uint64_t)workers_count(0) + 64)
        doctor_advise(r, "few threads may be started: raise 'ulimit -u', or the container's limit "
                         "of processes");
    else if (!has_shm || shm_free < 256 * MIB)
        doctor_advise(r, "/dev/shm has little room: worker processes of PyTorch's DataLoader move "
                         "batches through it (docker run --shm-size=2g); imrec's threads do not");
    else
        doctor_advise(r, DOCTOR_NOTHING);
}

/* ---- the command ---------------------------------------------------------------------------- */

/* What the page cache could grow to: of the machine, and of the container. */
static uint64_t room_for_cache(const struct machine *m)
{
    const uint64_t used =
        m->memory_used_bytes < m->memory_limit_bytes ? m->memory_used_bytes : m->memory_limit_bytes;
    const uint64_t left = m->memory_limit_bytes - used;
    return m->memory_limit_bytes != 0 && left < m->available_bytes ? left : m->available_bytes;
}

static int run(const struct options *o, int n, char **operand)
{
    struct doctor_report r;
    struct machine m;
    struct imrec_error err;
    char *list = NULL;
    int status = EXIT_OK;
    if (n > 0) {
        const char *uri = command_shards(page.name, operand, n, o->allow_missing, NULL);
        if (uri == NULL)
            return EXIT_FAILED;
        if (imrec_shards_expand(uri, o->allow_missing, &list, &err) != IMREC_OK)
            return cli_fail(page.name, &err);
    }
    machine_read("", &m);
    doctor_begin(&r, o->json);
    say_machine(&r, &m);
    say_kernels(&r, &m);
    say_libraries(&r);
    say_limits(&r, &m);
    if (list != NULL)
        status = doctor_set(&r, page.name, list, room_for_cache(&m));
    doctor_end(&r);
    imrec_shards_free(list);
    return status;
}
