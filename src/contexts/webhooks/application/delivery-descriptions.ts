import { describeState, DISABLED_BY } from '../domain/delivery-states.js';
import type { DeliveryFacts } from '../views/stuck-deliveries.js';

/** A delivery that is due for longer waits for a worker. */
const OVERDUE_MS = 60_000;

const PHASES: Readonly<Record<string, string>> = {
  address: 'the address of the receiver is not public',
  dns: 'the name of the receiver does not resolve',
  connect: 'no connection to the receiver',
  tls: 'no TLS with the receiver',
  send: 'no response from the receiver',
  response: 'a response that is not HTTP, too large or broken off',
  timeout: 'no response in time',
};

/** For people: what became of a delivery so far, and what to do next. */
interface DeliveryDescription {
  readonly what: string;
  readonly next: string;
}

/** Pure. */
export function describeDelivery(facts: DeliveryFacts, now: Date): DeliveryDescription {
  const what = [attemptsOf(facts), stateOf(facts, now), endpointOf(facts)].filter((part) => part !== null);
  return { what: what.join('; '), next: nextOf(facts, now) };
}

function attemptsOf({ attempts, state, ...last }: DeliveryFacts): string {
  if (attempts === 0) return 'no attempt yet';
  const count = attempts === 1 ? '1 attempt' : `${attempts} attempts`;
  if (state === 'succeeded') return `succeeded after ${count}`;
  if (last.http_status !== null && last.http_status >= 200 && last.http_status < 300)
    return `${count}, the last one succeeded: it is sent again`;
  return `${count} failed, the last one: ${reasonOf(last as DeliveryFacts)}`;
}

function reasonOf({ http_status, failure_phase, error }: DeliveryFacts): string {
  if (http_status !== null) return `${http_status} from the receiver`;
  const phase = PHASES[failure_phase ?? ''] ?? 'no response';
  return error === null ? phase : `${phase} (${error})`;
}

function stateOf(facts: DeliveryFacts, now: Date): string | null {
  const { state, in_flight, due_at } = facts;
  if (state === 'succeeded') return null;
  if (state !== 'pending') return describeState(state);
  if (in_flight) return 'an attempt is in flight';
  return due_at > now ? `next attempt at ${due_at.toISOString()}` : `due since ${due_at.toISOString()}`;
}

function endpointOf({ endpoint_status, disabled_at, disabled_cause }: DeliveryFacts): string | null {
  if (endpoint_status === 'deleted') return 'the endpoint is deleted';
  if (endpoint_status !== 'disabled') return null;
  const when = disabled_at === null ? '' : ` at ${disabled_at.toISOString()}`;
  return `the endpoint was disabled${when}${disabled_cause === null ? '' : ` by ${DISABLED_BY[disabled_cause]}`}`;
}

function nextOf(facts: DeliveryFacts, now: Date): string {
  const { state, endpoint_status, created_at, due_at, in_flight, delivery_id } = facts;
  if (state === 'succeeded') return 'nothing';
  if (endpoint_status === 'deleted') return 'nothing: the merchant deleted the endpoint';
  if (endpoint_status === 'disabled')
    return `once the receiver works, the merchant enables the endpoint and recovers it since ${created_at.toISOString()}`;
  if (state !== 'pending')
    return `once the receiver works: npm run delivery -- resend ${delivery_id} --reason <text>`;
  if (in_flight || now.getTime() - due_at.getTime() < OVERDUE_MS)
    return `wait, or send it now: npm run delivery -- resend ${delivery_id} --reason <text>`;
  return 'no worker has claimed it: check that a process with the role worker runs and is ready';
}
