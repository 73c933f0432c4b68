// SPDX-License-Identifier: Apache-2.0
// A shared library that exports something, but no backgauge_entry().

extern "C" __attribute__((visibility("default"))) int backgauge_entrance() { return 0; }
