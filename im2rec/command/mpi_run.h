/* im2rec/command/mpi_run.h - im2rec --mpi: a plan whose tasks the ranks of an MPI job do.
 *
 * MPI is not linked into im2rec: libraries of two MPIs do not go together, and most users have
 * none. The program im2rec-mpi is im2rec with MPI (im2rec/mpi/); im2rec --mpi becomes it. */
#ifndef IMREC_IM2REC_COMMAND_MPI_RUN_H
#define IMREC_IM2REC_COMMAND_MPI_RUN_H

#include "cli/program_flags.h"

/* Before the flags are read: where --mpi is among them, the process becomes im2rec-mpi, which lies
 * next to it. Returns where it does not: EXIT_OK without --mpi, else an exit status. */
int mpi_become(int argc, char **argv);
/* Of im2rec-mpi. */
int mpi_run(struct im2rec_flags *f, struct imrec_pack_task *task);
#endif
