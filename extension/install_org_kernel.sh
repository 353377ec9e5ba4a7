#!/usr/bin/env bash
# Install the organization layer into an Agent-Zero, upgrade it or remove it.
#
# It needs bash and Python 3.11 or later, without any package. The work is done by orgkernel/exchange/agent_zero/installer.py,
# which is also what `orgkernel host install` runs. Nothing of the target is executed or read by this script.

set -eu

HERE=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
# The script runs from a checkout or from an installed package.
for candidate in "$HERE/.." "$HERE/../../.."; do
    if [ -f "$candidate/orgkernel/exchange/agent_zero/installer.py" ]; then
        CHECKOUT=$(cd -- "$candidate" && pwd -P)
        for python in python3 python3.14 python3.13 python3.12 python3.11; do
            if "$python" -I -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
                exec "$python" -I -B -c 'import sys
sys.path.insert(0, sys.argv[1])
from orgkernel.exchange.agent_zero.installer import main
sys.exit(main(sys.argv[2:]))' "$CHECKOUT" "$HERE" "$@"
            fi
        done
        echo 'error: Python 3.11 or later is missing' >&2
        echo 'help: install it, or run orgkernel host install where orgkernel is installed' >&2
        exit 1
    fi
done
echo 'error: the orgkernel package is not next to this script' >&2
echo 'help: run the script from a checkout, or run: orgkernel host install' >&2
exit 1
