"""Programs in C++ and JavaScript: they run as Python's do, within the same limits, and see as little."""

import shutil
import socket
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import sandbox_levels

import gem_sandbox as sandbox
from gem_sandbox import ConfigError, Job, Language, Sandbox, SandboxUnavailable, cpp
from gem_sandbox.diagnostics import diagnose_languages

SQUARE = {
    "cpp": '#include <cstdio>\nint main() { long long n; scanf("%lld", &n); printf("%lld\\n", n * n); }',
    "javascript": "console.log(Number(require('fs').readFileSync(0, 'utf8')) ** 2)",
}
WORLD: Mapping[str, Mapping[str, str]] = {
    "network": {
        "cpp": """
            int s = socket(AF_INET, SOCK_STREAM, 0); sockaddr_in to{}; to.sin_family = AF_INET;
            to.sin_port = htons(atoi(target)); inet_aton("127.0.0.1", &to.sin_addr);
            if (connect(s, (sockaddr *)&to, sizeof to) == 0) puts("BREACH");
        """,
        "javascript": """
            require('net').connect(Number(target), '127.0.0.1', () => { console.log('BREACH'); process.exit() })
              .on('error', () => {})
        """,
    },
    "read": {
        "cpp": 'if (fopen(target, "r")) puts("BREACH");',
        "javascript": "try { fs.readFileSync(target); console.log('BREACH') } catch {}",
    },
    "write": {
        "cpp": 'if (fopen(target, "a")) puts("BREACH");',
        "javascript": "try { fs.appendFileSync(target, ''); console.log('BREACH') } catch {}",
    },
    "fork": {
        "cpp": 'for (int i = 0; i < 9; i++) if (fork() >= 0) { puts("BREACH"); fflush(stdout); _exit(0); }',
        "javascript": """
            for (let i = 0; i < 3; i++)
              if (!require('child_process').spawnSync(process.execPath, ['-e', '']).error) console.log('BREACH')
        """,
    },
    "signal": {
        "cpp": 'if (kill(getppid(), 0) == 0) puts("BREACH");',
        "javascript": "try { process.kill(process.ppid, 0); console.log('BREACH') } catch {}",
    },
}
"""What succeeds without isolation, and never with it."""

ENDLESS: Mapping[str, tuple[Mapping[str, str], str, Mapping[str, Any]]] = {
    "memory": (
        {
            "cpp": "for (;;) memset(new char[1 << 20], 1, 1 << 20);",
            "javascript": "const all = []; for (;;) all.push(new Array(100000).fill(all.length))",
        },
        "memory",
        {"memory": 64 << 20},
    ),
    "memory outside of the heap": (
        {
            "cpp": """
                for (;;) {
                    void *more = mmap(0, 1 << 20, PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
                    if (more == MAP_FAILED) throw std::bad_alloc();
                    memset(more, 1, 1 << 20);
                }
            """,
            "javascript": "const all = []; for (;;) all.push(Buffer.alloc(1 << 20, 1))",
        },
        "memory",
        {"memory": 64 << 20},
    ),
    "output": (
        {"cpp": 'for (;;) puts("more and more");', "javascript": "for (;;) console.log('more and more'.repeat(1000))"},
        "output",
        {"output": 1 << 16},
    ),
    "time": ({"cpp": "for (volatile int i = 0;; i++);", "javascript": "for (;;);"}, "cpu", {"timeout": 0.2}),
    "wait": ({"cpp": "for (;;) pause();", "javascript": "setInterval(() => {}, 1000)"}, "timeout", {"wall": 0.4}),
    "disk": (
        {
            "cpp": """
                static char room[1 << 20];
                FILE *file = fopen("big", "w");
                for (int i = 0; i < 4; i++) fwrite(room, 1, sizeof room, file);
                return ferror(file) != 0;
            """,
            "javascript": "fs.writeFileSync('big', Buffer.alloc(4 << 20))",
        },
        "disk",
        {"disk": 1 << 20},
    ),
}
"""What would never end, or use up the machine: how it ends, within limits."""

