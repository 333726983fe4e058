# SPDX-License-Identifier: Apache-2.0
import json

import bodywise_example as example
import pytest

from robodyn_ros.cli.main import main


def test_bodies_as_text_and_json(tmp_path, capsys):
    example.write(tmp_path / 'bodies.csv')
    command = ['bodywise', str(tmp_path / 'bodies.csv'), '--gravity', '0', '0', '-9.80665']
    assert main(command) == 0
    text = capsys.readouterr().out
    assert 'body 1, 5 samples' in text and 'body 6, 5 samples' in text
    first = text.split('body 2')[0]
    assert first.count('  not identifiable') == 2 and 'x: -, y: -, z: 6402.6' in first
    assert 'body 1: J22, J33 cannot be identified' in text
    assert main([*command, '--json']) == 0
    facts = json.loads(capsys.readouterr().out)
    one, two = facts['bodies'][:2]
    assert one['principal_inertias']['J33'] is None and one['mass_by_direction']['x'] is None
    assert two['mass'] == pytest.approx(2746.0726, abs=0.0264)
    assert [finding['code'] for finding in facts['findings']] == ['not_identifiable']
    assert main(['bodywise', '/no/such/file.csv']) == 2
    assert 'error: /no/such/file.csv' in capsys.readouterr().err
