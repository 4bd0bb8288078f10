import { Inject, Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { Periodic } from '../../../platform/jobs/background-work.js';
import { ReportsAudit } from '../../../platform/operations/system-report.js';
import { Database } from '../../../platform/postgres/database.js';
import { registers } from '../../../platform/telemetry/metrics.js';

const MEASURED_EVERY_MS = 15_000;

const lastVerification = new Gauge({
  name: 'disburse_audit_verify_timestamp_seconds',
  help: 'When the log was last verified (npm run audit -- verify), in seconds since 1970, by outcome: in_order, wrong, incomplete. An incomplete run replaces no other. Missing before the first time.',
  labelNames: ['outcome'] as const,
  registers,
});

/** The outcome of the last verification. `read_to` is the position of the last replayed event. */
export interface LastVerify {
  readonly at: string;
  readonly outcome: 'in_order' | 'wrong' | 'incomplete';
  readonly read_to: string | null;
}

/** The store of the last outcome, which proves nothing, because any writer of the database can change it. */
@Injectable()
export class LastVerifies {
  constructor(@Inject(Database) private readonly database: Pick<Database, 'query'>) {}

  /** Exports the recorded outcome as a gauge, because the verifying program is not scraped. */
  @Periodic({ name: 'gauge of verifications', everyMs: MEASURED_EVERY_MS })
  async measure(): Promise<void> {
    const last = await this.read();
    lastVerification.reset();
    if (last !== null) lastVerification.set({ outcome: last.outcome }, Date.parse(last.at) / 1000);
  }

  async record({ at, outcome, read_to: readTo }: LastVerify): Promise<void> {
    await this.database.query(
      `insert into audit.last_verify (at, outcome, read_to) values ($1, $2, $3)
       on conflict (only_row) do update set at = excluded.at, outcome = excluded.outcome, read_to = excluded.read_to
       -- An incomplete run does not replace the outcome of a complete run.
       where excluded.outcome <> 'incomplete' or last_verify.outcome = 'incomplete'`,
      [at, outcome, readTo],
    );
  }

  @ReportsAudit('last_verify')
  async read(): Promise<LastVerify | null> {
    const [row] = await this.database.query<Omit<LastVerify, 'at'> & { at: Date }>(
      'select at, outcome, read_to from audit.last_verify',
    );
    return row === undefined ? null : { ...row, at: row.at.toISOString() };
  }
}
