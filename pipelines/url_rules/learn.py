"""Learning of DUST rules of a host from its fetched pages.

Once enough pages have shown that a parameter (`?from=app`) or a slug (`/123-old-headline`, `/123-new-headline`) makes
no difference, URLs that differ in nothing else count as one.

Source: Z. Bar-Yossef, I. Keidar, U. Schonfeld, Do Not Crawl in the DUST: Different URLs with Similar Text, WWW 2007
    (rules from a crawl's own pages, support, validation before use); H. S. Koppula et al., Learning URL Patterns for
    Webpage De-duplication, WSDM 2010 (URLs as keys and values, irrelevant path parts, generalisation by classes).
Differs: rules do not rewrite one URL into another, they only say that two are one, so that no URL is requested
    which no page has named; evidence is the content of fetched pages, not their anchors or a sample fetched for it.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from db.records.keys import fingerprint, is_sampled

from ..urls import SESSION_NAMES
from .forms import PARAMETER, SLUG, Rule, UrlParts, name_of, take_apart


@dataclass(frozen=True, slots=True)
class Params:
    """Parameters of the learning of rules; the defaults were chosen by hand.

    Attributes:
        threshold: confidence from which a rule is used, in (0, 1]; 1 is never reached.
        sureness: quantile of the normal distribution for the bounds; 1.645 stands for 95 % on one side.
        most_repeats: repetitions of one article that count, so that no single page (a login wall) can make a rule.
        session_prior: saved requests taken for granted of a parameter with a session's name: each of
            its URLs is one more request until the rule is used.
        proposed: confidence from which a rule is shown as a proposal.
        most_candidates: the commonest parameters and slugs that are looked into.
        rounds: how often all are weighed again after some were accepted.
    """

    threshold: float = 0.9
    sureness: float = 1.645
    most_repeats: int = 3
    session_prior: int = 16
    proposed: float = 0.5
    most_candidates: int = 200
    most_rules: int = 16
    rounds: int = 3


DEFAULTS = Params()


@dataclass(frozen=True, slots=True)
class Learned:
    """A rule and its evidence.

    Attributes:
        support: requests that the rule would have saved: they brought what another URL of the form had brought.
        against: requests that it would have prevented although they brought something else.
        confidence: lower bound of support / (support + against), with the prior.
        example: two URLs with one form and one content; empty when there is no support.
    """

    rule: Rule
    support: int
    against: int
    confidence: float
    used: bool = False
    example: tuple[str, str] | tuple[()] = ()


def learn(pages: Iterable[tuple[str, int]], held: Collection[Rule] = (), params: Params = DEFAULTS) -> list[Learned]:
    """Find the rules of one host, the surest first.

    For each parameter and each slug, URLs are grouped by the rest of the URL. Of a group of `m` URLs with
    `k` contents, `m - k` requests were superfluous and `k - 1` were not. A rule is learned for all words in a path
    (`/<word>/<number>.html`) when none of them disagrees, else for the words that agree. Rules that hold
    by themselves may fail together (`?id=5&key=5` needs one of its two), so each is tried with those accepted before.
    The order of the pages makes no difference.

    Args:
        pages: canonical URLs, each with an identifier of the page's content; the same for the same article.
        held: rules in use. They stay as long as the bare share of support is not below the threshold, also when no page
            is evidence of them. Few pages are then fetched that could be, so those fetched in any case
            (`keys.is_sampled`) must not be against them by themselves.

    Raises:
        ValueError: the threshold is not in (0, 1].

    Cost: about 25 microseconds and some KB a page, and 10 microseconds for each parameter and slug in it.
    """
    if not 0 < params.threshold <= 1:
        raise ValueError(f"threshold is {params.threshold}; a confidence from which rules are used is in (0, 1]")
    host = _Host(pages)
    candidates = host.candidates(params.most_candidates)
    used: dict[Rule, Learned] = {}
    learned: dict[Rule, Learned] = {}
    for _ in range(params.rounds):
        learned, before = dict(used), len(used)
        weighed = [one for each in candidates for one in _weigh(host, each, held, params)]
        for one in sorted(weighed, key=lambda one: _surest_first(one.learned)):
            rule, result = one.learned.rule, one.learned
            if rule in used:  # accepted in an earlier round: its evidence is in the forms by now
                continue
            if result.used and len(used) > before:  # what was accepted a moment ago may have changed it
                again = [each.learned for each in _weigh(host, one.candidate, held, params)]
                result = next((each for each in again if each.rule == rule), replace(result, used=False))
            if result.used and len(used) < params.most_rules:
                host.accept(one.touched)
                used[rule] = result
            learned[rule] = replace(result, used=rule in used)
        if len(used) == before:
            break
    silent = (Learned(rule, 0, 0, 0.0, used=True) for rule in held if rule not in host.heard)
    return sorted([*learned.values(), *silent], key=_surest_first)


def _surest_first(one: Learned) -> tuple[bool, float, Rule]:
    return not one.used, -one.confidence, one.rule


def bounds(support: int, against: int, sureness: float) -> tuple[float, float]:
    """Return Wilson's interval for a share, by the cases for and against it.

    Source: E. B. Wilson, Probable Inference, the Law of Succession, and Statistical Inference, JASA 22, 1927.

    >>> [round(bound, 3) for bound in bounds(25, 0, 1.645)]
    [0.902, 1.0]
    """
    n = support + against
    if not n:
        return 0.0, 1.0
    p, z2 = support / n, sureness * sureness
    middle, spread = p + z2 / (2 * n), sureness * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    low, high = (middle - spread) / (1 + z2 / n), (middle + spread) / (1 + z2 / n)
    return (max(0.0, low) if support else 0.0), (min(1.0, high) if against else 1.0)  # exact where rounding is not


@dataclass(slots=True)
class _Evidence:
    repeats: dict[int, int] = field(default_factory=dict)
    """Content -> its repetitions in the largest group: content in many groups is a page of its own kind."""
    against: int = 0
    sampled: list[int] = field(default_factory=lambda: [0, 0])
    """Of the URLs that are fetched in any case: how many held what no other of the group held, and how many did."""
    example: tuple[str, str] | tuple[()] = ()

    def add(self, members: Sequence[tuple[str, int]], most: int) -> None:
        contents = Counter(content for _, content in members)
        self.against += len(contents) - 1
        for content, n in contents.items():
            if n > 1:
                self.repeats[content] = max(self.repeats.get(content, 0), min(n - 1, most))
                first, second = sorted(url for url, held in members if held == content)[:2]
                self.example = min(self.example or (first, second), (first, second))
        for url, content in members:
            if is_sampled(fingerprint(url)):
                self.sampled[contents[content] > 1] += 1

    def merge(self, other: _Evidence) -> None:
        self.against += other.against
        for content, n in other.repeats.items():
            self.repeats[content] = max(self.repeats.get(content, 0), n)
        self.sampled = [a + b for a, b in zip(self.sampled, other.sampled, strict=True)]
        if other.example:
            self.example = min(self.example or other.example, other.example)

    @property
    def support(self) -> int:
        return sum(self.repeats.values())


class _Touched(NamedTuple):
    """A page, the place of a slug or the name of a parameter in it, its own pattern."""

    page: int
    what: int | str
    pattern: str


@dataclass(frozen=True, slots=True)
class _Candidate:
    kind: str
    general: str
    touched: Sequence[_Touched]


@dataclass(frozen=True, slots=True)
class _Weighed:
    """A rule with its evidence; `learned.used` says that it is sure enough."""

    learned: Learned
    candidate: _Candidate
    touched: Sequence[_Touched]


class _Host:
    """Pages of a host, and their forms under the rules accepted so far.

    `heard` are the rules for which there is evidence.
    """

    def __init__(self, pages: Iterable[tuple[str, int]]) -> None:
        self._contents = dict(pages)
        self._urls = sorted(self._contents)
        self._parts = [take_apart(url) for url in self._urls]
        self._struck: dict[int, tuple[int | str, ...]] = {}
        self._forms = list(self._urls)
        self._representative = {url: i for i, url in enumerate(self._urls)}
        self.heard: set[Rule] = set()

    def candidates(self, most: int) -> list[_Candidate]:
        touched: defaultdict[tuple[str, str], list[_Touched]] = defaultdict(list)
        for i, parts in enumerate(self._parts):
            if parts is not None:
                for kind, what, pattern, general in _places(parts):
                    touched[kind, general].append(_Touched(i, what, pattern))
        common = sorted(touched, key=lambda key: (-len(touched[key]), key))
        return [_Candidate(*key, touched[key]) for key in common[:most]]

    def evidence(self, candidate: _Candidate, most_repeats: int) -> dict[str, _Evidence]:
        groups: defaultdict[str, dict[str, int]] = defaultdict(dict)
        pattern_of: dict[str, str] = {}
        for one in candidate.touched:
            form = self._without(one)
            groups[form].setdefault(self._forms[one.page], one.page)
            pattern_of[form] = one.pattern
        by_pattern: defaultdict[str, _Evidence] = defaultdict(_Evidence)
        for form, members in groups.items():
            first = self._representative.get(form)
            if first is not None:
                members[form] = first
            if len(members) > 1:
                pages = [(self._urls[i], self._contents[self._urls[i]]) for i in members.values()]
                by_pattern[pattern_of[form]].add(pages, most_repeats)
        if by_pattern:
            self.heard |= {Rule(candidate.kind, pattern) for pattern in (candidate.general, *by_pattern)}
        return by_pattern

    def accept(self, touched: Sequence[_Touched]) -> None:
        for one in touched:
            self._forms[one.page] = self._without(one)
            self._struck[one.page] = (*self._struck.get(one.page, ()), one.what)
        self._representative = {}
        for i, form in enumerate(self._forms):
            self._representative.setdefault(form, i)

    def _without(self, one: _Touched) -> str:
        parts = self._parts[one.page]
        assert parts is not None
        what = (*self._struck.get(one.page, ()), one.what)
        return parts.write([w for w in what if isinstance(w, int)], [w for w in what if isinstance(w, str)])


def _places(parts: UrlParts) -> Iterator[tuple[str, int | str, str, str]]:
    for place, segment in enumerate(parts.segments):
        if segment.mark:
            yield SLUG, place, *parts.slug(place)
    if parts.pairs:
        pattern, general = parts.path()
        for name in dict.fromkeys(filter(None, map(name_of, parts.pairs))):
            yield PARAMETER, name, f"{pattern}?{name}", f"{general}?{name}"


def _weigh(host: _Host, candidate: _Candidate, held: Collection[Rule], params: Params) -> Iterator[_Weighed]:
    evidence = host.evidence(candidate, params.most_repeats)
    whole = _Evidence()
    for one in evidence.values():
        whole.merge(one)
    general = Rule(candidate.kind, candidate.general)
    agree = all(_may_hold(one, params) for one in evidence.values())
    if agree and (len(evidence) > 1 or general in held):
        if learned := _learned(general, whole, held, params):
            yield _Weighed(learned, candidate, candidate.touched)
        return
    for pattern in sorted(evidence):
        if learned := _learned(Rule(candidate.kind, pattern), evidence[pattern], held, params):
            yield _Weighed(learned, candidate, [one for one in candidate.touched if one.pattern == pattern])


def _names_a_session(rule: Rule) -> bool:
    return rule.kind == PARAMETER and rule.pattern.rpartition("?")[2].lower() in SESSION_NAMES


def _may_hold(evidence: _Evidence, params: Params) -> bool:
    return bounds(evidence.support, evidence.against, params.sureness)[1] >= params.threshold


def _learned(rule: Rule, evidence: _Evidence, held: Collection[Rule], params: Params) -> Learned | None:
    support, against = evidence.support, evidence.against
    prior = params.session_prior if support and _names_a_session(rule) else 0
    confidence = bounds(support + prior, against, params.sureness)[0]
    if confidence < params.proposed and rule not in held:
        return None
    is_sure = confidence >= params.threshold
    if rule in held:
        misses, hits = evidence.sampled
        bare = support >= params.threshold * (support + against)
        is_sure = bare and bounds(hits, misses, params.sureness)[1] >= params.threshold
    return Learned(rule, support, against, round(confidence, 4), is_sure, evidence.example)
