"""Gives the processes that are forked from the one that imports this a clock that a test can move."""

import time

from tests.gateway.moved_clock import now

time.time = now
