"""Pages in every legacy character set, declared rightly, wrongly or not: how many are read wrong without a doubt.

    uv run python -m tests.benchmarks.charsets [--seeds 3] [--texts FOLDER] [--show 20]

The texts are those of tests/languages.py; `--texts` takes others: JSON lines with `lang` and `text`, in any folders.
What no detector can know is not asked: a set that contradicts its declaration is one that the bytes tell apart, and few
letters come with their right declaration or none.
"""

from __future__ import annotations

import random
import re
import time
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pipelines.decode.encoding import decode
from pipelines.decode.mojibake import DOUBTFUL, suspicion
from tests.languages import TEXTS

from .commands import new_parser
from .data import read_rows

SETS: Final = {
    "gbk": "zh-Hans zh-Hant", "gb18030": "zh-Hans zh-Hant", "big5": "zh-Hant", "big5hkscs": "zh-Hant",
    "shift_jis": "ja kanji", "euc_jp": "ja kanji", "iso2022_jp": "ja kanji", "euc_kr": "ko",
    "cp1251": "ru uk be bg sr mk", "koi8-r": "ru", "koi8-u": "uk", "iso8859-5": "ru be bg sr mk", "cp866": "ru",
    "mac-cyrillic": "ru uk bg", "cp1253": "el", "iso8859-7": "el", "cp1255": "he", "iso8859-8": "he",
    "cp1256": "ar fa ur", "iso8859-6": "ar", "cp874": "th", "cp1258": "vi", "cp1254": "tr", "iso8859-9": "tr",
    "cp1250": "pl cs sk hu sl hr bs sr-Latn ro sq", "iso8859-2": "pl cs sk hu sl hr bs sr-Latn ro sq",
    "iso8859-16": "ro", "cp1257": "lt lv et", "iso8859-13": "lt lv et", "iso8859-4": "lt lv et",
    "cp1252": "en fr de es pt it nl sv da no fi is ca ga gl eu af lb fo tl id ms sq",
    "iso8859-1": "en fr de es pt it nl sv da no is ca ga gl eu af lb fo tl id ms sq",
    "iso8859-15": "fr de es fi et", "iso8859-3": "mt eo", "mac_roman": "fr de es it",
    "utf-8": " ".join(TEXTS), "utf-16": "zh-Hans en ru fr",
}  # fmt: skip
"""The languages that are written in each set on the web."""
UNKNOWN: Final = {
    "cp850": "de fr es pt sv", "cp437": "de fr", "cp852": "pl cs hu", "cp855": "ru bg", "cp737": "el", "cp869": "el",
    "cp857": "tr", "cp775": "lt lv", "cp862": "he", "cp864": "ar", "johab": "ko", "mac_latin2": "pl cs hu",
    "mac_greek": "el", "mac_turkish": "tr", "iso8859-10": "is", "cp865": "da no", "cp860": "pt", "hp_roman8": "fr de",
}  # fmt: skip
"""Sets that browsers do not know: they may stay unread, with a doubt."""
NAMES: Final = {
    "cp949": "ks_c_5601-1987", "euc_kr": "euc-kr", "cp874": "windows-874", "mac-cyrillic": "x-mac-cyrillic",
    "mac_roman": "macintosh", "gb18030": "gb2312", "big5hkscs": "big5-hkscs", "iso2022_jp": "iso-2022-jp",
    "euc_jp": "euc-jp",
}  # fmt: skip
SYMBOLS: Final = {
    "cp1252": "“” ‘’ – — … • © ® ™ ° º × § £ € ½ « » · \xa0",
    "iso8859-1": "© ® ° º × § £ ½ « » · ¥ ± \xa0",
    "gbk": "“” ‘’ — … · × ° § ①",
    "gb2312": "“” ‘’ — … × ° § →",
    "big5": "“” ‘’ — … × ° § ‧",
    "shift_jis": "“” ‘’ … × ° § → ★",
    "euc_kr": "“” ‘’ … × ° § · ■",
    "cp1251": "“” ‘’ – — … • © ® ™ ° § « » \xa0",
    "cp1250": "“” ‘’ – — … • © ® ™ ° × § « » \xa0",
}
"""All that English pages have beyond ASCII, in the sets they are declared in."""

