/// @file
/// What the steps on vectors do at each link.
#pragma once

#include "bunraku/operators/program/detail/evaluator.hpp"

namespace bunraku::operators {

/// a(k): α(k) = φ*(p,k)α(p) + H*θ̈ + a(k) for the inertial derivative α of V, with the base's pseudo-acceleration for
/// gravity where a link hangs on the world (RK88 2.19, 2.31–2.32, 3.21). Of links in the user's frames.
template <class S>
void Evaluator<S>::bias(int i, Range range) {
  const Value& value_i = value(i);
  const S* V = in(value_i, 0);
  const S* rates = in(value_i, 1);
  S* a = out(i);
  const Vec3<S> upward = kernels::cast<S>(-folded_->gravity);
  for (int k = range.begin; k < range.end; ++k) {
    const kernels::Link<S>& l = links_[k];
    const LinkPlace& place = folded_->places[at(k)];
    const Body& body = folded_->model.bodies()[at(l.body)];
    const Transform<S>& X = joints_.pose[at(k)];
    Motion<S> r = Motion<S>::zero();
    for (int j = 0; j < l.nv; ++j) {
      r += joints_.columns[at(l.v + j)] * rates[place.own + j];
    }
    Motion<S> out = Motion<S>::zero();
    if (kernels::has_changing_map(body.hinge)) {
      std::array<S, max_hinge_velocities> v{};
      const bool follows = body.hinge.type != HingeType::modal;  // all modes are followed as they are
      for (int j = 0; follows && j < l.nv; ++j) {
        v[at(j)] = rates[place.own + j] * constant<S>(place.ratio);
      }
      out = inverse_times(
          kernels::cast<S>(body.X_MB),
          rate_by_law(body.hinge, q_ + l.q, body.hinge.configuration_size(), follows ? v.data() : rates + place.own));
    }
    out.linear += cross(r.angular, r.linear);
    if (l.parent >= 0) {  // the parent's ω and the arm from its origin, in this link's axes
      const Vec3<S> w = X.rotation.inverse_times(motion_at(V + rigid * l.parent).angular);
      const Vec3<S> arm = X.rotation.inverse_times(X.translation);
      out.angular += cross(w, r.angular);
      out.linear += cross(w, cross(w, arm) + r.linear * S(2));
    } else {
      out.linear += X.rotation.inverse_times(upward);
    }
    put(a + rigid * k, out);
  }
}

/// b(k): f = Mα + b (RK88 2.23).
template <class S>
void Evaluator<S>::gyroscopic(int i, Range range) {
  const S* V = in(value(i), 0);
  for (int k = range.begin; k < range.end; ++k) {
    const Vec3<S> w = motion_at(V + rigid * k).angular;
    const RigidInertia<S>& M = links_[k].inertia;
    put(out(i) + rigid * k, Force<S>{cross(w, M.inertia * w), cross(w, cross(w, M.first_moment))});
  }
}

template <class S>
void Evaluator<S>::apply_part(int i, Range range) {
  const Value& v = value(i);
  const S* x = in(v, 0);
  S* y = out(i);
  const auto by_coordinates = [&](const std::vector<S>& blocks, const Unit& unit) {  // an n × n block, row by row
    const auto n = unit.coordinates.size();
    const S* block = blocks.data() + unit.block;
    for (std::size_t r = 0; r < n; ++r) {
      S sum(0);
      for (std::size_t c = 0; c < n; ++c) {
        sum += block[r * n + c] * x[unit.coordinates[c]];
      }
      y[unit.coordinates[r]] = sum;
    }
  };
  switch (v.part) {
    case Part::M:
      for (int k = range.begin; k < range.end; ++k) {
        put(y + rigid * k, links_[k].inertia * motion_at(x + rigid * k));
      }
      break;
    case Part::P: {
      const RiccatiBlocks<S>& r = used(v);
      for (int k = range.begin; k < range.end; ++k) {
        put(y + rigid * k, r.P[at(k)] * motion_at(x + rigid * k));
      }
      break;
    }
    case Part::H:
      if (v.adjoint) {
        for_links(range, outward, [&](const auto& a, int k) BUNRAKU_INLINE_LAMBDA {
          const S* u = hinge(x, k);
          Motion<S> m = Motion<S>::zero();
          for (int j = 0; j < a.nv; ++j) {
            a.push(j, u[j], m);
          }
          put(y + rigid * k, m);
        });
      } else if (!folded_->coupled) {
        for_links(range, outward, [&](const auto& a, int k) BUNRAKU_INLINE_LAMBDA {
          const Force<S> f = force_at(x + rigid * k);
          for (int j = 0; j < a.nv; ++j) {
            hinge(y, k)[j] = a.along(j, f);
          }
        });
      } else {
        for_links(range, outward, [&](const auto& a, int k) BUNRAKU_INLINE_LAMBDA {
          const Force<S> f = force_at(x + rigid * k);
          for (int j = 0; j < a.nv; ++j) {
            hinge(y, k)[j] += a.along(j, f);
          }
        });
      }
      break;
    case Part::armature:
    case Part::stiffness: {
      const std::vector<S>& numbers = v.part == Part::armature ? armature_ : stiffness_;
      for (int k = range.begin; k < range.end; ++k) {
        const int own = folded_->places[at(k)].own;
        for (int j = own; j < own + links_[k].nv; ++j) {
          y[j] = numbers[at(j)] * x[j];
        }
      }
      break;
    }
    case Part::Delta_phi:
      for_links(range, outward, [&](const auto& a, int k) BUNRAKU_INLINE_LAMBDA {
        if (v.adjoint) {
          put(y + rigid * k, a.down(motion_at(x + rigid * k)));
        } else {
          put(y + rigid * k, a.up(force_at(x + rigid * k)));
        }
      });
      break;
    case Part::D: {
      const RiccatiBlocks<S>& r = used(v);
      for_units(
          range, outward,
          [&](const auto&, int k) { by_coordinates(r.D, folded_->units[at(folded_->places[at(k)].unit)]); },
          [&](const Unit& unit) { by_coordinates(r.D, unit); });
      break;
    }
    case Part::inverse_D: {
      const RiccatiBlocks<S>& r = used(v);
      for_units(
          range, outward,
          [&](const auto& a, int k) BUNRAKU_INLINE_LAMBDA {
            const S* u = hinge(x, k);
            if (a.nv == 1) {
              hinge(y, k)[0] = u[0] * r.L[at(folded_->places[at(k)].block)];
              return;
            }
            kernels::HingeVector<S> e{};
            std::copy_n(u, a.nv, e.x.begin());
            e = factors(r, k).d_inverse_times(e);
            std::copy_n(e.x.begin(), a.nv, hinge(y, k));
          },
          [&](const Unit& unit) { by_coordinates(r.L, unit); });
      break;
    }
    case Part::G: {
      const RiccatiBlocks<S>& r = used(v);
      for_units(
          range, outward,
          [&](const auto& a, int k) BUNRAKU_INLINE_LAMBDA {
            if (v.adjoint) {
              const kernels::HingeVector<S> e = factors(r, k).gain_adjoint_times(motion_at(x + rigid * k));
              std::copy_n(e.x.begin(), a.nv, hinge(y, k));
            } else {
              kernels::HingeVector<S> e{};
              std::copy_n(hinge(x, k), a.nv, e.x.begin());
              put(y + rigid * k, factors(r, k).gain_times(e));
            }
          },
          [&](const Unit& unit) {  // P H̄* D⁻¹
            const std::size_t n = unit.coordinates.size();
            const Force<S>* U = r.bar_U.data() + layout_->bar[at(folded_->places[at(unit.members[0])].unit)];
            const S* inverse = r.L.data() + unit.block;
            for (std::size_t m = 0; m < unit.members.size(); ++m) {
              const int k = unit.members[m];
              Force<S> sum = Force<S>::zero();
              for (std::size_t c = 0; c < n; ++c) {
                for (std::size_t d = 0; d < n; ++d) {
                  if (v.adjoint) {
                    y[unit.coordinates[c]] += inverse[c * n + d] * dot(U[m * n + d], motion_at(x + rigid * k));
                  } else {
                    sum += U[m * n + c] * (inverse[c * n + d] * x[unit.coordinates[d]]);
                  }
                }
              }
              if (!v.adjoint) {
                put(y + rigid * k, sum);
              }
            }
          });
      break;
    }
    case Part::ang:
      for (int k = range.begin; k < range.end; ++k) {
        put(y + rigid * k, Motion<S>{motion_at(x + rigid * k).angular, Vec3<S>::zero()});
      }
      break;
    case Part::B:
      apply_nodes(i, range);
      break;
    case Part::A:
    case Part::A_h:
      apply_closures(i);
      break;
    case Part::blocks:
      apply_blocks(i, range);
      break;
    case Part::variable:
      apply_variable(i, range);
      break;
    case Part::none:
    case Part::E_phi:
    case Part::E_psi:
    case Part::S:
    case Part::K:
      break;  // these shift
  }
}

template <class S>
void Evaluator<S>::apply_nodes(int i, Range range) {
  const Value& v = value(i);
  const S* x = in(v, 0);
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const int k = nodes_[n].link;
    if (k < range.begin || k >= range.end) {
      continue;
    }
    const auto node = static_cast<std::ptrdiff_t>(rigid * n);
    if (v.adjoint) {
      put(out(i) + node, inverse_times(nodes_[n].X_LN, motion_at(x + rigid * k)));
    } else {
      add(out(i) + rigid * k, nodes_[n].X_LN * force_at(x + node));
    }
  }
}

