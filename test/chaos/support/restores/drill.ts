import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { count } from '../../../../bench/support/count.js';
import { asShell } from '../../../support/programs/disburse.js';
import { checkAcknowledged, checkReplays, checkWebhooks, undelivered } from '../acknowledged.js';
import { areCovered, checkBooks, haveReached, headOf } from '../books.js';
import { createPayee } from '../../../support/payouts/payout-calls.js';
import { CREATE_USER } from '../payouts.js';
import { ReportLoad, type Confirmed } from '../report-load.js';
import type { ServiceProcess } from '../../../../bench/support/service.js';
import type { Shared } from '../shared.js';
import { between, seconds, type SuiteOptions } from '../suite.js';
import { FLAKY_DELIVERIES, Receivers } from '../webhooks/receivers.js';
import { checkArchives, type BackupStore } from './backup-store.js';
import { missingFrom, repeatAll } from './confirmed.js';
import { checkKeptHeads, checkOwnList, checkProven, checkReceivers, UserLoad } from './witnesses.js';

/** Restores to the end of the archive, to the end of the surviving `pg_wal`, or to an earlier time. */
export const DRILLS = ['archive', 'pg_wal', 'point_in_time'] as const;
type DrillKind = (typeof DRILLS)[number];

export interface DrillResult {
  readonly kind: DrillKind;
  /** The age of the oldest lost confirmed request at the destruction; 0 without one. */
  readonly lostMs: number;
  /** The time from the destruction until the service is ready again. */
  readonly recoveryMs: number;
  readonly line: string;
}

/** The `AUDIT_HEADS_FILE` before and after the restore. */
const HEADS = 'heads.ndjson';
const LATER_HEADS = 'heads-after-restore.ndjson';

const CLIENTS = 8;
const CLIENT_PAUSE_MS = 120;
const PAYEES = 4;
const WINDOW_SECONDS = 20;
const CURRENT_MS = 60_000;
const SETTLE_MS = 180_000;
/** The maximum loss of a restore to the end of the archive. */
const MAX_LOST_MS = 5000;
const MAX_RECOVERY_MS = 60_000;
/** Times have milliseconds, and a commit is a little earlier than its response. */
const CLOCK_MARGIN_MS = 20;
/** PostgreSQL restores to an earlier time only if the archive has a later commit. */
const ARCHIVED_AFTER_MS = 5500;
/** The share of restores to the end of the archive with only a few requests before the destruction. */
const QUIET_SHARE = 0.5;

/** Expires the claims of killed processes. */
const EXPIRE_LEASES = `update work.items set due_at = now() where lease is not null and due_at > now()`;

interface RecoveryTarget {
  readonly at: number;
  readonly time: Date;
}

/** One backup under load, destruction and restore, with all checks and everything they need. */
export class Drill {
  private receiver!: Receivers;
  private reports!: ReportLoad;
  private users!: UserLoad;
  private service!: ServiceProcess;
  /** The person who is erased after the backup, and after the restored time. */
  private person = '';
  private readonly env: Readonly<Record<string, string>>;

  constructor(
    private readonly kind: DrillKind,
    private readonly shared: Shared,
    private readonly store: BackupStore,
    private readonly options: SuiteOptions,
  ) {
    this.env = {
      PAYOUT_VERIFICATION_WINDOW_SECONDS: String(options.sizes?.window ?? WINDOW_SECONDS),
      PAYOUT_CHECK_INTERVAL_MS: '200',
      ...FLAKY_DELIVERIES,
      AUDIT_HEAD_SECONDS: '1',
      OPERATIONS_APPROVALS: 'off',
    };
  }

