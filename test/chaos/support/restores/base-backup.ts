import { join } from 'node:path';
import pg from 'pg';
import { copyFolder, writeOwnedFile } from './copy-folder.js';

/** Folders that are copied empty, because a server fills them at its start (PostgreSQL, 25.3.5.4). */
const EMPTY =
  /^(pg_wal|pg_replslot|pg_dynshmem|pg_notify|pg_serial|pg_snapshots|pg_stat_tmp|pg_subtrans)[/].|pgsql_tmp/;
const LEFT_OUT = /^postmaster[.](pid|opts)$/;

/**
 * Takes a base backup of the running server at `url` by the low-level functions, because the embedded
 * PostgreSQL lacks `pg_basebackup`. Resolves once it is complete, with the log that it needs in the archive.
 */
export async function takeBaseBackup(url: string, data: string, to: string): Promise<void> {
  // Both functions have to be called in one session.
  const session = new pg.Client({ connectionString: url });
  await session.connect();
  try {
    await session.query(`select pg_backup_start('drill', fast => true)`);
    await copyFolder(data, to, (path) => !EMPTY.test(path) && !LEFT_OUT.test(path));
    const { rows } = await session.query<{ labelfile: string }>(
      'select labelfile from pg_backup_stop(wait_for_archive => true)',
    );
    await writeOwnedFile(join(to, 'backup_label'), rows[0]!.labelfile);
  } finally {
    await session.end();
  }
}
