"""Environments that end the process that plays them, or keep it for ever."""

import os
import signal
import sys
import time

from planted_envs import Good


class Exits(Good):
    def _step(self, action):
        sys.exit(0)


class Ends(Good):
    def _reset(self, options):
        os._exit(0)


class Crashes(Good):
    def close(self):
        os.kill(os.getpid(), signal.SIGSEGV)


class Hangs(Good):
    """Only when it is said nothing."""

    def _step(self, action):
        while not action:
            time.sleep(1)
        return super()._step(action)


class HangsAlways(Good):
    def _reset(self, options):
        while True:
            time.sleep(1)


class Closes(Good):
    """Closes every file of its process, and hangs."""

    def _reset(self, options):
        os.closerange(3, 65536)  # its connection may have any number
        time.sleep(60)
        return super()._reset(options)
