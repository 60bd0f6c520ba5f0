"""Recipes: what they may say, where they are found, and what their check finds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from gateway import resources
from gateway.errors import ConfigError
from gateway.llm import recipes

VALID: dict[str, Any] = {
    "name": "mine",
    "role": "executor",
    "phase": "execution",
    "prompt_fragments": ["prompts/mine/system.md (20 tokens)", "prompts/mine_patterns/{task_type}.md (20 tokens)"],
    "input_docs": [{"path": "context.md", "sections": [0, "4"], "optional": False, "max_tokens": 100}],
    "token_budget": {"total": 300, "prompt": 40, "input_docs": 100, "output": 100, "buffer": 60},
}


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    for name in ("mine/system.md", "mine_patterns/a.md", "mine_patterns/b.md"):
        path = tmp_path / "prompts" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"---\ntask_type: {'x ' * 50}\n---\n# {name}\n\nDo it.\n")
    return tmp_path / "prompts"


def parsed(**changes: Any) -> recipes.Recipe:
    return recipes.parse(yaml.safe_dump({**VALID, **changes}), "mine.yaml")


def test_a_recipe_of_the_specification_is_understood() -> None:
    recipe = parsed()
    assert recipe.prompt_fragments[0] == recipes.Fragment(path="prompts/mine/system.md", tokens=20)
    assert recipe.input_docs[0].sections == ("0", "4")
    assert (recipe.input_docs[0].path_type, recipe.input_docs[0].trim) == ("turn", "tail")
    assert recipe.token_budget.input == 200


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"colour": "red"}, "colour"),
        ({"input_docs": [{"path": "context.md", "max_tokens": 5, "size": 3}]}, r"input_docs\.0\.size"),
        ({"input_docs": [{"path": "context.md", "max_tokens": 5, "trim": "sideways"}]}, r"input_docs\.0\.trim"),
        ({"input_docs": [{"path": "context.md", "max_tokens": 5, "trim": "oldest_results"}]}, r"input_docs\.0"),
        ({"prompt_fragments": ["prompts/mine.md"]}, r"prompt_fragments\.0"),
        ({"token_budget": {"total": 300}}, r"token_budget\.prompt"),
        ({"llm_params": {"temprature": 1}}, r"llm_params\.temprature"),
        ({"name": None}, "name"),
    ],
)
def test_a_wrong_key_is_named_with_its_file(changes: dict[str, Any], key: str) -> None:
    with pytest.raises(ConfigError, match=rf"^mine\.yaml: {key}: "):
        parsed(**changes)


@pytest.mark.parametrize("text", ["[", "just text", ""])
def test_a_file_that_is_no_recipe_is_named(text: str) -> None:
    with pytest.raises(ConfigError, match=r"^mine\.yaml:"):
        recipes.parse(text, "mine.yaml")


def test_a_user_recipe_is_found_before_the_shipped_one(tmp_path: Path) -> None:
    (tmp_path / "planner.yaml").write_text(yaml.safe_dump({**VALID, "name": "planner", "role": "mine"}))
    assert recipes.load("planner", [tmp_path]).role == "mine"
    assert recipes.load("planner").role == "planner"


def test_a_recipe_under_another_name_than_its_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text(yaml.safe_dump(VALID))
    with pytest.raises(ConfigError, match="name"):
        recipes.load("other", [tmp_path])


def test_fragments_are_read_without_front_matter(prompts: Path) -> None:
    texts = recipes.fragment_texts(parsed(), {"task_type": "a"}, [prompts])
    assert texts == {
        "prompts/mine/system.md": "# mine/system.md\n\nDo it.",
        "prompts/mine_patterns/a.md": "# mine_patterns/a.md\n\nDo it.",
    }


def test_a_placeholder_without_a_value_is_an_error(prompts: Path) -> None:
    with pytest.raises(ConfigError, match="task_type"):
        recipes.fragment_texts(parsed(), {}, [prompts])


def test_a_task_type_cannot_lead_out_of_the_prompts(prompts: Path) -> None:
    (prompts.parent / "secret.md").write_text("secret")
    with pytest.raises(ConfigError, match="leaves"):
        recipes.fragment_texts(parsed(), {"task_type": "../../secret"}, [prompts])


def test_a_good_recipe_has_no_problems(prompts: Path) -> None:
    assert recipes.check(parsed(), [prompts]) == []


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"token_budget": {**VALID["token_budget"], "total": 250}}, "token_budget.total: the parts add up to 300"),
        ({"token_budget": {**VALID["token_budget"], "prompt": 30}}, "token_budget.prompt: the fragments may have 40"),
        (
            {"input_docs": [{"path": "a.md", "optional": False, "max_tokens": 60}] * 2},
            "token_budget.input_docs: the required ones may have 120",
        ),
        ({"input_docs": [{"path": "a.md", "max_tokens": 200}]}, "input_docs.0.max_tokens: more than all"),
        (
            {"input_docs": [{"path": "context.md", "sections": ["9"], "max_tokens": 9}]},
            "input_docs.0.sections: context.md has no section '9'",
        ),
        (
            {"input_docs": [{"path": "context.md", "sections": ["4", "0"], "max_tokens": 9}]},
            "input_docs: sections out of order",
        ),
        ({"prompt_fragments": ["prompts/no.md (5 tokens)"]}, "prompt_fragments.0: there is no prompts/no.md"),
        ({"prompt_fragments": ["prompts/mine/system.md (2 tokens)"]}, "prompt_fragments.0: "),
        ({"prompt_fragments": ["prompts/mine_patterns/{task_type}.md (2 tokens)"]}, "prompt_fragments.0: "),
    ],
)
def test_check_finds_what_cannot_be_packed(prompts: Path, changes: dict[str, Any], problem: str) -> None:
    found = [str(each) for each in recipes.check(parsed(**changes), [prompts])]
    assert any(each.startswith(problem) for each in found), found


@pytest.mark.parametrize("found", resources.listing("recipes"), ids=lambda found: found.relative)
def test_the_shipped_recipes_pass_their_check(found: resources.Resource) -> None:
    assert recipes.check(recipes.load(found.relative.removesuffix(".yaml"))) == []
