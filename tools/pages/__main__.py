# SPDX-License-Identifier: Apache-2.0
"""`python -m tools.pages [NAME ...]`: write the pages that are made from tables in the code."""

from __future__ import annotations

import argparse

from tools.pages import NAMES, path_and_text

parser = argparse.ArgumentParser(prog='python -m tools.pages', description=__doc__)
parser.add_argument('names', nargs='*', metavar='NAME', help=f'of {", ".join(NAMES)}')
for name in parser.parse_args().names or NAMES:
    path, text = path_and_text(name)
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding='utf-8')
    print(path)
