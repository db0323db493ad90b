#include "support/random.hpp"

namespace bunraku::test {

Random::Random(unsigned seed) : engine_(seed) {}

double Random::uniform(double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(engine_);
}

int Random::integer(int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(engine_);
}

Vec3<double> Random::vec3(double scale) {
  return {scale * uniform(), scale * uniform(), scale * uniform()};
}

Vec3<double> Random::unit() {
  for (;;) {
    const Vec3<double> v = vec3();
    const double n = norm(v);
    if (n > 0.1 && n <= 1) {
      return v / n;
    }
  }
}

Rotation<double> Random::rotation() {
  return Rotation<double>::about(unit(), uniform(-3, 3));
}

Transform<double> Random::transform() {
  return {rotation(), vec3()};
}

Motion<double> Random::motion() {
  return {vec3(), vec3()};
}

Force<double> Random::force() {
  return {vec3(), vec3()};
}

RigidInertia<double> Random::inertia(int points) {
  RigidInertia<double> sum = RigidInertia<double>::zero();
  for (int i = 0; i < points; ++i) {
    const double m = uniform(0.1, 1);
    const Vec3<double> p = vec3();
    sum += RigidInertia<double>{m, p * m, point_inertia(p) * m};
  }
  return sum;
}

Eigen::VectorXd Random::vector(Eigen::Index n, double scale) {
  Eigen::VectorXd v(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    v[i] = scale * uniform();
  }
  return v;
}

}  // namespace bunraku::test
