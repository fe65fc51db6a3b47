"""The tables, named for what they hold; see `docs/architecture.md`.

urls      sites, hosts, seeds, URLs (the frontier) and links
articles  texts and their versions, what repeats what, parts, images, pages as fetched
learned   what crawls learn of pages, hosts and addresses
search    the full-text index
runs      crawls, and what they have used of the limits
shards    other databases of the same crawl, and what goes there

Identifiers of sites, hosts, URLs and articles are stable 64-bit hashes of the canonical name (`keys.fingerprint`),
so that a link can be written without first looking up its target, on any machine, in any order. An article has the
identifier of its URL. Times of the frontier are Unix seconds; times that people read are ISO 8601 text with zone.
"""

from . import articles, learned, runs, search, shards, urls
from .record import Record

__all__ = ["Record", "articles", "learned", "runs", "search", "shards", "urls"]
