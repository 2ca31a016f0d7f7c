"""Every number of the papers' recipes beside where it stands, typed in from there.

Not from the code's defaults: a default that is wrong is wrong in a recipe that repeats it, too.
`init_range` and `norm` are what the engine needs, and are told elsewhere; what words become is in
tests/tasks/test_tagging_recipes.py.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from importlib import resources
from typing import Any, NamedTuple

import pytest

from cellwright.runs.recipes import load_recipe
from cellwright.search.one_shot.recipes import load_search_recipe
from cellwright.search.studies.recipes import load_study_recipe

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TABLE = """
# DARTS: Liu et al. 2019 and the code of its authors, rnn/train_search.py
darts-ptb | selection_epochs               | 300       | DARTS, section 3.2: cells of four seeds, trained for a short time, 300 epochs on PTB
darts-ptb | task.data                      | 'ptb'     | DARTS, section 3.1
darts-ptb | task.bptt                      | 35        | DARTS' code, --bptt
darts-ptb | task.bptt_spread               | 0.0       | DARTS' code, train(): seq_len = int(bptt)
darts-ptb | task.bptt_halve                | 0.05      | DARTS' code, train(): halved where a draw is not below 0.95
darts-ptb | search.kind                    | 'darts'   | DARTS
darts-ptb | search.scope                   | 'intra'   | DARTS: nothing between cells
darts-ptb | search.nodes                   | 8         | DARTS' code, genotypes.STEPS
darts-ptb | search.operations              | ['none', 'tanh', 'relu', 'sigmoid', 'identity'] | DARTS' code, genotypes.PRIMITIVES
darts-ptb | search.edges                   | 'highway' | DARTS' code, model_search.py
darts-ptb | search.softmax                 | 'pair'    | DARTS, Eq. 2
darts-ptb | search.top_edges               | 1         | DARTS, section 2.4: k = 1 for recurrent cells
darts-ptb | search.drop_unlinks            | false     | DARTS, section 2.4: the best that is not zero
darts-ptb | search.epochs                  | 50        | DARTS' code, --epochs
darts-ptb | search.warmup_epochs           | 0         | DARTS' code: the architecture learns from the first step
darts-ptb | search.architecture_text       | 'valid'   | DARTS' code: search_data is corpus.valid
darts-ptb | search.second_order            | false     | DARTS' code, --unrolled
darts-ptb | search.architecture_rate_intra | 3e-3      | DARTS' code, --arch_lr
darts-ptb | search.architecture_decay      | 1e-3      | DARTS' code, --arch_wdecay
darts-ptb | search.architecture_beta1      | 0.9       | DARTS' code, architect.py: Adam's own
darts-ptb | search.architecture_beta2      | 0.999     | DARTS' code, architect.py: Adam's own
darts-ptb | search.architecture_start      | 1e-3      | DARTS' code, model_search.py: 1e-3 times a normal draw
darts-ptb | search.optimizer               | 'sgd'     | DARTS' code
darts-ptb | search.learning_rate           | 20        | DARTS' code, --lr
darts-ptb | search.weight_decay            | 5e-7      | DARTS' code, --wdecay
darts-ptb | search.clip                    | 0.25      | DARTS' code, --clip
darts-ptb | search.batch                   | 256       | DARTS' code, --batch_size
darts-ptb | search.evaluation_batch        | 10        | DARTS' code, eval_batch_size
darts-ptb | model.kind                     | 'one-layer' | DARTS' code, model_search.py
darts-ptb | model.hidden                   | 300       | DARTS' code, --emsize, --nhid, --nhidlast
darts-ptb | model.dropout_output           | 0.75      | DARTS' code, --dropout
darts-ptb | model.dropout_x                | 0.75      | DARTS' code, --dropoutx
darts-ptb | model.dropout_hidden           | 0.25      | DARTS' code, --dropouth
darts-ptb | model.dropout_embedding        | 0.2       | DARTS' code, --dropouti
darts-ptb | model.dropout_words            | 0.0       | DARTS' code, --dropoute
darts-ptb | model.ar                       | 0.0       | DARTS' code, --alpha
darts-ptb | model.tar                      | 1e-3      | DARTS' code, --beta

