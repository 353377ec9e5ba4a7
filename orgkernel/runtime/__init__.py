"""The code that also runs inside a host: it imports only the standard library and this package."""
