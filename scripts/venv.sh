# Sourced by ./run and ./test: makes a virtual environment and installs into it, once. POSIX sh; no /tmp, no env.
# Sets nothing but `venv_python`. Usage: venv_ready FOLDER EXTRA [PYTHON]

venv_fits() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

venv_find_python() {
    for candidate in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11 python; do
        if venv_fits "$candidate"; then
            echo "$candidate"
            return 0
        fi
    done
    echo "PalmClaw needs Python 3.11 or newer. Install it: 'pkg install python' in Termux," >&2
    echo "'apt install python3 python3-venv' on Debian, 'brew install python' on macOS." >&2
    return 1
}

venv_ready() {
    venv_python="$1/bin/python"
    if [ -e "$1/.installed$2" ] && ! [ pyproject.toml -nt "$1/.installed$2" ] && [ -x "$venv_python" ]; then
        return 0
    fi
    if ! { [ -x "$venv_python" ] && venv_fits "$venv_python" && "$venv_python" -m pip --version >/dev/null 2>&1; }; then
        base=${3:-$(venv_find_python)} || return 1
        [ -n "$base" ] || return 1
        echo "Setting up in $1 …" >&2
        if ! "$base" -m venv --clear "$1" >&2; then
            rm -rf "$1"
            echo "Python's venv module is missing. On Debian: apt install python3-venv; in Termux: pkg install python." >&2
            return 1
        fi
    fi
    echo "Installing what PalmClaw needs (once, about half a minute) …" >&2
    "$venv_python" -m pip install --quiet --disable-pip-version-check -e ".$2" >&2 || {
        echo "The installation failed; see above. Is there a network? Run the same command again to go on, or remove $1 first." >&2
        return 1
    }
    : >"$1/.installed$2"
}
