"""What a folder of documents can hold: PDF, other encodings, and files that cannot be read."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from pdf_files import pdf

from gateway.errors import ToolError
from gateway.tools.registry import ToolResult
from gateway.tools.research import corpus as corpus_module
from gateway.tools.research.corpus import Corpus
from gateway.tools.workspace import Workspace

Call = Callable[..., Awaitable[ToolResult]]
BOILER = pdf(
    ["The boiler manual", "Keep it dry."],
    [
        "Lighting the boiler",
        "The boiler is lit by the red",
        "switch, which is below the cover.",
        "Service",
        "Once a year.",
    ],
    title="Boiler",
    made="20240102030405",
    outline=[("Lighting the boiler", 1), ("Service", 1)],
)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    root.mkdir()
    (root / "good.md").write_text("# Pumps\n\nA pump moves water.\n")
    return root


@pytest.fixture
def corpus(docs: Path, tmp_path: Path) -> Corpus:
    return Corpus(docs, tmp_path / "index")


def test_a_pdf_is_quoted_with_its_page_its_heading_and_its_date(docs: Path, corpus: Corpus) -> None:
    (docs / "boiler.pdf").write_bytes(BOILER)
    corpus.update()
    first, *_ = corpus.search("lighting the boiler")
    assert (first.title, first.heading, first.date) == ("Boiler", "Lighting the boiler", "2024-01-02")
    assert first.source == "boiler.pdf#page=2"
    assert first.text == "The boiler is lit by the red switch, which is below the cover."
    assert corpus.search("service once")[0].text == "Once a year."
    assert corpus.unread == {}


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("damaged.pdf", BOILER[:600], "damaged"),
        ("empty.pdf", b"", "damaged"),
        ("locked.pdf", pdf(["The secret pump"], password="of the user"), "encrypted"),
        ("scan.pdf", pdf([], []), "OCR"),
        ("image.txt", b"\x89PNG\x00\x01\x02pump", "binary"),
    ],
)
def test_a_document_that_cannot_be_read_stops_no_other(
    name: str, content: bytes, why: str, docs: Path, corpus: Corpus
) -> None:
    (docs / name).write_bytes(content)
    assert corpus.update() == 2
    assert why in corpus.unread[name]
    assert [each.source for each in corpus.search("pump")] == ["good.md#pumps"]
    assert corpus.update() == 0, "it is not read again before it changes"
    assert name in corpus.unread
    (docs / name).unlink()
    corpus.update()
    assert corpus.unread == {}


def test_a_pdf_that_only_forbids_printing_is_read(docs: Path, corpus: Corpus) -> None:
    (docs / "open.pdf").write_bytes(pdf(["The valve is open."], password=""))
    corpus.update()
    assert corpus.search("valve")[0].text == "The valve is open."


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("latin.txt", "Das Ventil ist geöffnet, die Öffnung läßt Luft hinaus.".encode("cp1252")),
        ("marked.txt", "Das Ventil ist geöffnet.".encode("utf-16")),
        ("said.html", '<meta charset="iso-8859-1"><p>Das Ventil ist geöffnet.</p>'.encode("latin-1")),
        ("utf.html", "<p>Das Ventil ist geöffnet.</p>".encode()),
    ],
)
def test_text_in_another_encoding_is_read(name: str, content: bytes, docs: Path, corpus: Corpus) -> None:
    (docs / name).write_bytes(content)
    corpus.update()
    assert corpus.search("ventil geöffnet")[0].text.startswith("Das Ventil ist geöffnet")


def test_a_huge_file_is_told_and_not_read(docs: Path, corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_module, "MAX_FILE_BYTES", 1 << 20)
    (docs / "huge.txt").write_text("pump " * 300_000)
    corpus.update()
    assert corpus.unread == {"huge.txt": "larger than 1 MB"}
    assert [each.source for each in corpus.search("pump")] == ["good.md#pumps"]


def test_links_are_followed_only_inside_of_the_corpus(docs: Path, corpus: Corpus, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("# Secret\n\nThe secret pump.\n")
    (docs / "out.md").symlink_to(tmp_path / "secret.md")
    (docs / "up.md").symlink_to("../secret.md")
    (docs / "folder").symlink_to(tmp_path)
    (docs / "alias.md").symlink_to("good.md")
    corpus.update()
    assert corpus.search("secret") == []
    assert len(corpus.search("pump")) == 1, "the alias says the same"
    assert corpus.unread == {}


def test_a_document_that_becomes_a_link_out_of_the_corpus_is_forgotten(
    docs: Path, corpus: Corpus, tmp_path: Path
) -> None:
    (docs / "other.md").write_text("# Other\n\nOf valves.\n")
    corpus.update()
    (docs / "good.md").rename(tmp_path / "good.md")
    (docs / "good.md").symlink_to(tmp_path / "good.md")
    corpus.update()
    assert corpus.search("pump") == []


def test_a_file_whose_name_is_no_text_is_told(docs: Path, corpus: Corpus) -> None:
    with open(os.fsencode(docs) + b"/\xff.md", "w") as file:
        file.write("# Pumps of iron\n")
    assert corpus.update() == 1
    assert corpus.unread == {"\ufffd.md": "its name is not UTF-8"}


def test_a_file_that_vanishes_while_indexing_is_passed_over(
    docs: Path, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    (docs / "a.md").write_text("# Valves\n\nA valve lets air out.\n")
    read = Workspace.read

    def vanishing(self: Workspace, path: str, limit: int = 0) -> bytes:
        (docs / "a.md").unlink(missing_ok=True)
        return read(self, path, limit)

    monkeypatch.setattr(Workspace, "read", vanishing)
    assert corpus.update() == 1
    assert corpus.unread == {}
    assert corpus.search("valve") == [] and corpus.search("pump")


def test_a_file_that_may_not_be_read_now_is_tried_again(
    docs: Path, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(self: Workspace, path: str, limit: int = 0) -> bytes:
        raise ToolError(f"{path}: Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(Workspace, "read", refused)
        assert corpus.update() == 0
    assert corpus.unread == {"good.md": "good.md: Permission denied"}
    assert corpus.update() == 1
    assert corpus.unread == {} and corpus.search("pump")


def test_what_is_no_regular_file_is_left_out(docs: Path, corpus: Corpus) -> None:
    os.mkfifo(docs / "pipe.txt")
    (docs / "folder.md").mkdir()
    assert corpus.update() == 1
    assert corpus.unread == {}


def test_an_index_of_an_earlier_version_is_made_anew(docs: Path, corpus: Corpus, tmp_path: Path) -> None:
    corpus.update()
    (database,) = (tmp_path / "index").glob("*.db")
    connection = sqlite3.connect(database)
    connection.executescript("DROP TABLE pages; CREATE TABLE pages (path TEXT); PRAGMA user_version = 1")
    connection.close()
    assert Corpus(docs, tmp_path / "index").update() == 1
    assert corpus.search("pump")[0].source == "good.md#pumps"


def test_indexing_that_is_stopped_goes_on_where_it_was(
    docs: Path, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus_module, "_BATCH", 2)
    for number in range(5):
        (docs / f"{number}.md").write_text(f"# Number {number}\n\nText of {number}.\n")

    def stop(done: int, total: int) -> None:
        raise ToolError("stopped")

    with pytest.raises(ToolError, match="stopped"):
        corpus.update(stop)
    assert corpus.update() == 4


async def test_research_tells_what_could_not_be_read(call: Call, docs: Path) -> None:
    (docs / "locked.pdf").write_bytes(pdf(["Secret"], password="of the user"))
    settings = {"research": {"provider": "corpus", "corpus_dir": str(docs)}}
    found = await call("internet.research", query="pump", settings=settings)
    assert found.text == "[1] Pumps · Pumps\nsource: good.md#pumps\nA pump moves water."
    assert found.data["unread"] == [{"source": "locked.pdf", "problem": "it is encrypted"}]
    nothing = await call("internet.research", query="zebra", settings=settings)
    assert not nothing.ok and nothing.text.endswith("could not be read: locked.pdf (it is encrypted)")
