"""The tools that are always there."""

from __future__ import annotations

from gateway.tools.registry import Registry


def builtin_registry() -> Registry:
    """A fresh registry of the built-in tools; their modules are imported here, where they are first needed."""
    from gateway.tools.builtin.edit import file_edit
    from gateway.tools.builtin.file import file_list, file_read, file_undo, file_write
    from gateway.tools.builtin.memory import memory_save, memory_search
    from gateway.tools.builtin.prune import prune_test
    from gateway.tools.builtin.research import internet_research
    from gateway.tools.builtin.skill import skill_generator
    from gateway.tools.builtin.tests import run_tests

    return Registry(
        [
            file_read,
            file_list,
            file_edit,
            file_write,
            file_undo,
            run_tests,
            prune_test,
            memory_search,
            memory_save,
            internet_research,
            skill_generator,
        ]
    )
