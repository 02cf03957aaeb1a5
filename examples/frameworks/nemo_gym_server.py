"""A server of NeMo Gym with environments of GEM: python nemo_gym_server.py FOLDER [--env ID …] [--starts N]

Writes `resources_servers/gem` with its program, configuration and data set into FOLDER, from which `gym env start`
starts it. What this was run with: nemo_gym-constraints.txt, on the Python that nemo_gym-python.txt names.
"""

import json
from pathlib import Path

from gem_interop.launching import arguments, named_if_missing

parser = arguments(__doc__, "starts", "max_turns")
parser.add_argument("folder", type=Path)
parser.add_argument("--packs", nargs="*", default=["gem-envs-games"], help="of GEM, with these environments")
given = parser.parse_args()

with named_if_missing():
    from gem_interop.nemo_gym import rows
from omegaconf import OmegaConf

server = given.folder / "resources_servers" / "gem"
clone = Path(__file__).resolve().parents[2]
data = "resources_servers/gem/data/example.jsonl"
for folder in (server / "configs", server / "data"):
    folder.mkdir(parents=True, exist_ok=True)

(server / "app.py").write_text(
    "from gem_interop.nemo_gym import GemServer\n\nif __name__ == '__main__':\n    GemServer.run_webserver()\n"
)
packages = ["gem-core[chat]", "gem-interop", *given.packs]
(server / "requirements.txt").write_text("".join(f"{clone / package}\n" for package in packages))
(given.folder / data).write_text("".join(json.dumps(row) + "\n" for row in rows(given.env, given.starts, given.seed)))

config = {
    "gem": {
        "resources_servers": {
            "gem": {
                "entrypoint": "app.py",
                "domain": "other",
                "verified": False,
                "description": "Environments of GEM",
                "allowed_agents": ["gymnasium_agent"],
                "env": given.env,
            }
        }
    },
    "gem_agent": {
        "responses_api_agents": {
            "gymnasium_agent": {
                "entrypoint": "app.py",
                "resources_server": {"type": "resources_servers", "name": "gem"},
                "model_server": {"type": "responses_api_models", "name": "policy_model"},
                "max_steps": given.max_turns,
                "datasets": [{"name": "example", "type": "example", "jsonl_fpath": data}],
            }
        }
    },
    "gem_environment_server": {
        "environment_servers": {
            "legacy_agent": {
                "entrypoint": "app.py",
                "agent_server": {"type": "responses_api_agents", "name": "gem_agent"},
            }
        }
    },
}
OmegaConf.save(OmegaConf.create(config), server / "configs" / "gem.yaml")
print(f"cd {given.folder} && gym env start --config resources_servers/gem/configs/gem.yaml --model-type openai_model")
