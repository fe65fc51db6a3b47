"""The spider. There is one: sites differ in the seeds file, not in code."""
