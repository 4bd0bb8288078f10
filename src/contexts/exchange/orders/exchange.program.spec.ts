import { expect, it } from '@jest/globals';
import { Command } from 'commander';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { deposit, created, received, stateAfter } from '../../../../test/support/exchange/order-fixtures.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { EVENT_STORE } from '../../../platform/event-store/port.js';
import type { CliContext } from '../../../platform/cli/cli-context.js';
import { OrderTransfers, type DepositCheck } from './order-transfers.service.js';
import { recheckCommand } from './exchange.program.js';

const missing: DepositCheck = { deposit_id: 'd1', found: 'missing', why: 'it is in no block' };
const found: DepositCheck = { deposit_id: 'd1', found: 'on_chain', why: null };
const unknown: DepositCheck = { deposit_id: 'd1', found: 'unknown', why: 'no node responds' };

/** Runs the command over an order for each result. */
async function recheck(...results: readonly DepositCheck[]) {
  const store = new InMemoryEventStore();
  for (const place of results.keys()) {
    const data = { order_id: `o${place}` };
    const event = { id: crypto.randomUUID(), type: created.type, data, metadata: {} };
    await store.commit({ appends: [{ stream: `order-o${place}`, events: [event], expected: 'no_stream' }] });
  }
  const printed: string[] = [];
  let exitCode = 0;
  let checked = 0;
  const checkDeposits = async () => {
    checked += 1;
    return [results[checked - 1]!];
  };
  const parts = new Map<unknown, unknown>([
    [EVENT_STORE, store],
    [CommandLoop, { loadForDisplay: async () => stateAfter(created, received(deposit('d1', '5'))) }],
    [OrderTransfers, { checkDeposits }],
  ]);
  const context = { get: (token: unknown) => parts.get(token), close: async () => undefined };
  const cli = {
    print: (text: string) => printed.push(`${checked} ${text}`),
    exit: (code: number) => (exitCode = code),
    boot: async () => context,
  } as unknown as CliContext;
  const program = new Command();
  recheckCommand(program, cli);
  await program.parseAsync(['recheck'], { from: 'user' });
  return { printed, exitCode };
}

it('a recheck prints each finding at once, and continues after a deposit for which no node responds', async () => {
  expect(await recheck(unknown, missing, found)).toEqual({
    printed: [
      '1 UNKNOWN  order o0, deposit d1 (after position none): no node responds',
      '2 MISSING  order o1, deposit d1 (after position 1): it is in no block',
      '3 3 deposits checked, up to position 3: 1 on the chain, 1 missing\n1 could not be checked: try again',
    ],
    exitCode: 2,
  });
});

it('a recheck exits with code 1 if no deposit is missing but one deposit could not be checked', async () => {
  expect(await recheck(found, unknown, found)).toMatchObject({ exitCode: 1 });
  expect(await recheck(found, found)).toMatchObject({ exitCode: 0 });
});
