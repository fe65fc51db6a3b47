"""Clusters: articles that repeat one another, and the evidence that ties them.

The evidence of a cluster is a tree: each article but the representative repeats exactly one other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, bindparam, func, select, update

from ..engine.statements import among, insert_new, insert_rows, run_many
from ..records.article import GUESS
from ..records.evidence import REPEATING, TEMPLATE, Evidence
from ..records.reasons import PageReason
from ..search import index as search
from ..tables.articles import (
    ArticleClassRow,
    ArticleRow,
    ArticleVersionRow,
    ClusterRow,
    DuplicateRow,
    ImageRow,
    SourceAttributionRow,
)
from ..tables.urls import SiteRow, UrlRow
from . import signatures

article, version, duplicate, cluster, image, article_class, attribution, site, url = (
    model.table()
    for model in (
        ArticleRow,
        ArticleVersionRow,
        DuplicateRow,
        ClusterRow,
        ImageRow,
        ArticleClassRow,
        SourceAttributionRow,
        SiteRow,
        UrlRow,
    )
)

_LONGEST_CHAIN = 100
_FEWEST_ATTRIBUTIONS = 3
_MOST_MOVED = 500  # articles of a cluster that may still get another original
_OWN_NAME = 0.5
_TIMES_MORE = 2.0
_CLEARLY = 0.2


class Claimant(NamedTuple):
    site_id: int
    source: str
    published_at: str | None
    published_utc: str | None
    published_precision: str | None


def write_evidence(connection: Connection, evidence: Evidence) -> None:
    connection.execute(_WRITE, evidence._asdict())


def forget_evidence(connection: Connection, article_ids: Iterable[int]) -> None:
    connection.execute(_FORGET, {"ids": list(article_ids)})


def grow(connection: Connection, key: int) -> None:
    connection.execute(_GROW, {"key": key})


# ---------------------------------------------------------------- who stands for a cluster


def is_better_original(connection: Connection, new: Claimant, stored_id: int) -> bool:
    """Tell whether a new article should represent the cluster of a stored one.

    The one published first does. If the times do not tell, the one on the site whose name both articles give as their
    source; then the one on the site that publishes more of its own. Otherwise, and in a very large cluster, the first
    stays.
    """
    size, *claims = connection.execute(_STANDING, {"key": stored_id}).one()
    if size > _MOST_MOVED:
        return False  # all of them would have to be told
    stored = Claimant(*claims)
    earlier = _is_earlier(new, stored)
    if earlier is not None:
        return earlier
    if new.site_id == stored.site_id:
        return False
    sites = {row.id: row for row in connection.execute(_SITES, {"ids": [new.site_id, stored.site_id]})}
    ours, theirs = (sites.get(one.site_id) for one in (new, stored))
    if ours is None or theirs is None:
        return False
    named, other = _named(connection, (ours, theirs), {new.source, stored.source} - {""})
    if max(named, other) >= _OWN_NAME and max(named, other) >= _TIMES_MORE * min(named, other):
        return named > other
    return _originality(ours) >= _originality(theirs) + _CLEARLY


def _is_earlier(new: Claimant, stored: Claimant) -> bool | None:
    """Tell whether an article was published first; None when the times do not tell."""
    mine, other = new.published_utc, stored.published_utc
    if GUESS in {new.published_precision, stored.published_precision}:
        return None
    if "day" in {new.published_precision, stored.published_precision}:  # as each zone counts them
        mine, other = (one and one[: len("2024-03-12")] for one in (new.published_at, stored.published_at))
    return None if not mine or not other or mine == other else mine < other


def _named(connection: Connection, sites: tuple[Any, Any], sources: set[str]) -> tuple[float, float]:
    if not sources:
        return 0.0, 0.0
    named = {"ours": sites[0].id, "theirs": sites[1].id, "one": min(sources), "other": max(sources)}
    given: dict[int, int] = {}
    for site_id, articles in connection.execute(_ATTRIBUTIONS, named):
        given[site_id] = max(articles, given.get(site_id, 0))
    shares = []
    for one in sites:
        articles = given.get(one.id, 0)
        is_address = any(one.name and one.name in source.lower() for source in sources)
        enough = articles >= _FEWEST_ATTRIBUTIONS
        shares.append(1.0 if is_address else enough * articles / max(1, one.originals + one.reprints))
    return shares[0], shares[1]


def _originality(row: Any) -> float:
    return float((row.originals + 1) / (row.originals + row.reprints + 2))


def count(connection: Connection, added: Sequence[tuple[int, str, bool]]) -> None:
    """Count articles, (site, source, whether it is a copy), for later comparisons."""
    if not added:
        return
    sites: Counter[tuple[int, bool]] = Counter((site_id, repeats) for site_id, _, repeats in added)
    rows = [
        {"key": key, "new": sites[key, False], "repeated": sites[key, True]}
        for key in sorted({site_id for site_id, _ in sites})
    ]
    run_many(connection, _COUNT_SITE, rows)
    named: Counter[tuple[int, str]] = Counter((site_id, source) for site_id, source, _ in added if source)
    if named:
        keys = sorted(named)
        insert_rows(connection, attribution, ("site_id", "source", "articles"), [(*key, 0) for key in keys])
        run_many(connection, _COUNT_ATTRIBUTION, [{"of_site": a, "of_source": b, "n": named[a, b]} for a, b in keys])


def recount(connection: Connection, before: tuple[int, str], after: tuple[int, str], *, repeats: bool) -> None:
    _count_off(connection, *before, repeated=repeats)
    count(connection, [(*after, repeats)])


def _count_off(connection: Connection, site_id: int, source: str, *, repeated: bool) -> None:
    run_many(connection, _COUNT_SITE, [{"key": site_id, "new": -int(not repeated), "repeated": -int(repeated)}])
    if source:
        run_many(connection, _COUNT_ATTRIBUTION, [{"of_site": site_id, "of_source": source, "n": -1}])


def _count_turned(connection: Connection, *, stands: int | None = None, repeats: int | None = None) -> None:
    turned = {key: way for key, way in ((stands, 1), (repeats, -1)) if key is not None}
    ways: Counter[int] = Counter()
    for row in connection.execute(_SITE_OF, {"ids": list(turned)}):
        ways[row.site_id] += turned[row.id]
    run_many(connection, _COUNT_SITE, [{"key": key, "new": ways[key], "repeated": -ways[key]} for key in sorted(ways)])


def take_over(connection: Connection, old: int, evidence: Evidence) -> None:
    """Make a new article that repeats one of a cluster its representative."""
    _hang(connection, old, evidence)
    _give(connection, old, evidence.article_id)
    connection.execute(update(article).where(article.c.id == evidence.article_id).values(duplicate_of=None))
    connection.execute(update(cluster).where(cluster.c.id == old).values(id=evidence.article_id))
    _count_turned(connection, stands=evidence.article_id, repeats=old)


def unite(connection: Connection, one: int, two: int, evidence: Evidence) -> int:
    """Unite two clusters; returns the article that stands for both.

    An article of the first repeats one of the second.
    """
    _, *claims = connection.execute(_STANDING, {"key": two}).one()
    if is_better_original(connection, Claimant(*claims), one):
        one, two, evidence = two, one, evidence.turned(1)
    _hang(connection, two, evidence)
    _give(connection, two, one)
    _count_turned(connection, repeats=two)
    related = connection.execute(_EVIDENCE, {"key": one}).first()
    if related is not None and connection.execute(_CLUSTER, {"key": related.of_id}).scalar() == one:
        forget_evidence(connection, [one])  # it was related to what is of its own cluster now
    size = connection.execute(select(cluster.c.size).where(cluster.c.id == two)).scalar_one()
    connection.execute(update(cluster).where(cluster.c.id == one).values(size=cluster.c.size + size))
    connection.execute(cluster.delete().where(cluster.c.id == two))
    return one


def _give(connection: Connection, old: int, new: int) -> None:
    connection.execute(update(article).where(article.c.cluster_id == old).values(cluster_id=new, duplicate_of=new))
    search.regroup(connection, new)


def _hang(connection: Connection, root: int, evidence: Evidence) -> None:
    """Hang a tree of evidence below an article that is not in it.

    `evidence` says that the article repeats one of the tree with this root. It is reversed, and so is all between that
    one and the root.
    """
    below = evidence
    for _ in range(_LONGEST_CHAIN):
        row = connection.execute(_EVIDENCE, {"key": below.of_id}).first()
        above = None if row is None or below.of_id == root else Evidence(*row)
        # what has stood for a cluster is indexed, and has its text
        _replace_evidence(connection, below.turned(1 if above is None else above.own))
        if above is None:
            break
        below = above
    if below.of_id != root:  # the chain is broken, or a circle: tied directly
        direct = evidence._replace(of_id=root)
        _replace_evidence(connection, direct.turned(1))


def _replace_evidence(connection: Connection, evidence: Evidence) -> None:
    forget_evidence(connection, [evidence.article_id])
    write_evidence(connection, evidence)


# ---------------------------------------------------------------- articles that leave, move or go


def detach(connection: Connection, article_id: int) -> None:
    """Take an article out of the evidence; what repeated it repeats what it repeated."""
    above = connection.execute(_EVIDENCE, {"key": article_id}).first()
    if above is not None:
        connection.execute(update(duplicate).where(duplicate.c.of_id == article_id).values(of_id=above.of_id))
    forget_evidence(connection, [article_id])


def hand_down(connection: Connection, holder: int, text: str, html: str) -> int | None:
    """Give an article's text to one of its copies, which is returned; None if none."""
    heir = connection.execute(_HEIR, {"key": holder}).scalar()
    if heir is None:
        return None
    text_columns = {"text": text, "html": html, "text_holder": None}
    connection.execute(update(article).where(article.c.id == heir).values(text_columns))
    connection.execute(update(article).where(article.c.text_holder == holder).values(text_holder=heir))
    connection.execute(update(duplicate).where(duplicate.c.article_id == heir).values(own=1))
    return int(heir)


