/// @file
/// The model that the demonstration uses, compiled in.
#pragma once

namespace bunraku::cli {

/// The text of models/puppet.urdf.
extern const char* const demo_model_text;

}  // namespace bunraku::cli
