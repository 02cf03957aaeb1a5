"""Episodes in Agent Lightning: python agent_lightning_dev.py URL MODEL [--env ID …] [--starts N] [--runners N]

URL is a chat API with OpenAI's protocol, such as http://localhost:8000/v1. It runs Agent Lightning's trainer with its
algorithm for development, which plays episodes and collects traces without training.
"""

from gem_interop.launching import arguments, count, named_if_missing
from gem_interop.playing import starts
from gem_interop.session import MessageSession
from gem_interop.versions import check

if __name__ == "__main__":
    parser = arguments(__doc__, "starts")
    parser.add_argument("url")
    parser.add_argument("model")
    parser.add_argument("--runners", type=count, default=2)
    given = parser.parse_args()

with named_if_missing():
    check("agentlightning", "0.3.0", "0.3.0", page="agent-lightning")
import agentlightning as agl
from openai import OpenAI


@agl.rollout
def play(task: dict, llm: agl.LLM, rollout: agl.AttemptedRollout) -> float:
    """An episode. Each call of the model is followed by the reward of its turn; the last reward is the return."""
    url = llm.get_base_url(rollout.rollout_id, rollout.attempt.attempt_id)
    client = OpenAI(base_url=url, api_key=llm.api_key or "none")
    with MessageSession(task["id"]) as session:
        messages = session.start(task["seed"])
        while messages is not None:
            request = {"tools": session.tools} if session.tools else {}
            if session.stop:
                request["stop"] = list(session.stop)
            made = client.chat.completions.create(
                model=llm.model, messages=messages, **llm.sampling_parameters, **request
            )
            choice = made.choices[0]
            played = len(session.turns)
            messages = session.said(choice.message.model_dump(exclude_none=True), choice.finish_reason)
            for turn in session.turns[played:]:
                agl.emit_reward(turn.reward)
        if session.result.failure is not None:
            # The attempt failed, without a reward: Agent Lightning tries again, or drops the rollout.
            raise RuntimeError(session.result.failure.error)
        return float(session.result.total_reward)


if __name__ == "__main__":
    train, validation = (
        [{"id": id, "seed": seed} for id, seed in starts(given.env, given.starts, given.seed, evaluation=evaluation)]
        for evaluation in (False, True)
    )
    trainer = agl.Trainer(
        n_runners=given.runners,
        algorithm=agl.Baseline(span_verbosity="none", polling_interval=0.2, max_queue_length=2 * given.runners),
        initial_resources={"model": agl.LLM(endpoint=given.url, model=given.model)},
    )
    trainer.dev(play, train, val_dataset=validation)
