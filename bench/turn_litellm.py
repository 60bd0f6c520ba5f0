"""The model calls of an Echelon turn and nothing else, through bare litellm: the same messages, the same schemas."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import urllib.request
from typing import Any

from bench.worker import serve

MODEL = "hosted_vllm/stub"


def recorded(base: str) -> list[dict[str, Any]]:
    """The calls of the Echelon turn that ran before, as the stub server has them."""
    with urllib.request.urlopen(f"{base}/requests") as answer:
        return [{**call, "model": MODEL} for call in json.load(answer)]


async def main(base: str, calls: list[dict[str, Any]]) -> None:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else it fetches prices from the network
    import litellm

    async def task() -> None:
        for call in calls:
            said = await litellm.acompletion(**call, api_base=base, api_key="none", num_retries=0, max_retries=0)
            if not said.choices[0].message.content:
                raise RuntimeError("an empty answer")

    await serve(task)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], recorded(sys.argv[1])))
