# SPDX-License-Identifier: Apache-2.0
"""`backgauge report`: charts, one offline page and a Markdown summary of saved runs."""
