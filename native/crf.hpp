// The linear-chain CRF: partition, losses and all gradients of a batch of sentences.
//
// A message is kept twice: as logarithms relative to its largest, and as their exponentials. What
// was taken off is added up in double precision. A step multiplies the exponentials with those of
// the transitions. Where so much is lost in that product that it could matter (a far better tag that
// may not go where the path has to go), the sum is taken again in logarithms, so that nothing is
// lost that floats can hold.
//
// A sentence is one thread's work, and writes numbers of its own alone: the result does not
// depend on who computed it. What is forbidden is -infinity, and comes out as exactly 0.
#pragma once

#include <cmath>
#include <cstring>

#include "gemm.hpp"
#include "pieces.hpp"
#include "rows.hpp"

namespace {

using namespace cellwright;

// Exponentials of a message are exact but for what is smaller than e^-87 beside sums of at least
// this much; so of sums that are no smaller not even the last place is wrong.
constexpr float kEnough = 1e-10f;

// A message as logarithms and as their exponentials.
struct Message {
  float* logs;
  float* powers;
};

// A call with its share of the scratch memory. Rows are as wide as `ld`; where nothing else is said,
// what lies behind their tags is -infinity.
struct Chain {
  const Crf& c;
  Pieces pieces;
  int64_t ld;
  float* shift;         // [0]: the largest transition, which is taken off all of them
  float* logs;          // transitions less that, from -> to
  float* logs_back;     // to -> from
  float* weights;       // their exponentials, from -> to; padded with 0
  float* weights_back;  // to -> from
  float* start;
  float* end;
  // Of this thread, a row for each step:
  Message scores;    // less the largest of the step
  Message messages;  // to the step, with its scores
  // Of this thread, one row:
  Message after[2];  // back from a step, with its scores, and from the one before it
  float* product;    // of the last step
  float* shares;     // probabilities of one step's tags
  float* pairs;      // from -> to: sums over steps, to be multiplied with the weights
};

Message at(Message rows, int64_t offset) { return {rows.logs + offset, rows.powers + offset}; }

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
  const auto own_message = [&](int64_t floats) { return Message{own(floats), own(floats)}; };
  k.scores = own_message(k.c.steps * ld);
  k.messages = own_message(k.c.steps * ld);
  for (Message& after : k.after) after = own_message(ld);
  k.product = own(ld);
  k.shares = own(ld);
  k.pairs = own(k.c.d_transitions ? square : 0);
  return used;
}

