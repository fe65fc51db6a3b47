"""Seeds files: what is understood, and what the messages say about the rest."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.options.seeds import DEMO, MAX_SHOWN, Seed, SeedError, load_seeds, parse_seeds, read_seeds, seeds_of
from tests.table import each_row

ROOT = Path(__file__).resolve().parents[3]


def test_all_forms() -> None:
    lines = [
        "\ufeff# my sites",
        "",
        "https://Example.com/News?utm_source=x#top   # the main one",
        "example.cn",
        "  news.example.cn/path\t depth=2 pages=500\r\n",
        'http://h.cn/#/a stay=SITE topic="electric  cars" depth=0',
        "h.cn:8080/x topic=汽车 stay=any",
        "h2.cn topic='a#b c'",
        "//h3.cn/x",
        "http://localhost:8000/",
        "localhost:8001",
        "127.0.0.1:8710/a",
        "http://[::1]:8710/",
        "新闻.cn/热点 topic=“两 会”",
        "http://intranet/",
        "http://h.cn/news/ stay=path include=/news/,*/2024/* since=7d",
        "http://h.cn/a/ include=/a/ include=/b/ exclude=*.php$ since=2024-05-01",
        "http://h.cn/app render=AUTO",
        'http://h.cn/far proxy="Socks5://P.cn:1080, q.cn:3128 none"',
        """http://h.cn/rules body="css:div #main" title='xpath://h1[@class="a b"]' author=css:.by # x""",
    ]
    assert parse_seeds(lines, "s") == [
        Seed("https://example.com/News", line=3),
        Seed("https://example.cn/", bare=True, line=4),
        Seed("https://news.example.cn/path", depth=2, pages=500, bare=True, line=5),
        Seed("http://h.cn/", depth=0, stay="site", topic="electric cars", line=6),
        Seed("https://h.cn:8080/x", stay="any", topic="汽车", bare=True, line=7),
        Seed("https://h2.cn/", topic="a#b c", bare=True, line=8),
        Seed("https://h3.cn/x", bare=True, line=9),
        Seed("http://localhost:8000/", line=10),
        Seed("https://localhost:8001/", bare=True, line=11),
        Seed("https://127.0.0.1:8710/a", bare=True, line=12),
        Seed("http://[::1]:8710/", line=13),
        Seed("https://xn--efvy88h.cn/%E7%83%AD%E7%82%B9", topic="两 会", bare=True, line=14),
        Seed("http://intranet/", line=15),
        Seed("http://h.cn/news/", stay="path", include=("/news/", "*/2024/*"), since="7d", line=16),
        Seed("http://h.cn/a/", include=("/a/", "/b/"), exclude=("*.php$",), since="2024-05-01", line=17),
        Seed("http://h.cn/app", render="auto", line=18),
        Seed("http://h.cn/far", proxy="socks5://p.cn:1080,http://q.cn:3128,none", line=19),
        Seed(
            "http://h.cn/rules",
            body="css:div #main",
            title='xpath://h1[@class="a b"]',
            author="css:.by",
            line=20,
        ),
    ]


