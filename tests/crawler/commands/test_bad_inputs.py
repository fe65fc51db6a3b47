"""Wrong input of every kind: one sentence on stderr that says what to do, the right exit code, nothing made."""

from __future__ import annotations

import gzip
import json
import shlex
import shutil
import socket
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from scrapy.cmdline import execute

from db.engine.database import open_for_crawl
from tests.crawler.crawling import ROOT, Finished, scrapy
from tests.table import each_row

# In the command lines ~ is the folder of the files below.
SEEDS = {
    "empty": "",
    "only_comments": "# nothing yet\n",
    "ftp": "ftp://news.example.com/\n",
    "mail": "mailto:someone@example.com\n",
    "word": "news\n",
    "words": "the news of today\n",
    "option": "https://news.example.com/ colour=red\n",
    "twice": "https://news.example.com/ depth=1 depth=2\n",
    "depth": "https://news.example.com/ depth=-1\n",
    "pages": "https://news.example.com/ pages=0\n",
    "many": "https://news.example.com/ pages=12345678901\n",
    "stay": "https://news.example.com/ stay=here\n",
    "topic": 'https://news.example.com/ topic=" "\n',
    "quote": 'https://news.example.com/ topic="ports\n',
    "behind": 'https://news.example.com/ topic="ports"depth=1\n',
    "again": "https://news.example.com/\nhttps://news.example.com/ depth=1\n",
    "password": "https://user:secret@news.example.com/\n",
    "private": "http://10.1.2.3/\n",
    "local": "http://localhost:8000/\n",
    "local6": "http://[::1]/\n",
    "mail_port": "https://8.8.8.8:25/\n",
}

