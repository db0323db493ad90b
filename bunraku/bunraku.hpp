/// @file
/// All of Bunraku.
#pragma once

#include "bunraku/arguments.hpp"
#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/io/load.hpp"
#include "bunraku/io/urdf_writer.hpp"
#include "bunraku/model/builder.hpp"
#include "bunraku/model/configuration.hpp"
#include "bunraku/model/hinge_laws.hpp"
#include "bunraku/model/hinge_set.hpp"
#include "bunraku/operators/identities.hpp"
#include "bunraku/operators/levels.hpp"
#include "bunraku/operators/simplify.hpp"
#include "bunraku/operators/soa.hpp"
#include "bunraku/operators/system.hpp"
#include "bunraku/operators/text.hpp"
#include "bunraku/operators/verify.hpp"
#include "bunraku/spatial/articulated_inertia.hpp"
#include "bunraku/spatial/cross.hpp"
#include "bunraku/spatial/eigen.hpp"
#include "bunraku/version.hpp"
