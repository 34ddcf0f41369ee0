"""Fails when lines and branches of the tests' run are covered less than promised: all of it 95 %, the heart 100 %."""

import io
import sys

import coverage

FLOORS = {"": 95.0, "core": 100.0, "guard": 100.0, "agent": 100.0}


def main() -> int:
    data = coverage.Coverage()
    data.load()
    low = 0
    for part, floor in FLOORS.items():
        report = io.StringIO()
        total = data.report(file=report, include=[f"*/palmclaw/{part}/*" if part else "*/palmclaw/*"])
        mark = "ok" if total >= floor else "TOO LOW"
        print(f"{part or 'all':<8} {total:6.2f} %  (at least {floor:g} %)  {mark}")
        if total < floor:
            low = 1
            print(report.getvalue())
    return low


if __name__ == "__main__":
    sys.exit(main())
