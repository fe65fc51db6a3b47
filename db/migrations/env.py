"""Alembic's entry: runs the migrations on the connection of `db.engine.database`.

They change the tables; the views and triggers, which name their columns, are dropped before and made anew after them.
"""

from __future__ import annotations

from alembic import context

from db.tables.views import drop_views, make_views

connection = context.config.attributes["connection"]
context.configure(connection=connection)
drop_views(connection)
context.run_migrations()
make_views(connection)
