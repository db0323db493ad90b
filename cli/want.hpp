/// @file
/// What `--want` asks for.
#pragma once

#include <string>
#include <vector>

#include "quantities.hpp"

namespace bunraku::cli {

/// The help of `--want`: the rule for lists, and every quantity that there is.
std::string want_help();

/// What the lists ask for, in order, each once. Items are separated by commas. After `lambda:NODE` and
/// `lambda_inverse:NODE` each further item is a node of it, up to the end of the list or the name of a quantity; a
/// backslash before a character takes its special meaning away, so that a node may have a comma or the name of a
/// quantity. Throws ArgumentError for what is no quantity, or none that this version computes.
std::vector<Request> parse_want(const std::vector<std::string>& lists);

/// Fills in the nodes of all requests. Throws ArgumentError for an unknown node, and for a name after a list of nodes
/// that is a quantity and a node of this model, too: either may be meant.
void find_nodes(const Model& model, std::vector<Request>& requests);

/// Fills in the shapes of all requests, whose nodes must be there. Throws ArgumentError where a matrix would have too
/// many numbers: see limits.hpp.
void find_shapes(const Model& model, std::vector<Request>& requests);

/// What needs what, for the reader of states.
Users users_of(const std::vector<Request>& requests);

}  // namespace bunraku::cli
