"""Finds the rank of this process among those that train together, from the environment that its launcher set.

A variable counts only with a mark that the launcher sets in the processes it starts, because some are also set elsewhere:
the script that sbatch runs has SLURM_PROCID=0 and SLURM_NTASKS, although it is not a task of a step.

    launcher                  rank, world                                   mark
    torchrun, init_method     RANK, WORLD_SIZE                              MASTER_ADDR or TORCHELASTIC_RUN_ID
    Open MPI's mpirun         OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE    OMPI_COMM_WORLD_LOCAL_RANK, PMIX_RANK or
                                                                            OMPI_MCA_ess_base_jobid
    MPICH's, Intel's mpiexec  PMI_RANK, PMI_SIZE                            PMI_FD, PMI_PORT or PMI_CONTROL_PORT
    srun                      SLURM_PROCID, SLURM_STEP_NUM_TASKS            SLURM_STEP_ID

The first of these that exists counts. RANK and WORLD_SIZE count without their mark, too. Every value that does not come
from torch is a guess, with a warning.
"""
from __future__ import annotations

import os
import re
from typing import Iterator, NamedTuple

from ._log import logger
from .errors import ArgumentError


class Launcher(NamedTuple):
    rank: str
    world: str
    near: str  #: processes on this machine
    marks: tuple[str, ...]


_TORCH = Launcher("RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", ("MASTER_ADDR", "TORCHELASTIC_RUN_ID"))
_LAUNCHERS = (_TORCH,
              Launcher("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE",
                       ("OMPI_COMM_WORLD_LOCAL_RANK", "PMIX_RANK", "OMPI_MCA_ess_base_jobid")),
              Launcher("PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", ("PMI_FD", "PMI_PORT", "PMI_CONTROL_PORT")),
              Launcher("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_TASKS_PER_NODE", ("SLURM_STEP_ID",)))
_OF_SLURM = ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS")
_OTHERWISE = "rank= and world_size= set it without a guess, world_size=1 reads all of the data"


class Place(NamedTuple):
    """A process among `world` ones, `near` of them on this machine (0: unknown)."""

    rank: int
    world: int
    near: int = 0


class _Claim(NamedTuple):
    """The values of a launcher's variables."""

    launcher: Launcher
    place: Place
    marked: bool

    def __str__(self) -> str:
        rank, world = self.launcher.rank, self.launcher.world
        return f"{rank}={self.place.rank} and {world}={self.place.world}"


def _number(name: str) -> int | None:
    value = os.environ.get(name)
    if value is None:
        return None
    if not value.isdecimal():
        raise ArgumentError(f"the environment variable {name} is {value!r}, not a number; {_OTHERWISE}")
    return int(value)


def _is_marked(launcher: Launcher) -> bool:
    return any(name in os.environ for name in launcher.marks)


def _near(launcher: Launcher) -> int:
    """SLURM_STEP_TASKS_PER_NODE is "4" or "4(x3),2"; the largest."""
    return max(map(int, re.findall(r"(?<!x)\b\d+", os.environ.get(launcher.near, ""))), default=0)


def _claim(launcher: Launcher) -> _Claim | None:
    rank, world = _number(launcher.rank), _number(launcher.world)
    if rank is None or world is None:
        return None
    if rank >= world:
        raise ArgumentError(f"the environment has {launcher.rank}={rank} and {launcher.world}={world}: ranks count from 0; "
                            + _OTHERWISE)
    return _Claim(launcher, Place(rank, world, _near(launcher)), _is_marked(launcher))


def _claims() -> Iterator[_Claim]:
    """Nonsense in variables that do not decide is ignored."""
    decided = False
    for launcher in _LAUNCHERS:
        counts = not decided and (launcher is _TORCH or _is_marked(launcher))
        try:
            claim = _claim(launcher)
        except ArgumentError:
            if counts:
                raise
            continue
        if claim is not None:
            decided |= counts
            yield claim


