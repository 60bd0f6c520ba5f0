"""`make bench`: every table, measured and goal side by side."""

from __future__ import annotations

import asyncio

from bench import corpus, crowd, engine, fetching, loop, loop_ends, phone, phone_task, startup, turn
from bench.table import show

show("CPU of a task: 4 model calls, 3 tool calls", turn.measure())
show(f"{crowd.TURNS} turns at once", crowd.measure())
show("The engine", asyncio.run(engine.measure()))
show("Starting", startup.measure())
show(f"{fetching.PAGES} pages that take {fetching.DELAY_S * 1000:.0f} ms each", fetching.measure())
show("Research in the Python documentation", corpus.measure())
show("The bridge to a phone", phone.measure())
show("A task on a phone", phone_task.measure())
show("An autonomous session", loop.measure())
show("Sessions that end, warn and are killed", loop_ends.measure())
