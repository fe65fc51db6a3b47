"""Citations of articles: BibTeX, RIS and GB/T 7714-2015.

The date of access is that of the fetch: then the text was as it is stored.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from db.records.article import JOINED_BY, ArticleItem, split_names
from db.records.keys import read_day

CITED: Final = (
    "id",
    "title",
    "authors",
    "source",
    "site",
    "published_at",
    "first_seen",
    "fetched_at",
    "language",
    "url",
)
"""Columns that a citation is made of."""
_MASK: Final = (1 << 64) - 1
_MOST_AUTHORS: Final = 3
"""Authors that GB/T 7714 names; "等" or "et al" stands for the others."""
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_TEX: Final = {
    "\\": r"\textbackslash{}",
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{sign: f"\\{sign}" for sign in "$&#_%"},
}
_SPECIAL: Final = re.compile("[{}]".format(re.escape("".join(_TEX))))
_UNSEEN: Final = re.compile("[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]+")
_LATIN_NAME: Final = re.compile(r"[^\W\d_][\w.'\u2019-]*(?:,? [^\W\d_][\w.'\u2019-]*)+")
_UNCUT: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_BODY: Final = re.compile(
    r"\b(?:the|of|and|for|news|agency|staff|team|desk|press|editors?|bureau|office|reporters?|times|post|daily|"
    r"service|network|media|group|committee|university|institute|[A-Z]{3,})\b"
)
"""Words of names that are no person's; in lower case, but for abbreviations."""
_PARTICLES: Final = frozenset(
    ["van", "von", "der", "den", "de", "da", "di", "du", "del", "della", "la", "le", "dos", "zu"]
)
_SUFFIXES: Final = frozenset(("Jr.", "Jr", "Sr.", "Sr", "II", "III", "IV"))
_NEWSPAPER: Final = re.compile(
    "[报報]$|\\b(?:times|herald|post|gazette|tribune|journal|daily|guardian|telegraph|chronicle|zeitung|courier|"
    "observer|examiner|mercury|argus|echo|star|sun|globe|independent|mirror|mail|express|record)\\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Style:
    """A style: `cite` writes a citation, `remark` a sentence between citations."""

    cite: Callable[[Mapping[str, Any]], str]
    remark: Callable[[str], str]


def bibtex(values: Mapping[str, Any]) -> str:
    """Cite an article as BibTeX and BibLaTeX read it.

    `@misc` has a URL in both. The title keeps its capitals, and authors that are no persons stay whole.
    """
    day, seen = _day(values["published_at"]), _accessed(values)
    fields = {
        "author": " and ".join(map(_tex_name, _authors(values))),
        "title": f"{{{_tex(_line(values['title']))}}}",
        "howpublished": _tex(_publisher(values)),
        "year": day[:4],
        "date": day,
        "url": _tex_url(values["url"]),
        "urldate": seen,
        "langid": _langid(values["language"]),
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value and value != "{}"]
    if day:
        lines.append(f"  month = {_MONTHS[int(day[5:7]) - 1]},")
    return "\n".join([f"@misc{{{_key(values, day)},", *lines, "}", "", ""])


def ris(values: Mapping[str, Any]) -> str:
    """Cite an article in RIS, as reference managers import it."""
    day, seen = _day(values["published_at"]), _accessed(values)
    is_newspaper = _is_newspaper(values)
    pairs = [
        ("TY", "NEWS" if is_newspaper else "ELEC"),
        *(("AU", _last_first(name)) for name in _authors(values)),
        ("TI", _line(values["title"])),
        ("T2" if is_newspaper else "PB", _publisher(values)),
        ("PY", day[:4]),
        ("DA", day.replace("-", "/")),
        ("Y2", seen.replace("-", "/")),
        ("LA", values["language"] or ""),
        ("UR", _line(values["url"])),
    ]
    return "".join(f"{tag}  - {value}\r\n" for tag, value in pairs if value) + "ER  - \r\n\r\n"


def gbt7714(values: Mapping[str, Any]) -> str:
    """Cite an article by GB/T 7714-2015.

    Those of newspapers are [N/OL], those of other sources [EB/OL].

    Source: GB/T 7714-2015, 4.5 (newspapers), 4.6 (electronic resources), 8.1 (authors). A body in whose name an article
    without authors appeared stands as its author.
    """
    day, seen = _day(values["published_at"]), _accessed(values)
    names, source = _authors(values), _publisher(values)
    is_newspaper = _is_newspaper(values)
    if not names and not is_newspaper and values["source"]:
        names = [source]
    language = values["language"] or ("zh" if _UNCUT.search("".join(names)) else "")
    shown = [_gbt_name(name) for name in names[:_MOST_AUTHORS]]
    if len(names) > _MOST_AUTHORS:
        shown.append("等" if language.startswith("zh") else "et al")
    authors = f"{', '.join(shown)}. " if shown else ""
    title = _line(values["title"]).rstrip("。. ") or _line(values["url"])
    accessed = f"[{seen}]" if seen else ""
    if is_newspaper:
        where = f"[N/OL]. {source}{f', {day}' if day else ''}{accessed}"
    else:
        where = "[EB/OL]" + (f". {f'({day})' if day else ''}{accessed}" if day or accessed else "")
    return f"{authors}{title}{where}. {_line(values['url'])}.\n"


def cite(item: ArticleItem) -> dict[str, str]:
    """Cite an article in every style."""
    values = {name: getattr(item, name) for name in CITED} | {"authors": JOINED_BY.join(item.authors)}
    return {name: style.cite(values).replace("\r\n", "\n").strip() for name, style in STYLES.items()}


STYLES: Final[Mapping[str, Style]] = {
    "bibtex": Style(bibtex, lambda text: f"@comment{{{_tex(text)}}}\n"),
    "ris": Style(ris, lambda _: ""),  # which has no place for it
    "gbt7714": Style(gbt7714, lambda text: f"\n{text}\n"),
}


def _line(text: str | None) -> str:
    return " ".join(_UNSEEN.sub(" ", text or "").split())


def _day(time: str | None) -> str:
    return str(read_day(time) or "")


def _accessed(values: Mapping[str, Any]) -> str:
    return _day(values["fetched_at"] or values["first_seen"])


def _authors(values: Mapping[str, Any]) -> list[str]:
    return [name for name in map(_line, split_names(values["authors"] or "")) if name]


def _is_newspaper(values: Mapping[str, Any]) -> bool:
    return _NEWSPAPER.search(_line(values["source"])) is not None


def _publisher(values: Mapping[str, Any]) -> str:
    return _line(values["source"]) or _line(values["site"])


def _tex(text: str) -> str:
    r"""Escape what TeX and BibTeX would read as commands; braces stay balanced.

    >>> _tex("50% & {x}")
    '50\\% \\& \\textbraceleft{}x\\textbraceright{}'
    """
    return _SPECIAL.sub(lambda match: _TEX[match[0]], text)


def _tex_name(name: str) -> str:
    is_whole = _parts(name) is None and (" " in name or "," in name)
    return f"{{{_tex(name)}}}" if is_whole else _tex(name)


def _tex_url(url: str | None) -> str:
    """Percent-encode the signs of a URL that end or nest a field."""
    return re.sub(r'[\s{}\\"<>^`|]', lambda match: quote(match[0]), url or "")


def _key(values: Mapping[str, Any], day: str) -> str:
    name = re.sub("[^a-z0-9]", "", _line(values["site"]).lower().partition(".")[0])[:20]
    return f"{name or 'article'}{day[:4]}-{int(values['id']) & _MASK:016x}"


def _langid(language: str | None) -> str:
    codes = {"zh": "chinese", "en": "english", "de": "german", "fr": "french", "es": "spanish", "ru": "russian"}
    return codes.get((language or "").partition("-")[0], "")


def _parts(name: str) -> tuple[str, str] | None:
    """Return given names and surname of a Latin name; None for all others.

    >>> _parts("Ada Byron"), _parts("Vincent van Gogh"), _parts("李四"), _parts("The Times Staff")
    (('Ada', 'Byron'), ('Vincent', 'van Gogh'), None, None)
    """
    if _UNCUT.search(name) or not _LATIN_NAME.fullmatch(name) or _is_body(name):
        return None
    before, comma, behind = name.partition(",")
    if comma:
        is_person = "," not in behind and behind.strip() not in _SUFFIXES
        return (behind.strip(), before.strip()) if is_person else None
    words = name.split()
    first = next((n for n, word in enumerate(words[1:-1], 1) if word in _PARTICLES), len(words) - 1)
    return " ".join(words[:first]), " ".join(words[first:])


def _is_body(name: str) -> bool:
    return any(_BODY.search(each) for each in (name, name.lower()))


def _last_first(name: str) -> str:
    parts = _parts(name)
    return name if parts is None else f"{parts[1]}, {parts[0]}"


def _gbt_name(name: str) -> str:
    """Return an author as GB/T 7714 writes it.

    >>> _gbt_name("Ada Mary Byron"), _gbt_name("Jean-Paul Sartre"), _gbt_name("李四")
    ('BYRON A M', 'SARTRE J P', '李四')
    """
    parts = _parts(name)
    if parts is None:
        return name
    initials = " ".join(word[0].upper() for word in re.split(r"[ .\-]+", parts[0]) if word)
    return f"{parts[1].upper()} {initials}".strip()