template <class S>
void Evaluator<S>::apply_blocks(int i, Range range) {
  const Value& v = value(i);
  const Value& of = value(v.uses[0]);
  const Slot& slot = slots_[at(v.uses[0])];
  const S* x = in(v, 0);
  const int begin = folded_->coupled ? 0 : range.begin;  // then the range is all
  const int end = folded_->coupled ? static_cast<int>(folded_->units.size()) : range.end;
  for (int u = begin; u < end; ++u) {
    const std::vector<int>& rows = places(of.space.kind).numbers[at(u)];
    const std::vector<int>& cols = places(of.domain.kind).numbers[at(u)];
    const S* block = slot.out + slot.begins[at(u)];
    const std::size_t m = cols.size();
    if (v.adjoint) {
      for (std::size_t c = 0; c < m; ++c) {
        S sum(0);
        for (std::size_t r = 0; r < rows.size(); ++r) {
          sum += block[r * m + c] * x[rows[r]];
        }
        out(i)[cols[c]] = sum;
      }
    } else {
      for (std::size_t r = 0; r < rows.size(); ++r) {
        S sum(0);
        for (std::size_t c = 0; c < m; ++c) {
          sum += block[r * m + c] * x[cols[c]];
        }
        out(i)[rows[r]] = sum;
      }
    }
  }
}

