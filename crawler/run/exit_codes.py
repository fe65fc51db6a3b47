"""Exit codes of the commands; the README says what each means. Pure."""

EXIT_FINISHED, EXIT_USAGE, EXIT_STOPPED, EXIT_DATABASE = 0, 2, 3, 4
