"""What the packages' tests share: the packages, and a system in which nothing else is installed."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def run(*command: str | Path, **environment: str) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        timeout=2400,
        env=os.environ | environment,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


class CleanSystem:
    """A minimal Debian. Programs run in it with a /proc of their own, and only what is given here
    as their environment."""

    def __init__(self, folder: Path, *packages: str) -> None:
        self.folder = folder
        run(
            "debootstrap",
            "--variant=minbase",
            f"--include={','.join(packages)}",
            "bookworm",
            folder,
        )

    def run(self, *command: str, expected: int = 0, **environment: str) -> str:
        known = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/srv", "LANG": "C.UTF-8"}
        done = subprocess.run(
            [
                "unshare",
                "--mount",
                "--pid",
                "--fork",
                f"--mount-proc={self.folder}/proc",
                "/usr/sbin/chroot",
                str(self.folder),
                *command,
            ],
            capture_output=True,
            text=True,
            timeout=600,
            env=known | environment,
        )
        assert done.returncode == expected, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def shell(self, script: str, at: str = "/srv", **environment: str) -> str:
        """What a script of `sh` prints, which ends at the first command that fails."""
        return self.run("sh", "-ec", f"cd {at}\n{script}", **environment)