def leave(connection: Connection, article_id: int, cluster_id: int) -> None:
    connection.execute(
        update(article).where(article.c.id == article_id).values(cluster_id=article_id, duplicate_of=None)
    )
    connection.execute(update(cluster).where(cluster.c.id == cluster_id).values(size=cluster.c.size - 1))
    connection.execute(insert_new(connection, cluster), {"id": article_id, "size": 1})
    _count_turned(connection, stands=article_id)
    search.regroup(connection, article_id)


def share_frame(connection: Connection, one: int, two: int) -> bool:
    rows = connection.execute(_EVIDENCE_OF, {"ids": [one, two]})
    return any(row.kind == TEMPLATE and {row.article_id, row.of_id} == {one, two} for row in rows)


def free(connection: Connection, late: int, early: int) -> list[int]:
    """Free an article that shares but a frame with the one that it is said to repeat.

    It stands for itself and for what repeats it; the evidence is kept as that of a template.

    Returns: these articles, itself first; none when nothing says so any more, or of a cluster of very many.
    """
    tie = connection.execute(_EVIDENCE, {"key": late}).first()
    old, holder = connection.execute(_PLACE, {"key": late}).one()
    size = connection.execute(select(cluster.c.size).where(cluster.c.id == old)).scalar_one()
    if late == old or tie is None or tie.of_id != early or tie.kind not in REPEATING or size > _MOST_MOVED:
        return []
    connection.execute(update(duplicate).where(duplicate.c.article_id == late).values(kind=TEMPLATE))
    freed = [late]
    below = freed
    while below:
        repeating_ids = connection.execute(_REPEATING_THEM, {"ids": below, "of": old}).scalars()
        below = [key for key in repeating_ids if key not in freed]
        freed += below
    if holder is not None:
        text_row = connection.execute(select(article.c.text, article.c.html).where(article.c.id == holder)).one()
        text_columns = {**text_row._mapping, "text_holder": None}
        connection.execute(update(article).where(article.c.id == late).values(text_columns))
    for key in freed:
        of = {"cluster_id": late, "duplicate_of": None if key == late else late}
        connection.execute(update(article).where(article.c.id == key).values(of))
    connection.execute(update(cluster).where(cluster.c.id == old).values(size=cluster.c.size - len(freed)))
    connection.execute(insert_new(connection, cluster), {"id": late, "size": len(freed)})
    _count_turned(connection, stands=late)
    search.regroup(connection, late)
    return freed


