"""What an agent prints is kept apart, and nothing of what others print."""

from __future__ import annotations

import sys
import threading
import traceback
from contextlib import redirect_stdout
from io import StringIO

import pytest

from gateway.phone.agents.printed import KEPT, printed


def test_both_streams_are_kept(capsys: pytest.CaptureFixture[str]) -> None:
    with printed() as kept:
        print("one")
        sys.stderr.write("two\n")
        try:
            raise ConnectionError("refused")
        except ConnectionError:
            traceback.print_exc()
        sys.stdout.flush()
    print("after")
    assert kept.text.startswith("one\ntwo\nTraceback")
    assert kept.complaint == "ConnectionError: refused"
    assert capsys.readouterr() == ("after\n", "")


def test_what_other_threads_print_meanwhile_goes_where_it_went(capsys: pytest.CaptureFixture[str]) -> None:
    inside, outside = threading.Event(), threading.Event()
    text = ""

    def agent() -> None:
        nonlocal text
        with printed() as kept:
            print("the agent's")
            inside.set()
            assert outside.wait(10)
            print("more")
            text = kept.text

    thread = threading.Thread(target=agent)
    thread.start()
    assert inside.wait(10)
    print("the program's")
    with redirect_stdout(StringIO()) as own:
        print("redirected")
    outside.set()
    thread.join()
    assert text == "the agent's\nmore\n"
    assert own.getvalue() == "redirected\n"
    assert capsys.readouterr().out == "the program's\n"


def test_streams_are_given_back(capsys: pytest.CaptureFixture[str]) -> None:
    before = sys.stdout, sys.stderr
    with printed(), printed_elsewhere():
        assert sys.stdout is not before[0]
    assert (sys.stdout, sys.stderr) == before


def printed_elsewhere() -> redirect_stdout[StringIO]:
    """A redirection that is begun within, and ends before."""
    return redirect_stdout(StringIO())


def test_only_the_end_of_it_is_kept() -> None:
    with printed() as kept:
        for number in range(10_000):
            print(number)
    assert len(kept.text) == KEPT and kept.text.endswith("9999\n")
    assert kept.complaint == "9999"


def test_a_program_without_streams_stays_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    with printed() as kept:
        print("x")
    assert kept.text == "x\n"
    assert sys.stdout is None
