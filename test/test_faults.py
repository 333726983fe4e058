# SPDX-License-Identifier: Apache-2.0
"""Table of the fault codes: messages, plugin and source have its codes, and no others."""

import ast
import pickle
import re
from pathlib import Path

import pytest

import robodyn_ros
from robodyn_ros.errors import NO_FAULT, ConfigError, ControlError, Fault
from robodyn_ros.faults import FAULTS, decode_fault, fault_of, number_of
from robodyn_ros.long_work import CancelledError
from tools.common import ROOT

PACKAGE = Path(robodyn_ros.__file__).parent


def constants(message: str) -> dict[str, int]:
    text = (ROOT / 'msg' / f'{message}.msg').read_text()
    found = re.findall(r'^uint16 FAULT_(\w+)=(\d+)', text, re.MULTILINE)
    return {name: int(value) for name, value in found}


def codes_in(tree: ast.AST) -> set[str]:
    """Return the codes in a source: of Fault, by fault=, or the usual one of a class."""
    found: list[ast.expr] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if getattr(node.func, 'id', '') == 'Fault':
                found += node.args[:1]
            found += [each.value for each in node.keywords if each.arg == 'fault']
        elif isinstance(node, ast.Assign) and getattr(node.targets[0], 'id', '') == 'usual':
            found.append(node.value)
    return {
        word.value
        for each in found
        for word in ast.walk(each)
        if isinstance(word, ast.Constant) and isinstance(word.value, str) and word.value
    }


def test_numbers_are_unique_and_fit_into_a_message():
    numbers = [entry.number for entry in FAULTS.values()]
    assert len(set(numbers)) == len(numbers) and FAULTS['none'].number == 0
    assert all(0 <= number < 2**16 for number in numbers)
    sentences = [text for entry in FAULTS.values() for text in (entry.meaning, entry.remedy)]
    assert all(text.endswith('.') for text in sentences)


def test_messages_have_the_constants_of_the_table():
    every = {name.upper(): entry.number for name, entry in FAULTS.items()}
    assert constants('FaultCode') == every
    for state in ('TorqueState', 'CollisionState'):
        named = {name.upper() for name, entry in FAULTS.items() if state in entry.states}
        assert constants(state) == {name: every[name] for name in named}
    assert {each for entry in FAULTS.values() for each in entry.states} == {
        'TorqueState', 'CollisionState',
    }  # fmt: skip


def plugin_codes() -> dict[str, int]:
    """Return the codes of the controller plugin."""
    header = (ROOT / 'include/robodyn_ros/additive_torque.hpp').read_text()
    body = header.partition('enum class Fault : std::uint16_t')[2].partition('}')[0]
    return {
        re.sub(r'(?<!^)(?=[A-Z])', '_', name).lower(): int(number)
        for name, number in re.findall(r'k(\w+) = (\d+)', body)
    }


def test_faults_of_the_plugin_have_the_numbers_of_the_table():
    given = plugin_codes()
    assert len(given) == 11
    assert given == {name: FAULTS[name].number for name in given}


def test_the_source_uses_each_code_of_the_table_and_no_other():
    used = {'none', *plugin_codes()}
    for path in sorted(PACKAGE.rglob('*.py')):
        used |= codes_in(ast.parse(path.read_text(encoding='utf-8')))
    assert used == set(FAULTS)


def test_a_fault_is_its_sentence_with_a_number():
    fault = Fault('state_frozen', 'the positions do not change')
    assert fault == 'the positions do not change' and number_of(fault) == 6
    assert not NO_FAULT and number_of(NO_FAULT) == number_of('words') == 0
    again = pickle.loads(pickle.dumps(fault))
    assert again == fault and again.name == 'state_frozen'
    with pytest.raises(KeyError):
        number_of(Fault('no such code', 'words'))


def test_a_number_of_another_node_becomes_a_fault_again():
    for name, entry in FAULTS.items():
        assert decode_fault(entry.number, 'words').name == name
    assert decode_fault(65535, 'words').name == 'refused'


@pytest.mark.parametrize(
    'error, code',
    [
        (ConfigError('x'), 'invalid_value'),
        (ControlError('x'), 'refused'),
        (ControlError('x', fault='busy'), 'busy'),
        (ControlError(Fault('not_following', 'x')), 'not_following'),
        (CancelledError('x'), 'cancelled'),
        (FileNotFoundError('x'), 'file_error'),
        (ValueError('x'), 'unexpected'),
    ],
)
def test_an_exception_has_the_code_of_its_kind_or_its_own(error, code):
    fault = fault_of(error, 'words')
    assert fault == 'words' and fault.name == code
