# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.tables.csv_file import read_csv


@pytest.fixture
def read(tmp_path):
    def reader(content, encoding='utf-8'):
        path = tmp_path / 'a.csv'
        path.write_bytes(content.encode(encoding))
        return read_csv(path).columns

    return reader


@pytest.mark.parametrize(
    'content',
    [
        'time,q,tau\n0,1.5,3\n1,2.5,4\n',
        'time;q;tau\n0;1,5;3\n1;2,5;4\n',
        'time;q;tau\r\n0;1.5;3\r\n1;2.5;4\r\n',
        'time\tq\ttau\n0\t1.5\t3\n1\t2.5\t4',
        'time q tau\n0  1.5 3\n1 2.5  4\n',
        '# a comment\ntime, q, tau\n# another\n\n0, 1.5, 3\n1, 25e-1, 4\n',
        '# time q tau\n0 1.5 3\n1 2.5 4\n',
        '#time,q,tau\n0,1.5,3\n1,2.5,4\n',
        '"time","q","tau"\n0,1.5,3\n1,"2.5",4\n',
        '\ufefftime,q,tau\n0,1.5,3\n1,2.5,4\n',
    ],
)
def test_dialects(read, content):
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


def test_other_encodings_are_refused(read):
    with pytest.raises(RecordingError, match='cannot be read as CSV'):
        read('time,q\n0,ü\n', encoding='latin-1')
