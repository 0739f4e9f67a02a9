"""The end of our process: nothing that it started outlives it."""

import os
import subprocess
import sys

from tests.process_state import wait_until_gone

INNER = """
import subprocess, time
print(subprocess.Popen(["sleep", "600"]).pid, flush=True)
time.sleep(600)
"""
PROGRAM = f"""
import subprocess, sys
from trunkline.transports.process.own_exit_processes import end_descendants
command = [sys.executable, "-c", {INNER!r}]
child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
print(child.pid, child.stdout.readline().strip(), flush=True)
end_descendants()
"""


def test_children_and_their_children_are_ended() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
        env=os.environ,
    )
    pids = done.stdout.split()
    assert len(pids) == 2
    wait_until_gone(*map(int, pids))
