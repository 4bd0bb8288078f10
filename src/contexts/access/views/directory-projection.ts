import type { PoolClient } from 'pg';
import { subscriptionName, subscriptionOf } from '../../../platform/projections/projection.js';
import type { AdminKeyEvent } from '../domain/admin-key.js';
import type { ExchangeKeyEvent } from '../domain/exchange-key.js';
import { adminKeyHistory, exchangeKeyHistory, merchantHistory, operatorHistory } from '../domain/history.js';
import type { MerchantEvent } from '../domain/merchant.js';
import type { OperatorEvent } from '../domain/operator.js';

export const DIRECTORY_VIEW = subscriptionName('access.directory');

const TABLES = { schema: 'access', names: ['merchants', 'operators', 'credentials', 'secrets'] };

type DirectoryEvent = MerchantEvent | ExchangeKeyEvent | OperatorEvent | AdminKeyEvent;

/** Which merchants and operators are there, with which credentials may they call, and from where? */
export const directoryProjection = subscriptionOf<DirectoryEvent>({
  name: DIRECTORY_VIEW,
  events: [merchantHistory, exchangeKeyHistory, operatorHistory, adminKeyHistory].flatMap(
    ({ events }) => events,
  ),
  // One statement per event: credentials change a few times a year.
  async apply(events, tx, schema = TABLES.schema) {
    for (const event of events) await applyOne(event, tx, schema);
  },
  tables: TABLES,
});

async function applyOne({ type, data }: DirectoryEvent, tx: PoolClient, schema: string): Promise<unknown> {
  const insert = (table: string, row: object): Promise<unknown> => {
    const places = Object.keys(row).map((_, n) => `$${n + 1}`);
    const sql = `insert into ${schema}.${table} (${Object.keys(row).join()}) values (${places.join()})`;
    return tx.query(`${sql} on conflict do nothing`, Object.values(row));
  };
  const update = (table: string, [name, id]: readonly [string, string], row: object): Promise<unknown> => {
    const changes = Object.keys(row).map((each, n) => `${each} = $${n + 2}`);
    return tx.query(`update ${schema}.${table} set ${changes.join()} where ${name} = $1`, [
      id,
      ...(Object.values(row) as unknown[]),
    ]);
  };
  switch (type) {
    case 'merchant.registered.v1': {
      const { merchant_id, name, registered_at } = data;
      await insert('merchants', { merchant_id, name, status: 'active', registered_at });
      const credential = { credential_id: merchant_id, kind: 'api_key', merchant_id };
      return insert('credentials', { ...credential, issued_at: registered_at });
    }
    case 'merchant.suspended.v1':
      return update('merchants', ['merchant_id', data.merchant_id], { status: 'suspended' });
    case 'merchant.reinstated.v1':
      return update('merchants', ['merchant_id', data.merchant_id], { status: 'active' });
    case 'merchant.embedding_set.v1': {
      const { origins, callbacks, shown_as: display_name } = data;
      return update('merchants', ['merchant_id', data.merchant_id], { origins, callbacks, display_name });
    }
    case 'merchant.renamed.v1':
      return update('merchants', ['merchant_id', data.merchant_id], { name: data.name });
    case 'merchant.limits_set.v1': {
      const { merchant_id, requests_per_minute } = data;
      return update('merchants', ['merchant_id', merchant_id], { requests_per_minute });
    }
    case 'merchant.key_issued.v1': {
      const { merchant_id, key_id, sealed_private_key, issued_at, ...facts } = data;
      const secret = { secret_id: key_id, credential_id: merchant_id, sealed_secret: sealed_private_key };
      return insert('secrets', { ...secret, issued_at, ...factsOf(facts) });
    }
    case 'merchant.key_rolled.v1':
      return update('secrets', ['secret_id', data.key_id], { rolling_until: data.until });
    case 'exchange_key.issued.v1': {
      const { key_id, merchant_id, label, demands_signature, memo_signing, issued_at } = data;
      const key = { credential_id: key_id, kind: 'exchange_key', merchant_id, label, issued_at };
      const { withdraw_addresses = [] } = data;
      return insert('credentials', { ...key, demands_signature, memo_signing, withdraw_addresses });
    }
    case 'exchange_key.page_set.v1': {
      const { logo, help_url, terms_url } = data;
      return update('credentials', ['credential_id', data.key_id], { logo, help_url, terms_url });
    }
    case 'exchange_key.revoked.v1':
      return update('credentials', ['credential_id', data.key_id], { revoked_at: data.revoked_at });
    case 'exchange_key.secret_issued.v1': {
      const { key_id, secret_id, sealed_secret, issued_at, ...facts } = data;
      const secret = { secret_id, credential_id: key_id, sealed_secret, issued_at };
      return insert('secrets', { ...secret, ...factsOf(facts) });
    }
    case 'exchange_key.secret_rolled.v1':
      return update('secrets', ['secret_id', data.secret_id], { rolling_until: data.until });
    case 'merchant.key_revoked.v1':
      return update('secrets', ['secret_id', data.key_id], { revoked_at: data.revoked_at });
    case 'exchange_key.secret_revoked.v1':
      return update('secrets', ['secret_id', data.secret_id], { revoked_at: data.revoked_at });
    case 'merchant.ip_allow_list_set.v1':
      return update('credentials', ['credential_id', data.merchant_id], { cidrs: data.cidrs });
    case 'exchange_key.addresses_set.v1':
      return update('credentials', ['credential_id', data.key_id], { cidrs: data.cidrs });
    case 'operator.created.v1': {
      const { operator_id, name, email, role, at: created_at } = data;
      return insert('operators', { operator_id, name, email, role, status: 'active', created_at });
    }
    case 'operator.role_set.v1':
      return update('operators', ['operator_id', data.operator_id], { role: data.role });
    case 'operator.disabled.v1':
      return update('operators', ['operator_id', data.operator_id], {
        status: 'disabled',
        disabled_at: data.at,
      });
    case 'operator.enabled.v1':
      return update('operators', ['operator_id', data.operator_id], { status: 'active' });
    case 'operator.passkey_added.v1':
    case 'operator.passkey_removed.v1':
      return;
    case 'admin_key.issued.v1': {
      const { credential_id, operator_id, name, scopes, merchants, addresses, at: issued_at } = data;
      const key = { credential_id, kind: 'admin_key', operator_id, label: name, scopes, merchants };
      await insert('credentials', { ...key, cidrs: addresses, issued_at });
      const { secret_hash, is_pending, expires_at } = data;
      const secret = { secret_id: credential_id, credential_id, secret_hash, name };
      return insert('secrets', { ...secret, is_pending, expires_at, issued_at });
    }
    case 'admin_key.activated.v1':
      return update('secrets', ['secret_id', data.credential_id], { is_pending: false });
    case 'admin_key.rolled.v1':
      return update('secrets', ['secret_id', data.credential_id], { rolling_until: data.until });
    case 'admin_key.revoked.v1':
      return update('secrets', ['secret_id', data.credential_id], { revoked_at: data.at });
    default:
      return type satisfies never;
  }
}

function factsOf(facts: { secret_hash?: string; name?: string; expires_at?: string }): object {
  const { secret_hash = null, name = null, expires_at = null } = facts;
  return { secret_hash, name, expires_at };
}
