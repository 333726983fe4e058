import ast
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

import robodyn_ros.identification
from robodyn_ros.identification.findings import FINDINGS, code_of, finding

ROOM = Path(robodyn_ros.identification.__file__).parent
NUMBERS = tuple('egf%')


def fields_of(key: str) -> dict[str, object]:
    """Return a value for each field of the templates, of the kind that the format expects."""
    entry = FINDINGS[key]
    parsed = Formatter().parse(f'{entry.text} {entry.remedy}')
    return {
        name: 1.0 if (spec or '').endswith(NUMBERS) else 'words'
        for _, name, spec, _ in parsed
        if name
    }


def calls() -> Iterator[tuple[str, list[str], set[str]]]:
    """Yield place, keys and keywords of each call of `finding` in identification."""
    for path in sorted(ROOM.rglob('*.py')):
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
            if isinstance(node, ast.Call) and getattr(node.func, 'id', '') == 'finding':
                words = [
                    each.value for each in ast.walk(node.args[0]) if isinstance(each, ast.Constant)
                ]
                keys = [
                    key
                    for key in FINDINGS
                    if key in words or any(w.endswith('.') and key.startswith(w) for w in words)
                ]
                given = {each.arg for each in node.keywords if each.arg}
                yield f'{path.name}:{node.lineno}', keys, given - {'severity', 'joint'}


@pytest.mark.parametrize('key', FINDINGS)
def test_each_text_formats(key):
    values = fields_of(key)
    joint = str(values.pop('joint', ''))
    found = finding(key, joint=joint, **values)
    assert (found.code, found.severity) == (code_of(key), FINDINGS[key].severities[0])
    assert joint in found.text and '{' not in found.text and found.text.endswith(('.', 'words'))


def test_each_text_is_used_and_each_call_gives_its_fields():
    used = set()
    for place, keys, given in calls():
        assert keys, place
        needed = [set(fields_of(key)) - {'joint'} for key in keys]
        assert all(each <= given for each in needed), place
        assert given <= set().union(*needed), place
        used.update(keys)
    assert used == set(FINDINGS)


def test_findings_are_built_from_the_table_only():
    others = {
        path.name
        for path in ROOM.rglob('*.py')
        if ' Finding(' in path.read_text(encoding='utf-8') and path != ROOM / 'findings.py'
    }
    assert not others


def test_a_severity_that_the_table_does_not_list_is_refused():
    with pytest.raises(ValueError, match='outliers cannot be of severity error'):
        finding('outliers', severity='error')
