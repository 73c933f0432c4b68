# SPDX-License-Identifier: Apache-2.0
# The stage `quick` of ci/test: the tests that concern the changed files, in about a minute once the rest is built.

# More than ten seconds each on two cores, or minutes together. `ci/test unit` runs them.
readonly SLOW_TESTS='^(AdjointOfNets|Occasions|DeviceMemoryTest)\.|^cpu\.(path|agrees)|^reports\.(page|compare|command|charts|tutorial|site)$'
# Those tests of the command that take only seconds.
readonly QUICK_COMMAND_TESTS='^command\.(usage|environment|oracle|judge|self)$'

# What differs from the commit where the branch left main, uncommitted changes and new files included, without prose. On a clean main:
# from the commit before.
changed_files() {
  local base
  base=$(git merge-base HEAD main 2>/dev/null || git rev-parse HEAD)
  if [ -z "$(git diff --name-only "$base")$(git ls-files --others --exclude-standard)" ]; then base=HEAD~1; fi
  { git diff --name-only "$base"; git ls-files --others --exclude-standard; } | grep -v '\.md$' | sort -u
}

# The nearest folder above a file that defines tests; nothing for files that no test concerns.
tested_folder() {
  local folder
  folder=$(dirname "$1")
  [[ "$folder" != ci/testing* ]] || folder=ci
  while [ "$folder" != . ]; do
    if grep -qsE '^ *(backgauge_test|add_test)\(' "$folder/CMakeLists.txt"; then echo "$folder"; return; fi
    folder=$(dirname "$folder")
  done
}

stage_quick() {
  local files folders targets=() linked implementations file folder
  mapfile -t files < <(changed_files)
  mapfile -t folders < <(for file in "${files[@]}"; do tested_folder "$file"; done | sort -u)
  if [ ${#folders[@]} -eq 0 ]; then echo "no tests concern the ${#files[@]} changed files" >&2; return; fi
  echo "${#files[@]} changed files; building and running the tests of: ${folders[*]}" >&2

  for folder in "${folders[@]}"; do targets+=("$folder/all"); done
  if printf '%s\n' "${files[@]}" | grep -qE '^(reference|impl|properties|ci)/.*\.(cc|h|inc)$'; then
    targets+=(backgauge)
    # The implementations that were changed, of those linked into the command; for any other change, only `cpu`.
    linked=$(sed -nE 's/^BACKGAUGE_LINKED\((\w+),.*/\1/p' impl/implementations.inc | paste -sd '|')
    implementations=$(printf '%s\n' "${files[@]}" | sed -nE "s#^impl/($linked)/.*#\1#p" | sort -u)
    implementations=${implementations:-cpu}
  fi
  [[ " ${folders[*]} " != *" ci "* ]] || targets+=(impl/testing/all backgauge_plain_library)
  configure_dev
  build dev "${targets[@]}"

  for folder in "${folders[@]}"; do
    echo "==> $folder" >&2
    ctest --test-dir "build/dev/$folder" -j "$(nproc)" --output-on-failure --no-tests=error -LE 'slow|command' -E "$SLOW_TESTS" |
      grep -vE ' Start +[0-9]+:|  Passed  |^(Test project|Internal)'
    [ "$folder" != ci ] ||
      ctest --test-dir build/dev/ci -j "$(nproc)" --output-on-failure -R "$QUICK_COMMAND_TESTS" --no-tests=error
  done
  for implementation in ${implementations:-}; do
    echo "==> backgauge verify --tier=smoke --impl=$implementation" >&2
    build/dev/ci/backgauge verify --tier=smoke --impl="$implementation"
  done
  echo "not run: ci/lint, other folders, slow tests; ci/test runs everything" >&2
}
