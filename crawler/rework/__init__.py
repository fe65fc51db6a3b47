"""Work on stored articles anew: extracted or described again."""
