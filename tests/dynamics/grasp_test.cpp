/// Grasps against dense solutions of all equations together: mass matrices, Jacobians, and rows Q of the contacts.
#include "bunraku/dynamics/grasp.hpp"

#include <array>
#include <cmath>

#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/dynamics/closed_dynamics.hpp"
#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/model/configuration.hpp"
#include "bunraku/spatial/eigen.hpp"
#include "support/allocations.hpp"
#include "support/grasps.hpp"

namespace bunraku::test {

namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using testing::HasSubstr;

/// Arms where they happen to be, and an object with contacts at their tips.
struct Given {
  std::vector<GraspArm> arms;
  std::vector<VectorXd> q;
  std::vector<Contact> contacts;
  Model object;
  VectorXd object_q;

  Grasp grasp(Random& random) const {
    Grasp out(arms, object, contacts);
    VectorXd all(out.system().nq());
    Eigen::Index at = 0;
    for (std::size_t i = 0; i < arms.size(); ++i) {
      all.segment(at, q[i].size()) = q[i];
      at += q[i].size();
    }
    all.tail(object_q.size()) = object_q;
    out.system().set(all, random.vector(out.system().nv()));
    out.align();
    project_velocities(out.system());
    return out;
  }
};

Given given(const std::vector<int>& hinges, const std::vector<ContactType>& types, int more, Random& random) {
  std::vector<GraspArm> arms;
  std::vector<VectorXd> q;
  std::vector<Contact> contacts;
  const Model bare = random_object(more, random);
  const VectorXd object_q = random_configuration(bare, 5);
  State object(bare);
  object.set(object_q, VectorXd::Zero(bare.nv()));
  ModelBuilder builder = edit(bare);
  for (std::size_t i = 0; i < hinges.size(); ++i) {
    const std::string name = "arm" + std::to_string(i);
    arms.push_back({name, random_arm(hinges[i], random, name)});
    q.push_back(random.vector(hinges[i], 2));
    State arm(arms.back().model);
    arm.set(q.back(), VectorXd::Zero(hinges[i]));
    const int body = random.integer(0, more);
    Transform<double> X = pose(object, body).inverse() * pose(arm, "tip");
    X.rotation = random.rotation();
    const std::string node = "contact" + std::to_string(i);
    builder.add(NodeSpec{.name = node, .body = bare.body(body).name, .X_BN = X});
    Contact contact;
    contact.arm = name;
    contact.tip = "tip";
    contact.node = node;
    contact.type = types[i % types.size()];
    const double angle = random.uniform(-3, 3);
    contact.axis = {std::cos(angle), std::sin(angle), 0};
    contacts.push_back(contact);
  }
  return {arms, q, contacts, builder.build(), object_q};
}

MatrixXd both(const Eigen::Matrix3d& R) {
  MatrixXd out = MatrixXd::Zero(6, 6);
  out.topLeftCorner<3, 3>() = out.bottomRightCorner<3, 3>() = R;
  return out;
}

/// Rows of a contact in its axes.
MatrixXd rows_of(const Contact& contact) {
  MatrixXd all = MatrixXd::Identity(6, 6);
  switch (contact.type) {
    case ContactType::rigid:
      return all;
    case ContactType::revolute:
    case ContactType::line: {
      const Vector3d t = to_eigen(contact.axis);
      MatrixXd out = MatrixXd::Zero(5, 6);
      out.row(0).head<3>() = t.unitOrthogonal();
      out.row(1).head<3>() = t.cross(t.unitOrthogonal());
      out.bottomRightCorner<3, 3>().setIdentity();
      return out;
    }
    case ContactType::ball:
    case ContactType::point:
      return all.bottomRows(3);
    case ContactType::soft_finger:
      return all.bottomRows(4);
  }
  return all;
}

/// Everything dense, and its solution.
struct Reference {
  MatrixXd mass;
  VectorXd bias;
  MatrixXd J_arms;    // tips in the contacts' axes
  MatrixXd J_object;  // contact nodes in their axes
  VectorXd rate;      // what the difference of accelerations is at θ̈ = 0, in the contacts' axes
  MatrixXd Q;
  VectorXd thetadd;
  VectorXd f;
  VectorXd alpha;

