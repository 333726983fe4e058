# SPDX-License-Identifier: Apache-2.0
"""Random mutants of Python sources, made with cosmic-ray; `tools/mutants.py` tests them."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import parso
from cosmic_ray.ast import get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator

NAMES = (
    *(f'ReplaceComparisonOperator_{pair}' for pair in (
        'Lt_GtE', 'Lt_LtE', 'LtE_Gt', 'LtE_Lt', 'Gt_LtE', 'Gt_GtE', 'GtE_Lt', 'GtE_Gt',
        'Eq_NotEq', 'NotEq_Eq', 'Is_IsNot', 'IsNot_Is',
    )),
    *(f'ReplaceBinaryOperator_{pair}' for pair in (
        'Add_Sub', 'Sub_Add', 'Mul_Div', 'Div_Mul', 'FloorDiv_Mul', 'Mod_Mul', 'Pow_Mul',
        'BitAnd_BitOr', 'BitOr_BitAnd',
    )),
    'ReplaceUnaryOperator_USub_UAdd', 'ReplaceUnaryOperator_Delete_Not',
    'ReplaceUnaryOperator_Delete_Invert',
    'AddNot', 'ReplaceAndWithOr', 'ReplaceOrWithAnd', 'ReplaceTrueWithFalse',
    'ReplaceFalseWithTrue', 'NumberReplacer',
)  # fmt: skip
"""Operators of cosmic-ray in use: comparisons, arithmetic, booleans and numbers."""
GUARDS = ('frozen', 'strict')
"""Keywords of `dataclass` and `zip` that refuse wrong code, and change nothing in correct code."""


@dataclass(frozen=True)
class Mutant:
    """One changed source file: path below the root, line, that line before and after, text."""

    path: Path
    line: int
    before: str
    after: str
    text: str

    def __str__(self) -> str:
        return f'{self.path}:{self.line}\n    - {self.before}\n    + {self.after}'


class DropStatement:
    """Operator that replaces a statement by `pass`: return, raise, call, stored value.

    A plain assignment to a name stays: without it every test fails with a NameError.
    """

    def mutation_positions(self, node: Any) -> Iterator[tuple[Any, Any]]:
        """Yield the position of the statement, if the node holds one to drop."""
        if node.type == 'simple_stmt' and _can_be_dropped(node.children[0]):
            yield node.children[0].start_pos, node.children[0].end_pos

    def mutate(self, node: Any, index: int) -> Any:
        """Return the node with `pass` in place of the statement."""
        leaf = node.children[0].get_first_leaf()
        node.children[0] = parso.python.tree.Keyword('pass', leaf.start_pos, leaf.prefix)
        return node


def _can_be_dropped(statement: Any) -> bool:
    if statement.type != 'expr_stmt':
        return statement.type in ('return_stmt', 'raise_stmt', 'atom_expr')
    target, sign = statement.children[:2]
    return bool(target.type == 'atom_expr' or (sign.type == 'operator' and sign.value != '='))


def draw_mutants(root: Path, sources: Sequence[Path], count: int, seed: int) -> list[Mutant]:
    """Return random mutants of files below a root, all if there are fewer than `count`.

    Annotations, `GUARDS` and mutants that do not compile are left out.
    """
    operators = [DropStatement(), *(get_operator(f'core/{name}')() for name in NAMES)]
    trees = {path: get_ast(path.read_text('utf-8')) for path in sources}
    sites = [
        (path, operator, occurrence)
        for path, tree in trees.items()
        for operator in operators
        for occurrence in range(_occurrences(tree, operator))
    ]
    random.Random(seed).shuffle(sites)
    chosen: list[Mutant] = []
    for path, operator, occurrence in sites:
        if len(chosen) == count:
            break
        text = path.read_text('utf-8')
        changed = mutate_code(text, operator, occurrence)
        if changed and _differs(text, changed):
            chosen.append(Mutant(path.relative_to(root), *_first_change(text, changed), changed))
    return chosen


def _occurrences(node: Any, operator: Any) -> int:
    here = len([*operator.mutation_positions(node)])
    return here + sum(_occurrences(each, operator) for each in getattr(node, 'children', ()))


def _differs(text: str, changed: str) -> bool:
    """Return True if a changed text compiles and does something else."""
    try:
        return _meaning(text) != _meaning(changed)
    except SyntaxError:
        return False


def _meaning(text: str) -> str:
    """Return the syntax tree without annotations, guards and kinds of arguments."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        for name in ('annotation', 'returns'):
            if hasattr(node, name):
                setattr(node, name, None)
        if isinstance(node, ast.arguments):  # by position or by name: correct calls know
            node.args, node.posonlyargs = [*node.posonlyargs, *node.args, *node.kwonlyargs], []
            node.kwonlyargs = []
            node.defaults, node.kw_defaults = [*node.defaults, *filter(None, node.kw_defaults)], []
        if isinstance(node, ast.Call):
            node.keywords = [each for each in node.keywords if each.arg not in GUARDS]
    return ast.dump(tree)


def _first_change(text: str, changed: str) -> tuple[int, str, str]:
    """Return number, old and new text of the first line that differs."""
    pairs = zip_longest(text.splitlines(), changed.splitlines(), fillvalue='')
    return next(
        (line, before.strip(), after.strip())
        for line, (before, after) in enumerate(pairs, 1)
        if before != after
    )
