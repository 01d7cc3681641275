"""One file for each section, found by folder: TITLE, ORDER, and ``tell(view)``, empty to leave it
out.

The first screen, the data and the checks of trust have ``build(view)`` instead: the fields of the
template of their name under ``templates/sections``, None to leave it out.
"""
