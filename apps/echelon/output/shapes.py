"""The shape of each command's JSON output."""

from __future__ import annotations

from types import UnionType
from typing import Any

from pydantic import BaseModel, TypeAdapter

from echelon.output.check import CheckRow
from echelon.output.evaluation import Evaluation
from echelon.output.graph import GraphShown
from echelon.output.loop import (
    CheckpointRow,
    CheckpointShown,
    LoopExits,
    LoopLimits,
    LoopOrdered,
    LoopProgress,
    LoopRow,
)
from echelon.output.memory import MemoryForgotten, MemoryRow
from echelon.output.model import ModelPulled, ModelRemoved, ModelRow
from echelon.output.pattern import PatternProblems, PatternRow, PatternShown
from echelon.output.phone import DeviceRow, PhoneOutcome
from echelon.output.recipe import RecipeProblems, RecipeRow, RecipeShown
from echelon.output.run import Cancelled, EventRow, ReplayOutcome, RunRow, RunShown
from echelon.output.schemas import Schemas
from echelon.output.session import SessionForgotten, SessionRow, SessionTitled
from echelon.output.simphone import AppPacked, AppRow, FaultRow, SimphoneRow
from echelon.output.skill import SkillRestored, SkillRow, SkillShown, VersionRow
from echelon.output.tool import ToolRow, ToolShown
from echelon.output.turn import TurnDiff, TurnDocument, TurnOutcome, TurnRow

SHAPES: dict[str, type[BaseModel] | type[list[Any]] | UnionType] = {
    "run": TurnOutcome,
    "turns list": list[TurnRow],
    "turns show": TurnDocument,
    "turns diff": TurnDiff,
    "sessions list": list[SessionRow],
    "sessions title": SessionTitled,
    "sessions forget": SessionForgotten,
    "runs list": list[RunRow],
    "runs show": RunShown,
    "runs events": EventRow,
    "runs resume": TurnOutcome | PhoneOutcome | LoopProgress,
    "runs answer": TurnOutcome | PhoneOutcome | LoopProgress,
    "runs cancel": Cancelled,
    "runs replay": ReplayOutcome,
    "runs graph": GraphShown,
    "patterns list": list[PatternRow],
    "patterns show": PatternShown,
    "patterns check": PatternProblems,
    "recipes list": list[RecipeRow],
    "recipes show": RecipeShown,
    "recipes check": RecipeProblems,
    "tools list": list[ToolRow],
    "tools show": ToolShown,
    "tools call": TurnOutcome,
    "skills list": list[SkillRow],
    "skills show": SkillShown,
    "skills versions": list[VersionRow],
    "skills restore": SkillRestored,
    "memory list": list[MemoryRow],
    "memory search": list[MemoryRow],
    "memory forget": MemoryForgotten,
    "eval": Evaluation,
    "models list": list[ModelRow],
    "models pull": ModelPulled,
    "models remove": ModelRemoved,
    "phone": PhoneOutcome,
    "phone devices": list[DeviceRow],
    "phone doctor": list[CheckRow],
    "loop start": LoopProgress,
    "loop list": list[LoopRow],
    "loop status": LoopProgress,
    "loop watch": LoopProgress,
    "loop extend": LoopLimits,
    "loop pause": LoopOrdered,
    "loop stop": LoopOrdered,
    "loop resume": LoopProgress,
    "loop checkpoints": list[CheckpointRow] | CheckpointShown,
    "loop exits": LoopExits,
    "simphone start": list[SimphoneRow],
    "simphone apps": list[AppRow],
    "simphone pack": AppPacked,
    "simphone faults": list[FaultRow],
    "doctor": list[CheckRow],
    "schema": Schemas,
}

BY_LINE = frozenset({"runs events", "loop watch"})
"""Commands that print any number of such objects, each on a line of its own."""


def json_schema(command: str) -> dict[str, Any]:
    """The JSON schema of what it prints, or of each line. Raises KeyError."""
    shape: Any = SHAPES[command]
    return TypeAdapter(shape).json_schema(mode="serialization")