# I-DARTS: Jiang et al. 2019; what it does not say is DARTS', whose setup it copies (section 3.1)
i-darts-ptb | selection_epochs               | 500       | I-DARTS, section 3.2: retrained on PTB for 500 epochs
i-darts-ptb | task.data                      | 'ptb'     | I-DARTS, section 3.1
i-darts-ptb | task.bptt                      | 35        | DARTS' code, --bptt
i-darts-ptb | task.bptt_spread               | 0.0       | DARTS' code, train()
i-darts-ptb | task.bptt_halve                | 0.05      | DARTS' code, train()
i-darts-ptb | search.kind                    | 'i-darts' | I-DARTS
i-darts-ptb | search.scope                   | 'intra'   | I-DARTS: nothing between cells
i-darts-ptb | search.nodes                   | 8         | I-DARTS, section 3.1
i-darts-ptb | search.operations              | ['none', 'tanh', 'relu', 'sigmoid', 'identity'] | I-DARTS, section 3.1
i-darts-ptb | search.edges                   | 'highway' | DARTS' code, model_search.py
i-darts-ptb | search.softmax                 | 'node'    | I-DARTS, Eq. 4
i-darts-ptb | search.top_edges               | 1         | I-DARTS, section 3.2: best with n = 1
i-darts-ptb | search.drop_unlinks            | false     | DARTS, section 2.4
i-darts-ptb | search.epochs                  | 40        | I-DARTS, section 3.1
i-darts-ptb | search.warmup_epochs           | 0         | DARTS' code
i-darts-ptb | search.architecture_text       | 'valid'   | DARTS' code
i-darts-ptb | search.second_order            | false     | DARTS' code, --unrolled
i-darts-ptb | search.architecture_rate_intra | 3e-3      | I-DARTS, section 3.1
i-darts-ptb | search.architecture_decay      | 1e-3      | I-DARTS, section 3.1
i-darts-ptb | search.architecture_beta1      | 0.9       | DARTS' code, architect.py
i-darts-ptb | search.architecture_beta2      | 0.999     | DARTS' code, architect.py
i-darts-ptb | search.architecture_start      | 1e-3      | DARTS' code, model_search.py
i-darts-ptb | search.optimizer               | 'sgd'     | I-DARTS, section 3.1
i-darts-ptb | search.learning_rate           | 20        | I-DARTS, section 3.1
i-darts-ptb | search.weight_decay            | 5e-7      | I-DARTS, section 3.1
i-darts-ptb | search.clip                    | 0.25      | DARTS' code, --clip
i-darts-ptb | search.batch                   | 256       | I-DARTS, section 3.1
i-darts-ptb | search.evaluation_batch        | 10        | DARTS' code, eval_batch_size
i-darts-ptb | model.kind                     | 'one-layer' | I-DARTS, section 3.1: a single-layer recurrent network
i-darts-ptb | model.hidden                   | 300       | I-DARTS, section 3.1
i-darts-ptb | model.dropout_output           | 0.75      | DARTS' code, --dropout
i-darts-ptb | model.dropout_x                | 0.75      | DARTS' code, --dropoutx
i-darts-ptb | model.dropout_hidden           | 0.25      | DARTS' code, --dropouth
i-darts-ptb | model.dropout_embedding        | 0.2       | DARTS' code, --dropouti
i-darts-ptb | model.dropout_words            | 0.0       | DARTS' code, --dropoute
i-darts-ptb | model.ar                       | 0.0       | DARTS' code, --alpha
i-darts-ptb | model.tar                      | 1e-3      | DARTS' code, --beta

# ESS: Li et al. 2020, section 5.1; what it does not say is DARTS'
ess-ptb | task.data                      | 'ptb'     | ESS, section 5.1
ess-ptb | task.bptt                      | 35        | ESS, section 5.1
ess-ptb | task.bptt_spread               | 0.0       | DARTS' code, train()
ess-ptb | task.bptt_halve                | 0.05      | DARTS' code, train()
ess-ptb | search.kind                    | 'ess'     | ESS
ess-ptb | search.scope                   | 'joint'   | ESS, Figure 4
ess-ptb | search.nodes                   | 8         | ESS, section 5.1
ess-ptb | search.m                       | 3         | ESS, section 5.1
ess-ptb | search.operations              | ['none', 'tanh', 'relu', 'sigmoid', 'identity'] | ESS, section 5.1; none is its drop
ess-ptb | search.edges                   | 'highway' | DARTS' code, model_search.py; Eq. 4 is written without, as is I-DARTS' Eq. 2, whose code has them
ess-ptb | search.norm                    | 'batch'   | DARTS' code, model_search.py: BatchNorm1d(affine=False)
ess-ptb | search.softmax                 | 'pair'    | ESS, Eq. 4
ess-ptb | search.top_edges               | 1         | DARTS, section 2.4
ess-ptb | search.drop_unlinks            | true      | ESS, section 3.2: drop unlinks two nodes
ess-ptb | search.rounds                  | 50        | ESS, section 5.1
ess-ptb | search.warmup_epochs           | 0         | DARTS' code
ess-ptb | search.architecture_text       | 'valid'   | DARTS' code
ess-ptb | search.second_order            | false     | DARTS' code, --unrolled
ess-ptb | search.architecture_rate_intra | 3e-3      | ESS, section 5.1
ess-ptb | search.architecture_rate_inter | 1e-3      | ESS, section 5.1
ess-ptb | search.architecture_decay      | 1e-3      | DARTS' code, --arch_wdecay
ess-ptb | search.architecture_beta1      | 0.9       | DARTS' code, architect.py
ess-ptb | search.architecture_beta2      | 0.999     | DARTS' code, architect.py
ess-ptb | search.architecture_start      | 1e-3      | DARTS' code, model_search.py
ess-ptb | search.optimizer               | 'sgd'     | DARTS' code
ess-ptb | search.learning_rate           | 20        | DARTS' code, --lr
ess-ptb | search.weight_decay            | 5e-7      | DARTS' code, --wdecay
ess-ptb | search.clip                    | 0.25      | DARTS' code, --clip
ess-ptb | search.batch                   | 256       | ESS, section 5.1
ess-ptb | search.evaluation_batch        | 10        | DARTS' code, eval_batch_size
ess-ptb | model.kind                     | 'one-layer' | DARTS' code
ess-ptb | model.hidden                   | 300       | ESS, section 5.1
ess-ptb | model.dropout_output           | 0.75      | DARTS' code, --dropout
ess-ptb | model.dropout_x                | 0.75      | DARTS' code, --dropoutx
ess-ptb | model.dropout_hidden           | 0.25      | DARTS' code, --dropouth
ess-ptb | model.dropout_embedding        | 0.2       | DARTS' code, --dropouti
ess-ptb | model.dropout_words            | 0.0       | DARTS' code, --dropoute
ess-ptb | model.ar                       | 0.0       | DARTS' code, --alpha
ess-ptb | model.tar                      | 1e-3      | DARTS' code, --beta
ess-wikitext-103 | task.data                      | 'wikitext-103' | ESS, section 5.1
ess-wikitext-103 | task.bptt                      | 70        | ESS, section 5.1
ess-wikitext-103 | search.nodes                   | 12        | ESS, section 5.1
ess-wikitext-103 | search.m                       | 5         | ESS, section 5.1
ess-wikitext-103 | search.batch                   | 128       | ESS, section 5.1
ess-wikitext-103 | search.architecture_rate_intra | 1e-3      | ESS, section 5.1
ess-wikitext-103 | search.architecture_rate_inter | 1e-4      | ESS, section 5.1
ess-wikitext-103 | model.hidden                   | 300       | ESS, section 5.1

