"""Headline of a page, agreed on by headings, `<title>` and metadata."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from ..decode.text import clean, squeeze
from ..document.document import Document
from ..document.noise import is_label
from ..document.structured_data import Structured, find_meta
from ..word_lists import WordLists
from .title_ranking import StatedTitles, TitleCandidate, choose, describe

MAX_TITLE_CHARS: Final = 500
_MAX_LINES: Final = 60
_WHOLE: Final = 0.8
_ABOVE: Final = 8
_FEWEST_CHARS, _MOST_CHARS = 2, 300
_FEW_CHARS: Final = 4
"""Shorter candidates are sections or sites if there is any other."""
_SENTENCE_CHARS: Final = 60
_HEADLINE_CHARS: Final = 12
"""A title of this length is no site's name, even if it is stated as one."""
_MOST_CUTS: Final = 6
_MOST_CANDIDATES: Final = 60
_BELOW: Final = 100
_ASIAN: Final = r"[\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef]"
_SEPARATOR: Final = re.compile(
    r"\s*(?:_{1,3}|[|｜]{1,2}|\s[-–—―:：·•»«›<>~/]{1,2}\s|—{1,2}|--|›|::|\s{4,}|"
    # A hyphen without blanks parts Chinese titles; between other letters it joins words.
    rf"(?<={_ASIAN})-{{1,2}}(?=[^\s\d-])|(?<=[^\s\d-])-{{1,2}}(?={_ASIAN}))\s*"
)
_SPACED: Final = re.compile(r"\s(?:[|｜]{1,2}|[-–—―·•»«›]{1,2}|::)\s|[_|｜]")
_EDGES: Final = " _|｜-–—―:：·•»«›<>~/"
_LEVELS: Final = {"h1": 1, "h2": 2, "h3": 3}
_PLAIN: Final = 5
_BONUS: Final = {1: 2.0, 2: 1.0, 3: 0.5}
_TITLE_NAME: Final = re.compile(r"(?:^|[\s_-])(?:\w{0,8}title\w{0,3}|headline|biaoti|bt|tit|subject)(?:$|[\s_-])")
_LISTS: Final = WordLists(Path(__file__).with_name("words") / "titles.txt")
_LABEL = re.compile(
    rf"[\s\[【（(]{{0,2}}{_LISTS.pattern('headline labels')}(?:\s?[\]】）)]\s?|\s?[:：|｜丨/·]\s?|\s)", re.IGNORECASE
)
_SHORTEST: Final = 4
_PARAGRAPH_END: Final = r"\n\n"
"""Signs, as they are written, between the paragraphs of a text that posts of WeChat have as their title."""
_LONGEST_BADGE: Final = 20
_META: Final = (
    "articletitle", "og:title", "twitter:title", "title", "dc.title", "headline", "parsely-title", "sailthru.title",
)  # fmt: skip
_SHARED: Final = ("og:title", "twitter:title")
_PART: Final = re.compile(r"\s{0,2}[(（]\s?(\d{1,3})\s?[)）]$")


@dataclass(frozen=True, slots=True)
class Headline:
    """A headline and the block that shows it, -1 when none does."""

    text: str = ""
    block: int = -1


def find_headline(document: Document, structured: Structured, first_body_block: int, sites: Iterable[str]) -> Headline:
    """Return the headline of a page without the site's name.

    A heading that is part of `<title>` or of the metadata's title is the best source: it has neither the site's name
    nor a paraphrase for sharing; a single `<h1>` right above the text is next. Without them all candidates are weighed
    (see `title_ranking`): all headings, and lines before `first_body_block` (-1: no text).

    Cost: O(blocks), with a small constant: only the 60 lines nearest to the text count beside headings.
    """
    site = fold_sites(document, structured, sites)
    lines = find_candidate_lines(document, first_body_block)
    repeated = find_repeated(document, structured, lines, first_body_block, site)
    if repeated:
        return repeated
    if first_body_block < 0:
        lines = [line for line in lines if line[0] == 1]
    candidates, rows = weigh(document, structured, lines, first_body_block, site)
    if not candidates:
        return Headline()
    long = [number for number, one in enumerate(candidates) if len(one.key) >= _FEW_CHARS]
    best = candidates[long[choose(rows[long])] if long else choose(rows)]
    return Headline(best.text, best.block)


