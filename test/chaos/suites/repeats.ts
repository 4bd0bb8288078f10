import { randomUUID } from 'node:crypto';
import type { Credentials, SignedRequest } from '../../../bench/support/sign.js';
import type { Service } from '../../../bench/support/service.js';
import { SignedClient } from '../../support/http/signed-client.js';
import { checkBooks, countEvents } from '../support/books.js';
import {
  activePayee,
  CREATE_USER,
  keyed,
  REGISTER_ENDPOINT,
  REPORT,
  type Operation,
} from '../support/payouts.js';
import { encode, RawConnection, type RawResponse, type Outcome } from '../support/raw-connection.js';
import { portOf, Shared } from '../support/shared.js';
import type { Suite, SuiteOptions } from '../support/suite.js';
import { Tally } from '../support/verdict.js';

const REPEATS = 200;
/** Sent by the second merchant under the same key, and again by each when all is done. */
const OTHERS = 40;
const ROUNDS = [REPORT, REPORT, CREATE_USER, REGISTER_ENDPOINT];

/** A merchant of the run and one of its users. */
interface Sender {
  readonly who: Credentials;
  readonly userId: string;
}

/**
 * One request sent {@link REPEATS} times at once under one Idempotency-Key, half to each of two processes, while a
 * second merchant does the same under the same key. One event each; every response is 409 or the first 201, byte for byte.
 */
export const repeats: Suite = async (options) => {
  const shared = await Shared.start();
  try {
    const first = await shared.service('first');
    const second = await shared.service('second');
    const senders: Sender[] = [];
    for (const who of [first.merchant, first.secondMerchant]) {
      senders.push({ who, userId: (await activePayee(first.baseUrl, who)).id });
    }
    for (let round = 1; round <= options.count; round += 1) {
      const operation = ROUNDS[(round - 1) % ROUNDS.length]!;
      await playRound(round, operation, senders, [first, second], shared, options);
    }
    await checkBooks(shared.pool, options.verdict);
  } finally {
    await shared.close();
  }
};

async function playRound(
  round: number,
  operation: Operation,
  senders: readonly Sender[],
  services: readonly Service[],
  shared: Shared,
  { say, verdict }: SuiteOptions,
): Promise<void> {
  const key = randomUUID();
  const before = await Promise.all(
    senders.map(({ who }) => countEvents(shared.pool, operation.event, who.apiKey)),
  );
  const results = await Promise.all(
    senders.map(async ({ who, userId }, place) => {
      const body = operation.body(userId);
      const send = (repeats: number): Promise<Outcome[]> =>
        sendAtOnce(services, repeats, () => keyed(who, operation.path, body, key));
      const atOnce = await send(place === 0 ? REPEATS : OTHERS);
      return { atOnce, later: await send(OTHERS) };
    }),
  );
  const statuses = new Tally();
  for (const [place, { who }] of senders.entries()) {
    const { atOnce, later } = results[place]!;
    const outcomes = [...atOnce, ...later];
    for (const outcome of outcomes) statuses.add(nameOf(outcome));
    const written = (await countEvents(shared.pool, operation.event, who.apiKey)) - before[place]!;
    verdict.equal(written, 1, `round ${round}, ${operation.name}: events written by merchant ${place + 1}`);
    checkResponses(outcomes, `round ${round}, ${operation.name}, merchant ${place + 1}`, verdict);
    await cleanUp(operation, services[0]!, who, outcomes);
  }
  say(`round ${round}  ${operation.name}: ${statuses.toString()}`);
}

function checkResponses(outcomes: readonly Outcome[], where: string, verdict: SuiteOptions['verdict']): void {
  const responses = outcomes.filter((each): each is RawResponse => each.kind === 'responded');
  verdict.equal(responses.length, outcomes.length, `${where}: responses`);
  const created = responses.filter(({ status }) => status === 201);
  verdict.none(
    responses.filter(({ status }) => status !== 201 && status !== 409),
    `${where}: a response is neither 201 nor 409`,
  );
  verdict.expect(created.length > 0, `${where}: a request gets 201`);
  verdict.equal(new Set(created.map(({ body }) => body)).size, 1, `${where}: different bodies of 201`);
  const originals = created.filter(({ headers }) => headers['idempotent-replayed'] === undefined);
  verdict.equal(originals.length, 1, `${where}: 201 that say they are no replay`);
}

/** Opens all connections first, so that the requests leave at nearly the same time. */
async function sendAtOnce(
  services: readonly Service[],
  repeats: number,
  request: () => SignedRequest,
): Promise<Outcome[]> {
  const connections = await Promise.all(
    Array.from({ length: repeats }, (_, index) =>
      RawConnection.open(portOf(services[index % services.length]!)),
    ),
  );
  const bytes = encode(request());
  for (const connection of connections) connection.write(bytes);
  const outcomes = await Promise.all(connections.map((connection) => connection.response(60_000)));
  for (const connection of connections) connection.close();
  return outcomes;
}

/** A merchant may have ten webhook endpoints: each round's is deleted. */
async function cleanUp(
  operation: Operation,
  service: Service,
  who: Credentials,
  outcomes: readonly Outcome[],
): Promise<void> {
  if (operation !== REGISTER_ENDPOINT) return;
  for (const outcome of outcomes) {
    if (outcome.kind !== 'responded' || outcome.status !== 201) continue;
    const { webhook_endpoint: endpoint } = JSON.parse(outcome.body) as { webhook_endpoint: { id: string } };
    await new SignedClient(service.baseUrl, who).call({
      method: 'DELETE',
      path: `${REGISTER_ENDPOINT.path}/${endpoint.id}`,
    });
    return;
  }
}

function nameOf(outcome: Outcome): string {
  return outcome.kind === 'responded' ? String(outcome.status) : `cut off (${outcome.why})`;
}
