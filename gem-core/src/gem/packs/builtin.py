"""The plugin module of the core: the same hooks as those of any other pack."""

from gem.packs.hookspecs import CommandSpec, hookimpl
from gem.packs.spec import EnvSpec

GEM_API = 1


@hookimpl
def gem_envs() -> list[EnvSpec]:
    return [
        EnvSpec(
            id="core:Echo-v0",
            entry_point="gem.envs.echo:Echo",
            description="Say a word back: the smallest env there is, to try a policy or a trainer on",
            tags=("single-turn", "smoke-test"),
        ),
    ]


@hookimpl
def gem_wrappers() -> dict[str, str]:
    return {
        "bounded_shaping": "gem.wrappers.bounded:BoundedShaping",
        "concat": "gem.wrappers.concat:Concat",
        "concat_with_action": "gem.wrappers.concat:ConcatWithAction",
        "concat_chat": "gem.wrappers.chat:ConcatChat",
        "concat_chat_on_reset": "gem.wrappers.chat:ConcatChatOnReset",
        "curriculum": "gem.wrappers.curriculum:Curriculum",
        "episode_tracking": "gem.wrappers.tracking:EpisodeTracking",
        "time_limit": "gem.wrappers.limits:TimeLimit",
        "tool_env": "gem.wrappers.tool_env:ToolEnv",
        "turn_limit": "gem.wrappers.limits:TurnLimit",
    }


@hookimpl
def gem_safe_settings() -> dict[str, tuple[str, ...]]:
    # Not `tokenizer`, `clock` and `runtime`, which are objects.
    return {
        "gem.wrappers.bounded:BoundedShaping": ("most",),
        "gem.wrappers.concat:Concat": ("max_history_length",),
        "gem.wrappers.concat:ConcatWithAction": ("max_history_length",),
        "gem.wrappers.chat:ConcatChat": ("max_history_length",),
        "gem.wrappers.chat:ConcatChatOnReset": ("max_history_length",),
        # The contents of `levels` and `tools` are checked in turn.
        "gem.wrappers.curriculum:Curriculum": ("levels", "promote", "demote", "window"),
        "gem.wrappers.tracking:EpisodeTracking": (),
        "gem.wrappers.limits:TimeLimit": ("seconds",),
        "gem.wrappers.limits:TurnLimit": ("max_turns",),
        "gem.wrappers.tool_env:ToolEnv": (
            "tools", "format", "max_calls", "max_refused", "max_result",
            "tool_reward", "tool_success_reward", "tool_error_reward",
        ),
    }  # fmt: skip


@hookimpl
def gem_policies() -> dict[str, str]:
    return {
        "openai": "gem.llm.policy:ChatPolicy",
        "random": "gem.rollout.policy:random_policy",
        "expert": "gem.rollout.policy:expert_policy",
    }


@hookimpl
def gem_commands() -> list[CommandSpec]:
    return [
        CommandSpec(name="list", entry_point="gem.cli.list:list_envs", help="List the environments"),
        CommandSpec(name="info", entry_point="gem.cli.info:info", help="Describe one environment"),
        CommandSpec(name="data", entry_point="gem.cli.data:data", help="Say where rows of data sets come from"),
        CommandSpec(name="tools", entry_point="gem.cli.tools:tools", help="List the tools that agents can call"),
        CommandSpec(name="play", entry_point="gem.cli.play:play", help="Play an environment yourself"),
        CommandSpec(name="eval", entry_point="gem.cli.eval:evaluate", help="Measure a model on environments"),
        CommandSpec(
            name="reproduce",
            entry_point="gem.cli.reproduce:reproduce_episodes",
            help="Play recorded episodes again and compare every byte",
        ),
        CommandSpec(
            name="rescore",
            entry_point="gem.cli.rescore:rescore_episodes",
            help="Grade recorded episodes by the rules of today",
        ),
        CommandSpec(
            name="view",
            entry_point="gem.cli.view:view",
            help="Make a page to look at recordings and training runs",
        ),
        CommandSpec(
            name="compare",
            entry_point="gem.cli.compare:compare_recordings",
            help="Compare two recordings of the same items",
        ),
        CommandSpec(
            name="export",
            entry_point="gem.cli.export:export_episodes",
            help="Write recorded episodes as a data set for trainers",
        ),
        CommandSpec(name="new", entry_point="gem.cli.new:new", help="Make a pack of your own from a template"),
        CommandSpec(name="check", entry_point="gem.cli.check:check", help="Check that environments keep the contract"),
        CommandSpec(name="doctor", entry_point="gem.cli.doctor:doctor", help="Check every installed pack"),
    ]


@hookimpl
def gem_diagnostics() -> dict[str, str]:
    return {"data sets": "gem.data.diagnostics:diagnose"}
