"""Models, alarms, rules and traps of sites and hosts."""
