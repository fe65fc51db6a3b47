"""Paths of the pages of a database."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote


def kinds(database: Path) -> dict[str, str]:
    """A path of each kind of page that the database has."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as opened:

        def one(sql: str) -> str:
            found = opened.execute(sql).fetchone()
            return str(found[0]) if found else ""

        changed = one("SELECT article_id FROM article_version LIMIT 1")
        pictured = one("SELECT article_id FROM image WHERE position = 0 ORDER BY article_id LIMIT 1") or one(
            "SELECT id FROM article"
        )
        stored = one("SELECT p.url_id FROM page p JOIN article a ON a.id = p.url_id LIMIT 1")
        story = one("SELECT id FROM cluster ORDER BY size DESC LIMIT 1")
        site = one(
            "SELECT s.name FROM site s JOIN article a ON a.site_id = s.id GROUP BY s.name ORDER BY count(*) DESC"
        )
        url = one("SELECT url FROM v_articles LIMIT 1")
    paths = {
        "front": "/?view=cards",
        "search": f"/?q={quote('城市')}&stack=site&view=cards",
        "list": f"/?q={quote('城市')}&view=list",
        "values": "/values?facet=site&language=en",
        "compare": f"/compare?q={quote('城市')}&q={quote('医院')}",
        "nothing": f"/?q={quote('没有这样的词xyzzy')}&view=cards",
        "versions": changed and f"/article/{changed}",
        "article": pictured and f"/article/{pictured}",
        "found": pictured and f"/article/{pictured}?q={quote('的')}",
        "view": stored and f"/article/{stored}/view",
        "words": pictured and f"/article/{pictured}/words",
        "story": story and f"/story/{story}",
        "desk": "/desk",
        "crawl": "/crawl",
        "sites": "/sites",
        "site": f"/sites/{quote(site)}",
        "graph": "/graph",
        "neighbours": f"/graph?site={quote(site)}",
        "ask why": "/why",
        "why": f"/why?url={quote(url, safe='')}",
        "settings": "/settings",
        "missing": "/article/1",
    }
    return {kind: path for kind, path in paths.items() if path}


def with_language(path: str, language: str) -> str:
    return f"{path}{'&' if '?' in path else '?'}lang={language}"


def everything(database: Path) -> list[str]:
    """All articles of a database, and other pages that show what strangers wrote."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as opened:
        articles = opened.execute("SELECT id, title FROM article").fetchall()
        stories = opened.execute("SELECT id FROM cluster").fetchall()
        sites = opened.execute("SELECT name FROM site").fetchall()
        urls = opened.execute("SELECT url FROM v_articles LIMIT 6").fetchall()
    found = ["/", "/?page=2", "/?page=3", "/crawl", "/sites", "/graph", "/settings"]
    found += [f"/article/{key}" for key, _ in articles] + [f"/article/{key}/words" for key, _ in articles[::3]]
    found += [f"/story/{key}" for (key,) in stories[::3]]
    found += [f"/?q={quote(title[:300])}" for _, title in articles[::4]]
    found += [f"/sites/{quote(name, safe='')}" for (name,) in sites[::4]]
    return found + [f"/why?url={quote(url[:300], safe='')}" for (url,) in urls]
