# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

pytest.importorskip('robodyn_ros.msg', reason='the share folder is that of the built package')
from robodyn_ros.nodes.launching.large_messages import PROFILE, environment


def test_senders_of_large_messages_get_the_profile_unless_one_is_set(monkeypatch):
    for variable in PROFILE:
        monkeypatch.delenv(variable, raising=False)
    given = environment('feedforward')
    assert Path(given['FASTDDS_DEFAULT_PROFILES_FILE']).is_file()
    assert environment('cell') == {}
    monkeypatch.setenv(PROFILE[1], 'mine.xml')
    assert environment('feedforward') == {}
