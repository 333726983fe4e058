# SPDX-License-Identifier: Apache-2.0
"""A feed-forward node that raises an exception in its spin once a file is there."""

import sys
from pathlib import Path

from robodyn_ros.nodes.base.spinning import run
from robodyn_ros.nodes.feedforward.node import Feedforward


class RaisingFeedforward(Feedforward):
    """`report` is called by a timer, once a second."""

    def report(self):
        if Path(str(self.get_parameter('result_file').value)).with_name('raise').exists():
            raise RuntimeError('injected by a test')
        return super().report()


if __name__ == '__main__':
    sys.exit(run(RaisingFeedforward, sys.argv))
