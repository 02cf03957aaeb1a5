"""The specs of this pack. Listing environments loads this module, but no environment and not reasoning-gym."""

from typing import Any

import gem

GEM_API = 1

# Listed here because importing reasoning-gym takes a second; a test compares the list with the installed version.
NAMES = (
    "ab", "acre", "advanced_geometry", "aiw", "arc_1d", "arc_agi", "base_conversion", "basic_arithmetic", "bf",
    "binary_alternation", "binary_matrix", "bitwise_arithmetic", "boxnet", "caesar_cipher", "calendar_arithmetic",
    "chain_sum", "circuit_logic", "codeio", "coin_flip", "color_cube_rotation", "complex_arithmetic", "composite",
    "count_bits", "count_primes", "countdown", "course_schedule", "cryptarithm", "decimal_arithmetic",
    "decimal_chain_sum", "dice", "emoji_mystery", "family_relationships", "figlet_font",
    "fraction_simplification", "futoshiki", "game_of_life", "game_of_life_halting", "gcd", "graph_color",
    "group_anagrams", "gsm_symbolic", "intermediate_integration", "isomorphic_strings", "jugs", "kakurasu",
    "knight_swap", "knights_knaves", "largest_island", "lcm", "leg_counting", "letter_counting", "letter_jumble",
    "list_functions", "mahjong_puzzle", "manipulate_matrix", "maze", "mini_sudoku", "modulo_grid", "n_queens",
    "needle_haystack", "number_filtering", "number_format", "number_sequence", "number_sorting",
    "palindrome_generation", "palindrome_partitioning", "path_star", "polynomial_equations",
    "polynomial_multiplication", "pool_matrix", "power_function", "prime_factorization", "products",
    "propositional_logic", "puzzle24", "quantum_lock", "ransom_note", "rearc", "rectangle_count", "rotate_matrix",
    "rotten_oranges", "rubiks_cube", "rush_hour", "self_reference", "sentence_reordering", "shortest_path",
    "simple_equations", "simple_geometry", "simple_integration", "sokoban", "spell_backward", "spiral_matrix",
    "string_insertion", "string_manipulation", "string_splitting", "string_synthesis", "sudoku", "survo",
    "syllogism", "time_intervals", "tower_of_hanoi", "tsumego", "word_ladder", "word_sequence_reversal",
    "word_sorting", "zebra_puzzles",
)  # fmt: skip

SETTINGS: dict[str, dict[str, Any]] = {
    "composite": {"datasets": [{"name": name} for name in ("chain_sum", "letter_counting", "syllogism")]}
}
"""Settings without which a dataset cannot be built."""
KNOWN: dict[str, dict[str, str]] = {
    "rotate_matrix": {"gold_shown": "A matrix that is turned by half is the same numbers from back to front."},
    "spell_backward": {"gold_shown": "To write a word from back to front is the task."},
    "string_insertion": {
        "gold_shown": "With reasoning-gym's own settings a pattern is rare, and nearly every string stays as it is: "
        "give longer ones, such as min_string_length=300, max_string_length=400."
    },
    "shortest_path": {"constant": "More than a third of reasoning-gym's grids have no path, and are infeasible."},
    "syllogism": {"constant": "reasoning-gym draws three syllogisms with the answer Yes for each one with No."},
}
"""What the audit finds in datasets, and why it stays."""


@gem.hookimpl
def gem_envs() -> list[gem.EnvSpec]:
    return [
        gem.EnvSpec(
            id=f"rg:{name}",
            entry_point="gem_envs_reasoning.reasoning:Reasoning",
            kwargs={"dataset": name, **SETTINGS.get(name, {})},
            description=f"reasoning-gym's {name.replace('_', ' ')}",
            tags=("reasoning", "single-turn", "procedural"),
            known_findings=KNOWN.get(name, {}),
        )
        for name in NAMES
    ]
