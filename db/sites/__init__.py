"""What is learned and kept of sites and hosts."""
