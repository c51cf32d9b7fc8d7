"""`bayou serve`: models that predict, learn, explain and are watched over HTTP."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayou.cli import options
from bayou.cli.compiling import announce_compiling
from bayou.cli.console import UsageError, guarded, note
from bayou.cli.jobs import how_often

if TYPE_CHECKING:
    from bayou.serve.living import LivingModel


@guarded
def serve(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL",
            help="Model files: m.bayou, or NAME=m.bayou; the first answers by default. After --follow, a log: "
            "kafka:// nats:// redis:// tail://.",
        ),
    ],
    learn: Annotated[
        bool, typer.Option("--learn", help="Accept rows to learn; otherwise models only predict.")
    ] = False,
    shadow: Annotated[
        list[str],
        typer.Option(
            metavar="MODEL:NAME=FILE",
            help="A shadow model, which learns beside another and is evaluated; repeatable.",
        ),
    ] = [],
    checkpoint: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Save what is learned here, and continue from what is there."),
    ] = None,
    every: options.Every = "30s",
    keep_log: Annotated[
        bool, typer.Option("--keep-log", help="Keep every batch ever learned beside the checkpoints.")
    ] = False,
    publish: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Write snapshots here, as NAME.bayou, for servers that --follow."),
    ] = None,
    follow: Annotated[
        bool,
        typer.Option(
            "--follow",
            help="Reload model files whenever they change; or, before the address of a log, let the first model "
            "learn from it while it answers.",
        ),
    ] = False,
    target: options.Target = None,
    policy: options.Policy = "strict",
    dead_letters: options.DeadLetters = None,
    later: Annotated[
        str | None, typer.Option("--labels", "--label-topic", "--join", "--within", hidden=True)
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; all but loopback addresses need --tokens.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8080,
    tokens: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Lines `ROLE TOKEN`; roles are predict, learn, admin. Mode 600."),
    ] = None,
    max_body: Annotated[int, typer.Option(min=1024, metavar="BYTES", help="Largest body of a request.")] = 1
    << 20,
    max_rows: Annotated[int, typer.Option(min=1, metavar="N", help="Most rows of a request.")] = 10_000,
    timeout: Annotated[
        float, typer.Option(min=0.1, metavar="SECONDS", help="Longest a request may take.")
    ] = 30.0,
    quiet: options.Quiet = False,
) -> None:
    """Predict, learn and explain over HTTP until Ctrl-C or SIGTERM; a live page is at the address that is printed.

    Nothing leaves this machine, and only programs on it can connect, unless --host and --tokens allow others.
    """
    from bayou.streams.brokers.address import is_address

    try:
        from bayou.serve.follow import Follower
        from bayou.serve.living import LivingModel
        from bayou.serve.roles import Access
        from bayou.serve.running import RunningServer
        from bayou.serve.settings import Settings, check_name
    except ModuleNotFoundError as problem:
        raise UsageError(
            f"serving needs {problem.name}, which is not installed", remedy="pip install 'bayou[serve]'"
        ) from None

    if later is not None:
        raise UsageError(
            "a server does not join records with labels that come later",
            remedy="`bayou learn LOG --labels ... --out m.bayou` joins them; serve m.bayou with --follow, or send rows "
            "to a server with --learn when their labels come",
        )
    logs = [text for text in models if is_address(text)]
    models = [text for text in models if text not in logs]
    if (logs and not follow) or len(logs) > 1 or not models:
        raise UsageError(
            "a server has models, and one log to follow", remedy="bayou serve m.bayou --follow kafka://..."
        )
    if follow and learn and not logs:
        raise UsageError("a model either learns or follows a file", remedy="leave out --learn or --follow")
    named = dict(_named(text, check_name) for text in models)
    if len(named) < len(models):
        raise UsageError("two models have the same name", remedy="give names: first=a.bayou second=b.bayou")
    shadows = _shadows(shadow, named, check_name)
    if logs and not target:
        raise UsageError("which column of the log is the target?", remedy="say --target COLUMN")
    access = Access() if tokens is None else Access.of_file(tokens)
    settings = Settings(access, max_body, max_rows, timeout)
    announce_compiling(quiet)
    living: dict[str, LivingModel] = {
        name: LivingModel(
            name,
            _loaded(path),
            shadows={shadow_name: _loaded(file) for shadow_name, file in shadows.get(name, {}).items()},
            learns=learn or (bool(logs) and name == next(iter(named))),
            folder=None if checkpoint is None else Path(checkpoint) / name,
            every=how_often(every),
            keep_log=keep_log,
            follow_file=None if publish is None else _folder(publish) / f"{name}.bayou",
            **(
                _log(logs[0], path, target, policy, dead_letters)
                if logs and name == next(iter(named))
                else {}
            ),
        )
        for name, path in named.items()
    }
    server = RunningServer(living, host=host, port=port, settings=settings)
    followers = [Follower(living[name], path) for name, path in named.items()] if follow and not logs else []
    if not quiet:
        how = f" (learning from {options.title(logs[0])})" if logs else " (learning)" if learn else ""
        note(f"{', '.join(living)} on {server.url}{how}; Ctrl-C stops")
    for follower in followers:
        follower.start()
    try:
        server.run()
    finally:
        for follower in followers:
            follower.stop()
    if not quiet:
        for name, each in living.items():
            saved = f"; {checkpoint} has it" if checkpoint and each.learns else ""
            note(f"stopped: {name} has learned {each.variants.rows:,} rows{saved}")


def _log(
    address: str, model_file: str, target: str | None, policy: options.PolicyName, dead_letters: str | None
) -> dict[str, Any]:
    """The arguments of `LivingModel` for a log to follow, its columns read as the kinds that the model learned."""
    from bayou.cli.matching import matching

    def opened() -> Any:
        return matching(_loaded(model_file), address, target, policy, None, dead_letters=dead_letters)

    return {"follow": opened, "follow_name": options.title(address)}


def _named(text: str, check: Any) -> tuple[str, str]:
    name, sign, path = text.partition("=")
    if not sign:
        name, path = Path(text).stem, text
    return check(name), path


def _shadows(specs: Iterable[str], named: dict[str, str], check: Any) -> dict[str, dict[str, str]]:
    out: dict[str, dict[str, str]] = {}
    for text in specs:
        owner, colon, rest = text.partition(":")
        name, sign, path = rest.partition("=")
        if not colon or not sign or owner not in named or name == owner:
            raise UsageError(
                f"--shadow {text}: not a model, the name of its shadow and a file",
                remedy=f"as in --shadow {next(iter(named))}:new=other.bayou",
            )
        out.setdefault(owner, {})[check(name)] = path
    return out


def _folder(path: str) -> Path:
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _loaded(path: str) -> Any:
    from bayou.cli.files import load_model

    return load_model(path)
