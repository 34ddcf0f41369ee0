"""What each way of choosing tools offers for 180 sentences and the MobileTask instructions, and what it costs.

Three ways: all tools; the families whose keywords stand in the message; and routing (keywords, hints, common families
for a wish that speaks of nothing known, and what the families require).
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.routing.evaluation import Case, costs, left_out, measured, sentences, tasks, ways

from palmclaw.app import assembled
from palmclaw.cli.counting import tokenizer


def main() -> None:
    """Print the table, or with --json the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="for machines")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        app = assembled({"PALMCLAW_HOME": home})
    counter = tokenizer({})
    cost = costs(app.tools, counter.count)
    found = {
        way: {name: asdict(measured(cases, chosen, app.modules, cost)) for name, cases in _parts()}
        for way, chosen in ways(app.modules).items()
    }
    if options.json:
        print(json.dumps({"tokenizer": counter.name, "left_out": left_out(), "ways": found}))
        return
    print(_table(found))
    print(f"\nTokens counted with {counter.name}. Of MobileTask without a tool yet: {', '.join(left_out())}.")


def _parts() -> Iterator[tuple[str, list[Case]]]:
    said = sentences()
    yield "all", said
    yield "en", [case for case in said if case.language == "en"]
    yield "zh", [case for case in said if case.language == "zh"]
    yield "held out", [case for case in said if case.is_held_out]
    yield "MobileTask", tasks()


def _table(found: dict[str, dict[str, dict[str, float]]]) -> str:
    names = list(next(iter(found.values())))
    lines = [
        f"| | tokens | {' | '.join(names)} | MobileTask tokens | quiet |",
        "|---" + "|--:" * (len(names) + 3) + "|",
    ]
    for way, parts in found.items():
        recalls = " | ".join(f"{parts[name]['recall']:.1%}" for name in names)
        whole, suite = parts["all"], parts["MobileTask"]
        lines.append(f"| {way} | {whole['tokens']:,.0f} | {recalls} | {suite['tokens']:,.0f} | {whole['quiet']:.0%} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
