"""Crawls that look for something: the bundled newsroom, with a topic."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.demo.server import Newsroom
from db.records.click import Click
from db.search.clicks import ClickFile
from pipelines.focus.record import unpack
from pipelines.records import BlockKind

from .crawling import crawl, crawl_arguments, rows, scrapy, start
from .odd_server import Answer, OddServer


@pytest.fixture(scope="module")
def focused(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One focused crawl that several tests look at."""
    folder = tmp_path_factory.mktemp("focused")
    with Newsroom() as newsroom:
        done = crawl(newsroom, folder, "TOPIC=医院 医生 看病", "CRAWL_PRESET=", "FOCUS_MIN=0.05", "FOCUS_BELOW=store")
        assert done.returncode == 0, done.stderr
        yield folder


def test_every_page_has_words_and_every_article_a_relevance(focused: Path) -> None:
    read = "SELECT u.id FROM url u WHERE u.kind = 'page' AND u.state = 'done' AND coalesce(u.reason, '') <> 'same page'"
    read += f" AND u.found_in <> {BlockKind.PROBE.value}"
    assert rows(focused, f"{read} AND NOT EXISTS (SELECT 1 FROM page_terms t WHERE t.url_id = u.id)") == []
    assert rows(focused, "SELECT count(*) FROM v_articles WHERE relevance IS NULL") == [(0,)]
    best, worst = rows(focused, "SELECT max(relevance), min(relevance) FROM v_articles")[0]
    assert 0 <= worst < 0.05
    assert 0.3 < best <= 1
    title, text = rows(focused, "SELECT title, text FROM v_articles ORDER BY relevance DESC LIMIT 1")[0]
    assert any(word in title + text for word in ("医院", "医生", "看病"))


def test_words_lead_to_the_pages_that_the_links_lead_to(focused: Path) -> None:
    for page, terms in rows(focused, "SELECT url_id, terms FROM page_terms LIMIT 20"):
        words, targets = unpack(terms)
        linked = {target for (target,) in rows(focused, f"SELECT target FROM link WHERE source = {page}")}
        assert set(targets.tolist()) - {page} <= linked
        assert len(words) == len(targets)


def test_articles_below_the_threshold_say_so(focused: Path) -> None:
    stored = "SELECT count(*) FROM article a JOIN url u ON u.id = a.id WHERE a.relevance < 0.05"
    assert rows(focused, f"{stored} AND u.reason <> 'off topic'") == [(0,)]
    assert rows(focused, f"{stored} AND u.reason = 'off topic'")[0][0] > 10


def test_signals_of_the_topic_are_in_the_scores(focused: Path) -> None:
    url, parts = rows(focused, "SELECT url, score_parts FROM url WHERE depth = 2 AND kind = 'page' LIMIT 1")[0]
    assert '"sibling"' in parts
    database = f"DATABASE_URL=sqlite:///{focused}/news.db"
    why = scrapy(focused, "why", url, "-s", database)
    assert "sibling" in why.stdout
    ranked = scrapy(focused, "rank", "--by", "topic", "--top", "3", "-s", database)
    assert ranked.returncode == 0, ranked.stderr
    assert "http" in ranked.stdout


def test_topic_of_the_seeds_that_no_page_has(tmp_path: Path) -> None:
    """In another script than the pages: everything is fetched, nothing is near."""
    with Newsroom() as newsroom:
        seeds = [f'{newsroom.seeds()[0]} topic="quarks and gluons"']
        arguments = crawl_arguments(newsroom, tmp_path, "CRAWL_PRESET=", "FOCUS_MIN=0.5", "MAX_PAGES=40", seeds=seeds)
        done = start(tmp_path, *arguments).finish()
    assert done.returncode in {0, 3}, done.stderr
    single = "SELECT count(*) FROM article a WHERE NOT EXISTS (SELECT 1 FROM part p WHERE p.first_id = a.id)"
    assert rows(tmp_path, single) == [(0,)]
    assert rows(tmp_path, "SELECT count(*) FROM url WHERE reason = 'off topic'")[0][0] > 3
    assert rows(tmp_path, "SELECT max(relevance) FROM page_terms") == [(0.0,)]


SAID = {
    "sport": "主队在加时赛中以一球险胜客队，夺得本赛季联赛冠军。|主教练赛后表示，球员的防守决定了这场比赛的胜负。|"
    "前锋上半场两次射门得分，门将扑出了对方的点球。|球队将于周末客场迎战上届亚军，后卫因伤缺阵。|"
    "女排国家队公布了世锦赛参赛名单，三名小将入选。|运动员在百米决赛中跑出个人最好成绩，获得金牌。",
    "finance": "沪深两市今日小幅收涨，银行股和券商股领涨大盘。|央行宣布下调存款准备金率，释放长期资金。|"
    "公司公布年报，净利润同比增长，拟每股派发现金红利。|基金经理认为，债券市场收益率仍有下行空间。|"
    "人民币对美元汇率中间价上调，创下年内新高。|多家上市公司发布回购股票的公告，股价应声上涨。",
    "health": "医生提醒，高血压患者应当按时服药，定期测量血压。|医院开设了糖尿病专科门诊，方便患者复查。|"
    "流感疫苗接种工作开始，老人和儿童优先接种。|专家说，每天饮食清淡、坚持锻炼有助于预防疾病。|"
    "手术后患者恢复良好，一周后即可出院回家休养。|营养师建议多吃蔬菜水果，少吃油炸食品。",
}
PER_CLASS = 15


