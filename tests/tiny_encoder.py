"""A tiny encoder, made on the spot: two layers that have read nothing, and a tokenizer of whole words."""

from __future__ import annotations

from pathlib import Path

WORDS = (
    "which huts have showers hut that has show all long trails trail whose length is over 10 km number of "
    "a b c d e f g h how many are there the highest peak"
)


def write_tiny_encoder(folder: Path, words: str = WORDS) -> Path:
    """A folder as transformers saves one; it knows these words."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *dict.fromkeys(words.split())]
    tokenizer = Tokenizer(models.WordLevel({token: i for i, token in enumerate(tokens)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", None, [("[CLS]", 2), ("[SEP]", 3)])
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokens), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]").save_pretrained(folder)
    return folder
