# SPDX-License-Identifier: Apache-2.0
"""Every chart of the report, in the order of the page. A new chart is a file in charts/ and a line here."""

from .charts import growth, ratio, roofline, speed_and_error, tensors, threads, throughput

MAKERS = (throughput, ratio, roofline, speed_and_error, growth, threads, tensors)


def all_charts(material):
    return [chart for maker in MAKERS for chart in maker.charts(material)]
