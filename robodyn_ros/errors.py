"""Errors of the suite: one class per kind of failure; the text is one sentence for the user."""


class RobodynError(Exception):
    """Base class of the errors."""


class ConfigError(RobodynError):
    """A parameter or YAML file has an invalid value."""


class ModelError(RobodynError):
    """A robot model cannot be built or was called with data that do not fit it."""


class MotionError(RobodynError):
    """A motion breaks a limit or is not well defined."""


class RecordingError(RobodynError):
    """A recording cannot be read, written or used."""


class IdentificationError(RobodynError):
    """The parameters cannot be estimated, or a result may not be exported."""


class InsufficientData(IdentificationError):  # noqa: N818, it becomes a finding
    """A recording has too little to estimate anything from."""


class ControlError(RobodynError):
    """Feed-forward or collision monitoring got an input that it cannot use."""


class CellError(RobodynError):
    """The simulated cell got a request that it cannot fulfil."""
