# SPDX-License-Identifier: Apache-2.0
import shutil

import pytest

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.bags.disk_space import check_space


def test_space_is_that_of_the_disk_of_a_folder_that_may_not_be_there_yet(tmp_path):
    free = shutil.disk_usage(tmp_path).free
    for path in (tmp_path, tmp_path / 'not' / 'yet'):
        check_space(path, 0.5 * free)
        with pytest.raises(RecordingError, match=r'MB are free on its disk, minimum 9000000 MB'):
            check_space(path, 9e12)
