#include "want.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "bunraku/io/detail/numbers.hpp"
#include "limits.hpp"

namespace bunraku::cli {

namespace {

constexpr char escape = '\\';

/// The items of a list, trimmed, escapes still in them. A comma at the end is no item.
std::vector<std::string> items_of(const std::string& list) {
  std::vector<std::string> items(1);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == ',') {
      items.emplace_back();
      continue;
    }
    items.back() += list[i];
    if (list[i] == escape && i + 1 < list.size()) {
      items.back() += list[++i];
    }
  }
  for (std::string& item : items) {
    item = std::string(io::trimmed(item));
  }
  if (items.size() > 1 && items.back().empty()) {
    items.pop_back();
  }
  return items;
}

/// A node's name without its escapes.
std::string name_of(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    out += text[i] == escape && i + 1 < text.size() ? text[++i] : text[i];
  }
  return out;
}

/// The quantity that an item asks for, argument aside, or null.
const Quantity* quantity_of(std::string_view item) {
  const auto asked = [&](const Quantity& q) {
    return item.starts_with(q.name) &&
           (item.size() == q.name.size() || (!q.argument.empty() && item[q.name.size()] == ':'));
  };
  const auto found = std::find_if(quantities().begin(), quantities().end(), asked);
  return found == quantities().end() ? nullptr : &*found;
}

/// What can be asked for, arguments included.
std::vector<std::string> computed() {
  std::vector<std::string> out;
  for (const Quantity& quantity : quantities()) {
    out.push_back(fmt::format("{}{}", quantity.name, quantity.argument));
  }
  return out;
}

/// Whether an item asks for what `lambda_inverse` was called once.
bool is_osim(std::string_view item) {
  return item == "osim" || item.starts_with("osim:");
}

const Quantity& known_quantity(const std::string& item) {
  if (is_osim(item)) {
    const std::string nodes = item.size() > 5 ? item.substr(4) : ":NODE,NODE…";
    throw ArgumentError(
        fmt::format("--want: '{}' has two meanings in the literature: write lambda_inverse{} for J·inverse_mass·Jᵀ, "
                    "lambda{} for its "
                    "inverse",
                    item, nodes, nodes));
  }
  const Quantity* const found = quantity_of(item);
  if (found == nullptr) {
    std::vector<std::string> names;
    for (const Quantity& quantity : quantities()) {
      names.emplace_back(quantity.name);
    }
    throw ArgumentError(fmt::format("--want: '{}' is not a quantity; known are: {}{}", item,
                                    fmt::join(computed(), ", "), bunraku::detail::did_you_mean(item, names)));
  }
  return *found;
}

/// Takes `:NODE:FRAME` apart.
void read_jacobian(std::string_view argument, Request& request) {
  const std::size_t colon = argument.rfind(':');
  if (colon == std::string_view::npos || colon == 0) {
    throw ArgumentError(fmt::format("--want: '{}' names no frame: write jacobian:NODE:FRAME", request.key));
  }
  request.names = {name_of(argument.substr(1, colon - 1))};
  const std::string_view frame = argument.substr(colon + 1);
  if (frame == "aligned") {
    request.frame = Frame::aligned;
  } else if (frame == "world") {
    request.frame = Frame::world;
  } else if (frame != "node") {
    throw ArgumentError(fmt::format("--want: the frame of '{}' is none of node, aligned, world", request.key));
  }
}

void add_node(std::string_view node, Request& request) {
  if (node.empty()) {
    throw ArgumentError(fmt::format("--want: a node of '{}' has no name: write {}{}", request.key,
                                    request.quantity->name, request.quantity->argument));
  }
  request.names.push_back(name_of(node));
}

Request request_of(const std::string& item) {
  Request request{
      .key = item, .quantity = &known_quantity(item), .names = {}, .closed_list = {}, .nodes = {}, .shape = {}};
  const std::string_view name = request.quantity->name;
  const std::string_view argument = std::string_view(item).substr(name.size());
  if (name == "jacobian") {
    read_jacobian(argument, request);
  } else if (!request.quantity->argument.empty()) {
    add_node(argument.empty() ? argument : argument.substr(1), request);
  }
  return request;
}

