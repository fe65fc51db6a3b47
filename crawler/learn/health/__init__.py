"""The health of hosts: their answers against their past, and alarms."""
