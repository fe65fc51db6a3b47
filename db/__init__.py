"""Tables, migrations and queries: everything that speaks SQL."""
