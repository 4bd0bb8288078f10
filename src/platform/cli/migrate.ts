import type { Command } from 'commander';
import { migrate, onOwnSchema } from '../postgres/migrate.js';
import type { CliContext } from './cli-context.js';
import { printResult } from './output.js';

/** `npm run migrate`: runs the migration that the first process of a version otherwise runs at boot. */
export function migrateProgram(program: Command, cli: CliContext): void {
  program
    .description(
      'Migrates the database of DATABASE_URL to this version. Processes that boot meanwhile wait, and repeat nothing.',
    )
    .action(async () => {
      await onOwnSchema(() => migrate(cli.config().databaseUrl ?? '', cli.migrations));
      printResult(program, cli, { migrated: true }, () => 'The database has the schema of this version.');
    });
}
