// SPDX-License-Identifier: Apache-2.0
// backgauge completion: a script with which a shell completes the words of the command line.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "ci/command/subcommands.h"
#include "ci/options/cli_options.h"
#include "ci/options/command_error.h"
#include "ci/run/implementation/adapters.h"
#include "impl/registry.h"

namespace backgauge::cli {
namespace {

using Words = std::vector<std::string>;

bool has_name(const DeclaredOption& option, const std::string& name) {
  return std::ranges::find(option.names, name) != option.names.end();
}

// What may follow the option. Implementations are not a fixed list: files of any name are possible too.
Words values_of(const DeclaredOption& option) {
  if (!has_name(option, "--impl")) return option.words;
  Words names = all_names();
  for (const Adapter& adapter : adapters()) names.push_back(adapter.name);
  return names;
}

Words option_names(const DeclaredSubcommand& command) {
  Words names;
  for (const DeclaredOption& option : command.options) {
    if (!option.positional) names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

// A shell splits "--tier=smoke" at the equals sign.
constexpr char kBash[] = R"(_backgauge_words() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" choices=""
  [ "$word" != "=" ] || word=""
  [ "$before" != "=" ] || before="${{COMP_WORDS[COMP_CWORD-2]}}"
  case "$COMP_CWORD ${{COMP_WORDS[1]}} $before" in
    "1 "* | "2 help "*) choices="{subcommands}" ;;
{values}  esac
  if [ "$COMP_CWORD" -gt 1 ] && [ -z "$choices" ]; then
    case "${{COMP_WORDS[1]}} $word" in
{options}    esac
  fi
  COMPREPLY=()
  local choice
  for choice in $choices; do
    [[ "$choice" != "$word"* ]] || COMPREPLY+=("$choice")
  done
}}
complete -o default -F _backgauge_words backgauge
)";

std::string bash(const std::vector<DeclaredSubcommand>& commands) {
  Words names;
  std::string values, options;
  for (const DeclaredSubcommand& command : commands) {
    names.push_back(command.name);
    options += fmt::format("      \"{} -\"*) choices=\"{}\" ;;\n", command.name, fmt::join(option_names(command), " "));
    for (const DeclaredOption& option : command.options) {
      const Words words = values_of(option);
      if (words.empty()) continue;
      // A positional argument follows its subcommand.
      for (const std::string& before : option.positional ? Words{command.name} : option.names) {
        values += fmt::format("    *\" {} {}\") choices=\"{}\" ;;\n", command.name, before, fmt::join(words, " "));
      }
    }
  }
  return fmt::format(kBash, fmt::arg("subcommands", fmt::join(names, " ")), fmt::arg("values", values),
                     fmt::arg("options", options));
}

// A text in single quotes of fish.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out + "'";
}

std::string fish(const std::vector<DeclaredSubcommand>& commands) {
  std::string out;
  for (const DeclaredSubcommand& command : commands) {
    out += fmt::format("complete -c backgauge -n __fish_use_subcommand -f -a {} -d {}\n", command.name,
                       quoted(command.description));
    for (const DeclaredOption& option : command.options) {
      if (option.positional) continue;
      out += fmt::format("complete -c backgauge -n '__fish_seen_subcommand_from {}'", command.name);
      for (const std::string& name : option.names) {
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      const Words words = values_of(option);
      // -x: no names of files.
      if (!option.value.empty()) out += option.words.empty() ? " -r" : " -x";
      if (!words.empty()) out += fmt::format(" -a {}", quoted(fmt::format("{}", fmt::join(words, " "))));
      out += fmt::format(" -d {}\n", quoted(option.help));
    }
  }
  return out;
}

// The function of bash; for the first completion after zsh has loaded the script by itself, it is called here.
std::string zsh(const std::vector<DeclaredSubcommand>& commands) {
  return "#compdef backgauge\nautoload -Uz bashcompinit && bashcompinit\n" + bash(commands) +
         "[[ \"${funcstack[1]}\" != _backgauge ]] || _bash_complete -o default -F _backgauge_words\n";
}

std::string script(const std::string& shell, const std::vector<DeclaredSubcommand>& commands) {
  return shell == "fish" ? fish(commands) : shell == "zsh" ? zsh(commands) : bash(commands);
}

}  // namespace

void add_completion(CommandLine& line) {
  auto shell = std::make_shared<std::string>();
  Subcommand command = line.subcommand("completion", "print a script with which a shell completes command lines");
  command.option("shell", *shell, "bash, zsh or fish").check(one_of({"bash", "zsh", "fish"})).required();
  command.footer("For bash: source <(backgauge completion bash)");
  command.action([&line, shell] {
    fmt::print("{}", script(*shell, line.subcommands()));
    return kGood;
  });
}

}  // namespace backgauge::cli
