"""Tar archives of WebDataset: no byte of a header, no cut and no odd member changes what is packed without a word."""
import errno
import gzip
import io
import os
import resource
import shutil
import struct
import subprocess
import tarfile

import pytest

import imrec
import imrec.distributed
from conftest import jpeg, make_image
from imrec._webdataset import samples
from tests_support import warnings_of

SAMPLES = [{"jpg": b"J" * 700, "cls": b"3", "json": b"{}"}, {"jpg": b"K" * 512, "cls": b"4", "json": b"[]"},
           {"jpg": b"L" * 513, "cls": b"5", "json": b"{}"}]


def member(tar, name, data, **fields):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for field, value in fields.items():
        setattr(info, field, value)
    tar.addfile(info, io.BytesIO(data))


def archive(path, samples=SAMPLES, folder="x/", format=tarfile.GNU_FORMAT):
    with tarfile.open(path, "w", format=format) as tar:
        for i, sample in enumerate(samples):
            for suffix, data in sample.items():
                member(tar, f"{folder}{i:04d}.{suffix}", data)
    return path


def of_members(path, *members, **how):
    with tarfile.open(path, "w", **how) as tar:
        for name, data in members:
            member(tar, name, data)
    return path


def read(path, allow_damaged=False):
    return [(s.name.partition("/")[2], s.image, s.label) for s in samples(path, "image", "label", allow_damaged)]


@pytest.fixture
def tar(tmp_path):
    return archive(tmp_path / "a.tar")


WHOLE = [(f"x/{i:04d}.jpg", s["jpg"], int(s["cls"])) for i, s in enumerate(SAMPLES)]


def test_samples_are_members_that_share_a_name(tmp_path, caplog):
    samples = [{"jpg": jpeg(make_image(i)), "cls": str(i % 2).encode() + b"\n", "json": b"{}"} for i in range(4)]
    card = imrec.pack([archive(tmp_path / "a.tar", samples), archive(tmp_path / "b.tar", samples)], tmp_path / "t.rec")
    assert [(r.id, r.label, r.image) for r in imrec.open(tmp_path / "t.rec")] == [
        (i, i % 4 % 2, jpeg(make_image(i % 4))) for i in range(8)]
    assert card["encoded"] == {} and warnings_of(caplog) == ["files of the archives that are not packed: .json"]
    assert (tmp_path / "t.lst").read_text().splitlines()[5].endswith("\tb.tar/x/0001.jpg")
    assert list(imrec.webdataset(tmp_path / "a.tar")) == [(s["jpg"], i % 2) for i, s in enumerate(samples)]


@pytest.mark.parametrize("format", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT, tarfile.USTAR_FORMAT])
@pytest.mark.parametrize("folder", ["", "./", "a/b.c/", "long/" * 30, "w\u00fcrfel/"])
def test_names_of_any_length_in_every_format(tmp_path, format, folder):
    if format == tarfile.USTAR_FORMAT and not folder.isascii():
        pytest.skip("ustar has no other letters")
    archive(tmp_path / "a.tar", folder=folder, format=format)
    assert read(tmp_path / "a.tar") == [(folder + n[2:], image, label) for n, image, label in WHOLE]


