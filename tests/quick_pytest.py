"""A pytest that tests start begins at once: without the plugins that happen to be installed beside it."""

ADDOPTS = "-p no:hypothesispytest -p no:pytest-bdd -p no:anyio -p no:asyncio -p no:xdist"
INI = f"[pytest]\naddopts = {ADDOPTS}\n"
TOML = f'\n[tool.pytest.ini_options]\naddopts = "{ADDOPTS}"\n'
