"""Tables, migrations and queries: everything that speaks SQL.

A function that takes a connection takes it inside an open transaction.
"""
