"""One file per section, found by folder: TITLE, ORDER, and ``build(view)``, None to leave it out.

The template of the same name under ``templates/sections`` gets what ``build`` returns.
"""
