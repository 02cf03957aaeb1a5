"""The system message of an env: what models read, and what recordings keep."""

import gem
from gem.llm import ChatPolicy
from gem.record import Recorder, read
from gem.rollout import rollout
from gem.rollout.transcript import Transcript
from gem.testing.chat_server import chat_server

SYSTEM = "You sell shoes."


def play(policy):
    with gem.make_vec("role_envs:Clerk", 2) as envs:
        return list(rollout(policy, envs, starts=range(2)))


def test_a_chat_api_reads_the_message_of_the_env_in_every_request_in_one_with_that_of_the_policy():
    for own, told in ((None, SYSTEM), ("Be brief.", f"Be brief.\n\n{SYSTEM}")):
        with chat_server(lambda messages: "more") as server:
            policy = ChatPolicy("any", base_url=server.url, system=own)
            play(policy)
            policy.close()
        assert len(server.bodies) == 4
        for body in server.bodies:
            first, *rest = body["messages"]
            assert first == {"role": "system", "content": told}
            assert [message["role"] for message in rest] in (["user"], ["user", "assistant", "user"])


def test_a_function_gets_it_among_the_messages_and_a_recording_keeps_it(tmp_path):
    seen = []

    def reply(messages):
        seen.append(messages[0])
        return "more"

    episodes = play(reply)
    with Recorder(tmp_path / "kept.jsonl", policy="x") as recorder:
        for episode in episodes:
            recorder.write(episode)

    assert seen == [{"role": "system", "content": SYSTEM}] * 4
    assert [each.traces[0].system for each in read(tmp_path / "kept.jsonl")] == [SYSTEM] * 2
    assert Transcript("hi", {"system": 3}).messages() == [{"role": "user", "content": "hi"}]
