"""How a cluster of reprints is shown: a tree, from the article that stands for it to the copies of copies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import RenderableType
from rich.markup import escape
from rich.tree import Tree

from db.reprints import Reprint, Reprints
from pipelines.dedup.differences import differences

_MOST_SENTENCES = 3
_SENTENCE_CHARS = 70


def tree(found: Reprints) -> Iterator[RenderableType]:
    """The tree, and what is related to it."""
    by_id = {one.id: one for one in found.articles}
    first = found.articles[0]
    trees = {first.id: Tree(_head(first))}
    waiting = list(found.articles[1:])
    while waiting:
        ready = [one for one in waiting if one.of_id in trees]
        if not ready:  # what ties it to the tree is not shown
            ready = waiting[:1]
        for one in ready:
            above = one.of_id if one.of_id in trees else first.id
            assert above is not None
            branch = trees[one.id] = trees[above].add(_head(one))
            for line in _changes(one, by_id[above], by_id):
                branch.add(line)
        waiting = [one for one in waiting if one.id not in trees]
    yield trees[first.id]
    if found.size > len(found.articles):
        yield f"and {found.size - len(found.articles):,} more"
    if found.related:
        related = Tree("related, but stories of their own")
        for one in found.related:
            related.add(_head(one))
        yield related


def _head(one: Reprint) -> str:
    """An article in three lines: when and where, what, why it is here."""
    when = one.published_at or f"seen {one.first_seen}"
    source = f", source {one.source}" if one.source else ""
    lines = [
        f"[bold]{escape(when)}[/bold]  {escape(one.site + source)}",
        escape(one.title),
        f"[dim]{escape(one.url)}[/dim]",
    ]
    if one.kind is not None:
        lines.insert(1, f"{one.kind}, similarity {one.similarity:.3f} ({one.method})")
    return "\n".join(lines)


def _changes(one: Reprint, other: Reprint, articles: Mapping[int, Reprint]) -> Iterator[str]:
    """What the copy says otherwise than the article above it."""
    if one.title != other.title:
        yield f"other headline than {escape(_short(other.title))}"
    if not one.text:
        yield f"text not kept ({one.text_chars:,} characters)"
        return
    holder = other if other.text_of is None else articles.get(other.text_of)
    if holder is None:
        return
    before = holder.text
    for sign, color, sentences in zip("+-", ("green", "red"), differences(before, one.text), strict=True):
        for sentence in sentences[:_MOST_SENTENCES]:
            yield f"[{color}]{sign}[/{color}] {escape(_short(sentence))}"
        if len(sentences) > _MOST_SENTENCES:
            yield f"[{color}]{sign}[/{color}] {len(sentences) - _MOST_SENTENCES} more sentences"


def _short(text: str) -> str:
    return text if len(text) <= _SENTENCE_CHARS else text[: _SENTENCE_CHARS - 1] + "…"
