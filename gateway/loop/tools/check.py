"""check.run: what the linter and the security scan find in the workspace."""

from __future__ import annotations

from gateway.engine.ports import Effect
from gateway.errors import ToolError
from gateway.loop.conditions.evaluation import evaluate
from gateway.loop.state import ConditionResult, ConditionSetting
from gateway.tools.registry import ToolContext, ToolResult, Touches, tool

CONDITIONS = ("linting_clean", "security_scan_clean")
DEADLINE_S = 240.0
_PROGRAM_S = 100.0  # what each program gets of it at most
_LISTED = 10


@tool("check.run", effect=Effect.IDEMPOTENT, deadline_s=DEADLINE_S, touches=(Touches.WORKSPACE, Touches.PROGRAMS))
async def check_run(ctx: ToolContext) -> ToolResult:
    """Run the linter and the security scan over the workspace and report what they find, and where.

    ok: they find nothing. data: {total: findings in all, findings: [{where, code, message}], at most 10}. Raises
    ToolError where neither can be run.
    """
    configured = (ctx.settings.get("loop") or {}).get("conditions") or {}
    settings = {name: _setting(configured.get(name) or {}) for name in CONDITIONS}
    results = await evaluate(CONDITIONS, ctx.workspace, settings)
    if all(each.problem for each in results):
        raise ToolError("; ".join(f"{each.name}: {each.problem}" for each in results))
    findings = [finding for each in results for finding in each.findings][:_LISTED]
    total = sum(each.total for each in results)
    lines = [_summary(each) for each in results]
    lines += [f"{each.where}: {each.message}{f' ({each.code})' if each.code else ''}" for each in findings]
    lines += [f"… and {total - len(findings)} more"] if total > len(findings) else []
    data = {"total": total, "findings": [each.model_dump() for each in findings]}
    return ToolResult(ok=all(each.met for each in results), text="\n".join(lines), data=data)


def _setting(configured: dict[str, object]) -> ConditionSetting:
    setting = ConditionSetting.model_validate(configured)
    bounded: ConditionSetting = setting.with_(timeout_s=min(setting.timeout_s, _PROGRAM_S))
    return bounded


def _summary(result: ConditionResult) -> str:
    return f"{result.name}: {result.problem or result.summary}"
