"""The state behind the calendar's tools, the tasks in it, and the calls that turn one state into another."""

import json
from random import Random

import pytest

from gem_tools.calendar.env import Calendar
from gem_tools.calendar.planner import next_call
from gem_tools.calendar.tasks import draw
from gem_tools.calendar.week import CLOSES, DAYS, MOST_TODOS, OPENS, Refused, Week
from gem_tools.plugin import gem_envs

VARIANTS = {spec.id: spec.kwargs for spec in gem_envs() if "Calendar" in spec.id}


def busy_week():
    week = Week()
    week.add_event("Dentist", "Monday", "09:00")
    week.add_event("Lunch", "Monday", "12:00", 2)
    week.add_event("Call", "Tuesday", "16:00")
    week.add_todo("buy stamps")
    return week


def taken(week):
    """Hour by hour, as on paper: (day, hour) → the ids of the events in it."""
    hours = {(day, hour): [] for day in DAYS for hour in range(OPENS, CLOSES)}
    for event in week.events.values():
        for hour in range(event.start, event.start + event.hours):
            hours[event.day, hour].append(event.id)
    return hours


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda week: week.add_event("x", "Monday", "09:00"), "not free: e1: Monday 09:00-10:00 Dentist"),
        (lambda week: week.add_event("x", "Monday", "11:00", 2), "not free: e2"),
        (lambda week: week.add_event("x", "Monday", "13:00"), "not free: e2"),
        (lambda week: week.move_event("e3", "Monday", "12:00"), "not free: e2"),
        (lambda week: week.move_event("e2", "Monday", "16:00"), "between 09:00 and 17:00"),
        (lambda week: week.add_event("x", "Monday", "08:00"), "between 09:00 and 17:00"),
        (lambda week: week.add_event("x", "Monday", "16:00", 2), "between 09:00 and 17:00"),
        (lambda week: week.add_event("x", "Monday", "99:00"), "between 09:00 and 17:00"),
        (lambda week: week.add_event("x", "Sunday", "10:00"), "not a day of this week: Monday, Tuesday"),
        (lambda week: week.add_event("x", "Monday", "10:30"), "not a full hour, such as 09:00"),
        (lambda week: week.add_event("x", "Monday", "١٠:00"), "not a full hour"),
        (lambda week: week.add_event("two\nlines", "Monday", "10:00"), "one line of 1 to 80"),
        (lambda week: week.add_event("half a \ud800", "Monday", "10:00"), "printable"),
        (lambda week: week.add_event("x" * 81, "Monday", "10:00"), "1 to 80"),
        (lambda week: week.add_todo("  "), "1 to 80"),
        (lambda week: week.move_event("e9", "Monday", "10:00"), "no event 'e9'; list_events"),
        (lambda week: week.delete_event("t4"), "no event 't4'"),
        (lambda week: week.complete_todo("e1"), "no to-do 'e1'; list_todos"),
        (lambda week: week.delete_todo("\ud800"), "no to-do"),
        (lambda week: [week.add_todo("again") for _ in range(MOST_TODOS)], "the list is full"),
    ],
)
def test_a_change_that_is_not_possible_is_refused_with_its_reason(change, reason):
    week = busy_week()
    before = week.facts()
    with pytest.raises(Refused, match="(?s)" + reason):
        change(week)
    if reason != "the list is full":
        assert week.facts() == before


def test_an_event_may_move_into_hours_that_overlap_its_own():
    week = busy_week()
    assert str(week.move_event("e2", "Monday", "13:00")) == "e2: Monday 13:00-15:00 Lunch"


def test_an_id_is_never_used_twice_and_a_move_keeps_it():
    week = busy_week()
    week.delete_event("e3")
    assert week.add_event("New", "Friday", "9:00").id == "e5"
    assert week.move_event("e1", "Friday", "10:00").id == "e1"


def test_a_state_survives_json_unchanged_with_its_count_of_ids():
    week = busy_week()
    again = Week()
    again.become(json.loads(json.dumps(week.state())))
    assert again.state() == week.state()
    assert again.add_todo("x") == week.add_todo("x")


def test_ids_and_order_make_no_difference_to_the_facts_of_a_week():
    week, other = busy_week(), Week()
    other.add_todo("buy stamps")
    other.add_event("Call", "Tuesday", "16:00")
    other.add_event("Lunch", "Friday", "12:00", 2)
    other.add_event("Dentist", "Monday", "09:00")
    assert week.facts() != other.facts()
    other.move_event("e3", "Monday", "12:00")
    assert week.facts() == other.facts()
    week.complete_todo("t4")
    assert week.facts() != other.facts()


