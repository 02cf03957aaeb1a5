"""Several servers of the engine vllm_server: routing, weights for all, and servers that end or lie. Without vLLM."""

import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import torch
from servers import Server, install

from gem.errors import ConfigError, Failure, TrainingStopped
from gem_train.config.training import load_config
from gem_train.engines.settings import ServerSettings
from gem_train.engines.vllm.client import Address
from gem_train.engines.vllm.connect import shares_of_gpus
from gem_train.engines.vllm.fleet import Fleet
from gem_train.engines.vllm.launch import ServerProcess
from gem_train.engines.vllm.transfer import FileTransfer

ASKED = {"token_ids": [1, 2], "sampling_params": {"max_tokens": 3}}


@pytest.fixture
def servers() -> Iterator[list[Server]]:
    made = [Server() for _ in range(3)]
    yield made
    for server in made:
        server.end()


def fleet_at(servers: list[Server], first: int = 0) -> Fleet:
    fleet = Fleet([Address(server.url) for server in servers], 60.0, first=first)
    fleet.open(60.0)
    give(fleet, 0)
    return fleet


def give(fleet: Fleet, version: int) -> list[bool]:
    """Weights that differ from version to version."""
    transfer = FileTransfer(fleet.call, torch.float32, None)
    return fleet.sync(lambda: transfer.send([("weight", torch.full((2,), version + 1.0))]), version, {})


def hold(servers: list[Server]) -> None:
    for server in servers:
        server.weights.free.clear()


