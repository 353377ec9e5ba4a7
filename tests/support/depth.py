"""How deep the long searches go: `ORGKERNEL_DEPTH` times as many examples and kills; 1 but for `make nightly`."""

from __future__ import annotations

import os

DEPTH = int(os.environ.get("ORGKERNEL_DEPTH", "1"))
