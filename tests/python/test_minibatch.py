"""imrec.MinibatchSource, and the files that it reads, written and read."""
import json
import multiprocessing
import os
import pickle

import numpy as np
import pytest

import imrec
from imrec import (CSR, FULL_DATA_SWEEP, CBFDeserializer, CTFDeserializer, MinibatchSource, StreamDef, StreamDefs,
                   read_sequences, sequence_to_cntk_text_format, streams_of, write_cbf, write_ctf)
from tests_support import shared

TEXT = "0 |x 1 2 |y 3:1\n0 |x 3 4\n1 |x 5 6 |y 0:1 9:0.5\n2 |y 1:1\n2 |x 7 8 |y 2:-1\n"
STREAMS = StreamDefs(features=StreamDef(field="x", shape=2, is_sparse=False), labels=StreamDef(field="y", shape=10, is_sparse=True))


@pytest.fixture
def ctf(tmp_path):
    path = tmp_path / "a.ctf"
    path.write_text(TEXT)
    return path


@pytest.fixture(scope="module")
def numbered(tmp_path_factory):
    """100 sequences of one sample: dense (i, -i), sparse i % 7."""
    path = tmp_path_factory.mktemp("n") / "n.ctf"
    write_ctf(path, {"x": np.array([(i, -i) for i in range(100)], np.float32), "y": one_hot([i % 7 for i in range(100)], 7)})
    return path


def one_hot(classes, dim):
    n = len(classes)
    return CSR(np.ones(n, np.float32), np.array(classes, np.int32), np.arange(n + 1), (n, dim))


def open_numbered(path, **more):
    streams = {"x": StreamDef(shape=2), "y": StreamDef(shape=7, is_sparse=True)}
    return MinibatchSource(CTFDeserializer(path, streams), **{"threads": 2, **more})


def test_a_minibatch_has_arrays_of_all_streams(ctf):
    with MinibatchSource(CTFDeserializer(ctf, STREAMS), randomize=False, max_sweeps=1) as source:
        mb = source.next_minibatch(100)
        x, y = mb[source.streams.features], mb["labels"]
        assert (mb.num_sequences, mb.num_samples, mb.sweep_end, list(mb.ids)) == (3, 5, True, [0, 1, 2])
        assert x.asarray().tolist() == [[[1, 2], [3, 4]], [[5, 6], [0, 0]], [[7, 8], [0, 0]]]
        assert x.mask.tolist() == [[2, 1], [2, 0], [2, 0]] and x.num_samples == 4 and x.end_of_sweep
        assert [s.tolist() for s in x.as_sequences()] == [[[1, 2], [3, 4]], [[5, 6]], [[7, 8]]]
        assert y.csr.data.tolist() == [1, 1, 0.5, 1, -1] and y.csr.indices.tolist() == [3, 0, 9, 1, 2]
        assert y.csr.indptr.tolist() == [0, 1, 3, 4, 5] and y.csr.shape == (4, 10) and y.lengths.tolist() == [1, 1, 2]
        dense = y.asarray()
        assert dense.shape == (3, 2, 10) and dense[1, 0, 9] == 0.5 and dense[2, 1, 2] == -1 and dense[0, 1].sum() == 0
        assert source.next_minibatch(100) == {} and not source.is_infinite


def test_arrays_outlive_the_source(numbered):
    with open_numbered(numbered) as source:
        kept = [source.next_minibatch(10) for _ in range(30)]
    for mb in kept:
        x, y = mb["x"].asarray()[:, 0], mb["y"].csr
        assert np.array_equal(x[:, 0], -x[:, 1]) and np.array_equal(y.indices, x[:, 0] % 7)
    ids = [i for mb in kept[:10] for i in mb["x"].asarray()[:, 0, 0]]
    assert sorted(ids) == list(range(100)) and ids != sorted(ids)


def test_shapes_precision_and_maps(ctf):
    streams = StreamDefs(a=StreamDef("x", (1, 2)), b=StreamDef("y", 10, True, defines_mb_size=True))
    with MinibatchSource(CTFDeserializer(ctf, streams), randomize=False, precision="double") as source:
        assert source.streams.a.shape == (1, 2) and source["b"].is_sparse and len(source.stream_infos()) == 2
        mb = source.next_minibatch(4, {"input": source.streams.a, 7: "b"})
        assert list(mb) == ["input", 7] and mb["input"].values.shape == (3, 2, 1, 2) and mb["input"].values.dtype == np.float64
        assert mb.num_samples == 4
        with pytest.raises(imrec.Error, match="nothere"):
            source.next_minibatch(4, {"input": "nothere"})


