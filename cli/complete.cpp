#include "complete.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "quantities.hpp"

namespace bunraku::cli {

namespace {

/// Lines of words that start as the one that is typed.
class Offers {
 public:
  explicit Offers(std::string typed) : typed_(std::move(typed)) {}

  void add(std::string_view word, std::string_view meaning) {
    if (word.starts_with(typed_)) {
      meaning = meaning.substr(0, meaning.find('\n'));
      out_ += fmt::format("{}\t{}\n", word, meaning);
    }
  }
  const std::string& text() const { return out_; }

 private:
  std::string typed_;
  std::string out_;
};

/// What of a list stands before the item that is typed.
std::string_view before_last_item(std::string_view list) {
  return list.substr(0, list.rfind(',') + 1);
}

/// The values that an option chooses from.
void offer_values(const std::string& option, const std::string& typed, Offers& offers) {
  if (option == "--want") {
    for (const Quantity& quantity : quantities()) {
      const std::string_view colon = quantity.argument.empty() ? "" : ":";
      offers.add(fmt::format("{}{}{}", before_last_item(typed), quantity.name, colon), quantity.help);
    }
  } else if (option == "--precision") {
    offers.add("double", "64-bit numbers");
    offers.add("float", "32-bit numbers, in less time");
  } else if (option == "--order") {
    offers.add("file", "base to tips, as in the file");
    offers.add("paper", "tips to base, as in the papers");
  }
}

void offer_options(const CLI::App& app, Offers& offers) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      offers.add("--" + name, option->get_description());
    }
  }
}

}  // namespace

std::string completions(const CLI::App& app, const std::vector<std::string>& words) {
  const std::string typed = words.empty() ? "" : words.back();
  Offers offers(typed);
  if (words.size() < 2) {
    for (const CLI::App* command : app.get_subcommands(nullptr)) {
      offers.add(command->get_name(), command->get_description());
    }
    if (typed.starts_with('-')) {
      offer_options(app, offers);
    }
    return offers.text();
  }
  const std::vector<const CLI::App*> commands = app.get_subcommands(nullptr);
  const auto command =
      std::find_if(commands.begin(), commands.end(), [&](const CLI::App* each) { return each->check_name(words[0]); });
  if (command == commands.end()) {
    return {};
  }
  const std::string& before = words[words.size() - 2];
  const CLI::Option* option = before.starts_with("--") ? (*command)->get_option_no_throw(before) : nullptr;
  if (option != nullptr && option->get_expected_min() > 0) {
    offer_values(before, typed, offers);
  } else if (typed.starts_with('-')) {
    offer_options(**command, offers);
  }
  return offers.text();
}

}  // namespace bunraku::cli
