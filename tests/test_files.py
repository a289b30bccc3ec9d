"""Files from elsewhere: nothing is unpacked before its size is known, and what is no such file is one sentence."""

import hashlib
import io
import json
import zipfile

import numpy as np
import pytest

from hegemon import files
from hegemon.cli.main import main
from hegemon.errors import InvalidInput
from hegemon.exact.recomputed import KeptValues
from hegemon.experiments.store.folder import Folder
from hegemon.experiments.store.record_files import decode_record, encode_record
from hegemon.experiments.store.table import read_table
from hegemon.runs.checkpoint import Checkpoint, read_checkpoint


def packed(path, name: str, content: bytes, kind=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", kind) as archive:
        archive.writestr(name, content)
    return path


def header(shape, kind="<f8") -> bytes:
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, {"descr": kind, "fortran_order": False, "shape": shape})
    return out.getvalue()


def object_array(path):
    np.savez(path, text=np.array([{}], object))
    return path


HOSTILE = {
    "a file that unpacks to more": lambda path: packed(path, "text.npy", header((10**6,), "|u1") + bytes(10**6)),
    "a header that claims more": lambda path: packed(path, "text.npy", header((10**15,)), zipfile.ZIP_STORED),
    "a shape of negative size": lambda path: packed(path, "text.npy", header((-1,)) + bytes(8), zipfile.ZIP_STORED),
    "objects": object_array,
    "a truncated zip": lambda path: path.write_bytes(packed(path, "text.npy", bytes(999)).read_bytes()[:90]) and path,
    "garbage": lambda path: path.write_bytes(b"\x80\x04garbage") and path,
    "a pickle": lambda path: path.write_bytes(b"\x80\x04]\x94.") and path,
    "nothing": lambda path: path.write_bytes(b"") and path or path,
    "no array": lambda path: packed(path, "text.npy", b"text", zipfile.ZIP_STORED),
    "a folder": lambda path: path.mkdir() or path,
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_file_of_arrays_is_refused_in_one_sentence(kind, tmp_path, capsys):
    path = HOSTILE[kind](tmp_path / "run.npz")
    with pytest.raises(ValueError):
        files.read_arrays(path)
    assert main(["run", "--resume", str(path)]) == 2
    error = capsys.readouterr().err
    kept = object.__new__(KeptValues)  # of `verify --checkpoint`, before it knows its chain
    kept.path = path
    with pytest.raises(InvalidInput) as refused:
        kept.values()
    for sentence in (error, f"{refused.value}\n"):
        assert "run.npz" in sentence and "pickle" not in sentence and sentence.count("\n") == 1


def test_what_was_written_is_read_as_it_was(tmp_path):
    kinds = [("code", "<i2"), ("step", "<i8")]
    arrays = {"a": np.arange(6.0).reshape(2, 3), "b": np.asfortranarray(np.arange(6).reshape(2, 3))}
    arrays |= {"c": np.zeros(3, kinds), "d": np.array("text"), "e": np.zeros((0, 4), np.uint8)}
    np.savez(tmp_path / "some.npz", **arrays)
    found = files.read_arrays(tmp_path / "some.npz")
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype and np.array_equal(found[name], array) and found[name].flags.writeable


def test_sizes_are_refused_before_anything_is_unpacked(tmp_path, monkeypatch):
    path = packed(tmp_path / "run.npz", "text.npy", header((10**7,), "|u1") + bytes(10**7))
    monkeypatch.setattr(zipfile.ZipFile, "read", lambda *_: pytest.fail("it was unpacked"))
    with pytest.raises(InvalidInput, match=r"unpacks to 10\.0 MB and has"):
        read_checkpoint(path)
    Checkpoint(path, {"given": {}}).write()
    monkeypatch.setattr(files, "memory_available", lambda: 100)
    with pytest.raises(InvalidInput, match="of memory are free"):
        read_checkpoint(path)


def test_a_table_that_says_more_than_fits_is_not_read(tmp_path):
    import pyarrow
    import pyarrow.parquet as parquet

    folder = Folder(tmp_path)
    column = {"trial": pyarrow.array(np.zeros(200_000, np.int64))}
    constant = pyarrow.table(column, metadata={"hegemon.parameters": "{}"})

    def write(rows: int) -> None:
        parquet.write_table(constant, folder.table, row_group_size=rows)
        digest = hashlib.sha256(folder.table.read_bytes()).hexdigest()
        folder.digest.write_text(f"{digest}  {folder.table.name}\n")

    write(200_000)
    with pytest.raises(ValueError, match="row groups"):
        read_table(folder)
    write(50_000)
    assert folder.table.stat().st_size < 5_000 and len(read_table(folder)) == 200_000
    with pytest.MonkeyPatch.context() as patched, pytest.raises(InvalidInput, match="of memory are free"):
        patched.setattr(files, "memory_available", lambda: 3_000_000)
        read_table(folder)


def test_one_value_stands_for_no_more_trials_than_a_record_has():
    record = {"case": "a", "first": 0, "count": 5_000, "columns": {"steps": 1}}
    assert decode_record(encode_record(record)) == {"schema": 1, **record}
    assert decode_record(encode_record(record | {"count": 10**12})) is None
    assert json.loads(encode_record(record))["record"]["count"] == 5_000


def test_a_folder_whose_name_looks_like_an_address_is_a_folder(tmp_path, monkeypatch, capsys):
    """Arrow takes a name such as `s3:x` for a place elsewhere, unless it is a whole path."""
    monkeypatch.chdir(tmp_path)
    for name in ("ring:0", "file:x"):
        assert main(["sweep", "pairwise", "--n", "4", "--trials", "2", "--workers", "1", "--out", name, "-q"]) == 0
        assert main(["results", name]) == 0 and (tmp_path / name / "table.parquet").is_file()