def test_checkpoints_and_pickles_go_on(numbered):
    with open_numbered(numbered, randomization_seed=5) as source:
        for _ in range(7):
            source.next_minibatch(16)
        state = source.get_checkpoint_state()
        again = pickle.loads(pickle.dumps(source))
        then = [source.next_minibatch(16)["x"].asarray() for _ in range(5)]
        assert all(np.array_equal(again.next_minibatch(16)["x"].asarray(), t) for t in then)
        source.restore_from_checkpoint(state)
        assert np.array_equal(source.next_minibatch(16)["x"].asarray(), then[0])
        source.current_position = state
        assert source.current_position == state


def test_cntks_nominal_time_is_understood(numbered, ctf):
    with open_numbered(numbered, randomization_seed=3) as source:
        order = [int(i) for i in source.next_minibatch(100).ids]
        state = source.get_checkpoint_state()
        assert state["minibatchSourcePosition"] == 100
        for dictionary, first in [({"minibatchSourcePosition": 0}, 0), ({"minibatchSourcePosition": np.int64(17)}, 17),
                                  ({"TrainingMinibatchSource": {"minibatchSourcePosition": 42}, "learners": object()}, 42)]:
            source.restore_from_checkpoint(dictionary)
            assert [int(i) for i in source.next_minibatch(3).ids] == order[first:first + 3]
        position = source.current_position  # as CNTK's users rewind a source
        position["minibatchSourcePosition"] = 5
        source.current_position = position
        assert int(source.next_minibatch(1).ids[0]) == order[5]
        source.restore_from_checkpoint(json.loads(json.dumps(state)))
        assert source.next_minibatch(1).sweep == 1
        for wrong in ({}, {"minibatchSourcePosition": -1}, {"minibatchSourcePosition": "3"}, {"position": 3},
                      {"a": {"minibatchSourcePosition": 1}, "b": {"minibatchSourcePosition": 1}}):
            with pytest.raises(imrec.ArgumentError, match="minibatchSourcePosition"):
                source.restore_from_checkpoint(wrong)
    with MinibatchSource(CTFDeserializer(ctf, STREAMS), randomize=False) as source:  # lengths 2, 1, 2
        for time, first in [(0, 0), (1, 1), (2, 1), (3, 2), (4, 0), (5, 0), (6, 1)]:
            source.restore_from_checkpoint({"minibatchSourcePosition": time})
            assert int(source.next_minibatch(1).ids[0]) == first


def test_each_stream_has_its_own_type(ctf, tmp_path):
    streams = StreamDefs(a=StreamDef("x", 2, precision="double"), b=StreamDef("y", 10, True))
    with MinibatchSource(CTFDeserializer(ctf, streams), randomize=False) as source:
        mb = source.next_minibatch(9)
        assert (mb["a"].values.dtype, mb["b"].csr.data.dtype) == (np.float64, np.float32)
        assert (source.streams.a.dtype, source.streams.b.dtype) == (np.float64, np.float32)
    (sequence, *_) = read_sequences(ctf, StreamDefs(x=StreamDef(shape=2, is_sparse=False), y=StreamDef("y", 10, True, precision="double")))
    assert (sequence["x"].dtype, sequence["y"].data.dtype) == (np.float32, np.float64)
    third = np.array([[1 / 3]])
    write_cbf(tmp_path / "m.cbf", {"f": third, "d": third}, precision={"d": "double"})
    (mixed,) = read_sequences(tmp_path / "m.cbf", precision="double")
    assert mixed["d"][0, 0] == 1 / 3 and mixed["f"][0, 0] == np.float32(1 / 3)
    for wrong in ({"e": "double"}, {"d": "half"}):
        with pytest.raises(imrec.ArgumentError):
            write_cbf(tmp_path / "w.cbf", {"f": third, "d": third}, precision=wrong)
    with pytest.raises(imrec.ArgumentError, match="float, double"):
        StreamDef(precision="half")


