# SPDX-License-Identifier: Apache-2.0
import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

import robodyn_ros
from robodyn_ros.findings import FINDINGS, code_of, finding, sentence

PACKAGE = Path(robodyn_ros.__file__).parent
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


def uses() -> Iterator[tuple[str, set[str], set[str]]]:
    """Yield place, keys and fields of each call of `finding` or `sentence` in the package."""
    for path in sorted(PACKAGE.rglob('*.py')):
        text = path.read_text(encoding='utf-8')
        tree = ast.parse(text if 'robodyn_ros.findings import' in text else '')
        assigned: dict[str, list[ast.expr]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                assigned.setdefault(node.targets[0].id, []).append(node.value)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and node.args:
                name, arguments = getattr(node.func, 'id', ''), node.args
                later = {'evidence'} if name == 'partial' else set()
                if later:
                    name, arguments = getattr(node.args[0], 'id', ''), node.args[1:]
                if name in ('finding', 'sentence') and getattr(arguments[0], 'attr', '') != 'key':
                    given = {each.arg for each in node.keywords if each.arg} | later
                    yield f'{path.name}:{node.lineno}', keys_in(arguments[0], assigned), given


def uses_of_rivals() -> Iterator[tuple[str, str, set[str]]]:
    """Yield file, key and words of each text that a rival hypothesis names by its key."""
    for path in sorted((PACKAGE / 'identification/rivals').glob('*.py')):
        text = path.read_text(encoding='utf-8')
        nodes = [*ast.walk(ast.parse(text if re.search(r'(Rival|Variant)\(', text) else ''))]
        named = {
            getattr(each, 'value', None)
            for node in nodes
            for each in (node.args if isinstance(node, ast.Call) else getattr(node, 'elts', ()))
        }
        words = {str(node.value) for node in nodes if isinstance(node, ast.Constant)}
        for key in set(FINDINGS) & named:
            yield path.name, key, words


def keys_in(node: ast.expr, assigned: dict[str, list[ast.expr]]) -> set[str]:
    """Return the keys that an expression can have; a constant such as 'code.' starts some."""
    if isinstance(node, ast.Name | ast.Subscript):
        name = getattr(node if isinstance(node, ast.Name) else node.value, 'id', '')
        return {key for value in assigned.get(name, ()) for key in keys_in(value, assigned)}
    words = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant)]
    starts = tuple(word for word in words if isinstance(word, str) and word.endswith('.'))
    return {key for key in FINDINGS if key in words or (starts and key.startswith(starts))}


@pytest.mark.parametrize('key', FINDINGS)
def test_each_text_formats(key):
    values = fields_of(key)
    entry = FINDINGS[key]
    if not entry.severities:
        assert sentence(key, **values).endswith(('.', 'words')) and not entry.remedy
        return
    joint = str(values.pop('joint', ''))
    found = finding(key, joint=joint, **values)
    assert (found.code, found.severity) == (code_of(key), entry.severities[0])
    assert joint in found.text and '{' not in found.text and found.text.endswith(('.', 'words'))


def test_a_remedy_stands_alone_because_a_summary_shows_it_without_the_text():
    referring = re.compile(r'\bby that\b|\buse (it|that)\b', re.IGNORECASE)
    assert not [key for key, entry in FINDINGS.items() if referring.search(entry.remedy)]


def test_each_text_is_used_and_each_call_gives_its_fields():
    used = set()
    for place, keys, given in uses():
        assert keys, place
        needed = [set(fields_of(key)) - {'joint'} for key in keys]
        assert all(each <= given for each in needed), place
        assert given - {'severity', 'joint', 'evidence'} <= set().union(*needed), place
        used.update(keys)
    for place, key, words in uses_of_rivals():
        assert set(fields_of(key)) - words <= {'joint', 'joints', 'evidence', 'causes'}, place
        used.add(key)
    assert used == set(FINDINGS)


def test_findings_are_built_from_the_table_only():
    built = {
        f'{path.relative_to(PACKAGE)}:{node.lineno}'
        for path in PACKAGE.rglob('*.py')
        if path != PACKAGE / 'findings.py'
        and 'robodyn_ros.msg import Finding' not in (text := path.read_text(encoding='utf-8'))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and getattr(node.func, 'id', '') == 'Finding'
    }
    assert not built


def test_a_severity_that_the_table_does_not_list_is_refused():
    with pytest.raises(ValueError, match='outliers cannot be of severity error'):
        finding('outliers', severity='error')
