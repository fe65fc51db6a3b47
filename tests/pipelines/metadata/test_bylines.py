"""Names of authors: how bylines are written, and what is none."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from pipelines.metadata import person_names
from pipelines.metadata.person_names import NameTest
from pipelines.parse_page import parse_page
from tests.table import each_row

NOW = datetime(2024, 6, 1, 4, 0, tzinfo=UTC)
TEXT = "".join(
    f"<p>第{n}段，河口大桥昨日完成最后一段桥面的浇筑，工程进入收尾阶段，预计年内通车。</p>" for n in range(5)
)


@each_row(
    ("line", "names"),
    [
        ("作者：王小明 李雷", ["王小明", "李雷"]),
        ("作者：Diogo Carleto", ["Diogo Carleto"]),
        ("著者：後藤大地", ["後藤大地"]),
        ("采写：南都记者 余毅菁 向雪妮", ["余毅菁", "向雪妮"]),
        ("【記者王小明╱台北報導】", ["王小明"]),
        ("（文/王小明）", ["王小明"]),
        ("（圖／記者林悅翻攝）", []),
        ("本报记者 秦川 摄", []),
        ("【文/观察者网专栏作者 王文】", ["王文"]),
        ("本报记者 李雷 韩梅梅", ["李雷", "韩梅梅"]),
        ("中央社記者王小明桃園19日電", ["王小明"]),
        ("记者李莎莎黎史翔王进雨程磊", ["李莎莎", "黎史翔", "王进雨", "程磊"]),
        ("石佳/中国青年报", ["石佳"]),
        ("By Jane Doe", ["Jane Doe"]),
        ("By Jane Doe, John Roe and Max Moe", ["Jane Doe", "John Roe", "Max Moe"]),
        ("Von Ludwig van der Berg", ["Ludwig van der Berg"]),
        ("Written by Michael Larabel in Valve on 1 June 2019", ["Michael Larabel"]),
        ("Aaron Ricadela | Senior Writer | July 2, 2025", ["Aaron Ricadela"]),
        ("Sehernur Karsu | 05.04.2025", ["Sehernur Karsu"]),
        ("Jon Fingas, @jonfingas", ["Jon Fingas"]),
        ("本报记者 田 原", ["田原"]),
        ("◎ 記者林和謙/採訪報導", ["林和謙"]),
        ("〔編譯陳成良／綜合報導〕", ["陳成良"]),
        ("【邱俊吉╱台北報導】近日天冷", ["邱俊吉"]),
        ("(通訊員 宋黎勝 記者 黃淼君)", ["黃淼君"]),
        ("作者：李兆清 江蘇南通 職員", ["李兆清"]),
        ("作者：林宜靜 文字大小：【大】【中】【小】", ["林宜靜"]),
        ("（作者：丁涛，系河口大学教授）", ["丁涛"]),
        ("作者丨王小明", ["王小明"]),
        ("作者： 时间：2021-05-06", []),
        ("2022-05-06 鄭曉雯╱綜合外電報導", ["鄭曉雯"]),
        ("彭瑜 賀懷湘文/圖", ["彭瑜", "賀懷湘"]),
        ("张晓风 发表于 2019年3月12日 · 阅读 203", ["张晓风"]),
        ("March 12, 2024 · by Kevin Neil", ["Kevin Neil"]),
        ("Reporting by Rosa Kim; Editing by Paul Lee and Ann Day", ["Rosa Kim"]),
        ("Publié le 12/03/2024 à 10:11 par Luc Moreau", ["Luc Moreau"]),
        ("Rédigé par Anne Petit le Mardi 12 Mars 2024", ["Anne Petit"]),
        ("Par\tLuc Moreau\tet\tAnne Petit", ["Luc Moreau", "Anne Petit"]),
        ("Ein Gastbeitrag von Jan Vogt", ["Jan Vogt"]),
        ("Escrito por Juan Ruiz", ["Juan Ruiz"]),
        ("Текст: Иван Петров", ["Иван Петров"]),
        ("Yazar: Ayşe Demir", ["Ayşe Demir"]),
        ("Γράφει ο Νίκος Παπαδόπουλος", ["Νίκος Παπαδόπουλος"]),
        ("김민수 기자", ["김민수"]),
        ("Post by\tskybird77\tTue Mar 12", ["skybird77"]),
        ("（通訊員 李琴雯 刘会）", ["李琴雯", "刘会"]),
        ("本报记者 王小明 李华 通讯员 张伟", ["王小明", "李华", "张伟"]),
        ("通讯员 张伟 记者 王小明", ["张伟", "王小明"]),
        ("【山海醒報／林歆芳】", ["林歆芳"]),
        ("山海醒報／林宜靜", ["林宜靜"]),
        ("记者 王小明 摄影 李华", ["王小明"]),
        ("取材・文／田中太郎　撮影／鈴木花子", ["田中太郎"]),
        ("글 김철수 사진 이영희", ["김철수"]),
        ("김철수·이영희 기자", ["김철수", "이영희"]),
        ("كتب: أحمد سالم", ["أحمد سالم"]),
        ("بقلم: أحمد سالم وسارة علي", ["أحمد سالم", "سارة علي"]),
        ("بقلم: أحمد سالم وليد حسن", ["أحمد سالم وليد حسن"]),
        ("מאת: דוד כהן ושרה לוי", ["דוד כהן", "שרה לוי"]),
        ("نویسنده: علی رضایی", ["علی رضایی"]),
        ("लेखक: राहुल शर्मा", ["राहुल शर्मा"]),
        ("ผู้เขียน: สมชาย ใจดี", ["สมชาย ใจดี"]),
        ("ავტორი: გიორგი ბერიძე", ["გიორგი ბერიძე"]),
        ("Autor: Jan Kowalski i Anna Nowak", ["Jan Kowalski", "Anna Nowak"]),
        ("Autor: Jan Novák a Petr Svoboda", ["Jan Novák", "Petr Svoboda"]),
        ("Tác giả: Nguyễn Văn An", ["Nguyễn Văn An"]),
        ("Teksti: Matti Virtanen Kuvat: Liisa Korhonen", ["Matti Virtanen"]),
        ("Haber: Ali Kaya Fotoğraf: Elif Demir", ["Ali Kaya"]),
        ("Por João Silva e Maria Souza, de São Paulo", ["João Silva", "Maria Souza"]),
        ("Written by Jo Hale; reviewed by Kim Roe", ["Jo Hale"]),
        ("By Jo Hale. This page has links to shops, for which we may be paid a little. " * 3, ["Jo Hale"]),
        ("posted on 2023-12-19 23:30 EST by Juan Ruiz", ["Juan Ruiz"]),
        ("Dec 26, 2025 • Jane Doe in Business", ["Jane Doe"]),
        ("Foto: Jan Vogt", []),
        ("记者从有关部门获悉，今年雨水多", []),
        ("记者纤维木工一起", []),
        ("By the end of the year", []),
        ("Last Updated: January 7, 2025", []),
    ],
)
def test_lines(line: str, names: list[str]) -> None:
    assert list(NameTest(is_thread=True).tidy(person_names.parse_line(line))) == names


PROSE = "昨日，河口大桥完成最后一段桥面的浇筑，工程进入收尾阶段，预计年内通车"


@each_row(
    ("paragraph", "names"),
    [
        (f"本报记者 王小明 报道 {PROSE}。", ["王小明"]),
        (f"DeepMind已将其研究结果发表，{PROSE}。（编译/林靖东）", ["林靖东"]),
        (f"{PROSE}，桥头的商户也开始装修门面，准备迎接游客。（记者 李雷）", ["李雷"]),
        (f"当天，有记者王某到现场采访，{PROSE}。", []),
        (f"中新社长沙1月17日电 (傅煜 吕高安)一年一度的{PROSE}。", ["傅煜", "吕高安"]),
        (f"山海新闻网讯（记者 李雷 通讯员 韩梅梅）{PROSE}。", ["李雷"]),
        (f"市府表示將持續宣導，{PROSE}。（王煌忠／台中報導）", ["王煌忠"]),
    ],
)
def test_prose(paragraph: str, names: list[str]) -> None:
    assert list(NameTest().tidy(person_names.parse_prose(paragraph))) == names


@each_row(
    ("line", "names"),
    [
        (f"{PROSE}。（李学刚）", ["李学刚"]),
        (f"{PROSE}。(漩矶)", ["漩矶"]),
        ("(李艳 撰稿)", ["李艳"]),
        (f"{PROSE}。”（新民网 李欣）", ["李欣"]),
        (f"{PROSE}。（山海日报）", []),
        (f"{PROSE}。（资料图）", []),
        (f"{PROSE}。（李雷摄）", []),
        (f"{PROSE}（李雷）。桥长两千米", []),
    ],
)
def test_signatures(line: str, names: list[str]) -> None:
    assert person_names.parse_signature(line) == names


@each_row(
    ("line", "names"),
    [
        ("Jo Hale, Kim Roe & Lee Dunn", ["Jo Hale", "Kim Roe", "Lee Dunn"]),
        (
            "Paul Wiseman, Josh Boak and Fatima Hussein, Associated Press",
            ["Paul Wiseman", "Josh Boak", "Fatima Hussein"],
        ),
        ("王小明 李华", ["王小明", "李华"]),
        ("Home, News and Sport", []),
        ("the ferry and the bridge", []),
    ],
)
def test_lines_of_nothing_but_names(line: str, names: list[str]) -> None:
    assert person_names.parse_names(line) == names


def test_words_that_are_no_names() -> None:
    raw = [
        "River Post",
        "Jane Doe",
        "INTERIA.PL S.A",
        "Oldport Media Ltd.",
        "山海传媒有限公司",
        "http://x.com/a",
        "admin",
        "x" * 200,
        "April 15",
        "Written by",
        "jane-doe",
        "intro <h",
        "Discuz! Team and Comsenz UI Team",
        "赞赏",
        "Tuesday",
        "Sign-in",
        "Haber Merkezi",
    ]
    assert NameTest(("River Post",)).tidy(raw) == ("Jane Doe",)


@each_row(
    ("head", "line", "names"),
    [
        ("", "<p>2024-03-12 08:30 作者：王小明</p>", ("王小明",)),
        ("", "<div class=author-name>Team Harbour</div><p>12 March 2024</p>", ("Team Harbour",)),
        ("", "<p><span>By</span> <a href=/u/1>Jane Doe</a> <span>December 8</span></p>", ("Jane Doe",)),
        ("", "<p>By</p><p>Jane Doe</p>", ("Jane Doe",)),
        ("<meta name=author content='Jane Doe'>", "<p>x</p>", ("Jane Doe",)),
        ("<meta property=og:site_name content=河口网><meta name=author content=河口网>", "<p>2024-03-12</p>", ()),
        (
            '<script type="application/ld+json">{"@type":"NewsArticle","author":[{"name":"Jos&eacute; Doe"}]}</script>',
            "<p>2024-03-12</p>",
            ("José Doe",),
        ),
    ],
)
def test_pages(head: str, line: str, names: tuple[str, ...]) -> None:
    body = f"<title>河口大桥合龙在即</title>{head}<h1>河口大桥合龙在即</h1>{line}<div>{TEXT}</div>"
    page = parse_page(body.encode(), "http://e.com/a/1.html", fetched_at=NOW)
    assert page.metadata.authors == names


@each_row(
    ("title", "head", "line", "names"),
    [
        ("河口大桥_网易新闻", "<meta name=author content=网易>", "<p>2024-03-12 来源: 山海日报</p>", ()),
        ("河口大桥", "<meta name=author content=chinanews>", "<p>2024-03-12</p>", ()),
        ("河口大桥", "<meta name=author content='河口网，最快的新闻、最全的资讯、股票'>", "<p>2024-03-12</p>", ()),
        ("河口大桥", "", "<p>2022年5月6日 王小明 3 条评论</p>", ("王小明",)),
        ("河口大桥", "<meta name=author content=王小明>", "<p>2024-03-12</p>", ("王小明",)),
        (
            "河口大桥",
            "<meta name=author content=山海客>",
            "<p><span class=author>山海客</span> 3月12日</p>",
            ("山海客",),
        ),
        ("河口大桥", "<meta name=author content=山海客>", "<p><span class=media-name>山海客</span> 3月12日</p>", ()),
        (
            "河口大桥",
            "<meta name=mediaid content=山海客>",
            "<h4><a href='//e.com/profile?x=1'>山海客</a></h4>",
            ("山海客",),
        ),
    ],
)
def test_authors_stated_by_chinese_templates(title: str, head: str, line: str, names: tuple[str, ...]) -> None:
    body = f"<title>{title}</title>{head}<h1>河口大桥合龙在即</h1>{line}<div>{TEXT}</div>"
    assert parse_page(body.encode(), "http://e.com/a/1.html", fetched_at=NOW).metadata.authors == names


ENGLISH = "".join(
    f"<p>The last section of the bridge was poured on day {n}, and the work now enters its final stage.</p>"
    for n in range(5)
)


@each_row(
    ("head", "line", "names"),
    [
        ("<meta name=author content=jroe2>", "<p>By Jane Roe</p>", ("Jane Roe",)),
        ("<meta name=author content='River Post'>", "<p>Jane Roe</p><p>March 12, 2024</p>", ("Jane Roe",)),
        ("<meta name=author content='River Post'>", "<p>March 12, 2024</p>", ("River Post",)),
        ("", "<p>Share Post</p><p>March 12, 2024</p><p>You may share this post with friends.</p>", ()),
        (
            "<meta name=twitter:label1 content='Written by'><meta name=twitter:data1 content='Jane Roe'>",
            "<p>March 12</p>",
            ("Jane Roe",),
        ),
        ("", "<p>Author</p><p>Jane Roe</p>", ("Jane Roe",)),
        ("", "<p>By River Post | March 12, 2024</p>", ("River Post",)),
        ("", "<p>Jane Roe</p><p>A bridge</p><div>Jane Roe</div>", ("Jane Roe",)),
        ("", "<p><a rel='nofollow' href='/author/jane'>Jane Roe</a> 5 min</p>", ("Jane Roe",)),
        ("", "<form class=author-login><label>Jane Roe</label></form>", ()),
        ("", "<p class=author>Yazan: Jane Roe</p><p>March 12, 2024</p>", ("Jane Roe",)),
        ("", "<p class=author>Jane Roe, Kim Hale &amp; Lee Dunn</p>", ("Jane Roe", "Kim Hale", "Lee Dunn")),
        ("<meta name='cXenseParse:author' content='Jane Roe'>", "<p>x</p>", ("Jane Roe",)),
        ("<meta name='dd:author' content='Jane Roe'>", "<p>x</p>", ("Jane Roe",)),
        ("<meta name=author content='jane roe'>", "<p>x</p>", ("jane roe",)),
        ("<meta name=author content='News Desk'>", "<p>By Jane Roe</p>", ("Jane Roe",)),
        ("", "<p>March 12, 2024 <em class=byline>Jane Roe</em></p>", ("Jane Roe",)),
    ],
)
def test_places_are_weighed(head: str, line: str, names: tuple[str, ...]) -> None:
    head = f"<title>Bridge nearly done</title><meta property=og:site_name content='River Post'>{head}"
    body = f"<html lang=en><head>{head}</head><body><h1>Bridge nearly done</h1>{line}<div>{ENGLISH}</div></body></html>"
    assert parse_page(body.encode(), "http://e.com/a/1.html", fetched_at=NOW).metadata.authors == names


WECHAT = (
    "<html><head><title>河口大桥合龙在即</title></head><body><h1 class=rich_media_title>河口大桥合龙在即</h1>"
    "<div class=rich_media_meta_list><span class='rich_media_meta rich_media_meta_text'>%s</span> "
    "<span class='rich_media_meta rich_media_meta_nickname'><a id=js_name>山海评论</a></span> "
    "<em class='rich_media_meta rich_media_meta_text'>2024-03-12</em></div><div id=js_content>%s</div></body></html>"
)


def test_byline_of_an_account_is_the_author_and_the_account_the_source() -> None:
    page = (WECHAT % ("票圈君", TEXT)).encode()
    found = parse_page(page, "https://mp.weixin.example/s/a", fetched_at=NOW).metadata
    assert (found.authors, found.source) == (("票圈君",), "山海评论")
    found = parse_page(page.replace("票圈君".encode(), b""), "https://mp.weixin.example/s/a", fetched_at=NOW).metadata
    assert (found.authors, found.source) == ((), "山海评论")


FORUM = (
    "<html><head><title>社区图书馆周末延长开放 - 江城论坛</title></head><body><h1>社区图书馆周末延长开放</h1>"
    '<div><div class="authi"><a href="/space-uid-3.html" class="xw1">%s</a></div>积分 77</div><div><div class="pi">'
    '楼主 <em id="authorposton1">发表于 2025-3-4 12:30:15</em> | 只看该作者</div><div class="t_f">'
    + TEXT
    + "</div></div>"
    '<div><div class="authi"><a href="/space-uid-4.html">李雷</a></div>'
    '<div class="pi">2# 发表于 2025-3-4 13:02:11</div>'
    '<div class="t_f">楼主辛苦了，我家孩子最喜欢二楼的绘本区，就是空调有点冷。</div></div></body></html>'
)


@each_row("name", ["金杰远", "阳光男孩", "express1"])
def test_first_poster_of_a_thread_is_its_author(name: str) -> None:
    page = parse_page((FORUM % name).encode(), "http://bbs.example.cn/thread-22-1-1.html", fetched_at=NOW)
    assert page.metadata.authors == (name,)


@each_row(
    "word",
    [
        "注冊",
        "活動列表",
        "新規登録",
        "Publié",
        "Staff Directory",
        "Seoul",
        "vom",
        "Text",
        "LTO",
        "express1",
        "Ph.D",
        "CFP®",
        "Licensed Electrician",
        "No Caption",
        "NOC Admin",
    ],
)
@each_row(
    "line",
    [
        "<meta name=author content='%s'>",
        "<meta name=twitter:label1 content='Written by'><meta name=twitter:data1 content='%s'>",
        '<script type="application/ld+json">{"@type":"NewsArticle","author":{"@type":"Person","name":"%s"}}</script>',
        "<p><a rel=author href=/author/1>%s</a> 12 March 2024</p>",
        "<p><span class=author>%s</span> 12 March 2024</p>",
        "<p>By %s</p>",
        "<p>By</p><p>%s</p>",
        "<p>%s | March 12, 2024</p>",
        "<p>作者：%s</p>",
    ],
)
def test_words_are_no_authors_wherever_they_stand(line: str, word: str) -> None:
    for text in (ENGLISH, TEXT):
        body = f"<title>Bridge</title>{line % word}<h1>Bridge</h1>{line % word}<div>{text}</div>"
        assert parse_page(body.encode(), "http://e.com/a/1.html", fetched_at=NOW).metadata.authors == ()


def test_anchors_of_functions_are_no_authors() -> None:
    line = "<p class=author><a href='/member.php?mod=register'>Mukaan Nyt</a></p><p>March 12, 2024</p>"
    body = f"<title>Bridge</title><h1>Bridge nearly done</h1>{line}<div>{ENGLISH}</div>"
    assert parse_page(body.encode(), "http://e.com/a/1.html", fetched_at=NOW).metadata.authors == ()
    body = body.replace("/member.php?mod=register", "/author/mukaan")
    assert parse_page(body.encode(), "http://e.com/a/1.html", fetched_at=NOW).metadata.authors == ("Mukaan Nyt",)


def test_editors_that_the_author_element_names_are_no_authors() -> None:
    page = (
        "<html><head><title>河口大桥完成浇筑</title><meta name=author content=严玉洁></head><body>"
        f"<h1>河口大桥完成浇筑</h1><p>2024-03-12 08:30 来源：山海日报</p>{TEXT}%s</body></html>"
    )
    url = "http://bj.example/20240312/1.html"
    read = [
        parse_page((page % line).encode(), url, fetched_at=NOW).metadata.authors
        for line in ("", "<p>【责任编辑：严玉洁】</p>")
    ]
    assert read == [("严玉洁",), ()]


@given(st.text(max_size=300))
def test_any_line_is_read(text: str) -> None:
    for names in (person_names.parse_line(text), person_names.parse_prose(text), [text]):
        for name in NameTest().tidy(names):
            assert 2 <= len(name) <= person_names.MAX_NAME_CHARS


@each_row(
    "line",
    ["记者" + "王李" * 140, "记者" + "王" * 60, "作者：" + "王小" * 140, "（" * 300, "By " + "A" * 297, "/" * 300],
)
def test_hostile_lines_cost_little(line: str) -> None:
    start = time.process_time()
    for names in (person_names.parse_line(line), person_names.parse_prose(line), [line]):
        NameTest().tidy(names)
    assert time.process_time() - start < 1
