"""The bundled newsroom: five invented news sites on loopback."""
