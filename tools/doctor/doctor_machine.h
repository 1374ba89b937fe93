/* tools/doctor/doctor_machine.h - what the kernel says of the machine, and of the limits of the
 * control groups that this process is in. */
#ifndef IMREC_TOOLS_DOCTOR_DOCTOR_MACHINE_H
#define IMREC_TOOLS_DOCTOR_DOCTOR_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#define MACHINE_FEATURES 14

struct machine { /* 0 and "": the kernel does not say */
    char model[128];
    uint64_t l1d_bytes, l2_bytes, l3_bytes;     /* of the first processor */
    uint64_t memory_bytes, available_bytes;     /* of the machine */
    uint64_t memory_limit_bytes;                /* of the control group; 0: none */
    uint64_t memory_used_bytes;                 /* of the control group */
    double cpu_quota;                           /* CPUs' worth of time; 0: no quota */
    uint64_t task_limit;                        /* threads and processes; 0: none */
    char huge_pages[16];                        /* "always", "madvise", "never" */
    const char *features[MACHINE_FEATURES + 1]; /* of those that kernels use; NULL at the end */
};

/* `root` comes before /proc and /sys: "" for this machine. */
void machine_read(const char *root, struct machine *m);
#endif
