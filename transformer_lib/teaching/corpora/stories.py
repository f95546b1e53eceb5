"""Stories of one long sentence, "… and then it met a bear and then it …", made by a grammar that can also judge a story."""

import random
import re

__all__ = ["NOUNS", "is_a_story", "stories", "story"]

NOUNS = {
    "hero": "cow horse fox goat bear mouse hen duck".split(),
    "animal": "bear wolf dog cat mouse duck goat hen frog crow bee snail".split(),
    "thing": "hat key shoe drum bell coin kite map ring lamp cup rope box ball nail flute".split(),
    "food": "pear plum cake pie nut carrot bun fig".split(),
    "place": "river forest village mountain lake market bridge castle".split(),
}
# What may happen, and how often it does; a feeling makes one event three times as frequent.
EVENTS = {
    "met a {animal}": 4,
    "found a {thing}": 5,
    "ate a {food}": 3,
    "went to the {place}": 4,
    "slept under a tree": 2,
    "sang a song": 2,
}
FEELINGS = {"tired": "slept under a tree", "hungry": "ate a {food}", "happy": "sang a song", "bored": "went to the {place}"}
LOOKS = "white small old brown".split()
GO_ON = 0.8  # how often another event follows


def _filled(words: str, chance: random.Random) -> str:
    def noun(place: re.Match) -> str:
        all_nouns = NOUNS[place[1]]
        return chance.choices(all_nouns, [1 / (rank + 6) for rank in range(len(all_nouns))])[0]

    return re.sub(r"\{(\w+)\}", noun, words)


def story(chance: random.Random) -> tuple[str, str]:
    """Return the beginning of a story, and how it goes on."""
    feeling = chance.choice(list(FEELINGS))
    beginning = _filled(f"the {chance.choice(LOOKS)} {{hero}} was {feeling}", chance)
    weights = [often * (3 if event == FEELINGS[feeling] else 1) for event, often in EVENTS.items()]
    rest = ""
    while not rest or chance.random() < GO_ON:
        rest += "and then it " + _filled(chance.choices(list(EVENTS), weights)[0], chance) + " "
    return beginning, rest + "."


def stories(count: int, seed: int) -> list[tuple[str, str]]:
    """Return so many stories; the same for the same `seed`."""
    chance = random.Random(seed)
    return [story(chance) for _ in range(count)]


_EVENT = "|".join(re.sub(r"\{(\w+)\}", lambda noun: f"(?:{'|'.join(NOUNS[noun[1]])})", event) for event in EVENTS)
_STORY = re.compile(f"(?:and then it (?:{_EVENT}) )+\\.")


def is_a_story(rest: str) -> bool:
    """Tell whether the grammar could have written `rest`."""
    return _STORY.fullmatch(rest) is not None