_SENTENCES: Final = (
    "The council voted to repair the old harbour wall before winter",
    "Ticket sales opened on Monday and closed within the hour",
    "A spokesman said the report would be published next week",
    "Residents of the island have waited for the ferry since March",
    "The museum shows maps, letters and tools of the first settlers",
    "Rain is expected in the north, with wind from the west",
    "Two schools will share the new sports ground from September",
)
_LATIN: Final = {"cp1252", "iso8859-1", "iso8859-15"}
_HEAD: Final = (
    "<html><head>{meta}<title>{title}</title><script>var a = [1, 2];</script></head><body><ul><li>Home</li></ul>"
)
_TAG = re.compile("<[^>]*>")
_LONG: Final = "The quick brown fox jumps over the lazy dog and goes home. " * 400


@dataclass(frozen=True, slots=True)
class Case:
    """A page whose text is known."""

    kind: str
    name: str
    """Language, set and declaration."""
    body: bytes
    header: str
    text: str
    is_doubt_due: bool = False
    """True where the bytes hold a text that is itself wrong."""


def spell(language: str, text: str, codec: str) -> str:
    """Write a text with the letters that a legacy set has of its language."""
    if codec in {"cp1256", "iso8859-6"}:
        text = text.translate(str.maketrans("یۓہےں\u200c", "يےهےن "))
    if codec in {"cp1250", "iso8859-2"}:
        text = text.translate(str.maketrans("șțȘȚ", "şţŞŢ"))
    if codec == "cp1258":
        text = "".join(unicodedata.normalize("NFC", part) if part not in "̣̀́̉̃" else part for part in _tones_apart(text))
    return text.encode(codec, "ignore").decode(codec)


def _tones_apart(text: str) -> str:
    """Write the tones of Vietnamese as letters of their own."""
    written = []
    for char in unicodedata.normalize("NFC", text):
        parts = unicodedata.normalize("NFD", char)
        tone = next((part for part in parts if part in "\u0300\u0301\u0303\u0309\u0323"), "")
        written.append(unicodedata.normalize("NFC", parts.replace(tone, "", 1)) + tone if tone else char)
    return "".join(written)


def declarations(codec: str, *, is_telling: bool) -> Iterator[tuple[str, str, str]]:
    """Yield kinds of declarations with the sets that header and page declare.

    Args:
        codec: that of the page.
        is_telling: True if the bytes tell enough to find a wrong declaration out.
    """
    right = NAMES.get(codec, codec).replace("cp125", "windows-125").replace("iso8859", "iso-8859").replace("_", "-")
    yield from (("right", right, ""), ("right", "", right), ("right", right, right))
    if codec in _LATIN or is_telling:
        yield "none", "", ""
    if is_telling:
        for wrong in ("utf-8", "iso-8859-1", "gb2312", "big5", "windows-1251", "shift_jis"):
            if find(wrong) not in {find(right), *(_LATIN if find(right) in _LATIN else ())}:
                yield from (("wrong", wrong, ""), ("wrong", "", wrong), ("wrong", wrong, wrong))
                yield from (("one of two", wrong, right), ("one of two", right, wrong))


def tells(text: str, codec: str) -> bool:
    """Tell whether the bytes of a text are enough to find a wrong declaration out.

    One or two letters that another set has, too, are left to the declaration. Sets that are switched by escapes are
    read by them, and iso8859-16 has the letters of iso8859-2 with another mark.
    """
    if codec in {"utf-16", "iso2022_jp", "iso8859-16"}:
        return False
    high = [char for char in text if ord(char) > 0x7F]
    different = [char for char in high if char != char.encode(codec).decode("cp1252", "replace")]
    return len(high) >= 12 and (codec in _LATIN - {"iso8859-15"} or len(different) >= 6)


def find(name: str) -> str:
    """Return a name under which the sets of one family are one."""
    name = name.replace("iso-8859", "iso8859").replace("windows-", "cp")
    return {"gb2312": "gbk", "gb18030": "gbk", "big5-hkscs": "big5", "iso8859-1": "cp1252"}.get(name, name)


