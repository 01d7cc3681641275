"""The ``run.json`` of a job, and a second copy of it for the day when it is torn."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from heapwise.fleet.run_document import state_in
from heapwise.store.location import RUN_FILE
from heapwise.store.writer import write_atomically


class KeptDocument:
    """Without its ``run.json`` a journal cannot be resumed. So the last whole one is kept in the
    job's folder, and put back if that of the run cannot be read."""

    def __init__(self, run_folder: Path, job_folder: Path) -> None:
        self.run_folder = run_folder
        self.path = run_folder / RUN_FILE
        self.copy = job_folder / RUN_FILE
        self.torn_folder = job_folder / "torn"
        self._seen: tuple[int, int] | None = None

    def state(self) -> str:
        """ "" if there is no document, or one that is torn."""
        return state_in(contents_of(self.path))

    def mended_state(self) -> str:
        """The state after a torn document was mended. Requires that no process writes the run.

        If there is no copy either, the folder is set aside whole, and the plan begins again.
        """
        state = self.state()
        if state or not self.run_folder.is_dir():
            return state
        kept = contents_of(self.copy)
        if state_in(kept):
            write_atomically(self.path, kept)
        else:
            self.torn_folder.mkdir(exist_ok=True)
            number = sum(1 for _ in self.torn_folder.iterdir())
            self.run_folder.rename(self.torn_folder / str(number))
        return self.state()

    def remember(self) -> None:
        """Copies the document if it is another one than before and whole."""
        try:
            status = self.path.stat()
        except OSError:
            return
        seen = status.st_mtime_ns, status.st_ino
        if seen == self._seen:
            return
        content = contents_of(self.path)
        if state_in(content):
            with suppress(OSError):  # a full disk: the older copy stays
                write_atomically(self.copy, content)
                self._seen = seen


def contents_of(path: Path) -> bytes:
    """Nothing for a file that cannot be read."""
    try:
        return path.read_bytes()
    except OSError:
        return b""
