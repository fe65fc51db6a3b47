"""Exit codes of the commands; the README says what each means. Pure."""

EXIT_FINISHED, EXIT_FOUND, EXIT_USAGE, EXIT_STOPPED, EXIT_DATABASE, EXIT_FAULT, EXIT_NOTHING = range(7)
