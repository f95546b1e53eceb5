"""Chapter 15's experiment: the pairs fit each other, and what is exchanged is what its name says."""

import pytest
import torch

from transformer_lib.teaching.experiments import interpretation as experiment
from transformer_lib.translation import pretrained_translator


@pytest.fixture(scope="module")
def translator():
    return pretrained_translator()


@pytest.mark.parametrize("frame", experiment.FRAMES)
def test_the_two_texts_of_a_pair_differ_in_the_noun_alone(translator, frame):
    found = experiment.pairs(frame)
    assert len(found) == len(set(found)) == 164
    for pair in found:
        one, other = (translator.tokenizer.tokens(text) for text in (pair.text, pair.other))
        adjective, noun = pair.places
        assert [place for place in range(len(one)) if one[place] != other[place]] == [noun]
        assert len(one) == len(other) and one[adjective] == other[adjective]
        assert pair.own_form != pair.other_form


@pytest.mark.parametrize("frame", experiment.FRAMES)
def test_what_is_exchanged(translator, frame):
    model = experiment.plain_transformer(translator)
    for pair in experiment.pairs(frame)[:5]:
        texts = torch.tensor([translator.read(text) for text in (pair.text, pair.other)])
        with torch.no_grad():
            memories = model.start(texts).memory
        words = experiment.next_words(translator, model, memories, pair.own_words)
        assert words[0] == pair.own_form == translator.translate(pair.text).split()[len(pair.own_words.split())]
        single = [experiment.next_words(translator, model, memory[None], pair.own_words)[0] for memory in memories]
        assert words == single
        length = memories.size(1)
        chosen = {name: set(places(*pair.places, length)) for name, places in experiment.PLACES.items()}
        assert chosen["the others"] | chosen["both"] == chosen["all"] and not chosen["the others"] & chosen["both"]
        assert chosen["all but the adjective"] | chosen["the adjective"] == chosen["all"] == set(range(length))
