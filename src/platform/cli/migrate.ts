import type { Command } from 'commander';
import { migrate, onOwnSchema } from '../postgres/migrate.js';
import type { CliContext } from './cli-context.js';

/** `npm run migrate`: runs the migration that the first process of a version otherwise runs at boot. */
export function migrateProgram(program: Command, { config, migrations, print }: CliContext): void {
  program
    .description(
      'Migrates the database of DATABASE_URL to this version. Processes that boot meanwhile wait, and repeat nothing.',
    )
    .action(async () => {
      await onOwnSchema(() => migrate(config().databaseUrl ?? '', migrations));
      const done = 'The database has the schema of this version.';
      print(program.opts<{ json?: boolean }>().json === true ? JSON.stringify({ migrated: true }) : done);
    });
}