@pytest.mark.parametrize("sizes", ["4*2+8", "4*2:8", [4] * 2 + [8], (4, 4, 8), [(2, 4), (1, 8)]])
def test_a_schedule_may_be_a_list_or_pairs(numbered, sizes):
    with open_numbered(numbered, minibatch_size_in_samples=sizes, epoch_size=8) as source:
        assert [next(source).num_samples for _ in range(6)] == [4, 4, 4, 4, 8, 8]


def test_ends_sizes_and_iteration(numbered):
    sizes = {"max_samples=FULL_DATA_SWEEP": {"max_samples": FULL_DATA_SWEEP}, "max_sweeps": {"max_sweeps": 1},
             "epoch_size": {"epoch_size": FULL_DATA_SWEEP}, "max_samples": {"max_samples": 100}}
    for name, limit in sizes.items():
        with open_numbered(numbered, minibatch_size_in_samples=32, **limit) as source:
            assert [mb.num_samples for mb in source] == [32, 32, 32, 4], name
            assert not source.is_infinite and source.stats()["sequences"] == 100
    with open_numbered(numbered, minibatch_size_in_samples="10*2+40", epoch_size=20) as source:
        assert [next(source).num_samples for _ in range(6)] == [10, 10, 10, 10, 20, 20] and source.is_infinite


def test_ranks_share_minibatches(numbered):
    whole = open_numbered(numbered).next_minibatch(20)["x"].asarray()[:, 0, 0]
    a, b = open_numbered(numbered), open_numbered(numbered, num_ranks=2, rank=1)
    shares = [a.next_minibatch(20, num_data_partitions=2, partition_index=0), b.next_minibatch(20)]
    assert sorted(np.concatenate([s["x"].asarray()[:, 0, 0] for s in shares])) == sorted(whole)


def test_cntks_own_configuration(ctf, tmp_path):
    config = tmp_path / "reader.cntk"
    config.write_text(f"""reader = [ readerType = "CNTKTextFormatReader" ; file = "{ctf}" ; randomize = false
        input = [ features = [ alias = "x" ; dim = 2 ; format = "dense" ] ; labels = [ alias = "y" ; dim = 10 ; format = "sparse" ] ] ]""")
    source = pickle.loads(pickle.dumps(MinibatchSource.from_config(config, max_sweeps=1)))
    assert source.streams.features.shape == (2,) and not source.is_infinite
    assert source.next_minibatch(9, num_data_partitions=1, partition_index=0)["labels"].num_samples == 4
    assert not source.next_minibatch(9) and MinibatchSource.from_config(config).is_infinite
    with pytest.raises(ValueError, match="max_sweeps|maxSweeps"):
        MinibatchSource.from_config(config, max_sweps=1)


def test_a_whole_configuration_of_cntk(ctf, tmp_path):
    config = tmp_path / "whole.cntk"
    config.write_text("""command = Train:Test ; precision = "double"
        Train = { action = "train"
            BrainScriptNetworkBuilder = { f (x) = Plus (x, 1) ; s = 'a ] in quotes' }
            SGD = { minibatchSize = 64 }
            reader = { readerType = "CNTKTextFormatReader" ; file = "$Data$/none.ctf" ; randomize = "none"
                       input = { features = { alias = "x" ; dim = 2 ; format = "dense" } } } }
        Test = [ action = "test" ; reader = [
            readerType = "CNTKTextFormatReader" ; file = "$Data$/a.ctf" ; randomize = false
            input = [ features = [ alias = "x" ; dim = 2 ; format = "dense" ]
                      labels = [ alias = "y" ; dim = 9 ; format = "sparse" ] ] ] ]""")
    with pytest.raises(imrec.ArgumentError, match=r"2 readers are described: Train \(line 5\), Test \(line 7\)"):
        MinibatchSource.from_config(config)
    with pytest.raises(imrec.ArgumentError, match=r"\$Data\$ is not defined"):
        MinibatchSource.from_config(config, "test")
    source = MinibatchSource.from_config(config, "test", {"Data": ctf.parent}, max_sweeps=1, **{"input.labels.dim": 10})
    source = pickle.loads(pickle.dumps(source))
    mb = source.next_minibatch(100)
    assert mb.num_sequences == 3 and mb["features"].values.dtype == np.float64 and mb["labels"].csr.shape == (4, 10)
    other = MinibatchSource.from_config(config, action="Train", variables={"DATA": "elsewhere"}, file=ctf,
                                        ignoreUnknownInputs=True)
    assert list(other.streams) == ["features"]  # file= replaces the file