def sections(listed: int = 3) -> dict[tuple[str, str], Answer]:
    """A home page lists all articles but most of the first class, which lead to each other; no link says of what."""
    names = "abc"
    home = [f"/{name}{n}.html" for n in range(PER_CLASS) for name in reversed(names) if n < listed or name != "a"]
    answers = {("a.localhost", "/"): written("首页", "", home)}
    for name, said in zip(names, SAID.values(), strict=True):
        texts = said.split("|")
        for n in range(PER_CLASS):
            chosen = "".join(f"<p>{texts[(n + k * (1 + n % 5)) % 6]}这是第{n}篇第{k}段。</p>" for k in range(6))
            following = [f"/a{m}.html" for m in (n + 1, n + 2) if name == "a" and m < PER_CLASS]
            answers["a.localhost", f"/{name}{n}.html"] = written(f"第{n}篇{texts[n % 6]}", chosen, following)
    return answers


def written(title: str, body: str, links: list[str]) -> Answer:
    items = "".join(f'<li><a href="{link}">更多</a></li>' for link in links)
    head = f"<html><head><title>{title}</title></head><body><h1>{title}</h1>"
    return 200, {}, f"{head}{body}<ul>{items}</ul></body></html>"


def test_articles_of_a_class_come_sooner_than_breadth_first(tmp_path: Path) -> None:
    folders = {name: tmp_path / name.partition("=")[2] for name in ("TOPIC=class:sport", "CRAWL_PRESET=breadth")}
    with OddServer(sections()) as server:
        under_way = []
        for setting, folder in folders.items():
            folder.mkdir()
            values = [f"DATABASE_URL=sqlite:///{folder}/news.db", f"ALLOW_NETWORKS=127.0.0.1:{server.port}", setting]
            values += ["HOST_DELAY=0", "WORKERS=1", "MAX_PAGES=20", "CONCURRENT_REQUESTS=1", "HOST_WINDOW=1"]
            given = [part for value in values for part in ("-s", value)]
            under_way.append(start(folder, "crawl", "news", "-a", f"seeds=http://a.localhost:{server.port}/", *given))
        assert [one.finish().returncode for one in under_way] == [0, 0]
    focused, breadth = folders.values()
    on_topic = "SELECT count(*) FROM v_articles WHERE classes = 'sport'"
    assert rows(focused, on_topic)[0][0] >= rows(breadth, on_topic)[0][0] + 5
    told = "SELECT a.relevance, c.membership FROM article a JOIN article_class c ON c.article_id = a.id"
    for relevance, membership in rows(focused, f"{told} WHERE c.name = 'sport'"):
        assert relevance == pytest.approx(membership, abs=1e-4)
    (home,) = rows(focused, "SELECT relevance FROM page_terms JOIN url ON id = url_id WHERE depth = 0")
    assert 0 < home[0] < 1
    assert rows(breadth, "SELECT count(*) FROM article WHERE relevance IS NOT NULL") == [(0,)]


def stay(folder: Path, title: str, seconds: float) -> None:
    """Let eight readers stay with each article that has this in its title."""
    file = ClickFile(folder / "clicks.db")
    for (article,) in rows(folder, f"SELECT id FROM article WHERE title LIKE '%{title}%'"):
        for session in range(8):
            file.add(Click(session * 100 + article % 97, 1, article, 1, 0, seconds, is_ended=True))


def database_of(folder: Path) -> tuple[str, str]:
    return "-s", f"DATABASE_URL=sqlite:///{folder}/news.db"


def test_crawl_goes_where_readers_stay(tmp_path: Path) -> None:
    """Two crawls stop at the same page; readers of one then stay with what is said of matches and balls."""
    first, other = tmp_path / "first", tmp_path / "other"
    first.mkdir()
    with OddServer(sections()) as server:

        def go_on(folder: Path, pages: int) -> None:
            values = [f"ALLOW_NETWORKS=127.0.0.1:{server.port}", "PROFILE=readers", "HOST_DELAY=0", "WORKERS=1"]
            values += [f"MAX_PAGES={pages}", "CONCURRENT_REQUESTS=1", "HOST_WINDOW=1"]
            given = [*database_of(folder), *(part for value in values for part in ("-s", value))]
            done = start(folder, "crawl", "news", "-a", f"seeds=http://a.localhost:{server.port}/", *given).finish()
            assert done.returncode == 0, done.stderr

        go_on(first, 10)
        shutil.copytree(first, other)
        for said in SAID["sport"].split("|"):
            stay(first, said[:6], 200.0)
        for said in SAID["finance"].split("|"):
            stay(first, said[:6], 3.0)
        go_on(first, 22)
        go_on(other, 22)
        why = scrapy(first, "why", f"http://a.localhost:{server.port}/a4.html", *database_of(first))
    best = "SELECT json_extract(score_parts, '$.profile'), url FROM url WHERE depth > 0 ORDER BY 1 DESC LIMIT 1"
    ((value, url),) = rows(first, best)
    assert value > 0.6
    assert "/a" in url.removeprefix("http://a.localhost"), url
    assert rows(other, best)[0][0] == 0.33333
    assert "you stayed with “第" in why.stdout, why.stdout
