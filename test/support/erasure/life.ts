import { randomInt, randomUUID } from 'node:crypto';
import { CommandBus } from '@nestjs/cqrs';
import {
  SendPhoneCode,
  TakeStep,
  type Step,
} from '../../../src/contexts/onboarding/onboardings/onboardings.commands.js';
import { SmsInbox } from '../../../src/contexts/onboarding/providers/providers.ports.js';
import { PresentTerms } from '../../../src/contexts/onboarding/onboardings/present-terms.service.js';
import { onboarding } from '../../../src/contexts/onboarding/onboardings/onboarding.js';
import { Images } from '../../../src/contexts/onboarding/identity/images.store.js';
import { CommandLoop } from '../../../src/platform/event-store/command-loop.js';
import { EVENT_STORE, type EventStore } from '../../../src/platform/event-store/port.js';
import { Snapshots } from '../../../src/platform/event-store/snapshots.js';
import type { TestApp } from '../app.js';
import { batchOf, eventItem } from '../tracking/event-batches.js';
import { BROWSER, REQUEST } from '../onboarding/onboard.js';
import { eventually } from '../eventually.js';
import { asShell } from '../programs/disburse.js';
import { reported, settledPayout, USERS } from '../payouts/payout-calls.js';
import type { ApiResponse } from '../http/signed-client.js';

export interface Person {
  readonly phone: string;
  readonly email: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly dateOfBirth: string;
  readonly face: Buffer;
}

export interface Life {
  readonly person: Person;
  readonly id: string;
  readonly externalId: string;
  readonly wallet: string;
  readonly payoutId: string;
  /** Repeats the request that created the user. */
  readonly createAgain: () => Promise<ApiResponse>;
  /** Ids of events of the person and of another one. */
  readonly own: readonly string[];
  readonly others: readonly string[];
}

export function newPerson(): Person {
  const mark = randomUUID().slice(0, 8);
  return {
    phone: `+4915799${String(randomInt(1_000_000)).padStart(6, '0')}`,
    email: `zxq.${mark}@unmistakable.example`,
    firstName: `Quixotina${mark}`,
    lastName: `Vandersnoot${mark}`,
    // A shared date would count as a trace of this person.
    dateOfBirth: new Date(randomInt(-946_771_200, 915_148_800) * 1000).toISOString().slice(0, 10),
    face: Buffer.from(`\u00ff\u00d8\u00ff face of ${mark}, unique`, 'latin1'),
  };
}

/** Creates a user with everything from the merchant's first event to a received payout. */
export async function live(app: TestApp, person = newPerson()): Promise<Life> {
  const { merchant } = app;
  const externalId = `crm-${randomUUID()}`;
  const [own, others]: [string[], string[]] = [[], []];
  const send = async (): Promise<void> => {
    const ids = [randomUUID(), randomUUID()] as const;
    const payload = { to: person.email, name: `${person.firstName} ${person.lastName}`, phone: person.phone };
    const mine = { event_id: ids[0], user_external_id: externalId, payload, device_id: person.email };
    const items = [eventItem(mine), eventItem({ event_id: ids[1], user_external_id: 'somebody-else' })];
    const sent = await merchant.post('/merchants/v1/events', batchOf(items));
    if (sent.status !== 202) throw new Error(sent.text);
    own.push(ids[0]);
    others.push(ids[1]);
  };
  await send();
  const [key, body] = [
    randomUUID(),
    { phone_number: person.phone, email: person.email, external_id: externalId },
  ];
  const createAgain = (): Promise<ApiResponse> => merchant.post(USERS, body, key);
  const created = await createAgain();
  if (created.status !== 201) throw new Error(created.text);
  const { id } = created.json().user;
  const wallet = await onboard(app, person, id);
  const { hash } = await app.chain.transfer(wallet, '12.5');
  const { id: payoutId } = await reported(merchant, id, { amount: '12.5', transaction_hash: hash });
  await settledPayout(merchant, payoutId);
  await send();
  await eventually(async () => {
    const rows = await app.database.query("select from tracking.batches where state = 'accepted' limit 1");
    return rows.length === 0;
  });
  return { person, id, externalId, wallet, payoutId, createAgain, own, others };
}

/** Completes all steps, with a stored image and a snapshot. */
async function onboard({ app, merchant }: TestApp, person: Person, id: string): Promise<string> {
  const merchantId = merchant.credentials.apiKey;
  const bus = app.get(CommandBus);
  const take = (step: Step) => bus.execute(new TakeStep(merchantId, id, step));
  await take({ name: 'start' });
  await bus.execute(new SendPhoneCode(merchantId, id, REQUEST));
  const code = app.get<SmsInbox>(SmsInbox, { strict: false }).lastCode(person.phone)!;
  await take({ name: 'verify_phone', phoneNumber: person.phone, code, browser: BROWSER });
  const consent = app.get(PresentTerms, { strict: false }).consent();
  const { firstName: first_name, lastName: last_name, dateOfBirth: date_of_birth } = person;
  const details = { first_name, last_name, date_of_birth };
  await take({ name: 'confirm_details', details, consent });
  const done = await merchant.post(
    `/merchants/v1/sandbox/users/${id}/complete_onboarding`,
    undefined,
    randomUUID(),
  );
  if (done.status !== 200) throw new Error(done.text);
  const images = app.get(Images, { strict: false });
  await images.keep(id, { kind: 'selfie', type: 'image/jpeg', bytes: person.face });
  await keepSnapshot(app, id);
  return done.json().user.issuer_wallet_address;
}

/** Stores a snapshot, which the service does after a hundred events. */
async function keepSnapshot(app: TestApp['app'], id: string): Promise<void> {
  const stream = `onboarding-${id}`;
  const { state } = await app.get(CommandLoop, { strict: false }).load(onboarding, id);
  const [last] = await app
    .get<EventStore>(EVENT_STORE, { strict: false })
    .readStream(stream, { lastOnly: true });
  const snapshot = { state, revision: last!.revision, eventId: last!.id };
  await app.get(Snapshots, { strict: false }).save(onboarding, stream, snapshot);
}

export async function deactivate(app: TestApp, id: string): Promise<void> {
  await asShell(app.config.dataDir, 'users', 'deactivate', id, '--reason', 'moved house');
  await eventually(async () => {
    return (await app.merchant.get(`${USERS}/${id}`)).json().user.account_state === 'deactivated';
  });
}

/** Requests the erasure from the shell, approves it, and waits until it is complete. */
export async function erase(app: TestApp, id: string): Promise<void> {
  const args = ['users', 'erase', id, '--reason', 'request of the person'];
  const { operation } = await asShell<{ operation: { id: string } }>(app.config.dataDir, ...args);
  const approver = await app.newAdmin();
  const approved = await approver.post(`/operations/${operation.id}/approve`, { reason: 'agreed' });
  if (approved.status !== 200) throw new Error(approved.text);
  await eventually(async () => {
    const [row] = await app.database.query<{ begun: boolean; left: number }>(
      `select exists (select from platform.personal_keys where subject = $1 and wrapped_key is null) as begun,
         (select count(*)::int from work.items where kind like 'users.erasure.%' and key = $1) as left`,
      [id],
    );
    return row!.begun && row!.left === 0;
  });
}
