/// @file
/// Pinocchio behind a plain interface. Its headers take minutes and gigabytes to compile: they are included in sources
/// of their own alone, which depend on none of Bunraku's headers and so are compiled once, whatever changes in Bunraku.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace bench {

/// The hinges that the benchmarks' models have.
enum class PeerHinge { fixed, revolute, continuous, prismatic, spherical, free };

/// A pose: rotation row by row, and translation.
struct PeerPose {
  std::array<double, 9> rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  std::array<double, 3> translation = {};
};

/// A body and the hinge by which it hangs on its parent, as bunraku::Body.
struct PeerBody {
  std::string name;
  int parent = -1;  ///< Smaller than its own index; −1: the world.
  PeerHinge hinge = PeerHinge::fixed;
  std::array<double, 3> axis = {0, 0, 1};
  PeerPose X_PF;
  PeerPose X_MB;
  double mass = 0;
  std::array<double, 3> center = {};   ///< Of mass, in the body's axes.
  std::array<double, 6> central = {};  ///< Inertia about the centre of mass: xx, yy, zz, xy, xz, yz.
  std::array<double, 6> armature = {};
  std::size_t q_index = 0;  ///< Where its coordinates start in Bunraku's q.
  std::size_t v_index = 0;  ///< Where its coordinates start in Bunraku's v.
};

/// The two ways in which Pinocchio computes some quantities.
enum class PeerConvention { local, world };

/// What is computed.
enum class PeerResult { torque, acceleration, mass_matrix, inverse_mass_matrix, solution };

/// A model, its working memory and states to compute at. Vectors and matrices go in and out in Bunraku's order of
/// coordinates; they are turned into Pinocchio's once, so that nothing is copied in the functions that are timed.
class PinocchioPeer {
 public:
  PinocchioPeer() = default;
  virtual ~PinocchioPeer() = default;
  PinocchioPeer(const PinocchioPeer&) = delete;
  PinocchioPeer& operator=(const PinocchioPeer&) = delete;
  PinocchioPeer(PinocchioPeer&&) = delete;
  PinocchioPeer& operator=(PinocchioPeer&&) = delete;

  /// Such as "pinocchio 4.1.0".
  virtual std::string name() const = 0;

  /// Adds a state; they count from zero.
  virtual void add_state(std::span<const double> q, std::span<const double> v, std::span<const double> acceleration,
                         std::span<const double> torque) = 0;

  /// Inverse dynamics at state i.
  virtual void rnea(std::size_t i) = 0;
  /// Forward dynamics at state i.
  virtual void aba(std::size_t i, PeerConvention convention) = 0;
  /// The upper triangle of the mass matrix at state i.
  virtual void crba(std::size_t i, PeerConvention convention) = 0;
  /// The upper triangle of its inverse at state i.
  virtual void minverse(std::size_t i) = 0;
  /// 𝓜⁻¹τ at state i, by crba and Pinocchio's sparse Cholesky factors.
  virtual void solve(std::size_t i, PeerConvention convention) = 0;

  /// What rnea computed last.
  virtual void get_torque(std::span<double> out) const = 0;
  /// What aba computed last.
  virtual void get_acceleration(std::span<double> out) const = 0;
  /// What crba computed last, both triangles.
  virtual void get_mass_matrix(std::span<double> out) const = 0;
  /// What minverse computed last, both triangles.
  virtual void get_inverse_mass_matrix(std::span<double> out) const = 0;
  /// What solve computed last.
  virtual void get_solution(std::span<double> out) const = 0;

  /// What was computed last, where Pinocchio has it and as it has it: a user who wants to keep it copies that.
  virtual std::span<const double> where(PeerResult result) const = 0;
};

/// The model that Pinocchio's URDF reader would make of these bodies, by a Pinocchio compiled with the flags of this
/// project. Each of these is in a shared library of its own, which shows nothing else: no code of the two is merged.
std::unique_ptr<PinocchioPeer> make_peer_plain(std::span<const PeerBody> bodies, const std::array<double, 3>& gravity);
/// The same with -fno-tree-slp-vectorize besides, as Bunraku's tuned sweeps have it.
std::unique_ptr<PinocchioPeer> make_peer_without_slp(std::span<const PeerBody> bodies,
                                                     const std::array<double, 3>& gravity);

}  // namespace bench
