# SPDX-License-Identifier: Apache-2.0
"""The first few numbers: the subject against the best peer of each shape, one line for each family."""

from ..quantities import ratio_text, three_digits
from .charts import ratio
from .charts.chart import families


def headline(material):
    """(head, lines of cells); no lines if nothing is compared."""
    lines = []
    for family in families(material):
        found = ratio.ratios_of(family.rows, material.subject)
        if not found.best:
            continue
        least, peer = min(found.best.values())
        ours = [row for row in family.rows if row.implementation == material.subject]
        noise = material.noise(family.setting)
        lines.append([family.title, str(len(found.best)), ratio_text(found.mean, noise), f"{ratio_text(least, noise)} ({peer})",
                      three_digits(max(row.error_over_bound for row in ours))])
    return ["workloads", "shapes", f"{material.subject} x best peer, geometric mean", "least", "worst error / allowed"], lines
