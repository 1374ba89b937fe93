"""Ranks of torch.distributed compare what they have opened: one that differs is an error on every rank, not a hang later.

They write a few hundred bytes each into the store of the process group, rank 0 compares, all read its verdict. So it
needs no device, whatever the backend, and waits as long as the process group does.
"""
from __future__ import annotations

import contextlib
import itertools
import json
from typing import TYPE_CHECKING, Any, Callable, TypeVar

import torch

from .errors import ArgumentError, Error

if TYPE_CHECKING:
    from ._iterator import ImageRecordIter

It = TypeVar("It", bound="ImageRecordIter")
_OPENED = itertools.count()  # equal on all ranks, which open the same Loaders in the same order
_OF_ONE_PLACE = frozenset(("version", "part_index", "sweep", "sample", "repeating", "window", "window_first_sample", "position",
                           "epoch", "epoch_sample"))
_MOST_NAMED = 8


def facts(it: ImageRecordIter) -> dict[str, Any]:
    """The fingerprint, and by name what is in it, as far as it is known."""
    with it._serve():
        place = json.loads(it._position())
    order = {name: value for name, value in place.items() if name not in _OF_ONE_PLACE}
    return {**order, **it._options["ends"], "fingerprint": it.fingerprint()}


def opened(open_it: Callable[[], It]) -> It:
    """open_it() on every rank of torch.distributed. Raises what it raises, otherwise ArgumentError if ranks have opened
    different things or one could not, on all of them."""
    number = next(_OPENED)
    try:
        it = open_it()
    except Exception as e:
        with contextlib.suppress(Error):  # its own error says more
            _compare(number, {"error": f"{type(e).__name__}: {e}"})
        raise
    try:
        _compare(number, facts(it))
    except BaseException:
        it.close()
        raise
    return it


def _compare(number: int, mine: dict[str, Any]) -> None:
    store = torch.distributed.distributed_c10d._get_default_store()
    rank, world = torch.distributed.get_rank(), torch.distributed.get_world_size()
    if store is None or world == 1:  # MPI as torch's backend has no store
        return
    key, asked = f"imrec/opened/{number}", rank
    try:
        store.set(f"{key}/{rank}", json.dumps(mine))
        if rank == 0:
            ranks = []
            for asked in range(world):
                ranks.append(json.loads(store.get(f"{key}/{asked}")))
            store.set(f"{key}/verdict", disagreement(ranks))
        asked = 0
        verdict = store.get(f"{key}/verdict").decode()
        if verdict and rank != 0:
            store.set(f"{key}/{rank}/read", "")
        elif verdict:  # the store may end with this process
            store.wait([f"{key}/{r}/read" for r in range(1, world)])
    except RuntimeError as e:
        raise Error(f"rank {asked} has opened no Loader that could be compared with this one (Loader {number} of rank {rank}): every "
                    "rank opens the same Loaders in the same order, and rank= with world_size= opens one without the "
                    f"others ({str(e).splitlines()[0]})") from e
    if verdict:
        raise ArgumentError(verdict)


# ---- what differs ----------------------------------------------------------------------------------------------------

def disagreement(ranks: list[dict[str, Any]]) -> str:
    """Which ranks differ from most others, or, of equally many, from the first ones, and in what; empty: none does."""
    failed = next((r for r, fact in enumerate(ranks) if "error" in fact), None)
    if failed is not None:
        return f"rank {failed} of {len(ranks)} could not open its data: {ranks[failed]['error']}"
    alike: dict[str, list[int]] = {}
    for rank, fact in enumerate(ranks):
        alike.setdefault(fact["fingerprint"], []).append(rank)
    most = max(alike.values(), key=len)  # of equally many the first
    odd = [_differs(ranks, others, most[0]) for others in alike.values() if others is not most]
    return ("the ranks of this job do not read the same: " + "; ".join(odd[:_MOST_NAMED])
            + ("; ..." if odd[_MOST_NAMED:] else "")) if odd else ""


def _differs(ranks: list[dict[str, Any]], odd: list[int], usual: int) -> str:
    a, b = ranks[odd[0]], ranks[usual]
    names = ", ".join(map(str, odd[:_MOST_NAMED])) + (f", ... ({len(odd)} of them)" if odd[_MOST_NAMED:] else "")
    what = [_said(name, a.get(name), b.get(name)) for name in b if name != "fingerprint" and a.get(name) != b.get(name)]
    return (f"rank{'s' if len(odd) > 1 else ''} {names} {'have' if len(odd) > 1 else 'has'} "
            f"{', '.join(what) or 'another fingerprint'}, unlike rank {usual}")


def _said(name: str, odd: Any, usual: Any) -> str:
    if name == "data":
        return f"other data ({odd}, not {usual}: other shards, sizes or indexes)"
    return f"{name}={odd} (not {usual})"