def move(connection: Connection, old: int, new: int) -> None:
    """Give a stored article the identifier of its canonical URL, but for signatures."""
    forget_evidence(connection, [new])  # of a copy that was not stored
    connection.execute(update(url).where(url.c.same_as == old, _POINTS).values(same_as=new))
    for column in (
        article.c.text_holder,
        article.c.id,
        article.c.cluster_id,
        duplicate.c.of_id,
        duplicate.c.article_id,
        cluster.c.id,
        image.c.article_id,
        version.c.article_id,
        article_class.c.article_id,
    ):
        connection.execute(update(column.table).where(column == old).values({column: new}))
    copies = (article.c.cluster_id == new, article.c.duplicate_of == old)
    connection.execute(update(article).where(*copies).values(duplicate_of=new))
    search.move(connection, old, new)
    search.regroup(connection, new)


def delete(connection: Connection, old: Row[Any], into: Row[Any]) -> bool:
    """Delete an article whose text is in another one, which gets its copies.

    Returns: whether the other one stands for itself now, and did not before.
    """
    original = into.id if into.duplicate_of in {None, old.id} else into.duplicate_of
    _strip(connection, old)
    connection.execute(update(url).where(url.c.same_as == old.id, _POINTS).values(same_as=into.id))
    if old.duplicate_of is not None:
        detach(connection, old.id)
    else:
        if original == into.id:
            forget_evidence(connection, [into.id])
        connection.execute(update(duplicate).where(duplicate.c.of_id == old.id).values(of_id=into.id))
        forget_evidence(connection, [old.id])
    connection.execute(article.delete().where(article.c.id == old.id))
    search.remove(connection, [old.id])
    _count_off(connection, old.site_id, old.source, repeated=old.duplicate_of is not None)
    if old.duplicate_of is not None:
        connection.execute(update(cluster).where(cluster.c.id == old.cluster_id).values(size=cluster.c.size - 1))
        return False
    rises = bool(into.duplicate_of == old.id)
    copies = article.c.cluster_id == old.id
    connection.execute(update(article).where(copies).values(cluster_id=original, duplicate_of=original))
    connection.execute(update(article).where(article.c.id == original).values(duplicate_of=None))
    search.regroup(connection, original)
    connection.execute(cluster.delete().where(cluster.c.id == old.id))
    insert = insert_new(connection, cluster)
    connection.execute(insert, {"id": original, "size": 0})
    members = select(func.count()).where(article.c.cluster_id == original).scalar_subquery()
    connection.execute(update(cluster).where(cluster.c.id == original).values(size=members))
    if rises:
        _count_turned(connection, stands=into.id)
    return rises


