"""The health of hosts: what their answers are like against their past, and what that means. Pure."""