  async run(): Promise<DrillResult> {
    const { shared, store, kind, options } = this;
    const { verdict } = options;
    await this.open();
    await sleep(between(300, 1500));
    await store.takeBase(shared.databaseUrl, shared.environment.postgresData);
    await sleep(between(500, 3000));
    const target = { at: performance.now(), time: new Date() };
    await sleep(CLOCK_MARGIN_MS);
    const erased = await this.erase();
    // Load fills up segments. `archive_timeout` alone bounds the loss without it.
    if (kind === 'archive' && Math.random() < QUIET_SHARE) await this.reports.stop();
    await sleep(between(ARCHIVED_AFTER_MS, ARCHIVED_AFTER_MS + 2500));

    const destroyedAt = performance.now();
    await Promise.all([this.service.kill(), shared.environment.killPostgres()]);
    // The requests are repeated in this order, so that users precede the payouts to them.
    const confirmed: readonly Confirmed[] = [...this.users.confirmed, ...this.reports.acknowledged];
    const reported = [...this.reports.acknowledged];
    const loads = Promise.all([this.reports.stop(), this.users.stop()]);
    const data = shared.environment.postgresData;
    if (kind === 'pg_wal') await store.saveLog(data);
    await this.restore(target);

    const gone = new Set(await missingFrom(shared.pool, confirmed));
    this.checkLoss(confirmed, gone, destroyedAt, target);
    const { lostEvents, restored } = await checkKeptHeads(shared, store.file(HEADS), verdict);
    await this.startAgain();
    const recoveryMs = performance.now() - destroyedAt;
    verdict.expect(recoveryMs < MAX_RECOVERY_MS, 'the service is ready within a minute', seconds(recoveryMs));

    await loads;
    await this.service.registered();
    const lostIds = new Set([...gone].map(({ id }) => id));
    const lost = reported.filter(({ id }) => lostIds.has(id));
    const known = this.reports.acknowledged.filter(({ id }) => !lostIds.has(id));
    const isCurrent = (): Promise<boolean> => haveReached(shared.pool, head);
    const head = await headOf(shared.pool);
    await verdict.eventually('the read models are as new as the log', isCurrent, CURRENT_MS);
    await checkOwnList(this.service, this.reports.acknowledged, lost, verdict);
    const unknown = await checkReceivers(shared.pool, this.receiver, { lost, known }, verdict);
    const responses = await repeatAll(this.service, confirmed, gone, verdict);
    await this.eraseAgain(erased);
    await this.checkAll(responses);
    const files = [HEADS, LATER_HEADS].map((name) => store.file(name));
    await checkProven(shared, files, restored, verdict);
    verdict.equal(await this.service.stop(), 'exit code 0', 'SIGTERM ends it');
    const lostMs = Math.max(0, ...[...gone].map(({ confirmedAt }) => destroyedAt - confirmedAt));
    const summary = `${gone.size} of ${confirmed.length} confirmed requests gone`;
    const age = gone.size === 0 ? '' : `, the oldest ${seconds(lostMs)} old`;
    return {
      kind,
      lostMs,
      recoveryMs,
      line: `${kind.padEnd(13)} ${summary}${age}; heads name ${lostEvents} lost events, receivers ${unknown} webhooks; ready after ${seconds(recoveryMs)}`,
    };
  }

  private async open(): Promise<void> {
    const { shared, env, store } = this;
    const { verdict } = this.options;
    this.service = await shared.service('service', { ...env, AUDIT_HEADS_FILE: store.file(HEADS) });
    const { merchant, client, port } = this.service;
    const payees = await Promise.all(Array.from({ length: PAYEES }, () => createPayee(client)));
    this.person = (await createPayee(client)).id;
    await this.operate('deactivate', this.person);
    this.receiver = await shared.ends.start(Receivers.register(client));
    const target = { port, merchant, payees, treasury: await shared.treasury() };
    this.reports = new ReportLoad(target, verdict, CLIENT_PAUSE_MS);
    this.users = new UserLoad(merchant, port, verdict);
    for (const load of [this.reports, this.users]) shared.ends.add(() => load.abandon());
    this.reports.start(CLIENTS);
    this.users.start(1);
  }

  /** Erases persons and returns their ids, which are kept off the backups (docs/data-protection.md). */
  private async erase(): Promise<readonly string[]> {
    await this.operate('erase', this.person);
    const { rows } = await this.shared.pool.query<{ id: string }>(
      `select data::json->>'user_id' as id from event_store.events where type = 'user.erased.v1'`,
    );
    return rows.map(({ id }) => id);
  }

