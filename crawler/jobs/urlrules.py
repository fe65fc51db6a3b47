"""`scrapy status --url-rules`: what makes no difference in the addresses of hosts, and how sure that is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rich.table import Column, Table

from db.urlrules import RuleRow, evidence, hosts_with_repeats, rules, used_of
from pipelines.dedup.urlforms import Rule, Rules, take_apart
from pipelines.dedup.urlrules import Params, learn

from ..learn.urlrules import MOST_PAGES, row_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from sqlalchemy import Connection

KEPT, AFRESH = "kept", "afresh"


def found(connection: Connection, how: str, threshold: float, hosts: int) -> list[tuple[str, RuleRow]]:
    """Rules with the names of their hosts: those in the table, or what its pages say now.

    Args:
        connection: only read from.
        how: `KEPT` or `AFRESH`.
        threshold: confidence from which a rule would be used.
        hosts: how many hosts are learned of afresh, those with most repeated pages.
    """
    if how == KEPT:
        return rules(connection)
    params = Params(threshold=threshold)
    learned = []
    for host_id, name in hosts_with_repeats(connection, hosts):
        held = {Rule(*rule) for rule in used_of(connection, host_id)}
        for one in learn(evidence(connection, host_id, MOST_PAGES), held, params):
            learned.append((name, row_of(one)))
    return learned


def show(console: Console, how: str, found: Sequence[tuple[str, RuleRow]]) -> None:
    """Print the table, and one pair of addresses for each rule."""
    if not found:
        hint = "" if how == AFRESH else "; --url-rules afresh learns from the pages it holds"
        console.print(f"No rules of addresses are known{hint}")
        return
    title = "Rules of addresses" + (", learned from the pages now" if how == AFRESH else "")
    table = Table(Column("host", overflow="fold"), Column("rule", overflow="fold"), title=title)
    for name in ("support", "against", "confidence"):
        table.add_column(name, justify="right")
    table.add_column("state")
    table.add_column("for instance", overflow="fold")
    for host, row in found:
        numbers = (str(row.support), str(row.against), f"{row.confidence:.3f}")
        state = "proposed" if not row.used else "used" if how == KEPT else "sure"
        example = "\n".join(json.loads(row.example))
        table.add_row(host, str(Rule(row.kind, row.pattern)), *numbers, state, example)
    console.print(table, markup=False)


def rules_of(connection: Connection, host_id: int, url: str) -> list[str]:
    """The rules in use that touch a URL, for people."""
    address = take_apart(url)
    if address is None:
        return []
    in_use = Rules([Rule(*rule) for rule in used_of(connection, host_id)])
    return [str(rule) for rule, _ in in_use.matching(address)]
