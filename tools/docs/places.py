"""Nothing names a place that only one machine has, or a host that we do not mean to name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from docs.tree import TextFile, line_of

# Names of formats, and papers. Everything else is somebody's server, mirrors of packages included.
HOSTS = {
    "127.0.0.1",
    "www.w3.org",
    "docs.oasis-open.org",
    "json-schema.org",
    "maven.apache.org",
    "www.speedscope.app",
    "doi.org",
    "arxiv.org",
    "keepachangelog.com",
    "semver.org",
}
# For tests of what is done with URLs and paths.
INVENTED_HOST = re.compile(r"(^|\.)(example|invalid|test|localhost)(\.(com|org|net))?$")
# What a package manager writes, and reads again only as it wrote it; and a schema of others, which
# names itself.
WRITTEN_BY_OTHERS = ("Cargo.lock", "package-lock.json", "sarif-schema-2.1.0.json")
URL = re.compile(r"https?://([\w.-]+)")
# A published report says where it can be read, and so does its page: a citation that nothing opens.
CITATION = re.compile(
    r'^link = "https://[^"]*"$|\[Where it can be read\]\(https://[^)]*\)', re.MULTILINE
)
CITING = ("published/", "docs/results/")

HOMES = "|".join(("root", "work", "home", "Users"))
MACHINE_PATH = re.compile(rf"(?<![\w.$}})/-])/(?:{HOMES})/\w[\w./-]*")
INVENTED_USERS = ("me", "nobody", "you", "someone", "alice", "bob")


def is_invented(path: str) -> bool:
    """True for a home that nobody has: what examples and tests are made of."""
    return len(parts := path.split("/")) > 2 and parts[2] in INVENTED_USERS


def offences(file: TextFile) -> Iterator[str]:
    """A sentence for each host and each path that should not be there."""
    if file.name.rpartition("/")[2] in WRITTEN_BY_OTHERS:
        return
    cited = [match.span() for match in CITATION.finditer(file.text) if file.name.startswith(CITING)]
    for match in URL.finditer(file.text):
        if any(start <= match.start() < end for start, end in cited):
            continue
        if match[1] not in HOSTS and not INVENTED_HOST.search(match[1]):
            yield f"{file.name}:{line_of(file.text, match.start())}: names the host {match[1]}"
    for match in MACHINE_PATH.finditer(file.text):
        if not is_invented(match[0]):
            yield f"{file.name}:{line_of(file.text, match.start())}: names the path {match[0]}"
    here = str(file.root)
    if len(file.root.parts) > 2 and here in file.text:
        yield f"{file.name}:{line_of(file.text, file.text.index(here))}: names this checkout"
