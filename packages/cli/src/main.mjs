import { Command, CommanderError } from 'commander';
import { runAdmin } from './admin/program.mjs';
import { withListen } from './commands/listen.mjs';
import { fail, inWords, sentenceOf } from './failures.mjs';
import { programOf } from './program.mjs';
import { EXIT, Usage } from './usage.mjs';

/** Runs a command line and sets the exit code: 0, 1 (refused), 2 (wrong usage), 69 (unreachable). */
export async function main(argv) {
  // The admin commands come from the API's document.
  if (argv[0] === 'admin') return runAdmin(argv.slice(1));
  const program = programOf();
  if (argv.length === 0) return program.outputHelp();
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    // The help of a command that needs another one, printed on standard error.
    if (error.code === 'commander.help') process.exitCode = EXIT.usage;
    else fail(asUsage(error, 'disburse'), { json: argv.includes('--json') });
  }
}

/** Runs `listen` alone, as `<program> <name> -- [options]`; rejects with what went wrong, in words. */
export async function runListen(program, name, argv) {
  const typed = `${program} ${name} --`;
  const command = withListen(new Command(program), typed)
    .configureOutput({ outputError: () => undefined })
    .exitOverride()
    .name(name)
    .usage('-- [options]');
  try {
    await command.parseAsync(argv, { from: 'user' });
  } catch (error) {
    const problem = inWords(asUsage(error, typed));
    if (problem !== null) throw problem;
  }
}

/** Converts a refusal of commander into a sentence; null for help and version, which it has printed. */
function asUsage(error, name) {
  if (!(error instanceof CommanderError)) return error;
  if (error.exitCode === 0) return null;
  return new Usage(`${sentenceOf(error.message)} See ${name} --help.`);
}
