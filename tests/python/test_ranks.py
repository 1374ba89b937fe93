"""Which process this one is: what launchers set, what only looks like it, and what is told."""
import logging

import pytest

import imrec
from imrec import _ranks

pytestmark = pytest.mark.usefixtures("alone")

TORCHRUN = {"RANK": "3", "WORLD_SIZE": "8", "LOCAL_WORLD_SIZE": "4", "MASTER_ADDR": "localhost"}
STEP = {"SLURM_PROCID": "3", "SLURM_STEP_NUM_TASKS": "8", "SLURM_STEP_ID": "0", "SLURM_STEP_TASKS_PER_NODE": "4(x2)"}
MPIRUN = {"OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "8", "OMPI_COMM_WORLD_LOCAL_SIZE": "4",
          "OMPI_COMM_WORLD_LOCAL_RANK": "3"}
MPIEXEC = {"PMI_RANK": "3", "PMI_SIZE": "8", "MPI_LOCALNRANKS": "4", "PMI_FD": "7"}
BATCH_SCRIPT = {"SLURM_PROCID": "0", "SLURM_NTASKS": "8", "SLURM_JOB_ID": "17", "SLURM_LOCALID": "0", "SLURM_NTASKS_PER_NODE": "8"}


@pytest.fixture
def guess(monkeypatch, caplog):
    def with_variables(variables):
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        caplog.clear()
        with caplog.at_level(logging.WARNING, logger="imrec"):
            place = _ranks.guess()
        return place, [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]

    return with_variables


@pytest.mark.parametrize("variables", [STEP, MPIRUN, MPIEXEC])
def test_a_launched_process_has_its_rank_and_a_warning_says_from_what(guess, variables):
    place, told = guess(variables)
    assert place == (3, 8, 4) and len(told) == 1
    assert all(f"{name}={variables[name]}" in told[0] for name in list(variables)[:2])
    assert "rank 3 of 8" in told[0] and "1/8" in told[0] and "world_size=1" in told[0]


def test_torchruns_word_is_no_guess(guess):
    assert guess(TORCHRUN) == ((3, 8, 4), [])


def test_rank_and_world_size_without_torchrun_count_with_a_warning(guess):
    place, told = guess({"RANK": "1", "WORLD_SIZE": "2"})
    assert place[:2] == (1, 2) and "RANK=1 and WORLD_SIZE=2" in told[0]


def test_the_script_that_sbatch_runs_reads_all_of_the_data(guess):
    assert guess(BATCH_SCRIPT) == ((0, 1, 0), [])


@pytest.mark.parametrize("variables", [{"SLURM_PROCID": "3", "SLURM_STEP_NUM_TASKS": "8"}, {"SLURM_PROCID": "3"},
                                       {"SLURM_PROCID": "0", "SLURM_NTASKS": "8", "SLURM_STEP_ID": "0"}])
def test_tasks_without_a_whole_step_are_not_ranks_and_a_warning_says_so(guess, variables):
    place, told = guess(variables)
    assert place == (0, 1, 0) and len(told) == 1
    assert f"SLURM_PROCID={variables['SLURM_PROCID']}" in told[0] and "SLURM_STEP_ID and SLURM_STEP_NUM_TASKS" in told[0]


def test_an_interactive_step_of_one_task_reads_all_of_the_data(guess):
    assert guess({**BATCH_SCRIPT, "SLURM_STEP_ID": "4294967290", "SLURM_STEP_NUM_TASKS": "1"}) == ((0, 1, 0), [])


@pytest.mark.parametrize("variables, mark", [({"PMI_RANK": "3", "PMI_SIZE": "8"}, "PMI_FD"),
                                             ({"OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "8"}, "PMIX_RANK"),
                                             ({"RANK": "3"}, "WORLD_SIZE"), ({"WORLD_SIZE": "8"}, "RANK")])
def test_what_no_launcher_has_set_is_not_taken_and_a_warning_says_so(guess, variables, mark):
    place, told = guess(variables)
    assert place == (0, 1, 0) and len(told) == 1 and mark in told[0] and "all of the data" in told[0]


def test_a_world_of_one_needs_no_warning(guess):
    assert guess({"PMI_RANK": "0", "PMI_SIZE": "1", "PMI_FD": "3"})[1] == []
    assert guess({"RANK": "0", "WORLD_SIZE": "1"})[1] == []


def test_of_contradicting_launchers_the_inner_one_counts_and_a_warning_names_both(guess):
    place, told = guess({**STEP, "RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "localhost"})
    assert place[:2] == (0, 1) and len(told) == 1
    assert "RANK=0 and WORLD_SIZE=1" in told[0] and "SLURM_PROCID=3 and SLURM_STEP_NUM_TASKS=8" in told[0]


def test_torchrun_inside_a_step_of_one_task_a_node_is_no_contradiction(guess):
    assert guess({**TORCHRUN, "SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "2", "SLURM_STEP_ID": "0"}) == ((3, 8, 4), [])


@pytest.mark.parametrize("variables, words", [({"RANK": "x", "WORLD_SIZE": "2"}, "RANK is 'x'"),
                                              ({"RANK": "2", "WORLD_SIZE": "2"}, "RANK=2 and WORLD_SIZE=2"),
                                              ({**MPIEXEC, "PMI_SIZE": "many"}, "PMI_SIZE is 'many'")])
def test_nonsense_is_an_error_where_it_would_count(guess, variables, words):
    with pytest.raises(imrec.ArgumentError, match=words):
        guess(variables)


def test_nonsense_that_does_not_count_is_passed_over(guess):
    assert guess({**TORCHRUN, **MPIEXEC, "PMI_SIZE": "many"})[0] == (3, 8, 4)
    assert guess({"PMI_RANK": "x", "PMI_SIZE": "y"})[0] == (3, 8, 4)


@pytest.mark.parametrize("rank, world, words", [(1, None, "needs world_size"), (0, None, "needs world_size"),
                                                (None, 4, "needs rank"), (4, 4, "from 0"), (-1, 4, "from 0"), (0, 0, "from 0")])
def test_half_a_place_is_an_error_that_says_what_is_missing(rank, world, words):
    with pytest.raises(imrec.ArgumentError, match=words):
        _ranks.given(rank, world)


def test_what_the_caller_says_is_taken_without_a_look_at_the_environment(monkeypatch, caplog):
    monkeypatch.setenv("RANK", "x")
    assert _ranks.given(None, 1) == (0, 1, 0) and _ranks.given(0, 1) == (0, 1, 0)
    assert _ranks.given(2, 5)[:2] == (2, 5) and _ranks.given(None, None) is None and not caplog.records


@pytest.mark.parametrize("near, cpus, total, workers", [(1, 8, 8, 0), (0, 8, 8, 0), (4, 8, 8, 2), (16, 8, 8, 1), (4, 2, 8, 0)])
def test_a_machines_cpus_are_divided_by_its_ranks_unless_they_are_bound(monkeypatch, near, cpus, total, workers):
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: set(range(cpus)), raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: total)
    assert _ranks.share_of_cpus(_ranks.Place(0, 8, near)) == workers
