"""How work runs: threads, interrupts, progress, and work for a Dask cluster."""
