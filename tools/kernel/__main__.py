"""Runs a command of this machine on the kernel of Debian's package, in a virtual machine.

    PYTHONPATH=tools .venv/bin/python -m kernel -- uname -r
    PYTHONPATH=tools .venv/bin/python -m kernel --add build/dev/native -- sh -c 'free; ls /bin'

The guest has the program with the libraries that it loads, each --add (files and folders) at the
path that it has here, and busybox. What the command writes into files is lost; its output and its
exit code come back. Needs the packages busybox-static and qemu-system-x86.
"""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
from pathlib import Path

from kernel.guest import Guest
from kernel.machine import Machine, NoEnd
from kernel.package import kernel_image
from kernel.unavailable import Unavailable

DEFAULT_FOLDER = Path("build/kernel")


def main() -> int:
    options = _options()
    try:
        guest = Guest()
        guest.add(*options.add)
        if (program := shutil.which(options.command[0])) is not None:
            guest.add(Path(program))
        machine = Machine(kernel_image(options.folder), options.memory)
        ended = machine.run(guest, shlex.join(options.command), timeout_s=options.timeout)
    except (Unavailable, NoEnd) as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 5
    print(ended.output, end="")
    return ended.exit_code


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m kernel")
    parser.add_argument("--add", type=Path, action="append", default=[], help="repeatable")
    parser.add_argument("--folder", type=Path, default=DEFAULT_FOLDER, help="keeps the kernel")
    parser.add_argument("--memory", type=int, default=2048, help="of the guest, MiB")
    parser.add_argument("--timeout", type=float, default=300, help="seconds")
    parser.add_argument("command", nargs="+")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
