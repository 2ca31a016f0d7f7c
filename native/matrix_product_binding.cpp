// The Python side of products of matrices.
#include "binding.hpp"

namespace nb = nanobind;

namespace cellwright {

namespace {

void matrix_product(int64_t batch, int64_t rows, int64_t columns, int64_t depth, int64_t a,
                    int64_t a_row, int64_t a_item, bool a_turned, int64_t b, int64_t b_row,
                    int64_t b_item, bool b_turned, int64_t bias, int64_t c, int64_t sums,
                    int threads) {
  if (batch < 1 || rows < 1 || columns < 1 || depth < 1 || (sums && (!a_turned || batch > 1)))
    throw std::invalid_argument("there is no such product");
  const MatrixProduct call{batch,
                           rows,
                           columns,
                           depth,
                           {pointer<const float>(a), a_row, a_item, a_turned},
                           {pointer<const float>(b), b_row, b_item, b_turned},
                           pointer<const float>(bias),
                           pointer<float>(c),
                           pointer<float>(sums),
                           nullptr,
                           checked_threads(threads)};
  const nb::gil_scoped_release unlocked;
  const Core& core = chosen_core();
  static thread_local Scratch scratch;
  run_on_threads(call, core.matrix_product_floats, core.run_matrix_product, scratch);
}

}  // namespace

void bind_matrix_product(nb::module_& m) {
  m.def("matrix_product", &matrix_product, nb::arg("batch"), nb::arg("rows"),
        nb::arg("columns"), nb::arg("depth"), nb::arg("a"), nb::arg("a_row"), nb::arg("a_item"),
        nb::arg("a_turned"), nb::arg("b"), nb::arg("b_row"), nb::arg("b_item"),
        nb::arg("b_turned"), nb::arg("bias"), nb::arg("c"), nb::arg("sums"), nb::arg("threads"),
        "A * B, or + bias, for each item of a batch. Memory is given by address.");
}

}  // namespace cellwright
