import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { serverUser } from '../../../../sandbox/server-user.js';
import { copyFolder, writeOwnedFile } from './copy-folder.js';
import type { Verdict } from '../verdict.js';
import { takeBaseBackup } from './base-backup.js';

/** A partial segment is archived after this time. */
const ARCHIVE_TIMEOUT = '2s';

/** The storage off the destroyed machine: base backup, archive of the write-ahead log, ledger heads. */
export class BackupStore {
  private readonly archive: string;
  private readonly base: string;
  private readonly savedLog: string;

  private constructor(private readonly dir: string) {
    [this.archive, this.base, this.savedLog] = [join(dir, 'archive'), join(dir, 'base'), join(dir, 'pg_wal')];
  }

  static create(): BackupStore {
    const store = new BackupStore(
      mkdtempSync(join(process.env['DISBURSE_TEST_RUN'] ?? tmpdir(), 'disburse-backup-')),
    );
    chmodSync(store.dir, 0o711);
    mkdirSync(store.archive);
    const user = serverUser();
    if (user !== null) chownSync(store.archive, user.uid, user.gid);
    return store;
  }

  /** The settings of a server that archives here, from docs/backup.md. */
  get settings(): Readonly<Record<string, string>> {
    const { archive } = this;
    return {
      wal_level: 'replica',
      archive_mode: 'on',
      archive_timeout: ARCHIVE_TIMEOUT,
      // The server archives existing segments again after a crash. Equal bytes are no failure.
      archive_command: [
        `if test -f '${archive}/%f'; then cmp -s '%p' '${archive}/%f'; else`,
        `dd if='%p' of='${archive}/.%f' bs=1M conv=fsync status=none`,
        `&& mv '${archive}/.%f' '${archive}/%f' && sync '${archive}'; fi`,
      ].join(' '),
    };
  }

  file(name: string): string {
    return join(this.dir, name);
  }

  async takeBase(url: string, data: string): Promise<void> {
    await takeBaseBackup(url, data, this.base);
  }

  async saveLog(data: string): Promise<void> {
    await copyFolder(join(data, 'pg_wal'), this.savedLog);
  }

  /** Prepares `dir` for a recovery up to `target`, and returns the server's settings. */
  async restoreTo(
    dir: string,
    target: { readonly time: Date } | 'end of the archive' | 'end of the saved log',
  ): Promise<Readonly<Record<string, string>>> {
    const data = join(dir, 'data');
    mkdirSync(dir);
    await copyFolder(this.base, data);
    // The server removes it after the recovery.
    await writeOwnedFile(join(data, 'recovery.signal'), '');
    if (target === 'end of the saved log') await copyFolder(this.savedLog, join(data, 'pg_wal'));
    return {
      ...this.settings,
      restore_command: `cp '${this.archive}/%f' '%p'`,
      recovery_target_action: 'promote',
      // No process connects before the recovery has ended.
      hot_standby: 'off',
      ...(typeof target === 'object' && {
        recovery_target_time: target.time.toISOString().replace('Z', '+00'),
      }),
    };
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** The restored server archives its log like the former one. */
export async function checkArchives(pool: pg.Pool, verdict: Verdict): Promise<void> {
  const { rows } = await pool.query<{ archived: number; failed: number }>(
    'select archived_count::int as archived, failed_count::int as failed from pg_stat_archiver',
  );
  verdict.expect(rows[0]!.archived > 0, 'the restored server archives its log');
  verdict.equal(rows[0]!.failed, 0, 'segments whose archiving failed');
}