def _child(source, out):
    try:
        source.next_minibatch(1)
    except imrec.ForkedError as error:
        out.put(str(error))


def test_a_forked_child_is_refused(numbered):
    context = multiprocessing.get_context("fork")
    with open_numbered(numbered) as source:
        out = context.Queue()
        child = context.Process(target=_child, args=(source, out))
        child.start()
        assert "MinibatchSource" in out.get(timeout=60)
        child.join()
        assert source.next_minibatch(5).num_samples == 5
    with pytest.raises(imrec.CancelledError):
        source.next_minibatch(5)


def test_bad_samples_cost_errors(tmp_path):
    path = tmp_path / "b.ctf"
    path.write_text("0 |x 1 2\n1 |x 1\n2 |x 5 6\n")
    streams = {"x": StreamDef(shape=2)}
    with MinibatchSource(CTFDeserializer(path, streams), randomize=False) as source, pytest.raises(imrec.CorruptError, match="line 2"):
        while True:
            source.next_minibatch(1)
    with MinibatchSource(CTFDeserializer(path, streams), max_errors=1, max_sweeps=1, trace_level=0) as source:
        assert source.next_minibatch(9).num_sequences == 2 and len(source.dropped()) == 1


@pytest.mark.parametrize("more, what", [({"randomisation_seed": 1}, "randomization_seed"), ({"precision": "half"}, "float, double"),
                                        ({"rank": -1}, "rank=-1"),
                                        ({"randomization_window_in_chunks": 2, "randomization_window_in_samples": 3}, "one of them")])
def test_wrong_parameters_are_named(numbered, more, what):
    with pytest.raises(ValueError, match=what):
        open_numbered(numbered, **more)


# ---- files -------------------------------------------------------------------------------------------------------------

def sparse_rows(rng, n, dim):
    counts = rng.integers(0, 4, n)
    indices = np.concatenate([rng.permutation(dim)[:c] for c in counts] or [[]]).astype(np.int32)
    return CSR(rng.standard_normal(len(indices)).astype(np.float32), indices, np.concatenate(([0], np.cumsum(counts))), (n, dim))


def made(n=20):
    rng = np.random.default_rng(4)
    lengths = rng.integers(1, 5, n)
    return {"x": [(rng.standard_normal((k, 3)) * 10.0 ** rng.integers(-30, 30)).astype(np.float32) for k in lengths],
            "y": [sparse_rows(rng, k, 50) if k > 1 else None for k in lengths], "z": rng.integers(-9, 9, (n, 2))}


def check_sequences(found, given, n=20):
    assert len(found) == n
    for i, s in enumerate(found):
        assert s.id == i and np.array_equal(s["x"], given["x"][i]) and np.array_equal(s["z"], given["z"][i][None])
        if given["y"][i] is None:
            assert s["y"].shape[0] == 0
        else:
            assert np.array_equal(s["y"].toarray(), given["y"][i].toarray())


def test_what_is_written_as_text_and_binary_reads_back(tmp_path):
    given, ctf, cbf = made(), tmp_path / "a.ctf", tmp_path / "a.cbf"
    streams = write_ctf(ctf, given)
    assert (streams.x.shape, streams.y.shape, streams.y.is_sparse) == ((3,), (50,), True)
    check_sequences(list(read_sequences(ctf, streams)), given)
    counts = write_cbf(cbf, given, chunk_size=500)
    assert counts["sequences"] == 20 and counts["chunks"] > 1 and counts["bytes"] == cbf.stat().st_size
    check_sequences(list(read_sequences(cbf)), given)
    assert {n: s.dim for n, s in streams_of(cbf).items()} == {"x": 3, "y": 50, "z": 2}
    assert streams_of(ctf).x.dim == 3 and streams_of(ctf).y.is_sparse
    with MinibatchSource(CBFDeserializer(cbf, {"words": StreamDef("y")}), randomize=False) as source:
        mb = source.next_minibatch(1000)
        assert mb["words"].is_sparse and np.array_equal(np.concatenate(mb["x"].as_sequences())[:7], np.concatenate(given["x"])[:7])
    with MinibatchSource(cbf) as source:
        assert set(source.streams) == {"x", "y", "z"}
    assert sorted(os.listdir(tmp_path)) == ["a.cbf", "a.ctf"]


