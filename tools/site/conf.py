"""How Sphinx makes the site of the pages that tools/site/stage.py writes."""
import pathlib
import re

project = "imrec"
header = pathlib.Path(__file__).parents[2] / "include/imrec/version.h"
version = release = re.search(r'IMREC_VERSION_STRING "([^"]*)"', header.read_text())[1]
author, copyright, html_show_copyright, html_show_sphinx = "", "", False, False
extensions = ["myst_parser"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4
highlight_language = "none"
smartquotes = False  # "--" and quotes are what one types
html_theme = "furo"
html_title = f"imrec {version}"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_copy_source = html_show_sourcelink = False
html_last_updated_fmt = None
pygments_style, pygments_dark_style = "default", "github-dark"