template <class S>
void Evaluator<S>::apply_variable(int i, Range range) {
  const Value& v = value(i);
  const S* x = in(v, 0);
  const std::vector<VariableBlock>& blocks = attached_->variables[at(slots_[at(i)].extra)].blocks;
  const bool by_node = v.what.range().kind == SpaceKind::node || v.what.domain().kind == SpaceKind::node;
  const bool by_closure = v.what.range().kind == SpaceKind::closure;
  const bool by_body =
      !by_node && !by_closure && !folded_->coupled;  // then block k is that of link k: users' variables do not merge
  const std::size_t begin = by_body ? at(range.begin) : 0;
  const std::size_t end = by_body ? at(range.end) : blocks.size();
  for (std::size_t n = begin; n < end; ++n) {
    const VariableBlock& block = blocks[n];
    const int k = folded_->units[at(block.unit)].members[0];
    if (k < range.begin || k >= range.end) {
      continue;
    }
    for (std::size_t r = 0; r < block.rows.size(); ++r) {
      for (std::size_t c = 0; c < block.cols.size(); ++c) {
        const S number = constant<S>(block.values[r * block.cols.size() + c]);
        if (v.adjoint) {
          out(i)[block.cols[c]] += number * x[block.rows[r]];
        } else {
          out(i)[block.rows[r]] += number * x[block.cols[c]];
        }
      }
    }
  }
}

