"""Pictures of the web pages, drawn by the server: charts, curves, link graphs."""
