"""Count the o200k tokens of standard input; run with a Python that has the tokenizer, whose vocabulary is bundled."""

import sys

import bpe_openai

print(len(bpe_openai.get_encoding("o200k_base").encode(sys.stdin.read())))
