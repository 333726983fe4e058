"""Errors of the suite: one class per kind of failure, one clear sentence in each."""


class RobodynError(Exception):
    """Base of every error a user can cause or meet; its text is one sentence for the user."""


class ConfigError(RobodynError):
    """A parameter or YAML file says something that cannot be used."""


class ModelError(RobodynError):
    """A robot model cannot be built or was called with data that do not fit it."""


class MotionError(RobodynError):
    """A motion breaks a limit or is not well defined."""


class RecordingError(RobodynError):
    """A recording cannot be read, written or used."""


class IdentificationError(RobodynError):
    """The parameters cannot be estimated, or a result may not be exported."""


class InsufficientData(IdentificationError):  # noqa: N818, it is a finding as soon as it is told
    """A recording has too little to estimate anything from."""


class ControlError(RobodynError):
    """Feed-forward or collision monitoring was given something it must not use."""


class CellError(RobodynError):
    """The simulated cell was asked for something it cannot do."""
