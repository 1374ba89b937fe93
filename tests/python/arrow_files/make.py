#!/usr/bin/env python3
"""make.py FOLDER - writes the same six rows into FOLDER, with pyarrow, Polars and Hugging Face's datasets.

Those next to it were made so, by pyarrow 26.0.1, polars 2.1.0 and datasets 5.2.0 (README.md).

    plain.parquet    by pyarrow: row groups of 2, snappy, dictionaries
    paged.parquet    by pyarrow: large types, zstd, pages of version 2, sizes and statistics of pages, byte stream split
    polars.parquet   by Polars
    hugging.parquet  by datasets: an Image, a ClassLabel; null for image 4 in the caption
    file.arrow, stream.arrow    by pyarrow: both forms of Arrow's messages, in batches of 4, the first with buffers in LZ4
    hugging/         by datasets: save_to_disk()
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from kept_images import png  # noqa: E402

COUNT = 6
CLASSES = ["ant", "bee", "cat"]
IMAGES = [png(i) for i in range(COUNT)]
LABELS = [i % 3 for i in range(COUNT)]
CAPTIONS = [None if i == 4 else f"Bild {i}: ä" for i in range(COUNT)]
SCORES = [[i / 4, -1.5] for i in range(COUNT)]


def write_pyarrow(folder):
    import pyarrow as pa
    import pyarrow.parquet as pq
    table = pa.table({"image": pa.array(IMAGES, pa.binary()), "label": pa.array(LABELS, pa.int64()), "caption": CAPTIONS,
                      "scores": pa.array(SCORES, pa.list_(pa.float32()))})
    large = pa.table({"image": pa.array(IMAGES, pa.large_binary()), "label": pa.array(LABELS, pa.int8()),
                      "caption": pa.array(CAPTIONS, pa.large_string()), "scores": pa.array(SCORES, pa.large_list(pa.float64()))})
    pq.write_table(table, folder / "plain.parquet", row_group_size=2, compression="snappy")
    pq.write_table(large, folder / "paged.parquet", compression="zstd", data_page_version="2.0", use_dictionary=False,
                   write_page_index=True, write_page_checksum=True, column_encoding={"scores.list.element": "BYTE_STREAM_SPLIT"})
    with pa.ipc.new_file(str(folder / "file.arrow"), table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as out:
        out.write_table(table, max_chunksize=4)
    with pa.ipc.new_stream(str(folder / "stream.arrow"), table.schema) as out:
        out.write_table(table, max_chunksize=4)


def write_polars(folder):
    import polars
    polars.DataFrame({"image": IMAGES, "label": LABELS, "caption": CAPTIONS, "scores": SCORES}).write_parquet(folder / "polars.parquet")


def write_hugging(folder):
    import datasets
    features = datasets.Features({"image": datasets.Image(), "label": datasets.ClassLabel(names=CLASSES),
                                  "caption": datasets.Value("string"), "scores": datasets.Sequence(datasets.Value("float32"))})
    rows = datasets.Dataset.from_dict({"image": [{"bytes": image, "path": None} for image in IMAGES], "label": LABELS,
                                       "caption": CAPTIONS, "scores": SCORES}, features=features)
    rows.to_parquet(str(folder / "hugging.parquet"))
    rows.save_to_disk(str(folder / "hugging"))


#: package -> what writes, and the names of what it writes
WRITERS = {"pyarrow": (write_pyarrow, ["plain.parquet", "paged.parquet", "file.arrow", "stream.arrow"]),
           "polars": (write_polars, ["polars.parquet"]), "datasets": (write_hugging, ["hugging.parquet", "hugging"])}

if __name__ == "__main__":
    for write, _ in WRITERS.values():
        write(Path(sys.argv[1]))