# ENAS: Pham et al. 2018; what it does not say is its code's, scripts/ptb_search.sh and src/ptb
enas-ptb | task.data                 | 'ptb'  | ENAS, section 3.1
enas-ptb | task.bptt                 | 35     | ENAS' code, --child_bptt_steps
enas-ptb | task.bptt_spread          | 0.0    | ENAS' code: segments of one length
enas-ptb | task.bptt_halve           | 0.0    | ENAS' code: segments of one length
enas-ptb | search.kind               | 'enas' | ENAS
enas-ptb | search.nodes              | 12     | ENAS, section 3.1; ENAS' code, --child_rhn_depth
enas-ptb | search.operations         | ['tanh', 'relu', 'identity', 'sigmoid'] | ENAS, section 2.1
enas-ptb | search.norm               | 'products' | ENAS' code, _rhn_enas(): batch_norm(ht), batch_norm(layers), epsilon=1.0
enas-ptb | search.epochs             | 150    | ENAS, section 3.1
enas-ptb | search.optimizer          | 'sgd'  | ENAS, section 3.1
enas-ptb | search.learning_rate      | 20     | ENAS, section 3.1
enas-ptb | search.decay              | 0.96   | ENAS, section 3.1: a factor after each epoch …
enas-ptb | search.decay_after        | 15     | ENAS, section 3.1: … from epoch 15 on
enas-ptb | search.clip               | 0.25   | ENAS, section 3.1
enas-ptb | search.weight_decay       | 1e-7   | ENAS, section 3.1; ENAS' code, --child_l2_reg
enas-ptb | search.batch              | 64     | ENAS, section 2.2: minibatches of 64
enas-ptb | search.controller_steps   | 2000   | ENAS, section 2.2
enas-ptb | search.controller_samples | 1      | ENAS, section 2.2: M = 1
enas-ptb | search.controller_rate    | 3.5e-4 | ENAS, section 3.1
enas-ptb | search.controller_beta1   | 0.0    | ENAS' code, utils.py: AdamOptimizer(beta1=0.0)
enas-ptb | search.controller_epsilon | 1e-3   | ENAS' code, utils.py: AdamOptimizer(epsilon=1e-3)
enas-ptb | search.controller_units   | 100    | ENAS, section 2.2
enas-ptb | search.controller_range   | 0.1    | ENAS, section 3.1
enas-ptb | search.temperature        | 5.0    | ENAS' code, --controller_temperature
enas-ptb | search.tanh_constant      | 2.5    | ENAS' code, --controller_tanh_constant
enas-ptb | search.entropy_weight     | 1e-4   | ENAS, section 3.1
enas-ptb | search.reward_scale       | 80     | ENAS, section 3.1; ENAS' code: 80 / valid_ppl
enas-ptb | search.baseline_decay     | 0.99   | ENAS' code, --controller_bl_dec
enas-ptb | search.candidates         | 10     | ENAS-pairs, section 3.4; ENAS' code: "Here are 10 architectures"
enas-ptb | search.finalists          | 10     | all of them are measured
enas-ptb | model.kind                | 'one-layer' | ENAS' code, --child_num_layers=1
enas-ptb | model.hidden              | 720    | ENAS' code, --child_lstm_hidden_size
enas-ptb | model.dropout_output      | 0.75   | ENAS' code, --child_lstm_o_keep=0.25
enas-ptb | model.dropout_x           | 0.75   | ENAS' code, --child_lstm_x_keep=0.25
enas-ptb | model.dropout_hidden      | 0.25   | ENAS' code, --child_lstm_h_keep=0.75
enas-ptb | model.dropout_embedding   | 0.0    | ENAS' code: e_mask is of words, not of numbers
enas-ptb | model.dropout_words       | 0.25   | ENAS' code, --child_lstm_e_keep=0.75
enas-ptb | model.ar                  | 0.0    | ENAS' code, --child_rnn_l2_reg is not given
enas-ptb | model.tar                 | 0.0    | ENAS' code, --child_rnn_slowness_reg is not given

