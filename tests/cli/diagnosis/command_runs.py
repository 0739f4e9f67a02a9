"""The real command line as a child process."""

import os
import subprocess
import sys

SECONDS = 60


def run(*words: str, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "trunkline", *words]
    return subprocess.run(
        command,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env={**os.environ, **env},
    )