def find_repeated(
    document: Document, structured: Structured, lines: list[tuple[int, str, int]], first_body_block: int, site: set[str]
) -> Headline | None:
    """Return the heading that titles repeat, or the only `<h1>` right above the text.

    None when there is no such heading, or another of the `lines` (`find_candidate_lines`) is repeated more.
    """
    metas = [text for text in _stated(document, structured) if squeeze(text) not in site]
    titles = list(dict.fromkeys(squeeze(text) for text in (document.title, *metas) if text))
    whole = min((len(squeeze(strip_site(text, site))) for text in (document.title, *metas) if text), default=1)
    text, place, level = _agreed(lines, titles, max(whole, 1), site, first_body_block)
    if not text:
        place = _first_heading(document, lines, first_body_block, site)
        if place < 0 or (len(metas) >= 2 and len(titles) == 1):
            return None
        text, level = document.blocks.texts[place], 1
    text = _without_badge(document, text, place, titles)
    return Headline(_bare(text, document.title, metas, site), place) if level < _PLAIN else None


def fold_sites(document: Document, structured: Structured, sites: Iterable[str]) -> set[str]:
    names = {squeeze(name) for name in (*sites, *_home_names(document)) if len(name) <= 60} - {""}
    # Some pages state their headline as the name of the site or the application.
    return names - {key for text in _stated(document, structured) if len(key := squeeze(text)) >= _HEADLINE_CHARS}


def weigh(
    document: Document, structured: Structured, lines: list[tuple[int, str, int]], first_body_block: int, site: set[str]
) -> tuple[list[TitleCandidate], NDArray[np.float64]]:
    candidates = _all_candidates(document, structured, lines, first_body_block, site)
    texts = {"title": "", "og:title": "", "headline": "", **dict(_sources(document, structured))}
    title, shared, data = texts["title"], texts["og:title"], texts["headline"]
    stated = StatedTitles(
        squeeze(strip_site(title, site)), squeeze(title), squeeze(strip_site(shared, site)), squeeze(shared),
        squeeze(data), (title, shared, data),
    )  # fmt: skip
    return candidates, describe(document, candidates, stated, first_body_block, site)


def _all_candidates(
    document: Document, structured: Structured, lines: list[tuple[int, str, int]], first_body_block: int, site: set[str]
) -> list[TitleCandidate]:
    blocks, title = document.blocks, document.title
    metas = [text for text in _stated(document, structured) if squeeze(text) not in site]
    candidates: dict[str, TitleCandidate] = {}

    def add(text: str, source: str, block: int = -1, level: int = 9) -> None:
        text = _bare(text, title, metas, site) if block >= 0 else _numberless(clean(text, MAX_TITLE_CHARS))
        key = squeeze(text)
        if not _FEWEST_CHARS <= len(key) <= _MOST_CHARS:
            return
        one = candidates.setdefault(key, TitleCandidate(text, key))
        one.sources.add(source)
        one.shown += block >= 0
        if block >= 0 and level < one.level:
            names = f"{document.names[blocks.nodes[block]]} {document.names[blocks.starts[block]]}"
            one.text, one.block, one.level, one.is_named = text, block, level, bool(_TITLE_NAME.search(names))

    for level, text, block in _nearest(lines, first_body_block):
        if level == _PLAIN and (text[-1] in "。；" or (text[-1] == "." and len(text) > _SENTENCE_CHARS)):
            continue  # of the text
        add(text, "line", block, level)
    for source, text in _sources(document, structured):
        add(strip_site(text, site), source)
    for cut in list(_SEPARATOR.finditer(title))[:_MOST_CUTS]:
        add(title[: cut.start()], "title begins")
        add(title[cut.end() :], "title ends")
    return list(candidates.values())


def _sources(document: Document, structured: Structured) -> Iterator[tuple[str, str]]:
    others = (name for name in _META if name not in _SHARED)
    named = (("headline", structured.headline), *((name, find_meta(document, name)) for name in _SHARED))
    for source, text in (*named, ("meta", find_meta(document, *others)), ("title", document.title)):
        if text:
            yield source, clean(text.partition(_PARAGRAPH_END)[0] or text, MAX_TITLE_CHARS)


