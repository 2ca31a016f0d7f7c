// The linear-chain CRF: partition, losses and all gradients of a batch of sentences.
//
// Messages are kept as logarithms relative to their largest, and what was taken off is added up
// in double precision. A step multiplies their exponentials with those of the transitions, which
// costs a handful of vector exponentials. Where so much is lost in that product that it could
// matter (a far better tag that may not go where the path has to go), the sum is taken again in
// logarithms, so that nothing is lost that floats can hold.
//
// A sentence is one thread's work, and writes numbers of its own alone: the result does not
// depend on who computed it. What is forbidden is -infinity, and comes out as exactly 0.
#pragma once

#include <cmath>
#include <cstring>

#include "gemm.hpp"
#include "pieces.hpp"

namespace {

using namespace cellwright;

// Sums of exponentials that were at most 1 and at least e^-87 (or nothing): from here on what was
// left out is below a millionth of the last place.
constexpr float kEnough = 1e-20f;

// A call with its share of the scratch memory. Rows are as wide as `ld`.
struct Chain {
  const Crf& c;
  Pieces pieces;
  int64_t ld;
  float* shift;        // [0]: the largest transition, which is taken off all of them
  float* logs;         // transitions less that, from -> to; padding is -infinity
  float* logs_back;    // to -> from
  float* weights;      // their exponentials, from -> to
  float* weights_back;  // to -> from
  float* start;
  float* end;
  // Of this thread:
  float* forward;  // messages to each step
  float* scores;   // of one step
  float* after;    // the message back from a step, with its scores
  float* powers;
  float* product;
  float* pairs;  // sums over steps, from -> to, to be multiplied with the weights
};

bool wants_gradients(const Crf& c) {
  return c.d_scores || c.d_transitions || c.d_start || c.d_end;
}

int64_t lay_out_chain(Chain& k, float* memory, int thread) {
  int64_t used = 0;
  const auto take = [&](int64_t floats) {
    float* const place = memory + used;
    used += padded(floats);
    return place;
  };
  const auto own = [&](int64_t floats) {
    return take(padded(floats) * k.c.threads) + thread * padded(floats);
  };
  const int64_t ld = k.ld, square = k.c.tags * ld;
  k.shift = take(1);
  k.logs = take(square);
  k.logs_back = take(square);
  k.weights = take(square);
  k.weights_back = take(square);
  k.start = take(ld);
  k.end = take(ld);
  k.forward = own(k.c.steps * ld);
  k.scores = own(ld);
  k.after = own(ld);
  k.powers = own(ld);
  k.product = own(ld);
  k.pairs = own(k.c.d_transitions ? square : 0);
  return used;
}

// Memory begins at the address of `scratch`, so a null one only counts.
Chain make_chain(const Crf& c, Team& team) {
  return {c,       Pieces(team, kGradients), padded(c.tags), nullptr, nullptr, nullptr,
          nullptr, nullptr,                  nullptr,        nullptr, nullptr, nullptr,
          nullptr, nullptr,                  nullptr,        nullptr};
}

void copy_padded(float* to, const float* from, int64_t count, int64_t ld) {
  std::memcpy(to, from, sizeof(float) * static_cast<size_t>(count));
  for (int64_t i = count; i < ld; ++i) to[i] = -INFINITY;
}

// A NaN is passed over here, and comes out of the exponentials.
float largest(const float* row, int64_t floats) {
  vec most = all(-INFINITY);
  for (int64_t i = 0; i < floats; i += kLanes) {
    const vec x = load(row + i);
    most = x > most ? x : most;
  }
  float lanes[kLanes];
  store(lanes, most);
  float found = lanes[0];
  for (int i = 1; i < kLanes; ++i) found = lanes[i] > found ? lanes[i] : found;
  return found;
}

void take_off(float* row, float amount, int64_t floats) {
  for (int64_t i = 0; i < floats; i += kLanes) store(row + i, load(row + i) - amount);
}

void exponentials(float* to, const float* from, int64_t floats) {
  for (int64_t i = 0; i < floats; i += kLanes) store(to + i, exp_or_nothing(load(from + i)));
}

void prepare_chain(Chain& k) {
  const int64_t tags = k.c.tags, ld = k.ld;
  float most = -INFINITY;
  for (int64_t i = 0; i < tags; ++i) {
    copy_padded(k.logs + i * ld, k.c.transitions + i * tags, tags, ld);
    const float row = largest(k.logs + i * ld, ld);
    most = row > most ? row : most;
  }
  k.shift[0] = most == -INFINITY ? 0.0f : most;
  for (int64_t i = 0; i < tags; ++i) {
    take_off(k.logs + i * ld, k.shift[0], ld);
    exponentials(k.weights + i * ld, k.logs + i * ld, ld);
  }
  for (int64_t j = 0; j < tags; ++j)
    for (int64_t i = 0; i < ld; ++i) {
      k.logs_back[j * ld + i] = i < tags ? k.logs[i * ld + j] : -INFINITY;
      k.weights_back[j * ld + i] = i < tags ? k.weights[i * ld + j] : 0.0f;
    }
  copy_padded(k.start, k.c.start, tags, ld);
  copy_padded(k.end, k.c.end, tags, ld);
}

bool has_nan(const float* row, int64_t floats) {
  for (int64_t i = 0; i < floats; ++i)
    if (row[i] != row[i]) return true;
  return false;
}

// log(sum of e^(a + b)) over two rows.
float log_sum(const float* a, const float* b, int64_t floats) {
  vec tops = all(-INFINITY);
  for (int64_t i = 0; i < floats; i += kLanes) {
    const vec x = load(a + i) + load(b + i);
    tops = x > tops ? x : tops;
  }
  float lanes[kLanes];
  store(lanes, tops);
  const float top = largest(lanes, kLanes);
  if (top == -INFINITY) return has_nan(a, floats) || has_nan(b, floats) ? NAN : top;
  vec sums = {};
  for (int64_t i = 0; i < floats; i += kLanes)
    sums += exp_or_nothing(load(a + i) + load(b + i) - top);
  return top + logf(sum(sums));
}

// result = row of `powers` * matrix, in four chains of sums for each vector.
void multiply_row(const float* powers, const float* matrix, int64_t tags, int64_t ld,
                  float* result) {
  for (int64_t column = 0; column < ld; column += kLanes) {
    const float* m = matrix + column;
    vec sums[4] = {};
    int64_t i = 0;
    for (; i + 4 <= tags; i += 4)
      for (int s = 0; s < 4; ++s) sums[s] += powers[i + s] * load(m + (i + s) * ld);
    for (; i < tags; ++i) sums[0] += powers[i] * load(m + i * ld);
    store(result + column, (sums[0] + sums[1]) + (sums[2] + sums[3]));
  }
}

// The next message but for its scores: out = log(powers * weights), where `from` has the
// logarithms of the powers. `logs_across` has the weights' logarithms by what comes out.
void pass_on(const Chain& k, const float* from, const float* weights, const float* logs_across,
             float* out) {
  multiply_row(k.powers, weights, k.c.tags, k.ld, k.product);
  for (int64_t i = 0; i < k.ld; i += kLanes) store(out + i, log(load(k.product + i)));
  for (int64_t j = 0; j < k.c.tags; ++j)
    if (k.product[j] < kEnough) out[j] = log_sum(from, logs_across + j * k.ld, k.ld);
}

// The scores of a step less the largest of them, which is returned if there is one.
float load_scores(const Chain& k, int64_t sentence, int64_t step) {
  const Crf& c = k.c;
  copy_padded(k.scores, c.scores + (sentence * c.steps + step) * c.tags, c.tags, k.ld);
  const float most = largest(k.scores, k.ld);
  if (most == -INFINITY) return 0.0f;
  take_off(k.scores, most, k.ld);
  return most;
}

// Messages to all steps, each relative to its largest; returns the log of the partition, and
// -infinity where there is no path.
double run_chain_forward(const Chain& k, int64_t sentence, int64_t length) {
  double total = 0;
  for (int64_t t = 0; t < length; ++t) {
    float* const message = k.forward + t * k.ld;
    total += load_scores(k, sentence, t);
    if (t > 0) {
      exponentials(k.powers, message - k.ld, k.ld);
      pass_on(k, message - k.ld, k.weights, k.logs_back, message);
      total += k.shift[0];
    } else {
      std::memcpy(message, k.start, sizeof(float) * static_cast<size_t>(k.ld));
    }
    for (int64_t i = 0; i < k.ld; i += kLanes)
      store(message + i, load(message + i) + load(k.scores + i));
    const float most = largest(message, k.ld);
    if (most == -INFINITY) return has_nan(message, k.ld) ? NAN : -INFINITY;
    take_off(message, most, k.ld);
    total += most;
  }
  return total + log_sum(k.forward + (length - 1) * k.ld, k.end, k.ld);
}

// to = e^(a + b), made to add up to 1; padding becomes 0.
void normalised(float* to, const float* a, const float* b, int64_t ld) {
  for (int64_t i = 0; i < ld; i += kLanes) store(to + i, load(a + i) + load(b + i));
  const float most = largest(to, ld);
  vec sums = {};
  for (int64_t i = 0; i < ld; i += kLanes) {
    const vec power = exp_or_nothing(load(to + i) - most);
    store(to + i, power);
    sums += power;
  }
  const float scale = 1.0f / sum(sums);
  for (int64_t i = 0; i < ld; i += kLanes) store(to + i, load(to + i) * scale);
}

// Adds one step's probabilities of pairs in logarithms: where their product lost too much.
void add_far_pairs(const Chain& k, const float* before, const float* after, float* out) {
  const int64_t tags = k.c.tags;
  float most = -INFINITY;
  for (int64_t i = 0; i < tags; ++i)
    for (int64_t j = 0; j < tags; ++j) {
      const float x = before[i] + k.logs[i * k.ld + j] + after[j];
      most = x > most ? x : most;
    }
  double total = 0;
  for (int pass = 0; pass < 2; ++pass)
    for (int64_t i = 0; i < tags; ++i)
      for (int64_t j = 0; j < tags; ++j) {
        const float power = expf(before[i] + k.logs[i * k.ld + j] + after[j] - most);
        if (pass == 0)
          total += power;
        else
          out[i * tags + j] += static_cast<float>(power / total);
      }
}

// The pairs of a step, whose message back is in k.after, its exponentials in k.powers and what they
// give to the tags before in k.product, and the step before it, with the message to it.
void add_pairs(const Chain& k, const float* before, float* out) {
  float* const first = k.scores;  // no longer needed for this step
  exponentials(first, before, k.ld);
  vec sums = {};
  for (int64_t i = 0; i < k.ld; i += kLanes) sums += load(first + i) * load(k.product + i);
  const float total = sum(sums);
  if (total < kEnough) return add_far_pairs(k, before, k.after, out);
  const float scale = 1.0f / total;
  for (int64_t i = 0; i < k.c.tags; ++i) {
    const float weight = first[i] * scale;
    float* const row = k.pairs + i * k.ld;
    for (int64_t j = 0; j < k.ld; j += kLanes)
      store(row + j, load(row + j) + weight * load(k.powers + j));
  }
}

// Probabilities of tags and pairs of tags.
void run_chain_backward(const Chain& k, int64_t sentence, int64_t length) {
  const Crf& c = k.c;
  const int64_t tags = c.tags, ld = k.ld;
  const size_t bytes = sizeof(float) * static_cast<size_t>(tags);
  float* const out = c.d_transitions ? c.d_transitions + sentence * tags * tags : nullptr;
  if (out) std::memset(k.pairs, 0, sizeof(float) * static_cast<size_t>(tags * ld));
  const float* message = k.end;
  for (int64_t t = length - 1; t >= 0; --t) {
    float* const forward = k.forward + t * ld;
    if (c.d_scores || t == 0 || t == length - 1) {
      normalised(k.product, forward, message, ld);
      if (c.d_scores)
        std::memcpy(c.d_scores + (sentence * c.steps + t) * tags, k.product, bytes);
      if (c.d_start && t == 0) std::memcpy(c.d_start + sentence * tags, k.product, bytes);
      if (c.d_end && t == length - 1) std::memcpy(c.d_end + sentence * tags, k.product, bytes);
    }
    if (t == 0) break;
    load_scores(k, sentence, t);
    for (int64_t i = 0; i < ld; i += kLanes)
      store(k.after + i, load(message + i) + load(k.scores + i));
    take_off(k.after, largest(k.after, ld), ld);
    exponentials(k.powers, k.after, ld);
    pass_on(k, k.after, k.weights_back, k.logs, forward);  // in place of what was read last
    message = forward;
    if (out) add_pairs(k, forward - ld, out);
  }
  if (!out) return;
  for (int64_t i = 0; i < tags; ++i)
    for (int64_t j = 0; j < tags; ++j)
      out[i * tags + j] += k.pairs[i * ld + j] * k.weights[i * ld + j];
}

// The score of the given path, which is taken off the gradients.
double follow_targets(const Crf& c, int64_t sentence, int64_t length) {
  const int64_t* const path = c.targets + sentence * c.steps;
  double score = c.start[path[0]] + static_cast<double>(c.end[path[length - 1]]);
  if (c.d_start) c.d_start[sentence * c.tags + path[0]] -= 1.0f;
  if (c.d_end) c.d_end[sentence * c.tags + path[length - 1]] -= 1.0f;
  for (int64_t t = 0; t < length; ++t) {
    const int64_t at = (sentence * c.steps + t) * c.tags + path[t];
    score += c.scores[at];
    if (c.d_scores) c.d_scores[at] -= 1.0f;
    if (t == 0) continue;
    const int64_t pair = path[t - 1] * c.tags + path[t];
    score += c.transitions[pair];
    if (c.d_transitions) c.d_transitions[sentence * c.tags * c.tags + pair] -= 1.0f;
  }
  return score;
}

void clear_sentence(const Crf& c, int64_t sentence) {
  const auto clear = [&](float* gradients, int64_t floats) {
    if (gradients)
      std::memset(gradients + sentence * floats, 0, sizeof(float) * static_cast<size_t>(floats));
  };
  clear(c.d_scores, c.steps * c.tags);
  clear(c.d_transitions, c.tags * c.tags);
  clear(c.d_start, c.tags);
  clear(c.d_end, c.tags);
}

void run_crf(const Crf& c, Team& team, int thread) {
  Chain k = make_chain(c, team);
  lay_out_chain(k, c.scratch, thread);
  k.pieces.take(1, [&](int64_t) { prepare_chain(k); });
  wait(team, c.threads);
  k.pieces.take(c.batch, [&](int64_t sentence) {
    const int64_t length = c.lengths[sentence];
    clear_sentence(c, sentence);
    double result = 0;  // of no steps: one path, which is empty
    if (length > 0) {
      result = run_chain_forward(k, sentence, length);
      if (wants_gradients(c) && result != -INFINITY) run_chain_backward(k, sentence, length);
      if (c.targets) result -= follow_targets(c, sentence, length);
    }
    c.results[sentence] = static_cast<float>(result);
  });
}

int64_t crf_floats(const Crf& c) {
  Team none{};
  Chain k = make_chain(c, none);
  return lay_out_chain(k, nullptr, 0);
}

// The rows of a table, each times its weight, added up from the first to the last.
void add_weighted_rows(int64_t rows, int64_t columns, const float* weights, const float* table,
                       float* sums) {
  std::memset(sums, 0, sizeof(float) * static_cast<size_t>(columns));
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t i = 0; i < columns; ++i) sums[i] += weights[r] * table[r * columns + i];
}

}  // namespace
