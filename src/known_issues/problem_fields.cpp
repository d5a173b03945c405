#include "known_issues/problem_fields.h"

#include <algorithm>
#include <array>

namespace lt_audit {
namespace {

using P = MatmulProblem;

template <class T>
double number(T value) {
  return static_cast<double>(value);
}

constexpr std::array kFields{
    ProblemField{"m", [](const P& p) { return number(p.m); }},
    ProblemField{"n", [](const P& p) { return number(p.n); }},
    ProblemField{"k", [](const P& p) { return number(p.k); }},
    ProblemField{"ta", [](const P& p) { return number(p.transa); }, true},
    ProblemField{"tb", [](const P& p) { return number(p.transb); }, true},
    ProblemField{"a", [](const P& p) { return number(p.type_a); }, true},
    ProblemField{"b", [](const P& p) { return number(p.type_b); }, true},
    ProblemField{"c", [](const P& p) { return number(p.type_c); }, true},
    ProblemField{"d", [](const P& p) { return number(p.type_d); }, true},
    ProblemField{"compute", [](const P& p) { return number(p.compute_type); }, true},
    ProblemField{"scale", [](const P& p) { return number(p.scale_type); }, true},
    ProblemField{"lda", [](const P& p) { return number(shape_a(p).ld); }},
    ProblemField{"ldb", [](const P& p) { return number(shape_b(p).ld); }},
    ProblemField{"ldc", [](const P& p) { return number(shape_c(p).ld); }},
    ProblemField{"ldd", [](const P& p) { return number(shape_d(p).ld); }},
    ProblemField{"order_a", [](const P& p) { return number(p.order_a); }, true},
    ProblemField{"order_b", [](const P& p) { return number(p.order_b); }, true},
    ProblemField{"order_c", [](const P& p) { return number(p.order_c); }, true},
    ProblemField{"order_d", [](const P& p) { return number(p.order_d); }, true},
    ProblemField{"batch", [](const P& p) { return number(p.batch_count); }},
    ProblemField{"stride_a", [](const P& p) { return number(shape_a(p).batch_stride); }},
    ProblemField{"stride_b", [](const P& p) { return number(shape_b(p).batch_stride); }},
    ProblemField{"stride_c", [](const P& p) { return number(shape_c(p).batch_stride); }},
    ProblemField{"stride_d", [](const P& p) { return number(shape_d(p).batch_stride); }},
    ProblemField{"epilogue", [](const P& p) { return number(p.epilogue); }, true},
    ProblemField{"alpha", [](const P& p) { return p.alpha; }},
    ProblemField{"beta", [](const P& p) { return p.beta; }},
    ProblemField{"pointer_mode", [](const P& p) { return number(p.pointer_mode); }, true},
    ProblemField{"in_place", [](const P& p) { return p.in_place ? 1.0 : 0.0; }},
    ProblemField{"a_offset", [](const P& p) { return number(p.a_offset); }},
    ProblemField{"b_offset", [](const P& p) { return number(p.b_offset); }},
    ProblemField{"c_offset", [](const P& p) { return number(p.c_offset); }},
    ProblemField{"d_offset", [](const P& p) { return number(p.d_offset); }},
    ProblemField{"bias_offset", [](const P& p) { return number(p.bias_offset); }},
    ProblemField{"workspace_offset", [](const P& p) { return number(p.workspace_offset); }},
    ProblemField{"a_alignment", [](const P& p) { return number(p.a_alignment); }},
    ProblemField{"b_alignment", [](const P& p) { return number(p.b_alignment); }},
    ProblemField{"c_alignment", [](const P& p) { return number(p.c_alignment); }},
    ProblemField{"d_alignment", [](const P& p) { return number(p.d_alignment); }},
    ProblemField{"workspace", [](const P& p) { return number(p.workspace_bytes); }},
};

}  // namespace

std::span<const ProblemField> problem_fields() { return kFields; }

const ProblemField* find_problem_field(std::string_view key) {
  const auto* const found =
      std::find_if(kFields.begin(), kFields.end(), [key](const ProblemField& field) { return field.key == key; });
  return found == kFields.end() ? nullptr : found;
}

}  // namespace lt_audit
