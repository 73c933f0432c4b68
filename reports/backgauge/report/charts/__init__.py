# SPDX-License-Identifier: Apache-2.0
"""One file per chart. Each has `charts(material) -> list[Chart]`; catalogue.py lists them in the order of the page."""
