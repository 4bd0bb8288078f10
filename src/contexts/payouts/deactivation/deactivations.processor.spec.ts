import { expect, it } from '@jest/globals';
import type { CommandBus } from '@nestjs/cqrs';
import { onTestDatabase } from '../../../../test/support/postgres.js';
import { DomainError } from '../../../kernel/domain-error.js';
import type { EventStore } from '../../../platform/event-store/port.js';
import type { CompleteDeactivation } from '../../users/users.contract.js';
import { DeactivationsProcessor } from './deactivations.processor.js';
import { Deactivations } from './deactivations.store.js';

const db = onTestDatabase();

it('users whose deactivation cannot be completed do not delay others, even if they fill more than a batch', async () => {
  const users = Array.from(
    { length: 230 },
    (_, n) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
  );
  await db.database.query(
    `insert into payouts.balances (user_id, merchant_id, deactivating)
     select user_id, user_id, true from unnest($1::uuid[]) as user_id`,
    [users],
  );
  const tried: string[] = [];
  const bus = {
    execute: ({ userId }: CompleteDeactivation) => {
      tried.push(userId);
      const failure =
        tried.length % 2 ? new DomainError('unavailable', 'not counted yet') : new Error('unreadable');
      return Promise.reject(failure);
    },
  } as unknown as CommandBus;
  await new DeactivationsProcessor(new Deactivations(db.database), bus, {} as EventStore).completeAll();
  expect(tried).toEqual(users);
});
