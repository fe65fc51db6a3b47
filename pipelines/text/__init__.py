"""Texts as words: cut, folded and counted, in Chinese and other languages."""
