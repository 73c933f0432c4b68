// SPDX-License-Identifier: Apache-2.0
#include "ci/options/command_line.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <span>
#include <string_view>
#include <utility>

#include "ci/options/command_error.h"
#include "properties/judge/call/printable.h"

namespace backgauge::cli {
namespace {

// CLI11 takes "--timeout=" for "--timeout": without its value, or with the next word as one.
void refuse_empty_values(std::span<char*> arguments) {
  for (const std::string_view argument : arguments) {
    if (argument == "--") return;
    if (!argument.starts_with("--") || argument.find('=') != argument.size() - 1) continue;
    throw CommandError{kUsage, std::string(argument) + ": expected a value, got none"};
  }
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

Option Subcommand::option(const std::string& name, std::string& value, const std::string& help) {
  return Option(*app_->add_option(name, value, help));
}

Option Subcommand::option(const std::string& name, int& value, const std::string& help) {
  return Option(*app_->add_option(name, value, help));
}

Option Subcommand::option(const std::string& name, std::uint64_t& value, const std::string& help) {
  return Option(*app_->add_option(name, value, help));
}

Option Subcommand::option(const std::string& name, double& value, const std::string& help) {
  return Option(*app_->add_option(name, value, help));
}

Option Subcommand::option(const std::string& name, std::vector<std::string>& values, const std::string& help) {
  return Option(*app_->add_option(name, values, help));
}

Option Subcommand::option(const std::string& name, std::vector<std::uint64_t>& values, const std::string& help) {
  return Option(*app_->add_option(name, values, help));
}

Option Subcommand::option(const std::string& name, std::function<void(const std::string&)> take,
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

void Subcommand::pass_everything_on() {
  app_->set_help_flag();
  app_->prefix_command();
}

void Subcommand::action(std::function<int()> run) {
  app_->callback([this_run = std::move(run), chosen = chosen_] { *chosen = this_run; });
}

bool Subcommand::was_given(const std::string& name) const { return app_->count(name) > 0; }

std::vector<std::string> Subcommand::unknown_options() const { return app_->remaining(); }

CommandLine::CommandLine(const std::string& description, const std::string& version)
    : app_(std::make_unique<CLI::App>(description)) {
  app_->set_version_flag("--version", version);
  app_->option_defaults()->always_capture_default()->disable_flag_override();
  app_->require_subcommand(0, 1);
  // What it quotes may come from anywhere.
  app_->failure_message([](const CLI::App*, const CLI::Error& error) {
    return "backgauge: " + printable(error.what(), kShownOfReason, Newlines::kKept) +
           "\nRun with --help for more information.\n";
  });
}

CommandLine::~CommandLine() = default;

Subcommand CommandLine::subcommand(const std::string& name, const std::string& description) {
  return {*app_->add_subcommand(name, description), chosen_};
}

void CommandLine::footer(const std::string& text) { app_->footer(text); }

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
