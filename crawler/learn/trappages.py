"""Pages as far as traps are concerned. Pure."""

from __future__ import annotations

from db.records.keys import fingerprint
from db.records.outcome import Outcome, Stored
from pipelines.patterns import PREFIX
from pipelines.records import PageKind
from pipelines.stages import Page
from pipelines.trapsigns import SHORT, outline

from .trappattern import Seen

_MASK = (1 << 64) - 1


def seen_of(page: Page, outcome: Outcome, stored: Stored, *, brought: bool) -> Seen:
    """A page that has been read and stored; `brought`: it was an article that was not known yet."""
    assert page.worked is not None
    parsed, targets, signs = page.worked.parsed, page.worked.targets, page.worked.signs
    meta = parsed.metadata
    return Seen(
        page.claim.url,
        brought=brought,
        named=bool(meta.published_at or meta.authors or meta.source),
        missing=parsed.reason == "soft 404",
        again=stored.article == "same page" or stored.same_host,
        sketch=0 if signs is None else signs.sketch,
        is_wall=signs is not None and signs.is_wall and parsed.kind is not PageKind.ARTICLE,
        links=targets.ids,
        folders=targets.folders,
        found=_found(page, outcome, stored),
    )


def _found(page: Page, outcome: Outcome, stored: Stored) -> list[int]:
    """Folders of the URLs of its own host that a page was the first to name."""
    assert page.worked is not None
    if not stored.new_urls:
        return []
    targets, own = page.worked.targets, page.claim.host_id
    new = {each.id for each in outcome.new_urls if each.host_id == own and not each.reason}
    return [folder for key, folder in zip(targets.ids, targets.folders, strict=False) if key in new]


def trapped(outcome: Outcome) -> list[str]:
    """URLs of a page's own host that it names and that were taken for a trap's when it was read."""
    own = outcome.claim.host_id
    return [each.url for each in outcome.new_urls if each.reason.startswith(PREFIX) and each.host_id == own]


def made_up(url: str) -> str:
    """An address in the folder of a page that nobody has made."""
    folder, _, name = url.partition("?")[0].rpartition("/")
    ending = name[name.rfind(".") :] if "." in name[-6:] else ""
    return f"{folder}/{fingerprint(f'no such page {folder}') & _MASK:016x}{ending}"


def text_outline(title: str, text: str, url: str) -> int:
    """What an article says without figures and its own name; 0 for one that says too much to be a notice."""
    return outline(f"{title}\n{text}", url) if len(text) <= SHORT else 0
