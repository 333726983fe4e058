# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.readers import read_recording
from robodyn_ros.recording.tables.csv_file import read_csv


@pytest.fixture
def read(tmp_path):
    def reader(content, encoding='utf-8'):
        path = tmp_path / 'a.csv'
        path.write_bytes(content.encode(encoding))
        table = read_csv(path)
        return {name: table.column(name, 'a signal') for name in table.columns}

    return reader


@pytest.mark.parametrize(
    'content',
    [
        'time q tau\n0  1.5 3\n1 2.5  4\n',
        '# a comment\ntime, q, tau\n# another\n\n0, 1.5, 3\n1, 25e-1, 4\n',
        '# time q tau\n0 1.5 3\n1 2.5 4\n',
        '#time,q,tau\n0,1.5,3\n1,2.5,4\n',
    ],
)
def test_dialects(read, content):
    """More of them, with random motions, are in `test_header_variants`."""
    columns = read(content)
    assert list(columns) == ['time', 'q', 'tau']
    assert [values.tolist() for values in columns.values()] == [[0, 1], [1.5, 2.5], [3, 4]]


def test_without_a_header_columns_are_numbered(read):
    assert list(read('0,1,2\n1,2,3\n')) == ['column1', 'column2', 'column3']


def test_long_files_are_read_in_blocks_without_a_loss(read):
    columns = read('time,q\n' + ''.join(f'{row},{-row}\n' for row in range(2**18)))
    np.testing.assert_array_equal(columns['time'], np.arange(2.0**18))
    np.testing.assert_array_equal(columns['q'], -columns['time'])


def test_empty_cells_are_nan(read):
    columns = read('time,q\n0,\n1,nan\n2,NaN\n3,1\n')
    np.testing.assert_array_equal(columns['q'], [np.nan, np.nan, np.nan, 1.0])


def test_a_last_row_that_is_cut_off_is_left_out(tmp_path):
    """As a recorder that was killed leaves it; elsewhere a short row is an error."""
    (tmp_path / 'a.csv').write_text('time,q_a,tau_a\n0,1,2\n1,3,4\n2,5')
    table = read_csv(tmp_path / 'a.csv')
    np.testing.assert_array_equal(table.columns['q_a'], [1.0, 3.0])
    (finding,) = table.findings
    assert finding.code == 'cut_off' and 'line 4' in finding.text


@pytest.mark.parametrize('tail', ['2,5,3.0e-', '2,5,-', '2,5,', '2,5,+', '2,5', '2', '2,5\n'])
def test_a_last_row_may_be_cut_off_within_a_cell(read, tail):
    columns = read('time,q_a,tau_a\n0,1,2\n1,3,4\n' + tail)
    assert np.isfinite(columns['tau_a'][:2]).all()
    assert not np.isfinite(columns['tau_a'][2:]).any()


def test_a_whole_last_row_needs_no_line_end(read):
    assert read('time,q\n0,1\n1,7')['q'].tolist() == [1.0, 7.0]


@pytest.mark.parametrize(
    'content, message',
    [
        ('', 'no rows'),
        ('# only a comment\n', 'no rows'),
        ('time,q\n', 'a header but no rows'),
        ('time,q\n0,1\n0,1,2\n', 'line 3 has 3 cells, the header has 2'),
        ('time,q\n0,1\n1\n2,3\n', 'line 3 has 1 cells, the header has 2'),
        ('time,q\n0,1\n\n1,one\n', 'line 4, column 2: expected a number$'),
        ('time,q\n0,1\n1,3.0e-\n', 'line 3, column 2: expected a number$'),
        ('time,q\n0,3.0e-\n1,1', 'line 2, column 2: expected a number$'),
        ('time,q\n0,1\n1,2,3', 'line 3 has 3 cells, the header has 2'),
        ('time,q,q\n0,1,2\n', 'columns 2 and 3 have the same name'),
    ],
)
def test_errors_name_line_and_column(read, content, message):
    with pytest.raises(RecordingError, match=message):
        read(content)


