"""From a prepared plan to the result that the user sees."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from heapwise.cli.frame.tell.console import Console
from heapwise.options import Options

if TYPE_CHECKING:
    from heapwise.cli.frame.watched_campaign import Shown
    from heapwise.runner import Prepared


def measure(prepared: Prepared, options: Options, console: Console) -> Shown:
    """Starts the run in a store that was tried before anything is measured."""
    from heapwise.cli.frame.tell import progress
    from heapwise.cli.frame.watched_campaign import conduct
    from heapwise.runner import start
    from heapwise.store import check_writable, find_store

    store_path = find_store(options.store)
    check_writable(store_path)
    watcher = progress.choose(console.quiet)
    campaign = start(prepared, store_path, sys.argv, watcher)
    return conduct(campaign, watcher, console, strict=options.strict, exports=options.export)