std::vector<Request> requests_of(const std::string& list) {
  std::vector<Request> out;
  for (const std::string& item : items_of(list)) {
    const bool in_list = !out.empty() && takes_list(*out.back().quantity);
    if (in_list && quantity_of(item) == nullptr && !is_osim(item)) {
      out.back().key += "," + item;
      add_node(item, out.back());
      continue;
    }
    Request request = request_of(item);
    if (in_list) {
      request.closed_list = out.back().key;
    }
    out.push_back(std::move(request));
  }
  return out;
}

[[noreturn]] void throw_unknown(const std::string& name, const Request& request, const Model& model) {
  std::vector<std::string> known;
  for (const Body& body : model.bodies()) {
    known.push_back(body.name);
  }
  for (const Node& node : model.nodes()) {
    known.push_back(node.name);
  }
  for (const Quantity& quantity : quantities()) {
    known.emplace_back(quantity.name);
  }
  throw ArgumentError(fmt::format("--want: '{}' in '{}' is neither a node of the model nor a quantity{}", name,
                                  request.key, bunraku::detail::did_you_mean(name, known)));
}

}  // namespace

std::string want_help() {
  std::string help =
      "what to compute, separated by commas; repeatable. After lambda:NODE and lambda_inverse:NODE the names that "
      "follow "
      "are nodes of it, up to the name of a quantity or the end of the list; \\ before a name makes it a node, before "
      "a "
      "comma a part of a name";
  for (const Quantity& quantity : quantities()) {
    help += fmt::format("\n{}{}: {}", quantity.name, quantity.argument, quantity.help);
  }
  return help;
}

std::vector<Request> parse_want(const std::vector<std::string>& lists) {
  std::vector<Request> out;
  for (const std::string& list : lists) {
    for (Request& request : requests_of(list)) {
      if (std::none_of(out.begin(), out.end(), [&](const Request& r) { return r.key == request.key; })) {
        out.push_back(std::move(request));
      }
    }
  }
  return out;
}

void find_nodes(const Model& model, std::vector<Request>& requests) {
  for (Request& request : requests) {
    if (!request.closed_list.empty() && model.find_node(request.key)) {
      throw ArgumentError(
          fmt::format("--want: '{0}' after '{1}' is a quantity, and a node of this model: give the quantity a --want "
                      "of its own, or write {1},\\{0} for the node",
                      request.key, request.closed_list));
    }
    for (std::size_t i = 0; i < request.names.size(); ++i) {
      const std::string& name = request.names[i];
      if (i > 0 && quantity_of(name) == nullptr && !model.find_node(name)) {
        throw_unknown(name, request, model);  // a node or a quantity may be misspelt
      }
      request.nodes.push_back(model.node(name));
    }
  }
}

void find_shapes(const Model& model, std::vector<Request>& requests) {
  for (Request& request : requests) {
    request.shape = request.quantity->shape(model, request);
    if (const std::vector<std::int64_t>& axes = request.shape.axes; axes.size() >= 2) {
      check_matrix_size(fmt::format("--want: '{}'", request.key), axes[0],
                        Shape{{axes.begin() + 1, axes.end()}}.count(),
                        "id, fd and log_det need no matrix, and `bunraku op MODEL EXPR --apply` forms none");
    }
  }
}

Users users_of(const std::vector<Request>& requests) {
  Users users;
  for (const Request& request : requests) {
    const Needs& needs = request.quantity->needs;
    const auto add = [&](bool needed, std::vector<std::string>& to) {
      if (needed) {
        to.push_back(request.key);
      }
    };
    add(needs.q, users.q);
    add(needs.v, users.v);
    add(needs.a, users.a);
    add(needs.tau, users.tau);
  }
  return users;
}

}  // namespace bunraku::cli
