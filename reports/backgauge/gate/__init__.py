# SPDX-License-Identifier: Apache-2.0
"""`backgauge gate`: is a build right, and no slower than before? One verdict, one summary, one exit code."""
