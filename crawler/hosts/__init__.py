"""What a run knows of the hosts it asks: robots rules, pauses, troubles and rests."""
