// The Python side of the CRF.
#include "binding.hpp"

namespace nb = nanobind;

namespace cellwright {

namespace {

// Whether the targets of all sentences are numbers of tags; what lies behind their ends may not be.
bool are_tags(const Crf& c) {
  for (int64_t b = 0; c.targets && b < c.batch; ++b)
    for (int64_t t = 0; t < c.lengths[b]; ++t) {
      const int64_t tag = c.targets[b * c.steps + t];
      if (tag < 0 || tag >= c.tags) return false;
    }
  return true;
}

bool crf(int64_t batch, int64_t steps, int64_t tags, int64_t scores, int64_t targets,
         int64_t lengths, int64_t transitions, int64_t start, int64_t end, int64_t results,
         int64_t d_scores, int64_t d_transitions, int64_t d_start, int64_t d_end, int threads) {
  const Crf call{batch,
                 steps,
                 tags,
                 pointer<const float>(scores),
                 pointer<const int64_t>(targets),
                 pointer<const int64_t>(lengths),
                 pointer<const float>(transitions),
                 pointer<const float>(start),
                 pointer<const float>(end),
                 pointer<float>(results),
                 pointer<float>(d_scores),
                 pointer<float>(d_transitions),
                 pointer<float>(d_start),
                 pointer<float>(d_end),
                 nullptr,
                 checked_threads(threads)};
  const nb::gil_scoped_release unlocked;
  if (!are_tags(call)) return false;
  const Core& core = chosen_core();
  static thread_local Scratch scratch;
  run_on_threads(call, core.crf_floats, core.run_crf, scratch);
  return true;
}

void crf_decode(int64_t batch, int64_t steps, int64_t tags, int64_t count, int64_t scores,
                int64_t lengths, int64_t transitions, int64_t start, int64_t end, int64_t paths,
                int64_t path_scores, int threads) {
  const CrfDecode call{batch,
                       steps,
                       tags,
                       count,
                       pointer<const float>(scores),
                       pointer<const int64_t>(lengths),
                       pointer<const float>(transitions),
                       pointer<const float>(start),
                       pointer<const float>(end),
                       pointer<int64_t>(paths),
                       pointer<float>(path_scores),
                       nullptr,
                       checked_threads(threads)};
  const nb::gil_scoped_release unlocked;
  const Core& core = chosen_core();
  static thread_local Scratch scratch;
  run_on_threads(call, core.crf_decode_floats, core.run_crf_decode, scratch);
}

void add_weighted_rows(int64_t rows, int64_t columns, int64_t weights, int64_t table,
                       int64_t sums) {
  const nb::gil_scoped_release unlocked;
  chosen_core().add_weighted_rows(rows, columns, pointer<const float>(weights),
                                  pointer<const float>(table), pointer<float>(sums));
}

}  // namespace

void bind_crf(nb::module_& m) {
  m.def("crf", &crf, nb::kw_only(), nb::arg("batch"), nb::arg("steps"), nb::arg("tags"),
        nb::arg("scores"), nb::arg("targets"), nb::arg("lengths"), nb::arg("transitions"),
        nb::arg("start"), nb::arg("end"), nb::arg("results"), nb::arg("d_scores"),
        nb::arg("d_transitions"), nb::arg("d_start"), nb::arg("d_end"), nb::arg("threads"),
        "Partitions or losses of sentences, with gradients of each. Memory is given by address.\n\n"
        "False, and nothing is done, if a target is no number of a tag.");
  m.def("crf_decode", &crf_decode, nb::kw_only(), nb::arg("batch"), nb::arg("steps"),
        nb::arg("tags"), nb::arg("count"), nb::arg("scores"), nb::arg("lengths"),
        nb::arg("transitions"), nb::arg("start"), nb::arg("end"), nb::arg("paths"),
        nb::arg("path_scores"), nb::arg("threads"),
        "The best paths of sentences. Memory is given by address.");
  m.def("add_weighted_rows", &add_weighted_rows, nb::kw_only(), nb::arg("rows"),
        nb::arg("columns"), nb::arg("weights"), nb::arg("table"), nb::arg("sums"),
        "Rows times their weights, added up from the first to the last.");
}

}  // namespace cellwright