def _nearest(lines: list[tuple[int, str, int]], first_body_block: int) -> list[tuple[int, str, int]]:
    place = max(first_body_block, 0)
    ranked = sorted(lines, key=lambda line: place - line[2] if line[2] <= place else line[2] - place + _BELOW)
    return ranked[:_MOST_CANDIDATES]


def _stated(document: Document, structured: Structured) -> list[str]:
    values = [structured.headline] if structured.headline else []
    metas = document.metas
    values += [metas[name][0] for name in _META if name in metas]
    return [value for value in map(clean, (value.partition(_PARAGRAPH_END)[0] for value in values)) if value]


def _bare(line: str, title: str, metas: list[str], site: set[str]) -> str:
    return _numberless(clean(_without_name(_without_kicker(line, title, metas), site), MAX_TITLE_CHARS))


def _without_kicker(line: str, title: str, metas: list[str]) -> str:
    """Strip the catchword before a heading if title and metadata agree on the rest."""
    if "》" in line and "《" not in line:  # the mark of a breadcrumb, not of a book
        line = line.rpartition("》")[2].strip() or line
    shorter = [value for value in metas if 6 <= len(value) < len(line) and line.endswith(value)]
    agreed = bool(shorter) and len(shorter) == len(metas) and (len(shorter) >= 2 or title.startswith(shorter[0]))
    if agreed:
        return shorter[0]
    label = _LABEL.match(line)
    if label is None:
        return line
    rest, titles = squeeze(line[label.end() :]), [squeeze(text) for text in (title, *metas)]
    repeated = len(rest) >= _SHORTEST and any(rest in text for text in titles)
    return line[label.end() :] if repeated and not any(squeeze(line) in text for text in titles) else line


def _without_badge(document: Document, line: str, block: int, titles: Sequence[str]) -> str:
    """Strip a badge beside a headline, of which no title knows: 原创, Exclusive."""
    parts = document.blocks.parts[block]
    if len(parts) < 2 or any(squeeze(line) in title for title in titles):
        return line
    texts = [text for _, text in parts]
    for badge, rest in ((texts[0], texts[1:]), (texts[-1], texts[:-1])):
        shorter = " ".join("".join(rest).split())
        key = squeeze(shorter)
        if (
            len(badge.strip()) <= _LONGEST_BADGE
            and len(key) >= _SHORTEST
            and any(title.startswith(key) for title in titles)
        ):
            return shorter
    return line


def _without_name(line: str, site: set[str]) -> str:
    *_, cut = [None, *_SEPARATOR.finditer(line)]
    if cut is None or cut.start() < 4:
        return line
    last = squeeze(line[cut.end() :])
    named = last in site or any(len(name) > 4 and name in last and len(last) <= 2 * len(name) for name in site)
    return line[: cut.start()] if last and named else line


def _numberless(title: str) -> str:
    """Strip the number of the article's page behind a title: 标题(2)."""
    match = _PART.search(title)
    return title[: match.start()] if match and 2 <= int(match[1]) <= 99 else title


def find_headings(document: Document) -> list[tuple[int, str, int]]:
    """Return (level, text, first block) of every h1..h3, texts of one heading joined."""
    headings: list[tuple[int, str, int]] = []
    tags, parents, blocks = document.tags, document.parents, document.blocks
    last = -1
    for index, node in enumerate(blocks.nodes):
        at = node
        if tags[at] not in _LEVELS:
            at = parents[at]
            if at < 0 or tags[at] not in _LEVELS:
                at = parents[at]
                if at < 0 or tags[at] not in _LEVELS:
                    continue
        if at == last:
            level, text, first = headings[-1]
            headings[-1] = (level, f"{text} {blocks.texts[index]}", first)
        else:
            headings.append((_LEVELS[tags[at]], blocks.texts[index], index))
        last = at
    return headings


