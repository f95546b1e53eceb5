"""What chapter 1's encoder–decoder writes when it spells readable words backwards, given the right letters and its own."""

import torch

from benchmarks.records import write_record
from transformer_lib.eval_mode import eval_mode
from transformer_lib.seq2seq import EOS_ID, SOS_ID, Seq2Seq, greedy_decode
from transformer_lib.teaching.experiments.sequence_tasks import VOCABULARY, train_on_task

NAME = "seq2seq_sentences"
SEED = 0
SENTENCES = ["badge", "beachhead", "hehadabigbadge"]  # of the letters a to j, ids 3 to 12; trained on random letters
D_MODEL = 32
STEPS = 1500
HIDDEN = [32, 128]


def main() -> None:
    torch.set_num_threads(1)  # models this small gain nothing from a second one
    numbers = {}
    for hidden in HIDDEN:
        torch.manual_seed(SEED)
        model = Seq2Seq(VOCABULARY, VOCABULARY, d_model=D_MODEL, hidden_size=hidden)
        train_on_task(model, task="reverse", seed=SEED, steps=STEPS)
        numbers[str(hidden)] = {}
        for sentence in SENTENCES:
            source = torch.tensor([[ord(letter) - ord("a") + 3 for letter in sentence]])
            answer = source.flip(1)
            with eval_mode(model):
                forced = model(source, torch.cat([torch.tensor([[SOS_ID]]), answer], dim=1)).argmax(dim=-1)
            free = greedy_decode(model, source, max_len=len(sentence) + 1)
            row = {"right": [*answer[0].tolist(), EOS_ID], "free": free[0].tolist(), "forced": forced[0].tolist()}
            numbers[str(hidden)][sentence] = row
            print(hidden, sentence, *row.values(), sep="  ", flush=True)
    settings = {"task": "reverse", "d_model": D_MODEL, "steps": STEPS, "longest": 16, "batch": 64, "learning_rate": 5e-3}
    write_record(NAME, seeds=[SEED], settings=settings, numbers=numbers)


if __name__ == "__main__":
    main()
