"""Other programs, each in an environment of its own; see ``maylink.experiments.peers``.

Environments of the benchmarks are under ``benchmarks/.peers``.
"""

import subprocess
import sys
from pathlib import Path

from maylink.experiments import peers
from maylink.experiments.peers import PATIENCE, MissingError

HOME = Path(__file__).parent / ".peers"

__all__ = ["MissingError", "Peer", "environment"]


class Peer(peers.Peer):
    """A running peer: a package, its program, and an .npy file with X."""

    def __init__(self, package, program, data, patience=PATIENCE):
        super().__init__(environment(package), program, data, patience)


def environment(package):
    """Return the Python of the package's environment; install it if there is none."""
    return peers.environment(package, HOME)


if __name__ == "__main__":  # print where a package is installed, after seeing to it
    python = environment(sys.argv[1])
    command = "import sysconfig; print(sysconfig.get_path('purelib'))"
    print(subprocess.run([python, "-c", command], capture_output=True, text=True).stdout.strip())