NAMES = [*WORLD, *ENDLESS]
BODIES = {**WORLD, **{name: programs for name, (programs, _, _) in ENDLESS.items()}}
HEADERS = ("arpa/inet.h", "csignal", "cstdio", "cstdlib", "cstring", "new", "sys/mman.h", "unistd.h")
# Programs that do one or the other, as the input says: so each is compiled once.
ATTACKS = {
    "cpp": "".join(f"#include <{header}>\n" for header in HEADERS)
    + 'int main() { int which; char target[1000]; if (scanf("%d %999s", &which, target) < 2) return 9;'
    + "".join(f"if (which == {number}) {{ {BODIES[name]['cpp']} }}\n" for number, name in enumerate(NAMES))
    + "}",
    "javascript": "const fs = require('fs'); const [which, target] = fs.readFileSync('/dev/stdin', 'utf8').split(' ');"
    + "".join(f"if (which === '{number}') {{ {BODIES[name]['javascript']} }}\n" for number, name in enumerate(NAMES)),
}
COMMAND = {"cpp": "g++", "javascript": "node"}


def need(language: str) -> Language:
    if shutil.which(COMMAND[language]) is None:
        pytest.skip(f"{COMMAND[language]} is not installed")
    return language  # pyright: ignore[reportReturnType]


def attacked(box: Sandbox, attack: str, language: str, secret: Path, **limits: Any) -> sandbox.Result:
    secret.write_text("secret")
    with socket.create_server(("127.0.0.1", 0)) as server:
        target = str(server.getsockname()[1]) if attack == "network" else str(secret)
        return box.run(ATTACKS[language], language=need(language), stdin=f"{NAMES.index(attack)} {target}", **limits)


