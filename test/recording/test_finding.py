from robodyn_ros.recording.finding import Finding, has_error


def test_the_line_has_the_severity_the_sentence_and_the_code():
    finding = Finding('gaps', 'a gap of 3 s', joint='elbow', severity='error')
    assert finding.line == 'error: a gap of 3 s [gaps]'
    assert Finding('gaps', 'a gap of 3 s').line.startswith('warning: ')


def test_an_error_among_findings_is_seen():
    warning, error = (Finding('gaps', '', severity=each) for each in ('warning', 'error'))
    assert has_error((warning, error)) and not has_error((warning,)) and not has_error(())
