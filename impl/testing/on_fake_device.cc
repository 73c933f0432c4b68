// SPDX-License-Identifier: Apache-2.0
// Right, in device memory.
#include "impl/testing/fake_device.h"

BACKGAUGE_PLAIN_ON_FAKE_DEVICE("on_fake_device", nullptr)
