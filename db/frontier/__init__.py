"""The frontier's tables: URLs, leases, limits, runs, revisits."""
