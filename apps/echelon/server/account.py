"""A turn's events as a client is shown them: progress as reasoning, and the response while it is written."""

from __future__ import annotations

from collections.abc import Iterator

from echelon.event_text import told
from gateway.stream import ModelAsked, ModelDelta, PhaseFailed, PhaseStarted, SessionBusy, TurnEvent

REASONING = "reasoning_content"
CONTENT = "content"


class Account:
    """Of one turn, to one client. `live` where the response need not be approved before it is shown."""

    def __init__(self, *, live: bool) -> None:
        self.shown = ""  # of the response
        self._live = live
        self._phase = ""
        self._written = ""  # by the model call that is under way

    def of(self, event: TurnEvent) -> Iterator[tuple[str, str]]:
        """(REASONING or CONTENT, text) for what the event tells."""
        match event:
            case PhaseStarted(phase=phase):
                self._phase = phase
            case ModelAsked():
                self._written = ""
            case ModelDelta(role="responder", text=text) if self._live and self._phase == "Respond":
                yield from self._wrote(text)
            case _ if not self.shown:  # reasoning comes before the answer
                for phase, line in _lines(event):
                    yield REASONING, f"{phase}: {line}\n"

    def rest(self, response: str) -> str:
        """What is still to be shown of the response."""
        if response.startswith(self.shown):
            return response[len(self.shown) :]
        return f"\n\n{response}"  # a call that failed in the middle was made again: what was shown cannot be taken back

    def _wrote(self, text: str) -> Iterator[tuple[str, str]]:
        """The response has no white space at its ends: what may be the end waits for what follows."""
        self._written += text
        sure = self._written.strip()
        if len(sure) > len(self.shown) and sure.startswith(self.shown):
            piece, self.shown = sure[len(self.shown) :], sure
            yield CONTENT, piece


def _lines(event: TurnEvent) -> Iterator[tuple[str, str]]:
    match event:
        case SessionBusy(session=session, why=why):
            yield "Waiting", f"session {session}: {why}"
        case PhaseFailed():
            yield event.phase, f"attempt {event.attempt} failed: {event.error}; again in {event.wait_s:.1f} s"
        case _:
            yield from told(event)
