"""How Sphinx makes the site. build_site.py says where the pages and Doxygen's XML are."""

from __future__ import annotations

import os

project = "Heapwise"
copyright = "Heapwise's authors, MIT licence"
version = release = os.environ["HEAPWISE_SITE_VERSION"]
extensions = ["myst_parser", "breathe"]

breathe_projects = {"heapwise": os.environ["HEAPWISE_SITE_XML"]}
breathe_default_project = "heapwise"
breathe_default_members = ("members",)
primary_domain = "cpp"
highlight_language = "none"
cpp_index_common_prefix = ["heapwise::"]
cpp_maximum_signature_line_length = 90

myst_heading_anchors = 6
myst_links_external_new_tab = False
# A namespace is opened in many headers, each with a page of its own. The documents of a folder are
# linked from its list and are not in the navigation.
suppress_warnings = [
    "myst.header",
    "misc.highlighting_failure",
    "duplicate_declaration.cpp",
    "toc.not_included",
]

# Furo draws the tree of all pages on each page, 40 % of the time. A test may do without.
html_theme = os.environ.get("HEAPWISE_SITE_THEME", "furo")
if html_theme != "furo":
    html_sidebars: dict[str, list[str]] = {"**": []}
html_title = f"Heapwise {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
