"""Webs of colleges and universities for the simulator of crawl orders: made by chance, another one with every seed.

    uv run python -m tests.benchmarks.campus college FOLDER --seed 1
    uv run python -m tests.benchmarks.campus university FOLDER --seed 1      # needs BENCH_DATA

A *college* is one site of two hosts: sections with their own navigation, forms and catalogues that link to nothing, and
homes of teachers with long rows of slides, of which each names the first, the last and its neighbours only.

A *university* is departments of several universities, each a host: entries of few words, lists of people, homes under
`/~name/` that a few words describe, courses with handouts, projects. What a page is (`student`, `faculty`, `course`,
`project`, `staff`, `department`, `other`) is its label; a page says its own kind seldom, its address and the lists that
name it say it more often. Texts are scientific abstracts, dealt by department.

A folder then holds what `tools/crawl_order.py` reads: `graph.npz`, `nodes.tsv`, `labels.json`, `text.txt.gz` and
`anchors.txt.gz`.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from .commands import new_parser
from .data import DATA, read_rows

_CONTENT, _NAV = 0, 1
_MOST_LEVELS = 3
_NAMES = "adams baker clark davis evans frank ghosh hill irwin jones khan lopez mason nash olsen patel quinn reed smith"
_SAID = {
    "student": "graduate student resume hobbies friends advisor thesis photos music cool links bookmarks",
    "faculty": "professor associate research publications phd interests chair journal conference teaching",
    "course": "homework syllabus lecture instructor exam grading assignment textbook hours prerequisites due",
    "project": "group project members research software overview sponsored publications system download",
    "staff": "administrative staff assistant coordinator office phone systems support manager",
    "department": "department welcome university computer science information graduate undergraduate admissions",
    "other": "page back index figure table part section list notes file",
}


@dataclass
class Page:
    """A page that is being made."""

    url: str
    host: str
    label: str = "other"
    text: str = ""
    links: dict[int, tuple[str, int]] = field(default_factory=dict)


class Web:
    """Pages by number, and their links."""

    def __init__(self) -> None:
        self.pages: list[Page] = []
        self._urls: set[str] = set()

    def add(self, host: str, path: str, label: str = "other", text: str = "") -> int:
        """Add a page; returns its number."""
        while f"http://{host}{path}" in self._urls:
            path = f"{path.removesuffix('/')}x{path[len(path.removesuffix('/')) :]}"
        self._urls.add(f"http://{host}{path}")
        self.pages.append(Page(f"http://{host}{path}", host, label, text))
        return len(self.pages) - 1

    def link(self, source: int, target: int, anchor: str = "", block: int = _CONTENT) -> None:
        """Add a link, once."""
        if source != target:
            self.pages[source].links.setdefault(target, (anchor, block))

    def write(self, folder: Path) -> None:
        """Write what the simulator reads; the pages in an order that tells nothing."""
        folder.mkdir(parents=True, exist_ok=True)
        order = sorted(range(len(self.pages)), key=lambda number: self.pages[number].url)
        place = {number: at for at, number in enumerate(order)}
        pages = [self.pages[number] for number in order]
        links = [(place[target], *said) for page in pages for target, said in page.links.items()]
        starts = np.cumsum([0, *(len(page.links) for page in pages)])
        blocks = np.array([block for _, _, block in links], np.uint8)
        np.savez(
            folder / "graph.npz", indptr=starts, indices=np.array([t for t, _, _ in links], np.int32), block=blocks
        )
        rows = [f"{at}\t{page.url}\t{page.host}\t\n" for at, page in enumerate(pages)]
        (folder / "nodes.tsv").write_text("".join(rows), encoding="utf-8")
        labels: dict[str, list[int]] = {}
        for at, page in enumerate(pages):
            labels.setdefault(page.label, []).append(at)
        (folder / "labels.json").write_text(json.dumps(labels), encoding="utf-8")
        with gzip.open(folder / "text.txt.gz", "wt", encoding="utf-8") as file:
            file.writelines(f"{page.text}\n" for page in pages)
        with gzip.open(folder / "anchors.txt.gz", "wt", encoding="utf-8") as file:
            file.writelines(f"{anchor}\n" for _, anchor, _ in links)


def college(seed: int) -> Web:
    """Make the web of a college."""
    draw, web = random.Random(seed), Web()
    www, old = "www.college.test", "www1.college.test"
    home = web.add(www, "/")
    sections = [web.add(www, f"/{name}/{name}.htm") for name in _named(draw, "section", draw.randint(8, 14))]
    for section in sections:
        web.link(home, section)
    for section in sections:
        pages = _tree(draw, web, section, draw.randint(10, 80))
        own_nav = draw.random() < 0.7
        for page in pages:
            if draw.random() < 0.85:
                web.link(page, home, block=_NAV)
            for other in sections if own_nav else [section]:
                web.link(page, other, block=_NAV)
    catalogue = web.add(old, "/docs/index.htm")
    web.link(draw.choice(sections), catalogue)
    for folder in _named(draw, "docs", draw.randint(8, 16)):
        index = web.add(old, f"/docs/{folder}/index.htm")
        web.link(catalogue, index)
        for number in range(draw.randint(5, 60)):
            page = web.add(old, f"/docs/{folder}/{draw.choice(['form', 'memo', 'page'])}{number}.htm")
            web.link(index, page)
            if draw.random() < 0.35:
                web.link(page, draw.choice([index, catalogue, home]))
    people = web.add(www, "/academics/faculty.htm")
    web.link(sections[0], people)
    for name in _named(draw, "teacher", draw.randint(30, 60)):
        page = web.add(old, f"/faculty/{name}/")
        web.link(people, page)
        if draw.random() < 0.5:
            web.link(page, home)
        _teach(draw, web, old, f"/faculty/{name}", page)
    everything = len(web.pages)
    for _ in range(everything // 8):  # what people link to because they like it
        source, target = draw.randrange(everything), int(everything * draw.random() ** 3)
        if web.pages[source].links:
            web.link(source, target)
    return web


def _teach(draw: random.Random, web: Web, host: str, base: str, page: int) -> None:
    """Add courses, handouts and slides to a teacher's home."""
    for course in range(draw.randint(0, 4)):
        top = web.add(host, f"{base}/course{course}/syllabus.htm")
        web.link(page, top)
        if draw.random() < 0.5:
            web.link(top, page)
        for number in range(int(draw.paretovariate(0.9) * 3) % 40):
            note = web.add(host, f"{base}/course{course}/note{number}.htm")
            web.link(top, note)
            if draw.random() < 0.3:
                web.link(note, top)
        for show in range(draw.choice([0, 0, 0, 1, 2, 4])):
            slides = [
                web.add(host, f"{base}/course{course}/show{show}/sld{number:03}.htm")
                for number in range(1, draw.randint(8, 50))
            ]
            texts = [web.add(host, web.pages[one].url.partition(host)[2].replace("sld", "tsld")) for one in slides]
            web.link(top, slides[0])
            for at, one in enumerate(slides):
                for other in (slides[0], slides[max(0, at - 1)], slides[min(at + 1, len(slides) - 1)], slides[-1]):
                    web.link(one, other)
                web.link(one, texts[at])
                for other in (texts[0], texts[max(0, at - 1)], texts[min(at + 1, len(texts) - 1)], one):
                    web.link(texts[at], other)