/// One step from body to body: E_φ, 𝕊 or K inward, their adjoints outward.
template <class S>
void Evaluator<S>::shift(int i, Range range) {
  const Value& v = value(i);
  const S* x = in(v, 0);
  S* y = out(i);
  if (v.part == Part::S) {
    for (int k = range.begin; k < range.end; ++k) {
      const int p = links_[k].parent;
      if (v.adjoint) {
        put(y + rigid * k, p < 0 ? Motion<S>::zero() : motion_at(x + rigid * p));
      } else if (p >= 0) {
        add(y + rigid * p, force_at(x + rigid * k));
      }
    }
    return;
  }
  if (v.part == Part::E_phi && v.adjoint) {
    for_links(range, outward, [&](const auto& a, int k) BUNRAKU_INLINE_LAMBDA {
      const int p = links_[k].parent;
      put(y + rigid * k, p < 0 ? Motion<S>::zero() : a.down(motion_at(x + rigid * p)));
    });
    return;
  }
  if (v.part == Part::E_phi) {
    for_links(range, inward, [&](const auto& a, int k) BUNRAKU_INLINE_LAMBDA {
      if (const int p = links_[k].parent; p >= 0) {
        add(y + rigid * p, a.up(force_at(x + rigid * k)));
      }
    });
    return;
  }
  const RiccatiBlocks<S>& r = used(v);
  if (v.adjoint) {
    for_units(
        range, outward,
        [&](const auto& a, int k) {
          kernels::HingeVector<S> e{};
          if (const int p = links_[k].parent; p >= 0) {
            e = factors(r, k).gain_adjoint_times(a.down(motion_at(x + rigid * p)));
          }
          std::copy_n(e.x.begin(), a.nv, hinge(y, k));
        },
        [&](const Unit& unit) {
          for (const int c : unit.coordinates) {
            y[c] = unit.parent < 0 ? S(0) : dot(r.K[at(c)], motion_at(x + rigid * unit.parent));
          }
        });
    return;
  }
  for_units(
      range, inward,
      [&](const auto& a, int k) {
        if (const int p = links_[k].parent; p >= 0) {
          kernels::HingeVector<S> e{};
          std::copy_n(hinge(x, k), a.nv, e.x.begin());
          add(y + rigid * p, a.up(factors(r, k).gain_times(e)));
        }
      },
      [&](const Unit& unit) {
        for (const int c : unit.coordinates) {
          if (unit.parent >= 0) {
            add(y + rigid * unit.parent, r.K[at(c)] * x[c]);
          }
        }
      });
}

/// φ inward: x(k) = in(k) + Σ φ(k,c) x(c); φ* outward: x(k) = in(k) + φ*(p,k) x(p).
template <class S>
void Evaluator<S>::propagate(int i, Range range) {
  const Value& v = value(i);
  const S* x = in(v, 0);
  S* y = out(i);
  if (v.adjoint) {
    for_links(range, outward, [&](const auto& a, int k) BUNRAKU_INLINE_LAMBDA {
      const int p = links_[k].parent;
      Motion<S> m = motion_at(x + rigid * k);
      if (p >= 0) {
        m += a.down(motion_at(y + rigid * p));
      }
      put(y + rigid * k, m);
    });
    return;
  }
  for_links(range, inward, [&](const auto& a, int k) BUNRAKU_INLINE_LAMBDA {
    const Force<S> f = arrived(k, y) + force_at(x + rigid * k);
    put(y + rigid * k, f);
    if (links_[k].parent >= 0) {
      hand_over(k, a.up(f), y);
    }
  });
}

/// z(k) = w(k) + Σ φ(k,c) z⁺(c), ε(k) = x(k) − H(k) z(k), z⁺(k) = z(k) + G(k) ε(k) (RK92 43–46). A cluster's gain acts
/// once, on what arrives at its parent.
template <class S>
void Evaluator<S>::filter(int i, Range range) {
  const Value& v = value(i);
  const RiccatiBlocks<S>& r = used(v);
  const S* x = in(v, 0);
  const S* w = in(v, 1);
  S* z = out(i);
  S* epsilon = slots_[at(i)].rest;
  for_units(
      range, inward,
      [&](const auto& a, int k) BUNRAKU_INLINE_LAMBDA {
        const int p = links_[k].parent;
        const int own = folded_->places[at(k)].own;
        Force<S> z_k = arrived(k, z);
        if (w != nullptr) {
          z_k += force_at(w + rigid * k);
        }
        if (w != nullptr || links_[k].leaf) {
          put(z + rigid * k, z_k);
        }
        if (a.nv == 1) {
          const S e = (x != nullptr ? x[own] : S(0)) - a.along(0, z_k);
          epsilon[own] = e;
          if (p >= 0) {
            hand_over(k, a.up(z_k + r.U[at(links_[k].v)] * (r.L[at(folded_->places[at(k)].block)] * e)), z);
          }
          return;
        }
        kernels::HingeVector<S> e{};
        for (int j = 0; j < a.nv; ++j) {
          e[j] = (x != nullptr ? x[own + j] : S(0)) - a.along(j, z_k);
          epsilon[own + j] = e[j];
        }
        if (p >= 0) {
          hand_over(k, a.up(a.nv == 0 ? z_k : z_k + factors(r, k).gain_times(e)), z);
        }
      },
      [&](const Unit& unit) {
        for (const int c : unit.coordinates) {
          epsilon[c] = x != nullptr ? x[c] : S(0);
        }
        for (std::size_t m = unit.members.size(); m-- > 0;) {
          const int k = unit.members[m];
          const Posed<S, 0> a(links_, joints_, k);
          if (w != nullptr) {
            add(z + rigid * k, force_at(w + rigid * k));
          }
          const Force<S> f = force_at(z + rigid * k);
          for (int j = 0; j < a.nv; ++j) {
            hinge(epsilon, k)[j] -= a.along(j, f);
          }
          if (links_[k].parent >= 0) {
            add(z + rigid * links_[k].parent, a.up(f));
          }
        }
        if (unit.parent >= 0) {
          for (const int c : unit.coordinates) {
            add(z + rigid * unit.parent, r.K[at(c)] * epsilon[c]);
          }
        }
      });
}