def remove(connection: Connection, old: Row[Any]) -> int | None:
    """Delete an article; returns the copy that has its text and place now, if any."""
    _strip(connection, old)
    root: int | None = old.duplicate_of
    if root is None:
        root = connection.execute(_SUCCESSOR, {"key": old.id}).scalar()
        if root is not None:
            tie = connection.execute(_EVIDENCE, {"key": root}).first()
            forget_evidence(connection, [root])
            take_over(connection, old.id, Evidence(*tie) if tie else Evidence(root, old.id, 1.0, "", "same", 1))
    detach(connection, old.id)
    connection.execute(duplicate.delete().where(duplicate.c.of_id == old.id))  # what was only related to it
    connection.execute(article.delete().where(article.c.id == old.id))
    search.remove(connection, [old.id])
    connection.execute(update(url).where(url.c.same_as == old.id, _POINTS).values(same_as=root))
    if root is None:
        connection.execute(cluster.delete().where(cluster.c.id == old.id))
    else:
        connection.execute(update(cluster).where(cluster.c.id == root).values(size=cluster.c.size - 1))
    _count_off(connection, old.site_id, old.source, repeated=root is not None)
    return root if old.duplicate_of is None else None


def _strip(connection: Connection, old: Row[Any]) -> None:
    """Delete what belongs to an article alone; a copy inherits its text and signature."""
    for table in (image, version, article_class):
        connection.execute(table.delete().where(table.c.article_id == old.id))
    heir = hand_down(connection, old.id, old.text, old.html) if old.text_holder is None else None
    if heir is None:
        signatures.remove(connection, [old.id])
    else:
        signatures.hand_over(connection, old.id, heir)