def find_candidate_lines(document: Document, first_body_block: int) -> list[tuple[int, str, int]]:
    """Return the headings of a page, and the other lines before the text as level 5."""
    lines = find_headings(document)
    if first_body_block < 0:
        return lines
    levels = {index for _, _, index in lines}
    blocks = document.blocks
    limit = min(first_body_block + 1, len(blocks))
    others: list[tuple[int, str, int]] = []
    for index in range(limit - 1, -1, -1):
        text = blocks.texts[index]
        if 5 <= len(text) <= 200 and blocks.link_chars[index] * 2 <= blocks.chars[index] and index not in levels:
            others.append((_PLAIN, text, index))
            if len(others) >= _MAX_LINES:
                break
    return lines + others[::-1]


def _agreed(
    lines: list[tuple[int, str, int]], titles: list[str], whole: int, site: set[str], first_body_block: int
) -> tuple[str, int, int]:
    best, place, best_level, best_rank = "", -1, 0, 2.0
    for level, text, index in lines:
        line = squeeze(text)
        if not (4 <= len(line) <= 300 or line in titles) or line in site:
            continue
        votes = sum(
            line in title or (len(title) > 8 and title in line and len(line) < 1.3 * len(title)) for title in titles
        )
        if not votes:
            continue
        rank = votes * 0.5 + 3 * min(1.0, len(line) / whole) + _BONUS.get(level, 0.4)
        if first_body_block >= 0 and index > first_body_block + 1:
            rank -= 1.0
        if rank > best_rank:
            best, place, best_level, best_rank = text, index, level, rank
    if best:
        best, place = _nearer(lines, titles, best, place, first_body_block)
    return best, place, best_level


def _nearer(
    lines: list[tuple[int, str, int]], titles: list[str], best: str, place: int, first_body_block: int
) -> tuple[str, int]:
    """Return the second of two headings that together form the title."""
    line = squeeze(best)
    for level, text, index in reversed(lines):
        # A heading right below another is its second line.
        if level == _PLAIN or not place + 2 < index <= first_body_block + 1:
            continue
        other = squeeze(text)
        if len(other) >= 4 and other not in line and line not in other:
            whole = len(line) + len(other)
            if any(line in title and other in title and whole >= _WHOLE * len(title) for title in titles):
                return text, index
    return best, place


def _first_heading(document: Document, lines: list[tuple[int, str, int]], first_body_block: int, site: set[str]) -> int:
    blocks = document.blocks
    near = [
        index
        for level, text, index in lines
        if level == 1
        and first_body_block - _ABOVE <= index <= first_body_block
        and 4 <= len(squeeze(text)) <= 200
        and squeeze(text) not in site
        and blocks.link_chars[index] * 2 <= blocks.chars[index]
        and not is_label(text)
    ]
    return near[0] if len(near) == 1 else -1


def strip_site(title: str, site: set[str]) -> str:
    """Cut the site's name and its channels off the ends of a title."""
    parts = _SEPARATOR.split(title)
    if len(parts) < 2:
        return title
    if squeeze(parts[0]) in site:
        return strip_site(title[len(parts[0]) :].lstrip(_EDGES), site)
    first = parts[0]
    spaced = bool(_SPACED.search(title))
    if len(first) >= 6 or spaced:
        longest = max(parts, key=len)
        return first if len(first) * 3 >= len(longest) else longest
    return title


def find_site_names(document: Document, structured: Structured) -> list[str]:
    metas = document.metas
    names = [
        clean(metas[name][0], 100)
        for name in ("og:site_name", "application-name", "sitename", "al:android:app_name")
        if name in metas
    ]
    if structured.publisher:
        names.append(clean(structured.publisher, 100))
    host = (urlsplit(document.url).hostname or "").removeprefix("www.")
    return [*names, host, host.partition(".")[0]]


def _home_names(document: Document) -> list[str]:
    parts = urlsplit(document.url)
    roots = {"/", f"{parts.scheme}://{parts.netloc}", f"//{parts.netloc}", f"http://{parts.netloc}"}
    roots |= {f"{root}/" for root in roots}
    longest = max(map(len, roots))
    return [
        anchor or document.link_titles.get(number, "")
        for number, (_, href, _, anchor, _) in enumerate(document.links)
        if len(href) <= longest and href in roots
    ]
