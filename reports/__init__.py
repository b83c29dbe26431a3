"""Floor 6: all statistics and all presentation."""

import os

# Sums come out the same on every machine only if one thread makes them. It is read when numpy is
# loaded, which no module but those of this package does.
for _name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[_name] = "1"
