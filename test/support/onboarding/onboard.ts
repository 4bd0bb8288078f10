import { CommandBus } from '@nestjs/cqrs';
import { newId } from '../../../src/kernel/ids.js';
import {
  SendPhoneCode,
  TakeStep,
  type Step,
} from '../../../src/contexts/onboarding/onboardings/onboardings.commands.js';
import { SmsInbox } from '../../../src/contexts/onboarding/providers/providers.ports.js';
import { onboarding, type Onboarding } from '../../../src/contexts/onboarding/onboardings/onboarding.js';
import { REQUIRED_IMAGES } from '../../../src/contexts/onboarding/identity/image-kind.js';
import { Images } from '../../../src/contexts/onboarding/identity/images.store.js';
import { CreateUser } from '../../../src/contexts/users/users/users.commands.js';
import { CommandLoop } from '../../../src/platform/event-store/command-loop.js';
import type { TestApp } from '../app.js';
import { PHOTO } from './images.js';
import { plainTicket, type People } from './people.js';

/** A service, or a part of it, that onboards users. */
type Onboarders = Pick<People, 'commandBus' | 'database'> & {
  readonly module: Pick<People['module'], 'get'>;
};

export const onboardersIn = ({ app, database }: Pick<TestApp, 'app' | 'database'>): Onboarders => ({
  commandBus: app.get(CommandBus),
  database,
  module: app,
});

export const MERCHANT = newId();
/** The nonce of a page, and the requester of its codes. */
export const BROWSER = 'b0'.repeat(16);
export const REQUEST = { browser: BROWSER, address: null };
const CONSENT = { terms_version: 'sandbox', privacy_version: 'sandbox' };
const DETAILS = { first_name: 'Ada', last_name: 'Lovelace', date_of_birth: '1815-12-10' };

let phones = 0;

/** Creates a user and confirms the details by the commands of the page. */
export async function confirmed(
  people: Onboarders,
  lastName = DETAILS.last_name,
  merchantId = MERCHANT,
): Promise<string> {
  const { commandBus, module } = people;
  const [userId, phone] = [newId(), `+1555${String(++phones).padStart(7, '0')}`];
  await commandBus.execute(new CreateUser(merchantId, { phone_number: phone }, plainTicket(userId), {}));
  const take = (step: Step) => commandBus.execute(new TakeStep(merchantId, userId, step));
  await take({ name: 'start' });
  await commandBus.execute(new SendPhoneCode(merchantId, userId, REQUEST));
  const code = module.get<SmsInbox>(SmsInbox, { strict: false }).lastCode(phone) ?? '';
  await take({ name: 'verify_phone', phoneNumber: phone, code, browser: BROWSER });
  const details = { ...DETAILS, last_name: lastName };
  await take({ name: 'confirm_details', details, consent: CONSENT });
  return userId;
}

/** Creates a user who has submitted their identity, with the images of every verification. */
export async function submitted(
  people: Onboarders,
  lastName = DETAILS.last_name,
  merchantId = MERCHANT,
): Promise<string> {
  const userId = await confirmed(people, lastName, merchantId);
  const images = people.module.get(Images, { strict: false });
  for (const kind of REQUIRED_IMAGES) await images.keep(userId, { kind, type: 'image/jpeg', bytes: PHOTO });
  await people.commandBus.execute(new TakeStep(merchantId, userId, { name: 'submit_identity' }));
  return userId;
}

export async function onboardingOf(people: Onboarders, userId: string): Promise<Onboarding> {
  const loop = people.module.get(CommandLoop, { strict: false });
  return (await loop.load(onboarding, userId)).state;
}

/** Returns types of all events of the user's onboarding, without `onboarding.`. */
export async function eventsOf(people: Onboarders, userId: string): Promise<string[]> {
  const rows = await people.database.query<{ type: string }>(
    'select type from event_store.events where stream = $1 order by position',
    [`onboarding-${userId}`],
  );
  return rows.map(({ type }) => type.replace(/^onboarding\./, ''));
}

export const urlOf = (people: Onboarders): string => people.database.pool.options.connectionString!;
