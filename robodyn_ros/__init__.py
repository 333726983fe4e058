# SPDX-License-Identifier: Apache-2.0
"""Robot dynamics: excitation, recording, identification, feed-forward, collision monitoring.

    import robodyn_ros as rd

    model = rd.load_model('robot.urdf')
    motion = rd.design_motion(model, duration=20.0)
    recording = rd.read_recording('motion.mcap')
    result = rd.identify(recording, model)
    print(result.summary())

The guide is docs/reference/python.md. Each function is imported with its first use, so that
importing the package takes little time. The interfaces that rosidl generates (`robodyn_ros.msg`,
`.srv`, `.action`) are in the installed package of the same name; both are one module.
"""

from importlib import import_module
from pkgutil import extend_path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robodyn_ros.excitation.design_motion import design_motion as design_motion
    from robodyn_ros.identification.files.result_file import load_identified_model as load_result
    from robodyn_ros.identification.pipeline import identify as identify
    from robodyn_ros.models.catalog import load_model as load_model
    from robodyn_ros.recording.readers import read_recording as read_recording

__path__ = extend_path(__path__, __name__)
__version__ = '0.1.0'
__all__ = ['design_motion', 'identify', 'load_model', 'load_result', 'read_recording']

_MODULES = {
    'design_motion': ('excitation.design_motion', 'design_motion'),
    'identify': ('identification.pipeline', 'identify'),
    'load_model': ('models.catalog', 'load_model'),
    'load_result': ('identification.files.result_file', 'load_identified_model'),
    'read_recording': ('recording.readers', 'read_recording'),
}
"""Module and name of each public function."""


def __getattr__(name: str) -> Any:
    """Import a public function with its first use."""
    if name not in _MODULES:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    module, function = _MODULES[name]
    globals()[name] = value = getattr(import_module(f'{__name__}.{module}'), function)
    return value


def __dir__() -> list[str]:
    """Return the names of the module, those not yet imported included."""
    return sorted({*globals(), *__all__})
