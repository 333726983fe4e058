# SPDX-License-Identifier: Apache-2.0
from robodyn_ros.identification.options import OPTIONS
from tools.pages.options import page


def test_every_option_has_a_row_with_its_flag_and_parameter():
    rows = page().splitlines()[-len(OPTIONS) :]
    for row, (name, option) in zip(rows, OPTIONS.items(), strict=True):
        assert f'`{name}`' in row
        assert f'--{option.flag}' in row and (option.parameter or '-') in row