# Li and Talwalkar 2019, the code of its authors: searchers/random_weight_share.py and
# benchmarks/ptb/darts/darts_wrapper_discrete.py
random-sharing-ptb | task.data               | 'ptb' | its wrapper: data/penn
random-sharing-ptb | task.bptt               | 35    | its wrapper: bptt
random-sharing-ptb | task.bptt_spread        | 0.0   | its wrapper: seq_len = int(bptt)
random-sharing-ptb | task.bptt_halve         | 0.05  | its wrapper: halved where a draw is not below 0.95
random-sharing-ptb | search.kind             | 'random-sharing' | the method
random-sharing-ptb | search.cells            | 'darts' | its wrapper: genotypes in DARTS' RNNModel
random-sharing-ptb | search.nodes            | 8     | its wrapper: genotypes.STEPS, concat = range(1, 9)
random-sharing-ptb | search.operations       | ['tanh', 'relu', 'sigmoid', 'identity'] | its wrapper: PRIMITIVES from 1 on, so no none
random-sharing-ptb | search.epochs           | 100   | its searcher, --epochs
random-sharing-ptb | search.optimizer        | 'sgd' | its wrapper
random-sharing-ptb | search.learning_rate    | 20    | its wrapper: lr
random-sharing-ptb | search.decay            | 1.0   | its wrapper: none
random-sharing-ptb | search.clip             | 0.25  | its searcher, --grad_clip
random-sharing-ptb | search.weight_decay     | 5e-7  | its wrapper: wdecay
random-sharing-ptb | search.batch            | 64    | its searcher, --batch_size
random-sharing-ptb | search.evaluation_batch | 10    | its wrapper: eval_batch_size
random-sharing-ptb | search.candidates       | 1000  | its searcher: get_eval_arch
random-sharing-ptb | search.finalists        | 10    | its searcher: get_eval_arch
random-sharing-ptb | model.kind              | 'one-layer' | its wrapper
random-sharing-ptb | model.hidden            | 300   | its wrapper: emsize, nhid, nhidlast
random-sharing-ptb | model.dropout_output    | 0.75  | its wrapper: dropout
random-sharing-ptb | model.dropout_x         | 0.75  | its wrapper: dropoutx
random-sharing-ptb | model.dropout_hidden    | 0.25  | its wrapper: dropouth
random-sharing-ptb | model.dropout_embedding | 0.2   | its wrapper: dropouti
random-sharing-ptb | model.dropout_words     | 0.0   | its wrapper: dropoute
random-sharing-ptb | model.ar                | 0.0   | its wrapper: alpha
random-sharing-ptb | model.tar               | 1e-3  | its wrapper: beta

# FENAS: Pasunuru and Bansal 2020, section 4.3
fenas-ptb | trials                       | 5100  | FENAS, section 4.3: 5000 cycles, after a population of 100
fenas-ptb | task.data                    | 'ptb' | FENAS, section 4.1
fenas-ptb | space.kind                   | 'fenas' | FENAS, section 3.1
fenas-ptb | space.nodes                  | 9     | FENAS, section 4.3
fenas-ptb | space.memory                 | true  | FENAS, section 3.1: c(t−1) and c(t)
fenas-ptb | method.kind                  | 'aging-evolution' | FENAS, section 3.2
fenas-ptb | method.population            | 100   | FENAS, section 4.3
fenas-ptb | method.sample                | 25    | FENAS, section 4.3
fenas-ptb | method.epochs                | 20    | FENAS, section 4.3
fenas-ptb | method.initial               | ['fenas-lstm'] | FENAS, section 5.1
fenas-ptb | child.model.hidden           | 300   | FENAS, section 4.3
fenas-ptb | child.training.optimizer     | 'adam' | FENAS, section 4.3
fenas-ptb | child.training.learning_rate | 1e-3  | FENAS, section 4.3
fenas-ptb | child.training.weight_decay  | 8e-6  | FENAS, section 4.3
fenas-ptb | child.training.clip          | 0.25  | FENAS, section 4.3

