"""Run the server and manage its stored records: permissions, keys, locks, reports, audit."""
