"""The starts of seed 5, which are the same in every framework."""

IDS = ["core:Echo-v0", "interop_envs:Talk"]
SEED = 5
TRAINING = [
    ("core:Echo-v0", 2491102581337182487),
    ("interop_envs:Talk", 7850999499857227593),
    ("core:Echo-v0", 4826527067352240951),
]
EVALUATION = [
    ("core:Echo-v0", 348440630047648275),
    ("interop_envs:Talk", 2440424997432233260),
    ("core:Echo-v0", 3389024242270210397),
]
