"""Programs that run other programs: what a reader of commands must know of them.

Whatever is missing here is read as one program with arguments. A command that a rule restricts is then
still noticed where its name stands among them.
"""

from __future__ import annotations


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


SHELLS = _names("ash bash csh dash elvish fish ksh mksh nu oksh posh pwsh rbash rksh sh tcsh xonsh yash zsh")

RUNNERS = SHELLS | _names(
    "! builtin bunx busybox bwrap caffeinate capsh chpst chroot chrt command coproc coreutils daemon "
    "daemonize dbus-run-session do doas elif else entr env envdir eval exec expect fakeroot fd fdfind find "
    "firejail flock gdb hyperfine i386 if in ionice ld.so linux32 linux64 ltrace newgrp nice nohup npx "
    "nsenter numactl parallel perf pkexec pnpx prlimit proot rlwrap run0 runuser rush s6-setuidgid screen "
    "script setarch setpriv setsid setuidgid sg softlimit source ssh start-stop-daemon stdbuf strace su sudo "
    "systemd-inhibit systemd-run taskset then time timeout tmux toybox unbuffer unshare until uvx valgrind "
    "watch watchexec while x86_64 xargs xvfb-run"
)
"""Programs, and words of a shell, that run what the words behind them say."""

LINE_READERS = _names("env eval expect flock hyperfine parallel runuser screen script ssh su tmux watch")
"""Those of them that give a word to a shell."""

_IN_CONTAINERS = _names("docker podman nerdctl kubectl oc lxc")
_IN_PROJECTS = _names("conda dotenv doppler hatch infisical mamba op pdm pipenv pipx poetry rye uv")
_IN_TOOLS = _names("asdf aws-vault bundle direnv mise vagrant")
RUNNER_WORDS: dict[str, frozenset[str]] = {
    **dict.fromkeys(_IN_CONTAINERS, _names("exec run")),
    **dict.fromkeys(_IN_PROJECTS, _names("run")),
    **dict.fromkeys(_IN_TOOLS, _names("exec ssh x")),
    **dict.fromkeys(_names("bun npm pnpm yarn"), _names("dlx exec run x")),
    **dict.fromkeys(_names("guix nix"), _names("develop run shell")),
    "cmake": _names("-e"),
    "git": _names("bisect difftool filter-branch mergetool rebase submodule"),
    "machinectl": _names("shell"),
}
"""Programs that run the words behind one of these words."""

_EDITORS = _names("emacs ex guile nvim vi view vim")
_PERLISH = _names("elixir ghc julia lua luajit osascript perl rscript ruby")
_FLAG = "[gimp0-9]"
_SED_CODE = (
    "e *", "[0-9$]*e*", "*[!a-z-]e", "*[!a-z-]e *", f"*[!a-z-]e{_FLAG}", f"*[!a-z-]e{_FLAG}{_FLAG}",
    f"*[!a-z0-9-]{_FLAG}e", f"*[!a-z0-9-]{_FLAG}{_FLAG}e", f"*[!a-z0-9-]{_FLAG}e{_FLAG}",
)  # fmt: skip
CODE: dict[str, tuple[str, frozenset[str]]] = {
    **dict.fromkeys(_names("pypy python"), ("c", _names(""))),
    **dict.fromkeys(_PERLISH, ("eE", _names("--eval"))),
    **dict.fromkeys(_names("bun node nodejs"), ("ep", _names("--eval --print"))),
    **dict.fromkeys(_EDITORS, ("cS", _names("+* --batch --cmd --eval"))),
    **dict.fromkeys(_names("awk gawk mawk nawk"), ("", _names("*"))),
    **dict.fromkeys(_names("powershell pwsh"), ("ce", _names("-command -encodedcommand"))),
    **dict.fromkeys(_names("gsed sed"), ("", frozenset(_SED_CODE))),
    **dict.fromkeys(_names("scp sftp ssh"), ("F", _names("-o*command* *command=* -s* -d*"))),
    "deno": ("", _names("eval")),
    # A pager behind -O of grep, a file behind --output of diff and log.
    "git": ("", _names("*.*=* --config-env* --exec* --receive-pack* --upload-pack* ext::* -o* --o*")),
    "go": ("", _names("-exec* --exec* -toolexec* --toolexec* -vettool* --vettool* -overlay* --overlay*")),
    "make": ("", _names("*=* --eval*")),
    "man": ("HP", _names("--html* --pager* --preprocessor*")),
    "php": ("BERr", _names("--run")),
    "rsync": ("e", _names("--rsh*")),
    "socat": ("", _names("*exec:* *system:* *shell:*")),
    "split": ("", _names("--filter*")),
    "sqlite3": ("", _names("*.shell* *.system*")),
    "zip": ("", _names("-tt* --unzip-command*")),
    "tar": ("I", _names("--checkpoint-action* --rsh-command* --to-command* --use-compress-program*")),
}
"""Programs that take code, or a command in another form, behind these letters of an option or these words."""