def test_doubles_keep_all_digits(tmp_path):
    x = np.random.default_rng(1).standard_normal((50, 3))
    write_cbf(tmp_path / "d.cbf", {"x": x}, precision="double")
    write_ctf(tmp_path / "d.ctf", {"x": x})
    for name in ("d.cbf", "d.ctf"):
        assert np.array_equal([s["x"][0] for s in read_sequences(tmp_path / name, precision="double")], x)


def test_sequences_from_an_iterable_with_ids(tmp_path):
    streams = write_ctf(tmp_path / "i.ctf", ({"x": np.full((k, 1), k)} for k in (1, 2, 3)), ids=[7, 5, 6])
    assert (tmp_path / "i.ctf").read_text() == "7\t|x 1\n5\t|x 2\n5\t|x 2\n6\t|x 3\n6\t|x 3\n6\t|x 3\n"
    assert [s.id for s in read_sequences(tmp_path / "i.ctf", streams)] == [7, 5, 6]
    assert sequence_to_cntk_text_format(3, {"a": [[1, 2], [3, 4]], "b": one_hot([4], 9)}) == "3\t|a 1 2 |b 4:1\n3\t|a 3 4"


@pytest.mark.parametrize("write, streams, what", [
    (write_ctf, {"a b": np.ones((1, 1))}, "name"), (write_ctf, {"x": [[np.nan]]}, "finite"), (write_ctf, {"x": [None]}, "no sample"),
    (write_cbf, {"x": [None]}, "streams"), (write_cbf, [{"x": [1]}, {"y": [1]}], "'y' was not"),
    (write_cbf, {"x": CSR(np.ones(1), np.array([2**32 + 1]), np.array([0, 1]), (1, 5))}, r"\[0, 5\)"),
    *((write, *case) for write in (write_ctf, write_cbf) for case in (
        ({}, "no sequence"), ({"x": np.ones((2, 1)), "y": np.ones((3, 1))}, "same number"), ({"x": ["a"]}, "not numbers"),
        ({"x": [np.ones((1, 2)), np.ones((1, 3))]}, "dense of 2")))])
def test_what_fits_no_file_is_refused_and_nothing_is_left(tmp_path, write, streams, what):
    with pytest.raises(ValueError, match=what):
        write(tmp_path / "a", streams)
    assert os.listdir(tmp_path) == []


def test_binary_files_hold_what_no_text_does(tmp_path):
    given = {"a stream | of words": [None, np.array([[np.inf, np.nan]])], "y": [CSR(*map(np.array, ([1.0], [4], [0, 0, 1])), (2, 9))] * 2}
    counts = write_cbf(tmp_path / "a.cbf", given, defines_mb_size="a stream | of words", precision="double")
    assert counts["sequences"] == 2 and counts["samples"] == 3
    first, second = read_sequences(tmp_path / "a.cbf", precision="double")
    assert first["a stream | of words"].shape == (0, 2) and np.isnan(second["a stream | of words"][0, 1])
    assert second["y"].indptr.tolist() == [0, 0, 1]


def test_scipys_matrices(tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    matrix = sparse.random(30, 100, 0.1, "csc", np.float32, random_state=1)
    write_cbf(tmp_path / "s.cbf", {"x": matrix})
    with MinibatchSource(tmp_path / "s.cbf", randomize=False, max_sweeps=1) as source:
        back = source.next_minibatch(30)["x"].csr.to_scipy()
    assert (back != matrix.tocsr()).nnz == 0


def test_texts_are_read_or_refused_as_cntks_vectors_say():
    folder, seen = shared("vectors/cntk"), {"accept": 0, "refuse": 0}
    for case in json.loads((folder / "MANIFEST.json").read_text())["ctf"]:
        params = case["params"]
        if case["ours"] not in seen or params["options"] or params["deser"] or params["workers"] != 1:
            continue
        seen[case["ours"]] += 1
        streams = {s["name"]: StreamDef(s.get("alias"), s["dim"], s.get("sparse", False), s.get("mb", False))
                   for s in params["streams"]}
        try:
            with MinibatchSource(CTFDeserializer(folder / case["file"], streams), randomize=False, max_sweeps=1, threads=2) as source:
                samples = dict.fromkeys(streams, 0)
                for mb in source:
                    for name in streams:
                        samples[name] += mb[name].num_samples
            assert case["ours"] == "accept" and samples == case["samples"], case["name"]
        except imrec.Error:
            assert case["ours"] == "refuse", case["name"]
    assert min(seen.values()) > 20
