# SPDX-License-Identifier: Apache-2.0
"""Result of the run without payload, on top of which a payload is identified."""

from __future__ import annotations

from pathlib import Path

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.files.result_file import load_identified_model
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.models.catalog import model_hash
from robodyn_ros.models.friction import body_of, unspecified_friction
from robodyn_ros.models.interface import DynamicModel


def load_base(path: str | Path, model: DynamicModel | None = None) -> IdentifiedModel:
    """Read the result of the run without payload.

    :param model: the model meant, if another than the file's is possible
    :raises IdentificationError: no path, no result file, or the result of another model
    """
    if not str(path):
        raise IdentificationError(
            'a payload is identified on top of the parameters of the arm: name the result file '
            'of a run without payload as base result'
        )
    base = load_identified_model(path)
    if model is None:
        return base
    if base.model.joint_names != model.joint_names:
        raise IdentificationError(
            f'the base result {path} is of a robot with the joints {list(base.joints)}, expected '
            f'{list(model.joint_names)}'
        )
    meant = base.model
    if unspecified_friction(model) is not None:  # any friction of the same robot will do
        meant, model = body_of(meant), body_of(model)
    if model_hash(meant) != model_hash(model):
        raise IdentificationError(
            f'the base result {path} is of another model than this one{_difference(base, model)}: '
            f'identify without payload with this model first'
        )
    return base


def _difference(base: IdentifiedModel, model: DynamicModel) -> str:
    ours, theirs = _facts(model.describe()), _facts(base.model.describe())
    keys = [key for key in {**theirs, **ours} if theirs.get(key) != ours.get(key)]
    return f' (other {", ".join(keys)})' if keys else ''


def _facts(description: dict[str, object]) -> dict[str, object]:
    """Return the keys of a description, those of a sum's parts together."""
    parts = description.get('parts')
    if not isinstance(parts, list):
        return description
    return {
        f'{part["kind"]}.{key}': value for part in parts for key, value in _facts(part).items()
    }
