# SPDX-License-Identifier: Apache-2.0
"""The identification node ends without half-written files."""

import pytest
from node_process import EFFORT, NodeProcess, closed
from robodyn_ros.srv import Identify
from robots import random_urdf
from simulation import arm, record
from writers import write_csv

pytestmark = pytest.mark.ros
SLOW = """
import sys, time
from pathlib import Path
from robodyn_ros.identification.files import export
from robodyn_ros.nodes.identification.node import main

write = export.write_result

def write_slowly(*arguments, **options):
    while not Path(__file__).with_name('interrupted').exists():
        time.sleep(0.01)
    time.sleep(0.5)  # the node ends meanwhile, unless it waits
    write(*arguments, **options)

export.write_result = write_slowly
sys.exit(main())
"""


def test_files_that_are_being_written_at_sigint_are_completed(tmp_path):
    xml = random_urdf(2, 3, types=('revolute',))
    model, truth = arm(xml)
    (tmp_path / 'robot.urdf').write_text(xml)
    write_csv(record(model, truth, 2000, noise=0.02), tmp_path / 'motion.csv')
    (tmp_path / 'slow.py').write_text(SLOW)
    out = tmp_path / 'out'
    given = {**EFFORT, 'urdf': tmp_path / 'robot.urdf', 'output_directory': out}
    script = tmp_path / 'slow.py'
    with closed(NodeProcess('identification', 77, tmp_path / 'log', given, script=script)) as node:
        client = node.node.create_client(Identify, 'identification/identify')
        node.wait(client.service_is_ready, 'the service')
        request = Identify.Request(recording=str(tmp_path / 'motion.csv'))
        client.call_async(request)
        node.wait(lambda: [*out.rglob('.robodyn_*.partial')], 'files that are being written')
        (tmp_path / 'interrupted').touch()
        assert node.interrupt() == 0, node.said()
    (folder,) = {path.parent for path in out.rglob('result.json')}
    assert (folder / 'result.yaml').is_file() and (folder / 'report.html').is_file()
    assert not [*out.rglob('*.partial')]