def finish(fleet: Fleet, count: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    while len(found) < count:
        found |= dict(fleet.finished(None))
    return found


def versions(said: Mapping[str, Any]) -> list[str]:
    return [span["version"] for span in said["choices"][0]["weight_versions"]]


def replies(server: Server) -> int:
    return server.weights.asked.count("/inference/v1/generate")


def wait_until(true: Callable[[], bool]) -> None:
    while not true():
        threading.Event().wait(0.01)


def test_conversations_go_to_the_server_with_the_fewest_replies_and_stay_there(servers):
    with closing(fleet_at(servers[:2])) as fleet:
        hold(servers)
        for slot in range(6):
            fleet.begin(f"first {slot}", slot, ASKED)
        before = [fleet._places[slot] for slot in range(6)]
        assert [replica.number for replica in before] == [0, 1, 0, 1, 0, 1]
        for server in servers:
            server.weights.free.set()
        assert len(finish(fleet, 6)) == 6
        hold(servers[1:2])
        fleet.begin("slow 1", 1, ASKED)
        fleet.begin("slow 3", 3, ASKED)
        fleet.begin("second 5", 5, ASKED)
        assert fleet._places[5] is before[5]  # though the other is idle
        fleet.forget(4)
        for slot in (4, 6):
            fleet.begin(f"new {slot}", slot, ASKED)
            assert fleet._places[slot].number == 0  # which has fewer
        servers[1].weights.free.set()
        assert len(finish(fleet, 5)) == 5


def test_processes_that_share_servers_begin_at_different_ones(servers):
    with closing(fleet_at(servers)) as fleet, closing(fleet_at(servers, first=1)) as other:
        for each in (fleet, other):
            each.begin("reply", 0, ASKED)
        assert (fleet._places[0].number, other._places[0].number) == (0, 1)


def test_weights_go_to_all_servers_at_once_and_replies_have_their_version(servers):
    with closing(fleet_at(servers)) as fleet:
        meeting = threading.Barrier(3)
        for server in servers:
            server.weights.meeting = meeting  # a pause of one by one would never end
        assert give(fleet, 4) == [True, True, True]
        assert [(server.weights.total, server.weights.version) for server in servers] == [(10.0, "4")] * 3
        for slot in range(3):
            fleet.begin(str(slot), slot, ASKED)
        assert [versions(said) for said in finish(fleet, 3).values()] == [["4"]] * 3


def test_weights_are_given_by_another_thread_while_replies_are_waited_for(servers):
    with closing(fleet_at(servers)) as fleet:
        hold(servers)
        for slot in range(3):
            fleet.begin(str(slot), slot, ASKED)

        def load() -> None:
            wait_until(lambda: all(replies(server) >= 3 for server in servers))
            give(fleet, 1)
            for server in servers:
                server.weights.free.set()

        thread = threading.Thread(target=load)
        thread.start()
        assert [versions(said) for said in finish(fleet, 3).values()] == [["1"]] * 3
        thread.join()


def test_replies_of_a_server_that_ends_are_asked_again_at_the_others(servers):
    with closing(fleet_at(servers[:2])) as fleet:
        hold(servers)
        for slot in range(6):
            fleet.begin(str(slot), slot, ASKED)
        wait_until(lambda: replies(servers[0]) == 3 + 2)
        servers[1].weights.free.set()
        servers[0].end()
        found = finish(fleet, 6)
        assert {versions(said)[0] for said in found.values()} == {"0"}
        assert [fleet._places[slot].number for slot in range(6)] == [1] * 6
        assert give(fleet, 1) == [False, True]
        servers[1].end()
        with pytest.raises(TrainingStopped, match=r"the vLLM server at http://127.* answers no more"):
            give(fleet, 2)


def test_a_reply_that_has_lost_two_servers_fails(servers):
    with closing(fleet_at(servers)) as fleet:
        hold(servers)
        fleet.begin("reply", 0, ASKED)
        begun = 2  # of each server, when it was seen to be fit and when it had weights
        for server in servers[:2]:
            wait_until(lambda server=server: replies(server) == begun + 1)
            server.end()
            found = fleet.finished(None)
        assert isinstance(dict(found)["reply"], Failure)
        servers[2].weights.free.set()
        fleet.begin("next", 0, ASKED)
        assert versions(finish(fleet, 1)["next"]) == ["0"]


def test_a_server_of_somebody_else_that_is_there_again_gets_the_next_weights(servers):
    with closing(fleet_at(servers[:2])) as fleet:
        fleet._lose(fleet._replicas[0])
        assert give(fleet, 1) == [True, True]
        assert servers[0].weights.version == "1"


def test_a_server_that_keeps_its_old_weights_is_found_at_once(servers):
    with closing(fleet_at(servers)) as fleet:
        give(fleet, 1)
        servers[1].weights.keeps_weights = True
        with pytest.raises(TrainingStopped, match=f"{servers[1].url} has kept its old weights"):
            give(fleet, 2)


def test_a_server_that_has_not_the_version_of_the_weights_that_it_took_is_found_at_once(servers):
    with closing(fleet_at(servers)) as fleet:
        servers[1].weights.forgets_version = True
        with pytest.raises(TrainingStopped, match=f"{servers[1].url} took version 1, and has 0"):
            give(fleet, 1)


def test_weights_that_did_not_change_are_no_fault_of_the_servers(servers):
    with closing(fleet_at(servers)) as fleet:
        give(fleet, 1)
        transfer = FileTransfer(fleet.call, torch.float32, None)
        weights = [("weight", torch.full((2,), 2.0))]
        assert fleet.sync(lambda: transfer.send(weights), 2, {}) == [True] * 3


def test_a_reply_from_weights_older_than_those_that_its_server_took_stops_the_run(servers):
    with closing(fleet_at(servers)) as fleet:
        give(fleet, 1)
        servers[2].weights.keeps_version = True
        for slot in range(3):
            fleet.begin(str(slot), slot, ASKED)
        with pytest.raises(TrainingStopped, match=f"{servers[2].url} samples from the weights of version 0, after it "):
            finish(fleet, 3)


def test_another_process_learns_which_servers_have_the_weights(servers):
    addresses = [Address(server.url) for server in servers[:2]]
    with closing(fleet_at(servers[:2])) as fleet, closing(Fleet(addresses, 60.0, first=1)) as guest:
        guest.told([True, True], 0)
        hold(servers)
        guest.begin("reply", 0, ASKED)
        wait_until(lambda: replies(servers[1]) == 3)
        servers[0].weights.free.set()
        servers[1].end()
        assert versions(finish(guest, 1)["reply"]) == ["0"]
        guest.told(give(fleet, 1), 1)
        guest.begin("next", 1, ASKED)
        assert guest._places[1].number == 0


@pytest.fixture
def started(tmp_path: Path) -> Iterator[tuple[Fleet, list[ServerProcess]]]:
    """Two servers that the fleet starts."""
    environment, processes = {"PYTHONPATH": install(tmp_path)}, list[ServerProcess]()

    def start(number: int) -> ServerProcess:
        place = tmp_path / str(number)
        place.mkdir(exist_ok=True)
        processes.append(ServerProcess({}, environment, place))
        return processes[-1]

    addresses = [Address("http://localhost", str(tmp_path / str(number) / "socket")) for number in range(2)]
    fleet = Fleet(addresses, 60.0, start)
    fleet.open(60.0)
    yield fleet, processes
    fleet.close()
    assert all(process.has_ended for process in processes)


def test_a_server_of_the_run_that_is_killed_is_started_again_and_has_weights_before_it_is_asked(started):
    fleet, processes = started
    give(fleet, 0)
    for slot in range(4):
        fleet.begin(str(slot), slot, ASKED)
    os.killpg(processes[0]._process.pid, signal.SIGKILL)
    processes[0]._process.wait()
    for slot in range(4, 8):
        fleet.begin(str(slot), slot, ASKED)
    assert {versions(said)[0] for said in finish(fleet, 8).values()} == {"0"}
    assert len(processes) == 3
    assert not fleet._replicas[0].well
    version = 1
    while give(fleet, version) != [True, True]:
        version += 1
    fleet.begin("next", 9, ASKED)
    assert fleet._places[9].number == 0
    assert versions(finish(fleet, 1)["next"]) == [str(version)]


def test_servers_get_shares_of_the_gpus(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 6)
    gpu = torch.device("cuda", 0)
    assert shares_of_gpus(ServerSettings(replicas=2, tensor_parallel_size=2), gpu) == ["1,2", "3,4"]
    assert shares_of_gpus(ServerSettings(replicas=2), gpu, processes=4) == ["4", "5"]
    assert shares_of_gpus(ServerSettings(replicas=2, devices="0,3,4,5"), gpu) == ["0,3", "4,5"]
    assert shares_of_gpus(ServerSettings(replicas=2), torch.device("cpu")) == [None, None]
    with pytest.raises(ConfigError, match="need 6 GPUs, and there are 5 beside"):
        shares_of_gpus(ServerSettings(replicas=3, tensor_parallel_size=2), gpu)


def test_urls_are_a_list_or_separated_by_commas_and_no_servers_are_started_beside_them():
    def engine(**settings: object) -> Any:
        return load_config([{"id": "any", "rollout": {"engine": "vllm_server"}, "engine": settings}]).engine

    assert engine(urls="http://a:1,http://b:2").urls == engine(urls=["http://a:1", "http://b:2"]).urls
    with pytest.raises(ConfigError, match=r"leave it out with engine\.urls"):
        engine(urls="http://a:1", replicas=2)
