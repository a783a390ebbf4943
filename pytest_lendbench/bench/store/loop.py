"""An event loop in a thread of its own, for callers who wait."""

import asyncio
import sys
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_SWITCH_S = 1e-4
"""Python's default lets a busy thread of this process delay every operation by 5 ms."""


class LoopThread:
    """Runs coroutines on behalf of other threads."""

    def __init__(self, name: str) -> None:
        sys.setswitchinterval(_SWITCH_S)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        return not self._loop.is_closed()

    def wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine to its end and returns its result. If the caller is interrupted, it is cancelled."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        finally:
            future.cancel()

    def do(self, work: Callable[[], T]) -> T:
        """Calls a function in the loop's thread."""

        async def call() -> T:
            return work()

        return self.wait_for(call())

    def close(self) -> None:
        """Cancels what still runs and ends the thread. May be done twice."""
        if not self.running:
            return
        self.wait_for(self._cancel_all())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _cancel_all(self) -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
