# SPDX-License-Identifier: Apache-2.0
"""Arrays on their way into a function and out of it, in host memory and on a device."""