@pytest.mark.parametrize('encoding', ['cp1252', 'utf-16'])
def test_encodings_of_windows(read, encoding):
    assert list(read('time,Größe\n0,1\n', encoding=encoding)) == ['time', 'Größe']


@pytest.mark.parametrize('name', ['column3', 'column4'])
def test_columns_of_one_name_or_with_text_matter_only_if_they_are_used(tmp_path, name):
    path = tmp_path / 'a.csv'
    path.write_text('time,tau_a,q_b,q_b,note\n' + '0,1,2,3,x\n1,1,3,4,y\n2,1,4,5,z\n')
    with pytest.raises(RecordingError, match=r'columns 3 and 4 have the same name .* column3 or'):
        read_recording(path)
    recording = read_recording(path, columns={'position': name, 'torque': 'tau_a'})
    assert recording.position[0, 0] == int(name[-1]) - 1
    with pytest.raises(RecordingError, match='line 2, column 5: expected a number'):
        read_recording(path, columns={'position': 'note', 'torque': 'tau_a'})


def test_both_marks_of_decimals_are_not_guessed(read):
    with pytest.raises(RecordingError, match=r'decimal point and with a decimal comma \(1,5\)'):
        read('time;q\n0.5;1,5\n1.0;2,5\n')


def test_efforts_of_echo_may_be_velocities(tmp_path):
    path = tmp_path / 'a.csv'
    path.write_text(''.join(f'{k},0,,a,b,1,{k},3,4\n' for k in range(1, 9)))
    with pytest.raises(RecordingError, match='no column for torque was recognised') as error:
        read_recording(path)
    assert "torque: ['velocity or effort_a', 'velocity or effort_b']" in error.value.lines


@pytest.mark.parametrize(
    'content', ['time;q\n0;1,000\n1;-54,000\n', 'time,q\n0,"1,000"\n', 'time;q\n0;900\n1;1.000\n']
)
def test_marks_of_thousands_are_no_decimals(read, content):
    with pytest.raises(RecordingError, match=r'numbers such as 1.000 have a mark of decimals or'):
        read(content)


def test_three_decimals_and_dates_are_no_marks_of_thousands(tmp_path):
    path = tmp_path / 'a.csv'
    path.write_text('date;time;q\n29.11.2026;0,000;54,000\n29.11.2026;0,010;54,500\n')
    columns = read_csv(path).columns
    assert columns['time'].tolist() == [0, 0.01] and columns['q'].tolist() == [54, 54.5]


@pytest.mark.parametrize('names, column', [('abc', 'name'), ('abc', 'joint'), ('012', 'joint_id')])
def test_rows_of_one_joint_each_are_refused_with_a_command(tmp_path, names, column):
    path, new = tmp_path / 'a.csv', tmp_path / 'new.csv'
    joints = [names if k % 2 else names[::-1] for k in range(30)]
    rows = [f'{k / 10},{n},{ord(n) + k},{k}' for k in range(30) for n in joints[k]]
    path.write_text('\n'.join([f'time,{column},position,effort', *rows]))
    with pytest.raises(RecordingError, match='another joint, expected one row for each') as caught:
        read_csv(path)
    program = str(caught.value).split('"')[1]
    exec(program.replace('FILE', str(path)).replace('NEW.csv', str(new)))
    recording = read_recording(new)
    np.testing.assert_array_equal(recording.position[3], [ord(name) + 3 for name in names])


def test_a_column_of_names_of_phases_is_no_joint(tmp_path):
    path = tmp_path / 'a.csv'
    rows = [f'{k},{"first" if k < 20 else "second"},{k},1' for k in range(40)]
    path.write_text('\n'.join(['time,name,joint,tau', *rows]))
    assert read_csv(path).columns['joint'].tolist() == [*range(40)]


@pytest.mark.parametrize('mark', ['', ','])
def test_a_short_row_behind_one_with_an_empty_cell_is_refused(read, mark):
    rows = [f'{k},1,2{mark}' for k in range(20)]
    rows[3], rows[9] = f'3,1,{mark}', f'9,1{mark}'
    with pytest.raises(RecordingError, match='line 11 has'):
        read('\n'.join([f'time,q,tau{mark}', *rows, '']))
