// SPDX-License-Identifier: Apache-2.0
// Empty: what Eigen expects of it is declared already (sse_on_arm.h).
