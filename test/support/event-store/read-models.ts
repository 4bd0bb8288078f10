import { directoryProjection } from '../../../src/contexts/access/merchants/directory.view.js';
import { progressProjection } from '../../../src/contexts/onboarding/onboardings/onboardings.view.js';
import { orderViews } from '../../../src/contexts/exchange/orders/orders.view.js';
import { payoutViews } from '../../../src/contexts/payouts/payouts/payouts-projection.view.js';
import { usersProjection } from '../../../src/contexts/users/users/users.view.js';
import { operationViews } from '../../../src/contexts/operations/operations/operations.view.js';
import { newId } from '../../../src/kernel/ids.js';
import type { JsonObject } from '../../../src/platform/event-store/port.js';
import type { SubscriptionDefinition } from '../../../src/platform/projections/projection.js';
import { orderFacts } from '../exchange/order-fixtures.js';

const AT = '2026-01-01T00:00:00.000Z';

type Fact = readonly [type: string, data: JsonObject];

interface View {
  readonly definition: SubscriptionDefinition;
  readonly tables: readonly string[];
  /** The facts that add a row to each table. */
  readonly facts: () => readonly Fact[];
  /** SQL that counts the rows of all tables. */
  readonly count: string;
}

export const VIEWS: readonly View[] = [
  {
    definition: directoryProjection,
    tables: ['access.merchants', 'access.operators', 'access.credentials', 'access.portal_sessions'],
    facts: () => {
      const merchant_id = newId();
      const key = { credential_id: newId(), kind: 'payouts', key_id: merchant_id, name: null, scopes: [] };
      const terms = { merchants: [merchant_id], addresses: [], withdraw_addresses: null, expires_at: null };
      const signing = { demands_signing: null, memo_signing: null, sealed_secret: 'sealed' };
      const rest = { owner_id: merchant_id, merchant_id, secret_hash: 'hash', is_pending: false, at: AT };
      const session = { session_id: newId(), merchant_id };
      const created = { actor: null, scopes: ['payouts:read'], return_url: null, created_at: AT };
      return [
        ['merchant.registered.v1', { merchant_id, name: 'Acme', registered_at: AT }],
        ['credential.issued.v1', { ...key, ...terms, ...signing, ...rest }],
        [
          'operator.created.v1',
          { operator_id: merchant_id, name: 'Ada', email: 'ada@example.com', role: 'viewer', at: AT },
        ],
        ['portal_session.created.v1', { ...session, ...created, code_hash: 'hash', code_expires_at: AT }],
        ['portal_session.revoked.v1', { ...session, revoked_at: AT }],
      ];
    },
    count: `select count(*)::int as n from access.merchants m
      join access.credentials c using (merchant_id)
      join access.operators o on o.operator_id = m.merchant_id
      join access.portal_sessions s on s.merchant_id = m.merchant_id and s.revoked_at is not null`,
  },
  {
    definition: usersProjection,
    tables: ['users.users'],
    facts: () => {
      const person = { user_id: newId(), merchant_id: newId() };
      const wallet = { issuer_wallet_address: `0x${person.user_id}`, activated_at: AT };
      return [
        ['user.created.v1', { ...person, external_id: null, created_at: AT }],
        ['user.activated.v1', { ...person, ...wallet }],
      ];
    },
    count: 'select count(*)::int as n from users.users where wallet is not null',
  },
  {
    definition: payoutViews,
    tables: ['payouts.payouts', 'payouts.balances', 'payouts.payout_intents'],
    facts: () => {
      const [user_id, merchant_id, payout_id] = [newId(), newId(), newId()];
      const payout = { payout_id, user_id, merchant_id, amount: '1', currency_code: 'USDC', chain_id: 1 };
      const rest = { transaction_hash: '0x1', custom_metadata: '{}', created_at: AT, expires_at: AT };
      return [
        ['user.created.v1', { user_id, merchant_id, external_id: null, created_at: AT }],
        ['payout.reported.v1', { ...payout, ...rest }],
        ['payout.intended.v1', { payout_id: newId(), user_id }],
      ];
    },
    count: 'select count(*)::int as n from payouts.payouts join payouts.balances using (user_id)',
  },
  {
    definition: orderViews,
    tables: ['exchange.orders'],
    facts: () => {
      const created = orderFacts({ created_at: AT });
      return [
        ['order.created.v1', { ...created }],
        ['order.expired.v1', { order_id: created.order_id, at: AT }],
      ];
    },
    count: 'select count(*)::int as n from exchange.orders where status = 5',
  },
  {
    definition: progressProjection,
    tables: ['onboarding.progress'],
    facts: () => {
      const person = { user_id: newId(), merchant_id: newId(), at: AT };
      return [
        ['onboarding.started.v1', person],
        ['onboarding.phone_verified.v1', person],
      ];
    },
    count: `select count(*)::int as n from onboarding.progress where stage = 'phone_verified'`,
  },
  {
    definition: operationViews,
    tables: ['operations.operations'],
    facts: () => {
      const operation_id = newId();
      const requested = {
        operation_id,
        name: 'users.retry',
        subject: { kind: 'user', id: newId(), revision: 0 },
        parameters: {},
        reason: 'stuck',
        ticket: null,
        merchant_id: newId(),
        approval: 'none',
        second_person: null,
        requested_by: { operator_id: null, name: 'shell', role: null, credential_id: null, address: null },
        requested_at: AT,
        expires_at: null,
      };
      return [
        ['operation.requested.v1', requested],
        ['operation.executed.v1', { operation_id, changes: [], at: AT }],
      ];
    },
    count: `select count(*)::int as n from operations.operations where status = 'executed'`,
  },
];