def test_gzip_around_an_archive_is_unpacked_and_its_damage_told(tmp_path, tar):
    packed = tmp_path / "a.tar.gz"
    packed.write_bytes(gzip.compress(tar.read_bytes()))
    assert read(packed) == WHOLE
    whole = packed.read_bytes()
    for cut in (len(whole) - 1, len(whole) - 8, len(whole) // 2, 12):
        packed.write_bytes(whole[:cut])
        with pytest.raises(imrec.CorruptError, match=r"a\.tar\.gz: byte \d+: the gzip around the archive is cut off: byte \d+ of \d+"):
            read(packed)
    packed.write_bytes(whole[:-6] + bytes([whole[-6] ^ 1]) + whole[-5:])
    with pytest.raises(imrec.CorruptError, match="the gzip around the archive is damaged before byte"):
        read(packed)
    packed.write_bytes(b"".join(gzip.compress(tar.read_bytes()[at:at + 1000]) for at in range(0, tar.stat().st_size, 1000)))
    assert read(packed) == WHOLE and list(imrec.webdataset(packed)) == [(image, label) for _, image, label in WHOLE]


def test_a_packed_archive_makes_the_set_of_a_plain_one(tmp_path):
    samples = [{"jpg": jpeg(make_image(i)), "cls": str(i).encode()} for i in range(9)]
    tar = archive(tmp_path / "a.tar", samples)
    packed = tmp_path / "a.tgz"
    packed.write_bytes(gzip.compress(tar.read_bytes()))
    imrec.pack(tar, tmp_path / "a.rec", resize=20)
    imrec.pack(packed, tmp_path / "b.rec", resize=20)
    assert (tmp_path / "a.rec").read_bytes() == (tmp_path / "b.rec").read_bytes()
    imrec.pack(packed, tmp_path / "c.rec", label=None, classes=None)
    imrec.pack(tar, tmp_path / "d.rec", classes=[f"class {i}" for i in range(9)])
    assert (tmp_path / "d.classes.txt").read_text().split("\n")[8] == "class 8"
    imrec.pack(packed, tmp_path / "d.rec", append=True, classes=[f"class {i}" for i in range(9)])
    assert [r.label for r in imrec.open(tmp_path / "d.rec")] == [*range(9), *range(9)]


# ---- damage ----------------------------------------------------------------------------------------------------------

def headers_of(data):
    """Bytes of every header, and of the two blocks of zeros at the end."""
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        members = tar.getmembers()
    offsets = [m.offset for m in members]
    last = members[-1]
    end = last.offset_data + (last.size + 511) // 512 * 512
    return [b for at in (*offsets, end, end + 512) for b in range(at, at + 512)]


def test_no_flipped_byte_of_a_header_loses_a_sample_in_silence(tmp_path):
    tar = archive(tmp_path / "a.tar", [{"jpg": b"J" * 100, "cls": b"3"}, {"jpg": b"K" * 512, "cls": b"4"}])
    whole = read(tar)
    data, path, refused = tar.read_bytes()[:8192], tmp_path / "b.tar", 0
    for byte in headers_of(data):
        for mask in (1 << byte % 8, 0xFF):
            path.write_bytes(data[:byte] + bytes([data[byte] ^ mask]) + data[byte + 1:])
            try:
                assert read(path) == whole, (byte, mask)
            except (imrec.CorruptError, imrec.UnsupportedError) as error:
                assert str(path) in str(error) and error.shard == str(path) and 0 <= error.offset <= len(data)
                refused += 1
    assert refused > 0.99 * 2 * len(headers_of(data))


def test_no_flipped_byte_of_a_long_name_loses_a_sample_in_silence(tmp_path):
    for format in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        data = archive(tmp_path / "a.tar", SAMPLES[:1], "long/" * 30, format).read_bytes()
        whole = read(tmp_path / "a.tar")
        for byte in range(0, 1536):
            for mask in (1 << byte % 8,):
                (tmp_path / "b.tar").write_bytes(data[:byte] + bytes([data[byte] ^ mask]) + data[byte + 1:])
                try:
                    assert [s[1:] for s in read(tmp_path / "b.tar")] == [s[1:] for s in whole], byte
                except (imrec.CorruptError, imrec.ArgumentError, imrec.UnsupportedError) as error:
                    assert "b.tar" in str(error)


def test_every_cut_is_told_with_its_byte(tmp_path, tar):
    data, path = tar.read_bytes(), tmp_path / "b.tar"
    end = headers_of(data)[-1] + 1
    for cut in sorted({c + d for c in range(0, len(data) + 1, 512) for d in (-1, 0, 1)} - {-1, len(data) + 1}):
        path.write_bytes(data[:cut])
        if cut >= end - 512:  # one block of zeros says that nothing comes after it
            assert cut % 512 or read(path) == WHOLE
            continue
        with pytest.raises(imrec.CorruptError, match=r"b\.tar: byte \d+: .*(is empty|cut off here|ends after)") as caught:
            read(path)
        assert cut - 2048 < caught.value.offset <= cut and caught.value.shard == str(path)


def test_a_cut_archive_packs_nothing_unless_damage_is_allowed(tmp_path, caplog):
    samples = [{"jpg": jpeg(make_image(i)), "cls": str(i).encode()} for i in range(5)]
    data = archive(tmp_path / "a.tar", samples).read_bytes()
    with tarfile.open(tmp_path / "a.tar") as tar:
        offsets = {m.name: m.offset for m in tar.getmembers()}
    (tmp_path / "b.tar").write_bytes(data[:offsets["x/0003.cls"]])  # behind an image, before its label
    out = tmp_path / "o" / "t.rec"
    with pytest.raises(imrec.CorruptError, match=rf"b.tar: byte {offsets['x/0003.cls']}: the archive is cut off here"):
        imrec.pack(tmp_path / "b.tar", out)
    assert os.listdir(out.parent) == []
    card = imrec.pack([tmp_path / "b.tar", tmp_path / "a.tar"], out, allow_damaged=True, report=tmp_path / "report")
    assert [r.label for r in imrec.open(out)] == [0, 1, 2, 0, 1, 2, 3, 4]
    report = (tmp_path / "report").read_text()
    assert card["packed"] == 8 and card["skipped"] == 2 and card["reasons"] == {"label": 1, "damaged": 1}
    assert "b.tar/x/0003.jpg" in report and "the archive is cut off here" in report
    assert any("b.tar/x/0003.jpg: its sample has no label .cls" in w for w in warnings_of(caplog))
    assert len(list(imrec.webdataset(tmp_path / "b.tar", allow_damaged=True))) == 3


def test_what_was_whole_before_damage_is_a_beginning_of_what_there_was(tmp_path, tar):
    data, path = tar.read_bytes(), tmp_path / "b.tar"
    with tarfile.open(tar) as members:
        headers = [m.offset for m in members.getmembers()]
    for cut in range(512, len(data), 512):
        path.write_bytes(data[:cut])
        assert read(path, allow_damaged=True) == WHOLE[:sum(at <= cut for at in headers[2::3])]  # image and label are there
    for n, at in enumerate(headers):
        path.write_bytes(data[:at] + b"\x55" * 512 + data[at + 512:])
        lost = [n // 3] * (n % 3 != 2)  # .json is not packed
        assert read(path, allow_damaged=True) == [one for i, one in enumerate(WHOLE) if i not in lost]


def test_an_empty_file_has_no_samples_to_give(tmp_path):
    (tmp_path / "b.tar").write_bytes(b"")
    with pytest.raises(imrec.CorruptError, match="byte 0: the file is empty"):
        read(tmp_path / "b.tar")
    (tmp_path / "b.tar").write_bytes(bytes(10240))
    with pytest.raises(imrec.DataError, match="b.tar holds no images"):
        imrec.pack(tmp_path / "b.tar", tmp_path / "t.rec")


def test_bytes_behind_the_end_are_told_and_archives_may_be_joined(tmp_path, tar):
    data, path = tar.read_bytes(), tmp_path / "b.tar"
    for more in (b"x", bytes(512 * 137) + b"x", b"x" * 512):
        path.write_bytes(data + more)
        with pytest.raises(imrec.CorruptError, match="cut off here|not a header of a tar archive") as caught:
            read(path)
        assert caught.value.offset == len(data) + len(more) - len(more.lstrip(b"\0"))
    path.write_bytes(data + data)
    assert read(path) == WHOLE + WHOLE


def test_what_is_no_archive_is_told(tmp_path):
    path = tmp_path / "b.tar"
    for begin, words in ((b"\x28\xb5\x2f\xfd", "packed by zstd: unpack it with zstd -d"), (b"BZh9", "bzip2"),
                         (b"\xfd7zXZ\0", "xz"), (b"PK\x03\x04", "zip")):
        path.write_bytes(begin + bytes(1000))
        with pytest.raises(imrec.UnsupportedError, match=words):
            read(path)
    path.rename(tmp_path / "c.tar.zst")
    (tmp_path / "c.tar.zst").write_bytes(b"\x28\xb5\x2f\xfd" + bytes(1000))
    with pytest.raises(imrec.UnsupportedError, match="zstd"):
        imrec.pack(tmp_path / "c.tar.zst", tmp_path / "t.rec")
    path.write_bytes(jpeg(make_image(0)) * 3)
    with pytest.raises(imrec.CorruptError, match="byte 0: not a header of a tar archive"):
        read(path)
    with pytest.raises(FileNotFoundError, match="none.tar: there is no such file") as raised:
        read(tmp_path / "none.tar")
    error = raised.value
    assert isinstance(error, imrec.MissingFileError) and error.shard == error.filename == str(tmp_path / "none.tar")
    assert error.errno == errno.ENOENT
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(imrec.ArgumentError, match="b.tar: a named pipe, not a regular file"):
        read(path)


# ---- sizes -----------------------------------------------------------------------------------------------------------

def header(name, size, kind=b"0", body=b""):
    """A header of ustar whose checksum is right."""
    number = b"%011o\0" % size if size < 8**11 else b"\x80" + size.to_bytes(11, "big")
    block = struct.pack("100s8s8s8s12s12s8sc100s6s2s247s", name, b"0000644\0", b"0000000\0", b"0000000\0", number, b"0" * 11 + b"\0",
                        b" " * 8, kind, b"", b"ustar\0", b"00", b"")
    return block[:148] + b"%06o\0 " % sum(block) + block[156:] + body + bytes(-len(body) % 512)


def peak_of(call):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    call()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before  # KiB


@pytest.mark.parametrize("size", [3 << 30, 1 << 40, (1 << 88) - 1])
def test_a_size_that_the_file_does_not_have_costs_nothing(tmp_path, size):
    path = tmp_path / "b.tar"
    path.write_bytes(header(b"0.jpg", size) + bytes(10240))

    def refused():
        with pytest.raises(imrec.CorruptError, match=rf"byte 0: 0.jpg has {size} bytes, the archive ends after 10240"
                           if size < 1 << 63 else "byte 0: the size of a tar header is not a number"):
            read(path)

    assert peak_of(refused) < 64 << 10
    (tmp_path / "b.tar.gz").write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(imrec.CorruptError, match="b.tar.gz: byte 0: "):
        read(tmp_path / "b.tar.gz")


def test_what_is_left_of_a_cut_member_is_not_read(tmp_path):
    path = tmp_path / "b.tar"
    path.write_bytes(header(b"0.jpg", 500 << 20))
    os.truncate(path, 400 << 20)

    def refused():
        with pytest.raises(imrec.CorruptError, match="0.jpg has 524288000 bytes, the archive ends after 419429888"):
            read(path)

    assert peak_of(refused) < 64 << 10


def test_a_member_larger_than_a_record_is_not_read(tmp_path):
    path, size = tmp_path / "b.tar", (1 << 29) + 1
    with open(path, "wb") as file:
        file.write(header(b"0.jpg", size))
        file.seek(512 + (size + 511) // 512 * 512)
        file.write(header(b"0.cls", 1, body=b"1") + header(b"1.jpg", 3, body=b"abc") + header(b"1.cls", 1, body=b"2") + bytes(1024))
    def refused():
        with pytest.raises(imrec.LimitError, match=rf"b.tar/0.jpg: {size} bytes are more than a record holds \(2\^29 - 1\)"):
            list(imrec.webdataset(path))

    assert peak_of(refused) < 64 << 10
    card = imrec.pack(path, tmp_path / "t.rec", check="none")
    assert [r.image for r in imrec.open(tmp_path / "t.rec")] == [b"abc"] and card["skipped"] == 1


def pax(**records):
    body = b""
    for key, value in records.items():
        line = b" %s=%s\n" % (key.replace("_", ".").encode(), value)
        length = len(line) + (1 if len(line) < 9 else 2)
        body += b"%d%s" % (length, line)
    return header(b"PaxHeaders/x", len(body), b"x", body)


def test_sparse_files_are_refused_and_cost_nothing(tmp_path):
    path = tmp_path / "b.tar"
    gnu = header(b"0.jpg", 512, b"S", b"d" * 512)
    for members in (gnu, pax(GNU_sparse_major=b"1", GNU_sparse_realsize=b"3221225472") + header(b"0.jpg", 512, b"0", b"d" * 512),
                    pax(GNU_sparse_size=b"3221225472") + header(b"0.jpg", 512, b"0", b"d" * 512)):
        path.write_bytes(members + bytes(10240 - len(members)))

        def refused():
            with pytest.raises(imrec.UnsupportedError, match=r"b\.tar: byte \d+: 0.jpg is a sparse file.*--sparse") as caught:
                imrec.pack(path, tmp_path / "t.rec", allow_damaged=True)
            assert caught.value.offset == 0 and caught.value.shard == str(path)

        assert peak_of(refused) < 64 << 10


def test_headers_of_headers_are_bounded_and_checked(tmp_path):
    path = tmp_path / "b.tar"
    image = header(b"0.jpg", 3, body=b"abc") + header(b"0.cls", 1, body=b"7") + bytes(1024)
    for begin, words in ((header(b"L", 1 << 21, b"L"), "an extended header of 2097152 bytes"), (header(b"x", 1 << 40, b"x"), "an extended header"),
                         (header(b"x", 6, b"x", b"6 a=b\n"), None), (header(b"x", 6, b"x", b"7 a=b\n"), "is damaged"),
                         (header(b"x", 6, b"x", b"6 a=bc"), "is damaged"), (header(b"x", 4, b"x", b"abcd"), "is damaged"),
                         (pax(size=b"-1"), "the size in an extended header"), (pax(path=b"a\0b"), "no NUL"), (pax(path=b""), None)):
        path.write_bytes(begin + image)
        if words is None:
            assert read(path) == [("0.jpg", b"abc", 7)]
            continue
        with pytest.raises(imrec.CorruptError, match=words):
            read(path)
    path.write_bytes(pax(path=b"1.jpg", size=b"5") + header(b"0.jpg", 0, body=b"abcde") + pax(path=b"1.cls")
                     + header(b"x", 1, body=b"8") + bytes(1024))
    assert read(path) == [("1.jpg", b"abcde", 8)]
    path.write_bytes(header(b"L", 6, b"L", b"9.jpg\0") + bytes(1024))
    with pytest.raises(imrec.CorruptError, match="the archive ends after the extended header of a file"):
        read(path)


@pytest.mark.parametrize("kind, words", [(b"1", "a link"), (b"2", "a link"), (b"3", "a character device"),
                                         (b"4", "a block device"), (b"6", "a FIFO"), (b"M", "the rest of a file of another volume"),
                                         (b"~", "of an unknown kind")])
def test_what_is_no_file_is_refused_by_name(tmp_path, kind, words):
    path = tmp_path / "b.tar"
    path.write_bytes(header(b"0.jpg", 3, body=b"abc") + header(b"0.cls", 0, kind) + bytes(1024))
    with pytest.raises(imrec.UnsupportedError, match=f"b.tar: (byte 1024: 0.cls|0.jpg: its label .cls) is {words}.*dereference"):
        read(path)


def test_folders_old_headers_and_volume_labels_are_passed_over(tmp_path):
    path = tmp_path / "b.tar"
    path.write_bytes(header(b"x/", 0, b"5") + header(b"label", 0, b"V") + header(b"old/", 0, b"\0")
                     + header(b"x/0.jpg", 3, b"\0", b"abc") + header(b"x/0.cls", 1, b"7", b"7") + bytes(1024))
    assert read(path) == [("x/0.jpg", b"abc", 7)]


# ---- samples ---------------------------------------------------------------------------------------------------------

def refuse(path, words, **more):
    with pytest.raises(imrec.ArgumentError, match=words):
        imrec.pack(path, path.with_name("t.rec"), **more)
    assert not path.with_name("t.rec").exists()


def test_a_sample_without_its_label_is_an_error(tmp_path, caplog):
    path = of_members(tmp_path / "b.tar", ("0.jpg", jpeg(make_image(0))), ("0.txt", b"3"))
    refuse(path, r"b.tar: sample '0' has no label .cls: it has .jpg, .txt; name another file with label_ext")
    imrec.pack(path, tmp_path / "u.rec", label="txt")
    assert imrec.open(tmp_path / "u.rec")[0].label == 3
    card = imrec.pack(path, tmp_path / "v.rec", label=None)
    assert card["unlabelled"] == 1 and warnings_of(caplog) == ["files of the archives that are not packed: .txt"]
    path = of_members(tmp_path / "b.tar", ("0.jpg", b"a"), ("0.cls", b"1"), ("1.jpg", b"a"), ("1.id", b"7"))
    refuse(path, "1.jpg: its sample has no label .cls: it has .jpg, .id; label_ext=")  # another member does not stand in for it


def test_labels_are_numbers(tmp_path):
    for text, label in ((b"16777216\n", 16777216), (b" -2.5e-1 ", -0.25), (b"+7", 7), (b".5", 0.5)):
        path = of_members(tmp_path / "b.tar", ("0.jpg", jpeg(make_image(0))), ("0.cls", text))
        imrec.pack(path, tmp_path / "t.rec", force=True)
        assert imrec.open(tmp_path / "t.rec")[0].label == label
    os.unlink(tmp_path / "t.rec")
    for text, words in ((b"cat", "b.tar: 0.jpg: its label .cls is not a number: 'cat'"), (b"", "not a number: ''"), (b"1 2", "not a number: '1 2'"),
                        (b"1_000", "not a number"), (b"nan", "0.jpg: its label .cls is not finite: 'nan'"),
                        (b"inf", "not finite"), (b"16777217", "float32 cannot hold .*: '16777217'"), (b"9" * 40, "too large"),
                        (b"1" * 5000, "its label .cls has too many bytes for a number")):
        path = of_members(tmp_path / "b.tar", ("0.jpg", jpeg(make_image(0))), ("0.cls", text))
        with pytest.raises(imrec.ArgumentError, match=words):
            imrec.pack(path, tmp_path / "w.rec")


def test_samples_that_are_none_are_errors(tmp_path, caplog):
    refuse(of_members(tmp_path / "b.tar", ("0.jpg", b"a"), ("0.cls", b"1"), ("0.jpg", b"b")),
           "sample '0' has two files .jpg, whose contents begin at bytes 512 and 2560")
    refuse(of_members(tmp_path / "b.tar", ("0.left.jpg", b"a"), ("0.right.jpg", b"b"), ("0.cls", b"1")),
           r"sample '0' has several images, .left.jpg and .right.jpg: choose one of them, image_ext=right.jpg")
    refuse(of_members(tmp_path / "b.tar", ("0.cls", b"1"), ("1.jpg", b"a"), ("1.cls", b"1")), "b.tar: 0: the sample has no image: it has .cls")
    refuse(of_members(tmp_path / "b.tar", ("0.npy", b"1"), ("0.cls", b"1")), "0: the sample has no image: it has .npy, .cls")
    refuse(of_members(tmp_path / "b.tar", ("0.jpg", b"1"), ("1.jpg", b"1"), ("0.cls", b"1"), ("1.cls", b"1")), "has no label")
    path = of_members(tmp_path / "b.tar", ("README", b"x"), ("about.md", b"x"), (".hidden.jpg", b"x"),
                      ("0.left.JPG", jpeg(make_image(0))), ("0.right.jpg", b"b"), ("0.cls", b"1"))
    imrec.pack(path, tmp_path / "u.rec", image="right.jpg", force=True, check="none", pass_through=True)
    assert imrec.open(tmp_path / "u.rec")[0].image == b"b"
    imrec.pack(path, tmp_path / "u.rec", image=".left.jpg", force=True)
    assert imrec.open(tmp_path / "u.rec")[0].image == jpeg(make_image(0))
    assert warnings_of(caplog)[-1] == "files of the archives that are not packed: .md, .hidden.jpg, .right.jpg"


def test_a_folder_of_archives_is_packed_as_these(tmp_path):
    (tmp_path / "shards").mkdir()
    for n in range(2):
        archive(tmp_path / "shards" / f"t-0000{n}-of-00002.tar", [{"jpg": jpeg(make_image(n)), "cls": b"%d" % n}], f"x{n}/")
    names = sorted((tmp_path / "shards").iterdir())
    for out, source in (("a", names), ("b", tmp_path / "shards"), ("c", f"file://{tmp_path}/shards/")):
        assert imrec.pack(source, tmp_path / f"{out}.rec")["encoded"] == {}
        assert (tmp_path / f"{out}.rec").read_bytes() == (tmp_path / "a.rec").read_bytes()
    imrec.distributed.pack(tmp_path / "shards", tmp_path / "d.rec", tasks=2, workers=1)
    assert (tmp_path / "d.rec").read_bytes() == (tmp_path / "a.rec").read_bytes()
    imrec.pack(tmp_path / "shards", tmp_path / "e.rec", label_offset=-1)
    assert [record.label for record in imrec.open(tmp_path / "e.rec")] == [-1, 0]
    names[1].unlink()
    with pytest.raises(imrec.StorageError, match="its name says 2 shards, and 1 is missing: t-00001-of-00002.tar"):
        imrec.pack(tmp_path / "shards", tmp_path / "f.rec")
    (tmp_path / "shards" / "cats").mkdir()
    (tmp_path / "shards" / "cats" / "a.jpg").write_bytes(jpeg(make_image(0)))
    with pytest.raises(imrec.ArgumentError, match="holds archives .t-00000-of-00002.tar. and a folder of images .cats."):
        imrec.pack(tmp_path / "shards", tmp_path / "f.rec")


@pytest.mark.parametrize("name", ["a.tar", "a.tar.gz"])
def test_fields_are_files_of_the_samples(tmp_path, name):
    texts = [{"txt": b"one", "json": b"{}"}, {"txt": b""}, {"txt": b"three", "json": b"[3]"}, {"json": b"{}"}]
    samples = [{"jpg": jpeg(make_image(i)), "cls": b"%d" % i, **text} for i, text in enumerate(texts)]
    source = archive(tmp_path / "a.tar", samples)
    if name.endswith("gz"):
        source = tmp_path / name
        source.write_bytes(gzip.compress((tmp_path / "a.tar").read_bytes()))
    with pytest.raises(imrec.ArgumentError, match="x/0003.jpg: its sample has no field txt: it has .jpg, .cls, .json"):
        imrec.pack(source, tmp_path / "a.rec", fields=["txt", "json?"])
    card = imrec.pack([source], tmp_path / "a.rec", fields=["txt", "json?"], archive_errors="skip")
    assert (card["packed"], card["skipped"], card["encoded"]) == (3, 1, {})
    assert [record.fields for record in imrec.open(tmp_path / "a.rec")] == texts[:3]
    imrec.pack(source, tmp_path / "b.rec", fields="txt?,json?", image="jpg", label="cls", resize=8)
    assert [record.fields for record in imrec.open(tmp_path / "b.rec")] == texts


def test_archives_of_the_real_tar(tmp_path):
    if shutil.which("tar") is None:
        pytest.skip("there is no tar")
    place = tmp_path / "d" / ("deep/" * 30)
    place.mkdir(parents=True)
    for i in range(3):
        (place / f"{i}.jpg").write_bytes(b"J" * (100 + i))
        (place / f"{i}.cls").write_bytes(b"%d" % i)
    for format in ("gnu", "pax", "posix", "ustar", "oldgnu"):
        subprocess.run(["tar", f"--format={format}", "--sort=name", "-cf", tmp_path / "b.tar", "-C", tmp_path / "d", "."], check=True)
        names = sorted((image, label) for _, image, label in read(tmp_path / "b.tar", ))
        assert names == [(b"J" * (100 + i), i) for i in range(3)]
    os.link(place / "0.jpg", place / "3.jpg")
    subprocess.run(["tar", "--sort=name", "-cf", tmp_path / "b.tar", "-C", tmp_path / "d", "."], check=True)
    with pytest.raises(imrec.UnsupportedError, match="3.jpg: is a link in the archive: write the archive with --hard-dereference"):
        read(tmp_path / "b.tar")
    os.unlink(place / "3.jpg")
    os.truncate(place / "2.jpg", 3 << 30)
    subprocess.run(["tar", "--sparse", "--sort=name", "-cf", tmp_path / "b.tar", "-C", tmp_path / "d", "."], check=True)
    assert os.path.getsize(tmp_path / "b.tar") < 1 << 20
    with pytest.raises(imrec.UnsupportedError, match="2.jpg is a sparse file|is a sparse file: write the archive"):
        read(tmp_path / "b.tar")