_POINTS = url.c.reason.in_((PageReason.SAME_PAGE, PageReason.DUPLICATE))
_HEIR = (
    select(article.c.id)
    .where(article.c.text_holder == bindparam("key"))
    .order_by(article.c.duplicate_of.is_not(None), article.c.first_seen)
    .limit(1)
)
_SUCCESSOR = (
    select(article.c.id)
    .where(article.c.cluster_id == bindparam("key"), article.c.id != bindparam("key"))
    .order_by(article.c.published_utc.is_(None), article.c.published_utc, article.c.first_seen)
    .limit(1)
)
_WRITE = duplicate.insert()
_FORGET = duplicate.delete().where(among(duplicate.c.article_id))
_GROW = update(cluster).where(cluster.c.id == bindparam("key")).values(size=cluster.c.size + 1)
_EVIDENCE = (
    select(*(duplicate.c[name] for name in Evidence._fields)).where(duplicate.c.article_id == bindparam("key")).limit(1)
)
_EVIDENCE_OF = select(duplicate).where(among(duplicate.c.article_id))
_PLACE = select(article.c.cluster_id, article.c.text_holder).where(article.c.id == bindparam("key"))
_REPEATING_THEM = (
    select(article.c.id)
    .join(duplicate, duplicate.c.article_id == article.c.id)
    .where(among(duplicate.c.of_id), duplicate.c.kind.in_(sorted(REPEATING)), article.c.cluster_id == bindparam("of"))
)
_CLUSTER = select(article.c.cluster_id).where(article.c.id == bindparam("key"))
_STANDING = (
    select(cluster.c.size, *(article.c[name] for name in Claimant._fields))
    .join(article, article.c.id == cluster.c.id)
    .where(cluster.c.id == bindparam("key"))
)
_SITE_OF = select(article.c.id, article.c.site_id).where(among(article.c.id))
_SITES = select(site.c.id, site.c.name, site.c.originals, site.c.reprints).where(among(site.c.id))
_ATTRIBUTIONS = select(attribution.c.site_id, attribution.c.articles).where(
    attribution.c.site_id.in_((bindparam("ours"), bindparam("theirs"))),
    attribution.c.source.in_((bindparam("one"), bindparam("other"))),
)
_COUNT_SITE = (
    update(site)
    .where(site.c.id == bindparam("key"))
    .values(originals=site.c.originals + bindparam("new"), reprints=site.c.reprints + bindparam("repeated"))
)
_COUNT_ATTRIBUTION = (
    update(attribution)
    .where(attribution.c.site_id == bindparam("of_site"), attribution.c.source == bindparam("of_source"))
    .values(articles=attribution.c.articles + bindparam("n"))
)