def _tree(draw: random.Random, web: Web, top: int, pages: int) -> list[int]:
    """Add a tree of pages below a page; returns them with it."""
    found, levels, host = [top], {top: 0}, web.pages[top].host
    base = web.pages[top].url.rpartition("/")[0].partition(host)[2]
    for number in range(pages):
        above = draw.choice([page for page in found if levels[page] < _MOST_LEVELS])
        page = web.add(host, f"{base}/{'sub/' * levels[above]}{draw.choice(['info', 'page', 'about'])}{number}.htm")
        levels[page] = levels[above] + 1
        web.link(above, page)
        if draw.random() < 0.4:
            web.link(page, above)
        found.append(page)
    return found


def university(seed: int) -> Web:
    """Make the web of some departments."""
    draw, web = random.Random(seed), Web()
    rows = read_rows(DATA / "text" / "kw_inspec" / "dev.jsonl.gz")
    abstracts = [" ".join(str(row.get(key, "")) for key in ("title", "text")) for row in rows]
    draw.shuffle(abstracts)
    hosts = [f"{'www.' * draw.randint(0, 1)}{'cs' if draw.random() < 0.7 else 'ece'}.u{n}.edu" for n in range(14)]
    entries = [_Department(draw, web, host, abstracts[n::14], small=n >= 4).entry for n, host in enumerate(hosts)]
    everything = len(web.pages)
    for page in range(everything):
        if web.pages[page].label in {"student", "faculty", "project", "department"} and draw.random() < 0.35:
            for _ in range(draw.randint(1, 4)):
                other = draw.choice(entries) if draw.random() < 0.4 else draw.randrange(everything)
                web.link(page, other, _anchor(draw, web.pages[other]))
    return web


_FOLDERS = {
    "student": ("people/students", "grads", "students"),
    "faculty": ("people/faculty", "faculty"),
    "staff": ("people/staff", "staff"),
    "course": ("courses", "classes", "education"),
    "project": ("research", "projects"),
    "other": ("reports", "news", "docs"),
}
_LISTS = {"student": "Graduate Students", "other": "Technical Reports"}


