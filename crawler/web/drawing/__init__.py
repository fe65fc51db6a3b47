"""Pictures drawn by the server: charts, curves, link graphs."""
