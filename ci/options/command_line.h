// SPDX-License-Identifier: Apache-2.0
// The command line: subcommands with their options and flags. CLI11 parses it, in command_line.cc alone, because its
// header takes many seconds to compile.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace backgauge::cli {

// A condition on the text that an option is given.
struct Check {
  // "" if the text is acceptable, else what is wrong with it: "x: expected a whole number". May replace the text.
  std::function<std::string(std::string& text)> refusal;
  std::string shown{};  // after the type in the help: "1..1024"
};

// Says more about an option that was declared. Valid as long as the CommandLine.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  Option& envname(const std::string& variable);   // used where the command line does not give the option
  Option& check(const Check& check);              // of each value
  Option& default_text(const std::string& text);  // what the help shows as the default; "": nothing
  Option& value_name(const std::string& name);    // what the help calls the value
  Option& optional_value();                       // `--option` alone is legal, and means its default text
  Option& comma_separated();                      // one argument may hold several values
  Option& needs(const Option& other);             // is a usage error without the other one
  Option& required();

 private:
  CLI::Option* option_;
};

// A subcommand that was declared. Names begin with dashes ("-j,--jobs"); positional arguments have none. Every value is
// stored while the line is parsed and must live until the action has run; its first value is the default in the help.
class Subcommand {
 public:
  Subcommand(CLI::App& app, std::function<int()>& chosen) : app_(&app), chosen_(&chosen) {}

  // Value: std::string, int, std::uint64_t or double; or a vector of the first or third, given once for each value.
  template <class Value>
  Option option(const std::string& name, Value& value, const std::string& help);
  // Passes the text on; what `take` throws ends the parsing.
  Option option_for(const std::string& name, std::function<void(const std::string&)> take, const std::string& help);

  Option flag(const std::string& name, bool& value, const std::string& help);
  Option flag(const std::string& name, int& count, const std::string& help);  // may be repeated

  void footer(const std::string& text);  // the last lines of the help
  void allow_unknown_options();          // unknown_options() has them
  void hide();                           // for programs: not in help, manual, completions and messages
  void pass_everything_on();             // all arguments, --help too, are unknown_options(), for a program in Python

  // What the subcommand does after its line was parsed; returns an exit code.
  void action(std::function<int()> run);

  // Asked in the action.
  bool was_given(const std::string& name) const;
  std::vector<std::string> unknown_options() const;

 private:
  CLI::App* app_;
  std::function<int()>* chosen_;
};

// What was declared, for those who write completions or a manual from it.
struct DeclaredOption {
  std::vector<std::string> names;  // "-j", "--jobs"; of a positional argument, its name
  std::string value;               // what the help calls the value; "": it takes none
  std::vector<std::string> words;  // the values it takes, if they are listed (one_of() in cli_options.h)
  std::string help;
  bool positional = false;
};
struct DeclaredSubcommand {
  std::string name, description, footer;
  std::vector<DeclaredOption> options;
};

class CommandLine {
 public:
  CommandLine(const std::string& description, const std::string& version);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  Subcommand subcommand(const std::string& name, const std::string& description);

  // The last lines of the help; also of the help of subcommands that are declared later and have none of their own.
  void footer(const std::string& text);

  // The help of a subcommand, or of the command for "". Throws CommandError(kUsage) if there is no such subcommand.
  std::string help(const std::string& subcommand) const;
  std::string description() const;
  std::vector<DeclaredSubcommand> subcommands() const;  // without those that hide

  // Parses the arguments of main() and runs the action of the subcommand that they name. Returns its exit code. Prints
  // help and the version on stdout; errors of usage on stderr, with exit code kUsage. Throws what an action throws, and
  // CommandError(kUsage) for an empty value ("--timeout=").
  int run(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> app_;
  std::function<int()> chosen_{};
};

}  // namespace backgauge::cli
