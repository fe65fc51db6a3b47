"""The frame of all web pages: requests, answers, languages, escaping, security."""
