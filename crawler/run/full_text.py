"""Full-text index of commands that search it: made anew if it is an old one."""

from __future__ import annotations

import sys
from contextlib import closing
from typing import TYPE_CHECKING

from db.engine.errors import DatabaseProblem

from ..options.given import value_of
from .command import opened_all

if TYPE_CHECKING:
    from .command import NewsCommand


def renew_indexes(command: NewsCommand) -> None:
    """Bring the index of every database of the settings up to date.

    An index that cannot be written, or in whose database a crawl is at work, stays as it is, and the reason is said.
    """
    from functools import partial  # noqa: PLC0415 - Scrapy imports all commands whichever is run

    from db.engine.database import open_for_crawl  # noqa: PLC0415
    from db.records.search import IndexForm  # noqa: PLC0415
    from db.search import index  # noqa: PLC0415
    from db.shards.databases import Shards  # noqa: PLC0415
    from pipelines.search.terms import index_terms, is_current  # noqa: PLC0415

    with opened_all(command, lambda _: None) as databases:  # whoever searches them says it
        if all(one.read(partial(index.has_form, is_current=is_current)) for one in databases):
            return
    from db.articles.signatures import write_alone  # noqa: PLC0415 - of use for an old index alone

    form = IndexForm(index_terms, is_current, say)
    for url in Shards.read(value_of(command.settings, "DATABASE_URL")).urls:
        try:
            with closing(open_for_crawl(url, patience_seconds=0)) as database:
                write_alone(database, partial(index.bring_up_to_date, forms=[form]))
        except DatabaseProblem as problem:
            say(f"{problem}; its full-text index stays that of an older version")


def say(sentence: str) -> None:
    sys.stderr.write(f"{sentence}\n")
