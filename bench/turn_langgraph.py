"""The job as a LangGraph agent that keeps its checkpoints in SQLite. Runs in an environment of its own."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from itertools import count

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from bench import job
from bench.worker import serve

PROMPT = "Carry out the user's request with the tools, one call at a time, then say in one sentence what was done."


async def main(base: str) -> None:
    model = ChatOpenAI(model="stub", base_url=base, api_key="none", temperature=0, max_retries=0)
    threads = count(1)
    with tempfile.TemporaryDirectory() as folder:
        async with AsyncSqliteSaver.from_conn_string(f"{folder}/checkpoints.db") as saver:
            tools = [job.page_list, job.page_read, job.note_keep]
            agent = create_agent(model, tools, system_prompt=PROMPT, checkpointer=saver)

            async def task() -> None:
                config = {"configurable": {"thread_id": f"t{next(threads)}"}}
                asked = {"messages": [{"role": "user", "content": job.REQUEST}]}
                done = await agent.ainvoke(asked, config)
                if done["messages"][-1].content != job.ANSWER or len(done["messages"]) != 8:
                    raise RuntimeError(f"the job was not done: {done['messages']}")

            await serve(task)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
