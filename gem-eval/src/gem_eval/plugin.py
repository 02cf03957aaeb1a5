"""The commands of gem-eval; it has no environments."""

import gem

GEM_API = 1


@gem.hookimpl
def gem_commands() -> list[gem.CommandSpec]:
    return [
        gem.CommandSpec(name="eval", entry_point="gem_eval.cli.eval:evaluate", help="Measure a model on environments"),
        gem.CommandSpec(
            name="arena",
            entry_point="gem_eval.cli.arena:arena",
            help="Play a tournament of policies in a game for several, and rate them",
        ),
        gem.CommandSpec(
            name="floors",
            entry_point="gem_eval.cli.floors:floors",
            help="Measure random play and the expert on environments",
        ),
        gem.CommandSpec(
            name="view",
            entry_point="gem_eval.cli.view:view",
            help="Make a page to look at recordings and training runs",
        ),
        gem.CommandSpec(
            name="compare",
            entry_point="gem_eval.cli.compare:compare_recordings",
            help="Compare two recordings of the same items",
        ),
        gem.CommandSpec(
            name="reproduce",
            entry_point="gem_eval.cli.reproduce:reproduce_episodes",
            help="Play recorded episodes again and compare every byte",
        ),
        gem.CommandSpec(
            name="rescore",
            entry_point="gem_eval.cli.rescore:rescore_episodes",
            help="Grade recorded episodes by the rules of today",
        ),
        gem.CommandSpec(
            name="export",
            entry_point="gem_eval.cli.export:export_episodes",
            help="Write recorded episodes as a data set for trainers",
        ),
    ]
