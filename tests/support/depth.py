"""How deep the long searches go: `ORGKERNEL_DEPTH` times as many examples and kills as a test says.

It is 1 except in `make nightly`. Where it is 1, a test generates a third of the examples it says (`tests/conftest.py`).
"""

from __future__ import annotations

import os

DEPTH = int(os.environ.get("ORGKERNEL_DEPTH", "1"))
