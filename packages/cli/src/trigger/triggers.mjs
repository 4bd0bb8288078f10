// The triggers of the webhook catalogue (docs/contract.md 13.5 and 13.9) in the sandbox. A merchant, a person and the
// chain act; no event is invented.
import { randomBytes, randomInt } from 'node:crypto';
import { Problem } from '../terminal.mjs';
import { Usage } from '../usage.mjs';
import { handInIdentity } from './onboarding.mjs';
import { ORDER_TRIGGERS } from './order-triggers.mjs';
import { outcomeOf } from './outcome.mjs';

const USER = {
  phone_number: 'of the new user; default: a random one',
  email: 'of the new user',
  external_id: 'of the new user',
};
const PAYOUT = {
  user_id: 'an active user; default: a new one',
  amount: 'in USDC; default: 12.50',
  custom_metadata: 'a JSON object; custom_metadata.<key>=<value> sets one member',
};

const onboarded = {
  does: 'creates a user and completes the onboarding',
  takes: USER,
  run: completeOnboarding,
};

/**
 * The trigger of each type. `does` describes it, `takes` has the names of `--set`, and `isForAnyService` is set where
 * no sandbox is needed. `run({merchant, keys, set})` resolves to `{subject: {<name of an id in data>: id}, note}` once
 * it has happened.
 */
export const TRIGGERS = {
  'user.onboarding_started': onboarded,
  'user.kyc_submitted': onboarded,
  'user.kyc_passed': onboarded,
  'user.kyc_failed': {
    does: 'creates a user whose identity the sandbox rejects (last name Rejected)',
    takes: { ...USER, first_name: 'on the document; default: Dorothy' },
    run: failKyc,
  },
  'user.onboarding_completed': onboarded,
  'payout.received': {
    does: 'transfers USDC on the dev chain to a user, and reports the payout',
    takes: PAYOUT,
    run: receivePayout,
  },
  'payout.failed': {
    does: 'reports a payout whose transfer does not exist, and lets it expire',
    takes: { ...PAYOUT, transaction_hash: 'default: a random one' },
    run: failPayout,
  },
  ...ORDER_TRIGGERS,
  'webhook_endpoint.test': {
    does: 'sends a test delivery to an endpoint',
    takes: { endpoint_id: 'default: the newest enabled endpoint' },
    isForAnyService: true,
    run: testEndpoint,
  },
};

async function completeOnboarding({ merchant, set }) {
  const user = await activeUser(merchant, set);
  return { subject: { user_id: user.id }, note: `user ${user.id} is ${user.account_state}` };
}

async function failKyc({ merchant, keys, set: { first_name = 'Dorothy', ...profile } }) {
  const { widgetUrl, apiKey: merchantId } = keys;
  if (widgetUrl === null) {
    throw new Usage(
      'user.kyc_failed goes through the onboarding page: name its address with --widget-url or DISBURSE_WIDGET_URL.',
    );
  }
  const user = await createUser(merchant, profile);
  const person = await handInIdentity({ widgetUrl, merchantId, user, first_name, last_name: 'Rejected' });
  const { stage } = await outcomeOf(person.state, ({ stage: at }) => at !== 'kyc_submitted', 'identity');
  if (stage !== 'kyc_failed') throw new Problem(`The identity is ${stage}, not kyc_failed.`);
  return { subject: { user_id: user.id }, note: `the identity of user ${user.id} is rejected` };
}

async function receivePayout({ merchant, set: { user_id, amount = '12.50', custom_metadata } }) {
  const user = await payee(merchant, user_id);
  const to = user.issuer_wallet_address;
  if (to === null) throw new Problem(`The user ${user.id} is ${user.account_state} and has no wallet yet.`);
  const { data } = await merchant.sandbox.transfer({ to, amount });
  const { transaction_hash } = data;
  return reportedPayout(merchant, user, { amount, transaction_hash, custom_metadata }, 'received');
}

async function failPayout({ merchant, set: { user_id, amount = '12.50', ...rest } }) {
  const user = await payee(merchant, user_id);
  const { transaction_hash = `0x${randomBytes(32).toString('hex')}`, custom_metadata } = rest;
  const expire = ({ id }) => merchant.sandbox.expirePayout(id);
  return reportedPayout(merchant, user, { amount, transaction_hash, custom_metadata }, 'expired', expire);
}

async function testEndpoint({ merchant, set: { endpoint_id } }) {
  const id = endpoint_id ?? (await newestEndpoint(merchant));
  const { data } = await merchant.webhookEndpoints.test(id);
  return {
    subject: { webhook_endpoint_id: id },
    deliveryId: data.webhook_delivery.id,
    note: `a test was sent to endpoint ${id}`,
  };
}

async function newestEndpoint(merchant) {
  const { data } = await merchant.webhookEndpoints.list();
  const newest = data.webhook_endpoints.findLast(({ status }) => status === 'enabled');
  if (newest !== undefined) return newest.id;
  throw new Problem('The merchant has no enabled webhook endpoint. Run disburse listen in another shell.');
}

async function createUser(merchant, { phone_number = randomPhone(), ...rest }) {
  return (await merchant.users.create({ phone_number, ...rest })).data.user;
}

async function activeUser(merchant, profile) {
  const { id } = await createUser(merchant, profile);
  return (await merchant.sandbox.completeOnboarding(id)).data.user;
}

async function payee(merchant, id) {
  return id === undefined ? activeUser(merchant, {}) : (await merchant.users.get(id)).data.user;
}

/** Reports, calls `then`, and waits for the status. */
async function reportedPayout(merchant, { id: user_id }, body, status, then = async () => undefined) {
  const { data } = await merchant.payouts.report({ user_id, payout: body });
  const { id } = data.payout;
  await then(data.payout);
  const read = async () => (await merchant.payouts.get(id)).data.payout;
  const payout = await outcomeOf(read, ({ status: at }) => at !== 'pending', 'payout');
  if (payout.status !== status) throw new Problem(`The payout ${id} is ${payout.status}, not ${status}.`);
  return { subject: { payout_id: id }, note: `payout ${id} is ${status}` };
}

function randomPhone() {
  return `+14154${String(randomInt(1_000_000)).padStart(6, '0')}`;
}
