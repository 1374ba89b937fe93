"""imrec.folds(): parts of a set for cross-validation."""
from collections import Counter

import numpy as np
import pytest

import imrec
from conftest import jpeg, make_image, write_shard


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    """67 records of three classes, of very different sizes, and the same in another order."""
    folder = tmp_path_factory.mktemp("folds")
    records = [(1000 + 3 * i, 0 if i < 50 else 1 if i < 64 else 2, jpeg(make_image(i))) for i in range(67)]
    order = np.random.default_rng(1).permutation(67)
    return write_shard(folder / "a.rec", records), write_shard(folder / "b.rec", [records[i] for i in order]), {r[0]: r[1] for r in records}


def ids_of(path):
    with open(path) as file:
        return [int(line) for line in file]


@pytest.mark.parametrize("k", [2, 5, 7])
@pytest.mark.parametrize("stratified", [True, False])
def test_parts_are_disjoint_equal_and_all(sets, tmp_path, k, stratified):
    path, _, labels = sets
    made = imrec.folds(path, k, tmp_path, seed=4, stratified=stratified)
    parts = [ids_of(fold.valid) for fold in made]
    assert len(made) == k and sorted(sum(parts, [])) == sorted(labels)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    for fold, part in zip(made, parts):
        assert sorted(ids_of(fold.train) + part) == sorted(labels)
        if stratified:
            for label, count in Counter(labels.values()).items():
                assert sum(labels[i] == label for i in part) in (count // k, -(-count // k))


def test_folds_depend_on_ids_and_seed_alone(sets, tmp_path):
    one, other = imrec.folds(sets[0], 3, tmp_path / "a"), imrec.folds(imrec.Records(sets[1]), 3, tmp_path / "b")
    assert [ids_of(fold.valid) for fold in one] == [ids_of(fold.valid) for fold in other]
    again = imrec.folds(sets[0], 3, tmp_path / "c", seed=1)
    assert [ids_of(fold.valid) for fold in one] != [ids_of(fold.valid) for fold in again]


def test_iterators_read_them(sets, tmp_path):
    fold = imrec.folds(sets[0], 4, tmp_path)[2]
    for path in fold:
        with imrec.ImageRecordIter(sets[0], data_shape=16, global_batch_size=8, order="global", subset=path, shuffle=True,
                                   last_batch="partial") as batches:
            seen = [number for batch in batches for number in batch.ids[batch.valid].tolist()]
        assert sorted(seen) == ids_of(path)


@pytest.mark.parametrize("k", [0, 1, -2, 1.5, "3"])
def test_fewer_than_two_are_refused(sets, tmp_path, k):
    with pytest.raises(imrec.ArgumentError, match="2 folds or more"):
        imrec.folds(sets[0], k, tmp_path)


def test_what_cannot_be_divided_is_refused(sets, tmp_path):
    with pytest.raises(imrec.ArgumentError, match="the data set has 67 ids"):
        imrec.folds(sets[0], 68, tmp_path)
    many = write_shard(tmp_path / "m.rec", [(i, [1, 2], jpeg(make_image(i))) for i in range(6)])
    with pytest.raises(imrec.ArgumentError, match="has 2 labels, no class: write stratified=False"):
        imrec.folds(many, 2, tmp_path / "m")
    assert not (tmp_path / "m").exists()
    assert len(imrec.folds(many, 2, tmp_path / "m", stratified=False)) == 2


def test_copies_of_an_id_stay_together(tmp_path):
    path = write_shard(tmp_path / "c.rec", [(i // 2, i // 2 % 2, jpeg(make_image(i))) for i in range(20)])
    parts = [ids_of(fold.valid) for fold in imrec.folds(path, 5, tmp_path)]
    assert sorted(sum(parts, [])) == list(range(10))
