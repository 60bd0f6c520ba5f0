"""Agent Skills (agentskills.io): finding, checking, ranking and versioning folders with a SKILL.md."""
