"""Programs in the languages that this host has, under the default limits and the whole filter."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from arena.sandbox.limits import default_limits
from arena.sandbox.sandboxes import Sandbox
from tests.sandboxed import need_sandbox
from tests.tools import need

pytestmark = pytest.mark.slow

NODE = """
const { Worker, isMainThread } = require('node:worker_threads')
const lines = require('node:readline').createInterface({ input: process.stdin })
let n = 0
lines.on('line', (line) => {
  new Worker('require("node:worker_threads").parentPort.postMessage(6 * 7)', { eval: true })
    .on('message', (it) => { console.log(line, it); if (++n === 2) process.exit(0) })
})
"""
JAVA = """
import java.io.*;
import java.util.stream.*;
public class Bot {
    public static void main(String[] args) throws Exception {
        var in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            long sum = LongStream.range(0, 7).parallel().map(n -> 6).sum();
            System.out.println(line + " " + sum);
        }
        new java.security.SecureRandom().nextInt();
    }
}
"""
C = r"""
#include <pthread.h>
#include <stdio.h>
#include <string.h>
static void *work(void *it) { *(int *)it = 42; return it; }
int main(void) {
    char line[256];
    setvbuf(stdout, NULL, _IOLBF, 0);
    while (fgets(line, sizeof line, stdin)) {
        pthread_t thread;
        int n = 0;
        line[strcspn(line, "\n")] = 0;
        if (pthread_create(&thread, NULL, work, &n)) return 1;
        pthread_join(thread, NULL);
        printf("%s %d\n", line, n);
    }
    return 0;
}
"""
PYTHON = """
import concurrent.futures, sqlite3, sys, tempfile, multiprocessing
def six(n): return 6 * n
def main():
    with sqlite3.connect(':memory:') as db: db.execute('create table t (a)')
    with tempfile.TemporaryFile() as file: file.write(b'x')
    with concurrent.futures.ThreadPoolExecutor(4) as threads, multiprocessing.Pool(2) as pool:
        for line in sys.stdin:
            assert pool.map(six, [7]) == [42]
            print(line.strip(), threads.submit(six, 7).result(), flush=True)
if __name__ == '__main__': main()
"""
RUST = """
use std::io::BufRead;
fn main() {
    for line in std::io::stdin().lock().lines() {
        let n = std::thread::spawn(|| 6 * 7).join().unwrap();
        println!("{} {}", line.unwrap(), n);
    }
}
"""


_LIMIT_S = 200  # on a busy host a bot gets a third of what others get, and Java needs seconds


@contextmanager
def folder() -> Iterator[Path]:
    """Give a folder as staging makes them: readable to all."""
    with tempfile.TemporaryDirectory(prefix="arena-test-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def talk(command: list[str], at: Path) -> None:
    """Send two lines to a program in the sandbox; it answers each with a 42 behind it."""
    for path in at.iterdir():
        path.chmod(path.stat().st_mode | 0o044 | (path.stat().st_mode & 0o100) // 0o100 * 0o011)
    sandbox = Sandbox(need_sandbox().profile)
    process, box = sandbox.start(command, str(at), limits=default_limits(), cpu_s=60)
    try:
        out, err = process.communicate(b"one\ntwo\n", timeout=_LIMIT_S)
    finally:
        box.kill(0 if process.returncode is not None else process.pid)
        process.wait()
        box.close()
        sandbox.close()
    assert process.returncode == 0, err.decode(errors="backslashreplace")
    assert sorted(out.decode().splitlines()) == ["one 42", "two 42"], err.decode()


def test_python_with_threads_processes_and_sqlite() -> None:
    with folder() as at:
        (at / "bot.py").write_text(PYTHON)
        talk([sys.executable, "bot.py"], at)


def test_node_with_workers() -> None:
    node = need("node")
    with folder() as at:
        (at / "bot.js").write_text(NODE)
        talk([str(node), "bot.js"], at)


def test_java_with_its_own_choice_of_threads() -> None:
    need("java")
    javac = need("javac")
    with folder() as at:
        (at / "Bot.java").write_text(JAVA)
        subprocess.run([javac, "-d", str(at), str(at / "Bot.java")], check=True, timeout=_LIMIT_S)
        talk(["java", "Bot"], at)


def test_a_c_program_with_threads() -> None:
    gcc = need("gcc")
    with folder() as at:
        (at / "bot.c").write_text(C)
        subprocess.run(
            [gcc, "-O1", "-pthread", "-o", str(at / "bot"), str(at / "bot.c")],
            check=True,
            timeout=_LIMIT_S,
        )
        talk(["./bot"], at)


def test_a_static_c_program() -> None:
    gcc = need("gcc")
    with folder() as at:
        (at / "bot.c").write_text(C)
        subprocess.run(
            [gcc, "-static", "-O1", "-pthread", "-o", str(at / "bot"), str(at / "bot.c")],
            check=True,
            timeout=_LIMIT_S,
        )
        talk(["./bot"], at)


def test_a_rust_program() -> None:
    rustc = need("rustc")
    with folder() as at:
        (at / "bot.rs").write_text(RUST)
        subprocess.run(
            [rustc, "-o", str(at / "bot"), str(at / "bot.rs")], check=True, timeout=_LIMIT_S
        )
        talk(["./bot"], at)