  Reference(Grasp& grasp, const VectorXd& torque) {
    const int n = grasp.system().nv();
    const int l = grasp.contacts();
    mass = MatrixXd::Zero(n, n);
    bias = VectorXd::Zero(n);
    const int object = grasp.arms();
    for (int i = 0; i <= object; ++i) {
      State& state = grasp.system().state(i);
      const int first = grasp.system().first(i);
      const int size = state.model().nv();
      mass.block(first, first, size, size) = mass_matrix(state);
      bias.segment(first, size) = inverse_dynamics(state, VectorXd(VectorXd::Zero(size)));
    }
    J_arms = MatrixXd::Zero(6 * l, n);
    J_object = MatrixXd::Zero(6 * l, n);
    rate.resize(6 * l);
    VectorXd object_rate(6 * l);
    Q = MatrixXd::Zero(0, 6 * l);
    const VectorXd v = [&] {
      VectorXd out(n);
      for (int i = 0; i <= object; ++i) {
        out.segment(grasp.system().first(i), grasp.system().state(i).v().size()) = grasp.system().state(i).v();
      }
      return out;
    }();
    for (int i = 0; i < l; ++i) {
      const Contact& contact = grasp.contact(i);
      const int arm = grasp.arm_index(contact.arm);
      State& finger = grasp.arm(arm);
      State& held = grasp.object();
      const MatrixXd R = both(to_eigen(pose(held, contact.node).rotation).transpose());
      J_arms.block(6 * i, grasp.system().first(arm), 6, finger.model().nv()) =
          R * jacobian(finger, contact.tip, Frame::aligned);
      J_object.block(6 * i, grasp.system().first(object), 6, held.model().nv()) =
          R * jacobian(held, contact.node, Frame::aligned);
      const auto a_tip = to_eigen(jacobian_bias(finger, contact.tip, Frame::aligned));
      const auto a_node = to_eigen(jacobian_bias(held, contact.node, Frame::aligned));
      const auto V_tip = to_eigen(velocity(finger, contact.tip, Frame::aligned));
      const auto V_node = to_eigen(velocity(held, contact.node, Frame::aligned));
      const Vector3d w = V_node.head<3>();
      VectorXd turning(6);
      turning << w.cross(Vector3d(V_node.head<3>() - V_tip.head<3>())),
          w.cross(Vector3d(V_node.tail<3>() - V_tip.tail<3>()));
      rate.segment(6 * i, 6) = R * (a_node - a_tip - turning);
      object_rate.segment(6 * i, 6) = R * a_node;
      const MatrixXd own = rows_of(contact);
      Q.conservativeResize(Q.rows() + own.rows(), 6 * l);
      Q.bottomRows(own.rows()).setZero();
      Q.block(Q.rows() - own.rows(), 6 * i, own.rows(), 6) = own;
    }
    const MatrixXd Y = Q * (J_object - J_arms);
    EXPECT_LT((Y * v).norm(), 1e-9 * v.norm());
    const Eigen::Index m = Y.rows();
    MatrixXd all = MatrixXd::Zero(n + m, n + m);
    all.topLeftCorner(n, n) = mass;
    all.topRightCorner(n, m) = -Y.transpose();
    all.bottomLeftCorner(m, n) = Y;
    VectorXd right(n + m);
    right << torque - bias, -Q * rate;
    const VectorXd x = all.fullPivLu().solve(right);
    thetadd = x.head(n);
    f = Q.transpose() * x.tail(m);
    alpha = J_object * thetadd + object_rate;
  }
};

double apart(const VectorXd& a, const VectorXd& b) {
  return (a - b).norm() / b.norm();
}

/// Forward dynamics of a grasp against the reference.
void compare(const Given& given, Random& random) {
  Grasp grasp = given.grasp(random);
  const VectorXd torque = random.vector(grasp.system().nv(), 5);
  const VectorXd found = grasp_forward_dynamics(grasp, torque);
  const Reference right(grasp, torque);
  EXPECT_LT(apart(found, right.thetadd), 1e-10);
  EXPECT_LT(apart(contact_forces(grasp), right.f), 1e-10);
  VectorXd alpha(6 * grasp.contacts());
  for (int i = 0; i < grasp.contacts(); ++i) {
    alpha.segment(6 * i, 6) = to_eigen(contact_acceleration(grasp, i));
    EXPECT_LT(apart(to_eigen(contact_force(grasp, i)), right.f.segment(6 * i, 6)), 1e-8);
  }
  EXPECT_LT(apart(alpha, right.alpha), 1e-10);
}

using enum ContactType;

TEST(Grasp, MovesAsADenseSolutionDoes) {
  Random random(91);
  for (int arms = 2; arms <= 6; ++arms) {
    for (const ContactType type : {rigid, revolute, line, ball, point, soft_finger}) {
      SCOPED_TRACE(std::to_string(arms) + " " + std::string(to_string(type)));
      if (arms == 2 && (type == ball || type == point)) {
        continue;  // may turn about the line between them as it likes, which is as right as anything
      }
      compare(given(std::vector<int>(static_cast<std::size_t>(arms), 6 + arms % 2), {type}, 0, random), random);
    }
    SCOPED_TRACE("mixed");
    compare(given(std::vector<int>(static_cast<std::size_t>(arms), 7),
                  {soft_finger, rigid, point, line, revolute, ball}, 0, random),
            random);
  }
}

TEST(Grasp, HoldsArticulatedObjects) {
  Random random(92);
  for (int arms = 2; arms <= 6; ++arms) {
    compare(
        given(std::vector<int>(static_cast<std::size_t>(arms), 7), {rigid, soft_finger, revolute, point}, 3, random),
        random);
  }
}

TEST(Grasp, FingersOfThreeHingesHoldByPoints) {  // Ω is singular, rows are not
  Random random(93);
  for (int arms = 3; arms <= 6; ++arms) {
    compare(given(std::vector<int>(static_cast<std::size_t>(arms), 3), {point}, 0, random), random);
    compare(given(std::vector<int>(static_cast<std::size_t>(arms), 4), {soft_finger}, 0, random), random);
  }
}

TEST(Grasp, SoftFingersRollWithoutTwisting) {
  // the velocity equation of the normal, along a motion, against its rate by differences
  Random random(94);
  Grasp grasp = given({7, 7, 7}, {soft_finger}, 0, random).grasp(random);
  const VectorXd torque = random.vector(grasp.system().nv());
  const VectorXd a = grasp_forward_dynamics(grasp, torque);
  const auto after = [&](double t) {
    for (int i = 0; i <= grasp.arms(); ++i) {
      State& state = grasp.system().state(i);
      const VectorXd v = state.v();
      const VectorXd own = a.segment(grasp.system().first(i), v.size());
      const VectorXd q = integrate(state.model(), state.q(), VectorXd(v + 0.5 * t * own), t);
      state.set(q, VectorXd(v + t * own));
    }
    return closure_velocity(grasp.system());
  };
  const VectorXd one = after(1e-4);
  EXPECT_LT(one.norm(), 1e-6);  // of second order: with a wrong rate it would be 1e-4
}

TEST(Grasp, InternalForcesDoNotMoveTheObject) {
  Random random(95);
  for (const int more : {0, 2}) {
    for (const ContactType type : {rigid, point, soft_finger}) {
      Grasp grasp = given({7, 7, 7, 7}, {type}, more, random).grasp(random);
      const Reference right(grasp, VectorXd::Zero(grasp.system().nv()));
      const MatrixXd G = (right.Q * right.J_object).transpose();
      const MatrixXd basis = internal_forces(grasp);
      EXPECT_EQ(basis.cols(), right.Q.rows() - G.fullPivLu().rank());
      EXPECT_LT((right.J_object.transpose() * basis).norm(), 1e-12);
      EXPECT_LT((basis - right.Q.transpose() * right.Q * basis).norm(), 1e-12);  // what contacts transmit
      EXPECT_EQ(basis.fullPivLu().rank(), basis.cols());
    }
  }
}

TEST(Grasp, SharesLoads) {
  Random random(96);
  Grasp grasp = given({7, 7, 7}, {rigid}, 0, random).grasp(random);
  const int n = grasp.object().model().nv();
  const VectorXd wanted = random.vector(n);
  const VectorXd w = inverse_dynamics(grasp.object(), wanted);
  const Reference right(grasp, VectorXd::Zero(grasp.system().nv()));
  const MatrixXd A = right.J_object.rightCols(n);  // of a free body, in its own velocities
  MatrixXd weights(6, 18);
  MatrixXd W = MatrixXd::Zero(18, 18);
  MatrixXd own = MatrixXd::Zero(18, 18);
  for (int i = 0; i < 3; ++i) {
    const Eigen::Matrix<double, 6, 6> root = Eigen::Matrix<double, 6, 6>::NullaryExpr([&] { return random.uniform(); });
    W.block<6, 6>(6 * i, 6 * i) = root * root.transpose() + Eigen::Matrix<double, 6, 6>::Identity();
    weights.middleCols(6 * i, 6) = W.block<6, 6>(6 * i, 6 * i);
    const MatrixXd J = right.J_arms.block(6 * i, grasp.system().first(i), 6, 7);
    own.block<6, 6>(6 * i, 6 * i) = (J * mass_matrix(grasp.arm(i)).inverse() * J.transpose()).inverse();
  }
  const VectorXd chosen = W * A * (A.transpose() * W * A).ldlt().solve(w);
  VectorXd shared(18);
  load_sharing(grasp, wanted, weights, shared);
  EXPECT_LT(apart(shared, chosen), 1e-10);
  const VectorXd arms = own * A * (A.transpose() * own * A).fullPivLu().solve(w);
  EXPECT_LT(apart(load_sharing(grasp, wanted), arms), 1e-9);
  // with an internal force it moves as before
  const VectorXd squeezed = arms + internal_forces(grasp) * random.vector(12);
  EXPECT_LT(apart(A.transpose() * squeezed, w), 1e-9);
}

TEST(Grasp, SaysWhereContactsCannotCarry) {
  Random random(97);
  Grasp grasp = given({7, 7}, {point}, 0, random).grasp(random);
  try {
    load_sharing(grasp, random.vector(6));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the contacts cannot do it"));
  }
}

/// A slider along y with a tip at its origin.
Model slider(double x) {
  ModelBuilder builder("slider");
  BodySpec body{.name = "b0"};
  body.hinge.type = HingeType::prismatic;
  body.hinge.axis = Vec3<double>::unit_y();
  body.X_PF.translation = {x, 0, 0};
  body.inertia = RigidInertia<double>::about_center(1, {}, {1, 1, 1, 0, 0, 0});
  builder.add(std::move(body));
  builder.add(NodeSpec{.name = "tip", .body = "b0"});
  return builder.build();
}

/// A box between two sliders, one on each side.
Grasp squeezed(const Contact& like) {
  ModelBuilder builder("box");
  BodySpec body{.name = "box"};
  body.hinge.type = HingeType::free;
  body.inertia = RigidInertia<double>::about_center(1, {}, {1, 1, 1, 0, 0, 0});
  builder.add(std::move(body));
  // inward normals: from the left along x, from the right along −x
  builder.add(
      NodeSpec{.name = "left", .body = "box", .X_BN = {Rotation<double>::about_y(std::acos(-1.0) / 2), {-1, 0, 0}}});
  builder.add(
      NodeSpec{.name = "right", .body = "box", .X_BN = {Rotation<double>::about_y(-std::acos(-1.0) / 2), {1, 0, 0}}});
  Contact left = like;
  left.arm = "one";
  left.tip = "tip";
  left.node = "left";
  Contact right = left;
  right.arm = "two";
  right.node = "right";
  Grasp out({{"one", slider(-1)}, {"two", slider(1)}}, builder.build(), {left, right});
  out.align();
  return out;
}

TEST(Grasp, ChecksContacts) {
  Contact contact;
  contact.type = point;
  contact.friction = 0.5;
  VectorXd f = VectorXd::Zero(12);
  f.head(6) << 0, 0, 0, 3, 4, 20;
  f.tail(6) << 0, 0, 0, 0, 0, -2;
  Grasp points = squeezed(contact);
  const GraspCheck& found = check_contacts(points, f);
  ASSERT_EQ(found.margins.size(), 4U);
  EXPECT_EQ(found.verdict, GraspVerdict::violated);
  EXPECT_DOUBLE_EQ(found.margins[0].margin, 20);
  EXPECT_EQ(found.margins[1].limit, ContactLimit::friction);
  EXPECT_DOUBLE_EQ(found.margins[1].margin, 5);
  EXPECT_DOUBLE_EQ(found.margins[1].relative, 5 / std::sqrt(425));
  EXPECT_FALSE(found.margins[1].violated);
  EXPECT_EQ(found.margins[2].contact, 1);
  EXPECT_EQ(found.margins[2].limit, ContactLimit::push);
  EXPECT_DOUBLE_EQ(found.margins[2].margin, -2);
  EXPECT_TRUE(found.margins[2].violated);
  EXPECT_THAT(describe(points, found), HasSubstr("contact of arm 'two' with 'right': push is beyond its limit by 2"));
  f.tail(6) << 0, 0, 0, 1, 0, 2;  // on the very cone
  EXPECT_EQ(check_contacts(points, f).verdict, GraspVerdict::holds);
  EXPECT_EQ(describe(points, check_contacts(points, f)), "");

  contact.type = soft_finger;
  contact.torsion = 0.01;
  f.head(6) << 0, 0, 0.3, 3, 4, 20;
  f.tail(6) << 0, 0, 0, 0, 0, 1;
  Grasp separate = squeezed(contact);
  EXPECT_EQ(check_contacts(separate, f).margins[2].limit, ContactLimit::torsion);
  EXPECT_NEAR(check_contacts(separate, f).margins[2].margin, -0.1, 1e-15);
  EXPECT_EQ(check_contacts(separate, f).verdict, GraspVerdict::violated);
  contact.limit = TorsionLimit::ellipsoid;
  Grasp together = squeezed(contact);
  EXPECT_NEAR(check_contacts(together, f).margins[1].margin, 20 - std::sqrt(1000), 1e-13);

  contact.type = line;
  contact.torsion = 0.03;
  contact.half_length = 0.04;
  f.head(6) << 0, 0.5, 0.1, 1, 2, 10;
  Grasp lines = squeezed(contact);
  const GraspCheck& edges = check_contacts(lines, f);
  ASSERT_GE(edges.margins.size(), 4U);
  EXPECT_EQ(edges.margins[2].limit, ContactLimit::pressure);
  EXPECT_NEAR(edges.margins[2].margin, -0.1, 1e-15);
  EXPECT_TRUE(edges.margins[2].violated);
  EXPECT_EQ(edges.margins[3].limit, ContactLimit::torsion);
  EXPECT_NEAR(edges.margins[3].margin, 0.1, 1e-15);  // s = −0.05, (t×F)·n = 2

  contact.type = rigid;
  Grasp fixed = squeezed(contact);
  EXPECT_TRUE(check_contacts(fixed, f).margins.empty());
}

TEST(Grasp, LeavesForcesThatAreNotUniqueUndetermined) {
  Contact contact;
  contact.type = point;
  contact.friction = 0.5;
  Grasp grasp = squeezed(contact);
  const VectorXd torque = VectorXd::Zero(grasp.system().nv());
  grasp_forward_dynamics(grasp, torque);
  const GraspCheck& check = check_contacts(grasp);
  EXPECT_EQ(check.verdict, GraspVerdict::undetermined);
  EXPECT_EQ(check.undetermined, (std::vector<int>{0, 1}));
  EXPECT_THAT(describe(grasp, check), HasSubstr("choose an internal force"));
  // squeezed hard enough it holds
  const MatrixXd squeeze = internal_forces(grasp);
  ASSERT_EQ(squeeze.cols(), 1);
  const double sign = squeeze(5, 0) > 0 ? 1 : -1;
  EXPECT_EQ(check_contacts(grasp, VectorXd(contact_forces(grasp) + sign * 100 * squeeze.col(0))).verdict,
            GraspVerdict::holds);
  EXPECT_EQ(check_contacts(grasp, VectorXd(contact_forces(grasp) - sign * 100 * squeeze.col(0))).verdict,
            GraspVerdict::violated);
}

void expect_refused(const std::vector<GraspArm>& arms, const Model& object, const std::vector<Contact>& contacts,
                    const std::string& text) {
  try {
    const Grasp grasp(arms, object, contacts);
    FAIL() << text;
  } catch (const ArgumentError& error) {
    EXPECT_THAT(error.what(), HasSubstr(text));
  }
}

TEST(Grasp, NamesWhatIsWrong) {
  Random random(98);
  const Given all = given({7, 7}, {rigid}, 0, random);
  const auto with = [&](auto&& change) {
    std::vector<Contact> out = all.contacts;
    change(out[1]);
    return out;
  };
  expect_refused({all.arms[0], all.arms[0]}, all.object, all.contacts, "two arms of the name 'arm0'");
  expect_refused(all.arms, all.object, with([](Contact& c) { c.arm = "arm2"; }), "no arm 'arm2'");
  expect_refused(all.arms, all.object, with([](Contact& c) { c.tip = "tipp"; }), "the contact of arm 'arm1'");
  expect_refused(all.arms, all.object, with([](Contact& c) { c.node = "contact7"; }), "contact7");
  expect_refused(all.arms, all.object, with([](Contact& c) { c.arm = "arm0"; }), "tip 'tip' of arm 'arm0' holds twice");
  expect_refused(all.arms, all.object, with([](Contact& c) { c.friction = -1; }), "a friction of -1");
  expect_refused(all.arms, all.object, with([](Contact& c) {
                   c.type = line;
                   c.axis = {0, 0, 1};
                 }),
                 "right angles");
  expect_refused({}, all.object, {}, "needs an arm");
  Grasp grasp = all.grasp(random);
  EXPECT_THROW(grasp.arm(2), ArgumentError);
  EXPECT_THROW(grasp.contact(-1), ArgumentError);
  EXPECT_THROW(contact_force(grasp, 0), Error);
  grasp.arm(1).set(VectorXd(grasp.arm(1).q() + 0.1 * VectorXd::Ones(7)), grasp.arm(1).v());
  try {
    grasp_forward_dynamics(grasp, VectorXd(VectorXd::Zero(grasp.system().nv())));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("arm 'arm1' does not reach 'contact1'"));
    EXPECT_THAT(error.what(), testing::Not(HasSubstr("arm0")));
  }
}

