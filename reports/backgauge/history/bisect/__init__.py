# SPDX-License-Identifier: Apache-2.0
"""backgauge history bisect: which commit made an implementation slower, by timing builds side by side."""
