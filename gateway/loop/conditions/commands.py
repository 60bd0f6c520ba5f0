"""Conditions that are a command: what is configured, and what other languages' files and Makefiles say."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from gateway.loop.conditions.check import Check, Clock, Verdict, not_evaluated, not_met, timed_out
from gateway.loop.conditions.layout import Layout
from gateway.loop.conditions.output import end_of, findings_in, steady
from gateway.loop.conditions.programs import environment, need
from gateway.loop.state import Finding
from gateway.tools.code.command_line import words
from gateway.tools.sandbox import MEMORY_BYTES, run_program

_SCRIPTS = {"all_tests_pass": "test", "build_succeeds": "build", "linting_clean": "lint"}
_CARGO = {
    "all_tests_pass": ["test", "--no-fail-fast"],
    "build_succeeds": ["build", "--all-targets"],
    "linting_clean": ["clippy", "--all-targets", "--", "-D", "warnings"],
    "security_scan_clean": ["audit"],
}
_GO = {
    "all_tests_pass": ["go", "test", "./..."],
    "build_succeeds": ["go", "build", "-o", os.devnull, "./..."],  # or it would write a program into the workspace
    "linting_clean": ["go", "vet", "./..."],
    "security_scan_clean": ["govulncheck", "./..."],
}
_TARGETS = {
    "all_tests_pass": ("test",),
    "build_succeeds": ("build",),
    "linting_clean": ("lint",),
    "security_scan_clean": ("security", "audit"),
}
_CARGO_RAN = re.compile(r"^test result: .*? [1-9]\d* passed", re.MULTILINE)
_GO_RAN = re.compile(r"^ok\s+(?!.*\[no tests to run\])", re.MULTILINE)
_UNREACHABLE = re.compile(
    r"ENOTFOUND|ECONNREFUSED|ECONNRESET|EAI_AGAIN|ETIMEDOUT|getaddrinfo|dial tcp|[Tt]imed out|name resolution"
    r"|couldn't fetch|failed to fetch|[Nn]etwork is unreachable"
)


def command_check(layout: Layout, command: str, why: str, condition: str) -> Check:
    """A command that somebody wrote. Raises ToolError where it needs a shell, or its program is missing."""
    return program_check(layout, words(command), why, condition)


def package_json_check(condition: str, layout: Layout) -> Check | None:
    if not layout.has("package.json"):
        return None
    hint = "install Node.js"
    if condition == "security_scan_clean":
        # asked of npm itself, whose settings for audits at installations are not meant
        env = {"npm_config_audit": "true"}
        return program_check(layout, ["npm", "audit"], "package.json", condition, env=env, reads=True, hint=hint)
    script = _SCRIPTS[condition]
    if script not in layout.scripts:
        return None
    env = {"CI": "true"} if script == "test" else {}  # runners of tests that would watch files do not, then
    command = ["npm", "run", "--silent", script]
    return program_check(layout, command, f"package.json, scripts.{script}", condition, env=env, hint=hint)


def cargo_check(condition: str, layout: Layout) -> Check | None:
    if not layout.has("Cargo.toml"):
        return None
    arguments = _CARGO[condition]
    hint = "install Rust, with rustup"
    need(layout.root, "cargo", hint)
    if arguments[0] in ("clippy", "audit"):
        hint = "rustup component add clippy" if arguments[0] == "clippy" else "cargo install cargo-audit"
        need(layout.root, f"cargo-{arguments[0]}", hint)
    return program_check(layout, ["cargo", *arguments], "Cargo.toml", condition, ran=_CARGO_RAN)


def go_check(condition: str, layout: Layout) -> Check | None:
    if not layout.has("go.mod"):
        return None
    hint = "install Go" if condition != "security_scan_clean" else "go install golang.org/x/vuln/cmd/govulncheck@latest"
    return program_check(layout, _GO[condition], "go.mod", condition, ran=_GO_RAN, hint=hint)


def make_check(condition: str, layout: Layout) -> Check | None:
    target = next((each for each in _TARGETS[condition] if each in layout.targets), None)
    if target is None:
        return None
    why = f"{layout.makefile}, target {target}"
    return program_check(layout, ["make", "--no-print-directory", target], why, condition, hint="install make")


def program_check(
    layout: Layout,
    command: Sequence[str],
    why: str,
    condition: str,
    *,
    env: Mapping[str, str] | None = None,
    ran: re.Pattern[str] | None = None,
    reads: bool = False,
    hint: str = "install it, or name it by its path",
) -> Check:
    """Met where the program ends with code 0. `ran` is what it prints where there were tests to run."""
    program = need(layout.root, command[0], hint)
    shown = shlex.join(command)

    async def run(clock: Clock, folder: Path) -> Verdict:
        finished = await run_program(
            [program, *command[1:]],
            cwd=layout.root,
            deadline_s=clock.left,
            env={**environment(layout.root, folder), **_cargo_target(layout, folder), **(env or {})},
            memory_bytes=None if layout.has("package.json") else MEMORY_BYTES,  # Node reserves far more than it uses
        )
        output = steady(finished.output, layout.root, folder)
        if finished.code is None:
            return timed_out(clock, report=output)
        if finished.code != 0 and condition == "security_scan_clean" and _UNREACHABLE.search(output):
            return not_evaluated(f"{shown} could not reach its database", report=output)
        if finished.code != 0:
            findings = findings_in(output, layout.root) or [Finding(where=shown, message=end_of(output) or "failed")]
            return not_met(f"{shown} {_ending(finished.code)}", findings, output)
        if ran is not None and condition == "all_tests_pass" and not ran.search(output):
            return not_evaluated(f"{shown} found no tests", report=output)
        return Verdict(True, f"{shown} ended with code 0", report=end_of(output))

    return Check(shown, why, run, reads)


def _cargo_target(layout: Layout, folder: Path) -> dict[str, str]:
    """Where there is no folder of Cargo's yet, none is left behind."""
    made = (layout.root / "target").is_dir() or not layout.has("Cargo.toml")
    return {} if made else {"CARGO_TARGET_DIR": str(folder / "target")}


def _ending(code: int) -> str:
    return f"ended with code {code}" if code >= 0 else f"was ended by signal {-code}"
