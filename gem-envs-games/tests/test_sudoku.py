import pytest

from gem_envs_games.sudoku import Sudoku

# In the puzzle, the cell in row 1, column 1 may get 1 or 2 by the rules; only 1 leads to the solution.
SOLUTION = [*(1, 2, 3, 4), *(3, 4, 1, 2), *(2, 1, 4, 3), *(4, 3, 2, 1)]
PUZZLE = [*(0, 0, 3, 4), *(3, 0, 1, 2), *(0, 1, 4, 3), *(4, 3, 2, 0)]


def started(**kwargs):
    env = Sudoku(**{"scale": 4, "clues": 11, "max_turns": 20, **kwargs})
    env.reset(seed=0)
    env.puzzle, env.solution, env.grid = list(PUZZLE), list(SOLUTION), list(PUZZLE)
    return env


def test_the_board_shows_rows_columns_boxes_and_which_digits_the_player_placed():
    env = started()
    assert env.step("\\boxed{1 1 1}").observation == (
        "At turn 1, you put 1 at R1 C1.\n"
        "   C1 C2   C3 C4\n"
        "R1 *1  . |  3  4\n"
        "R2  3  . |  1  2\n"
        "   -------------\n"
        "R3  .  1 |  4  3\n"
        "R4  4  3 |  2  .\n"
        "Enter your move."
    )


@pytest.mark.parametrize(
    ("move", "reason"),
    [
        ("1 1 3", "its row and its column and its box already hold a 3"),
        ("1 1 4", "its row and its column already hold a 4"),
        ("1 2 1", "its column already holds a 1"),
        ("4 4 4", "its row and its column and its box already hold a 4"),
        ("4 4 3", "its row and its column and its box already hold a 3"),
        ("1 3 3", "its digit is given and stays"),
        ("1 3 0", "its digit is given and stays"),
        ("1 1 0", "it is empty already"),
        ("0 1 1", "rows, columns and digits go from 1 to 4"),
        ("1 5 1", "rows, columns and digits go from 1 to 4"),
        ("1 1 5", "rows, columns and digits go from 1 to 4"),
        ("-1 1 1", "rows, columns and digits go from 1 to 4"),
    ],
)
@pytest.mark.parametrize("forgiving", [False, True])
def test_a_refused_move_uses_up_a_turn_and_says_why(move, reason, forgiving):
    env = started(forgiving=forgiving)
    step = env.step(f"\\boxed{{{move}}}")
    assert reason in step.observation
    assert step.reward == 0
    assert not step.done
    assert env.grid == PUZZLE
    assert env.turn == 1


def test_a_digit_that_is_wrong_but_allowed_is_placed_like_a_right_one():
    env = started()
    wrong = env.step("\\boxed{1 1 2}")
    assert env.grid[0] == 2
    assert wrong.reward == 0
    right = started().step("\\boxed{1 1 1}")
    assert wrong.observation.replace("2 at R1", "1 at R1").replace("*2", "*1") == right.observation


def test_replacing_or_emptying_costs_what_the_digit_earned():
    env = started()
    rewards = [env.step(f"\\boxed{{1 1 {digit}}}").reward for digit in (1, 2, 1, 0, 1)]
    assert rewards == pytest.approx([0.2, -0.2, 0.2, -0.2, 0.2])


def test_the_game_is_won_when_the_grid_is_full_and_earns_one_in_all():
    env = started()
    steps = [env.step(f"\\boxed{{{move}}}") for move in ("1 1 1", "1 2 2", "2 2 4", "3 1 2", "4 4 1")]
    assert [step.done for step in steps] == [False] * 4 + [True]
    assert steps[-1].info == {"success": True}
    assert sum(step.reward for step in steps) == pytest.approx(1)


def test_the_forgiving_mode_refuses_a_wrong_digit_and_keeps_right_ones():
    env = started(forgiving=True)
    assert "not the digit of the solution" in env.step("\\boxed{1 1 2}").observation
    assert env.grid == PUZZLE
    assert env.step("\\boxed{1 1 1}").reward == pytest.approx(0.2)
    for move in ("1 1 0", "1 1 2"):
        assert "its digit is right and stays" in env.step(f"\\boxed{{{move}}}").observation
    assert env.grid[0] == 1


def test_a_forgiving_game_that_is_won_still_has_an_action_to_sample():
    env = started(forgiving=True)
    while not env.step(env.expert_action()).done:
        pass
    assert env.sample_action() == "\\boxed{1 1 0}"


@pytest.mark.parametrize("reply", ["1 1 2", "1,1,2", " 1 , 1  2 ", "01 1 2"])
def test_commas_and_spaces_do_not_matter(reply):
    assert "you put 2 at R1 C1" in started().step(f"\\boxed{{{reply}}}").observation


@pytest.mark.parametrize(("scale", "clues"), [(4, 4), (4, 10), (9, 30)])
def test_the_expert_wins_from_the_grid_that_random_play_left(scale, clues):
    env = Sudoku(clues, 400, scale)
    for seed in range(5):
        env.reset(seed=seed)
        for _ in range(30):
            if env.step(env.sample_action()).done:
                env.reset(seed=seed + 100)
        step = env.step(env.expert_action())
        while not step.done:
            step = env.step(env.expert_action())
        assert step.info["success"]
        assert env.grid == env.solution


def test_the_rules_name_the_boxes_of_the_grid():
    assert "each of the 4 boxes of 2 x 2 cells" in Sudoku(10, 15, 4).reset(seed=0)[0]
    assert "each of the 9 boxes of 3 x 3 cells" in Sudoku(50, 50, 9).reset(seed=0)[0]
