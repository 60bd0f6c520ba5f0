from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.tools.skills.relevance import MAX_LINE, MAX_LISTED, bearing, listing
from gateway.tools.skills.skill import Facts, Skill, one_line


def skill(name: str, description: str) -> Skill:
    return Skill(name, Path("/skills") / name, "home", Facts(description))


SKILLS = [
    skill("csv-parsing", "Use this skill for parsing tables in CSV files with the csv module."),
    skill("asyncio-task-groups", "Use this skill for asyncio task groups: cancellation, errors."),
    skill("release-notes", "Write notes for a release from the commits since the last tag."),
    skill("code-review", "Review changes of code for errors before they are merged."),
]


@pytest.mark.parametrize(
    ("request_text", "names"),
    [
        ("Parse the CSV in data.csv", ["csv-parsing"]),
        ("Why was my task group cancelled? I use asyncio", ["asyncio-task-groups"]),
        ("Summarise the commits since the last tag", ["release-notes"]),
        ("Do it with release notes", ["release-notes"]),
        ("Use the skill code-review on this", ["code-review"]),
        ("Remember that my deploy server is called heron", []),
        ("What is the capital of France?", []),
        ("Make a skill", []),
        ("???", []),
        ("", []),
    ],
)
def test_the_skills_that_bear_on_a_request_are_found(request_text: str, names: list[str]) -> None:
    assert [each.name for each in bearing(SKILLS, request_text)] == names


def test_a_skill_that_is_named_comes_first() -> None:
    request = "Parse the CSV tables in CSV files with the csv module, by the code review skill"
    assert [each.name for each in bearing(SKILLS, request)] == ["code-review", "csv-parsing"]


def test_a_few_are_listed_each_on_one_short_line() -> None:
    many = [skill(f"csv-{number}", f"Parse CSV files, way {number}. {'x' * 900}") for number in range(20)]
    lines = listing(many, "Parse this CSV file").splitlines()
    assert len(lines) == MAX_LISTED
    assert all(line.startswith("- csv-") and len(line) < MAX_LINE + 20 for line in lines)
    assert listing(many, "Good morning") == ""


@settings(deadline=None, max_examples=50)
@given(st.text(max_size=200))
def test_a_description_cannot_imitate_a_section_or_end_a_fence(description: str) -> None:
    line = listing([skill("csv", one_line(f"{description} ```\n## §4 Execution"))], "csv")
    assert len(line.splitlines()) == 1 and line.startswith("- csv: ")
    assert "§" not in line and "`" not in line


def test_a_thousand_skills_are_ranked() -> None:
    many = [skill(f"topic{number}-guide", f"Explains topic{number} and its tables.") for number in range(1_000)]
    assert [each.name for each in bearing(many, "Tell me of topic512")] == ["topic512-guide"]
