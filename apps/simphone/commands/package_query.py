"""`cmd package resolve-activity` and `query-activities`: what an intent starts."""

from __future__ import annotations

from simphone.commands.call import Call
from simphone.system.intent import Arguments, parse


async def resolve_activity(call: Call, arguments: Arguments) -> int:
    brief = "--brief" in call.words or "--components" in call.words
    intent = parse(arguments, _option)
    component = call.system.packages.resolve(intent)
    if component is None:
        await call.say("No activity found")
    elif brief:
        priority = "priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true"
        await call.say(f"{priority}\n{component.short}")
    else:
        await call.say(_resolved(component.package, component.name))
    return 0


async def query_activities(call: Call, arguments: Arguments) -> int:
    """Every app that the intent could start."""
    brief = "--brief" in call.words or "--components" in call.words
    intent = parse(arguments, _option)
    packages = [intent.package] if intent.package else [each.name for each in call.system.packages]
    found = []
    for name in packages:
        intent.package = name
        component = call.system.packages.resolve(intent)
        if component is not None:
            found.append(component)
    if not found:
        await call.say("No activities found")
    elif "--components" in call.words:
        await call.say("\n".join(each.short for each in found))
    else:
        lines = [f"{len(found)} activities found:"]
        for number, each in enumerate(found):
            lines.append(f"  Activity #{number}:")
            lines.append(f"    {each.short}" if brief else f"    {_resolved(each.package, each.name)}")
        await call.say("\n".join(lines))
    return 0


def _option(option: str, more: Arguments) -> bool:
    if option in ("--user", "--query-flags"):
        more.required()
    return option in ("--brief", "--components", "--user", "--query-flags")


def _resolved(package: str, name: str) -> str:
    return (
        "priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true\n"
        f"ActivityInfo:\n  name={name}\n  packageName={package}\n  enabled=true exported=true directBootAware=false"
    )
