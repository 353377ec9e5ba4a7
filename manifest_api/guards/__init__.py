"""What stands before the routes, from the outside in: HEAD, headers of every response, faults, who may ask, limits."""
