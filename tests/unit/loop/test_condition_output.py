from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.loop.conditions.check import cut
from gateway.loop.conditions.output import clean, compared, end_of, findings_in, steady

ROOT, FOLDER = Path("/home/me/demo"), Path("/tmp/echelon-check-abc")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("src/a.ts", "src/lib.rs", "a_test.go", "main.c"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("printed", "found"),
    [
        ("main.c:3:5: error: expected ';'\nmain.c: In function f", [("main.c:3", "error: expected ';'")]),
        ("./a_test.go:9: undefined: x", [("a_test.go:9", "undefined: x")]),
        ("src/a.ts(3,5): error TS2322: no", [("src/a.ts:3", "error TS2322: no")]),
        (
            "src/a.ts\n  1:10  error  'x' is unused  no-x\n\nother.ts\n  2:1  error  y",
            [("src/a.ts:1", "error  'x' is unused  no-x")],
        ),
        ("error[E0308]: mismatched\n  --> src/lib.rs:2:4\n", [("src/lib.rs:2", "mismatched")]),
        ("warning: unused\n  --> src/lib.rs:2:4\n", []),
        ("--- FAIL: TestX (0.00s)\n    x_test.go:4: got 1\nFAIL", [("TestX", "x_test.go:4: got 1")]),
        ("--- FAIL: TestX (0.00s)\n    a_test.go:4: got 1\nFAIL", [("TestX", "a_test.go:4: got 1")]),
        (
            "--- FAIL: TestX (0.00s)\n    --- FAIL: TestX/deep (0.00s)\n        a_test.go:4: got 1\nFAIL",
            [("TestX/deep", "a_test.go:4: got 1")],
        ),
        (
            "--- FAIL: TestX (0.00s)\npanic: no such thing [recovered]\n\tpanic: no such thing\n\n"
            "goroutine 7 [running]:\ntesting.tRunner.func1.2({0x4ff1e0, 0x1})\n\t/go/testing.go:13 +0x24e\n"
            "x.TestX(0x0?)\n\ta_test.go:12 +0x1a\nFAIL\tx\t0.002s",
            [("TestX", "panic: no such thing\nat a_test.go:12")],
        ),
        (
            "test t::adds ... FAILED\n\nthread 't::adds' (7) panicked at src/lib.rs:6:2:\nleft: 1\n right: 2\n\n",
            [("t::adds", "left: 1\n right: 2\nat src/lib.rs:6")],
        ),
        ("not ok 1 - adds up\n  ---\n  duration_ms: 1.2\n  error: bad\n  ...\nok 2", [("adds up", "error: bad")]),
        ("✖ adds up (3.25ms)\n✖ adds up (3.25ms)", [("adds up", "it fails")]),
        (
            "main.c:5: in f\nmain.c:9: AssertionError\nFAILED tests/test_a.py::test_b[1] - assert 1 == 2\n1 failed",
            [("tests/test_a.py::test_b[1]", "assert 1 == 2")],
        ),
        ("/etc/passwd:1: no\n../x.c:1: no\nnope.c:1: no\nhttp://x:80 no", []),
    ],
)
def test_findings_are_read_from_what_programs_print(root: Path, printed: str, found: list[tuple[str, str]]) -> None:
    text = steady(printed, root, FOLDER)
    assert [(each.where, each.message) for each in findings_in(text, root)] == found


@pytest.mark.parametrize(
    ("printed", "read"),
    [
        ("\x1b[31mred\x1b[0m\x1b]0;title\x07", "red"),
        ("10 %\r100 %\r\ndone", "100 %\ndone"),
        ("a\0b\x07\ud800", "a\ufffdb\ufffd\ufffd"),
        ("<X object at 0x7f00deadbeef>", "<X object at 0x…>"),
        ("/home/me/demo/a.py in /home/me/demo", "a.py in ."),
        ("/tmp/echelon-check-abc/made/x", "/tmp/check/made/x"),
        ("/tmp/echelon-check-abc/tmpab12cd_9/x", "/tmp/check/tmp…/x"),
        ("/tmp/echelon-check-abc/build-env-ab12cd_9/x", "/tmp/check/build-env-…/x"),
        ("waited 5 s", "waited 5 s"),
    ],
)
def test_text_is_cleaned(printed: str, read: str) -> None:
    assert clean(printed, ROOT, FOLDER) == read


@pytest.mark.parametrize(
    "printed", ["3 passed in {}s", "ok demo {}s", "--- FAIL: T ({}s)", "duration_ms: {}", "took {} ms", "[ {}ms ]"]
)
def test_durations_are_left_out(printed: str) -> None:
    assert steady(printed.format("0.25"), ROOT, FOLDER) == steady(printed.format("1.5"), ROOT, FOLDER)


def test_what_is_compared_has_no_durations_but_all_other_numbers() -> None:
    assert compared("took 3 s") == compared("took 4.5 s")
    assert compared("2 failed") != compared("3 failed")
    assert compared("got 3, not 4") != compared("got 3, not 5")


@given(st.text(st.characters(codec=None)), st.integers(10, 50))
def test_whatever_is_printed_can_be_stored(text: str, limit: int) -> None:
    shown = steady(text, ROOT, FOLDER)
    shown.encode("utf-8")
    assert "\0" not in shown and "\x1b" not in shown
    assert steady(shown, ROOT, FOLDER) == shown
    assert len(cut(shown, limit)) <= limit
    assert cut(shown, len(shown)) == shown
    findings_in(shown, ROOT)
    end_of(shown)
