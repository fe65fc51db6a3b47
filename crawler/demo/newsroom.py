"""The sites of the newsroom by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .content import load_articles
from .daobao import Daobao
from .herald import Herald
from .kuaixun import Kuaixun
from .wanbao import Wanbao
from .zhengfu import Zhengfu

if TYPE_CHECKING:
    from .site import DemoSite

SITES: dict[str, type[DemoSite]] = {site.name: site for site in (Wanbao, Daobao, Kuaixun, Zhengfu, Herald)}


def build_sites(port: int) -> dict[str, DemoSite]:
    """Make all sites of a newsroom that listens on a port.

    Returns:
        Site by name, in the order in which the home pages are announced.
    """
    homes = [(site.title, f"http://{name}.localhost:{port}/") for name, site in SITES.items()]
    articles = load_articles()
    return {
        name: site(articles[name], port, [home for home in homes if home[0] != site.title])
        for name, site in SITES.items()
    }
