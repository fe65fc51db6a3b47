"""The experiment on entropies: figures of pages whose text and links are known."""

from __future__ import annotations

import pytest

from pipelines.replicate.site_entropy import entropy
from pipelines.training.examples import Example, example

NOTICE = "本网站所载内容均由会员单位提供，读者如有疑问，可在工作日拨打服务台电话咨询，我们将尽快答复。" * 3
TOPICS = ["地铁隧道施工进展", "海港渔船返航记录", "山村小学图书捐赠", "棉田灌溉设备检修"]


def page(n: int) -> Example:
    topic = TOPICS[n]
    lines = [f"{topic}第{part}期：{topic[::-1]}，{topic[2:]}的工作人员{part}日说明了情况。" for part in range(4)]
    text = "".join(f"<p>{line}</p>" for line in lines)
    lists = (
        f"<div><h3>相关新闻</h3><ul><li><a href='/x{n}'>{topic}后续</a></li></ul></div>"
        "<div><h3>热门新闻</h3><ul><li><a href='/y'>首页导航频道大全</a></li></ul></div>"
    )
    foot = f"<div><p>{NOTICE}</p><p>{NOTICE}</p></div>"
    body = f"<html><title>{topic}</title><body><div>{text}</div>{lists}{foot}</body></html>"
    made = example(body.encode(), {"id": str(n), "url": f"http://h.cn/{n}", "text": "\n".join(lines)})
    assert made is not None
    return made


def test_site_tells_text_and_links_that_a_page_alone_does_not() -> None:
    """The site repeats the notice, of 2 x 138 characters beside 4 x 40 of text, and what is read most."""
    rows = {row.name: row.ours for row in entropy([page(n) for n in range(4)], 0).rows}
    assert rows["text, one page"] == pytest.approx({"P": 160 / 436, "R": 1.0, "F": 320 / 596})
    assert rows["text, pages of the site"] == {"P": 1.0, "R": 1.0, "F": 1.0}
    assert rows["topic-related links, pages of the site"] == {"P": 1.0, "R": 1.0, "F": 1.0, "links": 4.0}


def test_entropies_of_sites_do_not_know_what_one_site_repeats() -> None:
    """The paper's comparison: of one site alone every term weighs 1, also those of both lists (P = 4 of 8)."""
    rows = {row.name: row.ours for row in entropy([page(n) for n in range(4)], 0).rows}
    assert rows["topic-related links, sites"] == pytest.approx({"P": 0.5, "R": 1.0, "F": 2 / 3, "links": 8.0})


def test_material_without_a_site_of_four_pages() -> None:
    with pytest.raises(ValueError, match="no site has 4 articles"):
        entropy([page(0), page(1), page(2)], 0)
