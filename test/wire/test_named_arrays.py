import numpy as np
import pytest
from bags import TORQUE_STATE, torque_types

from robodyn_ros.wire.cursor import WireError
from robodyn_ros.wire.named_arrays import NamedArrays


def torque_state(*lengths):
    store = torque_types()
    types = store.types
    header = types['std_msgs/msg/Header'](types['builtin_interfaces/msg/Time'](1, 2), 'base')
    arrays = [np.arange(length) + 10.0 * row for row, length in enumerate(lengths, 1)]
    state = types[TORQUE_STATE](header, ['a', 'bc'], *arrays, True, 'fault', 3, 1)
    return bytes(store.serialize_cdr(state, TORQUE_STATE))


def test_the_arrays_of_a_torque_state_are_where_rosbags_wrote_them():
    data = torque_state(2, 2, 0, 2)
    parsed = NamedArrays(data, 4)
    assert parsed.names == ('a', 'bc')
    assert parsed.starts[2] == -1
    values = [np.frombuffer(data, '<f8', 2, at).tolist() for at in parsed.starts if at > 0]
    assert values == [[10.0, 11.0], [20.0, 21.0], [40.0, 41.0]]


def test_an_array_of_another_length_is_refused():
    with pytest.raises(WireError, match='3 values for 2 joints'):
        NamedArrays(torque_state(2, 3, 2, 2), 4)
