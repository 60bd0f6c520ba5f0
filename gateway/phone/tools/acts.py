"""Single looks and acts. What is not on the screen cannot be named; what cannot be taken back is asked about first."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from gateway.engine.ports import Effect, LookFailed, Reconciled, Reconciliation
from gateway.errors import DeviceError, ToolError
from gateway.phone import actions
from gateway.phone.actions import DeviceAction
from gateway.phone.element import Element
from gateway.phone.judging.look import Look
from gateway.phone.tools.held import Done, HeldPhone, held
from gateway.phone.tools.screen import APPS, SCREEN, data_of, described, find, last, one_of
from gateway.phone.trajectory.words import in_words
from gateway.tools.registry import Schema, Situation, ToolContext, ToolResult, Touches, tool

DEADLINE_S = 90.0
FINGER = {"up": ((0.5, 0.7), (0.5, 0.3)), "down": ((0.5, 0.3), (0.5, 0.7))}
FINGER |= {"left": ((0.8, 0.5), (0.2, 0.5)), "right": ((0.2, 0.5), (0.8, 0.5))}
BUTTONS: dict[str, DeviceAction] = {
    "back": actions.Back(),
    "home": actions.Home(),
    "recent": actions.Recent(),
    "enter": actions.Enter(),
}
NAMED = 'what is tapped, as the list has it, such as `3 button "Save"`'


class Tap(BaseModel):
    element: Annotated[str, Field(min_length=1, max_length=200, description=NAMED)]


class Type(BaseModel):
    element: Annotated[str, Field(max_length=200, description="the field; empty for the one that has the focus")] = ""
    text: Annotated[str, Field(min_length=1, max_length=4000, description="what is typed, word for word")]


class Swipe(BaseModel):
    direction: Annotated[
        Literal["up", "down", "left", "right"],
        Field(description="where the finger moves: up shows what is further below"),
    ]


class Press(BaseModel):
    button: Literal["back", "home", "recent", "enter"]


class OpenApp(BaseModel):
    app: Annotated[str, Field(min_length=1, max_length=200, description="its label, or its package")]


class _NotThere(ToolError):
    def __init__(self, name: str, look: Look) -> None:
        super().__init__(f"{name} is not on the screen now: choose again")
        self.look = look

    def told(self) -> ToolResult:
        return ToolResult(ok=False, text=f"{self}\n{described(self.look)}", data=data_of(self.look))


def _act_of(args: BaseModel, look: Look) -> DeviceAction:
    """What the arguments mean on this screen. Raises _NotThere."""
    match args:
        case Tap():
            return actions.Tap(coordinate=actions.Numbered(element=_there(args.element, look).number))
        case Type():
            return actions.Type(text=args.text)
        case Swipe():
            start, end = FINGER[args.direction]
            return actions.Swipe(start=start, end=end)
        case Press():
            return BUTTONS[args.button]
    raise AssertionError(args)


def _there(name: str, look: Look) -> Element:
    found = find(name, look.elements or ())
    if found is None:
        raise _NotThere(name, look)
    return found


def _label(args: Tap | Type, ctx: ToolContext) -> str:
    """Of the target, without its number: what the configuration's patterns speak of."""
    return args.element.lstrip("0123456789").strip() or args.element


async def _risky(args: BaseModel, ctx: ToolContext) -> bool:
    """Whether it would do something that cannot be taken back, on the screen that is there."""
    async with held(ctx) as phone:
        look = await phone.look()
        try:
            return bool(phone.risk(_act_of(args, look), look))
        except _NotThere:  # which the call itself will say
            return False


async def _was_done(args: BaseModel, ctx: ToolContext) -> Reconciliation:
    """Raises LookFailed where the phone cannot be looked at now."""
    try:
        async with held(ctx) as phone:
            told = await phone.happened()
            if told.verdict is not Reconciled.DONE:
                return told
            look = await phone.look()
    except DeviceError as error:
        error.retryable = False
        raise LookFailed(error) from error
    text = f"Its answer was lost; the screen shows that it happened.\n{described(look)}"
    return Reconciliation(Reconciled.DONE, ToolResult(text=text, data=data_of(look)).model_dump())


def _told(done: Done) -> ToolResult:
    """What became of it, and what is on the screen now."""
    from gateway.phone.judging.postcondition import judge
    from gateway.phone.judging.target import called

    result = judge(
        done.action,
        done.target,
        done.before,
        done.after,
        done.outcome,
        screen_change=True,
        consequential=done.risk,
    )
    what = in_words(done.action.model_dump(mode="json"), called(done.target))
    said = "done" if result.ok and not result.note else result.note or "it is not known whether it happened"
    data = {**data_of(done.after), "cause": result.cause}
    if result.ok:
        data["changed"] = f"on the phone: {what}"
    return ToolResult(ok=result.ok is not False, text=f"{what}: {said}\n{described(done.after)}", data=data)


