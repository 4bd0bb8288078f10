import { Random } from '../support/random.js';
import { chooseSeed, concurrently, seconds, type Suite } from '../support/suite.js';
import { operationHistory } from '../../../src/contexts/operations/operations/operation.js';
import { deriveId } from '../../../src/kernel/ids.js';
import type { DomainEvent } from '../../../src/kernel/aggregate.js';
import { DomainError } from '../../../src/kernel/domain-error.js';
import type {
  RecordedEvent,
  Commit,
  CommitResult,
  ReadOptions,
} from '../../../src/platform/event-store/port.js';
import { brokenRules } from '../../support/broken-rules.js';
import { InMemoryEventStore, type Memory } from '../../support/in-memory-event-store.js';
import { operationsOn, requesterOf, switchRequest } from '../../support/operations/operations-harness.js';

class Killed extends Error {
  override readonly name = 'Killed';
}

const MAX_PAUSES = 4;

/** The store of one process. Calls have a random delay, and the process may be killed before or after. */
class InterleavedStore extends InMemoryEventStore {
  private callsLeft = Infinity;
  private isKilled = false;

  constructor(
    memory: Memory,
    atomic: boolean,
    now: () => Date,
    private readonly random: Random,
  ) {
    super(atomic, memory, now);
  }

  killAt(call: number): void {
    this.callsLeft = call;
  }

  override commit(commit: Commit): Promise<CommitResult> {
    return this.interleaved(() => super.commit(commit));
  }

  override readStream(stream: string, options?: ReadOptions) {
    return this.interleaved(() => super.readStream(stream, options));
  }

  private async interleaved<T>(call: () => Promise<T>): Promise<T> {
    await this.wait();
    this.callsLeft -= 1;
    const dies = this.callsLeft <= 0;
    // The call of a dying process may have had its effect.
    if (this.isKilled || (dies && this.random.chance(0.5))) this.die();
    const result = await call();
    if (dies) this.die();
    await this.wait();
    return result;
  }

  private die(): never {
    this.isKilled = true;
    throw new Killed('killed');
  }

  private async wait(): Promise<void> {
    for (let pauses = this.random.below(MAX_PAUSES); pauses > 0; pauses -= 1)
      await new Promise((resolve) => setImmediate(resolve));
  }
}

const OPERATORS = ['ada', 'bob'];
const NAMES = ['lamps.switch', 'lamps.switch_carefully', 'lamps.switch_carefully', 'lamps.switch_fast'];
const HOUR_MS = 3_600_000;
const MAX_KILLED_AT = 40;

/** The faults of one interleaving. */
interface Played {
  readonly broken: readonly string[];
  readonly executed: number;
  readonly kills: number;
  readonly failed: number;
}

/** Plays two operators at two processes on one lamp, which others switch, with kills and replacements. */
async function playOperations(random: Random): Promise<Played> {
  const memory: Memory = { events: [], responses: new Map() };
  const time = { now: Date.parse('2026-01-02T03:04:05Z') };
  const now = (): Date => new Date(time.now);
  const atomic = random.chance(0.8);
  let kills = 0;
  const processAt = () => {
    const store = new InterleavedStore(memory, atomic, now, random);
    const process = operationsOn({ store, now });
    if (random.chance(0.4)) {
      store.killAt(1 + random.below(MAX_KILLED_AT));
      kills += 1;
    }
    return process;
  };
  const plain = new InMemoryEventStore(atomic, memory, now);
  const others = operationsOn({ store: plain, now });
  await others.switchLamp('lamp', true);
  const idOf = (n: number): string => deriveId('key', String(n), 'operation');

  const request = async (n: number): Promise<void> => {
    const process = processAt();
    const revision = (await plain.readStream('lamp-lamp')).length - 1;
    const request = switchRequest({
      name: random.pick(NAMES),
      subject: { id: 'lamp', revision: random.chance(0.9) ? revision : null },
      parameters: { on: random.chance(0.5) },
      reason: 'chaos',
      requester: requesterOf(random.pick(OPERATORS)),
      idempotency: {
        id: (purpose, use = 0) =>
          use === 0 ? deriveId('key', String(n), purpose) : deriveId('key', String(n), purpose, String(use)),
      },
    });
    await process.operations.request(...request);
  };
  const decide = async (n: number): Promise<void> => {
    const caller = requesterOf(random.pick(OPERATORS));
    const { operations } = processAt();
    const kind = random.pick(['approve', 'approve', 'approve', 'reject', 'confirm'] as const);
    await operations.decide(kind, idOf(n), caller, 'chaos');
  };
  const step = (n: number): Promise<unknown> => {
    const roll = random.fraction();
    if (roll < 0.35) return request(n);
    if (roll < 0.7) return decide(n);
    if (roll < 0.85) return processAt().worker.settle(idOf(n));
    if (roll < 0.95) return others.switchLamp('lamp', random.chance(0.5));
    time.now += random.below(80) * HOUR_MS;
    return Promise.resolve();
  };
  const unexpected: string[] = [];
  const play = async (n: number): Promise<void> => {
    for (let left = 3; left > 0; left -= 1)
      await step(n).catch((error: unknown) => {
        if (!(error instanceof Killed) && !(error instanceof DomainError)) unexpected.push(String(error));
      });
  };
  await Promise.all([1, 2].map(request).map((each) => each.catch(() => undefined)));
  await Promise.all([1, 1, 1, 2, 2, 2].map(play));
  time.now += 100 * HOUR_MS;
  for (const id of operationsIn(memory.events)) await others.worker.settle(id).catch(() => undefined);
  return { ...verify(memory.events, unexpected), kills };
}

