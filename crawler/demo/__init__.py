"""The bundled newsroom: five invented news sites on loopback, to try the crawler on without any network."""
