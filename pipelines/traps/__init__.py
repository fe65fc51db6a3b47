"""What addresses and pages show of crawler traps."""
