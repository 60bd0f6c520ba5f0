"""git, run for the repository of a workspace: as a program without a shell, and so that it starts no other program.

A repository may have been made by anybody, and its `.git/config` with it. So git is told where the repository is and
does not look for it; it is given the few harmless keys of `_KEPT` and nothing else of the system's and the user's
configuration; and every setting by which a repository can name a program (hooks, fsmonitor, filters, external diffs,
text conversion, pagers, editors, signing, transports) is overridden. The repositories inside it (submodules) have
settings of their own: git does not look into them but where it cannot be kept from it, and then with theirs overridden.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gateway.errors import OutsideWorkspace, ToolError
from gateway.tools.sandbox import run_program
from gateway.tools.workspace import Workspace

PROGRAM_S = 25.0
_OUTPUT_BYTES = 8 << 20
_LISTED_BYTES = 64 << 20  # names of all files that are tracked: some 600,000
_GITLINK = "160000 "  # how git lists a repository inside of another
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
        keys = []
        parts = listed.output.split("\0")
        for scope, entry in zip(parts[::2], parts[1::2], strict=False):
            key, _, value = entry.partition("\n")
            if key in _KEPT:
                config[key] = value
            if scope in ("local", "worktree"):
                keys.append(key)
        return cls(workspace, config, _filters(keys, listed))

    async def run(
        self,
        *args: str,
        index: Path | None = None,
        stdin: str = "",
        check: bool = True,
        env: Mapping[str, str] = {},
        config: Mapping[str, str] = {},
    ) -> Answer:
        """One git command, with `index` in place of the repository's own, and `config` on top of what it is told.
        If checked, ToolError where it fails."""
        settings = self._settings(config=config)
        env = {**_ENVIRONMENT, **settings, **env, **({"GIT_INDEX_FILE": str(index)} if index else {})}
        answer = await _run(self.workspace.root, args, env, stdin)
        if check and answer.code:
            raise ToolError(f"git {args[0]} failed: {answer.errors[:500] or f'code {answer.code}'}")
        return answer

    async def add(
        self,
        paths: Sequence[str] | None,
        index: Path | None = None,
        env: Mapping[str, str] = {},
        config: Mapping[str, str] = {},
    ) -> Answer:
        """Bring the index to what stands in the workspace, of these paths or of all.

        git asks every repository inside whether it has changed, whatever it is told, and that one would start its own
        filters: they are overridden, too.
        """
        settings = self._settings(await self._inner_filters(index), config)
        only = ["--", *paths] if paths is not None else []
        return await self.run("add", "--all", *only, index=index, env={**settings, **env})

    async def head(self) -> str:
        """The id of the last commit; empty where there is none yet."""
        found = await self.run("rev-parse", "--verify", "--quiet", "HEAD", check=False)
        return found.output.strip() if found.code == 0 else ""

    async def base(self) -> str:
        """What the workspace is compared with: the last commit, or the empty tree."""
        return await self.head() or (await self.run("hash-object", "-t", "tree", "--stdin")).output.strip()

    async def _inner_filters(self, index: Path | None) -> set[str]:
        """Names of the filters that the repositories inside have, and those inside of them."""
        env = {**_ENVIRONMENT, **self._settings()}
        own = {**env, "GIT_INDEX_FILE": str(index)} if index else env
        found: set[str] = set()
        seen: set[Path] = set()
        left = await _gitlinks(_git(self.workspace.root), self.workspace.root, own)
        while left:
            root = _checked_out(left.pop())
            if root is None or root in seen:
                continue
            seen.add(root)
            inner = ["git", "--no-pager", "--git-dir=.git"]  # as git itself goes there
            listed = await _started([*inner, "config", "--list", "-z", "--name-only"], root, env)
            top = await _started([*inner, "rev-parse", "--show-toplevel"], root, env)  # its settings may say another
            if listed.code or top.code:
                said = (listed.errors or top.errors)[:300]
                raise ToolError(f"git cannot read the repository {root}, which is inside the workspace's: {said}")
            found |= _filters(listed.output.split("\0"), listed)
            left += await _gitlinks(inner, Path(top.output.removesuffix("\n")), env, cwd=root)
        return found

    def _settings(self, inner_filters: Iterable[str] = (), config: Mapping[str, str] = {}) -> dict[str, str]:
        """The overriding configuration, in the form in which git takes it from the environment."""
        settings = {key: self.config[key] for key in _KEPT if key in self.config} | _OVERRIDDEN | dict(config)
        for name in {*self._filters, *inner_filters}:
            settings |= {f"{name}.clean": "", f"{name}.smudge": "", f"{name}.process": "", f"{name}.required": "false"}
        found = {"GIT_CONFIG_COUNT": str(len(settings))}
        for number, (key, value) in enumerate(settings.items()):
            found |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        return found


def _git(root: Path) -> list[str]:
    return ["git", "--no-pager", f"--git-dir={root / '.git'}", f"--work-tree={root}"]


async def _run(root: Path, args: Iterable[str], env: Mapping[str, str], stdin: str = "") -> Answer:
    return await _started([*_git(root), *args], root, env, stdin)


async def _gitlinks(command: Sequence[str], root: Path, env: Mapping[str, str], cwd: Path | None = None) -> list[Path]:
    """Folders of the repositories inside the one whose files are in `root`, as its index has them."""
    listing = [*command, "ls-files", "--full-name", "--stage", "-z"]
    listed = await _started(listing, cwd or root, env, output_bytes=_LISTED_BYTES)
    if listed.code or len(listed.output.encode()) > _LISTED_BYTES:
        raise ToolError(f"git cannot list what is tracked: {listed.errors[:300] or 'it is too much'}")
    links = [each.partition("\t")[2] for each in listed.output.split("\0") if each.startswith(_GITLINK)]
    if any("\ufffd" in each for each in links):
        raise ToolError("a repository inside of the workspace's has a name that is not UTF-8", hint="rename it")
    return [root / each for each in dict.fromkeys(links)]


def _filters(keys: Iterable[str], listed: Answer) -> set[str]:
    """Names of the filters among a configuration's keys. ToolError where one could be missed: it would be started."""
    found = {each.rpartition(".")[0] for each in keys if each.startswith("filter.")}
    if len(listed.output.encode()) > _OUTPUT_BYTES or any("\ufffd" in each for each in found):
        raise ToolError("a repository's configuration is too long, or names a filter that is not UTF-8")
    return found


def _checked_out(folder: Path) -> Path | None:
    """Where a repository inside of another lies, links resolved; None where there are no files of it."""
    root = Path(os.path.realpath(folder))
    return root if os.path.lexists(root / ".git") else None


async def _started(
    command: Sequence[str], cwd: Path, env: Mapping[str, str], stdin: str = "", output_bytes: int = _OUTPUT_BYTES
) -> Answer:
    try:
        finished = await run_program(
            command,
            cwd=cwd,
            deadline_s=PROGRAM_S,
            env=env,
            output_bytes=output_bytes,
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