function operationsIn(events: readonly RecordedEvent[]): string[] {
  return events.flatMap(({ type, data }) =>
    type === 'operation.requested.v1' ? [String(data['operation_id'])] : [],
  );
}

function verify(events: readonly RecordedEvent[], unexpected: readonly string[]): Omit<Played, 'kills'> {
  const broken = [...unexpected];
  let [executed, failed] = [0, 0];
  for (const id of operationsIn(events)) {
    const own = events.filter(({ stream }) => stream === `operation-${id}`);
    const changes = events.filter(
      ({ stream, metadata }) => stream === 'lamp-lamp' && metadata.operation_id === id,
    );
    const of = (type: string) => own.find((event) => event.type === `operation.${type}.v1`);
    const facts = of('requested')!.data as {
      readonly second_person: string | null;
      readonly subject: { readonly revision: number };
      readonly requested_by: { readonly operator_id: string };
    };
    const isExecuted = of('executed') !== undefined;
    if (isExecuted) executed += 1;
    if (of('failed')) failed += 1;
    const fact = (holds: boolean, what: string): void => void (holds || broken.push(`${what}: ${id}`));
    fact(changes.length <= 1, 'an operation was executed twice');
    fact(changes.length === (isExecuted ? 1 : 0), 'an operation says otherwise than what it changed');
    for (const change of changes) {
      fact(change.revision === facts.subject.revision + 1, 'it was executed at another revision');
      const approved = of('approved');
      const { decided_by: by } = (approved?.data ?? {}) as { decided_by?: { operator_id: string } };
      if (facts.second_person === 'before')
        fact(
          approved !== undefined &&
            Number(approved.position) < Number(change.position) &&
            by!.operator_id !== facts.requested_by.operator_id,
          'it was executed without its second person',
        );
    }
    const ends = ['executed', 'failed', 'rejected', 'withdrawn', 'lapsed'].filter((end) => of(end));
    fact(ends.length === 1, `it has ${ends.length} ends (${ends.join(', ')})`);
    for (const rule of brokenRules(operationHistory, id, own as unknown as readonly DomainEvent[]))
      fact(rule === null, `an audit finds ${rule}`);
  }
  return { broken, executed, failed };
}

const AT_ONCE = 50;

/**
 * Plays `--count` generated interleavings of two operators at two processes on one changing subject. Some
 * processes are killed. `--seed` determines everything except the order of concurrent calls.
 */
export const operations: Suite = async (options) => {
  const { count, verdict, say } = options;
  const seed = chooseSeed(options);
  const began = performance.now();
  const broken: (readonly [number, string])[] = [];
  let [all, executed, failed, kills] = [0, 0, 0, 0];
  await concurrently(count, AT_ONCE, async (number) => {
    const played = await playOperations(new Random(seed, number));
    broken.push(...played.broken.map((what) => [number, what] as const));
    all += 1;
    executed += played.executed;
    failed += played.failed;
    kills += played.kills;
  });
  say(
    `played ${count} interleavings in ${seconds(performance.now() - began)}: ${executed} executed, ${failed} failed, ${kills} processes with a kill ahead`,
  );
  verdict.none(
    'an operation is executed twice, without its second person, at another revision, or otherwise than it says',
    broken,
  );
  verdict.equal(all, count, 'every interleaving is played');
  verdict.expect(executed > 0, 'operations are executed');
  verdict.expect(failed > 0 || count < AT_ONCE, 'some operations fail');
  verdict.expect(kills > 0 || count < AT_ONCE, 'some processes are killed');
};
