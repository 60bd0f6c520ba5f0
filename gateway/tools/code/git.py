"""git, run for the repository of a workspace: as a program without a shell, and so that it starts no other program.

A repository may have been made by anybody, and its `.git/config` with it. So git is told where the repository is and
does not look for it; it is given the few harmless keys of `_KEPT` and nothing else of the system's and the user's
configuration; and every setting by which a repository can name a program (hooks, fsmonitor, filters, external diffs,
text conversion, pagers, editors, signing, transports) is overridden.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from gateway.errors import OutsideWorkspace, ToolError
from gateway.tools.sandbox import run_program
from gateway.tools.workspace import Workspace

PROGRAM_S = 25.0
_OUTPUT_BYTES = 8 << 20
_KEPT = ("user.name", "user.email", "core.excludesfile", "core.autocrlf", "core.eol", "core.safecrlf")
_OVERRIDDEN = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.useBuiltinFSMonitor": "false",
    "core.pager": "cat",
    "core.editor": "false",
    "core.askPass": "",
    "core.sshCommand": "false",
    "core.quotePath": "false",
    "color.ui": "false",
    "commit.gpgSign": "false",
    "credential.helper": "",
    "diff.external": "",
    "diff.ignoreSubmodules": "dirty",
    "gc.auto": "0",
    "i18n.commitEncoding": "utf-8",
    "log.showSignature": "false",
    "maintenance.auto": "false",
    "protocol.allow": "never",
    "submodule.recurse": "false",
}
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",  # objects that are missing are not fetched
    "GIT_ASKPASS": "false",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_EDITOR": "false",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_SSH_COMMAND": "false",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",  # its messages are read
}


@dataclass(frozen=True)
class Answer:
    code: int
    output: str
    errors: str


class Repository:
    """The repository whose top folder is the workspace. `await Repository.of(workspace)` looks whether there is one."""

    def __init__(self, workspace: Workspace, config: Mapping[str, str], filters: Iterable[str]) -> None:
        self.workspace = workspace
        self.config = config
        self._filters = tuple(filters)

    @classmethod
    async def of(cls, workspace: Workspace) -> Repository:
        """Raises ToolError where there is none, or one that lies or leads outside of the workspace."""
        _check_place(workspace.root)
        listed = await _run(
            workspace.root, ["config", "--list", "-z", "--show-scope"], {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
        )
        if listed.code:
            raise ToolError(f"git cannot read the repository's configuration: {listed.errors[:300]}")
        config: dict[str, str] = {}
        filters = set()
        parts = listed.output.split("\0")
        for scope, entry in zip(parts[::2], parts[1::2], strict=False):
            key, _, value = entry.partition("\n")
            if key in _KEPT:
                config[key] = value
            if scope in ("local", "worktree") and key.startswith("filter."):
                filters.add(key.rpartition(".")[0])
        return cls(workspace, config, sorted(filters))

    async def run(
        self, *args: str, index: Path | None = None, stdin: str = "", check: bool = True, env: Mapping[str, str] = {}
    ) -> Answer:
        """One git command, with `index` in place of the repository's own. If checked, ToolError where it fails."""
        env = {**_ENVIRONMENT, **self._settings, **env, **({"GIT_INDEX_FILE": str(index)} if index else {})}
        answer = await _run(self.workspace.root, args, env, stdin)
        if check and answer.code:
            raise ToolError(f"git {args[0]} failed: {answer.errors[:500] or f'code {answer.code}'}")
        return answer

    async def head(self) -> str:
        """The id of the last commit; empty where there is none yet."""
        found = await self.run("rev-parse", "--verify", "--quiet", "HEAD", check=False)
        return found.output.strip() if found.code == 0 else ""

    async def base(self) -> str:
        """What the workspace is compared with: the last commit, or the empty tree."""
        return await self.head() or (await self.run("hash-object", "-t", "tree", "--stdin")).output.strip()

    @cached_property
    def _settings(self) -> dict[str, str]:
        """The overriding configuration, in the form in which git takes it from the environment."""
        settings = {key: self.config[key] for key in _KEPT if key in self.config} | _OVERRIDDEN
        for name in self._filters:
            settings |= {f"{name}.clean": "", f"{name}.smudge": "", f"{name}.process": "", f"{name}.required": "false"}
        found = {"GIT_CONFIG_COUNT": str(len(settings))}
        for number, (key, value) in enumerate(settings.items()):
            found |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        return found


async def _run(root: Path, args: Iterable[str], env: Mapping[str, str], stdin: str = "") -> Answer:
    command = ["git", "--no-pager", f"--git-dir={root / '.git'}", f"--work-tree={root}", *args]
    try:
        finished = await run_program(
            command,
            cwd=root,
            deadline_s=PROGRAM_S,
            env=env,
            output_bytes=_OUTPUT_BYTES,
            stdin=stdin.encode("utf-8", "replace"),
            errors_apart=True,
        )
    except ToolError as error:
        raise ToolError("git is not installed", hint="install it, and see that it is on the PATH") from error
    if finished.code is None:
        raise ToolError(f"git did not end within {PROGRAM_S:g} s", hint="try again with fewer paths")
    return Answer(finished.code, finished.output, finished.errors.strip())


def _check_place(root: Path) -> None:
    """See that there is a repository here, all of it inside the workspace."""
    own = root / ".git"
    if not os.path.lexists(own):
        around = next((each for each in root.parents if (each / ".git").exists()), None)
        if around is not None:
            raise ToolError(
                f"the workspace is a folder inside the repository {around}, which git tools do not reach into",
                hint=f"call with --workspace {around}",
            )
        raise ToolError("the workspace is not a git repository", hint="git init makes it one")
    if own.is_symlink() or not own.is_dir():
        raise OutsideWorkspace(
            "the workspace's repository lies somewhere else (.git is a link, or a worktree's file)",
            hint="use the repository's main folder as the workspace",
        )
    leading_out = [str(each) for each in _links(own)]
    leading_out += [name for name in ("commondir", "objects/info/alternates") if (own / name).exists()]
    if leading_out:
        raise OutsideWorkspace(
            f"the workspace's repository is not all inside it: .git/{leading_out[0]} leads out",
            hint="clone it without sharing anything",
        )


def _links(own: Path) -> Iterator[Path]:
    """Links among what git reads and writes there, relative to it; objects are looked at by their folders."""
    for folder, folders, files in os.walk(own):
        below = Path(folder).relative_to(own)
        yield from (below / each for each in (*folders, *files) if os.path.islink(os.path.join(folder, each)))
        if below.name in ("hooks", "lfs", "modules") or below.parts[:1] == ("objects",):
            folders.clear()
