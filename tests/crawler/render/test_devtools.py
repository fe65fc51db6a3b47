"""The DevTools protocol, against a browser that is the other end of two pipes."""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

import pytest

from crawler.render import devtools
from crawler.render.devtools import DevTools, DevToolsError, TargetGone


class Wire:
    """Both ends of a connection: `tools` and what a browser would read and write."""

    def __init__(self, tools: DevTools, asked: int, said: int) -> None:
        self.tools = tools
        self._asked = asked
        self._said = said

    @classmethod
    async def open(cls) -> Wire:
        from_browser, said = os.pipe()
        asked, to_browser = os.pipe()
        return cls(await DevTools.open(from_browser, to_browser), asked, said)

    def say(self, *messages: object) -> None:
        os.write(self._said, b"".join(json.dumps(each).encode() + b"\0" for each in messages))

    async def heard(self) -> list[dict[str, Any]]:
        await asyncio.sleep(0.01)
        return [json.loads(each) for each in os.read(self._asked, 1 << 16).split(b"\0") if each]

    async def close(self) -> None:
        os.close(self._said)
        await asyncio.wait_for(self.tools.gone.wait(), 300)
        self.tools.close()
        os.close(self._asked)
        await asyncio.sleep(0)


def test_commands_get_their_answers_and_sessions_their_events() -> None:
    async def talk() -> None:
        wire = await Wire.open()
        events: list[tuple[str, str]] = []
        wire.tools.listen("S", lambda method, event, session: events.append((method, session)))
        one, two = wire.tools.send("A.a", "S", x=1), wire.tools.send("B.b")
        assert await wire.heard() == [
            {"id": 1, "method": "A.a", "params": {"x": 1}, "sessionId": "S"},
            {"id": 2, "method": "B.b", "params": {}},
        ]
        wire.say(
            {"id": 2, "error": {"message": "no such thing"}},
            {"method": "C.c", "sessionId": "S"},
            {"method": "C.c", "sessionId": "T"},
            {"id": 1, "result": {"y": "二"}},
        )
        assert await one == {"y": "二"}
        with pytest.raises(DevToolsError, match="no such thing"):
            await two
        assert events == [("C.c", "S")]
        await wire.close()

    asyncio.run(talk())


def test_sessions_and_browsers_that_end_fail_what_waits() -> None:
    async def talk() -> None:
        wire = await Wire.open()
        of_page, of_browser = wire.tools.send("A.a", "S"), wire.tools.send("B.b")
        wire.tools.end("S")
        for future in (of_page, wire.tools.send("A.a", "S")):
            with pytest.raises(TargetGone):
                await future
        assert not of_browser.done()
        await wire.close()
        for future in (of_browser, wire.tools.send("B.b")):
            with pytest.raises(TargetGone):
                await future

    asyncio.run(talk())


def test_message_that_is_too_long_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devtools, "_LONGEST_MESSAGE", 1000)

    async def talk() -> None:
        wire = await Wire.open()
        long, short = wire.tools.send("A.a"), wire.tools.send("B.b")
        for _ in range(4):
            os.write(wire._said, b"x" * 400)
            await asyncio.sleep(0.01)
        os.write(wire._said, b"\0")
        wire.say({"id": 1, "result": {"text": "x" * 2000}}, {"id": 2, "result": {}})
        assert await short == {}
        assert not long.done()
        await wire.close()

    asyncio.run(talk())