def make(language: str, text: str, codec: str, chance: random.Random) -> Iterator[Case]:
    """Yield the pages of a text in a set: whole, short, long lines, cut, twice encoded."""
    text = spell(language, text, codec)
    is_telling = tells(text, codec)
    start = chance.randrange(max(1, len(text) // 2))
    short = text[start : start + 40]
    for kind, header, meta in declarations(codec, is_telling=is_telling):
        said = f"{kind}; header {header or '-'}, page {meta or '-'}"
        named = f"{language} {codec} {said}"
        served = f"text/html; charset={header}" if header else "text/html"
        declared = f'<meta http-equiv="Content-Type" content="text/html; charset={meta}">' if meta else ""
        head = _HEAD.format(meta=declared, title=short[:20])

        def case(shape: str, text: str, cut: int = 0, *, named: str = named, served: str = served) -> Case:
            body = text.encode(codec)
            return Case(shape, named, body[: len(body) - cut], served, text)

        yield case(f"whole, {kind}", f"{head}<p>{text}</p>\n<p>{text}</p><div>Contact</div></body></html>")
        yield case(f"long line, {kind}", f"{head}<p>{_LONG}{text} {_LONG}</p></body></html>")
        yield case(f"cut, {kind}", f"{head}<p>{text}</p>", 4 + chance.randrange(3))
        if kind == "right":
            page = f"<html><head>{declared}<title>News</title></head><body><p>{_LONG[:600]}</p>"
            yield case("few letters, right", f"{page}<p>{short}</p></body></html>")
    if codec not in {"utf-16", "utf-8", "iso2022_jp"} and is_telling and codec not in _LATIN:
        wrong = (
            text.encode("utf-8").decode("cp1252", "ignore")
            if chance.random() < 0.5
            else text.encode(codec).decode("latin-1")
        )
        page = f"<html><head><title>x</title></head><body><p>{wrong}</p></body></html>"
        yield Case(
            "encoded twice", f"{language} {codec}", page.encode(), "text/html; charset=utf-8", page, is_doubt_due=True
        )


def make_marked(language: str, text: str) -> Iterator[Case]:
    """Yield pages with a byte order mark, whatever they declare."""
    for codec in ("utf-8-sig", "utf-16"):
        for declared in ("", "utf-8", "iso-8859-1", "gb2312"):
            page = (
                _HEAD.format(meta=f"<meta charset={declared}>" if declared else "", title=text[:20]) + f"<p>{text}</p>"
            )
            served = f"text/html; charset={declared}"
            yield Case("byte order mark", f"{language} {codec} {declared}", page.encode(codec), served, page)


def make_symbols(codec: str, chance: random.Random) -> Iterator[Case]:
    """Yield English pages that hold nothing beyond ASCII but marks."""
    name = NAMES.get(codec, codec).replace("cp125", "windows-125").replace("iso8859", "iso-8859")
    marks = SYMBOLS[codec].split(" ")
    codec = {"gb2312": "gb18030", "big5": "cp950"}.get(codec, codec)  # Python's tables have other marks than browsers'
    lines = []
    for sentence in chance.choices(_SENTENCES, k=chance.randrange(2, 12)):
        words = sentence.split()
        for mark in chance.choices(marks, k=chance.choice((0, 0, 1, 1, 2))):
            at = chance.randrange(len(words))
            if len(mark) == 2:
                words[at] = f"{mark[0]}{words[at]}{mark[1]}"
            elif mark == "’" or chance.random() < 0.4:
                words[at] += mark if chance.random() < 0.5 else f" {mark}"
            else:
                words[at] = f"{mark}{' ' if chance.random() < 0.3 else ''}{words[at]}"
        lines.append(" ".join(words) + ".")
    mark = chance.choice(marks)
    lines[0] = f"{mark[0]}{lines[0]}{mark[-1]}"
    page = "<p>" + chance.choice(("</p>\n<p>", " ")).join(lines) + "</p>"
    for header, meta in ((name, ""), ("", name), (name, name), *([("", "")] if codec in _LATIN else [])):
        text = _HEAD.format(meta=f"<meta charset={meta}>" if meta else "", title="News") + page
        kind = "right" if header or meta else "none"
        yield Case(f"marks, {kind}", f"en {codec} {kind}", text.encode(codec), f"text/html; charset={header}", text)
    if codec == "cp1252":
        text = _HEAD.format(meta="<meta charset=iso-8859-1>", title="News") + page
        yield Case("marks, right", "en cp1252 as iso-8859-1", text.encode(codec), "text/html; charset=iso-8859-1", text)
        text = _HEAD.format(meta="<meta charset=utf-8>", title="News") + page
        yield Case("marks, wrong", "en cp1252 as utf-8", text.encode(codec), "text/html; charset=utf-8", text)


def cases(texts: dict[str, list[str]], seeds: int) -> Iterator[Case]:
    """Yield all pages of these texts by language."""
    for seed in range(seeds):
        chance = random.Random(seed)
        for codec, languages in SETS.items():
            for language in languages.split():
                for text in texts.get(language, ()):
                    yield from make(language, text, codec, chance)
        for language, several in texts.items():
            yield from make_marked(language, chance.choice(several))
        for codec in SYMBOLS:
            for _ in range(100):
                yield from make_symbols(codec, chance)
        for codec, languages in UNKNOWN.items():
            for language in languages.split():
                for text in texts.get(language, ()):
                    spelt = text.encode(codec, "ignore").decode(codec)
                    page = f"<html><head><title>{spelt[:20]}</title></head><body><p>{spelt}</p></body></html>"
                    yield Case(
                        "unknown to browsers",
                        f"{language} {codec}",
                        page.encode(codec),
                        "text/html",
                        page,
                        is_doubt_due=True,
                    )


def judge(case: Case) -> tuple[bool, bool]:
    """Return whether a page is read right and whether its text is in doubt."""
    found, text = (unicodedata.normalize("NFC", either) for either in (decode(case.body, case.header)[0], case.text))
    is_right = found.rstrip("\ufffd") == text or (
        case.kind.startswith("cut") and text.startswith(found.rstrip("\ufffd")[:-1]) and len(text) - len(found) < 8
    )
    return is_right, suspicion(_TAG.sub("\n", found)) >= DOUBTFUL


def read_texts(folder: Path) -> dict[str, list[str]]:
    """Return texts by language from the JSON lines below a folder."""
    texts = defaultdict[str, list[str]](list)
    for file in sorted(folder.rglob("*.jsonl*")):
        for row in read_rows(file):
            if len(row.get("text") or "") > 300:
                texts[row.get("lang") or ""].append(row["text"][:1500])
    return texts


def main() -> None:
    """Print the rates by kind, then the first wrong ones."""
    parser = new_parser(__doc__)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--show", type=int, default=0)
    options = parser.parse_args()
    texts = read_texts(options.texts) if options.texts else {name: [text] for name, text in TEXTS.items()}
    counts, wrong, doubted, false = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    shown = []
    start = time.process_time()
    for case in cases(texts, options.seeds):
        is_right, in_doubt = judge(case)
        for kind in (case.kind, "all"):
            counts[kind] += 1
            doubted[kind] += not is_right and in_doubt
            false[kind] += is_right and in_doubt and not case.is_doubt_due
            wrong[kind] += (not is_right or (case.is_doubt_due and case.kind == "encoded twice")) and not in_doubt
        if not is_right and not in_doubt:
            shown.append(case)
    seconds = time.process_time() - start
    print(f"{'kind':28} {'pages':>7} {'wrong, no doubt':>16} {'wrong, doubt':>13} {'right, doubt':>13}")
    for kind in sorted(counts):
        share = 100 * wrong[kind] / counts[kind]
        print(f"{kind:28} {counts[kind]:7} {wrong[kind]:7} {share:7.2f}% {doubted[kind]:13} {false[kind]:13}")
    print(f"{1000 * seconds / counts['all']:.2f} ms a page")
    for case in random.Random(0).sample(shown, min(options.show, len(shown))):
        found, codec = decode(case.body, case.header)
        at = next((n for n, (a, b) in enumerate(zip(found, case.text, strict=False)) if a != b), 0)
        print(f"{case.kind} | {case.name} | as {codec} | {found[at - 9 : at + 40]!r} | {case.text[at : at + 40]!r}")


if __name__ == "__main__":
    main()
