"""Alarms on simulated hosts: how often on hosts that stay as they are, and after how many pages on hosts that change.

    uv run python -m tests.benchmarks.health [--pages 100000] [--window 40] [--trials 20] [--seed 0]

Hosts that stay the same come in several kinds, among them those whose pages come in no fair order: lists first and
articles later, sections one after the other, archives with another template, runs of short bulletins, addresses that
tell nothing. A false alarm is any alarm on these. Then hosts that change at a known page; printed are the share of
hosts where an alarm was raised, of the kind expected, and the delay in pages.
"""

from __future__ import annotations

import math
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count, islice
from statistics import median

from crawler.learn.health.answers import AnswerKind, HostAnswer
from crawler.learn.health.host import HealthMonitor
from pipelines.records import BlockKind

from .commands import new_parser

Stream = Iterator[HostAnswer]
Host = Callable[[random.Random], Stream]
Change = Callable[[random.Random, HostAnswer], HostAnswer]


def article(draw: random.Random, url: str, *, chars: float = 1200.0, spread: float = 0.6, confidence: float = 0.92,
            found_in: int = BlockKind.LIST, undated: float = 0.03, seconds: float = 0.2) -> HostAnswer:  # fmt: skip
    """An article as most are, sometimes with a fault."""
    length = max(60, round(draw.lognormvariate(math.log(chars), spread)))
    title = 0 if draw.random() < 0.005 else draw.randrange(1, 1 << 32)
    return HostAnswer(
        url,
        found_in,
        AnswerKind.ARTICLE,
        chars=length,
        title=title,
        dated=draw.random() >= undated,
        doubtful=draw.random() < 0.002,
        hijacked=title % 200 == 1,
        seconds=draw.lognormvariate(math.log(seconds), 0.4),
    )


def other(
    draw: random.Random, url: str, *, found_in: int = BlockKind.NAVIGATION, kind: AnswerKind = AnswerKind.PAGE
) -> HostAnswer:
    """A page that is no article."""
    return HostAnswer(url, found_in, kind, "list page", seconds=draw.lognormvariate(math.log(0.2), 0.4))


def with_faults(draw: random.Random, answer: HostAnswer, rate: float) -> HostAnswer:
    """Now and then an error."""
    if draw.random() >= rate:
        return answer
    kind, why = draw.choice([(AnswerKind.FAILED, "timed out"), (AnswerKind.BLOCKED, "503"), (AnswerKind.GONE, "404")])
    return HostAnswer(answer.url, answer.found_in, kind, why, seconds=answer.seconds)


_HOSTS = 10

# ---------------------------------------------------------------- hosts that stay as they are


def plain(draw: random.Random, *, share: float = 0.9, faults: float = 0.02) -> Stream:
    """Articles of one template, lists between them."""
    for n in count():
        if draw.random() < share:
            page = article(draw, f"http://a.example/news/2024/05/{n % 30 + 1}/{n + 10000}.html")
            page = page if draw.random() < 0.97 else other(draw, page.url, found_in=page.found_in)
        else:
            page = other(draw, f"http://a.example/list_{n}.html")
        yield with_faults(draw, page, faults)


def lists_first(draw: random.Random) -> Stream:
    """Breadth first: all lists, then all articles, then all pages of tags."""
    for n in range(150):
        yield other(draw, f"http://a.example/channel/{n}/", found_in=BlockKind.NAVIGATION)
    for n in range(1500):
        yield article(draw, f"http://a.example/a/{n + 1000}.html")
    for n in range(1500):
        yield other(draw, f"http://a.example/tag/word{n}", found_in=BlockKind.BODY)
    yield from plain(draw)