  private async restore(target: RecoveryTarget): Promise<void> {
    const { kind, shared, store } = this;
    const dir = shared.environment.folder('restored');
    const upTo =
      kind === 'point_in_time'
        ? { time: target.time }
        : kind === 'pg_wal'
          ? 'end of the saved log'
          : 'end of the archive';
    rmSync(shared.environment.postgresData, { recursive: true });
    await shared.replacePostgres(dir, await store.restoreTo(dir, upTo));
  }

  private checkLoss(
    confirmed: readonly Confirmed[],
    gone: ReadonlySet<Confirmed>,
    destroyedAt: number,
    target: RecoveryTarget,
  ): void {
    const { verdict } = this.options;
    const lost = [...gone];
    switch (this.kind) {
      case 'pg_wal':
        return verdict.none('a confirmed request is gone although the log of the server was saved', lost);
      case 'archive':
        return verdict.none(
          `a request that was confirmed ${seconds(MAX_LOST_MS)} before the destruction is gone`,
          lost,
          ({ confirmedAt }) => destroyedAt - confirmedAt > MAX_LOST_MS,
        );
      case 'point_in_time':
        verdict.none(
          'a request that was confirmed before the restored time is gone',
          lost,
          ({ confirmedAt }) => confirmedAt < target.at - CLOCK_MARGIN_MS,
        );
        return verdict.none(
          'a request that began after the restored time is there',
          confirmed,
          (each) => each.beganAt > target.at + CLOCK_MARGIN_MS && !gone.has(each),
        );
    }
  }

  /** Uses another file of heads, because no head may follow one that the restored database lacks. */
  private async startAgain(): Promise<void> {
    const { shared, env, store } = this;
    await shared.pool.query(EXPIRE_LEASES);
    const again = { ...env, AUDIT_HEADS_FILE: store.file(LATER_HEADS), PORT: String(this.service.port) };
    this.service = await shared.process('service', again).start();
  }

  /** Repeats the erasures after the restored time, by the runbook. */
  private async eraseAgain(erased: readonly string[]): Promise<void> {
    const { kind, service } = this;
    const { verdict } = this.options;
    const path = `${CREATE_USER.path}/${this.person}`;
    const isThere = async (): Promise<boolean> => (await service.client.get(path)).status === 200;
    verdict.expect(erased.includes(this.person), 'the id of the erased person was kept');
    if (kind === 'point_in_time') verdict.expect(await isThere(), 'the restore brings an erased person back');
    if (await isThere()) for (const id of erased) await this.operate('erase', id);
    verdict.equal((await service.client.get(path)).status, 404, 'the erased person is gone');
    const left = `platform.personal_keys where subject = '${this.person}' and wrapped_key is not null`;
    const isForgotten = async (): Promise<boolean> => (await count(this.shared.pool, left)) === 0;
    await verdict.eventually('the key of the erased person is dropped', isForgotten, SETTLE_MS);
  }

  private async checkAll(responses: ReadonlyMap<string, string>): Promise<void> {
    const { shared, receiver, service } = this;
    const { verdict } = this.options;
    const { pool } = shared;
    const acknowledged = this.reports.acknowledged.map((each) => ({
      ...each,
      response: responses.get(each.key) ?? each.response,
    }));
    const settled = async (): Promise<boolean> =>
      (await haveReached(pool, await headOf(pool))) && (await undelivered(pool, receiver)) === 0;
    await verdict.eventually('every payout has its outcome, listed and delivered', settled, SETTLE_MS);
    await checkAcknowledged(pool, acknowledged, verdict);
    await checkReplays(service, acknowledged, verdict);
    const sharing = acknowledged.filter(({ backing }) => backing === 'shared');
    const changing = new Set(sharing.map(({ id }) => id));
    await checkWebhooks(pool, receiver, verdict, changing);
    await checkBooks(shared, verdict);
    await verdict.eventually('the ledger is signed to its end', () => areCovered(pool), SETTLE_MS);
    await checkArchives(pool, verdict);
  }

  private async operate(verb: string, id: string): Promise<void> {
    await asShell(this.service.dir, 'users', verb, id, '--reason', 'drill');
  }
}
