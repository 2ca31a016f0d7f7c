// The best paths through a linear chain: Viterbi, and the n best.
//
// Sums are in double precision, so that paths come in the order of their scores, and the same
// paths come out of torch. Of equal candidates the lowest tag is taken, from the last step on.
#pragma once

#include <cmath>
#include <cstring>

#include "gemm.hpp"
#include "pieces.hpp"

namespace {

using namespace cellwright;

constexpr int kDoubles = kLanes / 2;
typedef double dvec __attribute__((vector_size(4 * kLanes)));
typedef int64_t lvec __attribute__((vector_size(4 * kLanes)));
typedef double loose_dvec __attribute__((vector_size(4 * kLanes), aligned(8), may_alias));
typedef int64_t loose_lvec __attribute__((vector_size(4 * kLanes), aligned(8), may_alias));

inline dvec load_doubles(const double* p) { return *reinterpret_cast<const loose_dvec*>(p); }

// A call with its share of the scratch memory. Tags are padded to `ld`, with scores of -infinity.
struct Decoder {
  const CrfDecode& c;
  Pieces pieces;
  int64_t ld;
  double* transitions;  // from -> to
  // Of this thread:
  double* best;    // scores of the best paths so far: for each tag, or for each tag `count`
  double* next;    // the same one step later
  double* scores;  // of one step
  double* values;  // the best candidates for one tag, and where each comes from
  int64_t* places;
  int64_t* origins;  // for each step what `best` came from: a tag, or tag * count + rank
};

int64_t lay_out_decoder(Decoder& d, float* memory, int thread) {
  int64_t used = 0;
  const auto take = [&](int64_t doubles) {
    float* const place = memory + used;
    used += padded(2 * doubles);
    return place;
  };
  const auto own = [&](int64_t doubles) {
    const int64_t floats = padded(2 * doubles);
    return take(floats * d.c.threads / 2) + thread * floats;
  };
  const auto doubles = [](float* place) { return reinterpret_cast<double*>(place); };
  const auto longs = [](float* place) { return reinterpret_cast<int64_t*>(place); };
  const int64_t states = d.ld * d.c.count;
  d.transitions = doubles(take(d.c.tags * d.ld));
  d.best = doubles(own(states));
  d.next = doubles(own(states));
  d.scores = doubles(own(d.ld));
  d.values = doubles(own(d.c.count));
  d.places = longs(own(d.c.count));
  d.origins = longs(own(states * d.c.steps));
  return used;
}

Decoder make_decoder(const CrfDecode& c, Team& team) {
  return {c,       Pieces(team, kGradients), padded(c.tags), nullptr, nullptr,
          nullptr, nullptr,                  nullptr,        nullptr, nullptr};
}

void widen(double* to, const float* from, int64_t count, int64_t ld) {
  for (int64_t i = 0; i < ld; ++i) to[i] = i < count ? from[i] : -INFINITY;
}

void load_step(const Decoder& d, int64_t sentence, int64_t step) {
  const CrfDecode& c = d.c;
  widen(d.scores, c.scores + (sentence * c.steps + step) * c.tags, c.tags, d.ld);
}

// One step of Viterbi: a later tag has to be better than those before it.
void step_best(const Decoder& d, int64_t* origins) {
  for (int64_t column = 0; column < d.ld; column += kDoubles) {
    dvec most = d.best[0] + load_doubles(d.transitions + column);
    lvec from = {};
    for (int64_t i = 1; i < d.c.tags; ++i) {
      const dvec value = d.best[i] + load_doubles(d.transitions + i * d.ld + column);
      const lvec better = value > most;
      most = better ? value : most;
      from = better ? lvec{} + i : from;
    }
    *reinterpret_cast<loose_dvec*>(d.next + column) = most + load_doubles(d.scores + column);
    *reinterpret_cast<loose_lvec*>(origins + column) = from;
  }
}

// The best `count` candidates so far, in order; equal ones stay in the order they came in.
class Ranking {
 public:
  Ranking(const Decoder& d) : d_(d) {}
  // False if there are `count` that are at least as good.
  bool add(double value, int64_t place) {
    if (value == -INFINITY || (held_ == d_.c.count && !(value > d_.values[held_ - 1])))
      return false;
    int64_t rank = held_ < d_.c.count ? held_++ : held_ - 1;
    for (; rank > 0 && d_.values[rank - 1] < value; --rank) {
      d_.values[rank] = d_.values[rank - 1];
      d_.places[rank] = d_.places[rank - 1];
    }
    d_.values[rank] = value;
    d_.places[rank] = place;
    return true;
  }
  int64_t held() const { return held_; }

