# SPDX-License-Identifier: Apache-2.0
import json

from robodyn_ros.cli.main import main


def test_the_name_of_the_page_is_printed(tmp_path, capsys, monkeypatch):
    asked = []

    def write(result, path):
        asked.append((result, path))
        return tmp_path / 'page.html'

    monkeypatch.setattr('robodyn_ros.cli.report.write_page', write)
    assert main(['report', str(tmp_path), '--json']) == 0
    assert json.loads(capsys.readouterr().out) == {'report_file': str(tmp_path / 'page.html')}
    assert main(['report', str(tmp_path), '--out', 'x.html']) == 0
    assert capsys.readouterr().out == f'written: {tmp_path / "page.html"}\n'
    assert asked == [(str(tmp_path), None), (str(tmp_path), 'x.html')]


def test_what_is_no_result_is_refused(tmp_path, capsys):
    assert main(['report', str(tmp_path)]) == 2
    assert 'result.json cannot be read' in capsys.readouterr().err
