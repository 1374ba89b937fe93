"""What trainers read of a DataLoader, they read of a Loader, and what builds a DataLoader again fails with a sentence."""
import pytest

import imrec
from tests_support import SHAPE

torch = pytest.importorskip("torch", reason="torch is not installed")
import imrec.torch  # noqa: E402

pytestmark = pytest.mark.usefixtures("alone")
#: what a DataLoader has, and a Loader with its threads has no other value of
SAME = ("num_workers", "prefetch_factor", "persistent_workers", "timeout", "worker_init_fn", "multiprocessing_context", "generator",
        "pin_memory", "pin_memory_device", "in_order", "drop_last", "batch_size")


def loader(path, **more):
    return imrec.torch.Loader(path, **{"data_shape": SHAPE, "batch_size": 8, "preprocess_threads": 2, "shuffle": True, **more})


def test_a_loader_has_the_attributes_of_a_dataloader(shard):
    theirs = torch.utils.data.DataLoader(imrec.torch.Dataset(shard), batch_size=8, shuffle=True)
    with loader(shard) as ours:
        for name in SAME:
            assert getattr(ours, name) == getattr(theirs, name), name
        assert ours.collate_fn is None and not isinstance(ours, torch.utils.data.DataLoader)
        assert len(ours) == len(theirs) and len(ours.dataset) == len(theirs.dataset)
        assert len(ours.sampler) == len(theirs.sampler) and len(ours.batch_sampler) == len(theirs.batch_sampler)
        assert ours.batch_sampler.batch_size == 8 and ours.batch_sampler.drop_last is False
        missing = [name for name in vars(theirs) if not name.startswith("_") and not hasattr(ours, name)]
        assert not missing
    with loader(shard, transform=lambda sample: sample) as ours:
        assert ours.collate_fn is torch.utils.data.default_collate
    with loader(shard, collate=len) as ours:
        assert ours.collate_fn is len


@pytest.mark.parametrize("shuffle, kind", [(True, torch.utils.data.RandomSampler), (False, torch.utils.data.SequentialSampler)])
def test_samplers_tell_whether_data_are_shuffled_and_how_many_they_are(shard, shuffle, kind):
    for rank, samples in ((0, 19), (1, 19)):  # 37 of both; the smaller rank repeats one, as with a DistributedSampler
        with loader(shard, shuffle=shuffle, rank=rank, world_size=2, last_batch="drop") as ours:
            for sampler in (ours.sampler, ours.batch_sampler.sampler):
                assert isinstance(sampler, kind)
                assert (sampler.num_replicas, sampler.rank) == (2, rank) and sampler.data_source is ours.dataset
            assert len(ours.sampler) == ours.sampler.num_samples == samples
            assert ours.batch_sampler.drop_last is True and len(ours.batch_sampler) == len(ours)


def test_the_length_of_a_share_of_a_global_order(shard):
    with loader(shard, batch_size=None, order="global", global_batch_size=8, rank=1, world_size=2) as ours:
        assert len(ours.sampler) == 19 and ours.batch_sampler.batch_size == 4


def test_set_epoch_changes_nothing(shard):
    with loader(shard) as one, loader(shard) as other:
        for epoch in range(3):
            other.set_epoch(7 - epoch)
            other.sampler.set_epoch(7 - epoch)
            assert [labels.tolist() for _, labels in one] == [labels.tolist() for _, labels in other]


def test_a_dataloader_made_of_its_parts_is_an_error_and_not_other_data(shard):
    with loader(shard) as ours:
        again = torch.utils.data.DataLoader(ours.dataset, batch_sampler=ours.batch_sampler, collate_fn=ours.collate_fn)
        with pytest.raises(TypeError, match="ignore_data_skip"):
            next(iter(again))
        with pytest.raises(TypeError, match="chosen by the Loader itself"):
            next(iter(ours.sampler))
