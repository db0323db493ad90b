/// @file
/// A model with something changed: inertias, hinges' properties, locked hinges, another model joined to it. A Model
/// is immutable; each of these returns a new one, checked as a whole like one that is built. For other changes see
/// edit().
#pragma once

#include <string_view>
#include <vector>

#include "bunraku/arguments.hpp"
#include "bunraku/model/builder.hpp"
#include "bunraku/model/hinge_set.hpp"

namespace bunraku {

/// The model with another inertia (about the body's origin, in its axes) of one body. O(N log N). Throws ArgumentError
/// for an unknown body, ModelError for an inertia that is not finite or has negative mass; one that no body can have is
/// a warning of the new model.
BUNRAKU_API Model with_inertia(const Model& model, std::string_view body, const RigidInertia<double>& inertia);
/// The model with other inertias of all bodies: ten numbers for each, as inertial_parameters gives and the regressor
/// takes them. O(N log N). Throws ArgumentError for a wrong size or a number that is not finite, ModelError as
/// with_inertia.
BUNRAKU_API Model with_parameters(const Model& model, In<double> pi);
/// The model with other limits, armature, friction or springs of one hinge: one HingeDof for each velocity coordinate
/// of its type. O(N log N). Throws ArgumentError for an unknown hinge, ModelError for a wrong number of them or what
/// building refuses.
BUNRAKU_API Model with_dofs(const Model& model, std::string_view hinge, std::vector<HingeDof> dofs);

/// The reduced model: each of the hinges is fixed where q, a configuration of the whole model, has it, and so is what
/// follows one of them. Bodies, names and order stay; nq and nv shrink. Reference configurations keep what is left of
/// them. A closure that ties a locked hinge to a free one holds that one still; a closure of two locked hinges is left
/// out, with a warning where they do not satisfy it. O(N log N). Throws ArgumentError for a wrong q, a set of another
/// model, a follower whose leader stays free, and a closure that a free hinge cannot hold alone (a polynomial of higher
/// order in it).
BUNRAKU_API Model lock(const Model& model, const HingeSet& hinges, In<double> q);

/// Both models in one: b's world is put at a node of a (or at a body's origin, or the world), by the given hinge; each
/// name of b gets the prefix. Where the hinge is not fixed, a massless body called prefix + "world" stands for b's
/// world, and the hinge is called prefix + "world_hinge" unless it has a name. A root of b that is free stays free
/// against a: lock it first to attach it. Gravity, name and format are a's. A reference configuration of either has
/// the other's of the same name beside it, or its initial one. O(N log N). Throws ArgumentError for an unknown node and
/// for names that both have, ModelError for what building refuses.
BUNRAKU_API Model join(const Model& a, std::string_view node, const Model& b, std::string_view prefix = "",
                       const Hinge& hinge = {});

}  // namespace bunraku
