"""Settings do what they say, where the effect arises; each is named by a test of its effect, here or elsewhere."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request
from scrapy.downloadermiddlewares.useragent import UserAgentMiddleware

from crawler.frontier.retention import keep
from crawler.options.config import Config
from crawler.options.seeds import Seed
from crawler.options.table import OPTIONS
from crawler.politeness.delay import RobotsRules, Speed
from crawler.render.renderer import Renderer
from crawler.run.session import Session, signature_index
from db.engine.database import open_for_crawl
from db.frontier.insert import add_urls
from db.records.article import Keep
from db.records.reasons import SkipReason
from pipelines.dedup.judge import DuplicateJudge
from pipelines.describe import describe
from pipelines.focus.terms import read_text
from pipelines.focus.topic import liking
from pipelines.models.files import dumps
from tests.crawler.driving import Driver, new_database, page_urls, rows, settings_of
from tests.crawler.options.test_config import given
from tests.db.frontier_rows import new_url
from tests.pipelines.dedup.test_judge import REWRITTEN, STORY, new, stored

TESTS = Path(__file__).parents[2]
TABLE_CHECKS = {"test_config.py", "test_names.py", "test_bad_inputs.py", "test_scrapy_settings.py", "test_docs.py"}
"""Files that see values, names and messages, but no effect."""


def config(**values: Any) -> Config:
    return Config.from_settings(given(**values))


def test_every_setting_is_named_by_a_test_of_its_effect() -> None:
    sources = [
        path.read_text(encoding="utf-8")
        for path in TESTS.rglob("*.py")
        if path.name not in TABLE_CHECKS and "benchmarks" not in path.parts
    ]
    words = set(re.findall(r"[A-Z][A-Z_0-9]+", " ".join(sources)))
    assert len(sources) > 100
    assert [option.name for option in OPTIONS if option.name not in words] == []


def test_keep_days_prunes_what_is_older() -> None:
    left = {}
    for days in ("0", "7"):
        path = new_database()

        async def crawl(path: Path = path, days: str = days) -> None:
            values = Config.from_settings(settings_of(path, KEEP_DAYS=f'{{"outside": {days}}}'))
            session = await Session.begin(values, [Seed("http://a.example/")])
            found = [new_url(f"http://b.example/{n}", reason=SkipReason.OUTSIDE) for n in range(5)]
            await session.submit(add_urls, (time.time() - 3600, found))
            task = asyncio.create_task(keep(session, values.keep, least=30.0))
            for _ in range(50):
                await asyncio.sleep(0.02)
                if rows(path, "SELECT count(*) FROM outside") == [(5,)]:
                    break
            task.cancel()
            await asyncio.wait([task])
            await session.close()

        asyncio.run(crawl())
        left[days] = rows(path, "SELECT count(*) FROM url WHERE reason = 'outside'")
    assert rows(path, "SELECT count(*) FROM outside") == [(0,)]
    assert left["7"] != left["0"]


def test_host_patience_lets_a_worse_host_in() -> None:
    def order(**settings: Any) -> list[str]:
        driver = Driver(new_database(), **settings)
        urls = [*page_urls("best.example", range(4), 0.9), *page_urls("worse.example", range(1), 0.1)]
        driver.run(driver.crawl.pending.add(urls))
        driver.settle()
        asked = []
        for _ in range(9):
            if (request := driver.next()) is None:
                break
            asked.append(request.url)
            driver.answer(request)
        driver.close()
        return asked[4:]  # behind the seed and robots.txt

    assert order()[-1] == "http://worse.example/0"
    assert order(HOST_PATIENCE=0)[1] == "http://worse.example/0"


def test_profile_is_what_the_crawl_looks_for(tmp_path: Path) -> None:
    path = tmp_path / "profile.json"
    path.write_text(dumps("profile", {"harbour": 1.0}, "a test", {"pages": 1}))
    topic = config(PROFILE=str(path)).topic
    assert topic is not None
    assert len(topic.liked) == 1


def test_profile_of_readers_is_to_come() -> None:
    crawl = config(PROFILE="readers")
    assert crawl.follows_readers
    assert crawl.preset == "focused"
    assert crawl.topic is not None
    assert crawl.topic.relevance(read_text("harbour")) == 0.0
    learnt = liking(crawl.topic, {"harbour": 1.0})
    assert learnt.relevance(read_text("bridge")) == 0.0 < learnt.relevance(read_text("harbour"))
    assert liking(learnt, {}).liked == ()


def test_user_agent_is_sent() -> None:
    middleware = UserAgentMiddleware(user_agent=given(USER_AGENT="mine/1")["USER_AGENT"])
    request = Request("http://a.example/")
    middleware.process_request(request)
    assert request.headers["User-Agent"] == b"mine/1"


def test_host_delay_factor_slows_down_for_a_slow_host() -> None:
    slow = Speed(4.0, 4.0)
    pauses = [config(HOST_DELAY_FACTOR=factor).delay.between(None, slow) for factor in (0, 1, 3, 100)]
    assert pauses == [1.0, 4.0, 12.0, 30.0]


def test_crawl_delay_cap_leaves_slower_hosts_alone() -> None:
    def reason(cap: float) -> object:
        most = config(CRAWL_DELAY_CAP=cap).delay.most_crawl_delay
        return RobotsRules("User-agent: *\nCrawl-delay: 50", "newscrawler", most_delay=most).disallow_reason(
            "http://a/"
        )

    assert (reason(30), reason(60)) == (SkipReason.CRAWL_DELAY, None)


def test_revisit_worth_makes_visits_rarer() -> None:
    watched, brought = 86_400.0, 24.0
    often, seldom = (config(REVISIT_WORTH=worth).schedule.of_list(watched, brought) for worth in (900, 3600))
    assert seldom == 2 * often


def test_keyword_params_change_the_keywords() -> None:
    text = STORY * 3

    def keywords(params: Mapping[str, Any]) -> Any:
        options = config(KEYWORDS="combined", KEYWORD_PARAMS=params, CLASSES="none", HARMFUL="off")
        return describe(options.parse_options.describe, "桥", text, "zh").keywords

    assert keywords({"trees": 0.0}) != keywords({"trees": 100.0})


def test_keyword_params_name_a_file_of_synonyms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "words.txt").write_text("酒店 宾馆\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    params = {"synonyms": "words.txt"}
    options = config(KEYWORDS="bayes", KEYWORD_PARAMS=params, CLASSES="none", HARMFUL="off")
    monkeypatch.chdir("/")
    text = "宾馆，海边有。酒店，山上也有，酒店。港口的渡轮停航。"
    keywords = describe(options.parse_options.describe, "", text, "zh").keywords
    assert len({"酒店", "宾馆"} & set(keywords)) == 1


def test_harmful_method_decides_what_counts() -> None:
    """The paper's way knows no titles: an honest text under an advertiser's is clean to it."""
    advert = "澳门线上娱乐城官网开户 老虎机捕鱼棋牌 首充一百送一百"

    def kind(method: str) -> str:
        options = config(KEYWORDS="", CLASSES="none", HARMFUL_METHOD=method)
        return describe(options.parse_options.describe, advert, STORY * 3, "zh").harm_kind

    assert (kind("combined"), kind("blocks")) == ("hijacked", "")


def test_duplicate_sites_and_threshold_judge() -> None:
    def judged(**values: Any) -> Any:
        values = config(**values)
        return DuplicateJudge(values.duplicate_method, values.duplicates)(new(), [stored("http://o.cn/1")])

    assert judged().keep is Keep.METADATA
    assert judged(DUPLICATE_SITES={"h.cn": "keep"}).keep is Keep.ALL
    assert judged(DUPLICATE_SITES={"o.cn": "keep"}).keep is Keep.METADATA


def test_duplicate_threshold_decides_how_near_a_repetition_is() -> None:
    def repeats(threshold: float) -> bool:
        values = config(DUPLICATE_THRESHOLD=threshold)
        judge = DuplicateJudge(values.duplicate_method, values.duplicates)
        decision = judge(new(), [stored("http://o.cn/1", REWRITTEN)])
        return decision is not None and decision.repeats

    assert (repeats(0.3), repeats(1.0)) == (True, False)


def test_memory_bounds_the_index_of_duplicates_and_the_browser() -> None:
    values = config(MEMORY_MB={"duplicates": 16, "rendering": 100})
    database = open_for_crawl(f"sqlite:///{new_database()}")
    assert signature_index(values, database)._index._memory == 16 << 20
    database.close()
    assert Renderer(values.rendering)._options.memory_bytes == 100 << 20


def test_lease_seconds_are_how_long_a_silent_run_lives() -> None:
    path = new_database()

    async def left() -> float:
        session = await Session.begin(
            Config.from_settings(settings_of(path, LEASE_SECONDS=500)), [Seed("http://a.cn/")]
        )
        ((until,),) = rows(path, "SELECT alive_until FROM run")
        await session.close()
        return until - time.time()

    assert 400 < asyncio.run(left()) <= 500
