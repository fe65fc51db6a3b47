"""What is learned of sites and hosts."""
