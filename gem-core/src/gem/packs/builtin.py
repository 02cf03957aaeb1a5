"""The plugin module of the core: the same hooks as those of any other pack."""

from gem.packs.hookspecs import CommandSpec, hookimpl
from gem.packs.spec import EnvSpec

GEM_API = 1


@hookimpl
def gem_envs() -> list[EnvSpec]:
    return [
        EnvSpec(
            id="core:Echo-v0",
            entry_point="gem.packs.echo:Echo",
            description="Say a word back: the smallest env there is, to try a policy or a trainer on",
            tags=("single-turn", "smoke-test"),
            known_findings={
                "gold_shown": "To say the word back is the task.",
                "duplicates": "Eight words are enough for a first try of a policy or a trainer.",
            },
        )
    ]


@hookimpl
def gem_wrappers() -> dict[str, str]:
    return {
        "concat": "gem.wrappers.concat:Concat",
        "concat_with_action": "gem.wrappers.concat:ConcatWithAction",
        "concat_chat": "gem.wrappers.chat:ConcatChat",
        "concat_chat_on_reset": "gem.wrappers.chat:ConcatChatOnReset",
        "episode_tracking": "gem.wrappers.tracking:EpisodeTracking",
        "seat": "gem.rollout.seat:Seat",
        "time_limit": "gem.wrappers.limits:TimeLimit",
        "tool_env": "gem.wrappers.tool_env:ToolEnv",
        "turn_limit": "gem.wrappers.limits:TurnLimit",
    }


@hookimpl
def gem_policies() -> dict[str, str]:
    return {
        "openai": "gem.llm.policy:ChatPolicy",
        "random": "gem.rollout.policy:random_policy",
        "expert": "gem.rollout.policy:expert_policy",
    }


@hookimpl
def gem_probes() -> dict[str, str]:
    return {
        "silence": "gem.audit.probes.silence:probe",
        "random_play": "gem.audit.probes.random_play:probe",
        "constant": "gem.audit.probes.constant:probe",
        "blind": "gem.audit.probes.blind:probe",
        "echo": "gem.audit.probes.echo:probe",
        "everything": "gem.audit.probes.everything:probe",
        "wish": "gem.audit.probes.wish:probe",
        "malformed": "gem.audit.probes.malformed:probe",
        "similar": "gem.audit.probes.similar:probe",
        "gold_refused": "gem.audit.probes.gold_refused:probe",
        "gold_shown": "gem.audit.probes.gold_shown:probe",
        "solvable": "gem.audit.probes.solvable:probe",
        "context": "gem.audit.probes.context:probe",
        "dependence": "gem.audit.probes.dependence:probe",
        "tool_noise": "gem.audit.probes.tool_noise:probe",
        "tool_tells": "gem.audit.probes.tool_tells:probe",
        "repeated_reward": "gem.audit.probes.repeated_reward:probe",
        "early_stop": "gem.audit.probes.early_stop:probe",
        "reward_against_success": "gem.audit.probes.reward_against_success:probe",
        "ambiguous": "gem.audit.probes.ambiguous:probe",
        "duplicates": "gem.audit.probes.duplicates:probe",
        "overlap": "gem.audit.probes.overlap:probe",
        "levels": "gem.audit.probes.levels:probe",
    }


@hookimpl
def gem_commands() -> list[CommandSpec]:
    return [
        CommandSpec(name="list", entry_point="gem.cli.list:list_envs", help="List the environments"),
        CommandSpec(name="info", entry_point="gem.cli.info:info", help="Describe one environment"),
        CommandSpec(name="data", entry_point="gem.cli.data:data", help="Say where rows of data sets come from"),
        CommandSpec(name="tools", entry_point="gem.cli.tools:tools", help="List the tools that agents can call"),
        CommandSpec(name="play", entry_point="gem.cli.play:play", help="Play an environment yourself"),
        CommandSpec(name="new", entry_point="gem.cli.new:new", help="Make a pack of your own from a template"),
        CommandSpec(name="check", entry_point="gem.cli.check:check", help="Check that environments keep the contract"),
        CommandSpec(name="audit", entry_point="gem.cli.audit:audit", help="Ask whether tasks can be believed"),
        CommandSpec(name="doctor", entry_point="gem.cli.doctor:doctor", help="Check every installed pack"),
    ]
