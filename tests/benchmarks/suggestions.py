"""Gain by the selectors of `scrapy suggest`: suggested on half of a site's pages, judged on the other half.

    uv run python -m tests.benchmarks.suggestions [CORPUS ...] [--least 6] [--pages]

Prints for each host with at least `--least` pages the F1 of the text found by itself and by the body's selector, on
pages that the suggestion has not seen; then which share of hosts has a selector of each field.
"""

from __future__ import annotations

import statistics
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from pipelines.document.selectors import Selectors
from pipelines.parse_page import parse_page
from pipelines.suggest import Naming, PageToRead, Sampling, SelectorFit, Trial, choose, most_named, templates_of
from pipelines.worker import ParseOptions
from tests.benchmarks.data import NOW, address, corpora, f1, is_other, pages, require_data

from .commands import new_parser
from .site_memory import host

OPTIONS = ParseOptions()


def suggest(sample: Sequence[PageToRead]) -> Mapping[str, SelectorFit]:
    """Suggest selectors from pages, in this process."""
    samples = [Sampling(page).done(OPTIONS) for page in sample]
    articles = [page for page, one in zip(sample, samples, strict=True) if one is not None]
    templates = templates_of(samples)
    tried = most_named([Naming(page, templates).done(OPTIONS) for page in articles])
    return choose([Trial(page, tried).done(OPTIONS) for page in articles])


def to_read(gold: dict[str, Any], body: bytes) -> PageToRead:
    """Return a page of a corpus as the suggestion reads it."""
    return PageToRead(body, address(gold), "", NOW.timestamp())


def main() -> int:
    """Run all hosts that have enough pages."""
    options = new_parser(__doc__)
    options.add_argument("corpora", nargs="*")
    options.add_argument("--least", type=int, default=6, help="hosts with fewer pages are left out")
    options.add_argument("--pages", action="store_true", help="a line for each page that differs, too")
    chosen = options.parse_args()
    require_data()
    sites = defaultdict(list)
    for folder in corpora(chosen.corpora).values():
        for gold, body in pages(folder):
            if host(gold) and gold.get("text") and not is_other(gold):
                sites[host(gold)].append((gold, body))
    rows: list[tuple[float, float]] = []
    fields: dict[str, int] = defaultdict(int)
    hosts = {site: members for site, members in sorted(sites.items()) if len(members) >= chosen.least}
    print(f"{'host':32}{'judged':>7}{'alone':>8}{'chosen':>8}  selectors (right of pages)")
    for site, members in hosts.items():
        found = suggest([to_read(*one) for one in members[::2]])
        named = {name: one for name, one in found.items() if one.is_suggested}
        fields.update({name: fields[name] + 1 for name in named})
        own = []
        for gold, body in members[1::2]:
            alone, by_selector = (
                f1(gold, parse_page(body, address(gold), fetched_at=NOW, selectors=one).extraction.text)
                for one in (Selectors(), Selectors(body=named["body"].selector if "body" in named else ""))
            )
            own.append((alone, by_selector))
            if chosen.pages and abs(alone - by_selector) > 0.01:
                print(f"    {alone:.3f} {by_selector:.3f} {address(gold)} {gold['id']}")
        means = [statistics.mean(row[at] for row in own) for at in (0, 1)]
        about = ", ".join(f"{name}={one.selector} ({one.right} of {one.of})" for name, one in named.items())
        if "body" in named:
            rows += own
        elif "body" in found:
            about = f"no body: {found['body'].selector} ({found['body'].right} of {found['body'].of}) {about}"
        print(f"{site:32}{len(own):7}{means[0]:8.3f}{means[1]:8.3f}  {about}")
    if rows:
        means = [statistics.mean(row[at] for row in rows) for at in (0, 1)]
        print(f"{'pages of hosts with a body':32}{len(rows):7}{means[0]:8.4f}{means[1]:8.4f}")
    print(", ".join(f"{name}: {n} of {len(hosts)} hosts" for name, n in fields.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
