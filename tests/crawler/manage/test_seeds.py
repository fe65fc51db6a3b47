"""Adding to the seeds file: whole lines, each once, in the file's own encoding, whoever else adds."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from crawler.fetch.guard import Guard
from crawler.manage.seeds import MOST_SEEDS, SeedFile
from crawler.options.seeds import SeedError
from tests.table import each_row


@each_row(
    ("before", "after"),
    [(b"", "https://new.example/\n"), (b"# none", "# none\nhttps://new.example/\n"),
     (b"https://a.example/\n", "https://a.example/\nhttps://new.example/\n"),
     (b"https://a.example/ depth=2", "https://a.example/ depth=2\nhttps://new.example/\n"),
     ("\ufeff# 种子\r\n".encode(), "\ufeff# 种子\r\nhttps://new.example/\n")],
)  # fmt: skip
def test_seed_is_a_line_of_its_own(tmp_path: Path, before: bytes, after: str) -> None:
    path = tmp_path / "seeds.txt"
    path.write_bytes(before)
    path.chmod(0o640)
    assert SeedFile(path, Guard([])).add("https://new.example/") == ["https://new.example/"]
    assert path.read_bytes() == after.encode()
    assert path.stat().st_mode & 0o777 == 0o640
    assert [one.name for one in tmp_path.iterdir()] == ["seeds.txt"]


def test_file_in_another_encoding_stays_in_it(tmp_path: Path) -> None:
    path = tmp_path / "seeds.txt"
    path.write_bytes("# 新闻网站\n".encode("gb18030"))
    SeedFile(path, Guard([])).add('https://new.example/ topic="港口"')
    assert path.read_text("gb18030") == '# 新闻网站\nhttps://new.example/ topic="港口"\n'


@each_row("again", ["https://a.example/", "https://A.example", "  https://a.example/  depth=3", "https://b.example/\nhttps://a.example/"])  # fmt: skip # noqa: E501
def test_seed_that_is_there_is_refused_and_nothing_is_written(tmp_path: Path, again: str) -> None:
    path = tmp_path / "seeds.txt"
    path.write_text("https://a.example/\n", "utf-8")
    with pytest.raises(SeedError, match="already"):
        SeedFile(path, Guard([])).add(again)
    assert path.read_text("utf-8") == "https://a.example/\n"


def test_same_seed_twice_is_one_line(tmp_path: Path) -> None:
    file = SeedFile(tmp_path / "seeds.txt", Guard([]))
    assert file.add("https://a.example/\n\n# note\nhttps://a.example/\n") == ["https://a.example/"]


def test_servers_that_add_at_once_lose_nothing(tmp_path: Path) -> None:
    """Each with a lock of its own, as processes have."""
    path = tmp_path / "seeds.txt"
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda n: SeedFile(path, Guard([])).add(f"https://a{n}.example/"), range(40)))
    assert sorted(path.read_text("utf-8").splitlines()) == sorted(f"https://a{n}.example/" for n in range(40))


def test_file_that_cannot_be_used_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(SeedError, match="folder"):
        SeedFile(tmp_path / "none" / "seeds.txt", Guard([])).add("https://a.example/")
    with pytest.raises(SeedError, match="at most"):
        SeedFile(tmp_path / "seeds.txt", Guard([])).add("a.example\n" * (MOST_SEEDS + 1))