TEST(Grasp, AllocatesNothing) {
  Random random(99);
  Grasp grasp = given({7, 7, 7, 7, 7, 7, 7, 7}, {soft_finger}, 0, random).grasp(random);
  const VectorXd torque = random.vector(grasp.system().nv());
  VectorXd out(grasp.system().nv());
  grasp_forward_dynamics(grasp, torque, out);
  check_contacts(grasp);
  const std::size_t before = allocations();
  grasp_forward_dynamics(grasp, VectorXd::Map(torque.data(), torque.size()), out);
  check_contacts(grasp);
  EXPECT_EQ(allocations(), before);
}

TEST(Grasp, WorksInFloat) {
  Random random(100);
  const Given all = given({7, 7, 7}, {soft_finger, rigid, line}, 0, random);
  Grasp grasp = all.grasp(random);
  BasicGrasp<float> single(all.arms, all.object, all.contacts);
  for (int i = 0; i <= grasp.arms(); ++i) {
    State& state = grasp.system().state(i);
    single.system().state(i).set(Eigen::VectorXf(state.q().cast<float>()), Eigen::VectorXf(state.v().cast<float>()));
  }
  single.align();
  const VectorXd torque = random.vector(grasp.system().nv());
  const VectorXd right = grasp_forward_dynamics(grasp, torque);
  const Eigen::VectorXf found = grasp_forward_dynamics(single, Eigen::VectorXf(torque.cast<float>()));
  EXPECT_LT(apart(found.cast<double>(), right), 1e-3);
  EXPECT_LT(apart(contact_forces(single).cast<double>(), contact_forces(grasp)), 1e-3);
}

}  // namespace

}  // namespace bunraku::test
