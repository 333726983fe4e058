# SPDX-License-Identifier: Apache-2.0
"""The files of a recording, as a page names them."""

import hashlib
import os

import pytest

from robodyn_ros.report.repeat import _inputs


@pytest.mark.timeout(60)
def test_a_pipe_in_a_bag_is_named_and_not_read(tmp_path):
    (tmp_path / 'a.mcap').write_bytes(b'x')
    os.mkfifo(tmp_path / 'b.yaml')
    (tmp_path / 'c.mcap').symlink_to('/dev/zero')
    (tmp_path / 'd.txt').write_text('no part of a bag')
    first, *others = _inputs([str(tmp_path), '', str(tmp_path)])
    digest = hashlib.sha256(b'x').hexdigest()
    assert first == {'file': str(tmp_path / 'a.mcap'), 'bytes': 1, 'sha256': digest}
    assert [each['sha256'][:33] for each in others] == ['not read: it is a device, pipe or'] * 2