@pytest.fixture(scope="module", params=["bubblewrap", "unshare", "landlock"])
def box(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with sandbox_levels.box_at(request.param) as made:
        yield made


@pytest.fixture
def fresh() -> Iterator[None]:
    """What was found of a compiler is forgotten, before and after."""
    cpp.toolchain.cache_clear()
    yield
    cpp.toolchain.cache_clear()


@pytest.fixture(scope="module", params=["process"])
def open_box() -> Iterator[Sandbox]:
    with sandbox_levels.box_at("process") as made:
        yield made


@pytest.mark.parametrize("attack", WORLD)
@pytest.mark.parametrize("language", SQUARE)
def test_a_program_sees_nothing_of_the_machine(box: Sandbox, attack: str, language: str, tmp_path: Path) -> None:
    result = attacked(box, attack, language, tmp_path / "secret")

    assert (result.reason, result.stdout) == ("ok", "")


@pytest.mark.parametrize("attack", WORLD)
@pytest.mark.parametrize("language", SQUARE)
def test_what_it_tries_succeeds_without_isolation(
    open_box: Sandbox, attack: str, language: str, tmp_path: Path
) -> None:
    assert "BREACH" in attacked(open_box, attack, language, tmp_path / "secret", processes=20).stdout


@pytest.mark.parametrize(
    "attack", [name if name in ("memory", "time") else pytest.param(name, marks=pytest.mark.full) for name in ENDLESS]
)
@pytest.mark.parametrize("language", SQUARE)
def test_a_program_is_ended_at_its_limits(box: Sandbox, attack: str, language: str, tmp_path: Path) -> None:
    _, reason, limits = ENDLESS[attack]

    result = attacked(box, attack, language, tmp_path / "secret", **{"timeout": 5.0, **limits})

    assert result.reason == reason, result
    assert box.run(SQUARE[language], language=need(language), stdin="3").stdout == "9\n"


@pytest.mark.parametrize("language", ["cpp", pytest.param("javascript", marks=pytest.mark.full)])
def test_a_program_is_tested_on_cases(box: Sandbox, language: str) -> None:
    cases = [(str(n), str(n * n)) for n in range(4)]

    assert box.run_tests(SQUARE[language], cases, language=need(language)).passed
    assert box.run_tests(SQUARE[language], [*cases, ("2", "5")], language=need(language)).count == 4


def test_a_program_that_does_not_compile_says_why(box: Sandbox) -> None:
    result = box.run("int main() { return x; }", language=need("cpp"))

    assert (result.reason, result.note, result.stdout) == ("compile", "it does not compile", "")
    assert "main.cpp:1:21: error: 'x' was not declared" in result.stderr.replace("‘", "'").replace("’", "'")
    verdict = box.run_tests("int main() { return x; }", [("", ""), ("", "")], language="cpp", stop="never")
    assert [case.result.reason for case in verdict.cases] == ["compile", "compile"]


@pytest.mark.full
def test_a_program_that_takes_too_long_to_compile_is_stopped(box: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    endless = "constexpr long f() { long s = 0; for (int i = 0; i < 9999; i++) for (int j = 0; j < 999; j++) s += j; "
    endless += "return s; }\nstatic_assert(f() > 0);\nint main() {}"
    monkeypatch.setattr(cpp, "LIMITS", cpp.LIMITS.changed({"timeout": 0.3}))

    result = box.run(endless, language=need("cpp"))

    assert (result.reason, result.note) == ("compile", "compiling it took more than 0.3 s of CPU time")


def test_the_compiler_reads_nothing_that_a_program_may_not(box: Sandbox, tmp_path: Path) -> None:
    secret = tmp_path / "secret.h"
    secret.write_text("int secret = 1;\n")

    result = box.run(f'#include "{secret}"\nint main() {{ return 0; }}', language=need("cpp"))

    assert result.reason == "compile"
    assert any(words in result.stderr for words in ("No such file", "Permission denied"))


def test_an_executable_is_not_compiled_again(box: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    program = SQUARE["cpp"] + "// once"
    box.run(program, language=need("cpp"), stdin="2")
    monkeypatch.setattr(box, "_compile", None)

    assert box.run(program, language="cpp", stdin="5").stdout == "25\n"


@pytest.mark.parametrize("language", [pytest.param("cpp", marks=pytest.mark.full), "javascript"])
def test_a_program_finds_its_files_and_an_empty_environment(box: Sandbox, language: str) -> None:
    program = {
        "cpp": '#include <fstream>\n#include <iostream>\nint main() { std::string s; std::ifstream("in/a") >> s;'
        'std::ofstream("b") << s; std::cout << s << (getenv("SECRET") != nullptr); }',
        "javascript": "const fs = require('fs'); const s = fs.readFileSync('in/a', 'utf8'); fs.writeFileSync('b', s);"
        "process.stdout.write(s + Number('SECRET' in process.env))",
    }[language]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SECRET", "1")
        result = box.run(program, language=need(language), files={"in/a": "text"})

    assert (result.stdout, result.reason) == ("text0", "ok"), result


@pytest.mark.full
def test_javascript_reads_its_input_in_every_usual_way(box: Sandbox) -> None:
    ways = (
        "const s = fs.readFileSync('/dev/stdin', 'utf8'); console.log(s.trim())",
        "let s = ''; process.stdin.on('data', (d) => { s += d }).on('end', () => console.log(s.trim()))",
        "require('readline').createInterface({input: process.stdin}).on('line', (s) => console.log(s))",
        "(async () => { for await (const d of process.stdin) console.log(String(d).trim()) })()",
        "fs.createReadStream('/dev/stdin').on('data', (d) => console.log(String(d).trim()))",
        "fs.readFile('/dev/stdin', 'utf8', (_, s) => console.log(s.trim()))",
    )

    jobs = [Job(code=f"const fs = require('fs'); {way}", stdin="7\n", language=need("javascript")) for way in ways]

    assert [(result.stdout, result.stderr) for result in box.run_many(jobs)] == [("7\n", "")] * len(ways)


@pytest.mark.full
def test_threads_and_deep_recursion_work_in_cpp(box: Sandbox) -> None:
    program = (
        "#include <thread>\n#include <cstdio>\n"
        "int deep(int n) { volatile int m = n; return n ? deep(n - 1) + 1 - (m < 0) : 0; }\n"
        'int main() { int all = 0; std::thread a([&] { all++; }); a.join(); printf("%d\\n", all + deep(500000)); }'
    )

    result = box.run(program, language=need("cpp"), memory=1 << 30)

    assert result.stdout == "500001\n", result


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("language", SQUARE)
def test_a_machine_without_the_language_says_what_to_install(
    language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    words = {"cpp": "apt-get install g[+][+]", "javascript": "apt-get install nodejs"}[language]

    with sandbox_levels.box_at("process") as box, pytest.raises(ConfigError, match=words):
        box.run(SQUARE[language], language=language)  # pyright: ignore[reportArgumentType]
    report = {each.language: each for each in sandbox.languages()}
    assert not report[language].works  # pyright: ignore[reportArgumentType]
    assert report["python"].works
    assert diagnose_languages()["status"] == "python"


@pytest.mark.usefixtures("fresh")
def test_a_compiler_that_is_not_gcc_is_refused_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "g++").write_text(f"#!{sys.executable}\nprint('Apple clang version 15')\n")
    (tmp_path / "g++").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(ConfigError, match="another compiler"):
        cpp.tools()


def test_compiling_needs_a_folder_to_write_in() -> None:
    with sandbox_levels.box_at("seccomp") as box, pytest.raises(SandboxUnavailable, match="level seccomp has not"):
        box.run(SQUARE["cpp"], language=need("cpp"))