def _tell(taken: _Claim, others: list[_Claim]) -> None:
    larger = next((c for c in others if c.marked and c.place.world > taken.place.world), None)
    if larger is not None:
        logger.warning("rank %d of %d is taken from %s, although %s differ; %s", taken.place.rank, taken.place.world,
                       taken, larger, _OTHERWISE)
    elif taken.place.world > 1 and not (taken.launcher is _TORCH and taken.marked):
        logger.warning("rank %d of %d is taken from %s in the environment: this process reads 1/%d of the data; %s",
                       taken.place.rank, taken.place.world, taken, taken.place.world, _OTHERWISE)


def _tell_alone(ignored: list[_Claim]) -> None:
    """No variables are used, although some exist."""
    for claim in ignored:
        if claim.place.world > 1 and claim.launcher.rank != "SLURM_PROCID":
            logger.warning("%s are set, but none of %s, which a launcher sets as well: this process reads all of the data; "
                           "rank= and world_size= give it a share, world_size=1 confirms that it is alone", claim,
                           ", ".join(claim.launcher.marks))
            return
    for one, other in (("RANK", "WORLD_SIZE"), ("WORLD_SIZE", "RANK")):
        if other not in os.environ and os.environ.get(one, "0") not in ("0", "1"):
            logger.warning("%s=%s is set without %s: this process reads all of the data; rank= and world_size= give it a "
                           "share, world_size=1 confirms that it is alone", one, os.environ[one], other)
            return
    _tell_no_step()


def _tell_no_step() -> None:
    """Slurm's variables exist, but not the two that srun sets for a task of a step."""
    said = {name: os.environ[name] for name in _OF_SLURM if name in os.environ}
    is_task, tasks = said.get("SLURM_PROCID", "0") != "0", said.get("SLURM_NTASKS", "1")
    if is_task or (tasks != "1" and "SLURM_STEP_ID" in said and "SLURM_STEP_NUM_TASKS" not in said):
        logger.warning("Slurm has set %s, but not both of SLURM_STEP_ID and SLURM_STEP_NUM_TASKS, as srun does: this process reads "
                       "all of the data; rank= and world_size= give it a share, world_size=1 confirms that it is alone",
                       ", ".join(f"{name}={value}" for name, value in said.items()))
    elif tasks != "1" and "SLURM_STEP_ID" not in said:
        logger.info("this process is in a Slurm job of %s tasks, but in no step of it (srun): it reads all of the data", tasks)


def guess() -> Place:
    """This process's place according to the environment, with a warning if it is doubtful."""
    claims = list(_claims())
    taken = next((c for c in claims if c.marked or c.launcher is _TORCH), None)
    if taken is None:
        _tell_alone(claims)
        return Place(0, 1)
    _tell(taken, [c for c in claims if c is not taken])
    return taken.place


def given(rank: int | None, world_size: int | None) -> Place | None:
    """The place that the caller sets; None: it sets none."""
    if world_size is None:
        if rank is not None:
            raise ArgumentError(f"rank={rank} needs world_size=, the number of processes that share the data, together with it")
        return None
    if rank is None and world_size != 1:
        raise ArgumentError(f"world_size={world_size} needs rank= together with it: the number of this process among them, "
                            "from 0; world_size=1 alone reads all of the data")
    if not 0 <= (rank or 0) < world_size:
        raise ArgumentError(f"rank={rank} of world_size={world_size}: ranks count from 0")
    near = [_near(launcher) for launcher in _LAUNCHERS if launcher is _TORCH or _is_marked(launcher)]
    return Place(rank or 0, world_size, 0 if world_size == 1 else max(near))


def share_of_cpus(place: Place) -> int:
    """Workers for this process if several share a machine whose CPUs are not yet divided among them; 0: all it may use."""
    mine = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if mine < (os.cpu_count() or 1) or place.near <= 1:
        return 0
    return max(1, mine // place.near)
