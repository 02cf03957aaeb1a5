"""The words of Undercover: pairs of similar ones, and clues that fit many."""

import re

_PAIRS = """
violin cello | apple pear | river canal | castle palace | train tram | coffee cocoa | wolf fox | lake pond
guitar banjo | lemon lime | doctor nurse | chair stool | moon star | butter cheese | desert beach | boat ship
ring bracelet | candle lantern | mouse hamster | glove mitten | bread cake | hammer axe | brush pencil | hail snow
meadow forest | mirror window | crown helmet | camel donkey | bridge tunnel | novel poem | king prince | wasp bee
carpet curtain | spoon fork | teacher coach | hotel hostel | soap shampoo | market bazaar | tiger lion | bus taxi
salt pepper | sofa bench | clock watch | owl eagle | onion garlic | museum gallery | shirt jacket | piano organ
potato carrot | farmer gardener | pilot sailor | island mountain | oven stove | ticket passport | duck swan
"""
PAIRS = tuple((first, second) for first, second in (pair.split() for pair in re.split(r"[|\n]", _PAIRS.strip())))
"""Pairs of words; none contains another."""

CLUES = (
    "children like it",
    "I saw it on holiday",
    "it can be heavy",
    "it is older than you think",
    "most people know it",
    "my family had one",
    "not everyone needs it",
    "people talk about it",
    "some are large",
    "there are many kinds",
    "you can find it in many countries",
    "you see it in films",
)
"""Clues of random play, which contain none of the words."""