@each_row(
    ("line", "reason"),
    [
        ('http://h.cn/ body="css:div.."', "body=css:div..: expected ident, got <DELIM '.' at 4>"),
        ("http://h.cn/ title=h1", "title=h1: it takes css:... or xpath:..., for example css:div.article or xpath://h1"),
        ("http://h.cn/ author=xpath://a[", "author=xpath://a[: invalid"),
        ("http://h.cn/ published='css:a:foo'", "the pseudo-class :foo is unknown"),
        ("http://h.cn/ body=css:p::text", "the body is an element"),
        ("ftp://h.cn/", "ftp://h.cn/ is no address of a web page"),
        ("mailto:a@h.cn", "is no address of a web page"),
        ("http://", "is no address"),
        ("http:///x", "is no address"),
        ("https:/example.com", "is no right address; if https://example.com is meant, write that"),
        ("https:example.com/a", "if https://example.com/a is meant"),
        ("https:///example.com", "if https://example.com is meant"),
        ("https:\\\\example.com", "if https://example.com is meant"),
        ("http//example.com", "if http://example.com is meant"),
        ("http;//example.com", "if http://example.com is meant"),
        ("https：//example.com", "if https://example.com is meant"),
        ("htp://example.com", "if http://example.com is meant"),
        ("ttps://example.com", "if https://example.com is meant"),
        ("httpss://example.com", "if https://example.com is meant"),
        ("hxxps://example.com", "if https://example.com is meant"),
        ("https://https://example.com/x?y=1", "if https://example.com/x?y=1 is meant"),
        ("http://https//example.com", "if https://example.com is meant"),
        ("https://http:/example.com", "if http://example.com is meant"),
        ("//https://example.com", "if https://example.com is meant"),
        ("http:/127.0.0.1:8000/", "if http://127.0.0.1:8000/ is meant"),
        ("<https://example.com/>", "if https://example.com/ is meant"),
        ("https:/me:secret@example.com", "if https://***@example.com is meant"),
        ("http://exa<mple/", "is no address"),
        ("depth=2", "is no address"),
        ("ftp://me:secret@h.cn/", "ftp://***@h.cn/ is no address"),
        ("me:secret@h.cn:x/", "***@h.cn:x/ is no address"),
        ("hello", "is no address of a web page; if it is a local host, write http://hello/"),
        ("h.cn deep=2", "unknown option deep; allowed are depth=..., pages=..., stay=..., include=..."),
        ("h.cn g.cn", "unknown option g.cn"),
        ("h.cn render=always", "render=always is not one of never, auto"),
        ("h.cn proxy=", "proxy= is empty; write"),
        ("h.cn proxy=http://p.cn", "proxy=: a proxy has no port from 1 to 65535; write"),
        ("h.cn proxy=http://me:secret@p.cn:1", "proxy= names a user or password, which would be stored with the seed"),
        ("h.cn proxy=socks9://me:secret@p.cn:1", "proxy=: a proxy has a scheme that is not spoken"),
        ("h.cn depth=", "depth= is not a whole number of at least 0"),
        ("h.cn depth=-1", "depth=-1 is not a whole number"),
        ("h.cn depth=two", "depth=two is not"),
        ("h.cn pages=0", "pages=0 is not a whole number of at least 1"),
        ("h.cn pages=99999999999999", "is not a whole number"),
        ("h.cn stay=home", "stay=home is not one of path, host, site, any"),
        ("h.cn include=", "include= is no path; write the beginning of one such as /news/"),
        ("h.cn exclude=/a/,news", "exclude=news is no path"),
        ("h.cn since=yesterday", "since=yesterday: it takes a day such as 2024-05-01, or a time before now such as"),
        ("h.cn since=2024-02-31", "since=2024-02-31: it takes a day"),
        ("h.cn topic=", "topic is empty"),
        ('h.cn topic="electric cars', "is not closed"),
        ('h.cn topic="a"b', "white space is missing"),
        ("h.cn depth=1 depth=1", "option depth is given twice"),
        ("http://h.cn/" + "a" * 3000, "..."),
    ],
)
def test_wrong_line(line: str, reason: str) -> None:
    with pytest.raises(SeedError) as caught:
        parse_seeds(["# x", line], "my seeds.txt")
    assert str(caught.value).startswith("my seeds.txt, line 2: ")
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@each_row(
    "line",
    [
        "http.example.com/a",
        "https.example.com",
        "httpbin.org",
        "https://http.cat/",
        "https://www.https.com/http://x",
        "https://a.example/https://b.example/",
        "https://web.archive.org/web/2020/https:/b.example/",
        "localhost:8080/x",
        "http://[::1]:8080/",
        "[::1]:8080",
        "http://example.com./",
        "http://https.example:81/",
    ],
)
def test_addresses_that_only_look_like_slips(line: str) -> None:
    assert len(parse_seeds([line], "s")) == 1


def test_slip_in_an_argument_is_no_name_of_a_file() -> None:
    with pytest.raises(SeedError, match=r"URL 1: htp://example\.com is no right address"):
        read_seeds("htp://example.com")


def test_all_wrong_lines_at_once() -> None:
    with pytest.raises(SeedError) as caught:
        parse_seeds(["ftp://a/", "b.cn", "c.cn x=1", *["ftp://a/"] * 30], "s")
    shown = str(caught.value).splitlines()
    assert len(shown) == MAX_SHOWN + 1
    assert shown[0].startswith("s, line 1: ")
    assert shown[1].startswith("s, line 3: ")
    assert shown[-1] == "s: and 12 more"


def test_repeated_seed() -> None:
    assert len(parse_seeds(["h.cn depth=1 stay=site", "//H.cn:443/ stay=site depth=1"], "s")) == 1
    with pytest.raises(SeedError, match=r"line 2: https://h\.cn/ stands in line 1 already, with other options"):
        parse_seeds(["h.cn depth=1", "h.cn"], "s")


