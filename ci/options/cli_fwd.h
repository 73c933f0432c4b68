// SPDX-License-Identifier: Apache-2.0
// The types of CLI11 that declarations name. Its header takes seconds to compile: only what adds options includes it.
#pragma once

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI
