"""The LiteLLM proxy on a free port of loopback: `python litellm_proxy.py --config FILE [--seconds N]`."""

import argparse
import os
import signal
import sys
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", required=True)
    parser.add_argument("--seconds", type=int, default=120)
    options = parser.parse_args()
    signal.alarm(options.seconds)  # outlives the exec below and ends the proxy
    program = str(Path(sys.executable).with_name("litellm"))
    os.execv(program, [program, "--config", options.config, "--host", "127.0.0.1", "--port", "0"])


if __name__ == "__main__":
    main()
