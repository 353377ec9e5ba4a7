"""How deep the long searches go: `ORGKERNEL_DEPTH` times as many examples and kills as a test says.

It is 1 except in `make nightly`. Where it is 1, a test generates a sixth of the examples it says (`tests/conftest.py`);
in `make quick`, where it is 0, it generates a handful, and the searches without hypothesis are not there.
"""

from __future__ import annotations

import os

_STATED = int(os.environ.get("ORGKERNEL_DEPTH", "1"))
DEPTH = max(_STATED, 1)
IS_QUICK = _STATED == 0