def test_free_hours_are_those_in_which_no_event_lies():
    for seed in range(5):
        week = draw(Random(seed), events=16, todos=0, tasks=1).week
        hours = taken(week)
        assert all(len(ids) <= 1 for ids in hours.values())
        for day in DAYS:
            for length in (1, 2, 3):
                starts = range(OPENS, CLOSES - length + 1)
                free = [start for start in starts if not any(hours[day, start + more] for more in range(length))]
                assert week.free(day, length) == free


def drawn(seed):
    rng = Random(seed)
    return draw(rng, events=rng.randint(0, 16), todos=rng.randint(0, 8), tasks=rng.randint(1, 8))


def test_the_tasks_carried_out_as_their_words_say_lead_to_the_goal():
    """Read as a person would read them: by their words alone, knowing nothing of how they were made."""
    kinds = set()
    for seed in range(100):
        week, tasks, goal = drawn(seed)
        assert week.facts() != goal.facts(), seed
        named = [quoted for task in tasks for quoted in task.split('"')[1::2]]
        assert len(set(named)) == len(named), "two tasks change the same event or to-do"
        for task in tasks:
            kinds.add(carry_out(week, task))
        assert week.facts() == goal.facts(), seed
    assert kinds == {"to an hour", "early", "late", "cancel", "cancel all", "add", "tick", "put"}


@pytest.mark.parametrize("settings", VARIANTS.values(), ids=VARIANTS)
def test_of_200_seeds_at_least_190_set_different_tasks(settings):
    env = Calendar(**settings)
    assert len({env.reset(seed=seed)[0] for seed in range(200)}) >= 190


def carry_out(week, task):
    """Do what a task says, and return what kind of task it is."""

    def named(title):
        return next(event for event in week.events.values() if event.title == title)

    words = task.rstrip(".").split()
    days = [word.strip(",;") for word in words if word.strip(",;") in DAYS]
    quoted = task.split('"')[1] if '"' in task else None
    match words[0]:
        case "Move" if "at" in words:
            week.move_event(named(quoted).id, days[0], words[-1])
            return "to an hour"
        case "Move":
            event = named(quoted)
            assert event.day == days[0]
            starts = week.free(days[1], event.hours)
            start = min(starts) if "early" in words else max(starts)
            week.move_event(event.id, days[1], f"{start:02}:00")
            return "early" if "early" in words else "late"
        case "Cancel" if words[1] == "everything":
            for event in week.on(days[0]):
                if event.title == quoted:
                    continue
                week.delete_event(event.id)
            return "cancel all"
        case "Cancel":
            week.delete_event(named(quoted).id)
        case "Add":
            hours = int(words[-2])
            week.add_event(quoted, days[0], f"{min(week.free(days[0], hours)):02}:00", hours)
        case "Tick":
            (todo,) = [todo for todo in week.todos.values() if todo.text == quoted]
            week.complete_todo(todo.id)
        case "Put":
            week.add_todo(quoted)
    return words[0].lower()


def test_the_planner_gets_from_any_week_to_any_other_and_makes_no_call_that_is_refused():
    for seed in range(100):
        goal = drawn(seed).goal
        week = drawn(seed + 1000).week
        for event in list(goal.events.values())[::2]:
            if OPENS in week.free(event.day, event.hours):
                week.add_event(event.title, event.day, "09:00", event.hours)
        # To-dos that are done and should not be, that there are twice, and that are as they should be.
        for number, todo in enumerate(list(goal.todos.values())):
            for done in ((True,), (False, False), (todo.done,))[number % 3]:
                copy = week.add_todo(todo.text)
                if done:
                    week.complete_todo(copy.id)
        steps = len(follow_plan(week, goal))
        assert week.facts() == goal.facts(), seed
        assert steps <= 2 * (len(goal.events) + len(goal.todos)) + 40, seed


def follow_plan(week, goal):
    """Make the planner's calls until it has no more, and return the names of their tools."""
    calls = []
    while (call := next_call(week, goal)) is not None:
        getattr(week, call.name)(**call.arguments)
        calls.append(call.name)
    return calls


def test_two_events_in_each_others_hours_change_places():
    week, goal = Week(), Week()
    week.add_event("A", "Monday", "09:00")
    week.add_event("B", "Monday", "10:00")
    goal.add_event("B", "Monday", "09:00")
    goal.add_event("A", "Monday", "10:00")
    assert follow_plan(week, goal) == ["delete_event", "move_event", "add_event"]
