// SPDX-License-Identifier: Apache-2.0
#include "ci/options/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <span>
#include <sstream>
#include <string_view>
#include <utility>

#include "ci/options/command_error.h"
#include "ci/options/nearest_word.h"
#include "properties/judge/call/printable.h"

namespace backgauge::cli {
namespace {

// CLI11 reads "--timeout=" as "--timeout", without a value or with the next word as one.
void refuse_empty_values(std::span<char*> arguments) {
  for (const std::string_view argument : arguments) {
    if (argument == "--") return;
    if (!argument.starts_with("--") || argument.find('=') != argument.size() - 1) continue;
    throw CommandError{kUsage, std::string(argument) + ": expected a value, got none"};
  }
}

// CLI11 too lists no subcommand whose group has no name.
std::vector<const CLI::App*> shown_subcommands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); });
}

std::string unknown_subcommand(const CLI::App& app, const std::string& word) {
  std::string expected;
  std::vector<std::string> names;
  for (const CLI::App* subcommand : shown_subcommands(app)) {
    names.push_back(subcommand->get_name());
    expected += (expected.empty() ? "" : ", ") + names.back();
  }
  return word + ": not a subcommand" + did_you_mean(word, names) + "\nSubcommands: " + expected;
}

std::string unknown_argument(const CLI::App& command, const std::string& argument) {
  const std::string where = " of `backgauge" + (command.get_parent() == nullptr ? "" : " " + command.get_name()) + "`";
  if (!argument.starts_with('-')) return argument + ": unexpected argument" + where;
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  const std::string option = argument.substr(0, argument.find('='));
  return option + ": not an option" + where + did_you_mean(option, names);
}

// The first required argument that is missing, unless it is one with a name that starts with dashes.
const CLI::Option* missing_positional(const CLI::App& command) {
  const std::vector<const CLI::Option*> options = command.get_options([](const CLI::Option* option) {
    return option->get_required() && option->get_positional() && option->count() == 0;
  });
  return options.empty() ? nullptr : options.front();
}

// What is wrong with the arguments, for people. `app` has parsed them.
std::string complaint(const CLI::App& app, const CLI::Error& error) {
  const std::vector<std::string> unknown = app.remaining(true);
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && !chosen.empty()) {
    if (const CLI::Option* option = missing_positional(*chosen.front())) {
      return "missing argument: " + option->get_name(true) + ": " + option->get_description();
    }
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr || unknown.empty()) return error.what();
  if (!chosen.empty()) return unknown_argument(*chosen.front(), unknown.front());
  const auto word = std::ranges::find_if(unknown, [](const std::string& each) { return !each.starts_with('-'); });
  return word == unknown.end() ? unknown_argument(app, unknown.front()) : unknown_subcommand(app, *word);
}

std::string help_of(const CLI::App& app) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  return "backgauge" + (chosen.empty() ? "" : " " + chosen.front()->get_name()) + " --help";
}

// "{on,off}" in the name of a type: its words.
std::vector<std::string> words_of(const std::string& type) {
  const std::size_t open = type.find('{'), close = type.find('}');
  std::vector<std::string> words;
  if (open == type.npos || close == type.npos) return words;
  std::istringstream list(type.substr(open + 1, close - open - 1));
  for (std::string word; std::getline(list, word, ',');) words.push_back(word);
  return words;
}

DeclaredOption declared(const CLI::Option& option) {
  DeclaredOption out;
  for (const std::string& name : option.get_snames()) out.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
  out.positional = out.names.empty();
  if (out.positional) out.names.push_back(option.get_name(true));
  if (option.get_items_expected_max() > 0) out.value = option.get_type_name();
  out.words = words_of(out.value);
  out.help = option.get_description();
  return out;
}

}  // namespace

Option& Option::envname(const std::string& variable) {
  option_->envname(variable);
  return *this;
}

Option& Option::check(const Check& check) {
  option_->transform(CLI::Validator(check.refusal, check.shown));
  return *this;
}

Option& Option::default_text(const std::string& text) {
  option_->default_str(text);
  return *this;
}

