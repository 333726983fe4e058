from robodyn_ros.recording.finding import Finding


def test_the_line_has_the_severity_the_sentence_and_the_code():
    finding = Finding('gaps', 'a gap of 3 s', joint='elbow', severity='error')
    assert finding.line == 'error: a gap of 3 s [gaps]'
    assert Finding('gaps', 'a gap of 3 s').line.startswith('warning: ')
