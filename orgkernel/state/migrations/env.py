"""The environment of Alembic: it uses the given connection, whose transaction has begun."""

from __future__ import annotations

from alembic import context

from orgkernel.state.tables import metadata

context.configure(
    connection=context.config.attributes["connection"], target_metadata=metadata, transactional_ddl=True
)
context.run_migrations()