# NAS-Bench-NLP: Klyuchnikov et al. 2020, section 5, and its benchmarking_examples.ipynb
random-ptb                | task.data         | 'ptb' | NAS-Bench-NLP, section 3
random-ptb                | space.kind        | 'nas-bench-nlp' | NAS-Bench-NLP, section 3
random-ptb                | method.kind       | 'random' | NAS-Bench-NLP, section 5
random-ptb                | method.epochs     | 50    | NAS-Bench-NLP, section 5: RS 50E
hyperband-ptb             | method.kind       | 'hyperband' | NAS-Bench-NLP, section 5
hyperband-ptb             | method.epochs     | 50    | its notebook: R = 50
hyperband-ptb             | method.eta        | 3     | its notebook: eta = 3
bayesian-optimization-ptb | method.kind       | 'bayesian-optimization' | NAS-Bench-NLP, section 5
bayesian-optimization-ptb | method.epochs     | 50    | its notebook: epochs_train
bayesian-optimization-ptb | method.initial    | 20    | its notebook: N_init
bayesian-optimization-ptb | method.batch      | 10    | its notebook: train_batch
bayesian-optimization-ptb | method.beta       | 2.0   | its notebook: beta
bayesian-optimization-ptb | method.regressors | 14    | its notebook: BaggingRegressor(n_estimators=14)
bayesian-optimization-ptb | method.trees      | 100   | its notebook: XGBRegressor(n_estimators=100)
bayesian-optimization-ptb | method.depth      | 15    | its notebook: max_depth
bayesian-optimization-ptb | pool.dimensions   | 50    | NAS-Bench-NLP, section 5: BO 50D
tpe-ptb                   | method.kind       | 'tpe' | NAS-Bench-NLP, section 5
tpe-ptb                   | method.epochs     | 50    | its notebook: epochs_train
tpe-ptb                   | pool.dimensions   | 50    | its notebook: X = X_highdim
smac-ptb                  | method.kind       | 'smac' | NAS-Bench-NLP, section 5
smac-ptb                  | method.epochs     | 50    | its notebook: epochs_train
smac-ptb                  | pool.dimensions   | 10    | NAS-Bench-NLP, section 5