Option& Option::value_name(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Option& Option::optional_value() {
  option_->expected(0, 1);
  return *this;
}

Option& Option::comma_separated() {
  option_->delimiter(',');
  return *this;
}

Option& Option::needs(const Option& other) {
  option_->needs(other.option_);
  return *this;
}

Option& Option::required() {
  option_->required();
  return *this;
}

template <class Value>
Option Subcommand::option(const std::string& name, Value& value, const std::string& help) {
  return Option(*app_->add_option(name, value, help));
}
template Option Subcommand::option(const std::string&, std::string&, const std::string&);
template Option Subcommand::option(const std::string&, int&, const std::string&);
template Option Subcommand::option(const std::string&, std::uint64_t&, const std::string&);
template Option Subcommand::option(const std::string&, double&, const std::string&);
template Option Subcommand::option(const std::string&, std::vector<std::string>&, const std::string&);
template Option Subcommand::option(const std::string&, std::vector<std::uint64_t>&, const std::string&);

Option Subcommand::option_for(const std::string& name, std::function<void(const std::string&)> take,
                              const std::string& help) {
  const auto take_first = [take = std::move(take)](const CLI::results_t& given) {
    take(given.front());
    return true;
  };
  return Option(*app_->add_option(name, take_first, help)->type_name("TEXT"));
}

Option Subcommand::flag(const std::string& name, bool& value, const std::string& help) {
  return Option(*app_->add_flag(name, value, help));
}

Option Subcommand::flag(const std::string& name, int& count, const std::string& help) {
  return Option(*app_->add_flag(name, count, help));
}

void Subcommand::footer(const std::string& text) { app_->footer(text); }

void Subcommand::allow_unknown_options() { app_->allow_extras(); }

void Subcommand::hide() { app_->group(""); }

void Subcommand::pass_everything_on() {
  app_->set_help_flag();
  app_->prefix_command();
  app_->footer("`backgauge " + app_->get_name() + " --help` shows the options. It needs Python.");
}

void Subcommand::action(std::function<int()> run) {
  app_->callback([this_run = std::move(run), chosen = chosen_] { *chosen = this_run; });
}

bool Subcommand::was_given(const std::string& name) const { return app_->count(name) > 0; }

std::vector<std::string> Subcommand::unknown_options() const { return app_->remaining(); }

CommandLine::CommandLine(const std::string& description, const std::string& version)
    : app_(std::make_unique<CLI::App>(description, "backgauge")) {
  app_->set_version_flag("--version", version);
  app_->option_defaults()->always_capture_default()->disable_flag_override();
  app_->require_subcommand(0, 1);
  // Messages may quote untrusted text.
  app_->failure_message([](const CLI::App* app, const CLI::Error& error) {
    return "backgauge: " + printable(complaint(*app, error), kShownOfReason, Newlines::kKept) + "\nSee `" +
           help_of(*app) + "`.\n";
  });
}

CommandLine::~CommandLine() = default;

Subcommand CommandLine::subcommand(const std::string& name, const std::string& description) {
  return {*app_->add_subcommand(name, description), chosen_};
}

void CommandLine::footer(const std::string& text) { app_->footer(text); }

std::string CommandLine::help(const std::string& subcommand) const {
  // App::help() would print the help of the subcommand that was parsed.
  if (subcommand.empty())
    return app_->get_formatter()->make_help(app_.get(), app_->get_name(), CLI::AppFormatMode::Normal);
  for (const CLI::App* each : shown_subcommands(*app_)) {
    if (each->get_name() == subcommand) return each->help("backgauge");
  }
  throw CommandError{kUsage, unknown_subcommand(*app_, subcommand)};
}

std::string CommandLine::description() const { return app_->get_description(); }

std::vector<DeclaredSubcommand> CommandLine::subcommands() const {
  std::vector<DeclaredSubcommand> out;
  for (const CLI::App* each : shown_subcommands(*app_)) {
    out.push_back({each->get_name(), each->get_description(), each->get_footer(), {}});
    for (const CLI::Option* option : each->get_options()) out.back().options.push_back(declared(*option));
  }
  return out;
}

int CommandLine::run(int argc, char** argv) {
  refuse_empty_values({argv, argv + argc});
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app_->exit(error) == 0 ? kGood : kUsage;
  }
  if (chosen_) return chosen_();
  std::fprintf(stderr, "backgauge: expected a subcommand\n\n%s", app_->help().c_str());
  return kUsage;
}

}  // namespace backgauge::cli
