# SPDX-License-Identifier: Apache-2.0
"""Figures of the source tree: files side by side, imports, constants, lines.

    python tools/house.py [FOLDER ...]

prints one column for each checkout; the default is the working folder. For another commit:
`git worktree add /tmp/before COMMIT; python tools/house.py /tmp/before .`
"""

from __future__ import annotations

import ast
import statistics
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

if not __package__:  # run as a file: the parent of the package `tools` is not on the path
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from tools.imports import (
    FLOW,
    between_rooms,
    circles,
    import_graph,
    parse_file,
    upward,
)

PACKAGE = 'robodyn_ros'
OF_IDENTIFICATION = f'{PACKAGE}.identification'
DECLARED_SHARE = 1 / 3
"""Share of the option names that make a file a declaration of the options: a third, so that a file
which uses some options does not count."""


def figures(root: Path) -> dict[str, str]:
    """Return the figures of a checkout, in the order of the table.

    :raises FileNotFoundError: the folder has no `robodyn_ros`
    """
    package = root / PACKAGE
    if not package.is_dir():
        raise FileNotFoundError(f'{root} is no checkout: it has no folder {PACKAGE}')
    sources = {path: parse_file(path) for path in sorted(package.rglob('*.py'))}
    graph = import_graph(package)
    estimation = {
        path: tree
        for path, tree in sources.items()
        if path.is_relative_to(package / 'identification')
    }
    return {
        **{
            f'most files side by side, {name}': str(max(files_side_by_side(root / name).values()))
            for name in (PACKAGE, 'test', 'config')
        },
        'YAML files in config': str(len([*(root / 'config').rglob('*.yaml')])),
        f'source lines ({PACKAGE})': str(sum(map(_lines, sources))),
        'C++ lines (src, include)': str(
            sum(map(_lines, [*root.glob('src/**/*.cpp'), *root.glob('include/**/*.hpp')]))
        ),
        'lines of tests': str(sum(map(_lines, (root / 'test').rglob('*.py')))),
        'words of documentation and changelog': str(
            sum(
                len(path.read_text(encoding='utf-8').split())
                for path in (*root.glob('docs/**/*.md'), *root.glob('*.md'))
            )
        ),
        'median / largest file (lines)': _median_and_largest(
            _lines(path) for path in sources if path.name != '__init__.py'
        ),
        'median / largest function (lines)': _median_and_largest(
            length for tree in sources.values() for length in function_lengths(tree)
        ),
        'import circles: files / rooms': f'{len(circles(graph))} / '
        f'{len(circles(between_rooms(graph, PACKAGE)))}',
        'imports from a room above': str(len(upward(graph, PACKAGE, FLOW))),
        'numeric constants, all / identification': ' / '.join(
            str(sum(len([*numeric_constants(tree)]) for tree in each.values()))
            for each in (sources, estimation)
        ),
        'files that declare the options of identification': str(len(option_declarations(package))),
    }


def files_side_by_side(root: Path) -> dict[Path, int]:
    """Return the number of files in each folder, including the root, without caches."""
    folders = [root, *(path for path in root.rglob('*') if path.is_dir())]
    return {
        folder: sum(path.is_file() and path.name != '__init__.py' for path in folder.iterdir())
        for folder in folders
        if folder.name != '__pycache__'
    }


def function_lengths(tree: ast.Module) -> Iterator[int]:
    """Yield the length of each function and method in lines, including the docstring."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield (node.end_lineno or node.lineno) - node.lineno + 1


def numeric_constants(tree: ast.Module) -> Iterator[str]:
    """Yield the constants of a module that are a number or a tuple of numbers."""
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and _is_number(node.value):
            names = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (
                name.id for name in names if isinstance(name, ast.Name) and name.id.isupper()
            )


def _is_number(node: ast.expr | None) -> bool:
    if isinstance(node, ast.Tuple):
        return bool(node.elts) and all(map(_is_number, node.elts))
    if isinstance(node, ast.UnaryOp):
        return _is_number(node.operand)
    if isinstance(node, ast.BinOp):
        return _is_number(node.left) and _is_number(node.right)
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def option_declarations(package: Path) -> list[Path]:
    """Return the files that name the options of an identification: fields, flags, parameters.

    :param package: folder with `identification/options.py`, which lists the options
    """
    wanted = _names_declared_by(parse_file(package / 'identification' / 'options.py'))
    enough = max(1.0, DECLARED_SHARE * len(wanted))
    trees = {path: parse_file(path) for path in sorted(package.rglob('*.py'))}
    return [
        path
        for path, tree in trees.items()
        if len(wanted & (_names_declared_by(tree) | _texts(tree))) >= enough
    ]


def _names_declared_by(tree: ast.Module) -> set[str]:
    """Return the fields of classes and the keys of tables."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            fields = [each.target for each in node.body if isinstance(each, ast.AnnAssign)]
            names |= {each.id for each in fields if isinstance(each, ast.Name)}
        elif isinstance(node, ast.Dict):
            names |= {str(key.value) for key in node.keys if isinstance(key, ast.Constant)}
    return names


def _texts(tree: ast.Module) -> set[str]:
    """Return the strings of a module; flags such as `--time-offset` as names."""
    strings = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return {each.removeprefix('--').replace('-', '_') for each in strings if isinstance(each, str)}


def _lines(path: Path) -> int:
    return len(path.read_text(encoding='utf-8').splitlines())


def _median_and_largest(sizes: Iterable[int]) -> str:
    lengths = [*sizes] or [0]
    return f'{statistics.median(lengths):g} / {max(lengths)}'


def table(roots: Sequence[Path]) -> str:
    """Return the figures of checkouts as a Markdown table with one column each."""
    columns = [figures(root) for root in roots]
    rows = [['', *map(str, roots)]]
    rows += [[name, *(column[name] for column in columns)] for name in columns[0]]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rows.insert(1, ['-' * width for width in widths])
    return '\n'.join(
        f'| {" | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))} |'
        for row in rows
    )


if __name__ == '__main__':
    try:
        print(table([Path(each) for each in sys.argv[1:] or ['.']]))
    except FileNotFoundError as error:
        sys.exit(f'robodyn: {error}')
