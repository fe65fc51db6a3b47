"""Headline of a page, agreed on by headings, `<title>` and metadata."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from ..decode.text import clean, squeeze
from ..document.document import Document
from ..document.noise import is_info, is_label
from ..document.structured_data import Structured

MAX_TITLE_CHARS: Final = 500
_MAX_LINES: Final = 60
_WHOLE: Final = 0.8
_ABOVE: Final = 8
_BODY_LINES: Final = 12
_LEAST_WORDS: Final = 3
_LEAST_SHARE: Final = 0.5
_WORD: Final = re.compile(r"[^\W\d_\u2e80-\u9fff\uac00-\ud7af]{4,}|[\u2e80-\u9fff\uac00-\ud7af]{2}")
_ASIAN: Final = r"[\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef]"
_SEPARATOR: Final = re.compile(
    r"\s*(?:_{1,3}|[|｜]{1,2}|\s[-–—―:：·•»«›<>~/]{1,2}\s|—{1,2}|--|›|::|\s{4,}|"
    # A hyphen without blanks parts Chinese titles; between other letters it joins words.
    rf"(?<={_ASIAN})-{{1,2}}(?=[^\s\d-])|(?<=[^\s\d-])-{{1,2}}(?={_ASIAN}))\s*"
)
_SPACED: Final = re.compile(r"\s(?:[|｜]{1,2}|[-–—―·•»«›]{1,2}|::)\s|[_|｜]")
_EDGES: Final = " _|｜-–—―:：·•»«›<>~/"
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_EMPHASIS: Final = _HEADINGS | {"strong", "b", "font", "big", "center"}
_LEVELS: Final = {"h1": 1, "h2": 2, "h3": 3}
_BONUS: Final = {1: 2.0, 2: 1.0, 3: 0.5}
_TITLE_NAME: Final = re.compile(r"(?:^|[\s_-])(?:\w{0,8}title\w{0,3}|headline|biaoti|bt|tit|subject)(?:$|[\s_-])")
_META: Final = (
    "articletitle", "og:title", "twitter:title", "title", "dc.title", "headline", "parsely-title", "sailthru.title",
)  # fmt: skip
_PART: Final = re.compile(r"\s{0,2}[(（]\s?(\d{1,3})\s?[)）]$")


@dataclass(frozen=True, slots=True)
class Headline:
    """A headline and the block that shows it, -1 when none does."""

    text: str = ""
    block: int = -1


def find_headline(document: Document, structured: Structured, first_body_block: int, sites: Iterable[str]) -> Headline:
    """Return the headline of a page without the site's name.

    A visible line that is part of `<title>` or of the metadata's title is the best source: it has neither the site's
    name nor a paraphrase for sharing. Without one the metadata speak, then `<title>` cut at its separators.

    Args:
        document: a parsed page.
        structured: its JSON-LD.
        first_body_block: where the text starts; lines before it and all headings are candidates; -1 for none.
        sites: what the site calls itself (see `find_site_names`).

    Returns:
        One line of at most 500 characters, empty when the page names nothing.

    Cost: O(blocks), with a small constant: of the lines that are no headings only the 60 nearest to the text count.
    """
    site = {squeeze(name) for name in (*sites, *_home_names(document)) if len(name) <= 60} - {""}
    metas = _stated(document, structured, site)
    titles = list(dict.fromkeys(squeeze(text) for text in (document.title, *metas) if text))
    lines = find_headings(document)
    whole = min((len(squeeze(strip_site(text, site))) for text in (document.title, *metas) if text), default=1)
    candidates = _candidates(document, lines, first_body_block)
    text, place = _agreed(candidates, titles, max(whole, 1), site, first_body_block)
    if text:
        return Headline(_bare(text, document.title, metas, site), place)
    place = _first_heading(document, lines, first_body_block, site)
    if place >= 0 and not (len(metas) >= 2 and len(titles) == 1):
        return Headline(_bare(document.blocks.texts[place], document.title, metas, site), place)
    if metas:
        return Headline(clean(strip_site(metas[0], site), MAX_TITLE_CHARS))
    place = _above(document, first_body_block, site)
    if place >= 0 and not _names_story(document, first_body_block, site, document.blocks.texts[place]):
        return Headline(clean(document.blocks.texts[place], MAX_TITLE_CHARS), place)
    first = [
        (text, index)
        for level, text, index in lines
        if level == 1 and 4 <= len(text) <= 200 and squeeze(text) not in site
    ]
    if len(first) == 1 or (first and not document.title):
        return Headline(clean(first[0][0], MAX_TITLE_CHARS), first[0][1])
    return Headline(_numberless(clean(strip_site(document.title, site), MAX_TITLE_CHARS)))


def _stated(document: Document, structured: Structured, site: set[str]) -> list[str]:
    """Return the titles in the metadata without those that only name the site."""
    values = [structured.headline] if structured.headline else []
    metas = document.metas
    values += [metas[name][0] for name in _META if name in metas]
    return [value for value in map(clean, values) if value and squeeze(value) not in site]


def _bare(line: str, title: str, metas: list[str], site: set[str]) -> str:
    """Strip catchword, site's name and page number from a visible line."""
    return _numberless(clean(_without_name(_without_kicker(line, title, metas), site), MAX_TITLE_CHARS))


