// What the interpreter runs: a program for one time step, and the jobs before and after
// all steps. Plain data, so that it can be shared between translation units that are
// compiled for different instruction sets.
#pragma once

#include <cstdint>

namespace cellwright {

// Rows of every internal buffer start at a multiple of this many floats.
constexpr int kPad = 16;

inline int64_t padded(int64_t n) { return (n + kPad - 1) / kPad * kPad; }

// Where a value lives.
enum class Place : int32_t {
  stored = 0,    // one matrix per time step, kept for the whole pass
  block = 1,     // one matrix, new at every step
  chunk = 2,     // a few rows that never leave the cache
  ring = 3,      // gradients of states, for as many steps as the cell looks back
  constant = 4,  // one matrix, the same at every step (dropout masks)
};

enum class Width : int32_t { hidden = 0, input = 1 };

struct Value {
  Place place;
  int32_t index;  // which buffer of that place
  int32_t shift;  // how many steps back
  Width width;
};

// Operations of a step. Those before mix_activations are the cell's table of operations; a vector
// is a sum without products, and no step.
enum class Op : int32_t {
  linear = 0, add, mul, mean, sub, blend, tanh, sigmoid, relu, leaky_relu, copy, zero, mix, norm,
  exp, max, div, vector,
  batch_norm,            // alone in its phase; the next one, too
  damped_batch_norm,
  // Of one value, the first input, into out and the other inputs: arg is 32 * theta + the bits of the
  // activations; the weights of one target follow those of the other.
  mix_activations = 20,
  highway,  // inputs z, a, b: blend(z, mix_activations(a), theta * b) with the theta behind a's
  // Gradients: the first input is the gradient of the operation's result.
  d_copy = 32,    // g
  d_negate,       // -g
  d_scale,        // g / arg
  d_mul,          // g * (all other inputs)
  d_blend_gate,   // g * (a - b)
  d_blend_rest,   // g * (1 - z)
  d_tanh,         // g * (1 - y*y); this, the next three and d_exp times theta[arg], unless arg < 0
  d_sigmoid,      // g * y * (1 - y)
  d_relu,         // g where y > 0
  d_leaky_relu,   // g where y > 0, else 0.01 g
  d_mix,          // theta[arg] * g
  d_theta,        // the sums of g * a, for each a into the row's theta gradients from arg on
  d_norm,         // inputs g and a
  d_exp,          // g * y
  d_max,          // inputs g, a, b: g where a > b, half of it where they are equal
  d_divisor,      // inputs g, a, b: -g * a / (b*b)
  d_batch_norm,   // inputs g and a; alone in its phase, as the next one
  d_damped_batch_norm,
  d_mix_activations = 56,  // inputs a and g of each target; also adds to the row's theta gradients
  // Inputs g, z, a, b; out is for b. Writes over a, and over z as if its sigmoid's input were there;
  // also adds to the row's theta gradients.
  d_highway,
  // The two ends: the caller's tensors have unpadded rows.
  write_output = 64,  // from the first input
  read_output_gradient,
};

struct Step {
  Op op;
  int32_t out;          // a value
  int32_t first_input;  // into Program::inputs
  int32_t input_count;  // for linear: pairs of value and weight
  int32_t accumulate;   // whether the result is added to what is there
  int32_t arg;          // group of biases of a linear or -1, theta, number of inputs
  int32_t phase;        // steps of one phase do not wait for each other
};

struct Term {
  int32_t stored;  // the operand's buffer
  int32_t shift;
  int32_t weight;
};

// One linear's product with all time steps of x at once, before the loop; without terms, its bias.
struct Projection {
  int32_t stored;
  int32_t group;  // of biases, or -1
  int32_t first_term;
  int32_t term_count;
};

// Part of a weight's gradient, after the loop: transpose(gradient) times operand. Jobs of one
// bundle stand together and are shared out together; all jobs of one weight are in one bundle.
struct WeightJob {
  int32_t gradient;  // a stored buffer
  int32_t operand;   // a stored buffer
  int32_t shift;
  int32_t weight;
  int32_t bundle;
};

struct BiasJob {
  int32_t gradient;
  int32_t group;
};

// The gradient of x at one time shift: the sum of gradient times weight.
struct InputJob {
  int32_t shift;
  int32_t first_term;  // terms whose buffers hold gradients
  int32_t term_count;
  int32_t accumulate;
};

struct Buffer {
  Width width;
  int32_t lead;  // time steps before the first
};

struct Program {
  const Value* values;
  const Step* steps;
  int32_t step_count;
  const int32_t* inputs;
  const Term* terms;
  const Projection* projections;
  int32_t projection_count;
  const WeightJob* weight_jobs;
  int32_t weight_job_count;
  const BiasJob* bias_jobs;
  int32_t bias_job_count;
  const InputJob* input_jobs;
  int32_t input_job_count;
  const Buffer* stored;
  int32_t stored_count;
  const Width* weight_rows;     // per weight: how wide its result is
  const Width* weight_columns;  // and its operand
  int32_t weight_count;
  const int32_t* bias_group;  // biases of one group are added to each other
  int32_t bias_count;
  const Width* group_width;
  int32_t group_count;
  int32_t block_count;
  int32_t chunk_count;
  int32_t state_count;
  int32_t history;  // steps back that states are read, at least 1
  int32_t theta_count;
  int32_t input_gradient;  // the stored buffer for the gradient of x, or -1
  bool backward;
};

// One call: sizes, and the caller's memory. Pointers that are not needed are null.
struct Call {
  int64_t steps;
  int64_t batch;
  int64_t hidden;
  int64_t input;
  int64_t output_ld;         // floats per row of outputs and their gradients
  bool backwards;            // the first step's output is the last one there
  const int64_t* active;     // rows at work at each step, never growing; null if always all
  float* const* stored;      // per stored buffer
  const int64_t* stored_ld;  // floats per row
  const float* const* constants;
  const float* const* weights;
  const float* const* biases;
  float* const* weight_gradients;
  float* const* bias_gradients;
  const float* theta;
  float* theta_gradient;
  float* output;
  const float* output_gradient;
  const float* const* initial;          // states * history, nearest step first; null: zeros
  float* const* final_states;           // the same order
  const float* const* final_gradients;  // the same order, or null
  float* const* initial_gradients;      // the same order, or null
  float* scratch;                       // at least scratch_floats()
  float* kept;                          // packed weights of earlier calls, or null: kept_floats()
  int32_t threads;
  const double* shares;  // of the rows for each thread, adding up to 1; null for equal ones
  bool split_columns;  // threads share columns of each product instead of rows of the batch
};

// The cross-entropy of rows of hidden vectors over a vocabulary. Gradients are those of the
// mean over all rows; those that are not wanted are null, as is a bias that is not there.
struct CrossEntropy {
  int64_t rows;
  int64_t width;
  int64_t words;
  const float* hidden;  // rows * width
  const float* weight;  // words * width
  const float* bias;    // words
  const int64_t* targets;
  float* losses;  // one per row
  float* d_hidden;
  float* d_weight;
  float* d_bias;
  float* scratch;  // at least cross_entropy_floats()
  int32_t threads;
};

// A linear-chain CRF on a batch of sentences. A transition that is forbidden is -infinity, and so
// are starts and ends. Gradients are kept apart by sentence; those that are not wanted are null.
struct Crf {
  int64_t batch;
  int64_t steps;
  int64_t tags;
  const float* scores;       // batch * steps * tags
  const int64_t* targets;    // batch * steps; null for the partition alone
  const int64_t* lengths;    // one per sentence, from 0 to steps
  const float* transitions;  // tags * tags, from -> to
  const float* start;
  const float* end;
  float* results;  // one per sentence: log of the partition, less the score of the targets
  float* d_scores;
  float* d_transitions;  // batch * tags * tags
  float* d_start;        // batch * tags
  float* d_end;
  float* scratch;  // at least crf_floats()
  int32_t threads;
};

// The best paths of the same.
struct CrfDecode {
  int64_t batch;
  int64_t steps;
  int64_t tags;
  int64_t count;  // of paths per sentence; where there are fewer, the rest is -1 and -infinity
  const float* scores;
  const int64_t* lengths;
  const float* transitions;
  const float* start;
  const float* end;
  int64_t* paths;  // batch * count * steps
  float* path_scores;
  float* scratch;  // at least crf_decode_floats()
  int32_t threads;
};

// C = A * B, or + bias in each row, for each item of a batch. A matrix that is turned has its columns
// where rows would be. The numbers of a row follow each other; rows and items are so far apart.
struct Matrix {
  const float* numbers;
  int64_t row;
  int64_t item;
  bool turned;
};

struct MatrixProduct {
  int64_t batch;
  int64_t rows;
  int64_t columns;
  int64_t depth;
  Matrix a;
  Matrix b;
  const float* bias;  // columns
  float* c;           // batch * rows * columns
  float* sums;        // of A's rows; null unless A is turned and they are wanted, of one item
  float* scratch;     // at least matrix_product_floats()
  int32_t threads;
};

constexpr int kMostThreads = 64;

// What the threads of one call share: a place to meet, counters of claimed work, and how fast
// each took its rows through the loop, in rows and steps per second.
struct Team {
  int32_t arrived;
  int32_t generation;
  int32_t sleepers;
  int64_t claimed[2];
  double pace[kMostThreads];
};

// Sleeps until the number changes, and wakes all who sleep so; outside the per-instruction-set files.
void sleep_while(const int32_t* number, int32_t value);
void wake_all(const int32_t* number);

// What each instruction set offers.
struct Core {
  const char* name;
  int64_t (*scratch_floats)(const Program&, const Call&);
  int64_t (*kept_floats)(const Program&, const Call&);
  void (*run)(const Program&, const Call&, Team&, int thread);
  int64_t (*cross_entropy_floats)(const CrossEntropy&);
  void (*run_cross_entropy)(const CrossEntropy&, Team&, int thread);
  int64_t (*crf_floats)(const Crf&);
  void (*run_crf)(const Crf&, Team&, int thread);
  int64_t (*crf_decode_floats)(const CrfDecode&);
  void (*run_crf_decode)(const CrfDecode&, Team&, int thread);
  void (*add_weighted_rows)(int64_t rows, int64_t columns, const float* weights,
                            const float* table, float* sums);
  int64_t (*matrix_product_floats)(const MatrixProduct&);
  void (*run_matrix_product)(const MatrixProduct&, Team&, int thread);
};

}  // namespace cellwright
