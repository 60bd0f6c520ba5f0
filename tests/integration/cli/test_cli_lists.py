"""What there is to work with, as the command line lists it: recipes, tools, skills."""

from __future__ import annotations

import json
import shutil

import skills_ref

from gateway.resources import shipped

from .conftest import Cli


def test_the_shipped_recipes_are_listed_and_have_no_problem(cli: Cli) -> None:
    listed = json.loads(cli("recipes", "list", "--json").stdout)
    assert {each["name"] for each in listed} >= {"planner", "task_executor", "text_argument", "responder"}
    assert all(each["usable"] and each["problems"] == [] for each in listed)
    checked = cli("recipes", "check")
    assert checked.returncode == 0 and "no problems" in checked.stderr


def test_a_recipe_over_its_budget_and_a_broken_one_are_reported_with_their_files(cli: Cli) -> None:
    folder = cli.home / "recipes"
    folder.mkdir(parents=True)
    text = (shipped("recipes") / "planner.yaml").read_text()
    (folder / "planner.yaml").write_text(text.replace("total: 3500", "total: 350"))
    (folder / "responder.yaml").write_text("name: [")
    checked = cli("recipes", "check")
    assert checked.returncode == 2
    assert f"{folder / 'planner.yaml'}: token_budget.total: the parts add up to 3500, more than 350" in checked.stdout
    assert f"{folder / 'responder.yaml'}:1: not YAML" in checked.stdout
    by_name = {each["name"]: each for each in json.loads(cli("recipes", "list", "--json").stdout)}
    assert by_name["planner"]["origin"] == "user" and not by_name["responder"]["usable"]
    assert cli("recipes", "show", "responder").returncode == 2
    shutil.rmtree(folder)
    assert cli("recipes", "show", "planner").stdout == text


def test_an_unknown_name_names_those_that_there_are(cli: Cli) -> None:
    for group, name, known in (("recipes", "x", "planner"), ("tools", "file.edti", "Did you mean file.edit?")):
        told = cli(group, "show", name)
        assert told.returncode == 2 and known in told.stderr
    assert "there are: none yet" in cli("skills", "show", "x").stderr


def test_tools_are_listed_with_their_effect_and_what_the_configuration_says(cli: Cli) -> None:
    (cli.folder / "echelon.yaml").write_text("tools: {deny: [test.*], approve: [file.write]}\n")
    rules = {each["name"]: (each["effect"], each["rule"]) for each in json.loads(cli("tools", "list", "--json").stdout)}
    assert rules["file.read"] == ("READ", "free")
    assert rules["file.write"] == ("IDEMPOTENT", "asks first")
    assert rules["test.run"] == ("IDEMPOTENT", "denied")
    shown = json.loads(cli("tools", "show", "file.edit", "--json").stdout)
    assert shown["can_be_undone"] and "source" in shown["schema"]["properties"]
    assert "argument           path: file to change" in cli("tools", "show", "file.edit").stdout


def test_a_tool_is_shown_with_the_limits_of_its_arguments(cli: Cli) -> None:
    shown = cli("tools", "show", "skill.generator").stdout
    assert "at least 10 characters; at most 400 characters" in shown
    assert "array of string; at least 3 items; at most 8 items; each at least 3 characters" in shown
    assert "matches ^[a-z]" in shown


def test_a_tool_is_shown_with_the_patterns_that_speak_of_its_calls(cli: Cli) -> None:
    rules = {"ECHELON_TOOLS__POLICY": '{"shell.*": {"allow": ["pytest*"], "deny": ["rm *"]}, "file.*": {"ask": ["x"]}}'}
    shown = cli("tools", "show", "shell.run", **rules)
    assert [line.split(maxsplit=1)[1] for line in shown.stdout.splitlines() if line.startswith("policy")] == [
        "deny rm * (shell.*)",
        "allow pytest* (shell.*)",
    ]
    assert json.loads(cli("tools", "show", "shell.run", "--json", **rules).stdout)["policy"] == [
        {"tools": "shell.*", "deny": ["rm *"], "allow": ["pytest*"], "ask": []}
    ]


def test_tools_are_listed_and_shown_for_a_workspace(cli: Cli) -> None:
    for arguments in (("list",), ("show", "file.read")):
        assert cli("tools", *arguments, "--workspace", str(cli.folder)).returncode == 0
        assert cli("tools", *arguments, "--workspace", "nowhere").returncode == 2


def test_skills_are_listed_with_what_is_wrong_with_them(cli: Cli) -> None:
    assert "there are no skills yet" in cli("skills", "list").stderr
    good, bad = (cli.home / "skills" / name / "SKILL.md" for name in ("good", "bad"))
    for path in (good, bad):
        path.parent.mkdir(parents=True)
    good.write_text("---\nname: good\ndescription: Does good.\n---\n\n# Good\n")
    bad.write_text("no front matter")
    assert skills_ref.validate(good.parent) == []
    listed = {each["name"]: each for each in json.loads(cli("skills", "list", "--json").stdout)}
    assert (listed["good"]["description"], listed["good"]["problems"]) == ("Does good.", [])
    assert listed["bad"]["problems"]
    assert cli("skills", "show", "good").stdout == good.read_text()
