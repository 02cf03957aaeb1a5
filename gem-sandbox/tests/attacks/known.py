"""Which attacks are known to succeed at which level; no attack succeeds at the other levels."""

from attacks.catalogue import BY_NAME

_WEAKER = {
    "landlock": {"stat_file", "threads"},
    "seccomp": {
        "answer_from_grader", "arguments_of_others", "climb", "descriptors_of_others", "environment_of_init",
        "environment_of_parent", "list_folder", "memory_of_parent", "mounts", "proc_root", "read_home", "read_passwd",
        "read_working_folder", "stat_file", "threads",
    },
}  # fmt: skip
"""The attacks that succeed at weaker levels."""

_FAIL_AT_PROCESS = {
    "abort", "answer_from_collector", "answer_from_files", "answer_from_frames", "answer_from_memory",
    "background_child", "block_signals", "bytecode", "catch_everything", "close_outputs", "equal_to_all", "errors",
    "escape_group", "exit_256", "exit_early", "exit_hard", "fault_handler", "fill_disk_in_one", "hide_failure",
    "hold_output", "ignore_signals", "inherited_descriptors", "inherited_folder", "late_output", "leave_at_once",
    "leave_deep_chain", "leave_what_none_can_remove", "linger_in_thread", "memory", "memory_in_files",
    "memory_in_pipes", "memory_mapped", "open_files", "output", "own_environment", "own_memory", "parse_deeply",
    "patch_grader", "poison_builtins", "poison_constant", "poison_import", "poison_module", "poison_state",
    "poison_type", "raise_exit", "raise_exit_256", "raise_interrupt", "raise_limits", "recursion", "report_itself",
    "seal_output", "segfault", "shadow_module", "sleep", "slow_expression", "sparse_file", "sparse_output", "spin",
    "spin_in_c", "spin_in_threads", "startup_file", "stop_itself", "talk_to_runner", "type_on_terminal",
    "wait_for_input",
}  # fmt: skip
"""The attacks that limits and a process per program prevent; at level `process` all others succeed."""

BREACHED = _WEAKER | {"process": set(BY_NAME) - _FAIL_AT_PROCESS}
"""Level → the names of the attacks that succeed there."""
