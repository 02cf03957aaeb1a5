"""The board on which a worker says which env it calls: what is read was written whole."""

import subprocess
import sys
import tempfile
import time

from gem.vector.backends.board import Board
from gem.vector.messages import Stream
from gem.vector.slot import NOBODY

WRITER = """
import sys
from gem.vector.backends.board import Board
from gem.vector.messages import Stream

board = Board(int(sys.argv[1]))
slot = 0
while True:
    slot = slot % 999 + 1
    board.announce(slot, Stream(slot * 7, slot * 3))
"""


def prepared(file) -> Board:
    Board.prepare(file)
    return Board(file)


def test_a_board_says_that_no_env_is_called_until_one_is_and_after_the_last():
    with tempfile.TemporaryFile() as file:
        board = prepared(file)
        assert board.call() is None
        board.announce(3, Stream(2**62, 5))
        call = board.call()
        assert (call.slot, call.stream) == (3, Stream(2**62, 5))
        assert 0 <= call.seconds < 60
        board.announce(NOBODY, Stream(2**62, 5))
        assert board.call() is None


def test_a_writer_that_stops_anywhere_in_the_middle_leaves_no_call():
    with tempfile.TemporaryFile() as file:
        board = prepared(file)
        board.announce(1, Stream(1, 1))
        before = board._memory[:]
        time.sleep(0.001)
        board.announce(2, Stream(2, 2))
        after = board._memory[:]
        for written in range(len(after) + 1):
            board._memory[:] = after[:written] + before[written:]
            call = board.call()
            whole = {before: 1, after: 2}.get(board._memory[:])
            assert (call.slot if call else None) == whole


def test_a_reader_beside_a_writer_in_another_process_never_reads_half_of_a_note():
    with tempfile.TemporaryFile() as file:
        board = prepared(file)
        command = [sys.executable, "-c", WRITER, str(file.fileno())]
        with subprocess.Popen(command, pass_fds=[file.fileno()]) as writer:
            try:
                read = set()
                until = time.monotonic() + 60
                while len(read) < 500 and time.monotonic() < until:
                    call = board.call()
                    if call is not None:
                        assert call.stream == Stream(call.slot * 7, call.slot * 3)
                        assert call.seconds < 60
                        read.add(call.slot)
            finally:
                writer.kill()
    assert len(read) == 500
