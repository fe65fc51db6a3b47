"""Alembic's entry: runs the migrations on the connection of `db.engine.database`."""

from __future__ import annotations

from alembic import context

from db.tables import Record

context.configure(
    connection=context.config.attributes["connection"], target_metadata=Record.metadata, render_as_batch=True
)
context.run_migrations()
