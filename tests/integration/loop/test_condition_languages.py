"""Workspaces of other languages: programs of their names stand first on the PATH, and say what they were asked."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from condition_lab import evaluated, program, write

from gateway.loop.state import Finding

FILES = {
    "node": {"package.json": '{"scripts": {"test": "jest", "build": "tsc", "lint": "eslint ."}}', "a.js": ""},
    "rust": {"Cargo.toml": "[package]\n", "src/lib.rs": ""},
    "go": {"go.mod": "module x\n", "a.go": ""},
    "make": {"Makefile": ".PHONY: test\ntest:\n\ttrue\nbuild lint: test\n\ttrue\nsecurity:\n\ttrue\n"},
}
TESTED = {"rust": "test result: ok. 2 passed; 0 failed; finished in 0.01s", "go": "ok  x  0.003s"}
ASKED = [
    ("node", "all_tests_pass", "npm run --silent test"),
    ("node", "build_succeeds", "npm run --silent build"),
    ("node", "linting_clean", "npm run --silent lint"),
    ("node", "security_scan_clean", "npm audit"),
    ("rust", "all_tests_pass", "cargo test --no-fail-fast"),
    ("rust", "build_succeeds", "cargo build --all-targets"),
    ("rust", "linting_clean", "cargo clippy --all-targets -- -D warnings"),
    ("rust", "security_scan_clean", "cargo audit"),
    ("go", "all_tests_pass", "go test ./..."),
    ("go", "build_succeeds", "go build -o /dev/null ./..."),
    ("go", "linting_clean", "go vet ./..."),
    ("go", "security_scan_clean", "govulncheck ./..."),
    ("make", "all_tests_pass", "make --no-print-directory test"),
    ("make", "build_succeeds", "make --no-print-directory build"),
    ("make", "linting_clean", "make --no-print-directory lint"),
    ("make", "security_scan_clean", "make --no-print-directory security"),
]


class Fake:
    """A workspace, and programs that note how they were called, print a text, and end with a code."""

    def __init__(self, place: Path) -> None:
        self.root, self.bin, self.calls = place / "demo", place / "bin", place / "calls"

    def say(self, text: str = "", code: int = 0) -> None:
        (self.bin / "said").write_text(text)
        note = f'echo "${{0##*/}} $*" >> {shlex.quote(str(self.calls))}'
        for name in "npm cargo cargo-clippy cargo-audit go govulncheck make".split():
            program(self.bin, name, f"#!/bin/sh\n{note}\ncat {shlex.quote(str(self.bin / 'said'))}\nexit {code}\n")


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    (tmp_path / "bin").mkdir()
    return Fake(tmp_path)


@pytest.mark.parametrize(("kind", "condition", "command"), ASKED)
async def test_what_the_files_say_is_run_and_its_code_decides(
    fake: Fake, kind: str, condition: str, command: str
) -> None:
    write(fake.root, FILES[kind])
    fake.say(TESTED.get(kind, ""))
    result = await evaluated(condition, fake.root)
    assert result.met, result
    assert result.command == command
    assert fake.calls.read_text() == f"{command}\n"
    fake.say("it is bad", 1)
    result = await evaluated(condition, fake.root)
    assert not result.met
    assert result.findings == (Finding(where=command, message="it is bad"),)
    assert result.summary == f"{command} ended with code 1"
    assert (result.problem, result.total) == ("", 1)


@pytest.mark.parametrize(
    ("kind", "said", "where"),
    [
        ("node", "not ok 1 - adds up\n  ---\n  error: bad\n  ...\n", "adds up"),
        ("rust", "test tests::adds ... FAILED\n", "tests::adds"),
        ("go", "--- FAIL: TestAdd (0.00s)\n    a_test.go:4: got 1\nFAIL\tx\t0.002s\n", "TestAdd"),
        ("make", "Makefile:3: no\n", "Makefile:3"),
    ],
)
async def test_tests_that_fail_are_named(fake: Fake, kind: str, said: str, where: str) -> None:
    write(fake.root, FILES[kind])
    fake.say(said, 2)
    first, again = await evaluated("all_tests_pass", fake.root), await evaluated("all_tests_pass", fake.root)
    assert [each.where for each in first.findings] == [where]
    assert first.with_(s=0) == again.with_(s=0)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("rust", "running 0 tests\ntest result: ok. 0 passed; 0 failed\n"),
        ("go", "?   x  [no test files]\n"),
        ("go", "ok  x  0.002s [no tests to run]\n"),
    ],
)
async def test_no_tests_are_not_all_tests_in_other_languages_either(fake: Fake, kind: str, said: str) -> None:
    write(fake.root, FILES[kind])
    fake.say(said)
    result = await evaluated("all_tests_pass", fake.root)
    assert not result.met
    assert result.problem.endswith("found no tests")


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("node", "npm error code ENOTFOUND"),
        ("rust", "error: couldn't fetch advisory database"),
        ("go", "govulncheck: dial tcp: no route to host"),
    ],
)
async def test_a_database_that_cannot_be_reached_is_a_problem(fake: Fake, kind: str, said: str) -> None:
    write(fake.root, FILES[kind])
    fake.say(said, 1)
    result = await evaluated("security_scan_clean", fake.root)
    assert not result.met
    assert result.problem.endswith("could not reach its database")


async def test_a_program_of_the_language_that_is_missing_is_named(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(fake.bin))
    write(fake.root, FILES["go"])
    result = await evaluated("security_scan_clean", fake.root)
    assert result.problem.startswith("govulncheck is not there")
    assert "go install golang.org/x/vuln/cmd/govulncheck@latest" in result.problem


async def test_the_first_of_several_languages_counts_and_a_later_one_where_it_says_nothing(fake: Fake) -> None:
    write(fake.root, {**FILES["make"], **FILES["go"], "package.json": '{"scripts": {"lint": "eslint ."}}'})
    fake.say(TESTED["go"])
    assert (await evaluated("linting_clean", fake.root)).command == "npm run --silent lint"
    assert (await evaluated("all_tests_pass", fake.root)).command == "go test ./..."


async def test_the_folder_of_cargo_is_made_elsewhere_unless_there_is_one(fake: Fake) -> None:
    write(fake.root, FILES["rust"])
    program(fake.bin, "cargo", f'#!/bin/sh\necho "[$CARGO_TARGET_DIR]" >> {shlex.quote(str(fake.calls))}\n')
    assert (await evaluated("build_succeeds", fake.root)).met
    (fake.root / "target").mkdir()
    assert (await evaluated("build_succeeds", fake.root)).met
    first, second = fake.calls.read_text().splitlines()
    assert first.endswith("/target]") and not first.startswith(f"[{fake.root}")
    assert second == "[]"