def _without_kicker(line: str, title: str, metas: list[str]) -> str:
    """Strip the catchword before a heading if title and metadata agree on the rest."""
    shorter = [value for value in metas if 6 <= len(value) < len(line) and line.endswith(value)]
    agreed = bool(shorter) and len(shorter) == len(metas) and (len(shorter) >= 2 or title.startswith(shorter[0]))
    return shorter[0] if agreed else line


def _without_name(line: str, site: set[str]) -> str:
    """Strip the site's name behind a separator from a visible line."""
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
    found: list[tuple[int, str, int]] = []
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
            level, text, first = found[-1]
            found[-1] = (level, f"{text} {blocks.texts[index]}", first)
        else:
            found.append((_LEVELS[tags[at]], blocks.texts[index], index))
        last = at
    return found


def _candidates(
    document: Document, lines: list[tuple[int, str, int]], first_body_block: int
) -> list[tuple[int, str, int]]:
    """Return the headings, and as level 4 the other lines before the text."""
    levels = {index for _, _, index in lines}
    blocks = document.blocks
    limit = min(first_body_block + 1 if first_body_block >= 0 else _MAX_LINES, len(blocks))
    others: list[tuple[int, str, int]] = []
    for index in range(limit - 1, -1, -1):
        text = blocks.texts[index]
        if 5 <= len(text) <= 200 and blocks.link_chars[index] * 2 <= blocks.chars[index] and index not in levels:
            others.append((4, text, index))
            if len(others) >= _MAX_LINES:
                break
    return lines + others[::-1]


def _agreed(
    lines: list[tuple[int, str, int]], titles: list[str], whole: int, site: set[str], first_body_block: int
) -> tuple[str, int]:
    """Return the line that most titles repeat; empty when none is convincing."""
    best, place, best_rank = "", -1, 2.0
    for level, text, index in lines:
        line = squeeze(text)
        if not 4 <= len(line) <= 300 or line in site:
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
            best, place, best_rank = text, index, rank
    return _nearer(lines, titles, best, place, first_body_block) if best else ("", -1)


def _nearer(
    lines: list[tuple[int, str, int]], titles: list[str], best: str, place: int, first_body_block: int
) -> tuple[str, int]:
    """Return, of two headings that form the title, the one nearer to the text."""
    line = squeeze(best)
    for level, text, index in reversed(lines):
        # A heading right below another is its second line.
        if level == 4 or not place + 2 < index <= first_body_block + 1:
            continue
        other = squeeze(text)
        if len(other) >= 4 and other not in line and line not in other:
            whole = len(line) + len(other)
            if any(line in title and other in title and whole >= _WHOLE * len(title) for title in titles):
                return text, index
    return best, place


def _first_heading(document: Document, lines: list[tuple[int, str, int]], first_body_block: int, site: set[str]) -> int:
    """Find the only `<h1>` right above the text, -1 for none or several."""
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


def _names_story(document: Document, first_body_block: int, site: set[str], rival: str) -> bool:
    """Tell whether `<title>` names the text's subject at least as well as `rival`."""
    if squeeze(rival)[:4] in squeeze(document.title):
        return True
    body = _opening(document, first_body_block)
    own = _told(strip_site(document.title, site), body)
    return own >= max(_told(rival, body), _LEAST_SHARE)


def _opening(document: Document, first_body_block: int) -> str:
    """Return the first lines of the text."""
    return " ".join(document.blocks.texts[first_body_block : first_body_block + _BODY_LINES]).lower()


def _told(line: str, body: str) -> float:
    """Return the share of a line's words that the text repeats, 0 for too few words."""
    found = _WORD.findall(line.lower())
    return sum(word in body for word in found) / len(found) if len(found) >= _LEAST_WORDS else 0.0


def _above(document: Document, first_body_block: int, site: set[str]) -> int:
    """Find the line that heads the text, where `<title>` only names the site.

    A heading or emphasised line, else one whose words the text repeats.
    """
    blocks, tags = document.blocks, document.tags
    plain: list[int] = []
    for index in range(first_body_block, max(-1, first_body_block - _ABOVE), -1):
        text = blocks.texts[index]
        node, start = blocks.nodes[index], blocks.starts[index]
        if index == first_body_block and tags[node] not in _HEADINGS:
            continue
        folded = squeeze(text) if len(text) <= 200 else ""
        if (
            not 6 <= len(folded) <= 120
            or folded in site
            or blocks.link_chars[index] * 2 > blocks.chars[index]
            or is_info(text)
            or is_label(text)
        ):
            continue
        names = f"{document.names[node]} {document.names[start]}"
        if {tags[node], tags[start]} & _EMPHASIS or _TITLE_NAME.search(names):
            return index
        plain.append(index)
    body = _opening(document, first_body_block) if plain else ""
    return next((index for index in plain if _told(blocks.texts[index], body) >= _LEAST_SHARE), -1)


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
    """Return the names that the site calls itself in its metadata, and its host."""
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
    """Return the anchors of links to the front page: the site's name, no headline."""
    parts = urlsplit(document.url)
    roots = {"/", f"{parts.scheme}://{parts.netloc}", f"//{parts.netloc}", f"http://{parts.netloc}"}
    roots |= {f"{root}/" for root in roots}
    longest = max(map(len, roots))
    return [
        anchor or document.link_titles.get(number, "")
        for number, (_, href, _, anchor, _) in enumerate(document.links)
        if len(href) <= longest and href in roots
    ]
