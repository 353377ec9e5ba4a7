"""The guards before the routes: HEAD requests, standard headers, faults, authentication and limits."""
