"""The peak memory of two training steps, in bytes, on top of weights and inputs.

    python benchmarks/peak_memory.py darts-supernet plain 35,64,300

`engine.py` calls this for each contender, each in a process of its own.
"""

from __future__ import annotations

import argparse

import torch
from contenders import CONTENDERS, SUBJECTS, Shape, Work, make_work, parse_shape
from measure import peak_memory


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("cell", choices=SUBJECTS)
    parser.add_argument("contender", choices=CONTENDERS)
    parser.add_argument("shape", type=parse_shape, help="T,B,H")
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    subject = SUBJECTS[options.cell]()

    def work(shape: Shape) -> Work:
        return make_work(subject, shape, (options.contender,))[options.contender]

    def steps() -> None:
        for _ in range(2):
            large.clear()
            large.train()

    work(Shape(2, 2, 8)).train()  # loads code and starts threads, which is not what is meant
    large = work(options.shape)
    print(peak_memory(steps))


if __name__ == "__main__":
    main()
