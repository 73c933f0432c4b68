# SPDX-License-Identifier: Apache-2.0
# For scripts: builds targets of a preset. On a terminal one line shows the progress and the seconds since the start;
# elsewhere only warnings and errors are printed.
build() {  # <preset> [targets...], default: all
  local preset="$1" quiet=(--quiet) targets=()
  shift
  [ $# -eq 0 ] || targets=(--target "$@")
  [ ! -t 1 ] || quiet=()
  NINJA_STATUS="[%f/%t, %es] " cmake --build --preset "$preset" "${targets[@]}" -- "${quiet[@]}"
}