def sections(draw: random.Random) -> Stream:
    """One section after the other, each with its own length, quality and share of dates."""
    names = ("sports", "brief", "finance", "essay", "video", "local", "world", "health")
    ways = {
        name: (draw.choice([200.0, 600, 1500, 4000]), draw.choice([0.75, 0.85, 0.93]), draw.choice([0.0, 0.1, 0.5]))
        for name in names
    }
    for turn in count():
        name = draw.choice(names)
        chars, confidence, undated = ways[name]
        for n in range(draw.randrange(40, 300)):
            url = f"http://a.example/{name}/{turn * 1000 + n}.html"
            yield article(draw, url, chars=chars, confidence=confidence, undated=undated)


def archives(draw: random.Random) -> Stream:
    """Newest first; the years before had another template, and its pages are read worse."""
    for year in (2024, 2023, 2012, 2008, 2004, 2001):
        old = year < 2015
        for n in range(600):
            url = f"http://a.example/{year}/{n % 12 + 1:02d}/{n + 10000}.shtml"
            if old and draw.random() < 0.5:
                yield other(draw, url, found_in=BlockKind.LIST)
            else:
                yield article(draw, url, chars=400 if old else 1200, confidence=0.8 if old else 0.93)
    yield from plain(draw)


def bulletins(draw: random.Random) -> Stream:
    """Runs of short bulletins among long articles, under like addresses."""
    while True:
        short = draw.random() < 0.4
        for _ in range(draw.randrange(5, 60)):
            url = f"http://a.example/content/{draw.randrange(10**6)}.html"
            yield article(draw, url, chars=150 if short else 1500)


def telling_nothing(draw: random.Random) -> Stream:
    """Addresses are numbers, whatever they lead to; lists come in runs."""
    while True:
        for _ in range(draw.randrange(20, 120)):
            yield article(draw, f"http://a.example/?id={draw.randrange(10**6)}")
        for _ in range(draw.randrange(3, 25)):
            yield other(draw, f"http://a.example/?id={draw.randrange(10**6)}", found_in=BlockKind.LIST)


def mixed(draw: random.Random) -> Stream:
    """Half of what lists name are articles."""
    return (page for page in plain(draw, share=0.55))


def flaky(draw: random.Random) -> Stream:
    """Every sixth answer is an error."""
    return plain(draw, faults=0.16)


def forum(draw: random.Random) -> Stream:
    """Short posts, titles that come back, no dates, half of them no articles."""
    titles = [draw.randrange(1, 1 << 32) for _ in range(40)]
    for n in count():
        url = f"http://a.example/thread-{n}-1-1.html"
        page = article(draw, url, chars=250, spread=1.0, confidence=0.7, undated=0.5)
        yield (
            replace_title(page, draw.choice(titles))
            if draw.random() < 0.6
            else (page if draw.random() < 0.6 else other(draw, url, found_in=BlockKind.LIST))
        )


def closed_section(draw: random.Random) -> Stream:
    """A section only for members, met late and in one go, and dead links in old lists."""
    for n, page in enumerate(plain(draw)):
        yield page
        if n % 700 == 699:
            for m in range(120):
                url = f"http://a.example/vip/{m + n}.html"
                yield HostAnswer(url, BlockKind.LIST, AnswerKind.BLOCKED, "403", seconds=0.1)
            for m in range(120):
                url = f"http://a.example/old/2003/{m + n}.html"
                yield HostAnswer(url, BlockKind.BODY, AnswerKind.GONE, "404", seconds=0.1)


def taken_for_spam(draw: random.Random) -> Stream:
    """Every twelfth article is taken for spam."""
    for page in plain(draw):
        yield page._replace(hijacked=draw.random() < 1 / 12) if page.kind == AnswerKind.ARTICLE else page


def replace_title(page: HostAnswer, title: int) -> HostAnswer:
    """With another title."""
    return page._replace(title=title)


STEADY: dict[str, Host] = {
    "plain": plain,
    "lists first": lists_first,
    "sections in turn": sections,
    "archives": archives,
    "runs of bulletins": bulletins,
    "telling nothing": telling_nothing,
    "mixed": mixed,
    "flaky": flaky,
    "forum": forum,
    "closed section": closed_section,
    "taken for spam": taken_for_spam,
}

# ---------------------------------------------------------------- hosts that change


def redesigned(draw: random.Random, page: HostAnswer) -> HostAnswer:
    """Most articles are no longer recognised, the others lose their text."""
    if page.kind != AnswerKind.ARTICLE:
        return page
    if draw.random() < 0.93:
        return other(draw, page.url, found_in=page.found_in)
    return page._replace(chars=60)


def cut_short(draw: random.Random, page: HostAnswer) -> HostAnswer:
    """Only the lead is found."""
    return page._replace(chars=max(40, page.chars // 5)) if page.kind == AnswerKind.ARTICLE else page


def menus_in_text(draw: random.Random, page: HostAnswer) -> HostAnswer:
    """The text takes in what stands around it."""
    return page._replace(chars=page.chars + 3000) if page.chars else page


def same_title(draw: random.Random, page: HostAnswer) -> HostAnswer:
    """The site's name is taken for the title, and dates are gone."""
    return page._replace(title=7, dated=False) if page.kind == AnswerKind.ARTICLE else page


def half_broken(draw: random.Random, page: HostAnswer) -> HostAnswer:
    """Every second article."""
    return redesigned(draw, page) if draw.random() < 0.6 else page


def blocking(draw: random.Random, page: HostAnswer) -> HostAnswer:
    """403 for all but a few."""
    return (
        page if draw.random() < 0.05 else HostAnswer(page.url, page.found_in, AnswerKind.BLOCKED, "403", seconds=0.05)
    )


def throttling(draw: random.Random, page: HostAnswer) -> HostAnswer:
    """429 for half."""
    return page if draw.random() < 0.5 else HostAnswer(page.url, page.found_in, AnswerKind.BLOCKED, "429", seconds=0.05)


def captcha(draw: random.Random, page: HostAnswer) -> HostAnswer:
    """A question in place of the page."""
    return HostAnswer(page.url, page.found_in, AnswerKind.BLOCKED, "soft 404", seconds=0.1)


def door(draw: random.Random, page: HostAnswer) -> HostAnswer:
    """Articles ask to log in."""
    return (
        HostAnswer(page.url, page.found_in, AnswerKind.LOGIN, "login wall") if page.kind == AnswerKind.ARTICLE else page
    )


def down(draw: random.Random, page: HostAnswer) -> HostAnswer:
    """No answer."""
    return HostAnswer(page.url, page.found_in, AnswerKind.FAILED, "timed out", seconds=60.0)


def shell(draw: random.Random, page: HostAnswer) -> HostAnswer:
    """JavaScript only."""
    return HostAnswer(page.url, page.found_in, AnswerKind.EMPTY, "no text", seconds=page.seconds)


def slow(draw: random.Random, page: HostAnswer) -> HostAnswer:
    """Ten times slower."""
    return page._replace(seconds=page.seconds * 10)


def mojibake(draw: random.Random, page: HostAnswer) -> HostAnswer:
    """Another character set than stated."""
    return page._replace(doubtful=draw.random() < 0.9) if page.kind == AnswerKind.ARTICLE else page


def hijacked(draw: random.Random, page: HostAnswer) -> HostAnswer:
    """Spam in the titles of most articles."""
    return page._replace(hijacked=draw.random() < 0.9) if page.kind == AnswerKind.ARTICLE else page


def half_hijacked(draw: random.Random, page: HostAnswer) -> HostAnswer:
    """Every fourth article is a hijacker's, under URLs of its own."""
    if page.kind != AnswerKind.ARTICLE or draw.random() < 0.75:
        return page
    return page._replace(url=f"http://a.example/kj/{draw.randrange(10**6)}.html", hijacked=True)


CHANGES: dict[str, tuple[Change, str]] = {
    "redesigned": (redesigned, "layout"),
    "half broken": (half_broken, "layout"),
    "cut short": (cut_short, "layout"),
    "menus in the text": (menus_in_text, "layout"),
    "same title, no dates": (same_title, "layout"),
    "blocking": (blocking, "blocks"),
    "throttling": (throttling, "blocks"),
    "captcha": (captcha, "blocks"),
    "login": (door, "login"),
    "down": (down, "unreachable"),
    "JavaScript shell": (shell, "empty"),
    "slow": (slow, "slow"),
    "mojibake": (mojibake, "encoding"),
    "hijacked": (hijacked, "hijacked"),
    "partly hijacked": (half_hijacked, "hijacked"),
}


def false_alarms(pages: int, window: int, first: int) -> int:
    """Print alarms on hosts that stay as they are; returns how many there were."""
    total = windows = 0
    print("no change: windows, false alarms, of kinds")
    for name, host in STEADY.items():
        kinds: Counter[str] = Counter()
        each = pages // _HOSTS
        for seed in range(first, first + _HOSTS):
            health = HealthMonitor(window)
            for answer in islice(host(random.Random(seed)), each):
                kinds.update(f"{e.kind}:{e.signal}" for e in health.learn(answer) if not e.ended)
        total += kinds.total()
        windows += pages // window
        print(f"  {name:20} {pages // window:7} {kinds.total():4}  {dict(kinds) or ''}")
    print(f"  {'all':20} {windows:7} {total:4}")
    return total


def delays(window: int, trials: int, first: int) -> None:
    """Print how soon changes are noticed, and whether alarms end when the change does."""
    print(f"changes: noticed of {trials * 2}, as what, delay in pages (median, longest), pages until the alarm ends")
    for name, (change, expected) in CHANGES.items():
        noticed, ended, kinds = [], [], Counter[str]()
        for host in (plain, bulletins):
            for seed in range(first, first + trials):
                draw = random.Random(seed)
                health = HealthMonitor(window)
                pages = host(draw)
                for answer in islice(pages, 400):
                    health.learn(answer)
                raised = None
                for n, answer in enumerate(islice(pages, 8 * window), 1):
                    events = [event for event in health.learn(change(draw, answer)) if not event.ended]
                    if events and raised is None:
                        raised = n
                        kinds[events[0].kind] += 1
                        noticed.append(n)
                for n, answer in enumerate(islice(pages, 8 * window), 1):
                    health.learn(answer)
                    if raised and not health.state.active:
                        ended.append(n)
                        break
        late = f"{median(noticed):.0f}, {max(noticed)}" if noticed else "-"
        over = f"{median(ended):.0f} ({len(ended)})" if ended else "-"
        mark = "" if set(kinds) == {expected} else f"  expected {expected}"
        print(f"  {name:22} {len(noticed):3}  {dict(kinds)!s:30} {late:10} {over}{mark}")


def cost(window: int) -> None:
    """Print the time of taking in an answer and the size of what is kept."""
    health, answers = HealthMonitor(window), list(islice(plain(random.Random(1)), 20_000))
    start = time.process_time()
    for answer in answers:
        health.learn(answer)
    spent = (time.process_time() - start) / len(answers)
    print(f"{spent * 1e6:.1f} microseconds an answer, {len(health.pack())} characters kept")


def main() -> int:
    """Run all parts."""
    options = new_parser(__doc__)
    options.add_argument("--pages", type=int, default=100_000)
    options.add_argument("--window", type=int, default=40)
    options.add_argument("--trials", type=int, default=20)
    options.add_argument("--seed", type=int, default=0, help="the first of the seeds of the hosts")
    given = options.parse_args()
    cost(given.window)
    delays(given.window, given.trials, given.seed)
    return 1 if false_alarms(given.pages, given.window, given.seed) else 0


if __name__ == "__main__":
    sys.exit(main())
