"""Metrics: the text is valid for Prometheus, and its numbers are those of stats()."""
import re
import shutil
import subprocess
import urllib.request

import pytest

import imrec
from tests_support import open_iter, pack_photos

LABELS = r'\{((?:[a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)*)\}'


def parse(text):
    """A strict reader of the text format: {name: (type, {labels: value})}. Each name has HELP, TYPE and its samples, once."""
    assert text.endswith("\n") and "\r" not in text
    out, name = {}, None
    lines = text[:-1].split("\n")
    for i, line in enumerate(lines):
        if line.startswith("# HELP "):
            name = re.fullmatch(r"# HELP ([a-z][a-z0-9_]*) [ -\[\]-~]+", line)[1]
            assert name not in out and lines[i + 1].startswith(f"# TYPE {name} ")
        elif line.startswith("# TYPE "):
            kind = re.fullmatch(rf"# TYPE {name} (counter|gauge)", line)[1]
            assert (kind == "counter") == name.endswith("_total")
            out[name] = kind, {}
        else:
            labels, value = re.fullmatch(rf"{name}{LABELS} ([0-9]+(?:\.[0-9]+)?)", line).groups()
            assert labels not in out[name][1] and not labels.endswith(",")
            assert ("." in value) == ("_seconds" in name)
            out[name][1][labels] = float(value)
    assert all(len(samples) == 1 for _, samples in out.values())
    return out


def scrape(where):
    with urllib.request.urlopen(f"http://{where}/metrics", timeout=60) as answer:
        assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        return answer.read().decode()


def test_the_text_is_valid_and_says_what_stats_say(shard):
    with open_iter(shard, metrics="127.0.0.1:0", max_samples=20, last_batch="partial") as it:
        assert it.metrics.startswith("127.0.0.1:") and not it.metrics.endswith(":0")
        assert sum(b.count for b in it) == 20
        stats, text = it.stats(), scrape(it.metrics)
    numbers = parse(text)
    assert len(numbers) >= 25 and all(n.startswith("imrec_") for n in numbers)
    labels, images = numbers["imrec_images_total"][1].popitem()
    assert images == stats["images"] == 20
    assert labels == f'rank="0",ranks="1",set="train.rec"'
    for name, field in (("decode", "decode_ns"), ("augment", "augment_ns"), ("consumer_wait", "next_wait_ns")):
        assert numbers[f"imrec_{name}_seconds_total"][1][labels] == pytest.approx(stats[field] / 1e9, abs=1e-8)


def test_other_readers_of_the_format_accept_it(shard, tmp_path):
    path = tmp_path / "imrec.prom"
    with open_iter(shard, metrics=str(path)) as it:
        next(it)
    text = path.read_text()
    numbers = parse(text)
    tried = 0
    if shutil.which("promtool"):
        subprocess.run(["promtool", "check", "metrics"], input=text, text=True, check=True)
        tried += 1
    try:
        from prometheus_client.parser import text_string_to_metric_families
    except ImportError:
        pass
    else:
        families = {s.name: (f.type, s.value) for f in text_string_to_metric_families(text) for s in f.samples}
        assert families == {n: (kind, *samples.values()) for n, (kind, samples) in numbers.items()}
        tried += 1
    if not tried:
        pytest.skip("neither promtool nor prometheus_client is installed")


def test_a_port_in_use_is_an_error_and_an_iterator_without_metrics_has_none(shard):
    with open_iter(shard, metrics="127.0.0.1:0") as it:
        with pytest.raises(imrec.Error, match=f"metrics={it.metrics} is in use"):
            open_iter(shard, metrics=it.metrics)
    with open_iter(shard) as it:
        assert it.metrics is None


def test_a_state_of_the_other_order_keeps_the_port(tmp_path):
    path = pack_photos(tmp_path, 20, ["a", "b"], "a.rec")
    with open_iter(path, path_imgidx="none", metrics="127.0.0.1:0") as it:
        next(it)
        state, where = it.state_dict(), it.metrics
    with open_iter(path, metrics=where) as it:
        assert it.stats()["indexed"]
        it.load_state_dict(state)
        assert it.metrics == where and not it.stats()["indexed"]
        assert parse(scrape(where))["imrec_sample"][1].popitem()[1] == 8