async def _do(args: BaseModel, ctx: ToolContext) -> ToolResult:
    async with held(ctx) as phone:
        look = await phone.look()
        try:
            if isinstance(args, Type) and args.element:
                look = await _focused(phone, args.element, look)
            return _told(await phone.act(_act_of(args, look), look))
        except _NotThere as error:
            return error.told()


async def _focused(phone: HeldPhone, name: str, look: Look) -> Look:
    """The screen with the field in focus."""
    field = _there(name, look)
    return look if "focused" in field.state else await phone.focus(field, look)


@tool(SCREEN, effect=Effect.READ, deadline_s=DEADLINE_S, touches=(Touches.PHONE,))
async def screen(ctx: ToolContext) -> ToolResult:
    """Look at the phone: which app is in front, what is on its screen, which apps there are."""
    async with held(ctx) as phone:
        apps = await phone.apps()
        look = await phone.look()
    names = ", ".join(apps)
    listed = names if len(names) <= APPS else f"{names[:APPS].rsplit(',', 1)[0]}, …"
    return ToolResult(text=f"{described(look)}\nApps: {listed}", data={**data_of(look), "apps": apps})


def _elements(schema: Schema, ctx: ToolContext, situation: Situation) -> Schema:
    return one_of(schema, "element", last(situation, "elements"))


def _fields(schema: Schema, ctx: ToolContext, situation: Situation) -> Schema:
    schema = one_of(schema, "element", last(situation, "fields"))
    schema["required"] = ["element", "text"]
    return schema


def _apps(schema: Schema, ctx: ToolContext, situation: Situation) -> Schema:
    seen = [result for result in situation.results if "apps" in result["data"]]
    return one_of(schema, "app", list(seen[-1]["data"]["apps"])) if seen else schema


def _looked_at(schema: Schema, ctx: ToolContext, situation: Situation) -> Schema:
    last(situation, "elements")
    return schema


@tool(
    "phone.tap",
    effect=Effect.ONCE,
    deadline_s=DEADLINE_S,
    touches=(Touches.PHONE,),
    subject=_label,
    asks=_risky,
    narrow=_elements,
    reconcile=_was_done,
    spends=("taps",),
)
async def tap(args: Tap, ctx: ToolContext) -> ToolResult:
    """Tap something on the phone's screen."""
    return await _do(args, ctx)


@tool(
    "phone.type",
    effect=Effect.ONCE,
    deadline_s=DEADLINE_S,
    touches=(Touches.PHONE,),
    subject=_label,
    asks=_risky,
    narrow=_fields,
    reconcile=_was_done,
    spends=("taps",),
)
async def type_text(args: Type, ctx: ToolContext) -> ToolResult:
    """Type a text into a field on the phone's screen."""
    return await _do(args, ctx)


@tool(
    "phone.swipe",
    effect=Effect.ONCE,
    deadline_s=DEADLINE_S,
    touches=(Touches.PHONE,),
    asks=_risky,
    narrow=_looked_at,
    reconcile=_was_done,
    spends=("taps",),
)
async def swipe(args: Swipe, ctx: ToolContext) -> ToolResult:
    """Swipe across the phone's screen: up to scroll on, left to the next page."""
    return await _do(args, ctx)


@tool(
    "phone.press",
    effect=lambda args: Effect.IDEMPOTENT if args.button == "home" else Effect.ONCE,
    deadline_s=DEADLINE_S,
    touches=(Touches.PHONE,),
    asks=_risky,
    reconcile=_was_done,
    spends=("taps",),
)
async def press(args: Press, ctx: ToolContext) -> ToolResult:
    """Press a button of the phone: back, home, recent apps, or Enter on its keyboard."""
    return await _do(args, ctx)


@tool(
    "phone.open_app",
    effect=Effect.IDEMPOTENT,
    deadline_s=DEADLINE_S,
    touches=(Touches.PHONE,),
    narrow=_apps,
    spends=("taps",),
)
async def open_app(args: OpenApp, ctx: ToolContext) -> ToolResult:
    """Open an app on the phone."""
    async with held(ctx) as phone:
        await phone.open_app(args.app)
        look = await phone.look()
    return ToolResult(text=f"{args.app} is open.\n{described(look)}", data=data_of(look))
