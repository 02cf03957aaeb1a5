"""The status on which a worker says which env it calls: what is read was written whole."""

import subprocess
import sys
import tempfile
import time

from gem.vector.call_status import CallStatus
from gem.vector.messages import SeedStream
from gem.vector.slot import NO_SLOT

WRITER = """
import sys
from gem.vector.call_status import CallStatus
from gem.vector.messages import SeedStream

status = CallStatus(int(sys.argv[1]))
slot = 0
while True:
    slot = slot % 999 + 1
    status.announce(slot, SeedStream(slot * 7, slot * 3))
"""


def test_the_call_status_has_no_call_before_the_first_and_after_the_last():
    with tempfile.TemporaryFile() as file:
        status = CallStatus(file.fileno())
        assert status.call() is None
        status.announce(3, SeedStream(2**62, 5))
        call = status.call()
        assert (call.slot, call.stream) == (3, SeedStream(2**62, 5))
        assert 0 <= call.seconds < 60
        status.announce(NO_SLOT, SeedStream(2**62, 5))
        assert status.call() is None


def test_a_writer_that_stops_anywhere_in_the_middle_leaves_no_call():
    with tempfile.TemporaryFile() as file:
        status = CallStatus(file.fileno())
        status.announce(1, SeedStream(1, 1))
        before = status._memory[:]
        time.sleep(0.001)
        status.announce(2, SeedStream(2, 2))
        after = status._memory[:]
        for written in range(len(after) + 1):
            status._memory[:] = after[:written] + before[written:]
            call = status.call()
            whole = {before: 1, after: 2}.get(status._memory[:])
            assert (call.slot if call else None) == whole


def test_a_reader_beside_a_writer_in_another_process_never_reads_half_of_a_note():
    with tempfile.TemporaryFile() as file:
        status = CallStatus(file.fileno())
        command = [sys.executable, "-c", WRITER, str(file.fileno())]
        with subprocess.Popen(command, pass_fds=[file.fileno()]) as writer:
            try:
                read = set()
                until = time.monotonic() + 60
                while len(read) < 500 and time.monotonic() < until:
                    call = status.call()
                    if call is not None:
                        assert call.stream == SeedStream(call.slot * 7, call.slot * 3)
                        assert call.seconds < 60
                        read.add(call.slot)
            finally:
                writer.kill()
    assert len(read) == 500
