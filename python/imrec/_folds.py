"""k folds of a data set, for cross-validation."""
from __future__ import annotations

import hashlib
import os
from typing import Any, Iterable, NamedTuple

from ._reader import Records
from .errors import ArgumentError


class Fold(NamedTuple):
    """Paths of two files of ids, a line each, for `subset=`."""

    train: str
    valid: str


def _place(seed: int, number: int) -> bytes:
    return hashlib.blake2b(f"{seed} {number}".encode(), digest_size=16).digest()


def _class_of(head: Any) -> float:
    if len(head.labels) != 1:
        raise ArgumentError(f"the record with id {head.id} has {len(head.labels)} labels, no class: write stratified=False", field="stratified")
    return float(head.labels[0])


def _classes(data: Any, stratified: bool) -> dict[float, list[int]]:
    """Ids by class; without stratified all in one. Records of one id (copies) stay together, in the class of the first."""
    of: dict[int, float] = {}
    for head in (data if isinstance(data, Records) else Records(data)).heads():
        of.setdefault(head.id, _class_of(head) if stratified else 0.0)
    out: dict[float, list[int]] = {}
    for number, label in of.items():
        out.setdefault(label, []).append(number)
    return out


def _write(path: str, ids: Iterable[int]) -> str:
    with open(path + ".part", "w", encoding="ascii") as file:
        file.writelines(f"{number}\n" for number in ids)
    os.replace(path + ".part", path)
    return path


def folds(data: Any, k: int, folder: Any, *, seed: int = 0, stratified: bool = True) -> list[Fold]:
    """Divides a data set into k parts of equal size (they differ by one id at most) and writes, for each part, the ids of all
    others (train) and its own (valid) into files fold-I.train.ids and fold-I.valid.ids, which `subset=` of an iterator with
    order="global" takes. Returns their paths.

    data: shards as ImageRecordIter takes them, or Records; heads of records are read, no images.
    k: 2 or more. folder: is made if it is missing; files of an earlier call are replaced.
    seed: ids are divided as their hash with it says: the same ids give the same folds, in whatever order the records are.
    stratified: every part also has an equal number of each class (within one). It needs records with one label.

    Raises: ArgumentError (k, or more parts than ids; a record without a class), and what reading records raises.
    """
    if not isinstance(k, int) or k < 2:
        raise ArgumentError(f"k={k!r}: there must be 2 folds or more", field="k")
    parts: list[list[int]] = [[] for _ in range(k)]
    dealt = 0  # a class continues where the one before ended, so that sizes differ by one at most
    for _, ids in sorted(_classes(data, stratified).items()):
        for number in sorted(ids, key=lambda number: _place(seed, number)):
            parts[dealt % k].append(number)
            dealt += 1
    if dealt < k:
        raise ArgumentError(f"k={k}: the data set has {dealt} ids, fewer than folds", field="k")
    folder = os.fspath(folder)
    os.makedirs(folder, exist_ok=True)
    out = []
    for i, part in enumerate(parts):
        train = sorted(number for other in parts if other is not part for number in other)
        out.append(Fold(_write(os.path.join(folder, f"fold-{i}.train.ids"), train),
                        _write(os.path.join(folder, f"fold-{i}.valid.ids"), sorted(part))))
    return out
