# SPDX-License-Identifier: Apache-2.0
"""`backgauge compare`: is head slower than base? One verdict per workload, each with its reason."""
