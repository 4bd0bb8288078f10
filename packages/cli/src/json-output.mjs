/** A value on a line of standard output, for programs. */
export function printJson(value) {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/** Adds `--json` to the command. */
export function withJson(command, description = 'print JSON, a line for each result') {
  return command.option('--json', description);
}