/// λ(k) = φ*(p,k) s(p), r(k) = d(k) − G*(k) λ(k), s(k) = λ(k) + H*(k) r(k) + w(k); or with D⁻¹ d in place of d.
template <class S>
void Evaluator<S>::smoother(int i, Range range) {
  const Value& v = value(i);
  const RiccatiBlocks<S>& r = used(v);
  const S* d = in(v, 0);
  const S* w = in(v, 1);
  S* s = out(i);
  S* rest = slots_[at(i)].rest;
  const bool solved = v.part == Part::inverse_D;  // d = D⁻¹ in(0)
  for_units(
      range, outward,
      [&](const auto& a, int k) BUNRAKU_INLINE_LAMBDA {
        const int p = links_[k].parent;
        const int own = folded_->places[at(k)].own;
        Motion<S> m = p < 0 ? Motion<S>::zero() : a.down(motion_at(s + rigid * p));
        if (a.nv == 1) {
          const S& inverse = r.L[at(folded_->places[at(k)].block)];
          const S seen = dot(r.U[at(links_[k].v)], m);
          const S u = solved ? inverse * (d[own] - seen) : d != nullptr ? d[own] - seen * inverse : -(seen * inverse);
          rest[own] = u;
          a.push(0, u, m);
        } else if (a.nv > 1) {
          kernels::HingeVector<S> seen{};
          if (p >= 0) {
            seen = factors(r, k).gain_adjoint_times(m);
          }
          kernels::HingeVector<S> e{};
          if (d != nullptr) {
            std::copy_n(d + own, a.nv, e.x.begin());
          }
          if (solved) {
            e = factors(r, k).d_inverse_times(e);
          }
          for (int j = 0; j < a.nv; ++j) {
            const S u = e[j] - seen[j];
            rest[own + j] = u;
            a.push(j, u, m);
          }
        }
        if (w != nullptr) {
          m += motion_at(w + rigid * k);
        }
        put(s + rigid * k, m);
      },
      [&](const Unit& unit) {
        for (const int c : unit.coordinates) {
          rest[c] = d != nullptr ? d[c] : S(0);
        }
        if (solved) {
          const std::size_t n = unit.coordinates.size();
          const S* inverse = r.L.data() + unit.block;
          for (std::size_t j = 0; j < n; ++j) {
            rest[unit.coordinates[j]] = S(0);
            for (std::size_t c = 0; c < n; ++c) {
              rest[unit.coordinates[j]] += inverse[j * n + c] * d[unit.coordinates[c]];
            }
          }
        }
        for (const int c : unit.coordinates) {
          if (unit.parent >= 0) {
            rest[c] -= dot(r.K[at(c)], motion_at(s + rigid * unit.parent));
          }
        }
        for (const int k : unit.members) {
          const Posed<S, 0> a(links_, joints_, k);
          const int p = links_[k].parent;
          Motion<S> m = p < 0 ? Motion<S>::zero() : a.down(motion_at(s + rigid * p));
          for (int j = 0; j < a.nv; ++j) {
            a.push(j, hinge(rest, k)[j], m);
          }
          if (w != nullptr) {
            m += motion_at(w + rigid * k);
          }
          put(s + rigid * k, m);
        }
      });
}

}  // namespace bunraku::operators
