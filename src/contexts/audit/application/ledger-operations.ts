import { defineOperation } from '../../../platform/operations/operation-definition.js';
import { readKey } from '../domain/signed-head.js';
import { LedgerStart } from './ledger-follower.js';
import { LedgerKeys } from './ledger-keys.js';

const LEDGER = { scope: 'system:write', subject: 'ledger', streams: () => [] } as const;

/** On the ledger over the log; programs request them. */
export const LEDGER_OPERATIONS = [
  defineOperation({
    ...LEDGER,
    name: 'ledger.rotate_key',
    execute: async (_, get) => readKey(await get(LedgerKeys).rotate()),
  }),
  defineOperation({
    ...LEDGER,
    name: 'ledger.begin',
    execute: (_, get) => get(LedgerStart).again(),
  }),
];
