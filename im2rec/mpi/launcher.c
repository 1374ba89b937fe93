/* im2rec/mpi/launcher.c */
#include "im2rec/mpi/launcher.h"

#include "cli/options.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "im2rec"

/* What launchers tell their processes. mpirun may run within a step of srun: it comes first. */
static const struct launcher {
    const char *name, *size, *rank;
} launchers[] = {{"mpirun of Open MPI", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                 {"mpirun of MPICH", "PMI_SIZE", "PMI_RANK"},
                 {"srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};

static long number(const char *variable)
{
    const char *text = getenv(variable);
    return text != NULL ? strtol(text, NULL, 10) : 0;
}

/* "Open MPI v4.1.4", "MPICH Version: 4.0.2" */
static void name_mpi(char out[MPI_MAX_LIBRARY_VERSION_STRING])
{
    int n = 0;
    if (MPI_Get_library_version(out, &n) != MPI_SUCCESS)
        snprintf(out, MPI_MAX_LIBRARY_VERSION_STRING, "unknown");
    out[strcspn(out, ",\n")] = '\0';
    for (char *tab = out; (tab = strchr(tab, '\t')) != NULL;)
        *tab = ' ';
}

int launcher_check(int ranks)
{
    const struct launcher *l = launchers;
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING];
    while (l < launchers + 3 && getenv(l->size) == NULL)
        l++;
    if (ranks > 1 || l == launchers + 3 || number(l->size) <= 1)
        return EXIT_OK;
    if (number(l->rank) != 0) /* one of them says it */
        return EXIT_USAGE;
    name_mpi(mpi);
    return cli_refuse(stderr, NAME,
                      "%s has started %ld processes, each alone in its MPI (%s): start that MPI "
                      "with its own mpirun, or with srun --mpi=pmix (Open MPI) or --mpi=pmi2 "
                      "(MPICH)",
                      l->name, number(l->size), mpi);
}