class _Department:
    """A department that is being made; a small one has a seventh of the pages."""

    def __init__(self, draw: random.Random, web: Web, host: str, texts: Sequence[str], *, small: bool) -> None:
        self.draw, self.web, self.host, self.texts = draw, web, host, texts
        self.size = 0.15 if small else 1.0
        self.entry = self.add("/", "department", draw.randint(10, 60))
        self.lists = {
            kind: self.add(
                f"/{draw.choice(folders)}{draw.choice(['/', '.html', '/index.html'])}", "other", draw.randint(5, 40)
            )
            for kind, folders in _FOLDERS.items()
        }
        for kind, page in self.lists.items():
            web.link(self.entry, page, _LISTS.get(kind, kind.title()), _NAV)
            web.link(page, self.entry, "Home", _NAV)
        self.people: list[int] = []
        for kind, most in (("student", 110), ("faculty", 35), ("staff", 15)):
            self.add_people(kind, int(most * self.size * draw.uniform(0.6, 1.4)) + 1)
        for number in range(int(55 * self.size) + 1):
            self.add_course(has_entry=not number % 6)
        self.add_projects(int(22 * self.size) + 1)
        for number in range(int(80 * self.size)):
            web.link(self.lists["other"], self.add(f"/docs/report{number}.html", "other", 90, own=0.05), f"TR {number}")

    def add(self, path: str, label: str, words: int, own: float = 0.06) -> int:
        """Add a page: words of its kind, as often as that, among those of an abstract."""
        draw, said, topic = self.draw, _SAID[label].split(), self.draw.choice(self.texts).split()
        some = [draw.choice(said if draw.random() < own else topic) for _ in range(words)]
        if label not in {"other", "department"} and draw.random() < 0.2:
            some.insert(draw.randrange(len(some) + 1), label)
        return self.web.add(self.host, path, label, " ".join(some))

    def add_people(self, kind: str, count: int) -> None:
        """Add homes of people, and what these show."""
        draw, web = self.draw, self.web
        for name in _named(draw, "", count):
            path = f"/~{name}/" if draw.random() < 0.7 else f"/{draw.choice(['homes', 'users'])}/{name}.html"
            page = self.add(path, kind, int(draw.lognormvariate(4.2, 0.9)) + 3)
            web.link(self.lists[kind], page, name.title())
            if draw.random() < 0.5:
                web.link(page, self.entry, "Department")
            self.people.append(page)
            for number in range(int(draw.paretovariate(0.8)) % 12):
                path = f"/~{name}/{draw.choice(['pics', 'cv', 'pub', 'fun'])}{number}.html"
                more = self.add(path, "other", 60, own=0.05)
                web.link(page, more, draw.choice(["Photos", "Publications", "More", "Click here"]))
                if draw.random() < 0.5:
                    web.link(more, page, "Back")

    def add_course(self, *, has_entry: bool) -> None:
        """Add a course with its handouts."""
        draw, web = self.draw, self.web
        code = f"{draw.choice(['cs', 'cse'])}{draw.randint(100, 799)}{draw.choice('abcdef')}"
        folder = f"/{draw.choice(['courses', 'classes'])}/{code}/"
        course = self.add(folder, "course", int(draw.lognormvariate(5, 0.6)) + 5)
        web.link(self.lists["course"], course, code.upper())
        web.link(course, draw.choice(self.people), "Instructor")
        web.link(draw.choice(self.people), course, code.upper())
        for part in range(int(draw.paretovariate(0.7)) % 25):
            sheet = self.add(f"{folder}{draw.choice(['hw', 'lecture', 'exam'])}{part}.html", "other", 120, own=0.05)
            web.link(course, sheet, f"{draw.choice(['Homework', 'Lecture', 'Exam'])} {part}")
            if draw.random() < 0.4:
                web.link(sheet, course, "Course page")
        if has_entry:
            web.link(course, self.entry, "Department")

    def add_projects(self, count: int) -> None:
        """Add projects with their members."""
        draw, web = self.draw, self.web
        for name in _named(draw, "project", count):
            project = self.add(f"/research/{name}/", "project", int(draw.lognormvariate(4.8, 0.7)) + 5)
            web.link(self.lists["project"], project, name)
            for member in draw.sample(self.people, min(len(self.people), draw.randint(2, 7))):
                web.link(project, member, "")
                if draw.random() < 0.6:
                    web.link(member, project, name)
            for number in range(draw.randint(0, 8)):
                web.link(project, self.add(f"/research/{name}/doc{number}.html", "other", 100), "Documentation")


def _anchor(draw: random.Random, page: Page) -> str:
    """Return words that name a page, often none that help."""
    last = page.url.rstrip("/").rpartition("/")[2].partition(".")[0].strip("~")
    return draw.choice([last, last, "here", page.label if page.label != "other" else "link"])


def _named(draw: random.Random, what: str, count: int) -> list[str]:
    """Return different names."""
    return [f"{what or draw.choice(_NAMES.split())}{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(count)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Write a web."""
    parser = new_parser(__doc__)
    parser.add_argument("kind", choices=["college", "university"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    web = (college if options.kind == "college" else university)(options.seed)
    web.write(options.folder)
    print(f"{len(web.pages)} pages, {sum(len(page.links) for page in web.pages)} links")


if __name__ == "__main__":
    main()
