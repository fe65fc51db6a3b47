"""Several databases of one crawl: their list, and the one that each site lives in.

Sites are dealt by a stable hash over the databases of the list: every host of a site, all URLs and articles of these
live in one database, a *shard*, whichever process finds them. So each shard is a frontier of its own. Dealing sites
rather than hosts keeps most links, and what a site learns and counts, in one place.

Each database stores its place in the list (`db.shards.places`): with another list, order or number of databases sites
would live elsewhere, and a crawl that names one is refused.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..engine.database import NEXT_URL, parse_url, without_password
from ..engine.errors import WrongDatabase
from ..records.keys import dealt


@dataclass(frozen=True, slots=True)
class Shards:
    """Databases of a crawl, in order: a `DATABASE_URL` for each, one at least."""

    urls: tuple[str, ...]

    @classmethod
    def read(cls, database_url: str) -> Shards:
        """Read a `DATABASE_URL`: one, or several separated by commas or white space.

        Raises:
            WrongDatabase: one of them cannot be read, several are not all Postgres, or one is named twice.

        >>> Shards.read("postgresql://a/news, postgresql://b/news").urls
        ('postgresql://a/news', 'postgresql://b/news')
        >>> Shards.read("of three, two.db").urls
        ('of three, two.db',)
        """
        urls = tuple(NEXT_URL.split(database_url.strip(" \t\r\n,")))
        parsed = [parse_url(url) for url in urls]
        if len(urls) > 1:
            for given, url in zip(urls, parsed, strict=True):
                if url.get_backend_name() != "postgresql":
                    raise WrongDatabase(
                        f"DATABASE_URL names several databases, and {without_password(given)} is not Postgres; "
                        "name one, or only Postgres databases"
                    )
            places = [(url.host or "", url.port or 5432, url.database, url.query.get("host")) for url in parsed]
            for n, place in enumerate(places):
                if place in places[:n]:
                    raise WrongDatabase(
                        f"DATABASE_URL names {without_password(urls[n])} twice; name each database once"
                    )
        return cls(urls)

    def __len__(self) -> int:
        return len(self.urls)

    def of(self, site_id: int) -> int:
        """Return the place in the list, from 0, of the database that a site lives in."""
        return dealt(site_id, len(self.urls)) - 1
