# SPDX-License-Identifier: Apache-2.0
"""The history as offline pages: an overview, and a trend for each workload."""
