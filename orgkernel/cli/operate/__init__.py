"""Run the server and what it stores: permissions, keys, locks, reports, audit."""