 private:
  const Decoder& d_;
  int64_t held_ = 0;
};

// One step for the `count` best of each tag.
void step_ranked(const Decoder& d, int64_t* origins) {
  const int64_t count = d.c.count;
  for (int64_t j = 0; j < d.c.tags; ++j) {
    Ranking ranking(d);
    for (int64_t i = 0; i < d.c.tags; ++i)
      for (int64_t r = 0; r < count; ++r)
        if (!ranking.add(d.best[i * count + r] + d.transitions[i * d.ld + j], i * count + r))
          break;
    for (int64_t r = 0; r < count; ++r) {
      const bool there = r < ranking.held();
      d.next[j * count + r] = there ? d.values[r] + d.scores[j] : -INFINITY;
      origins[j * count + r] = there ? d.places[r] : 0;
    }
  }
}

void decode_sentence(Decoder& d, int64_t sentence, int64_t length) {
  const CrfDecode& c = d.c;
  const int64_t count = c.count, states = d.ld * count;
  load_step(d, sentence, 0);
  for (int64_t i = 0; i < states; ++i) d.best[i] = -INFINITY;
  for (int64_t i = 0; i < c.tags; ++i)
    d.best[i * count] = static_cast<double>(c.start[i]) + d.scores[i];
  for (int64_t t = 1; t < length; ++t) {
    load_step(d, sentence, t);
    if (count == 1)
      step_best(d, d.origins + t * states);
    else
      step_ranked(d, d.origins + t * states);
    double* const old = d.best;
    d.best = d.next;
    d.next = old;
  }
  Ranking ranking(d);
  for (int64_t i = 0; i < c.tags; ++i)
    for (int64_t r = 0; r < count; ++r)
      if (!ranking.add(d.best[i * count + r] + static_cast<double>(c.end[i]), i * count + r))
        break;
  for (int64_t r = 0; r < ranking.held(); ++r) {
    c.path_scores[sentence * count + r] = static_cast<float>(d.values[r]);
    int64_t* const path = c.paths + (sentence * count + r) * c.steps;
    int64_t place = d.places[r];
    for (int64_t t = length - 1; t >= 0; --t) {
      path[t] = place / count;
      if (t > 0) place = d.origins[t * states + place];
    }
  }
}

void run_crf_decode(const CrfDecode& c, Team& team, int thread) {
  Decoder d = make_decoder(c, team);
  lay_out_decoder(d, c.scratch, thread);
  d.pieces.take(1, [&](int64_t) {
    for (int64_t i = 0; i < c.tags; ++i)
      widen(d.transitions + i * d.ld, c.transitions + i * c.tags, c.tags, d.ld);
  });
  wait(team, c.threads);
  d.pieces.take(c.batch, [&](int64_t sentence) {
    for (int64_t i = 0; i < c.count * c.steps; ++i) c.paths[sentence * c.count * c.steps + i] = -1;
    for (int64_t r = 0; r < c.count; ++r) c.path_scores[sentence * c.count + r] = -INFINITY;
    if (c.lengths[sentence] > 0)
      decode_sentence(d, sentence, c.lengths[sentence]);
    else
      c.path_scores[sentence * c.count] = 0.0f;
  });
}

int64_t crf_decode_floats(const CrfDecode& c) {
  Team none{};
  Decoder d = make_decoder(c, none);
  return lay_out_decoder(d, nullptr, 0);
}

}  // namespace
