"""Common start of JointState and TorqueState: header, joint names, arrays of doubles."""

from __future__ import annotations

from robodyn_ros.wire.cursor import Cursor, WireError


class NamedArrays:
    """Offsets of the arrays in one message.

    :ivar names: joint names
    :ivar starts: offset of each array; -1 for an empty array
    :ivar cursor: stands at the end of the last array
    """

    def __init__(self, data: bytes | bytearray, count: int) -> None:
        """Parse a message.

        :param count: number of arrays
        :raises WireError: the message is damaged, or an array does not fit the names
        """
        self.cursor = Cursor(data)
        self.cursor.time()
        self.cursor.text()
        self.names = self.cursor.texts()
        self.starts = tuple(self._array() for _ in range(count))

    def _array(self) -> int:
        start, count = self.cursor.doubles()
        if count not in (0, len(self.names)):
            raise WireError(f'{count} values for {len(self.names)} joints')
        return start if count else -1
