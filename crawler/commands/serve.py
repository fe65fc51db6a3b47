"""`scrapy serve`: show a crawl's database in the browser."""

from __future__ import annotations

import sys
from getpass import getpass
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from ..options.given import command_line, value_of
from ..options.in_force import in_force
from ..options.values import ConfigError
from ..run.command import NewsCommand
from .demo import MAX_PORT

if TYPE_CHECKING:
    import argparse

    from ..manage.manager import Manager
    from ..manage.passwords import Role
    from ..web.frame.access import AccessOptions

PORT = 8080
LOOPBACK = "127.0.0.1"
_NOT_FOR_CRAWLS = ("DATABASE_URL", "LOG_FILE")
"""The first goes through the environment, and the second is the server's."""


class Command(NewsCommand):
    usage = "[--port N] [--host ADDRESS] [--manage] [--set-password] [--learn] [--no-desk] [--database URL]"
    summary = "Show what was crawled in the browser: search, articles, stories, the crawl itself; a JSON API"
    description = (
        "The pages read the database; what readers save is in a file beside it. They are served on this machine only, "
        "unless --host names another address: then everybody who reaches it can read all that was crawled, and change "
        "what is saved, unless readers have a password. With --manage operators, who need one, start and stop the "
        "crawl, and change its seeds."
    )
    examples = (
        ("scrapy serve", "Show news.db at http://127.0.0.1:8080/; also while a crawl runs"),
        ("scrapy serve --database other.db --port 8081", "Show another database beside it"),
        ("scrapy serve --learn", "Rank what readers stay with higher"),
        ("scrapy serve --set-password", "Set the password of operators"),
        ("scrapy serve --manage --seeds seeds.txt", "Let operators manage the crawl from the page"),
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--port", type=int, default=PORT, metavar="N", help=f"port, 0 for a free one ({PORT})")
        parser.add_argument("--host", default=LOOPBACK, metavar="ADDRESS", help=f"address to listen on ({LOOPBACK})")
        parser.add_argument(
            "--name",
            action="append",
            default=[],
            metavar="NAME",
            help="another name by which browsers may ask for this server; may be given again",
        )
        parser.add_argument(
            "--learn",
            action="store_true",
            help="record which results are opened and for how long they are read, to rank by it: in clicks.db beside "
            "the database, without anything that tells who read",
        )
        parser.add_argument(
            "--no-desk",
            action="store_true",
            help="keep no saved searches and marks, send no alerts; else in news.desk.db beside the database (DESK)",
        )
        parser.add_argument(
            "--manage",
            action="store_true",
            help="let operators manage the crawl: seeds, start, pause, stop; needs a password of operators",
        )
        parser.add_argument(
            "--seeds",
            default="seeds.txt",
            metavar="FILE",
            help="with --manage: the seeds that operators add to and crawl from (seeds.txt)",
        )
        parser.add_argument(
            "--set-password",
            action="store_true",
            help="set the password of --role, asked for on the terminal or read from standard input, and serve nothing",
        )
        parser.add_argument(
            "--role",
            choices=("reader", "operator"),
            default="operator",
            help="with --set-password: whose (operator); where readers have one, all pages need it",
        )
        parser.add_argument(
            "--manage-folder",
            metavar="FOLDER",
            help="folder of passwords, limits, logs and the list of changes; else news.manage beside the database, or "
            "for Postgres in the current folder",
        )
        parser.add_argument(
            "--insecure",
            action="store_true",
            help="take passwords without TLS from other machines, too: whoever is on the way can read them",
        )
        parser.add_argument(
            "--root-path", default="", metavar="PATH", help="path below which a proxy shows this server, such as /news"
        )
        parser.add_argument(
            "--trusted-proxy",
            action="append",
            default=[],
            metavar="ADDRESS",
            help="address or network of a proxy whose X-Forwarded-For, -Proto and -Host are believed; may be given "
            "again",
        )
        parser.add_argument("--database", metavar="URL", help="database URL or path of a SQLite file (DATABASE_URL)")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        from db.engine.database import is_file, open_for_crawl, open_for_reading
        from db.search.clicks import ClickFile, beside
        from pipelines.search.expansion import load_synonyms
        from pipelines.search.search import SearchOptions

        from ..manage.journal import beside as beside_managed
        from ..manage.passwords import Role
        from ..options.alerts import alert_options, desk_path
        from ..web.app import make_app
        from ..web.frame.desk import DeskOptions
        from ..web.frame.security import LOOPBACK as LOOPBACK_NAMES
        from ..web.frame.visit import WebOptions
        from ..web.server import listen, serve

        if not 0 <= opts.port <= MAX_PORT:
            raise UsageError(f"{opts.port} is no port; allowed are 0 to {MAX_PORT}", print_help=False)
        database_url = opts.database or value_of(self.settings, "DATABASE_URL")
        folder = Path(opts.manage_folder) if opts.manage_folder else beside_managed(database_url)
        if opts.set_password:
            _set_password(folder, Role(opts.role))
            return
        access = self._access(opts, folder, is_local=opts.host in LOOPBACK_NAMES)
        if opts.manage and not is_file(database_url):
            open_for_crawl(database_url).close()  # its tables are there before the first crawl is started from the page
        database = open_for_reading(database_url)
        database.close()
        is_local = opts.host in LOOPBACK_NAMES
        if opts.learn:
            ClickFile(beside(database_url)).create()
        options = WebOptions(
            (*opts.name, opts.host),
            any_address=not is_local,
            is_learning=opts.learn,
            search=SearchOptions(
                value_of(self.settings, "SEARCH_WEIGHTS"),
                synonyms=load_synonyms(value_of(self.settings, "SEARCH_SYNONYMS")),
            ),
            in_force=in_force(self.settings),
            desk=DeskOptions(
                None if opts.no_desk else desk_path(value_of(self.settings, "DESK"), database_url),
                alert_options(self.settings),
                allows_loopback=access.is_local,
            ),
            access=access,
            manager=self._manager(opts, folder, database_url) if opts.manage else None,
        )
        app = make_app(database_url, options)
        listening = listen(opts.host, opts.port)
        shown = f"[{opts.host}]" if ":" in opts.host else opts.host
        address = f"http://{shown}:{listening.getsockname()[1]}{access.root_path}/"

        def ready() -> None:
            if not is_local and not access.readers_sign_in:
                sys.stdout.write(f"Everybody who reaches {opts.host} can read the database.\n")
            sys.stdout.write(f"{database.name} is shown at {address}  Ctrl-C ends it.\n")
            sys.stdout.flush()

        serve(app, listening, ready)
        sys.stdout.write("The server has ended.\n")

    def _manager(self, opts: argparse.Namespace, folder: Path, database_url: str) -> Manager:
        from ..manage.manager import Manager
        from ..options.config import fetch_options

        given = {name: text for name, text in command_line(self.settings).items() if name not in _NOT_FOR_CRAWLS}
        guard = fetch_options(self.settings).guard
        return Manager(folder, database_url, seeds=opts.seeds, guard=guard, settings=given)

    def _access(self, opts: argparse.Namespace, folder: Path, *, is_local: bool) -> AccessOptions:
        """Check who may sign in and how; raises `ConfigError`."""
        from ..manage.passwords import FILE, PasswordFile, Role
        from ..web.frame.access import AccessOptions
        from ..web.frame.outside import networks, root_path

        networks(opts.trusted_proxy)
        roles = PasswordFile(folder / FILE).roles()
        if opts.manage and Role.OPERATOR not in roles:
            raise ConfigError("--manage needs a password of operators; set one with scrapy serve --set-password")
        if roles and not is_local and not opts.trusted_proxy and not opts.insecure:
            raise ConfigError(
                f"passwords would cross the network unencrypted to {opts.host}; serve on loopback behind a proxy with "
                "TLS (docs/web.md), name it with --trusted-proxy, or say --insecure"
            )
        return AccessOptions(
            folder,
            manages=opts.manage,
            is_local=is_local and not opts.trusted_proxy,
            allows_plain=opts.insecure,
            proxies=tuple(opts.trusted_proxy),
            root_path=root_path(opts.root_path),
            readers_sign_in=Role.READER in roles,
        )


def _set_password(folder: Path, role: Role) -> None:
    from ..manage.passwords import FILE, PasswordFile

    if sys.stdin.isatty():
        password = getpass(f"Password of {role.value}s: ")
        if getpass("Again: ") != password:
            raise ConfigError("the two passwords differ; nothing was changed")
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    file = PasswordFile(folder / FILE)
    file.change(role, password)
    sys.stdout.write(
        f"The password of {role.value}s is set, in {file.path}. Whoever had signed in with another is out.\n"
    )
