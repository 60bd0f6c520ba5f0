"""Agents by the name of their class: found, and made with what the configuration has for them."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Mapping, Sequence
from typing import Any

from gateway.engine.ports import Json
from gateway.errors import ConfigError, EchelonError
from gateway.phone.agents.printed import printed
from gateway.phone.task.state import PhoneContext

SPEC = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
OPENAI_LIKE = ("openai/", "hosted_vllm/", "litellm_proxy/", "lm_studio/")
"""How litellm's names of models begin whose server speaks OpenAI's protocol: there they are called the rest."""

Tools = Sequence[Mapping[str, Json]]


def find(spec: str) -> Any:
    """The class, or object, that `package.module:Class` names. Raises ConfigError."""
    if not SPEC.fullmatch(spec):
        raise ConfigError(
            f"agent {spec!r}: expected builtin, or package.module:Class",
            hint="an agent that a program gave as an object is there in that program only",
        )
    module, _, path = spec.partition(":")
    try:
        with printed():
            found: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        hint = (
            "run it in the folder that holds it, or put that on PYTHONPATH"
            if error.name == module.split(".")[0]
            else "install it"
        )
        raise ConfigError(f"agent {spec}: there is no module {error.name}", hint=hint) from error
    except Exception as error:  # whatever a stranger's module raises
        raise ConfigError(f"agent {spec}: {module} cannot be imported: {type(error).__name__}: {error}") from error
    for name in path.split("."):
        found = getattr(found, name, None)
        if found is None:
            raise ConfigError(f"agent {spec}: there is no {path} in {module}")
    return found


def make(found: Any, context: PhoneContext, tools: Tools = (), api_key: str = "") -> Any:
    """An agent of that class, with the arguments of its constructor that are known; an object is the agent itself.
    Raises ConfigError."""
    name = getattr(found, "__qualname__", type(found).__qualname__)
    agent = found
    if isinstance(found, type) or not hasattr(found, "predict"):
        try:
            agent = found(**_arguments(found, name, _known(context, tools, api_key)))
        except EchelonError:
            raise
        except Exception as error:  # whatever a stranger's constructor raises
            raise ConfigError(f"agent {name} cannot be made: {type(error).__name__}: {error}") from error
    if not callable(getattr(agent, "predict", None)):
        raise ConfigError(f"agent {name} has no method predict(instruction, obs)")
    try:
        inspect.signature(agent.predict).bind("", {})
    except TypeError as error:
        raise ConfigError(f"agent {name}: predict cannot be called with instruction and obs: {error}") from None
    except ValueError:  # it does not tell
        pass
    return agent


def _known(context: PhoneContext, tools: Tools, api_key: str) -> dict[str, Any]:
    """By the names that constructors have for them; None for what is not configured."""
    server = context.settings.get("api_base")
    model = context.models.get("phone") or None
    for beginning in OPENAI_LIKE:
        if model is not None and model.startswith(beginning):
            model = model.removeprefix(beginning)
            break
    own = {"history_n": context.options.history, "temperature": context.options.temperature}
    offered = [dict(each) for each in tools] or None
    return {
        **dict.fromkeys(("llm_base_url", "base_url", "api_base"), server),
        **dict.fromkeys(("model_name", "model"), model),
        **dict.fromkeys(("tools", "mcp_tools"), offered),
        **own,
        "runtime_conf": {key: each for key, each in own.items() if each is not None},
        "api_key": api_key or None,
    }


def _arguments(found: Any, name: str, known: Mapping[str, Any]) -> dict[str, Any]:
    if not callable(found):
        raise ConfigError(f"agent {name} is no class, and has no method predict(instruction, obs)")
    try:
        parameters = inspect.signature(found).parameters.values()
    except ValueError:  # it does not tell
        return {}
    given: dict[str, Any] = {}
    for each in parameters:
        if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            continue
        value = known.get(each.name)
        if value is not None:
            given[each.name] = value
        elif each.default is each.empty:
            raise ConfigError(f"agent {name} needs {each.name}, which is not configured", hint=_hint(each.name))
    return given


def _hint(parameter: str) -> str:
    if parameter in ("llm_base_url", "base_url", "api_base"):
        return (
            "say where the model's server is: --api-base http://localhost:8000/v1, or `api_base:` in the configuration"
        )
    if parameter in ("model_name", "model"):
        return "name the model: --model, or `model:` in the configuration"
    return "make the agent in Python, and give it to TaskExecutor(agent=…)"