CRAWL = "crawl news -a seeds=~/seeds.txt -s DATABASE_URL=sqlite:///~/new.db"
SETTINGS = [
    ("MAX_PAGE=5", "did you mean MAX_PAGES?"),
    ("max_pages=5", "did you mean MAX_PAGES?"),
    ("MAX_PAGES=many", "MAX_PAGES is 'many'"),
    ("MAX_PAGES=-1", "a number, 0 or more"),
    ("MAX_PAGES=1.5", "a whole number"),
    ("MAX_PAGES=99999999999", "MAX_PAGES is"),
    ("MAX_PAGES_PER_HOST=some", "MAX_PAGES_PER_HOST is"),
    ("MAX_DEPTH=deep", "MAX_DEPTH is"),
    ("STORE_HTML=maybe", "it takes articles, all, none"),
    ("TRAPS=maybe", "it takes True or False"),
    ("TRAPS=perhaps", "it takes True or False"),
    ("EXTRACTOR=magic", "density"),
    ("EXTRACTOR_PARAMS=x", "write it as JSON"),
    ("EXTRACTOR_PARAMS=[1]", "write it as JSON"),
    ('EXTRACTOR_PARAMS={"nope": 1}', "nope"),
    ("CRAWL_PRESET=best", "news"),
    ("CRAWL_PRIORITY=x", "write it as JSON"),
    ('CRAWL_PRIORITY={"luck": 1}', "the signals are:"),
    ('CRAWL_PRIORITY={"depth": "much"}', "depth"),
    ("CRAWL_PRESET=focused", "there is none"),
    ("FOCUS_MIN=0.3", "there is no topic"),
    ("FOCUS_MIN=2", "0 to 1"),
    ("FOCUS_BELOW=hide", "drop or store"),
    ("TOPIC=!!!", "topic"),
    ("PROFILE=~/none.json", "scrapy train profile makes one"),
    ("PROFILE=~/binary", "scrapy train profile makes one"),
    ("PROFILE=~", "scrapy train profile makes one"),
    ("ALLOW_NETWORKS=300.1.1.1", "300.1.1.1"),
    ("ALLOW_NETWORKS=10.0.0.0/99", "10.0.0.0/99"),
    ("TLS_UNVERIFIED_HOSTS=*", "TLS_UNVERIFIED_HOSTS"),
    ("HOST_DELAY=-1", "HOST_DELAY is '-1'"),
    ("HOST_DELAY=nan", "HOST_DELAY is 'nan'"),
    ("HOST_DELAY_FACTOR=1000", "0 to 100"),
    ("HOST_CONNECTIONS=0", "1 or more"),
    ("CRAWL_DELAY_CAP=long", "CRAWL_DELAY_CAP is"),
    ("FETCH_TRIES=0", "1 or more"),
    ('HOST_BACKOFF={"seconds": 0}', "0.1 to 3600"),
    ("REDIRECT_HOPS=5", "there is no setting REDIRECT_HOPS any more"),
    ("REVISIT_WORTH=0", "1 or more"),
    ("REVISIT_MAX=5", "less than REVISIT_MIN"),
    ("DUPLICATES=maybe", "drop, link, keep"),
    ('DUPLICATE_SITES={"a.example": "hide"}', "drop, link, keep"),
    ("DUPLICATE_THRESHOLD=2", "0 to 1"),
    ("DUPLICATE_METHOD=magic", "combined"),
    ('DUPLICATE_PARAMS={"nope": 1}', "nope"),
    ("URL_RULES=0.1", "0.5 to 1"),
    ("WORKERS=0", "1 to"),
    ("WORKERS=1000", "1 to"),
    ('MEMORY_MB={"worker": 1}', "32 or more"),
    ('MEMORY_MB={"duplicates": 1}', "16 or more"),
    ("DOWNLOAD_MAXSIZE=1", "1024 or more"),
    ('KEEP_DAYS={"page": 1}', "outside, pages, versions"),
    ("HEALTH_WINDOW=5", "10 to 200"),
    ("CONCURRENT_REQUESTS=0", "1 or more"),
    ("LEASE_SECONDS=1", "20 or more"),
    ("LOG_LEVEL=FOO", "DEBUG"),
    ("LOG_FILE=~/none/crawl.log", "there is no folder"),
    ("LOG_FILE=~", "is a folder"),
]
"""Checked for all commands."""
DATABASES = [
    ("DATABASE_URL=mysql://host/x", "SQLite and Postgres"),
    ("DATABASE_URL=news", "is no database URL"),
    ("DATABASE_URL=ftp://host/news.db", "SQLite and Postgres"),
    ("DATABASE_URL=sqlite://", "names no file"),
    ("DATABASE_URL=sqlite:///:memory:", "names no file"),
    ("DATABASE_URL=postgresql://u:secret@host:99999/x", "99999"),
    ("DATABASE_URL=postgresql://u:secret@host:port/x", "is no database URL"),
    ("DATABASE_URL=postgresql://u:very@secret@host/x", "write it as %40"),
    ("DATABASE_URL=sqlite:///~/none/news.db", "there is no folder"),
    ("DATABASE_URL=sqlite:///~", "is a folder"),
    ("DATABASE_URL=~/binary", "no usable SQLite database"),
    ("DATABASE_URL=~/foreign.db", "holds other tables"),
    ("DATABASE_URL=~/older.db", "older version"),
    ("DATABASE_URL=~/newer.db", "newer version"),
]
USE = [
    ("crawl", "name the spider"),
    ("crawl nosuch", "there is no spider 'nosuch'"),
    (f"{CRAWL} again", "one argument too many"),
    (f"{CRAWL} --colour", "there is no option --colour"),
    ("crawl news -a", "expected one argument"),
    ("crawl news -a seeds", "-a NAME=VALUE"),
    ("crawl news -s MAX_PAGES", "-s NAME=VALUE"),
    (f"{CRAWL} -s MAX_PAGE=5", "did you mean MAX_PAGES?"),
    (f"{CRAWL} -s WORKERS=1000", "1 to"),
    (f"{CRAWL} -s EXTRACTOR=magic", "density"),
    (f"{CRAWL} -s FOCUS_MIN=0.3", "there is no topic"),
    (f"{CRAWL} -s CONCURRENT_REQUESTS=1000000", "ulimit -n"),
    (f"{CRAWL} -a seed=x", "there is no argument -a seed"),
    (f"{CRAWL} -a mode=sometimes", "once or watch"),
    (f"{CRAWL} -o ~/articles.doc", "'doc'"),
    (f"{CRAWL} -L FOO", "DEBUG"),
    (f"{CRAWL} --logfile ~/none/crawl.log", "there is no folder"),
    (f"{CRAWL} --pidfile ~/none/pid", "there is no folder"),
    (f"{CRAWL} --pidfile ~", "is a folder"),
    (f"{CRAWL} --profile ~/none/profile", "there is no folder"),
    ("crawl news -s DATABASE_URL=sqlite:///~/new.db", "no seeds given"),
    ("crawl news -a seeds= -s DATABASE_URL=sqlite:///~/new.db", "no seeds given"),
    ("status -s DATABASE_URL=~/none.db", "there is no database"),
    ("status -s DATABASE_URL=~", "is no database URL"),
    ("status -s DATABASE_URL=~/binary", "no usable SQLite database"),
    ("status -s DATABASE_URL=~/foreign.db", "holds other tables"),
    ("status -s DATABASE_URL=~/newer.db", "newer version"),
    ("status -s DATABASE_URL=~/empty.db", "holds no crawl yet"),
    ("status -s MAX_PAGES=many", "MAX_PAGES is"),
    ("status --colour", "there is no option --colour"),
    ("status news.db", "one argument too many"),
    ("status --hosts x", "invalid int value"),
    ("status --url-rules maybe", "invalid choice"),
    ("why", "name one URL"),
    ("why a.example b.example", "one argument too many"),
    ("why ::", "no http or https URL"),
    ("why ftp://a.example/", "no http or https URL"),
    ("why https://a.example/ -s DATABASE_URL=~/news.db", "has never been seen"),
    ("recrawl -s DATABASE_URL=~/none.db", "there is no database"),
    ("recrawl -s DATABASE_URL=~/news.db", "say --all"),
    ("recrawl --older-than soon -s DATABASE_URL=~/news.db", "e.g. 7d"),
    ("recrawl --articles --lists", "not allowed with"),
    ("recrawl :: -s DATABASE_URL=~/news.db", "no http or https URL"),
    ("duplicates", "is required"),
    ("duplicates --check --rebuild", "not allowed with"),
    ("duplicates --check more", "one argument too many"),
    ("duplicates --show ::", "no http(s) URL"),
    ("duplicates --show https://a.example/ -s DATABASE_URL=~/news.db", "has no article"),
    ("duplicates --rebuild -s DATABASE_URL=~/none.db", "there is no database"),
    ("duplicates --check --method magic -s DATABASE_URL=~/news.db", "combined"),
    ("duplicates --input ~/none.jsonl", "no such file"),
    ("duplicates --input ~", "is a directory"),
    ("duplicates --input ~/binary", "no JSON"),
    ("duplicates --input ~/no_id.jsonl", "id or text is missing"),
    ("duplicates --input ~/tab.jsonl", "has a tab"),
    ("duplicates --input ~/damaged.jsonl.gz", "is damaged"),
    ("duplicates --input ~/no_id.jsonl --output ~/no_id.jsonl", "is the input itself"),
    ("duplicates --input ~/no_id.jsonl --output ~/none/pairs.tsv", "there is no folder"),
    ("extract", "name a file"),
    ("extract ~/none.html", "there is no file or folder"),
    ("extract ~/pageless", "holds no page"),
    ("extract ftp://a.example/", "no http or https URL"),
    ("extract --format pdf ~/page.html", "text, markdown, html, jsonl"),
    ("extract --extractor magic ~/page.html", "density"),
    ("extract --manifest ~/none.jsonl", "cannot be read"),
    ("extract --manifest ~/binary", "cannot be read"),
    ("extract --manifest ~/tab.jsonl", "a row needs id and file"),
    ("extract --manifest ~/page.html", "no JSON object"),
    ("describe --output ~/out.jsonl", "--output needs --input"),
    ("describe --language zh", "--language needs --input"),
    ("describe --input ~/no_id.jsonl --host a.example", "--host has no meaning with --input"),
    ("describe --since soon", "a number with s, m, h, d or w"),
    ("describe --model ~/none.json", "none.json cannot be read"),
    ("describe -s DATABASE_URL=~/none.db", "there is no database"),
    ("describe --input ~/none.jsonl", "no such file"),
    ("describe --input ~/binary", "no JSON"),
    ("describe --input ~/tab.jsonl", "has a tab"),
    ("describe --input ~/damaged.jsonl.gz", "is damaged"),
    ("describe --input ~/no_id.jsonl --output ~/no_id.jsonl", "is the input itself"),
    ("describe --input ~/no_id.jsonl --output ~/none/out.jsonl", "there is no folder"),
    ("describe --input ~/no_id.jsonl --language klingon", "invalid choice"),
    ("describe --input ~/no_id.jsonl --model ~", "cannot be read: Is a directory"),
    ("extract --output ~/none/out.txt ~/page.html", "no folder"),
    ("extract --output ~ ~/page.html", "is a folder"),
    ("extract --explain ~/none/out.html ~/page.html", "no folder"),
    ("extract --database mysql://host/x https://a.example/", "SQLite and Postgres"),
    ("extract --database ~/none.db https://a.example/", "there is no database"),
    ("rank --by luck", "pagerank"),
    ("rank --top all", "is no number"),
    ("rank --top 0", "is no number"),
    ("rank --graph ~/graph.gif", ".graphml"),
    ("rank --graph ~/none/graph.graphml", "there is no folder"),
    ("rank --by topic -s DATABASE_URL=~/news.db", "near to a topic"),
    ("rank -s DATABASE_URL=~/none.db", "there is no database"),
    ("rank pages", "one argument too many"),
    ("train", "name what to learn"),
    ("train magic ~", "name what to learn"),
    ("train blocks", "name what to learn"),
    ("train blocks ~/none", "cannot be read"),
    ("train blocks ~/pageless", "cannot be read"),
    ("train blocks ~/corpus", "line 1"),
    ("train blocks ~ --particles 0", "whole number from 1 on"),
    ("train blocks ~ --seed x", "invalid int value"),
    ("train blocks ~/corpus --output ~/none/model.json", "there is no folder"),
    ("train profile ~/none.html", "there is no file or folder"),
    ("train profile ~/none.csv", "cannot be read"),
    ("train profile ~/columns.csv", "has no column url"),
    ("train profile ~/urls.csv", "names no web address"),
    ("train profile ftp://a.example/", "no http or https URL"),
    ("copy-database", "name two databases"),
    ("copy-database ~/news.db", "name two databases"),
    ("copy-database ~/news.db ~/b.db ~/c.db", "one argument too many"),
    ("copy-database ~/none.db ~/b.db", "there is no database"),
    ("copy-database ~/news.db ~/news.db", "into itself"),
    ("copy-database ~/news.db ~/none/b.db", "there is no folder"),
    ("copy-database ~/news.db ~/foreign.db", "holds other tables"),
    ("copy-database ~/foreign.db ~/b.db", "holds other tables"),
    ("copy-database ~/news.db mysql://host/x", "SQLite and Postgres"),
    ("demo now", "one argument too many"),
    ("demo --port x", "invalid int value"),
    ("demo --port 70000", "allowed are 0 to 65535"),
    ("demo --port {taken}", "name another one with --port"),
    ("version --colour", "there is no option --colour"),
    ("compact -s DATABASE_URL=~/none.db", "there is no database"),
    ("compact --versions some", "or a number of texts to keep"),
    ("compact --versions 99999999999", "or a number of texts to keep"),
    ("compact --dead-hosts soon", "e.g. 7d"),
    ("compact now", "one argument too many"),
    ("check-seeds", "name a seeds file"),
    ("check-seeds ~/none.txt", "does not exist"),
    ("check-seeds ~/ftp.txt", "no address of a web page"),
    ("check-seeds ~/private.txt", "ALLOW_NETWORKS=10.1.2.3:80"),
    ("check-seeds ~/seeds.txt --format pdf", "invalid choice"),
    ("config NO_SUCH_THING", "the nearest name is"),
    ("config --format pdf", "invalid choice"),
    ("config --seeds ~/none.txt", "does not exist"),
    ("config -s TRAPS=maybe", "TRAPS is 'maybe'"),
    ("search -台风", "there is no option -台风"),
    ("search 台风 --since 2024-02-30 -s DATABASE_URL=~/news.db", "is no date"),
    (
        "search 台风 --since 2025 --until 2024 -s DATABASE_URL=~/news.db",
        "the time ends on 2024-12-31, before it begins",
    ),
    ("search 台风 --limit 0", "from 1 to"),
    ("search 台风 -s DATABASE_URL=~/tableless.db", "lacks a part"),
    ("search --rebuild -s DATABASE_URL=~/tableless.db", "lacks a part"),
    ("search --rebuild more", "takes no words"),
    ("search --documents ~/no_id.jsonl", "go together"),
    ("export cats", "name what to export"),
    ("export articles --since 2025 --until 2024", "the time ends on 2024-12-31, before it begins"),
    ("export articles --query 台风 -s DATABASE_URL=~/tableless.db", "lacks a part"),
    ("export articles --output ~/none/a.csv", "there is no folder"),
    ("export articles --output ~/news.db --format csv --overwrite -s DATABASE_URL=~/news.db", "the database itself"),
    ("serve --port {taken} -s DATABASE_URL=~/news.db", "name another one with --port"),
    ("serve --host 192.0.2.1 -s DATABASE_URL=~/news.db", "name another one with --host"),
    ("serve --database ~/newer.db", "newer version"),
]
GONE = [
    ("status -s DATABASE_URL=~/locked.db", "is locked"),
    ("status -s DATABASE_URL=postgresql://u:secret@127.0.0.1:1/x", "does not answer"),
    ("search 台风 -s DATABASE_URL=postgresql://u:secret@nosuch.invalid/x", "does not answer"),
    (
        "crawl news -a seeds=~/seeds.txt -s DATABASE_PATIENCE=0 -s DATABASE_URL=postgresql://u:secret@127.0.0.1:1/x",
        "does not answer",
    ),
]
"""The database or its disk gives up: exit code 4."""


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Files of all kinds that commands are given."""
    made = tmp_path_factory.mktemp("bad")
    open_for_crawl(f"sqlite:///{made}/news.db").close()
    for name in ("tableless", "columnless"):
        shutil.copyfile(made / "news.db", made / f"{name}.db")
    for name, statements in (
        ("foreign", "CREATE TABLE cats (name)"),
        ("empty", "PRAGMA user_version = 1"),
        ("older", "CREATE TABLE alembic_version (version_num); INSERT INTO alembic_version VALUES ('0011')"),
        ("newer", "CREATE TABLE alembic_version (version_num); INSERT INTO alembic_version VALUES ('99')"),
        ("locked", "CREATE TABLE cats (name)"),
        ("damaged", "CREATE TABLE alembic_version (version_num)"),
        ("cut", "CREATE TABLE alembic_version (version_num)"),
        ("tableless", "DROP TABLE search_words"),
        ("columnless", "ALTER TABLE run RENAME COLUMN totals TO counts"),
    ):
        with closing(sqlite3.connect(made / f"{name}.db")) as database:
            database.executescript(f"PRAGMA journal_mode=WAL; {statements}")
    whole = (made / "damaged.db").read_bytes()
    (made / "damaged.db").write_bytes(whole[:100] + bytes(n * 37 % 251 for n in range(len(whole) - 100)))
    (made / "cut.db").write_bytes(whole[:3000])
    for name, text in SEEDS.items():
        (made / f"{name}.txt").write_text(text, encoding="utf-8")
    (made / "seeds.txt").write_text("https://news.example.com/\n", encoding="utf-8")
    (made / "utf16.txt").write_text("https://news.example.com/\n", encoding="utf-16-le")
    with (made / "huge.txt").open("wb") as huge:
        huge.truncate(1 << 27)
    (made / "binary").write_bytes(bytes(range(128, 256)) * 40)
    (made / "page.html").write_text("<p>Not a row of a manifest.</p>", encoding="utf-8")
    (made / "no_id.jsonl").write_text('{"text": "a"}\n', encoding="utf-8")
    (made / "tab.jsonl").write_text(json.dumps({"id": "a\tb", "text": "a"}), encoding="utf-8")
    (made / "damaged.jsonl.gz").write_bytes(gzip.compress(b"")[:10] + b"no deflate")
    (made / "pageless").mkdir()
    (made / "corpus").mkdir()
    (made / "corpus" / "gold.jsonl").write_text('{"id": "a", "text": "b"}\n', encoding="utf-8")
    (made / "columns.csv").write_text("name,visits\na,1\n", encoding="utf-8")
    (made / "urls.csv").write_text("url\nabout:blank\n", encoding="utf-8")
    with closing(sqlite3.connect(made / "locked.db")) as locking:
        locking.execute("PRAGMA locking_mode=EXCLUSIVE")
        locking.execute("BEGIN EXCLUSIVE")
        yield made


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Finished]:
    """Run a command; a crawl in a process of its own, because Scrapy logs from there on."""

    def run(*words: str) -> Finished:
        if words[0] == "crawl":
            return scrapy(tmp_path, *words)
        monkeypatch.chdir(ROOT)
        monkeypatch.delenv("DATABASE_URL", raising=False)
        with pytest.raises(SystemExit) as ended:
            execute(["scrapy", *words])
        return Finished(ended.value.code, *capsys.readouterr())

    return run


def said(folder: Path, run: Callable[..., Finished], line: str) -> tuple[int, str]:
    """Run a command line; returns exit code and the sentence. It is one line, and nothing was made."""

    def there() -> set[Path]:
        return {*folder.rglob("*"), *ROOT.iterdir()}

    before = there()
    done = run(*(word.replace("~", str(folder)) for word in shlex.split(line)))
    made = {path for path in there() - before if path.suffix not in {".lock", ".db-wal", ".db-shm"}}
    assert (done.stdout, made) == ("", set())
    assert "Traceback" not in done.stderr
    assert "[Errno" not in done.stderr
    assert "secret" not in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    return done.returncode, done.stderr


@each_row(("setting", "part"), SETTINGS)
def test_wrong_settings(folder: Path, run: Callable[..., Finished], setting: str, part: str) -> None:
    code, sentence = said(folder, run, f"extract ~/page.html -s {shlex.quote(setting)}")
    assert (code, part in sentence) == (2, True), sentence


@each_row(("setting", "part"), DATABASES)
def test_wrong_databases(folder: Path, run: Callable[..., Finished], setting: str, part: str) -> None:
    code, sentence = said(folder, run, f"{CRAWL} -s {shlex.quote(setting)}")
    assert (code, part in sentence) == (2, True), sentence


@each_row("name", [*SEEDS, "utf16", "huge", "binary", "none", "pageless"])
def test_wrong_seeds(folder: Path, run: Callable[..., Finished], name: str) -> None:
    path = name if (folder / name).exists() else f"{name}.txt"
    code, sentence = said(folder, run, f"crawl news -a seeds=~/{path} -s DATABASE_URL=sqlite:///~/new.db")
    assert (code, path in sentence or "ALLOW_NETWORKS=" in sentence) == (2, True), sentence


@each_row(("line", "part"), USE)
def test_wrong_use(folder: Path, run: Callable[..., Finished], line: str, part: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, sentence = said(folder, run, line.replace("{taken}", str(taken.getsockname()[1])))
    assert (code, part in sentence) == (2, True), sentence


OPENING = (
    CRAWL,
    "status",
    "status --traps",
    "status --url-rules afresh",
    "why https://news.example.com/",
    "search 台风",
    "search --rebuild",
    "export articles",
    "export sites",
    "serve --port 0",
    "rank",
    "compact",
    "drop news.example.com --yes",
    "recrawl --lists",
    "duplicates --check",
    "duplicates --rebuild",
    "describe",
    "extract --database",
    "copy-database {database} ~/copy.db",
    "copy-database ~/news.db {database}",
    "batch extract {database}",
    "batch rank {database} --output ~/ranks.jsonl",
    "batch duplicates {database} --output ~/pairs.jsonl",
)
"""Each command that opens a database."""


@each_row("name", ["foreign", "older", "newer", "columnless", "damaged", "cut"])
def test_every_command_says_why_a_database_cannot_be_opened(
    folder: Path, run: Callable[..., Finished], name: str
) -> None:
    database = folder / f"{name}.db"
    before = database.read_bytes()
    for line in OPENING:
        code, sentence = said(folder, run, line.replace("{database}", f"~/{name}.db") + f" -s DATABASE_URL=~/{name}.db")
        assert (code, f"{name}.db" in sentence) == (2, True), (line, sentence)
    assert database.read_bytes() == before


@each_row(("line", "part"), GONE)
def test_databases_that_give_up(folder: Path, run: Callable[..., Finished], line: str, part: str) -> None:
    code, sentence = said(folder, run, line)
    assert (code, part in sentence) == (4, True), sentence


def test_every_wrong_seed_is_named(tmp_path: Path) -> None:
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("http://good.example/\nftp://bad.example/\nhttp://good.example/ pages=-1\n", encoding="utf-8")
    done = scrapy(tmp_path, "crawl", "news", "-a", f"seeds={seeds}", "-s", f"DATABASE_URL=sqlite:///{tmp_path}/new.db")
    assert (done.returncode, "line 2" in done.stderr, "line 3" in done.stderr) == (2, True, True)
    assert not (tmp_path / "new.db").exists()


def test_bundled_seeds_file_crawls_the_demo(tmp_path: Path) -> None:
    done = scrapy(tmp_path, "crawl", "news", "-a", "seeds=seeds.txt", "-s", "MAX_PAGES=6")
    assert (done.returncode, "The newsroom is served at" in done.stderr) == (0, True)


def test_table_is_long() -> None:
    assert len(SETTINGS) + len(DATABASES) + len(SEEDS) + len(USE) + len(GONE) > 200