Chain make_chain(const Crf& c, Team& team) {
  return {c, Pieces(team, kGradients), padded(c.tags), nullptr, nullptr, nullptr, nullptr, nullptr,
          nullptr, nullptr, {}, {}, {}, nullptr, nullptr, nullptr};
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

// The scores of a step less the largest of them, which is returned if there is one.
float load_scores(const Chain& k, int64_t sentence, int64_t step) {
  const Crf& c = k.c;
  const Message row = at(k.scores, step * k.ld);
  copy_tags(row.logs, c.scores + (sentence * c.steps + step) * c.tags, c.tags);
  const float most = largest(row.logs, k.ld);
  if (most != -INFINITY) take_off(row.logs, most, k.ld);
  exponentials(row.powers, row.logs, k.ld);
  return most == -INFINITY ? 0.0f : most;
}

// Completes a message whose logarithms are there: takes off the largest, which is returned.
float finish(const Chain& k, Message message) {
  const float most = largest(message.logs, k.ld);
  if (most == -INFINITY) return has_nan(message.logs, k.ld) ? NAN : most;
  take_off(message.logs, most, k.ld);
  exponentials(message.powers, message.logs, k.ld);
  return most;
}

// The next message: log(e^from * weights) + scores, less its largest, which is returned, and is
// -infinity if there is none. `logs_across` has the weights' logarithms by what comes out.
float pass_on(const Chain& k, Message from, const float* weights, const float* logs_across,
              Message scores, Message to) {
  const int64_t ld = k.ld;
  multiply_row(from.powers, weights, k.c.tags, ld, k.product);
  vec most = {};
  for (int64_t i = 0; i < ld; i += kLanes) {
    const vec power = load(k.product + i) * load(scores.powers + i);
    store(to.powers + i, power);
    most = power > most ? power : most;
  }
  most = largest_lane(most);
  // Nothing but this waits for logarithms, most of which are never read.
  const bool enough = most[0] >= kEnough;
  const vec off = enough ? log(most) : vec{};
  for (int64_t i = 0; i < ld; i += kLanes)
    store(to.logs + i, log(load(k.product + i)) + (load(scores.logs + i) - off));
  for (int64_t j = 0; j < k.c.tags; ++j)
    if (k.product[j] < kEnough)
      to.logs[j] = log_sum(from.logs, logs_across + j * ld, ld) + (scores.logs[j] - off[0]);
  if (!enough) return finish(k, to);
  const vec scale = 1.0f / most;
  for (int64_t i = 0; i < ld; i += kLanes) store(to.powers + i, load(to.powers + i) * scale);
  return off[0];
}

// Messages to all steps; returns the log of the partition, and -infinity where there is no path.
double run_chain_forward(const Chain& k, int64_t sentence, int64_t length) {
  double total = load_scores(k, sentence, 0);
  add(k.messages.logs, k.start, k.scores.logs, k.ld);
  total += finish(k, k.messages);
  for (int64_t t = 1; t < length && !(total == -INFINITY || total != total); ++t) {
    total += load_scores(k, sentence, t);
    total += k.shift[0];
    total += pass_on(k, at(k.messages, (t - 1) * k.ld), k.weights, k.logs_back,
                     at(k.scores, t * k.ld), at(k.messages, t * k.ld));
  }
  if (total == -INFINITY || total != total) return total;
  return total + log_sum(k.messages.logs + (length - 1) * k.ld, k.end, k.ld);
}

// shares = e^(a + b), made to add up to 1.
void share_out(const Chain& k, const float* a, const float* b) {
  add(k.shares, a, b, k.ld);
  take_off(k.shares, largest(k.shares, k.ld), k.ld);
  vec sums = {};
  for (int64_t i = 0; i < k.ld; i += kLanes) {
    const vec power = exp_or_nothing(load(k.shares + i));
    store(k.shares + i, power);
    sums += power;
  }
  const vec scale = 1.0f / sum_of_lanes(sums);
  for (int64_t i = 0; i < k.ld; i += kLanes) store(k.shares + i, load(k.shares + i) * scale);
}

// The same, with pairs, in logarithms alone: where their products lost too much.
void share_out_far_pairs(const Chain& k, const float* here, const float* after, float* out) {
  const int64_t tags = k.c.tags;
  for (int64_t i = 0; i < tags; ++i) k.product[i] = log_sum(after, k.logs + i * k.ld, k.ld);
  share_out(k, here, k.product);
  for (int64_t i = 0; out && i < tags; ++i) {
    if (k.shares[i] == 0.0f) continue;
    for (int64_t j = 0; j < tags; ++j)
      out[i * tags + j] += k.shares[i] * expf(k.logs[i * k.ld + j] + after[j] - k.product[i]);
  }
}

// Probabilities of a step's tags, and of pairs of them with those of the step after it. Its message
// back is `after`, which has given k.product to this step.
void share_out_pairs(const Chain& k, Message here, Message after, float* out) {
  vec sums = {};
  for (int64_t i = 0; i < k.ld; i += kLanes) {
    const vec both = load(here.powers + i) * load(k.product + i);
    store(k.shares + i, both);
    sums += both;
  }
  const vec total = sum_of_lanes(sums);
  if (total[0] < kEnough) return share_out_far_pairs(k, here.logs, after.logs, out);
  const vec scale = 1.0f / total;
  for (int64_t i = 0; i < k.ld; i += kLanes) store(k.shares + i, load(k.shares + i) * scale);
  for (int64_t i = 0; out && i < k.c.tags; ++i) {
    const vec weight = here.powers[i] * scale;
    float* const row = k.pairs + i * k.ld;
    for (int64_t j = 0; j < k.ld; j += kLanes)
      store(row + j, load(row + j) + weight * load(after.powers + j));
  }
}

// Probabilities of tags and of pairs of tags.
void run_chain_backward(const Chain& k, int64_t sentence, int64_t length) {
  const Crf& c = k.c;
  const int64_t tags = c.tags, ld = k.ld;
  float* const out = c.d_transitions ? c.d_transitions + sentence * tags * tags : nullptr;
  if (out) std::memset(k.pairs, 0, sizeof(float) * static_cast<size_t>(tags * ld));
  const int64_t last = length - 1;
  Message here = k.after[0], after = k.after[1];
  for (int64_t t = last; t >= 0; --t) {
    const Message scores = at(k.scores, t * ld), message = at(k.messages, t * ld);
    if (t == last) {
      add(here.logs, k.end, scores.logs, ld);
      finish(k, here);
      share_out(k, message.logs, k.end);
    } else {
      pass_on(k, after, k.weights_back, k.logs, scores, here);
      share_out_pairs(k, message, after, out);
    }
    if (c.d_scores) copy_tags(c.d_scores + (sentence * c.steps + t) * tags, k.shares, tags);
    if (c.d_start && t == 0) copy_tags(c.d_start + sentence * tags, k.shares, tags);
    if (c.d_end && t == last) copy_tags(c.d_end + sentence * tags, k.shares, tags);
    const Message next = after;
    after = here;
    here = next;
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

// All gradients of a sentence: 0 at first, and not a number if its partition is none.
void fill_gradients(const Crf& c, int64_t sentence, int64_t length, float value) {
  const auto fill = [&](float* gradients, int64_t stride, int64_t floats) {
    for (int64_t i = 0; gradients && i < floats; ++i) gradients[sentence * stride + i] = value;
  };
  fill(c.d_scores, c.steps * c.tags, length * c.tags);
  fill(c.d_transitions, c.tags * c.tags, c.tags * c.tags);
  fill(c.d_start, c.tags, c.tags);
  fill(c.d_end, c.tags, c.tags);
}

void run_sentence(const Chain& k, int64_t sentence) {
  const Crf& c = k.c;
  const int64_t length = c.lengths[sentence];
  fill_gradients(c, sentence, c.steps, 0.0f);
  double result = 0;  // of no steps: one path, which is empty
  if (length > 0) {
    result = run_chain_forward(k, sentence, length);
    if (result != result)
      fill_gradients(c, sentence, length, NAN);
    else if (wants_gradients(c) && result != -INFINITY)
      run_chain_backward(k, sentence, length);
    if (c.targets) result -= follow_targets(c, sentence, length);
  }
  c.results[sentence] = static_cast<float>(result);
}

void run_crf(const Crf& c, Team& team, int thread) {
  Chain k = make_chain(c, team);
  lay_out_chain(k, c.scratch, thread);
  k.pieces.take(1, [&](int64_t) { prepare_chain(k); });
  for (int64_t t = 0; t < c.steps; ++t)
    for (int64_t i = c.tags; i < k.ld; ++i) k.scores.logs[t * k.ld + i] = -INFINITY;
  wait(team, c.threads);
  k.pieces.take(c.batch, [&](int64_t sentence) { run_sentence(k, sentence); });
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
