"""Exit codes of the commands; the README says what each means. Pure."""

EXIT_FINISHED, EXIT_FOUND, EXIT_USAGE, EXIT_STOPPED, EXIT_DATABASE = 0, 1, 2, 3, 4
