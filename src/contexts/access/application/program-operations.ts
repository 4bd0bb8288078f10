import { CommandBus } from '@nestjs/cqrs';
import { defineOperation } from '../../../platform/operations/operation-definition.js';
import type { PayPageSettings } from '../domain/exchange-key.js';
import { SetAddresses } from './credentials.js';
import { RevokeExchangeKey, SetExchangeKeyPage } from './exchange-key-commands.js';

const EXCHANGE_KEY = {
  scope: 'credentials:write',
  subject: 'exchange_key',
  streams: (keyId: string) => [`exchange_key-${keyId}`],
} as const;

/** On API keys of the exchange as a whole; programs request them. */
export const programOperations = [
  defineOperation<{ readonly addresses: readonly string[] }>({
    ...EXCHANGE_KEY,
    name: 'credentials.restrict',
    execute: async ({ subjectId, parameters: { addresses } }, get) =>
      void (await get(CommandBus).execute(new SetAddresses('exchange_key', subjectId, addresses))),
  }),
  defineOperation<{ readonly page: PayPageSettings }>({
    ...EXCHANGE_KEY,
    name: 'credentials.set_page',
    execute: async ({ subjectId, parameters: { page } }, get) =>
      void (await get(CommandBus).execute(new SetExchangeKeyPage(subjectId, page))),
  }),
  defineOperation({
    ...EXCHANGE_KEY,
    name: 'credentials.revoke_key',
    execute: async ({ subjectId }, get) =>
      void (await get(CommandBus).execute(new RevokeExchangeKey(subjectId))),
  }),
];
