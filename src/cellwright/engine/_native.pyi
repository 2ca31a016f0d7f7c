from collections.abc import Sequence

def instruction_sets() -> list[str]: ...
def use_instruction_set(name: str) -> None: ...
def has_bfloat16() -> bool: ...
def cross_entropy(
    *,
    rows: int,
    width: int,
    words: int,
    hidden: int,
    weight: int,
    bias: int,
    targets: int,
    losses: int,
    d_hidden: int,
    d_weight: int,
    d_bias: int,
    bfloat16: bool,
    threads: int,
) -> None: ...
def crf(
    *,
    batch: int,
    steps: int,
    tags: int,
    scores: int,
    targets: int,
    lengths: int,
    transitions: int,
    start: int,
    end: int,
    results: int,
    d_scores: int,
    d_transitions: int,
    d_start: int,
    d_end: int,
    threads: int,
) -> bool: ...
def crf_decode(
    *,
    batch: int,
    steps: int,
    tags: int,
    count: int,
    scores: int,
    lengths: int,
    transitions: int,
    start: int,
    end: int,
    paths: int,
    path_scores: int,
    threads: int,
) -> None: ...
def matrix_product(
    batch: int,
    rows: int,
    columns: int,
    depth: int,
    a: int,
    a_row: int,
    a_item: int,
    a_turned: bool,
    b: int,
    b_row: int,
    b_item: int,
    b_turned: bool,
    bias: int,
    c: int,
    sums: int,
    threads: int,
) -> None: ...
def add_weighted_rows(*, rows: int, columns: int, weights: int, table: int, sums: int) -> None: ...

class Call: ...

def run(calls: Sequence[Call], threads: int, split_columns: bool, at_once: bool) -> None: ...

class Program:
    def __init__(
        self,
        *,
        values: Sequence[int],
        steps: Sequence[int],
        inputs: Sequence[int],
        terms: Sequence[int],
        projections: Sequence[int],
        weight_jobs: Sequence[int],
        bias_jobs: Sequence[int],
        input_jobs: Sequence[int],
        stored: Sequence[int],
        weight_rows: Sequence[int],
        weight_columns: Sequence[int],
        bias_group: Sequence[int],
        group_width: Sequence[int],
        blocks: int,
        chunks: int,
        states: int,
        history: int,
        thetas: int,
        input_gradient: int,
        backward: bool,
        bfloat16: bool = False,
    ) -> None: ...
    def call(
        self,
        steps: int,
        batch: int,
        hidden: int,
        input: int,
        active: Sequence[int] | None,
        stored: Sequence[int],
        stored_ld: Sequence[int],
        constants: Sequence[int],
        weights: Sequence[int],
        biases: Sequence[int],
        theta: int,
        initial: Sequence[int],
        output: int,
        final_states: Sequence[int],
        kept: int,
        output_gradient: int,
        final_gradients: Sequence[int],
        initial_gradients: Sequence[int],
        weight_gradients: Sequence[int],
        bias_gradients: Sequence[int],
        theta_gradient: int,
    ) -> Call: ...
    def kept_floats(self, hidden: int, input: int) -> int: ...
