"""Frozen models small enough for tests: an encoder, Flair's kind, and a run of cellwright's own."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import nn

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "li", "##ves", "in", "a", "##nn", "bob", ".", "##b"]

CHARACTERS = ["<unk>", " ", "\n", *"abcdefghijklmnopqrstuvwxyz."]


def tiny_encoder(folder: Path, longest: int = 12, types: int = 2) -> Path:
    """A BERT of 2 layers of 8 that reads 10 pieces at once, with random weights."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    numbers = {piece: number for number, piece in enumerate(PIECES)}
    cut = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))
    cut.normalizer = normalizers.BertNormalizer(lowercase=True)
    cut.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    cut.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    names = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]"}
    PreTrainedTokenizerFast(tokenizer_object=cut, **names).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(PIECES), hidden_size=8, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=12, max_position_embeddings=longest,
        type_vocab_size=types,
    )  # fmt: skip
    torch.manual_seed(5)
    BertModel(config).save_pretrained(folder)
    return folder


def tiny_flair(folder: Path, hidden: int = 3) -> list[str]:
    """A forward and a backward character model with random weights."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "chars.json").write_text(json.dumps(CHARACTERS))
    torch.manual_seed(7)
    files = []
    for way in ("forward", "backward"):
        lstm = nn.LSTM(4, hidden)
        weights = {f"rnn.{name}": tensor.detach() for name, tensor in lstm.named_parameters()}
        weights["encoder.weight"] = torch.randn(len(CHARACTERS), 4)
        save_file(weights, folder / f"tiny-{way}.safetensors")
        files.append(str(folder / f"tiny-{way}.safetensors"))
    return files


def tiny_run(folder: Path) -> Path:
    """A run of a language model with 6 hidden numbers, trained for one epoch."""
    import cellwright as cw

    text = folder / "text"
    text.mkdir(parents=True)
    for part in ("train", "valid", "test"):
        (text / f"{part}.txt").write_text("ann lives in rome .\nbob lives .\n" * 8)
    (folder / "lm.toml").write_text(
        f"""
[task]
kind = "language"
data = "{text}"
bptt = 5
[model]
kind = "one-layer"
hidden = 6
[training]
optimizer = "adam"
learning_rate = 0.01
batch = 2
evaluation_batch = 2
epochs = 1
"""
    )
    run = cw.train("gru", recipe=folder / "lm.toml", out=folder / "runs", progress=False)
    return Path(run.path)
