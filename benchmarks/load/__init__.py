"""`make load`: a real server under mixed load for minutes, and whether anything grows without a bound."""