# Trainings
darts-ptb-training | task.data                 | 'ptb' | I-DARTS, section 3.2
darts-ptb-training | task.bptt                 | 35    | DARTS' code, rnn/train.py: --bptt
darts-ptb-training | task.bptt_spread          | 5.0   | DARTS' code, train(): normal(bptt, 5)
darts-ptb-training | task.bptt_shortest        | 5     | DARTS' code, train(): max(5, …)
darts-ptb-training | task.bptt_halve           | 0.05  | DARTS' code, train()
darts-ptb-training | model.kind                | 'one-layer' | DARTS' code, model.py
darts-ptb-training | model.hidden              | 850   | I-DARTS, section 3.2
darts-ptb-training | model.dropout_output      | 0.75  | DARTS' code, --dropout
darts-ptb-training | model.dropout_x           | 0.75  | DARTS' code, --dropoutx
darts-ptb-training | model.dropout_hidden      | 0.25  | DARTS' code, --dropouth
darts-ptb-training | model.dropout_embedding   | 0.2   | DARTS' code, --dropouti
darts-ptb-training | model.dropout_words       | 0.1   | DARTS' code, --dropoute
darts-ptb-training | model.ar                  | 0.0   | DARTS' code, --alpha
darts-ptb-training | model.tar                 | 1e-3  | DARTS' code, --beta
darts-ptb-training | training.optimizer        | 'sgd' | I-DARTS, section 3.2
darts-ptb-training | training.learning_rate    | 20    | I-DARTS, section 3.2
darts-ptb-training | training.weight_decay     | 8e-7  | I-DARTS, section 3.2
darts-ptb-training | training.clip             | 0.25  | DARTS' code, --clip
darts-ptb-training | training.epochs           | 3000  | I-DARTS, section 3.2
darts-ptb-training | training.batch            | 64    | DARTS' code, --batch_size
darts-ptb-training | training.evaluation_batch | 10    | DARTS' code, eval_batch_size
darts-ptb-training | training.average_after    | 5     | DARTS' code, --nonmono
ess-ptb-training | model.hidden                | 850   | ESS, section 5.1
ess-ptb-training | training.epochs             | 3000  | ESS, section 5.1
ess-wikitext-103-training | task.data          | 'wikitext-103' | ESS, section 5.1
ess-wikitext-103-training | task.bptt          | 70    | ESS, section 5.1
ess-wikitext-103-training | model.hidden       | 2500  | ESS, section 5.1
ess-wikitext-103-training | training.epochs    | 30    | ESS, section 5.1
fenas-ptb-training | task.data                 | 'ptb' | FENAS, section 4.1
fenas-ptb-training | task.bptt                 | 35    | ENAS' code, --child_bptt_steps
fenas-ptb-training | model.kind                | 'one-layer' | FENAS, section 4.3
fenas-ptb-training | model.hidden              | 900   | FENAS, section 4.3
fenas-ptb-training | training.optimizer        | 'sgd' | ENAS, section 3.1
fenas-ptb-training | training.learning_rate    | 20    | ENAS, section 3.1
fenas-ptb-training | training.weight_decay     | 1e-7  | ENAS, section 3.1
fenas-ptb-training | training.clip             | 0.25  | ENAS, section 3.1
fenas-ptb-training | training.epochs           | 150   | ENAS, section 3.1
fenas-ptb-training | training.batch            | 64    | ENAS, section 2.2
fenas-ptb-training | training.decay            | 0.96  | ENAS, section 3.1
fenas-ptb-training | training.decay_after      | 15    | ENAS, section 3.1
nas-bench-nlp-ptb-as-released | model.recurrent | 'frozen' | its released code, weight_drop.py
nas-bench-nlp-wikitext-2-as-released | model.recurrent | 'frozen' | its released code, weight_drop.py
nas-bench-nlp-ptb | task.data                  | 'ptb' | NAS-Bench-NLP, section 3
nas-bench-nlp-ptb | task.bptt                  | 70    | its logs: bptt
nas-bench-nlp-ptb | task.bptt_spread           | 5.0   | AWD-LSTM, section 5
nas-bench-nlp-ptb | task.bptt_shortest         | 5     | AWD-LSTM's code
nas-bench-nlp-ptb | task.bptt_halve            | 0.05  | AWD-LSTM, section 5
nas-bench-nlp-ptb | model.kind                 | 'awd' | NAS-Bench-NLP, section 3
nas-bench-nlp-ptb | model.embedding            | 400   | its logs: emsize
nas-bench-nlp-ptb | model.hidden               | 600   | NAS-Bench-NLP, section 3: nhid
nas-bench-nlp-ptb | model.layers               | 3     | NAS-Bench-NLP, section 3: three stacked cells
nas-bench-nlp-ptb | model.dropout_output       | 0.1   | NAS-Bench-NLP, section 3: dropout
nas-bench-nlp-ptb | model.dropout_between      | 0.25  | NAS-Bench-NLP, section 3: dropouth
nas-bench-nlp-ptb | model.dropout_input        | 0.4   | NAS-Bench-NLP, section 3: dropouti
nas-bench-nlp-ptb | model.dropout_words        | 0.0   | NAS-Bench-NLP, section 3: dropoute
nas-bench-nlp-ptb | model.weight_dropout       | 0.1   | NAS-Bench-NLP, section 3: wdrop
nas-bench-nlp-ptb | model.ar                   | 2.0   | its logs: alpha
nas-bench-nlp-ptb | model.tar                  | 1.0   | its logs: beta
nas-bench-nlp-ptb | training.optimizer         | 'adam' | its code, main_one_model_train.py
nas-bench-nlp-ptb | training.learning_rate     | 1e-3  | its logs: lr
nas-bench-nlp-ptb | training.weight_decay      | 1.2e-6 | its logs: wdecay
nas-bench-nlp-ptb | training.clip              | 0.25  | its logs: clip
nas-bench-nlp-ptb | training.epochs            | 50    | NAS-Bench-NLP, section 3
nas-bench-nlp-ptb | training.batch             | 20    | NAS-Bench-NLP, section 3: batch_size
nas-bench-nlp-ptb | training.evaluation_batch  | 50    | its logs: eval_batch_size
nas-bench-nlp-wikitext-2 | task.data           | 'wikitext-2' | NAS-Bench-NLP, section 3: both data sets

# Tagging. ESS, section 5.1: "the setting in Akbik et al. (2019)", which is Flair 0.4.1's
ner-conll2003 | task.data                 | 'conll2003' | ESS, section 5.1
ner-conll2003 | task.scheme               | 'IOBES' | Flair 0.4.1: tags are turned into IOBES
ner-conll2003 | task.documents            | 'keep'  | Flair 0.4.1: 14,987 training sentences
ner-conll2003 | model.kind                | 'tagger' | Akbik et al. 2018: BiLSTM-CRF
ner-conll2003 | model.hidden              | 512   | ESS, section 5.1
ner-conll2003 | model.layers              | 1     | Flair 0.4.1: rnn_layers
ner-conll2003 | model.relearn             | true  | Flair 0.4.1: embedding2nn
ner-conll2003 | model.crf                 | true  | Flair 0.4.1: use_crf
ner-conll2003 | model.constrained         | false | Flair 0.4.1: any tag may follow any other
ner-conll2003 | model.dropout_words       | 0.05  | Flair 0.4.1: word_dropout
ner-conll2003 | model.words_dropped       | 'step' | Flair 0.4.1: one draw for each time step
ner-conll2003 | model.dropout_input       | 0.5   | Flair 0.4.1: locked_dropout
ner-conll2003 | model.dropout_output      | 0.5   | Flair 0.4.1: locked_dropout
ner-conll2003 | model.loss                | 'sum' | Flair 0.4.1: forward_loss sums sentences
ner-conll2003 | training.optimizer        | 'sgd' | Akbik et al. 2018
ner-conll2003 | training.learning_rate    | 0.1   | Akbik et al. 2018
ner-conll2003 | training.weight_decay     | 0.0   | Flair 0.4.1: none
ner-conll2003 | training.clip             | 5.0   | Flair 0.4.1: clip_grad_norm_
ner-conll2003 | training.epochs           | 150   | Akbik et al. 2018
ner-conll2003 | training.batch            | 24    | ESS, section 5.1
ner-conll2003 | training.evaluation_batch | 32    | Flair 0.4.1: eval_mini_batch_size
ner-conll2003 | training.anneal           | 0.5   | Flair 0.4.1: anneal_factor
ner-conll2003 | training.anneal_after     | 4     | Flair 0.4.1: patience 3, and falls at the next
ner-conll2003 | training.rate_least       | 1e-4  | Flair 0.4.1: stops below
ner-wnut17       | task.data              | 'wnut17' | ESS, section 5.1
chunks-conll2000 | task.data              | 'conll2000' | ESS, section 5.1

