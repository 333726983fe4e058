#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Refresh requirements/lock.txt: one version of everything, per Python where they differ,
# and the hashes that pip checks.
# Needs uv (`pip install uv`). Afterwards: make build && make test.
set -euo pipefail
cd "$(dirname "$0")/.."
lock=$(mktemp requirements/lock.XXXXXX)
trap 'rm -f "$lock"' EXIT
echo '# Every package of the wheel environment, pinned. Made from the *.in files: tools/lock.sh' > "$lock"
# ROS 2 runs from wheels on Linux only: the pins of other systems would be noise.
uv pip compile --quiet --universal --upgrade --python-version 3.10 --generate-hashes \
    --annotation-style line --no-header requirements/{core,dev,build,ros}.in |
    awk '/^[^ ]/ { keep = !/sys_platform == .win32/ } keep' >> "$lock"
chmod 644 "$lock"
mv "$lock" requirements/lock.txt