@pytest.mark.parametrize(
    "data",
    [
        "a.cn topic=汽车\r\nb.cn\r\n".encode(),
        "\ufeffa.cn topic=汽车\nb.cn".encode(),
        "a.cn topic=汽车\rb.cn".encode("gb18030"),
    ],
)
def test_encodings_and_line_ends(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "seeds.txt"
    path.write_bytes(data)
    assert load_seeds(path) == [
        Seed("https://a.cn/", topic="汽车", bare=True, line=1),
        Seed("https://b.cn/", bare=True, line=2),
    ]


@each_row(
    ("text", "urls"),
    [
        ("https://example.com/", ["https://example.com/"]),
        ("example.com", ["https://example.com/"]),
        ("https://h.cn/a,1.html, h2.cn,http://h3.cn/", ["https://h.cn/a,1.html", "https://h2.cn/", "http://h3.cn/"]),
        (
            "https://h.cn/ 127.0.0.1:80\nlocalhost:8000/x",
            ["https://h.cn/", "https://127.0.0.1:80/", "https://localhost:8000/x"],
        ),
    ],
)
def test_urls_in_place_of_a_file(text: str, urls: list[str]) -> None:
    assert [seed.url for seed in read_seeds(text)] == urls


def test_urls_in_place_of_a_file_take_options() -> None:
    first, second = read_seeds('https://h.cn/news/ stay=path include=/a,/b topic="两 会" h2.cn depth=1')
    assert first == Seed("https://h.cn/news/", stay="path", include=("/a", "/b"), topic="两 会", line=1)
    assert second == Seed("https://h2.cn/", depth=1, bare=True, line=2)
    with pytest.raises(SeedError, match=r"-a seeds, URL 2: ftp://h\.cn/ is no address"):
        read_seeds("https://h.cn/ ftp://h.cn/")


def test_demo_stands_for_its_home_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("demo").write_text("a.cn", encoding="utf-8")  # the word means the newsroom all the same
    assert seeds_of("demo depth=1", lambda: ["http://a.localhost:1/", "http://b.localhost:1/"]) == [
        Seed("http://a.localhost:1/", depth=1, line=1),
        Seed("http://b.localhost:1/", depth=1, line=1),
    ]
    Path("mine.txt").write_text("h.cn\ndemo\n", encoding="utf-8")
    assert [seed.url for seed in seeds_of("mine.txt", lambda: ["http://a.localhost:1/"])] == [
        "https://h.cn/",
        "http://a.localhost:1/",
    ]
    with pytest.raises(SeedError, match="demo means the bundled newsroom"):
        seeds_of("mine.txt")


def test_file_is_read_before_its_name_is_taken_for_a_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my.com").write_text("a.cn", encoding="utf-8")
    assert [seed.url for seed in read_seeds("my.com")] == ["https://a.cn/"]
    for name in ("seeds.txt", "folder/seeds.txt", "./example.com", "a file.txt", ""):
        with pytest.raises(SeedError, match=r"seeds file .* (does not exist|is a directory)"):
            read_seeds(name)


def test_unusable_files(tmp_path: Path) -> None:
    def reason(path: Path) -> str:
        with pytest.raises(SeedError) as caught:
            load_seeds(path)
        assert "\n" not in str(caught.value)
        assert str(path) in str(caught.value)
        return str(caught.value)

    assert "does not exist" in reason(tmp_path / "none.txt")
    assert "is a directory" in reason(tmp_path)
    empty = tmp_path / "empty.txt"
    empty.write_text("# nothing\n\n")
    assert "has no seeds yet" in reason(empty)
    for data in (b"\x89PNG\r\n\x1a\n\0\0\0", b"a.cn\n\xff\xff"):
        binary = tmp_path / "binary.txt"
        binary.write_bytes(data)
        assert "save it as UTF-8" in reason(binary)
    assert "cannot be read" in reason(empty / "below")
    with pytest.raises(SeedError, match="cannot be read"):
        load_seeds("a\0b")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the superuser may read everything")
def test_forbidden_file(tmp_path: Path) -> None:
    path = tmp_path / "seeds.txt"
    path.write_text("a.cn")
    path.chmod(0)
    with pytest.raises(SeedError, match="may not be read"):
        load_seeds(path)


def test_projects_own_file_has_the_demo_and_true_examples() -> None:
    path = ROOT / "seeds.txt"
    assert [seed.url for seed in load_seeds(path)] == [DEMO]
    examples = path.read_text(encoding="utf-8").rpartition("#\n")[2].splitlines()
    assert len(parse_seeds([line.removeprefix("# ") for line in examples], "examples")) == len(examples)


@given(st.lists(st.text(max_size=40), max_size=4))
def test_any_text_gives_seeds_or_a_reason(lines: list[str]) -> None:
    seeds, message = [], ""
    try:
        seeds = parse_seeds(lines, "s")
    except SeedError as error:
        message = str(error)
    assert not message or message.startswith("s, line ")
    assert all(1 <= seed.line <= len(lines) for seed in seeds)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no endless device")
def test_seeds_file_without_end_is_refused() -> None:
    with pytest.raises(SeedError, match="larger than 64 MB"):
        load_seeds("/dev/zero")


def test_selectors_in_place_of_a_file() -> None:
    text = """h.cn body='xpath://div[@class="a"]' title="css:h1, h2" http://h2.cn/ body=css:#main"""
    first, second = read_seeds(text)
    assert (first.body, first.title) == ('xpath://div[@class="a"]', "css:h1, h2")
    assert second.body == "css:#main"