# I-DARTS, section 3.2, on named entities
i-darts-conll2003-training | model.hidden           | 512  | I-DARTS, section 3.2
i-darts-conll2003-training | training.learning_rate | 0.1  | I-DARTS, section 3.2
i-darts-conll2003-training | training.clip          | 5.0  | I-DARTS, section 3.2
i-darts-conll2003-training | training.anneal        | 0.25 | I-DARTS, section 3.2
i-darts-conll2003-training | training.anneal_after  | 2    | I-DARTS, section 3.2
i-darts-conll2003-training | training.batch         | 32   | Flair 0.4.1: mini_batch_size
i-darts-conll2003 | task.data                      | 'conll2003' | I-DARTS, section 3.1
i-darts-conll2003 | task.scheme                    | 'IOBES' | Flair 0.4.1
i-darts-conll2003 | task.documents                 | 'keep'  | Flair 0.4.1
i-darts-conll2003 | search.kind                    | 'i-darts' | I-DARTS
i-darts-conll2003 | search.nodes                   | 8       | I-DARTS, section 3.1
i-darts-conll2003 | search.softmax                 | 'node'  | I-DARTS, Eq. 4
i-darts-conll2003 | search.top_edges               | 1       | I-DARTS, section 3.2
i-darts-conll2003 | search.epochs                  | 40      | I-DARTS, section 3.1
i-darts-conll2003 | search.batch                   | 256     | I-DARTS, section 3.1
i-darts-conll2003 | search.learning_rate           | 0.1     | I-DARTS, section 3.1
i-darts-conll2003 | search.weight_decay            | 5e-7    | I-DARTS, section 3.1
i-darts-conll2003 | search.architecture_rate_intra | 3e-3    | I-DARTS, section 3.1
i-darts-conll2003 | search.architecture_decay      | 1e-3    | I-DARTS, section 3.1
i-darts-conll2003 | search.clip                    | 5.0     | I-DARTS, section 3.2: that of its evaluation
i-darts-conll2003 | search.evaluation_batch        | 32      | Flair 0.4.1
i-darts-conll2003 | model.kind                     | 'tagger' | I-DARTS, section 3.2: RNN-CRF
i-darts-conll2003 | model.hidden                   | 256     | I-DARTS, section 3.1
i-darts-conll2003 | model.layers                   | 1       | I-DARTS, section 3.2
i-darts-conll2003 | model.relearn                  | true    | Flair 0.4.1
i-darts-conll2003 | model.crf                      | true    | I-DARTS, section 3.2
i-darts-conll2003 | model.constrained              | false   | Flair 0.4.1
i-darts-conll2003 | model.dropout_words            | 0.05    | Flair 0.4.1
i-darts-conll2003 | model.words_dropped            | 'step'  | Flair 0.4.1
i-darts-conll2003 | model.dropout_input            | 0.5     | Flair 0.4.1
i-darts-conll2003 | model.dropout_output           | 0.5     | Flair 0.4.1
i-darts-conll2003 | model.loss                     | 'sum'   | Flair 0.4.1
darts-conll2003   | search.kind                    | 'darts' | DARTS
darts-conll2003   | search.softmax                 | 'pair'  | DARTS, Eq. 2
"""  # noqa: E501

OURS = {
    "enas-ptb": {"search.evaluation_batch"},
    "random-sharing-ptb": {"search.screening"},
    "ess-ptb": {
        "selection_epochs", "search.alpha", "search.phase_epochs", "search.epochs", "search.fixed",
    },
    # dropout "tuned in the range [0.1, 0.5]" (section 4.3), with no word on what came out
    "fenas-ptb": {
        "child.model.dropout_output", "child.model.dropout_x", "child.model.dropout_hidden",
        "child.model.dropout_embedding", "child.model.dropout_words", "child.model.tar",
        "child.training.decay",
    },
    # ENAS prints no dropout rates: DARTS' for ENAS' cell
    "fenas-ptb-training": {
        "model.dropout_output", "model.dropout_x", "model.dropout_hidden", "model.ar", "model.tar",
        "model.dropout_embedding", "model.dropout_words", "training.evaluation_batch",
        "training.average_after",
    },
    "nas-bench-nlp-ptb": {"training.average_after"},
    "random-ptb": {"trials"},
    "hyperband-ptb": {"trials"},
    "asynchronous-hyperband-ptb": {
        "trials", "window", "method.kind", "method.epochs", "method.eta",
    },
    "bayesian-optimization-ptb": {"pool.cells"},
    "tpe-ptb": {"pool.cells"},
    "smac-ptb": {"pool.cells"},
    "local-search-ptb": {"method.kind", "method.epochs"},
    "ner-conll2003": {"training.average_after", "training.explode_above"},
    "ner-conll2003-words": set(),
    "ner-wnut17-words": set(),
    "chunks-conll2000-words": set(),
    "i-darts-conll2003-training": {"task.validate_on"},
    "i-darts-conll2003-training-words": set(),
    "i-darts-conll2003": {"selection_epochs", "search.explode_above"},
    # all but the method as in i-darts-conll2003
    "darts-conll2003": {
        "selection_epochs", "task.data", "task.scheme", "task.documents", "search.epochs",
        "search.learning_rate", "search.clip", "search.evaluation_batch", "search.explode_above",
        *(f"model.{name}" for name in (
            "kind", "hidden", "layers", "relearn", "crf", "constrained", "dropout_words",
            "words_dropped", "dropout_input", "dropout_output", "loss",
        )),
    },
}  # fmt: skip
"""Settings of these recipes that no source has: a comment in the recipe says what is chosen."""

LEFT_OUT = ("description", "extends", "training", "task.kind")
"""No numbers of a paper."""

ELSEWHERE = ("init_range", "norm", "embeddings")
"""How the names of settings begin that are told elsewhere."""

NO_PAPERS = ("auto", "auto-sentences", "auto-tagging", "laptop")
"""Recipes that follow no paper, beside those that end in `-laptop`."""

_GLUE = ("cola", "mnli", "mrpc", "qnli", "qqp", "rte", "sst-2", "sts-b", "wnli")
OWN_TABLES = (
    "frozen-", "blm-", "esim-", "glue-", *(f"fenas-{data}" for data in _GLUE),
    *(f"enas-{data}" for data in ("mrpc", "sick-r", "sts-b")),
)  # fmt: skip
"""How the names of recipes begin whose numbers are typed in elsewhere: in `test_frozen_recipes.py`
and `test_sentence_recipes.py`."""

KINDS = {"search": load_search_recipe, "studies": load_study_recipe, "training": load_recipe}


class Row(NamedTuple):
    """A line of the table."""

    recipe: str
    key: str
    value: Any
    source: str


def rows() -> list[Row]:
    found = []
    for line in TABLE.splitlines():
        if line and not line.startswith("#"):
            recipe, key, value, source = (word.strip() for word in line.split(" | ", 3))
            found.append(Row(recipe, key, tomllib.loads(f"value = {value}")["value"], source))
    return found


def written() -> dict[str, tuple[str, dict[str, Any]]]:
    """Of each recipe of a paper its kind, and what its own file says."""
    found = {}
    for kind in KINDS:
        for file in resources.files("cellwright").joinpath("recipes", kind).iterdir():
            name = file.name.removesuffix(".toml")
            if name.startswith(OWN_TABLES):
                continue
            if not name.endswith("-laptop") and name not in NO_PAPERS:
                values = tomllib.loads(file.read_text(encoding="utf-8"))
                found[name] = kind, dict(flattened(values))
    return found


def flattened(table: Mapping[str, Any], path: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for key, value in table.items():
        inner = isinstance(value, Mapping)
        found += flattened(value, f"{path}{key}.") if inner else [(f"{path}{key}", value)]
    return found


ROWS, WRITTEN = rows(), written()


@functools.cache
def loaded(name: str) -> Any:
    return KINDS[WRITTEN[name][0]](name)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.recipe} {row.key}")
def test_a_recipe_has_the_number_of_its_source(row: Row):
    recipe = loaded(row.recipe)
    keys = row.key.split(".")
    if keys[0] == "child":
        recipe, keys = recipe.child_recipe(), keys[1:]
    for key in keys:
        settings = getattr(recipe, "settings", None)
        named = isinstance(settings, dict) and key in settings
        recipe = settings[key] if named else getattr(recipe, key)
    found = list(recipe) if isinstance(recipe, tuple) else recipe
    assert found == row.value, row.source


@pytest.mark.parametrize("name", WRITTEN)
def test_every_number_of_a_recipe_has_a_source_or_is_said_to_be_ours(name: str):
    told = {row.key for row in ROWS if row.recipe == name} | OURS.get(name, set())
    said = {
        key
        for key in WRITTEN[name][1]
        if key not in LEFT_OUT and not key.split(".")[-1].startswith(ELSEWHERE)
    }
    assert said - told == set()


def test_the_table_names_each_number_once():
    places = [(row.recipe, row.key) for row in ROWS]
    assert len(places) == len(set(places))
    assert {row.recipe for row in ROWS} | OURS.keys() == WRITTEN.keys()
