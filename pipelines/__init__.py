"""Processing of fetched pages: extraction, duplicates, storage."""

import os

# Read when numpy is first imported. The matrices of a page are small: further threads wait for each other, and a page
# costs three times as much.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
