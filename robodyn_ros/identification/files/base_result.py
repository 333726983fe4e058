# SPDX-License-Identifier: Apache-2.0
"""Result of the run without payload, on top of which a payload is identified."""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from robodyn_ros.errors import IdentificationError, ModelError
from robodyn_ros.identification.files.export import URDF
from robodyn_ros.identification.files.result_file import load_identified_model
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.models.catalog import model_hash
from robodyn_ros.models.friction import body_of, find_unspecified
from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.models.serial.urdf import rigid_part
from robodyn_ros.models.serial.urdf_file import UrdfFile, UrdfWarning, read_urdf


def load_base(path: str | Path, model: DynamicModel | None = None) -> IdentifiedModel:
    """Read the result of the run without payload.

    :param model: the model meant, if another than the file's is possible
    :raises IdentificationError: no path, no result file, the result of another model, or one with
        a payload
    """
    if not str(path):
        raise IdentificationError(
            'a payload is identified on top of the parameters of the arm: name the result file '
            'of a run without payload as base result'
        )
    base = load_identified_model(path)
    base.refuse_payload()
    _restore_text(base.model, model, Path(path).parent / URDF)
    if model is None:
        return base
    if base.model.joint_names != model.joint_names:
        raise IdentificationError(
            f'the base result {path} is of a robot with the joints {list(base.joints)}, expected '
            f'{list(model.joint_names)}'
        )
    meant = base.model
    if find_unspecified(model) is not None:  # any friction of the same robot will do
        meant, model = body_of(meant), body_of(model)
    if model_hash(meant) != model_hash(model):
        raise IdentificationError(
            f'the base result {path} is of another model than this one'
            f'{_difference(meant, model)}: identify without payload with this model first'
        )
    return base


def _restore_text(arm: DynamicModel, model: DynamicModel | None, beside: Path) -> None:
    """Give the arm the complete URDF text, because a result file has only links and joints."""
    rigid, meant = rigid_part(arm), None if model is None else rigid_part(model)
    if rigid is None:
        return
    urdf = None if meant is None else meant.urdf
    if urdf is None and beside.is_file():
        with suppress(ModelError), warnings.catch_warnings():
            warnings.simplefilter('ignore', UrdfWarning)
            urdf = read_urdf(beside)
    if urdf is not None and _names(urdf) == _names(rigid.urdf):
        rigid.urdf = replace(rigid.urdf, text=urdf.text)


def _names(urdf: UrdfFile) -> list[tuple[str, str, str]]:
    return [(joint.name, joint.parent, joint.child) for joint in urdf.joints]


def _difference(base: DynamicModel, model: DynamicModel) -> str:
    ours, theirs = _facts(model.describe()), _facts(base.describe())
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
